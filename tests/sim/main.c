/* main.c - runs made-up jobs by seeds; the options are those of seeds.h. */
#include "tests/sim/sim.h"

#include <stdlib.h>

static const char *const fault_names[FAULT_KINDS] = {
    [FAULT_RANK_KILLED] = "process killed",  [FAULT_RANK_EXITS] = "process exits early",
    [FAULT_RANK_ABORTS] = "bsp_abort",       [FAULT_AGENT_DIES] = "agent dies",
    [FAULT_AGENT_FREEZES] = "agent freezes", [FAULT_CUT_OFF] = "Processor Zero cut off",
    [FAULT_BAD_AGENT] = "agent lies",        [FAULT_OLD_MESSAGE] = "old message",
    [FAULT_STOP] = "stopped by signal",      [FAULT_TIMEOUT] = "time limit",
};

static struct {
    uint64_t faults[FAULT_KINDS];
    uint64_t causes[WIRE_CAUSE_COUNT];
    uint64_t second_terms;
    uint64_t lost; /* with nobody left to report */
} summary;

static void run_one(const struct seeds_job *job)
{
    static struct world world;
    sim_make_world(&world, job);
    sim_run(&world);
    for (unsigned i = 0; i < FAULT_KINDS; i++)
        summary.faults[i] += world.faults[i];
    summary.second_terms += world.term > 1;
    if (world.zeros[world.term].finished)
        summary.causes[world.zeros[world.term].outcome.cause]++;
    else
        summary.lost++;
    sim_free_world(&world);
}

/* A simulation in which something never happens tests less than it says. */
static int report(uint64_t count)
{
    int missing = 0;
    printf("%llu jobs\n", (unsigned long long)count);
    for (unsigned i = 0; i < FAULT_KINDS; i++) {
        printf("  fault  %-52s %8llu\n", fault_names[i], (unsigned long long)summary.faults[i]);
        missing += summary.faults[i] == 0;
    }
    for (unsigned i = 0; i < WIRE_CAUSE_COUNT; i++)
        if (summary.causes[i] > 0)
            printf("  end    %-52s %8llu\n", wire_cause_text(i),
                   (unsigned long long)summary.causes[i]);
    printf("  second term %llu, nobody left %llu\n", (unsigned long long)summary.second_terms,
           (unsigned long long)summary.lost);
    static const enum wire_cause needed[] = {WIRE_CAUSE_NONE,
                                             WIRE_CAUSE_ABORT_CALLED,
                                             WIRE_CAUSE_RANK_SIGNALLED,
                                             WIRE_CAUSE_RANK_EXITED,
                                             WIRE_CAUSE_MISMATCH,
                                             WIRE_CAUSE_HOST_LOST,
                                             WIRE_CAUSE_STOPPED,
                                             WIRE_CAUSE_TIMEOUT,
                                             WIRE_CAUSE_DECIDED,
                                             WIRE_CAUSE_KILLED_AFTER_END,
                                             WIRE_CAUSE_EXITED_AFTER_END};
    for (unsigned i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
        missing += summary.causes[needed[i]] == 0;
    missing += summary.second_terms == 0;
    return seeds_verdict("sim", count < 10000 ? 0 : missing);
}

static const struct seeds_fixed fixed[] = {
    {900123377, "the job does not end: Processor Zero is in state ENDING"},
    {900087699, "process 0 is left behind"},
    {900020546, "the job has ended well, but process 0 never ended"},
    {53613490840, "Processor Zero never finishes"},
    {1795364523417750415, "host 13 leaves superstep 2 while process 6 is in superstep 0"},
};

int main(int argc, char **argv)
{
    static const struct seeds_program program = {.name = "sim",
                                                 .count = 20000,
                                                 .has_supersteps = true,
                                                 .fixed = fixed,
                                                 .fixed_count = sizeof(fixed) / sizeof(fixed[0]),
                                                 .run = run_one,
                                                 .report = report};
    return seeds_main(&program, argc, argv);
}
