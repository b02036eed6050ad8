/* agents.h - the agents of a job as bsprun sees them, one for each host, and the sessions with
 * them.
 *
 * An agent is started (of this host: as a child with a socket pair; elsewhere: by ssh, srun or a
 * command), gets a line, says HELLO and is up.  It is lost when its line ends, or given up; then
 * another may be started on the same host, whose line is a new one.
 *
 * What is in the structs below is for everybody to read and for this module alone to change.  News
 * of agents goes to the callbacks of agents_calls, from the loop, or from within the call that has
 * caused it.
 */
#ifndef BSPRUN_AGENTS_H
#define BSPRUN_AGENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "bsprun/launcher/common.h"
#include "coordinator/core/coord.h"
#include "lib/net/meet.h"
#include "lib/net/net.h"

struct agents;
struct launcher_agent;
struct launcher_line;

enum agent_state {
    AGENT_ABSENT,
    AGENT_STARTING, /* elsewhere: its call is awaited */
    AGENT_LINKED,   /* it has a line */
    AGENT_UP,       /* it has said HELLO, and has not got START */
    AGENT_STARTED,
    AGENT_STATE_COUNT
};

enum agent_loss {
    AGENT_ENDED,       /* its kernel has closed the line: another one can be started there */
    AGENT_CUT,         /* the line broke: the agent may not know */
    AGENT_SILENT,      /* nothing was heard of it for the heartbeat: it may not know */
    AGENT_NOT_STARTED, /* elsewhere */
    AGENT_REFUSED,     /* such an agent will not do */
};

struct launcher_agent {
    struct agents *all;
    uint32_t host;          /* its number */
    uint32_t slots;         /* 0: as many as it has cores */
    struct coord_load load; /* when the job began; with --load */
    const char *name;
    bool local; /* on the host of bsprun */
    enum agent_state state;
    pid_t pid;                          /* local: its process, 0: none */
    struct launcher_line *line;         /* the connection to it; NULL: none */
    bool dismissed;                     /* the job goes on without it, once it has left */
    bool reported;                      /* REPORT came: nothing more will */
    uint32_t incarnation;               /* how many were started */
    uint32_t cores;                     /* as it says itself */
    char *addresses;                    /* where it listens for other agents; NULL: nowhere */
    char *adapter;                      /* those of them that come first; NULL: any */
    uint64_t heard_ms;                  /* time of its last message */
    uint64_t spoke_ms;                  /* time of the last message that was not a heartbeat */
    uint64_t calls, answers, called_at; /* heartbeats: asked for, given, to wait for */
};

struct agents_calls {
    void (*message)(void *context, struct launcher_agent *agent,
                    const struct wire_message *message);
    /* Before it changes who lives, and as often as the agents are looked at. */
    void (*watched)(void *context);
    /* It has no line any more.  ended: the line has ended by itself, which `ended` and `settled`
     * follow; not: it was cut because the agent was given up. */
    void (*forgot)(void *context, struct launcher_agent *agent, bool ended);
    /* A line has ended: before anything is done about it; and when all has been done. */
    void (*ended)(void *context);
    void (*settled)(void *context);
    /* The agent is lost while the job is not over.  status: what bsprun's own agent ended with, as
     * a shell says it; 0: the agent of another host. */
    void (*lost)(void *context, struct launcher_agent *agent, enum agent_loss loss, int status,
                 const char *text);
    /* After agents_call_roll: all that are not lost have answered. */
    void (*answered)(void *context);
    /* What an agent is to be told is too long for a message, which has been said: its line ends. */
    void (*unsendable)(void *context);
};

/* What becomes of the processes here that an agent has left behind. */
enum agents_leftovers { LEFTOVERS_DIE, LEFTOVERS_STAY, LEFTOVERS_COPIES_DIE };

struct agents {
    struct common *common;
    const struct agents_calls *calls;
    void *context;
    struct launcher_agent *items; /* by host; the last `spares` are for later */
    uint32_t count, spares;
    struct remote *remote;      /* what agents of other hosts need; NULL: there are none */
    struct remote_start *start; /* ... and what starts them; NULL: all are here */
    uint32_t term;
    enum agents_leftovers leftovers;
    bool paused, calling;
};

/* The table, when the hosts are known.  False: no memory. */
bool agents_make(struct agents *agents, struct common *common, const struct agents_calls *calls,
                 void *context);
void agents_free(struct agents *agents); /* also when all is zero */
/* NULL: there is no host of that number. */
struct launcher_agent *agents_of(struct agents *agents, uint32_t host);
bool agents_has_hosts(const struct agents *agents); /* more than one, or another one */
static inline bool agents_is_up(const struct launcher_agent *agent)
{
    return agent->state >= AGENT_UP;
}

/* Those of all hosts but the spares.  False: said why not. */
bool agents_start_all(struct agents *agents);
/* Starts an agent.  False: said why not. */
bool agents_start(struct launcher_agent *agent);
/* HELLO came. */
void agents_hello(struct launcher_agent *agent, const struct wire_hello *hello);
/* START was sent. */
void agents_started(struct launcher_agent *agent);
/* It is lost without its line having ended, which is cut. */
void agents_give_up(struct launcher_agent *agent, enum agent_loss loss, const char *text);
/* The job goes on without it: its line ends when nothing of it runs any more.  False: it has none.
 */
bool agents_dismiss(struct launcher_agent *agent);

/* Messages carry that term from now on. */
void agents_set_term(struct agents *agents, uint32_t term);
/* The envelope's job and term are filled in. */
void agents_send(struct launcher_agent *agent, struct wire_message *message);
void agents_send_all(struct agents *agents, struct wire_message *message);
/* Stops taking, or takes again, what agents say. */
void agents_pause(struct agents *agents, bool pause);
/* Asks all for a sign of life: `answered`. */
void agents_call_roll(struct agents *agents);

/* The job is over. */
void agents_over(struct agents *agents, enum agents_leftovers leftovers);
/* Whether there is a line to any. */
bool agents_has_lines(const struct agents *agents);
void agents_cut_lines(struct agents *agents);
/* The agents that do not even answer are killed, as far as they are here. */
void agents_kill(struct agents *agents);
/* The slots of all hosts that take part.  False: it is not known yet how many cores one of them
 * has.
 */
bool agents_slots(const struct agents *agents, uint32_t *slots);

/* What several hosts need, if there are several.  0 or -errno. */
int agents_open_remote(struct agents *agents);
void agents_close_remote(struct agents *agents);
struct net_ports agents_ports(const struct options *options);

#endif
