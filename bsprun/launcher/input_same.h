/* input_same.h - whether a restarted job has the same input as before.
 *
 * A snapshot records how many bytes process 0 (or that of --stdin) had read from its stdin, and
 * their digest.  A file is compared before the job begins, without moving its offset; a pipe, which
 * can be read only once, while the job runs (input.h).
 */
#ifndef BSPRUN_INPUT_SAME_H
#define BSPRUN_INPUT_SAME_H

#include <stdint.h>

#define INPUT_TEXT 384u

/* The record in the snapshot of that superstep. */
struct input_claim {
    uint64_t superstep, position;
    uint64_t digest; /* unknown: any will do (lib/base/digest.h) */
};

enum input_sameness {
    INPUT_SAME, /* or not known yet, or typed by a user */
    INPUT_ENDS, /* it ends before the position */
    INPUT_DIFFERS,
};

/* Compares the input in the descriptor without moving its offset.  Blocks for files only. */
enum input_sameness input_compare(const struct input_claim *claim, int descriptor);

/* Writes one line about the mismatch and the remedy. */
void input_complaint(const struct input_claim *claim, enum input_sameness sameness,
                     char text[INPUT_TEXT]);

#endif
