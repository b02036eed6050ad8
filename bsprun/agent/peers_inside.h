/* peers_inside.h - what an agent keeps of the other hosts; for peers.c and fetch.c. */
#ifndef BSPRUN_PEERS_INSIDE_H
#define BSPRUN_PEERS_INSIDE_H

#include "lib/net/meet.h"
#include "lib/net/secret.h"
#include "lib/wire/wire.h"

#define PEERS_EARLY_MAX 1024
#define PEERS_ADDRESSES 16

/* A link of a term whose ELECT has not come yet, or whose predecessor is still being ended. */
struct early {
    int fd; /* -1: the place is free */
    uint32_t host, term;
    struct net_session session;
};

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
    bool watching, cut_off;
    uint64_t heard_ns;

    /* The newest ELECT. */
    uint32_t elected_term, zero_host, host_count;
    bool by_node;
    struct wire_host *hosts;
    char **names, **host_addresses;

    struct links *links; /* NULL: the term has not begun here */
    uint32_t links_term;
    bool term_over; /* Processor Zero elsewhere is not to be asked any more */
    struct fetches *fetches;
    struct early early[PEERS_EARLY_MAX];
};

#endif
