/* peers.h - the other hosts of a job.
 *
 * ELECT lists the hosts of a term and says which agent is Processor Zero.  Messages to and from it,
 * and files, use the links of the term (link.h); other parts of the agent handle them,
 * independently of the place of Processor Zero.
 *
 * Happy path: JOIN: the agent listens -> HELLO -> ELECT: links -> messages, supersteps -> END.
 *
 * What can fail: a link fails, or a peer breaks a rule: bsprun is told (LINK_LOST), and Processor
 * Zero if it is here.  Without Processor Zero's host the term is over: the agent ends the processes
 * and waits for the next ELECT.
 *
 * In a job of one host there are no peers, and these functions have no effect.
 */
#ifndef BSPRUN_PEERS_H
#define BSPRUN_PEERS_H

#include "bsprun/agent/core/agent.h"

struct net_meet_options; /* lib/net/meet.h */
struct net_secret;       /* lib/net/secret.h */
struct links_express;    /* bsprun/link/link.h */

/* Handles JOIN: listens for other agents.  Takes ownership of the secret. 0 or -errno. */
int agent_peers_open(struct agent *agent, const struct wire_message *join,
                     struct net_secret *secret);
/* The addresses on which it listens, for HELLO; "" in a job of one host. */
const char *agent_peers_addresses(const struct agent *agent);
/* Closes everything at once. */
void agent_peers_close(struct agent *agent);
void agent_peers_free(struct agent *agent);

/* ELECT: stores its hosts and closes the links of the previous term. 0 or -ENOMEM. */
int agent_peers_elect(struct agent *agent, const struct wire_message *message);
/* Begins the term of that ELECT: opens its links. 0 or -errno. */
int agent_peers_enter(struct agent *agent);
/* Breaks the links to all other hosts. */
void agent_peers_leave(struct agent *agent, const char *why);
/* The term goes on with Processor Zero on that host. */
void agent_peers_succeed(struct agent *agent, uint32_t host);
/* The hosts of the term, including this one; none in a job of one host. */
const struct wire_host *agent_peers_hosts(const struct agent *agent, uint32_t *count);
/* One of them; NULL: it is none. */
const struct wire_host *agent_peers_find(const struct agent *agent, uint32_t host);
/* How processes are to be placed, as in struct coord_config; the list is valid until the next
 * election. */
struct peers_placement {
    bool by_node, anew;
    struct wire_move_list moves;
};
struct peers_placement agent_peers_placement(const struct agent *agent);
/* The options for connections within the job. */
const struct net_meet_options *agent_peers_meeting(const struct agent *agent);
/* The heartbeat: a host silent for so long is lost; 0: never. */
uint32_t agent_peers_heartbeat_ms(const struct agent *agent);
/* The loads of the hosts; NULL: unknown. */
const struct coord_load *agent_peers_loads(const struct agent *agent);
/* What earlier jobs have seen of each of them; NULL: nothing. */
const struct share_sums *agent_peers_shares(const struct agent *agent);

/* Whether Processor Zero of the term is on another host and reachable. */
bool agent_zero_is_elsewhere(const struct agent *agent);
/* Whether it is, or will be, in this agent. */
bool agent_zero_is_here(const struct agent *agent);
/* Whether it is on that host. */
bool agent_peers_is_zero(const struct agent *agent, uint32_t host);
/* Stops sending to Processor Zero of another host in this term. */
void agent_peers_give_up_zero(struct agent *agent);
/* To the agent of another host; Processor Zero's. */
void agent_peers_send(struct agent *agent, uint32_t host, const struct wire_message *message);
/* The same with the lock of agent_link_bell held; sent by agent_peers_put_done. */
void agent_peers_put_done(struct agent *agent);
void agent_peers_put(struct agent *agent, uint32_t host, const struct wire_message *message);
/* The bell for the links of the term, on several hosts; initialised by agent_peers_begin. */
void agent_peers_begin(struct agent *agent);
struct link_bell *agent_link_bell(struct agent *agent);
/* For the links of the term: see link.h. */
void agent_peers_use_express(struct agent *agent, const struct links_express *express);
void agent_peers_send_to_zero(struct agent *agent, const struct wire_message *message);
/* Bytes queued for the link to that host. */
uint64_t agent_peers_waiting(const struct agent *agent, uint32_t host);
/* Fills in what links_measure does; nothing in a job of one host. */
void agent_peers_measure(const struct agent *agent, uint64_t superstep, struct wire_arrive *arrive);
/* The job goes on without the host: closes its link, and nothing of it is heard any more. */
void agent_peers_lose(struct agent *agent, uint32_t host, const char *why);
/* Whether it does, or the host cannot be reached. */
bool agent_peers_is_lost(const struct agent *agent, uint32_t host);
/* It cannot be. */
void agent_peers_note_lost(struct agent *agent, uint32_t host);
/* The host broke a rule: closes its link for the rest of the term. */
void agent_peers_drop(struct agent *agent, uint32_t host, const char *complaint);

/* All ranks of the job are ready: starts mirroring supersteps. 0 or -errno. */
int agent_peers_mirror(struct agent *agent, const struct links_replicas *replicas);
/* As links_sure. */
bool agent_peers_sure(const struct agent *agent, uint64_t superstep, bool arrived);
/* As links_in_vain. */
bool agent_peers_in_vain(const struct agent *agent, uint32_t *pid);
/* As links_know_stop. */
void agent_peers_know_stop(struct agent *agent, uint64_t superstep, uint64_t round);
/* As links_owe. */
bool agent_peers_owe(const struct agent *agent);

#endif
