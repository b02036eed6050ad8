/* job_play.h - bsprun's job machine with nothing around it: one step after the other. */
#ifndef TESTS_UNIT_JOB_PLAY_H
#define TESTS_UNIT_JOB_PLAY_H

#include "bsprun/launcher/job_machine.h"

extern struct job_machine *machine;
extern struct job_effects effects; /* of the last step */
extern const struct wire_host hosts[3];

#define CONFIG(...)                                                                                \
    ((struct job_machine_config){                                                                  \
        .hosts = hosts, .snapshots = true, .max_restarts = 2, .fence_ms = 100, __VA_ARGS__})
#define EVENT(name, ...) step((struct job_event){.kind = JOB_EVENT_##name, __VA_ARGS__})

void start(struct job_machine_config config);
/* Brings a job on the hosts 4, 2 and 9 to term 1, Processor Zero on the first. */
void start_three(struct job_machine_config config);
void tear_down(void);
void step(struct job_event event);
/* The kinds of the effects, one letter each. */
void expect(const char *letters);
/* Of process 1, by a signal. */
struct coord_outcome death(uint64_t superstep);

#endif
