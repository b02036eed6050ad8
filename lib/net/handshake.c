/* handshake.c - the messages of the handshake, and what each proves.
 *
 * Layout, numbers little-endian:
 *   HELLO    0 magic  8 version  12 zero  16 random  48 own: role host incarnation purpose stripe
 *            68 wanted: role host incarnation  80 zero  84 proof
 *   REPLY    0 version  4 verdict  8 random  40 own: role host incarnation  52 proof
 *   CONFIRM  0 proof
 *
 * proof of HELLO   = H(key, "hello"   job HELLO)
 *          REPLY   = H(key, "reply"   job HELLO REPLY)
 *          CONFIRM = H(key, "confirm" job HELLO REPLY)
 * session keys     = H(key, "to listener" job HELLO REPLY), H(key, "to caller" job HELLO REPLY)
 * where messages that hold a proof already are taken with it, H is BLAKE2b with a key, and all
 * inputs of one label have one length. */
#include "lib/net/handshake.h"

#include <assert.h>
#include <sodium.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define HELLO_VERSION 8u
#define HELLO_RANDOM  16u
#define HELLO_OWN     48u
#define HELLO_WANTED  68u
#define HELLO_PROOF   84u
#define REPLY_VERDICT 4u
#define REPLY_RANDOM  8u
#define REPLY_OWN     40u
#define REPLY_PROOF   52u
#define LABEL_SIZE    16u

_Static_assert(HELLO_PROOF + HANDSHAKE_PROOF == HANDSHAKE_HELLO, "layout of HELLO");
_Static_assert(REPLY_PROOF + HANDSHAKE_PROOF == HANDSHAKE_REPLY, "layout of REPLY");
_Static_assert(NET_KEY_SIZE == HANDSHAKE_PROOF && NET_KEY_SIZE >= crypto_generichash_KEYBYTES_MIN &&
                   NET_KEY_SIZE <= crypto_generichash_KEYBYTES_MAX,
               "one hash makes proofs and keys");
_Static_assert(NET_ROLE_COUNT *NET_PURPOSE_COUNT <= 32, "bits of `accepts`");

static const unsigned char magic[8] = {'b', 's', 'p', 'z', 'e', 'r', 'o', 0xb5};

/* The listener's verdict for a caller that has the key. */
enum verdict { ACCEPTED, OTHER_VERSION, NOT_TAKEN, NOT_THE_WANTED, VERDICT_COUNT };

static void put_u32(unsigned char *to, uint32_t number)
{
    for (unsigned i = 0; i < 4; i++)
        to[i] = (unsigned char)(number >> (8 * i));
}

static uint32_t get_u32(const unsigned char *from)
{
    return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 |
           (uint32_t)from[3] << 24;
}

struct name {
    char text[64];
};

/* "bsprun", "the agent of host 3", "any agent" */
static struct name name_of(uint32_t role, uint32_t host)
{
    struct name name;
    const char *what = role == NET_BSPRUN ? "bsprun" : role == NET_AGENT ? "agent" : "stranger";
    if (host == NET_ANY)
        snprintf(name.text, sizeof(name.text), "any %s", what);
    else if (role == NET_BSPRUN)
        snprintf(name.text, sizeof(name.text), "bsprun");
    else
        snprintf(name.text, sizeof(name.text), "the %s of host %u", what, host);
    return name;
}

/* ---- Proofs ------------------------------------------------------------------------------- */

/* H(key, label job, the first hello_size bytes of HELLO, the first reply_size of REPLY) */
static void hash(const struct handshake *handshake, const char *label, size_t hello_size,
                 size_t reply_size, unsigned char *result)
{
    crypto_generichash_state state;
    char padded[LABEL_SIZE] = {0};
    memcpy(padded, label, strlen(label));
    crypto_generichash_init(&state, handshake->setup.key, NET_KEY_SIZE, HANDSHAKE_PROOF);
    crypto_generichash_update(&state, (const unsigned char *)padded, LABEL_SIZE);
    crypto_generichash_update(&state, handshake->setup.job, NET_JOB_SIZE);
    crypto_generichash_update(&state, handshake->hello, hello_size);
    crypto_generichash_update(&state, handshake->reply, reply_size);
    crypto_generichash_final(&state, result, HANDSHAKE_PROOF);
    sodium_memzero(&state, sizeof(state));
}

static void prove_hello(const struct handshake *handshake, unsigned char *proof)
{
    hash(handshake, "hello", HELLO_PROOF, 0, proof);
}

static void prove_reply(const struct handshake *handshake, unsigned char *proof)
{
    hash(handshake, "reply", HANDSHAKE_HELLO, REPLY_PROOF, proof);
}

static void prove_confirm(const struct handshake *handshake, unsigned char *proof)
{
    hash(handshake, "confirm", HANDSHAKE_HELLO, HANDSHAKE_REPLY, proof);
}

static void make_session(struct handshake *handshake)
{
    struct net_session *session = &handshake->session;
    unsigned char *to_listener = handshake->listens ? session->receive : session->send;
    unsigned char *to_caller = handshake->listens ? session->send : session->receive;
    hash(handshake, "to listener", HANDSHAKE_HELLO, HANDSHAKE_REPLY, to_listener);
    hash(handshake, "to caller", HANDSHAKE_HELLO, HANDSHAKE_REPLY, to_caller);
}

static bool is_proof(const unsigned char *given, const unsigned char *right)
{
    return sodium_memcmp(given, right, HANDSHAKE_PROOF) == 0;
}

/* ---- States ------------------------------------------------------------------------------- */

static void expect(struct handshake *handshake, unsigned char *message, size_t size)
{
    handshake->incoming = message;
    handshake->incoming_size = size;
    handshake->received = 0;
}

static void send_message(struct handshake *handshake, const unsigned char *message, size_t size)
{
    assert(handshake->outgoing_size == 0);
    handshake->outgoing = message;
    handshake->outgoing_size = size;
}

static void over(struct handshake *handshake, enum handshake_state state)
{
    assert(handshake->state == HANDSHAKE_GOING && state != HANDSHAKE_GOING);
    handshake->state = state;
    expect(handshake, NULL, 0);
}

__attribute__((format(printf, 2, 3))) static void fail(struct handshake *handshake,
                                                       const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(handshake->text, sizeof(handshake->text), format, arguments);
    va_end(arguments);
    over(handshake, HANDSHAKE_FAILED);
}

static void fail_for_version(struct handshake *handshake, uint32_t version)
{
    fail(handshake,
         "it speaks version %u of the protocol, this bspzero version %u: all hosts need the same",
         version, handshake->setup.version);
}

/* ---- The caller --------------------------------------------------------------------------- */

static void begin(struct handshake *handshake, const struct handshake_setup *setup, bool listens)
{
    *handshake = (struct handshake){.setup = *setup, .listens = listens};
}

void handshake_call(struct handshake *handshake, const struct handshake_setup *setup,
                    const unsigned char *random)
{
    begin(handshake, setup, false);
    const struct net_identity *own = &setup->own, *wanted = &setup->wanted;
    unsigned char *hello = handshake->hello;
    memcpy(hello, magic, sizeof(magic));
    put_u32(hello + HELLO_VERSION, setup->version);
    memcpy(hello + HELLO_RANDOM, random, HANDSHAKE_RANDOM);
    put_u32(hello + HELLO_OWN, own->role);
    put_u32(hello + HELLO_OWN + 4, own->host);
    put_u32(hello + HELLO_OWN + 8, own->incarnation);
    put_u32(hello + HELLO_OWN + 12, own->purpose);
    put_u32(hello + HELLO_OWN + 16, own->stripe);
    put_u32(hello + HELLO_WANTED, wanted->role);
    put_u32(hello + HELLO_WANTED + 4, wanted->host);
    put_u32(hello + HELLO_WANTED + 8, wanted->incarnation);
    prove_hello(handshake, hello + HELLO_PROOF);
    send_message(handshake, hello, HANDSHAKE_HELLO);
    expect(handshake, handshake->reply, HANDSHAKE_REPLY);
}

static bool is_wanted(const struct net_identity *wanted, const struct net_identity *found)
{
    return wanted->role == found->role &&
           (wanted->host == NET_ANY || wanted->host == found->host) &&
           (wanted->incarnation == NET_ANY || wanted->incarnation == found->incarnation);
}

static void fail_for_identity(struct handshake *handshake, const struct net_identity *found)
{
    const struct net_identity *wanted = &handshake->setup.wanted;
    if (wanted->role == found->role && wanted->host == found->host)
        fail(handshake, "it is another incarnation of %s: %u instead of %u",
             name_of(found->role, found->host).text, found->incarnation, wanted->incarnation);
    else
        fail(handshake, "it is %s and not %s", name_of(found->role, found->host).text,
             name_of(wanted->role, wanted->host).text);
}

static void take_reply(struct handshake *handshake)
{
    const unsigned char *reply = handshake->reply;
    unsigned char proof[HANDSHAKE_PROOF];
    prove_reply(handshake, proof);
    if (!is_proof(reply + REPLY_PROOF, proof)) {
        fail(handshake, "it does not know the key of this job");
        return;
    }
    handshake->key_seen = true;
    uint32_t version = get_u32(reply), verdict = get_u32(reply + REPLY_VERDICT);
    struct net_identity peer = {get_u32(reply + REPLY_OWN), get_u32(reply + REPLY_OWN + 4),
                                get_u32(reply + REPLY_OWN + 8), handshake->setup.own.purpose,
                                handshake->setup.own.stripe};
    if (version != handshake->setup.version || verdict == OTHER_VERSION) {
        fail_for_version(handshake, version);
    } else if (verdict == NOT_TAKEN) {
        fail(handshake, "%s does not take such a connection", name_of(peer.role, peer.host).text);
    } else if (!is_wanted(&handshake->setup.wanted, &peer)) {
        fail_for_identity(handshake, &peer);
    } else if (verdict != ACCEPTED) {
        fail(handshake, "it refuses the connection");
    } else {
        handshake->peer = peer;
        prove_confirm(handshake, handshake->confirm);
        make_session(handshake);
        over(handshake, HANDSHAKE_PROVED);
        send_message(handshake, handshake->confirm, HANDSHAKE_CONFIRM);
    }
}

/* ---- The listener ------------------------------------------------------------------------- */

void handshake_listen(struct handshake *handshake, const struct handshake_setup *setup,
                      const unsigned char *random)
{
    begin(handshake, setup, true);
    memcpy(handshake->reply + REPLY_RANDOM, random, HANDSHAKE_RANDOM);
    expect(handshake, handshake->hello, HANDSHAKE_HELLO);
}

static bool is_taken(const struct handshake *handshake, const struct net_identity *peer)
{
    return peer->role < NET_ROLE_COUNT && peer->purpose < NET_PURPOSE_COUNT &&
           (handshake->setup.accepts & NET_ACCEPTS(peer->role, peer->purpose)) != 0;
}

static enum verdict judge(const struct handshake *handshake)
{
    const unsigned char *hello = handshake->hello;
    if (get_u32(hello + HELLO_VERSION) != handshake->setup.version)
        return OTHER_VERSION;
    struct net_identity wanted = {get_u32(hello + HELLO_WANTED), get_u32(hello + HELLO_WANTED + 4),
                                  get_u32(hello + HELLO_WANTED + 8), 0, 0};
    if (!is_wanted(&wanted, &handshake->setup.own))
        return NOT_THE_WANTED;
    return is_taken(handshake, &handshake->peer) ? ACCEPTED : NOT_TAKEN;
}

static void make_reply(struct handshake *handshake, enum verdict verdict)
{
    const struct net_identity *own = &handshake->setup.own;
    unsigned char *reply = handshake->reply;
    put_u32(reply, handshake->setup.version);
    put_u32(reply + REPLY_VERDICT, verdict);
    put_u32(reply + REPLY_OWN, own->role);
    put_u32(reply + REPLY_OWN + 4, own->host);
    put_u32(reply + REPLY_OWN + 8, own->incarnation);
    prove_reply(handshake, reply + REPLY_PROOF);
    send_message(handshake, reply, HANDSHAKE_REPLY);
}

/* The caller wants another peer. */
static void fail_for_place(struct handshake *handshake)
{
    const unsigned char *wanted = handshake->hello + HELLO_WANTED;
    const struct net_identity *own = &handshake->setup.own, *peer = &handshake->peer;
    uint32_t role = get_u32(wanted), host = get_u32(wanted + 4), incarnation = get_u32(wanted + 8);
    struct name caller = name_of(peer->role, peer->host), name = name_of(role, host);
    if (role == own->role && (host == NET_ANY || host == own->host))
        fail(handshake, "%s wants incarnation %u of %s, this is %u", caller.text, incarnation,
             name.text, own->incarnation);
    else
        fail(handshake, "%s wants %s, and came here", caller.text, name.text);
}

static void take_hello(struct handshake *handshake)
{
    const unsigned char *hello = handshake->hello;
    unsigned char proof[HANDSHAKE_PROOF];
    prove_hello(handshake, proof);
    if (!is_proof(hello + HELLO_PROOF, proof)) {
        fail(handshake, "it does not know the key of this job");
        return;
    }
    handshake->key_seen = true;
    handshake->peer = (struct net_identity){
        get_u32(hello + HELLO_OWN), get_u32(hello + HELLO_OWN + 4), get_u32(hello + HELLO_OWN + 8),
        get_u32(hello + HELLO_OWN + 12), get_u32(hello + HELLO_OWN + 16)};
    const struct net_identity *peer = &handshake->peer;
    enum verdict verdict = judge(handshake);
    make_reply(handshake, verdict);
    if (verdict == OTHER_VERSION)
        fail_for_version(handshake, get_u32(hello + HELLO_VERSION));
    else if (verdict == NOT_TAKEN)
        fail(handshake, "%s wants what is not offered here", name_of(peer->role, peer->host).text);
    else if (verdict == NOT_THE_WANTED)
        fail_for_place(handshake);
    else
        expect(handshake, handshake->confirm, HANDSHAKE_CONFIRM);
}

static void take_confirm(struct handshake *handshake)
{
    unsigned char proof[HANDSHAKE_PROOF];
    prove_confirm(handshake, proof);
    if (!is_proof(handshake->confirm, proof)) {
        handshake->key_seen = false;
        fail(handshake, "it does not know the key of this job");
        return;
    }
    make_session(handshake);
    over(handshake, HANDSHAKE_PROVED);
}

/* ---- For both ----------------------------------------------------------------------------- */

size_t handshake_wanted(const struct handshake *handshake)
{
    return handshake->incoming_size - handshake->received;
}

void handshake_take(struct handshake *handshake, const void *bytes, size_t size)
{
    assert(size <= handshake_wanted(handshake));
    if (size == 0)
        return;
    memcpy(handshake->incoming + handshake->received, bytes, size);
    handshake->received += size;
    /* A stranger is recognised by its first byte, without waiting for more. */
    size_t shown = handshake->received < sizeof(magic) ? handshake->received : sizeof(magic);
    if (handshake->incoming == handshake->hello && memcmp(handshake->hello, magic, shown) != 0) {
        fail(handshake, "it does not belong to this job");
        return;
    }
    if (handshake->received < handshake->incoming_size)
        return;
    if (handshake->incoming == handshake->reply)
        take_reply(handshake);
    else if (handshake->incoming == handshake->hello)
        take_hello(handshake);
    else
        take_confirm(handshake);
}

void handshake_fail(struct handshake *handshake, const char *what)
{
    if (handshake->state != HANDSHAKE_GOING)
        return;
    /* A HELLO alone may be a replayed recording. */
    if (handshake->listens)
        handshake->key_seen = false;
    if (!handshake->listens && handshake->received == 0 && handshake->outgoing_size == 0)
        fail(handshake, "%s without an answer: it may not belong to this job", what);
    else
        fail(handshake, "%s during the handshake", what);
}

size_t handshake_output(const struct handshake *handshake, const unsigned char **bytes)
{
    *bytes = handshake->outgoing;
    return handshake->outgoing_size;
}

void handshake_sent(struct handshake *handshake, size_t size)
{
    assert(size <= handshake->outgoing_size);
    handshake->outgoing += size;
    handshake->outgoing_size -= size;
}

enum handshake_state handshake_state(const struct handshake *handshake)
{
    return handshake->state;
}

const struct net_identity *handshake_peer(const struct handshake *handshake)
{
    assert(handshake->state == HANDSHAKE_PROVED);
    return &handshake->peer;
}

const struct net_session *handshake_session(const struct handshake *handshake)
{
    assert(handshake->state == HANDSHAKE_PROVED);
    return &handshake->session;
}

const char *handshake_text(const struct handshake *handshake)
{
    return handshake->text;
}

bool handshake_key_seen(const struct handshake *handshake)
{
    return handshake->key_seen;
}

void handshake_wipe(struct handshake *handshake)
{
    sodium_memzero(&handshake->session, sizeof(handshake->session));
    handshake->setup.key = NULL;
}
