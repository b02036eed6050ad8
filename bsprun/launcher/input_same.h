/* input_same.h - whether a restarted job is given the input that it had before.
 *
 * A snapshot says how many bytes process 0 had read from its stdin, and their digest.  A file is
 * compared before the job begins, without reading from its descriptor; of what can only be read once,
 * a pipe, it turns out while the job runs (input.h).
 */
#ifndef BSPRUN_INPUT_SAME_H
#define BSPRUN_INPUT_SAME_H

#include <stdint.h>

#define INPUT_TEXT 384u

/* What the snapshot of that superstep says. */
struct input_claim {
    uint64_t superstep, position;
    uint64_t digest; /* unknown: any will do (lib/base/digest.h) */
};

enum input_sameness {
    INPUT_SAME, /* or it cannot be known yet, or a person types it */
    INPUT_ENDS, /* before the position */
    INPUT_DIFFERS,
};

/* Of what can be read from the descriptor, whose position stays.  Blocking for files only. */
enum input_sameness input_compare(const struct input_claim *claim, int descriptor);

/* Says it in one line, and what to do. */
void input_complaint(const struct input_claim *claim, enum input_sameness sameness,
                     char text[INPUT_TEXT]);

#endif
