/* meet_play.h - listeners, callers and strangers on one loop and one thread, over loopback;
 * strangers are plain sockets. */
#ifndef TESTS_UNIT_MEET_PLAY_H
#define TESTS_UNIT_MEET_PLAY_H

#include "lib/net/meet.h"
#include "tests/unit/loop_play.h"

#define MET_MAX       8u
#define STRANGERS_MAX 64u

/* What happened to a listener or a caller. */
struct side {
    unsigned met, failed, refused, refused_proved;
    struct net_meeting meetings[MET_MAX];
    char text[NET_FAILED_TEXT]; /* of the last failed or refused */
    struct net_listener *close_on_met;
};

extern const unsigned char key[NET_KEY_SIZE], other_key[NET_KEY_SIZE];
extern struct net_meet_options of_listener, of_caller;
extern struct side listening, calling;
extern const struct net_meeter meeter; /* fills a struct side */
extern struct net_listener *listener;
extern struct net_call *call;
extern char address[NET_ADDRESS_SIZE]; /* of the listener */
extern int strangers[STRANGERS_MAX];   /* closed by the fixture */
extern unsigned stranger_count;

void meet_set_up(void);
void meet_tear_down(void);

void listen_on(const char *host);
void call_them(const char *const *addresses, unsigned count);
void call_it(void);
/* Until the call is over, and the listener, too, knows that they have met. */
void run_call(void);

/* A connection to the listener. */
int stranger(void);
void write_all(int fd, const void *bytes, size_t size);
/* A port where nobody listens: it is bound as long as the descriptor lives. */
int deaf_port(char *text);

void expect_text(const struct side *side, const char *text);
/* Both have met each other, and nobody else. */
void expect_met(void);
/* The listener hangs up without having said a word. */
void expect_hang_up(int fd);

#endif
