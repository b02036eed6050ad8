/* arguments.h - bspsim's command line, read into one struct. */
#ifndef BSPSIM_ARGUMENTS_H
#define BSPSIM_ARGUMENTS_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/core/policy.h"
#include "tools/bspsim/lives.h"

#define ARGUMENTS_ERROR 768u

enum arguments_action {
    ARGUMENTS_PLAN,
    ARGUMENTS_RUN,
    ARGUMENTS_REPLAY,
    ARGUMENTS_HELP,
    ARGUMENTS_VERSION
};

enum argument {
    ARG_WORK = 1,
    ARG_HOSTS,
    ARG_MTBF,
    ARG_SNAPSHOT,
    ARG_COMMIT,
    ARG_RESTORE,
    ARG_SUPERSTEP,
    ARG_SEED,
    ARG_RUNS,
    ARG_JSON, /* for plan and run, up to here; replay takes hosts and JSON of them */
    ARG_IMAGE,
    ARG_BANDWIDTH,
    ARG_REPORT,
    ARG_SVG, /* for plan, up to here */
    ARG_EVERY,
    ARG_OVERHEAD,
    ARG_PRIOR,
    ARG_LIVES,
    ARG_SHAPE,
    ARG_DOUBLING,
    ARG_REPAIR,
    ARG_TRACE,
    ARG_CALM,
    ARG_LIMIT,
    ARG_EACH, /* for run, up to here */
    ARG_PLATFORM,
    ARG_SPEED,
    ARG_PER_HOST, /* for replay, up to here */
    ARG_HELP,
    ARG_VERSION,
};

struct arguments {
    enum arguments_action action;
    uint64_t given; /* bits, by enum argument */
    /* In seconds.  The default is 0 unless stated otherwise. */
    double work, mtbf, snapshot, commit, restore;
    double superstep; /* 1 */
    double doubling, repair, prior, limit;
    double image, bandwidth;    /* bytes; bytes per second */
    double speed;               /* flop/s */
    uint32_t hosts;             /* 0: not set, or by names */
    uint32_t per_host;          /* processes; 0: as many as cores */
    char *host_names;           /* "a,b,c" of a trace or platform; NULL: all, or by number; owned */
    char *trace, *report, *svg; /* files, NULL: none; owned */
    char *profile, *platform;   /* likewise */
    uint64_t seed, runs;        /* 1, 400 */
    struct policy_rule rule;    /* AUTO, not bounded */
    enum lives_kind lives;      /* EXPONENTIAL */
    double shape;               /* of Weibull lives 0.7, sigma of log-normal ones 1.5 */
    bool json, calm, each;
};

static inline bool argument_given(const struct arguments *arguments, enum argument argument)
{
    return arguments->given >> argument & 1;
}

/* False and `error`: the command line is wrong.  Free with arguments_free in any case. */
bool bspsim_arguments_parse(int argc, const char **argv, struct arguments *arguments,
                            char error[ARGUMENTS_ERROR]);
void arguments_free(struct arguments *arguments);

extern const char arguments_help[];

#endif
