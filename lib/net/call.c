/* call.c - tries the addresses of a peer until one succeeds.
 *
 * Happy path:
 *   net_call; on_next starts the first address; its proof is done -> the other ones go, met().
 *
 * What can fail:
 *   an address (on_proof)         -> noted, and the next one is tried at once
 *   the last one                  -> failed()
 *   time is up (on_deadline)      -> failed() */
#include "lib/net/meet.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/net/addresses.h"
#include "lib/net/proof.h"
#include "lib/wire/wire.h"

#define NET_WHY (HANDSHAKE_TEXT + 8)

struct net_call {
    uv_loop_t *loop;
    uv_timer_t next_timer; /* the next address is due */
    uv_timer_t deadline;
    unsigned handles; /* of these two: how many are not closed yet */
    struct net_meet_options options;
    struct net_meeter meeter;
    void *context;
    unsigned count, next;
    unsigned active; /* proofs that are not NULL */
    char text[NET_FAILED_TEXT];
    struct attempt {
        struct sockaddr_storage address;
        struct net_proof *proof; /* NULL: not started, or over */
        bool silent;             /* it did not answer, as a port that a firewall closes */
        char why[NET_WHY];       /* it failed; "" as long as it has not */
    } attempts[];
};

static void on_next(uv_timer_t *timer);

void net_meet_defaults(struct net_meet_options *options)
{
    if (options->handshake_ms == 0)
        options->handshake_ms = NET_HANDSHAKE_MS;
    if (options->call_ms == 0)
        options->call_ms = NET_CALL_MS;
    if (options->stagger_ms == 0)
        options->stagger_ms = NET_STAGGER_MS;
    if (options->unproved_max == 0)
        options->unproved_max = NET_UNPROVED_MAX;
    if (options->setup.version == 0)
        options->setup.version = WIRE_VERSION;
}

/* ---- The end ------------------------------------------------------------------------------ */

static void on_closed(uv_handle_t *handle)
{
    struct net_call *call = handle->data;
    if (--call->handles == 0)
        free(call);
}

static void cancel_attempts(struct net_call *call)
{
    for (unsigned i = 0; i < call->count; i++) {
        struct net_proof *proof = call->attempts[i].proof;
        if (!proof)
            continue;
        call->attempts[i].proof = NULL;
        net_proof_cancel(proof);
    }
}

/* The call stays in memory until the next turn of the loop. */
static void end(struct net_call *call)
{
    cancel_attempts(call);
    uv_close((uv_handle_t *)&call->next_timer, on_closed);
    uv_close((uv_handle_t *)&call->deadline, on_closed);
}

static void note(struct attempt *attempt, bool silent, const char *why)
{
    attempt->silent = silent;
    snprintf(attempt->why, sizeof(attempt->why), "%s", why);
}

static bool is_loopback(const struct sockaddr_storage *address)
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)address;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)address;
    return address->ss_family == AF_INET ? ntohl(v4->sin_addr.s_addr) >> 24 == 127
                                         : IN6_IS_ADDR_LOOPBACK(&v6->sin6_addr);
}

/* The position in the text: blocked addresses, a likely cause, come first, then silent ones; a
 * failure of loopback for a peer on another host is irrelevant. */
static unsigned rank_of(const struct attempt *attempt)
{
    return 2u * is_loopback(&attempt->address) + !attempt->silent;
}

static void fail(struct net_call *call)
{
    size_t used = 0;
    end(call);
    for (unsigned rank = 0; rank < 4; rank++)
        for (unsigned i = 0; i < call->count && used < sizeof(call->text); i++) {
            const struct attempt *attempt = &call->attempts[i];
            char text[NET_ADDRESS_SIZE];
            if (rank_of(attempt) != rank)
                continue;
            net_address_text(&attempt->address, text);
            used += (size_t)snprintf(call->text + used, sizeof(call->text) - used, "%s%s: %s",
                                     used > 0 ? "; " : "", text, attempt->why);
        }
    call->meeter.failed(call->context, call->text);
}

static void on_deadline(uv_timer_t *timer)
{
    struct net_call *call = timer->data;
    char text[64];
    for (unsigned i = 0; i < call->count; i++) {
        const struct net_proof *proof = call->attempts[i].proof;
        if (!proof && i < call->next)
            continue;
        snprintf(text, sizeof(text), "no %s within %g s",
                 proof && proof->connecting ? "connection" : "answer",
                 call->options.call_ms / 1000.0);
        note(&call->attempts[i], true, text);
    }
    fail(call);
}

/* ---- Addresses ---------------------------------------------------------------------------- */

static void on_proof(struct net_proof *proof, bool proved)
{
    struct net_call *call = proof->owner;
    struct attempt *attempt = call->attempts;
    while (attempt->proof != proof)
        attempt++;
    attempt->proof = NULL;
    call->active--;
    if (proved) {
        struct net_meeting meeting;
        net_proof_take(proof, &meeting);
        end(call);
        call->meeter.met(call->context, &meeting);
        sodium_memzero(&meeting.session, sizeof(meeting.session));
        return;
    }
    note(attempt, proof->silent, proof->text);
    if (call->next < call->count) {
        uv_timer_start(&call->next_timer, on_next, 0, 0);
    } else if (call->active == 0) {
        fail(call);
    }
}

/* A descriptor that is being connected, or a negative errno value. */
static int begin_connect(const struct sockaddr_storage *address)
{
    int fd = socket(address->ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return -errno;
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    if (connect(fd, (const struct sockaddr *)address, net_address_length(address)) < 0 &&
        errno != EINPROGRESS && errno != EINTR) {
        int error = -errno;
        close(fd);
        return error;
    }
    return fd;
}

static void on_next(uv_timer_t *timer)
{
    struct net_call *call = timer->data;
    struct attempt *attempt = &call->attempts[call->next++];
    int fd = begin_connect(&attempt->address);
    struct net_proof *proof =
        net_proof_start(call->loop, fd, &call->options, false, true, fd < 0 ? fd : 0);
    if (proof) {
        proof->owner = call;
        proof->done = on_proof;
        proof->peer = attempt->address;
        net_address_text(&attempt->address, proof->address);
        attempt->proof = proof;
        call->active++;
    } else {
        note(attempt, false, "out of memory");
    }
    if (call->next < call->count) {
        uv_timer_start(&call->next_timer, on_next, proof ? call->options.stagger_ms : 0, 0);
    } else if (call->active == 0) {
        fail(call);
    }
}

/* ---- The interface ------------------------------------------------------------------------ */

int net_call(uv_loop_t *loop, const char *const *addresses, unsigned count,
             const struct net_meet_options *options, const struct net_meeter *meeter, void *context,
             struct net_call **call_out)
{
    if (count == 0 || count > NET_ADDRESSES_MAX)
        return -EINVAL;
    struct net_call *call = calloc(1, sizeof(*call) + count * sizeof(call->attempts[0]));
    if (!call)
        return -ENOMEM;
    for (unsigned i = 0; i < count; i++) {
        if (net_address_parse(addresses[i], &call->attempts[i].address) < 0) {
            free(call);
            return -EINVAL;
        }
    }
    call->loop = loop;
    call->count = count;
    call->options = *options;
    net_meet_defaults(&call->options);
    call->meeter = *meeter;
    call->context = context;
    uv_timer_init(loop, &call->next_timer);
    uv_timer_init(loop, &call->deadline);
    call->next_timer.data = call->deadline.data = call;
    call->handles = 2;
    uv_timer_start(&call->next_timer, on_next, 0, 0);
    uv_timer_start(&call->deadline, on_deadline, call->options.call_ms, 0);
    *call_out = call;
    return 0;
}

void net_call_cancel(struct net_call *call)
{
    end(call);
}
