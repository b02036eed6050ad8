/* ticker.h - the parts of the program that the recovery tests disturb. */
#ifndef TESTS_RECOVERY_TICKER_H
#define TESTS_RECOVERY_TICKER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Everything read, received and computed goes into this sum, in an order that does not depend on
 * time: two runs with the same p and input have the same one in each process after each superstep.
 */
extern uint64_t ticker_sum;

void ticker_mix(const void *bytes, size_t size);

/* Ends the program with a line that names the place. */
_Noreturn void ticker_fail(const char *what);

/* Communication of superstep s, to be followed by bsp_sync and talk_receive. */
void talk_begin(void);
void talk_send(int s);
void talk_receive(int s);
void talk_end(void);

/* Files and streams, all in one directory. */
extern bool files_cut;   /* before they are written again */
extern bool files_apart; /* no open file is written by several processes */
extern bool files_alone; /* nor is any open in several processes, for writing */
void files_before_begin(const char *directory);
void files_begin(void);
void files_write(int s);
void files_print(int s);
void files_end(void);

#endif
