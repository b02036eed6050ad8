/* coord_play.h - what the tests of Processor Zero have in common: a machine, messages for it in one
 * call each, and the trace of what it did. */
#ifndef COORD_PLAY_H
#define COORD_PLAY_H

#include "coordinator/core/state.h"

extern struct coord *coord;
extern struct coord_effects effects; /* of the last step */
extern size_t trace_used;            /* 0 begins a new trace */
extern uint64_t play_now_ns;         /* of the next steps; 0 in a new machine */

/* The term is always 3.  The agent of the host that the message names says it, else bsprun. */
#define SAY(name, ...)                                                                             \
    take((struct wire_message){.kind = WIRE_##name, .envelope.term = 3, __VA_ARGS__})
#define CONFIG(...) ((struct coord_config){.abort_at = COORD_NEVER, __VA_ARGS__})
#define SAVING(...) CONFIG(.snapshots = true, __VA_ARGS__)
#define EVERY(n)    .rule = {POLICY_SUPERSTEPS, (n), 0} /* in SAVING */

/* On hosts 0, 7, 3 and 5, with 2, 2, 4 and 2 slots. */
void start(uint32_t host_count, struct coord_config config);
/* With two replicas: hosts 0 and 3, and hosts 7 and 5, have the same process; all run, and snapshot
 * 0 is committed. */
void start_cells(struct coord_config config);
/* One host with so many processes, on the other side of bsp_begin. */
void start_running(uint32_t processes, struct coord_config config);
/* One host with two processes; snapshot 0 is committed and known, the trace begins. */
void start_with_snapshot_0(struct coord_config config);
void tear_down(void);

uint32_t host_of(uint32_t pid);

/* They return what coord_step does. */
int take(struct wire_message message);
void host_ready(uint32_t host, uint32_t slots);
void registered(uint32_t host, uint32_t wanted);
int ranks_ready(uint32_t host, uint32_t count);
int arrived(uint32_t host, uint64_t superstep, enum wire_barrier barrier);
int exited(uint32_t host, uint32_t pid, uint32_t status);
int killed(uint32_t host, uint32_t pid, uint32_t signal);
int stopped(uint32_t host);
int lost(uint32_t host);
int stop(enum wire_stop_how how, uint32_t signal);
int abort_job(uint32_t host, int32_t pid, enum wire_cause cause, int32_t status);
void timer(enum coord_timer which);

/* Of snapshots; process I's image has 100 + I bytes.  held: of 4 processes, complete. */
int durable(uint32_t host, uint64_t superstep, uint32_t pid);
int durable_uncompared(uint32_t host, uint64_t superstep, uint32_t pid); /* with its replicas */
int captured(uint32_t host, uint64_t superstep);
int persisted(uint32_t host, uint64_t superstep, uint32_t error);
int known(uint32_t host, uint64_t superstep);
int known_with_costs(uint32_t host, uint64_t superstep, uint64_t busy_ns, uint64_t copied_ns);
int image_failed(uint32_t host, uint64_t superstep, uint32_t pid, enum wire_cause cause);
int held(uint32_t host, uint64_t superstep, uint32_t term, struct wire_numbers copies);
int save_now(bool stop);
/* The snapshot of that superstep up to its last image, on the host of start_with_snapshot_0. */
void take_snapshot(uint64_t superstep);

void expect_trace(const char *golden);
void expect_outcome(int32_t status, enum wire_cause cause, int32_t pid);
/* It was refused and had no effect. */
void expect_broken(int result);
bool has_effect(enum coord_effect_kind kind);
bool has_message(enum wire_kind kind);
/* The first of that kind, which must have been said. */
const struct wire_message *message_of(enum wire_kind kind);
/* The first effect's message. */
const struct wire_message *said(void);

#endif
