/* main.c - runs made-up jobs: many seeds, or one to look at.
 *
 *   sim [--seeds N] [--first SEED]    N jobs (default 20000), the summary at the end
 *   sim --seed SEED [--verbose]       one job, with --verbose step by step
 */
#include "tests/sim/sim.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char *const fault_names[FAULT_KINDS] = {
    [FAULT_RANK_KILLED] = "process killed",  [FAULT_RANK_EXITS] = "process exits early",
    [FAULT_RANK_ABORTS] = "bsp_abort",       [FAULT_AGENT_DIES] = "agent dies",
    [FAULT_AGENT_FREEZES] = "agent freezes", [FAULT_CUT_OFF] = "Processor Zero cut off",
    [FAULT_BAD_AGENT] = "agent lies",        [FAULT_OLD_MESSAGE] = "old message",
    [FAULT_STOP] = "stopped by signal",      [FAULT_TIMEOUT] = "time limit",
};

struct summary {
    uint64_t faults[FAULT_KINDS];
    uint64_t causes[WIRE_CAUSE_COUNT];
    uint64_t second_terms;
    uint64_t lost; /* with nobody left to report */
};

static void run_one(uint64_t seed, bool verbose, struct summary *summary)
{
    static struct world world;
    sim_make_world(&world, seed, verbose);
    sim_run(&world);
    for (unsigned i = 0; i < FAULT_KINDS; i++)
        summary->faults[i] += world.faults[i];
    summary->second_terms += world.term > 1;
    if (world.zeros[world.term].finished)
        summary->causes[world.zeros[world.term].outcome.cause]++;
    else
        summary->lost++;
    sim_free_world(&world);
}

/* A simulation in which something never happens tests less than it says. */
static int report(uint64_t count, const struct summary *summary)
{
    int missing = 0;
    printf("%llu jobs\n", (unsigned long long)count);
    for (unsigned i = 0; i < FAULT_KINDS; i++) {
        printf("  fault  %-52s %8llu\n", fault_names[i], (unsigned long long)summary->faults[i]);
        missing += summary->faults[i] == 0;
    }
    for (unsigned i = 0; i < WIRE_CAUSE_COUNT; i++)
        if (summary->causes[i] > 0)
            printf("  end    %-52s %8llu\n", wire_cause_text(i),
                   (unsigned long long)summary->causes[i]);
    printf("  second term %llu, nobody left %llu\n", (unsigned long long)summary->second_terms,
           (unsigned long long)summary->lost);
    static const enum wire_cause needed[] = {
        WIRE_CAUSE_NONE,        WIRE_CAUSE_ABORT_CALLED, WIRE_CAUSE_RANK_SIGNALLED,
        WIRE_CAUSE_RANK_EXITED, WIRE_CAUSE_MISMATCH,     WIRE_CAUSE_HOST_LOST,
        WIRE_CAUSE_STOPPED,     WIRE_CAUSE_TIMEOUT,      WIRE_CAUSE_DECIDED,
        WIRE_CAUSE_KILLED_AFTER_END};
    for (unsigned i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
        missing += summary->causes[needed[i]] == 0;
    missing += summary->second_terms == 0;
    if (count < 10000 || missing == 0)
        return EXIT_SUCCESS;
    fprintf(stderr, "sim: %d of the things that should happen never did\n", missing);
    return EXIT_FAILURE;
}

static uint64_t number(const char *option, const char *text)
{
    char *end = NULL;
    errno = 0;
    unsigned long long value = text ? strtoull(text, &end, 10) : 0;
    if (!text || !*text || *end || errno) {
        fprintf(stderr, "sim: %s needs a number\n", option);
        exit(2);
    }
    return value;
}

int main(int argc, char **argv)
{
    uint64_t first = 1, count = 20000;
    bool verbose = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--verbose") == 0) {
            verbose = true;
        } else if (strcmp(argv[i], "--seeds") == 0) {
            count = number("--seeds", argv[++i]);
        } else if (strcmp(argv[i], "--first") == 0) {
            first = number("--first", argv[++i]);
        } else if (strcmp(argv[i], "--seed") == 0) {
            first = number("--seed", argv[++i]);
            count = 1;
        } else {
            fprintf(stderr, "usage: sim [--seeds N] [--first SEED] | --seed SEED [--verbose]\n");
            return 2;
        }
    }
    struct summary summary = {0};
    for (uint64_t seed = first; seed - first < count; seed++)
        run_one(seed, verbose, &summary);
    return report(count, &summary);
}
