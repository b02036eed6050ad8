/* net_play.h - the two ends of a connection over a socket pair, on one loop. */
#ifndef TESTS_UNIT_NET_PLAY_H
#define TESTS_UNIT_NET_PLAY_H

#include "lib/net/net.h"
#include "tests/unit/loop_play.h"

/* One end of a pair and what happened to it. */
struct end {
    struct net_connection *connection; /* NULL once closed */
    unsigned received;
    uint64_t next; /* superstep expected in the next message */
    size_t text_bytes;
    unsigned closed;
    unsigned drained;
    enum net_end how;
    char why[WIRE_ERROR_SIZE];
    unsigned close_after, finish_after, pause_after; /* messages; 0: never */
    bool echo;
    struct end *pauses; /* a message here pauses that one */
};

extern int fds[2]; /* the pair; a test gives them to an end or closes them */
extern struct end a, b;
extern bool encrypted; /* whether open_end makes encrypted connections */
extern const struct net_session sessions[2];
extern const struct net_handlers handlers; /* fill a struct end */

/* Taken down by loop_tear_down. */
void net_set_up(void);
void net_set_up_encrypted(void);

void open_end(struct end *end, int fd, const struct net_options *given);
void open_both(const struct net_options *options);
struct wire_message numbered(uint64_t number, const char *text);
void send_numbered(struct end *end, unsigned count);
void expect_end(const struct end *end, enum net_end how);

#endif
