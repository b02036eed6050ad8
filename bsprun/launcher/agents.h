/* agents.h - bsprun's table of the agents of a job, one for each host, and the sessions with them.
 *
 * An agent is started (of this host: as a child with a socket pair; elsewhere: by ssh, srun or a
 * command), gets a line (a connection), sends HELLO and is up.  It is lost when its line ends or it
 * is given up; then another agent may be started on the same host, with a new line.
 *
 * Other modules may read the structs below, but only this module changes them.  Events of agents
 * are reported by the callbacks of agents_calls, from the loop, or from within the function that
 * causes them.
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
    AGENT_STARTING, /* on another host: it has not connected yet */
    AGENT_LINKED,   /* it is connected */
    AGENT_UP,       /* HELLO was received, START not sent */
    AGENT_STARTED,
    AGENT_STATE_COUNT
};

enum agent_loss {
    AGENT_ENDED,       /* its kernel has closed the line: another can be started there */
    AGENT_CUT,         /* the line failed, possibly unnoticed by the agent */
    AGENT_SILENT,      /* silent for the heartbeat, possibly unaware of it */
    AGENT_NOT_STARTED, /* elsewhere */
    AGENT_REFUSED,     /* an agent of the wrong kind */
};

struct launcher_agent {
    struct agents *all;
    uint32_t host;          /* its number */
    uint32_t slots;         /* 0: as many as it has cores */
    struct coord_load load; /* at the beginning of the job; with --load */
    const char *name;
    const struct host *given; /* as the user named it */
    struct hosts admitted;    /* what `given` and `name` point to, if the host was added later */
    bool local;               /* on the host of bsprun */
    enum agent_state state;
    pid_t pid;                          /* local: its process, 0: none */
    struct launcher_line *line;         /* the connection to it; NULL: none */
    bool tried_again;                   /* it was lost: that it does not come is no news */
    bool dismissed;                     /* the job continues without it once it has left */
    bool reported;                      /* REPORT was received, its last message */
    struct wire_numbers early;          /* ... that of these processes may lack output */
    uint32_t left_term;                 /* in which it was lost without REPORT; 0: never */
    uint32_t untold_term;               /* in which it was lost to Processor Zero; 0: never */
    uint32_t untold_by;                 /* ... on that host */
    uint32_t incarnation;               /* number of agents started on this host */
    uint32_t cores;                     /* as it reports */
    char *called;                       /* the name of its host there; NULL: unknown */
    char *addresses;                    /* where it listens for other agents; NULL: none */
    char *adapter;                      /* preferred ones among these; NULL: any */
    uint64_t heard_ms;                  /* time of its last message */
    uint64_t spoke_ms;                  /* time of the last message that was not a heartbeat */
    uint64_t calls, answers, called_at; /* heartbeats: sent, answered, the one awaited */
};

struct agents_calls {
    void (*message)(void *context, struct launcher_agent *agent,
                    const struct wire_message *message);
    /* Called before the set of live hosts changes, and periodically. */
    void (*watched)(void *context);
    /* It has lost its line: the line has ended, and `ended` and `settled` follow, or was cut
     * because the agent was given up. */
    void (*forgot)(void *context, struct launcher_agent *agent);
    /* A line has ended: called before and after it is handled. */
    void (*ended)(void *context);
    void (*settled)(void *context);
    /* The agent is lost before the end of the job.  status: exit status of bsprun's own agent, as
     * in a shell; 0: the agent of another host. */
    void (*lost)(void *context, struct launcher_agent *agent, enum agent_loss loss, int status,
                 const char *text);
    /* After agents_call_roll: all agents that are not lost have answered. */
    void (*answered)(void *context);
    /* A message to an agent is too long, which has been reported: its line ends. */
    void (*unsendable)(void *context);
};

/* What happens to processes that the agent of this host leaves behind. */
enum agents_leftovers { LEFTOVERS_DIE, LEFTOVERS_STAY, LEFTOVERS_COPIES_DIE };

struct agents {
    struct common *common;
    const struct agents_calls *calls;
    void *context;
    struct launcher_agent *items; /* by host; they stay where they are */
    uint32_t count, room;         /* room: for hosts that are added later, too */
    uint32_t starters;            /* the first so many begin the job; others were spares or added */
    struct remote *remote;        /* for agents of other hosts; NULL: there are none */
    struct remote_start *start;   /* ... and for starting them; NULL: all are here */
    uint32_t term;
    enum agents_leftovers leftovers;
    bool paused, calling;
};

/* Makes the table when the hosts are known.  False: no memory. */
bool agents_make(struct agents *agents, struct common *common, const struct agents_calls *calls,
                 void *context);
void agents_free(struct agents *agents); /* also when all is zero */
/* Adds a host to the table, an empty list afterwards; its agent is not started.  NULL: no room; the
 * list is unchanged. */
struct launcher_agent *agents_admit(struct agents *agents, struct hosts *host);
/* NULL: no such host. */
struct launcher_agent *agents_of(struct agents *agents, uint32_t host);
bool agents_has_hosts(const struct agents *agents); /* several, or one that is not this */
static inline bool agents_is_up(const struct launcher_agent *agent)
{
    return agent->state >= AGENT_UP;
}

/* Starts those of the hosts that begin the job.  False: failed, reported. */
bool agents_start_all(struct agents *agents);
/* Starts an agent.  False: failed, reported. */
bool agents_start(struct launcher_agent *agent);
/* HELLO was received. */
void agents_hello(struct launcher_agent *agent, const struct wire_hello *hello);
/* Another host of the table that is the same: its agent has that name, and listens at the same
 * addresses.  NULL: there is none whose agent is up. */
const struct launcher_agent *agents_twin(const struct launcher_agent *agent,
                                         const struct wire_hello *hello);
/* START was sent. */
void agents_started(struct launcher_agent *agent);
/* Declares it lost and cuts its line. */
void agents_give_up(struct launcher_agent *agent, enum agent_loss loss, const char *text);
/* Sends it away: its line ends when its processes have ended.  False: it has no line. */
bool agents_dismiss(struct launcher_agent *agent);

/* Sets the term of messages from now on. */
void agents_set_term(struct agents *agents, uint32_t term);
/* Fills in job and term of the envelope. */
void agents_send(struct launcher_agent *agent, struct wire_message *message);
void agents_send_all(struct agents *agents, struct wire_message *message);
/* Stops or resumes reading from agents. */
void agents_pause(struct agents *agents, bool pause);
/* Asks all agents for an answer: `answered`. */
void agents_call_roll(struct agents *agents);

/* The job is over. */
void agents_over(struct agents *agents, enum agents_leftovers leftovers);
/* Whether any agent has a line. */
bool agents_has_lines(const struct agents *agents);
void agents_cut_lines(struct agents *agents);
/* Closes that of a host that is not waited for; its agent ends when it notices. */
void agents_cut_line(struct launcher_agent *agent);
/* Kills the agents of this host that do not answer. */
void agents_kill(struct agents *agents);
/* The hosts that take part or are about to, at most HOSTS_MAX, with their slots.  False: the cores
 * of one of them are not known yet. */
bool agents_slots(const struct agents *agents, struct wire_host *hosts, uint32_t *count);

/* Prepares for agents of other hosts, if there are several. 0 or -errno. */
int agents_open_remote(struct agents *agents);
void agents_close_remote(struct agents *agents);
struct net_ports agents_ports(const struct options *options);

#endif
