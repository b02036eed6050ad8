/* dataspace_hosts.h - several hosts with a dataspace, and the links among them, for tests that play
 * step by step: messages are delivered one after the other, when the test says so. */
#ifndef TESTS_UNIT_DATASPACE_HOSTS_H
#define TESTS_UNIT_DATASPACE_HOSTS_H

#include "bsprun/dataspace/service.h"
#include "tests/unit/dataspace_calls.h"

#define HOSTS_MOST   8u
#define HOSTS_PIECE  10u   /* bytes that go to another host at a time */
#define HOSTS_SIZE   100u  /* of an object, at most */
#define HOSTS_QUEUED 1000u /* messages */
#define HOSTS_LINK   3u    /* messages that it has room for */

struct test_host {
    struct dataspace *space;
    struct pool *pool;
    unsigned char window[HOSTS_SIZE];
    struct dataspace_request request;
    unsigned answers;
    uint64_t size; /* of the last answer ... */
    uint32_t piece;
    unsigned queued[HOSTS_MOST];
    uint64_t asked; /* how often it has asked for an object */
    bool lost;
};

extern struct test_host hosts[HOSTS_MOST];
extern uint32_t hosts_silent; /* what this host sends is held up; HOSTS_MOST: none */
extern uint64_t hosts_now;
/* Of objects, from one host to another: that processes get, and that are to be backed. */
extern uint64_t hosts_bytes[HOSTS_MOST][HOSTS_MOST], hosts_backed[HOSTS_MOST][HOSTS_MOST];

/* As that says, but for what is a host's own. */
void hosts_open(const struct dataspace_setup *setup);
void hosts_close(void);
/* Sends what waits for room or for a while. */
void hosts_go_on(void);
/* Delivers messages until there are none but those of the host that is silent, or so many. */
void hosts_deliver(unsigned most);
void hosts_run(void);
/* All are told that the host is lost; what it has sent is held up for ever. */
void hosts_lose(uint32_t lost);
/* The process posts a request, whose piece is the whole window; of a put, the bytes are there. */
void host_posts(uint32_t on, uint32_t pid, uint64_t number, enum dataspace_kind kind,
                const char *tag, uint64_t size);

#endif
