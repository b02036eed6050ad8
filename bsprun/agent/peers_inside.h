/* peers_inside.h - what an agent keeps of the other hosts; for peers.c, cut_off.c and
 * fetch.c. */
#ifndef BSPRUN_PEERS_INSIDE_H
#define BSPRUN_PEERS_INSIDE_H

#include "bsprun/agent/early.h"
#include "bsprun/agent/silence.h"
#include "lib/net/meet.h"
#include "lib/net/secret.h"
#include "lib/wire/wire.h"

#define PEERS_ADDRESSES 16

struct agent;
struct links;
struct fetches;

struct agent_peers {
    struct net_secret *secret;
    struct net_meet_options meet;
    struct net_listener *listener;
    char addresses[WIRE_PATH_MAX];
    bool encrypt; /* the links */
    uint32_t heartbeat_ms;
    uv_timer_t watch; /* of bsprun's signs of life */
    bool watching;
    struct silence silence;

    /* The newest ELECT. */
    uint32_t elected_term, zero_host, host_count;
    bool by_node;
    struct wire_host *hosts;
    struct coord_load *loads; /* of each; NULL: not told */
    char **names, **host_addresses;

    struct links *links; /* NULL: the term has not begun here */
    uint32_t links_term;
    bool term_over; /* Processor Zero elsewhere is not to be asked any more */
    struct fetches *fetches;
    struct early_links early;
};

/* bsprun is told that this agent does not hear a host any more; its own number: bsprun. */
void agent_peers_tell_lost(struct agent *agent, uint32_t host, const char *text);

#endif
