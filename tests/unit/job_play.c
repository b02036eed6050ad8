/* job_play.c - see job_play.h. */
#include "tests/unit/job_play.h"

#include <check.h>

struct job_machine *machine;
struct job_effects effects;
const struct wire_host hosts[3] = {{4, 0, "a"}, {2, 0, "b"}, {9, 0, "c"}};

void start(struct job_machine_config config)
{
    machine = job_machine_new(&config, &effects);
    ck_assert_ptr_nonnull(machine);
}

void tear_down(void)
{
    job_machine_free(machine);
    machine = NULL;
}

void step(struct job_event event)
{
    job_machine_step(machine, &event, &effects);
}

void expect(const char *letters)
{
    static const char names[JOB_EFFECT_KIND_COUNT + 1] = "cblRFAd!EOTCsSwX";
    char got[JOB_EFFECTS_MAX + 1] = "";
    for (uint32_t i = 0; i < effects.count; i++)
        got[i] = names[effects.items[i].kind];
    ck_assert_str_eq(got, letters);
}

void start_three(struct job_machine_config config)
{
    if (config.host_count == 0)
        config.host_count = 3;
    start(config);
    EVENT(AGENT_UP, .host = 4);
    EVENT(AGENT_UP, .host = 2);
    EVENT(AGENT_UP, .host = 9);
    EVENT(REGISTERED, .host = 4);
    expect("E");
}

struct coord_outcome death(uint64_t superstep)
{
    return (struct coord_outcome){.status = 139,
                                  .cause = WIRE_CAUSE_RANK_SIGNALLED,
                                  .pid = 1,
                                  .signal = 11,
                                  .superstep = superstep,
                                  .text = ""};
}
