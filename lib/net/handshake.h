/* handshake.h - mutual authentication of two processes of a job on a new connection.
 *
 * A state machine: bytes go in, bytes come out.  No I/O, no clock, no allocation; randomness is
 * passed in.  Three messages of fixed size, so there are no lengths to forge:
 *
 *   caller                                      listener
 *     HELLO    random, what it is, whom it wants, proof  ->
 *                                          <-  REPLY    verdict, random, what it is, proof
 *     CONFIRM  proof                                     ->
 *
 * A proof is a hash, keyed with the job's key, of everything said so far and of which message it
 * is.  Hence a message cannot be reflected to its sender; it cannot be used in another handshake,
 * as each side's random bytes are in all that comes behind them; and what each side claims to be is
 * part of the proof.  The listener says nothing before the caller has proved that it has the key.
 * (An attacker who replays a HELLO gets a REPLY, and no further.)
 *
 * What this does not protect against: other processes that have the key can claim to be any agent
 * of the job; and without encryption (net.h) an attacker on the path can change the data after the
 * handshake.
 *
 * Size and tag of HELLO and REPLY and the place of the version in them are the same in every
 * version of the protocol, so that both sides can tell their users when they are of different ones.
 */
#ifndef HANDSHAKE_H
#define HANDSHAKE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define NET_KEY_SIZE      32u /* bytes of the job's key, and of a session's */
#define NET_JOB_SIZE      16u
#define NET_ANY           0xffffffffu /* in `wanted`: whichever it is */

#define HANDSHAKE_RANDOM  32u
#define HANDSHAKE_PROOF   32u
#define HANDSHAKE_HELLO   116u /* bytes of the messages */
#define HANDSHAKE_REPLY   84u
#define HANDSHAKE_CONFIRM HANDSHAKE_PROOF
#define HANDSHAKE_TEXT    160u

enum net_role { NET_BSPRUN, NET_AGENT, NET_ROLE_COUNT };

/* What a connection is for; the caller says it. */
enum net_purpose {
    NET_CONTROL, /* messages (net.h), to bsprun or to the agent that runs Processor Zero */
    NET_DATA,    /* what ranks send each other */
    NET_PURPOSE_COUNT
};

/* What a side claims to be, and what the connection is for.  The listener's purpose and stripe are
 * always those of its caller. */
struct net_identity {
    uint32_t role;        /* enum net_role */
    uint32_t host;        /* its number in the job; bsprun's is 0 */
    uint32_t incarnation; /* distinguishes an agent from its predecessor on that host */
    uint32_t purpose;     /* enum net_purpose */
    uint32_t stripe;      /* which of several connections for that purpose */
};

/* Keys of one connection.  What one side sends with, the other receives with. */
struct net_session {
    unsigned char send[NET_KEY_SIZE];
    unsigned char receive[NET_KEY_SIZE];
};

struct handshake_setup {
    const unsigned char *key; /* NET_KEY_SIZE bytes; must stay until the handshake is over */
    unsigned char job[NET_JOB_SIZE];
    uint32_t version; /* of the protocol that is spoken on the connection */
    struct net_identity own;
    /* Caller: who must answer; NET_ANY in host and incarnation where it does not matter.  Its
     * purpose and stripe are not looked at. */
    struct net_identity wanted;
    /* Listener: bit NET_ACCEPTS(role, purpose) for whom it takes. */
    uint32_t accepts;
};

#define NET_ACCEPTS(role, purpose) (1u << ((role)*NET_PURPOSE_COUNT + (purpose)))

enum handshake_state {
    HANDSHAKE_GOING,
    HANDSHAKE_PROVED, /* the peer is what handshake_peer says; there may still be output */
    HANDSHAKE_FAILED  /* handshake_text says why; there may still be output, for the peer to know */
};

struct handshake {
    struct handshake_setup setup;
    bool listens;
    bool key_seen; /* the peer has proved, for what it is worth (see above), that it has the key */
    enum handshake_state state;
    struct net_identity peer;
    struct net_session session;
    unsigned char hello[HANDSHAKE_HELLO];
    unsigned char reply[HANDSHAKE_REPLY];
    unsigned char confirm[HANDSHAKE_CONFIRM];
    unsigned char *incoming; /* the message that is being received; NULL: none */
    size_t incoming_size, received;
    const unsigned char *outgoing;
    size_t outgoing_size;
    char text[HANDSHAKE_TEXT];
};

/* Begins one side; random: HANDSHAKE_RANDOM bytes that were never used before. */
void handshake_call(struct handshake *handshake, const struct handshake_setup *setup,
                    const unsigned char *random);
void handshake_listen(struct handshake *handshake, const struct handshake_setup *setup,
                      const unsigned char *random);

/* How many bytes it waits for at the moment: never more than belong to the handshake, so that what
 * comes behind it stays in the connection. */
size_t handshake_wanted(const struct handshake *handshake);

/* Takes bytes that came, at most handshake_wanted of them. */
void handshake_take(struct handshake *handshake, const void *bytes, size_t size);

/* The connection ended, or time is up: fails, with a text made of `what` ("it closed the
 * connection") and of how far things had got.  Does nothing when it is over. */
void handshake_fail(struct handshake *handshake, const char *what);

/* Bytes to send next, and how many; handshake_sent says that some of them are on their way. */
size_t handshake_output(const struct handshake *handshake, const unsigned char **bytes);
void handshake_sent(struct handshake *handshake, size_t size);

enum handshake_state handshake_state(const struct handshake *handshake);

/* Once proved. */
const struct net_identity *handshake_peer(const struct handshake *handshake);
const struct net_session *handshake_session(const struct handshake *handshake);

/* Once failed: why.  It speaks of the peer as "it". */
const char *handshake_text(const struct handshake *handshake);

/* Once failed: whether the peer had the job's key, so that the text is of interest to the user. */
bool handshake_key_seen(const struct handshake *handshake);

/* Forgets all secrets.  Harmless twice. */
void handshake_wipe(struct handshake *handshake);

#endif
