/* replay.h - bspsim replay: what a profiled program took, beside what it takes on another machine.
 */
#ifndef BSPSIM_REPLAY_H
#define BSPSIM_REPLAY_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/bspsim/machine.h"
#include "tools/profile/profile.h"

/* Seconds; `communicating` of what was measured includes the barrier. */
struct replay_measured {
    double computing, communicating;
};

/* All supersteps that were ended by one statement. */
struct replay_statement {
    uint64_t supersteps;
    struct replay_measured measured;
    struct machine_parts predicted;
};

struct replay {
    struct replay_statement *statements; /* [statement_count], owned */
    uint32_t statement_count;
    struct replay_statement all; /* with what follows the last superstep */
    double h;                    /* the most bytes into or out of a process, summed */
};

/* Adds a superstep, which must be the newest of the profile, or, with `step` NULL, what was
 * computed after the last one.  False: out of memory. */
bool replay_add(struct replay *replay, const struct profile_superstep *step,
                const struct traffic *traffic, uint32_t ranks,
                const struct replay_measured *measured, const struct machine_parts *predicted);
void replay_sums_free(struct replay *replay);

double replay_measured_total(const struct replay_statement *statement);
double replay_predicted_total(const struct replay_statement *statement);

/* The cost model w + g h + l, w being what is predicted for computing. */
double replay_model(const struct replay *replay, const struct machine_facts *facts);

/* Stores the numbers of the statements whose prediction is highest, the highest first, of equal
 * ones that with the lower number; at most `most`.  Returns how many. */
uint32_t replay_costliest(const struct replay *replay, uint32_t *numbers, uint32_t most);

/* What goes into both outputs. */
struct replay_told {
    const struct replay *replay;
    const struct profile *profile; /* read to its end */
    const struct machine_facts *facts;
    const char *profile_name, *platform_name;
    double speed;     /* flop/s of a core of the measured machine */
    bool speed_given; /* else it is that of the platform's first host */
};

/* On the standard output. */
void replay_print_text(const struct replay_told *told);
void replay_print_json(const struct replay_told *told);

#endif
