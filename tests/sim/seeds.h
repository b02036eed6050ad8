/* seeds.h - which made-up jobs a simulator runs, and what it shows of one that fails.
 *
 * A simulator is a function that runs the job of a seed and, where something is wrong, ends the
 * program (timeline_fail, an assertion, a crash).  Here are the options that all simulators have:
 *
 *   NAME [--seeds N] [--first SEED]    the jobs of N seeds, one after the other
 *   NAME --fresh N                     of N seeds from one that the clock gives, which is printed
 *   NAME --fixed                       of the seeds that once failed
 *   NAME --seed SEED [BOUNDS] [--verbose]
 *                                      one job, with --verbose step by step
 *   --all                              with many: go on after a failure; count each kind
 *
 * A job that fails among many is made smaller, as long as it fails in the same way: fewer faults,
 * hosts, supersteps.  What is shown is the small one, and the command that runs it.
 */
#ifndef SIM_SEEDS_H
#define SIM_SEEDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A job: what its seed makes of it, within bounds. */
struct seeds_job {
    const char *program;
    uint64_t seed;
    bool verbose;
    /* The bounds.  A simulator draws everything as without them and then takes the lesser. */
    uint64_t hosts, supersteps; /* at most */
    uint64_t faults;            /* bit n: the n-th fault that is planned stays */
    uint64_t course;            /* the same job with other delays and picks; 0: those of the seed */
};

struct seeds_fixed {
    uint64_t seed;
    const char *found; /* what it once showed */
};

struct seeds_program {
    const char *name;
    uint64_t count; /* of seeds, without options */
    bool has_supersteps;
    const struct seeds_fixed *fixed;
    size_t fixed_count;
    void (*run)(const struct seeds_job *job);
    /* After the last of many; exit status. */
    int (*report)(uint64_t count);
};

#define SEEDS_COMMAND_MAX 192u

/* The command that runs the job, step by step, into `text`, which is returned. */
char *seeds_command(const struct seeds_job *job, char text[SEEDS_COMMAND_MAX]);

static inline bool seeds_keeps_fault(const struct seeds_job *job, unsigned n)
{
    return n >= 64 || job->faults >> n & 1;
}

/* Says how the job that runs has failed; for timeline_fail.  False: it is the only one, and who
 * runs it wants to read it. */
bool seeds_note_failure(const char *what);

/* For report: how many of these counters, of 64 bits each, are 0. */
int seeds_missing(const void *counters, size_t bytes);
/* ... the exit status, and a word about so many things that should happen and never did. */
int seeds_verdict(const char *name, int missing);

int seeds_main(const struct seeds_program *program, int argc, char **argv);

#endif
