/* state.h - the parts of the program that has every kind of state.
 *
 * Each part sets itself up, is spoiled after a snapshot as a program that went on would do, and is
 * checked after the restore, `hop` snapshots later than the start. */
#ifndef TESTS_CKPT_CAPTURE_STATE_H
#define TESTS_CKPT_CAPTURE_STATE_H

#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

void memory_set(void);
void memory_spoil(void);
void memory_check(int hop);

void library_set(void);
void library_check(int hop);

void files_set(void);
void files_spoil(void);
void files_check(int hop);

void kernel_set(void);
void kernel_spoil(void);
void kernel_check(int hop);

void signals_set(void);
void signals_spoil(void);
void signals_check(void);

#endif
