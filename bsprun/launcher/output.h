/* output.h - the output of the job's processes, from the agents to the user.
 *
 * A piece that an agent has sent
 *   -> waits for the rest of its line, among several hosts (line_buffer.h)
 *   -> waits for earlier output of other hosts (order.h)
 *   -> is left out when it was shown before a rollback (replay.h)
 *   -> is marked with its process, if the user wants that (show.h)
 *   -> goes to the file of its process and stream, with --output (output_files.h); else it
 *      waits for a slow reader (sink.h), for whom the agents are paused.
 */
#ifndef BSPRUN_OUTPUT_H
#define BSPRUN_OUTPUT_H

#include <uv.h>

#include "bsprun/launcher/agents.h"
#include "bsprun/launcher/first_output.h"
#include "bsprun/launcher/job_machine.h"
#include "bsprun/launcher/line_buffer.h"
#include "bsprun/launcher/order.h"
#include "bsprun/launcher/output_files.h"
#include "bsprun/launcher/replay.h"
#include "bsprun/launcher/show.h"
#include "bsprun/launcher/sink.h"

struct output_calls {
    /* Called once, when the output has no reader any more; reported if necessary. */
    void (*closed)(void *context);
    /* The amount of waiting output has changed, possibly to none. */
    void (*moved)(void *context);
    /* What output_await waits for has come. */
    void (*complete)(void *context);
};

struct output {
    struct common *common;
    struct agents *agents;
    const struct output_calls *calls;
    void *context;
    enum wire_stdio mode;      /* INHERIT: processes write to our streams directly */
    struct show *show;         /* NULL: nothing is relayed */
    struct sink sinks[2];      /* our stdout and stderr */
    struct output_files files; /* in place of them, if it has a directory */
    struct spool *spool;       /* for order and replay */
    struct replay *replay;     /* NULL: nothing is rolled back */
    struct line_buffer lines;  /* lines of several hosts */
    struct order *order;       /* NULL: there is but one host, or nothing is rolled back */
    uv_timer_t prompt_timer, line_timer, await_timer;
    struct bspz_snapshot_name known; /* the newest snapshot that all agents know to be committed */
    uint64_t awaited;                /* superstep + 1; 0: none */
    bool owes[HOSTS_MAX];            /* output up to then */
    bool replicas;                   /* of processes, on several hosts */
    uint32_t lead[HOSTS_MAX];        /* the host whose processes it has, too; itself */
    bool lost[HOSTS_MAX];            /* in this term */
    bool houses[HOSTS_MAX];          /* has processes; */
    bool housing_known;              /* once that is known */
    bool parallel[HOSTS_MAX];        /* what it writes follows bsp_begin: replicas do so, too */
    struct first_output *first;      /* what replicas have written */
    bool idle[HOSTS_MAX];            /* it has said that it has none in this term */
    bool any;                        /* there was output */
    bool differs_told, unkept_told, unrecorded_told;
    bool prompts; /* interactive: incomplete lines are shown, too */
    int error;    /* of the first write that failed; -EPIPE: nobody reads it; 0: none */
};

/* 0 or -errno. */
int output_open(struct output *output, struct common *common, struct agents *agents,
                const struct output_calls *calls, void *context);
/* Closes the handles in the loop; no output is accepted afterwards. */
void output_close(struct output *output);
/* After the loop; also when all is zero. */
void output_free(struct output *output);

/* OUTPUT of an agent; present: of this term. */
void output_take(struct output *output, const struct launcher_agent *agent,
                 const struct wire_message *message, bool present);
/* PASSED: the host has sent its output up to that superstep; WIRE_NEVER: all. */
void output_passed(struct output *output, uint32_t host, uint64_t superstep);
/* MARK: the host's output so far was written before that snapshot. */
void output_mark(struct output *output, uint32_t host, struct bspz_snapshot_name name);
/* The snapshot is committed, and all agents know it.  right: the older one to which the job may go
 * back all the same; term 0: none. */
void output_commit(struct output *output, struct bspz_snapshot_name name,
                   struct bspz_snapshot_name right);

/* Calls `complete` once when all hosts of the machine's term have sent their output up to that
 * superstep, which may be at once, or the heartbeat has passed: a user may stop reading.  A new
 * term, or another call, ends the wait. */
void output_await(struct output *output, const struct job_machine *machine, uint64_t superstep);
void output_await_no_more(struct output *output);

/* The machine's term begins. */
void output_begin_term(struct output *output, const struct job_machine *machine);
/* The homes of processes, and hosts with replicas, each followed by the host whose processes it
 * has, too. */
void output_replicas(struct output *output, struct wire_numbers homes, struct wire_numbers leads);
/* Whether other hosts with the same processes have sent their reports, and with them all that they
 * wrote; or none is on it. */
bool output_is_reported_for(const struct output *output, uint32_t host);
/* So many processes run: with --output they have files. */
void output_running(struct output *output, uint32_t processes);
/* The host will send nothing more. */
void output_leave(struct output *output, uint32_t host);
/* The host is lost; what it has not sent comes from its replicas, or after a rollback. */
void output_lose(struct output *output, uint32_t host);
/* The host is lost, and these processes of it are restarted alone on `host`, which is in that
 * superstep: they write again what they have written since that snapshot. */
struct output_resettled {
    uint32_t lost, host;
    uint64_t superstep;
    struct bspz_snapshot_name from;
    struct wire_numbers pids;
};
void output_resettle(struct output *output, const struct output_resettled *resettled);
/* The job goes on from that snapshot. */
void output_go_back(struct output *output, struct bspz_snapshot_name name);

/* The job may be restarted from that snapshot: what has been shown beyond it is recorded, and then
 * not shown again. */
void output_record(struct output *output, struct bspz_snapshot_name name);

/* No more output will arrive: shows incomplete lines, too. */
void output_flush(struct output *output);
/* Whether all output has been written. */
bool output_is_out(const struct output *output);
/* Drops the rest of the output, as the user wants the end. */
void output_drop(struct output *output);
/* Whether a process (-1: unknown) has written less than before a rollback, when all have ended;
 * false if its output is known to have differed. */
bool output_behind(const struct output *output, int *pid);

#endif
