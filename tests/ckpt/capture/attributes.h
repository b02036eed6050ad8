/* attributes.h - the cases behind the rows of doc/process-attributes.md. */
#ifndef TESTS_CKPT_CAPTURE_ATTRIBUTES_H
#define TESTS_CKPT_CAPTURE_ATTRIBUTES_H

#include <stdbool.h>

struct attribute_case {
    const char *name;  /* of the row */
    void (*set)(void); /* gives it to this process; calls impossible() where that is not possible */
    bool (*has)(void); /* in a process that goes on: whether it has what was set; NULL where every
                          snapshot is refused */
};

/* Ended by a case without a name. */
extern const struct attribute_case kept_cases[], kernel_cases[], refused_cases[], lost_cases[];

/* Ends the program with status 77 and why the case cannot be tried: this kernel or this user lacks
 * what it takes (errno). */
_Noreturn void impossible(const char *what);
/* The same when a result is negative; else the result. */
long need(long result, const char *what);

#endif
