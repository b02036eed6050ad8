/* peers.h - the other hosts of a job, as one node agent sees them.
 *
 * ELECT says which hosts take part in a term and which of their agents is Processor Zero.  Messages
 * to and from it, and files, travel over the links of the term (link.h); what they mean is for the
 * rest of the agent, which need not know where Processor Zero is.
 *
 * Happy path: JOIN: the agent listens -> HELLO -> ELECT: links -> messages, supersteps -> END.
 *
 * What can fail: a link breaks, or a peer breaks a rule: bsprun is told (LINK_LOST), and Processor
 * Zero when it is here.  Without Processor Zero's host the term is over: what runs here is ended,
 * and the next ELECT waited for.
 *
 * In a job of one host there are no peers, and nothing here does anything.
 */
#ifndef BSPRUN_PEERS_H
#define BSPRUN_PEERS_H

#include "bsprun/agent/core/agent.h"

struct net_meet_options; /* lib/net/meet.h */
struct net_secret;       /* lib/net/secret.h */

/* JOIN has come: this agent listens for others.  The secret is its own from then on.  0 or -errno. */
int agent_peers_open(struct agent *agent, const struct wire_message *join,
                     struct net_secret *secret);
/* For HELLO: where it listens; "" in a job of one host. */
const char *agent_peers_addresses(const struct agent *agent);
/* At once and for good. */
void agent_peers_close(struct agent *agent);
void agent_peers_free(struct agent *agent);

/* ELECT: remembers its hosts; the links of the term before are closed.  0 or -ENOMEM. */
int agent_peers_elect(struct agent *agent, const struct wire_message *message);
/* The term of that ELECT begins here: its links are opened.  0 or -ENOMEM. */
int agent_peers_enter(struct agent *agent);
/* Its hosts, this one included; in a job of one host none. */
const struct wire_host *agent_peers_hosts(const struct agent *agent, uint32_t *count);
/* How processes are placed on them. */
bool agent_peers_by_node(const struct agent *agent);
/* How connections to others of the job are made. */
const struct net_meet_options *agent_peers_meeting(const struct agent *agent);
/* After so long a silence a host is lost; 0: never. */
uint32_t agent_peers_heartbeat_ms(const struct agent *agent);
/* How busy each of them was; NULL: not known. */
const struct coord_load *agent_peers_loads(const struct agent *agent);

/* Whether Processor Zero of the term is another host's, which can be spoken to. */
bool agent_zero_is_elsewhere(const struct agent *agent);
/* Whether it is this agent's, or shall be. */
bool agent_zero_is_here(const struct agent *agent);
/* Whether its agent is that host's. */
bool agent_peers_is_zero(const struct agent *agent, uint32_t host);
/* Processor Zero elsewhere is not to be asked any more in this term. */
void agent_peers_give_up_zero(struct agent *agent);
/* To the agent of another host; Processor Zero's. */
void agent_peers_send(struct agent *agent, uint32_t host, const struct wire_message *message);
void agent_peers_send_to_zero(struct agent *agent, const struct wire_message *message);
/* Bytes of messages that wait for the link to that host. */
uint64_t agent_peers_waiting(const struct agent *agent, uint32_t host);
/* The host breaks a rule: its link ends, and nothing more comes from it in this term. */
void agent_peers_drop(struct agent *agent, uint32_t host, const char *complaint);

/* All ranks of the job are ready: supersteps travel from now on.  0 or -errno. */
int agent_peers_mirror(struct agent *agent);

#endif
