/* launcher_agents.h - the agents of a job as bsprun sees them, one for each host.  Internal.
 *
 * An agent is started (of this host: as a child with a socket pair; elsewhere: launcher_remote.c),
 * gets a line, says HELLO and is up.  It is lost when its line ends, or given up; then another may
 * be started on the same host, whose line is a new one.
 */
#ifndef BSPRUN_LAUNCHER_AGENTS_H
#define BSPRUN_LAUNCHER_AGENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "coordinator/core/coord.h"
#include "lib/net/net.h"

struct launcher;
struct launcher_agent;

/* A connection to an agent; agent NULL: it was given up, and what still comes does not count. */
struct launcher_line {
    struct launcher_agent *agent;
    struct net_connection *connection;
};

struct launcher_agent {
    struct launcher *launcher;
    uint32_t host;  /* its number */
    uint32_t slots; /* 0: as many as it has cores */
    struct coord_load load; /* when the job began; with --load */
    uint32_t cores; /* as it says itself */
    const char *name;
    bool local;                         /* on the host of bsprun */
    pid_t pid;                          /* local: its process, 0: none */
    struct launcher_line *line;         /* NULL: none */
    bool up;                            /* it has said HELLO */
    bool unstarted;                     /* ... but has not got START yet */
    bool starting;                      /* elsewhere: it is awaited */
    bool saves;                         /* it was in the job at the newest snapshot */
    bool dismissed;                     /* the job goes on without it, once it has left */
    uint32_t incarnation;               /* how many were started */
    uint64_t life_ms; /* since when the host lives, as far as it has not been told; 0: it does not */
    bool ended_here;  /* an agent ended, which may have been its host's end */
    uint64_t spoke_ms;                  /* when the last one came that was no sign of life */
    uint64_t heard_ms;                  /* when its last message came */
    char *addresses;                    /* where it listens for other agents; NULL: nowhere */
    char *adapter;                      /* those of them that come first; NULL: any */
    uint64_t calls, answers, called_at; /* signs of life: asked for, given, to wait for */
    bool reported;                      /* REPORT came: nothing more will */
    bool answered;                      /* STATUS came since it was asked */
    struct wire_where *places;
    uint32_t place_count;
};

/* The table, when the hosts are known.  False: no memory. */
bool launcher_make_agents(struct launcher *launcher);
void launcher_free_agents(struct launcher *launcher);
/* NULL: there is no host of that number. */
struct launcher_agent *launcher_agent_of(struct launcher *launcher, uint32_t host);
bool launcher_has_hosts(const struct launcher *launcher); /* more than one, or another one */

/* Those of all hosts but the spares.  False: said why not. */
bool launcher_start_agents(struct launcher *launcher);
/* Starts an agent.  False: said why not. */
bool launcher_start_agent(struct launcher_agent *agent);
/* It has a connection now.  0 or -errno; then the descriptor is the caller's. */
int launcher_open_line(struct launcher_agent *agent, int fd, const struct net_options *options);
/* It is lost without its line having ended, which is cut.  unheard: it may not know. */
void launcher_give_up_agent(struct launcher_agent *agent, bool unheard, bool usable,
                            const char *text);

/* The envelope is filled in. */
void launcher_send_to(struct launcher_agent *agent, struct wire_message *message);
void launcher_send_all(struct launcher *launcher, struct wire_message *message);
/* Stops taking, or takes again, what agents say. */
void launcher_pause(struct launcher *launcher, bool pause);

/* Whether there is a line to any. */
bool launcher_has_lines(const struct launcher *launcher);
void launcher_cut_lines(struct launcher *launcher);
/* The agents that do not even answer are killed, as far as they are here. */
void launcher_kill_agents(struct launcher *launcher);
/* The slots of all hosts that take part.  False: it is not known yet how many cores one of them has.
 */
bool launcher_slots(const struct launcher *launcher, uint32_t *slots);
/* "host b", or "" where there is but one. */
void launcher_host_text(const struct launcher_agent *agent, char *text, size_t size);

#endif
