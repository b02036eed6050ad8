/* output.h - the output of the job's processes, from the agents to the user.
 *
 * A piece that an agent has sent
 *   -> waits for the rest of its line, among several hosts (whole.h)
 *   -> waits for what other hosts have written before it (order.h)
 *   -> is left out when it was shown before a rollback (replay.h)
 *   -> is marked with its process, if the user wants that (show.h)
 *   -> waits for a slow reader (sink.h), for whom the agents are paused.
 */
#ifndef BSPRUN_OUTPUT_H
#define BSPRUN_OUTPUT_H

#include <uv.h>

#include "bsprun/launcher/agents.h"
#include "bsprun/launcher/job_machine.h"
#include "bsprun/launcher/order.h"
#include "bsprun/launcher/replay.h"
#include "bsprun/launcher/show.h"
#include "bsprun/launcher/sink.h"
#include "bsprun/launcher/whole.h"

struct output_calls {
    /* Once: nobody takes the output any more.  What is worth a line was said. */
    void (*closed)(void *context);
    /* There is more, or less, of it than before; perhaps all is out. */
    void (*moved)(void *context);
};

struct output {
    struct common *common;
    struct agents *agents;
    const struct output_calls *calls;
    void *context;
    enum wire_stdio mode;  /* INHERIT: processes write to our streams themselves */
    struct show *show;     /* NULL: nothing is relayed */
    struct sink sinks[2];  /* our stdout and stderr */
    struct spool *spool;   /* what waits in order, and what replay remembers */
    struct replay *replay; /* NULL: nothing is rolled back */
    struct whole whole;    /* lines of several hosts */
    struct order *order;   /* NULL: there is but one host, or nothing is rolled back */
    uv_timer_t prompt_timer, line_timer;
    struct coord_name known; /* the newest snapshot that all agents know to be committed */
    bool any;                /* something came */
    bool differs_told, unkept_told;
    bool prompts; /* somebody looks on: beginnings of lines are shown, too */
    bool closed;
};

/* 0 or -errno. */
int output_open(struct output *output, struct common *common, struct agents *agents,
                const struct output_calls *calls, void *context);
/* Closes the handles in the loop; nothing is taken any more. */
void output_close(struct output *output);
/* After the loop; also when all is zero. */
void output_free(struct output *output);

/* OUTPUT of an agent; present: of this term. */
void output_take(struct output *output, const struct launcher_agent *agent,
                 const struct wire_message *message, bool present);
/* PASSED: the host has sent what its processes wrote up to that superstep; WIRE_NEVER: all. */
void output_passed(struct output *output, uint32_t host, uint64_t superstep);
/* MARK: what the host has sent was written before that snapshot. */
void output_mark(struct output *output, uint32_t host, struct coord_name name);
/* The snapshot is committed, which all agents know. */
void output_commit(struct output *output, struct coord_name name);

/* The machine's term begins. */
void output_begin_term(struct output *output, const struct job_machine *machine);
/* The host will send nothing more. */
void output_leave(struct output *output, uint32_t host);
/* The job goes on from that snapshot. */
void output_go_back(struct output *output, struct coord_name name);

/* No more will come: beginnings of lines are shown, too. */
void output_flush(struct output *output);
/* Whether the user's readers have taken all of it. */
bool output_is_out(const struct output *output);
/* The user wants the end, not the rest of the output. */
void output_drop(struct output *output);
/* Whether a process (-1: unknown) has written less than before a rollback, when all have ended; not
 * if it is known that its output differed. */
bool output_behind(const struct output *output, int *pid);

#endif
