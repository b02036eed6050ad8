/* proof.c - one handshake over one descriptor.
 *
 * Happy path:
 *   net_proof_start; on_ready (connected) -> net_proof_step sends and reads what the handshake
 * wants
 *   -> the last output is sent -> done(true); the owner takes the descriptor.
 *
 * What can fail, all of it ends in done(false):
 *   there is no connection (fail_later)   -> from the loop, by the timer
 *   the deadline passes (on_deadline)
 *   the stream ends or breaks (receive, transmit)
 *   the handshake fails                   -> when its output, which tells the peer, is sent
 *
 * The descriptor is polled and not a stream of libuv's, for a stream reads ahead and keeps what it
 * was opened with. */
#include "lib/net/proof.h"

#include <assert.h>
#include <errno.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void on_closed(uv_handle_t *handle)
{
    struct net_proof *proof = handle->data;
    if (--proof->handles > 0)
        return;
    handshake_wipe(&proof->handshake);
    free(proof);
}

/* Stops everything but leaves the descriptor. */
static void end(struct net_proof *proof)
{
    assert(!proof->over);
    proof->over = true;
    if (proof->handles == 2)
        uv_close((uv_handle_t *)&proof->poll, on_closed);
    uv_close((uv_handle_t *)&proof->deadline, on_closed);
}

static void close_descriptor(struct net_proof *proof)
{
    if (proof->fd >= 0)
        close(proof->fd);
    proof->fd = -1;
}

static void finish(struct net_proof *proof, const char *failed)
{
    end(proof);
    if (failed) {
        close_descriptor(proof);
        if (failed != proof->text)
            snprintf(proof->text, sizeof(proof->text), "%s", failed);
    }
    proof->done(proof, failed == NULL);
    close_descriptor(proof);
    handshake_wipe(&proof->handshake);
}

/* Ends with what the handshake makes of a failure beneath it. */
static void finish_broken(struct net_proof *proof, const char *what)
{
    if (handshake_state(&proof->handshake) == HANDSHAKE_PROVED) {
        finish(proof, what);
        return;
    }
    handshake_fail(&proof->handshake, what);
    finish(proof, handshake_text(&proof->handshake));
}

static void on_deadline(uv_timer_t *timer)
{
    struct net_proof *proof = timer->data;
    char text[HANDSHAKE_TEXT];
    if (proof->text[0] != '\0') {
        finish(proof, proof->text);
    } else if (proof->connecting) {
        proof->silent = true;
        snprintf(text, sizeof(text), "no connection within %g s", proof->handshake_ms / 1000.0);
        finish(proof, text);
    } else {
        proof->silent = true;
        snprintf(text, sizeof(text), "%g s passed", proof->handshake_ms / 1000.0);
        finish_broken(proof, text);
    }
}

/* Fails, but not before the next turn of the loop. */
static void fail_later(struct net_proof *proof, const char *text)
{
    snprintf(proof->text, sizeof(proof->text), "%s", text);
    uv_timer_start(&proof->deadline, on_deadline, 0, 0);
}

/* ---- Input and output --------------------------------------------------------------------- */

/* Sends what there is to send; false when the proof is over. */
static bool transmit(struct net_proof *proof, bool *progress)
{
    const unsigned char *bytes;
    size_t size;
    while ((size = handshake_output(&proof->handshake, &bytes)) > 0) {
        ssize_t sent = send(proof->fd, bytes, size, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR)
            continue;
        if (sent < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return true;
        if (sent < 0) {
            finish_broken(proof, strerror(errno));
            return false;
        }
        handshake_sent(&proof->handshake, (size_t)sent);
        *progress = true;
    }
    return true;
}

static bool receive(struct net_proof *proof, bool *progress)
{
    unsigned char bytes[HANDSHAKE_HELLO];
    size_t wanted = handshake_wanted(&proof->handshake);
    if (wanted == 0)
        return true;
    ssize_t count = recv(proof->fd, bytes, wanted < sizeof(bytes) ? wanted : sizeof(bytes), 0);
    if (count < 0 && errno == EINTR) {
        *progress = true;
        return true;
    }
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return true;
    if (count <= 0) {
        finish_broken(proof, count == 0 ? "it closed the connection" : strerror(errno));
        return false;
    }
    handshake_take(&proof->handshake, bytes, (size_t)count);
    *progress = true;
    return true;
}

/* False when there is no connection, and the proof is over. */
static bool connected(struct net_proof *proof)
{
    int error = 0;
    socklen_t size = sizeof(error);
    getsockopt(proof->fd, SOL_SOCKET, SO_ERROR, &error, &size);
    if (error != 0) {
        finish(proof, strerror(error));
        return false;
    }
    struct sockaddr_storage peer;
    socklen_t length = sizeof(peer);
    if (getpeername(proof->fd, (struct sockaddr *)&peer, &length) < 0)
        return true; /* not yet; the poll comes again */
    proof->connecting = false;
    return true;
}

static void on_ready(uv_poll_t *poll, int status, int events)
{
    /* An error of the descriptor is seen by what is done with it. */
    (void)status;
    (void)events;
    net_proof_step(poll->data);
}

static void poll_again(struct net_proof *proof)
{
    const unsigned char *bytes;
    int events = 0;
    if (proof->connecting || handshake_output(&proof->handshake, &bytes) > 0)
        events |= UV_WRITABLE;
    if (!proof->connecting && handshake_wanted(&proof->handshake) > 0)
        events |= UV_READABLE;
    int status = uv_poll_start(&proof->poll, events, on_ready);
    if (status < 0)
        fail_later(proof, uv_strerror(status));
}

void net_proof_step(struct net_proof *proof)
{
    if (proof->over || proof->text[0] != '\0')
        return;
    if (proof->connecting) {
        if (!connected(proof))
            return;
        if (!proof->connecting)
            uv_timer_start(&proof->deadline, on_deadline, proof->handshake_ms, 0);
    }
    for (bool progress = !proof->connecting; progress;) {
        progress = false;
        if (!transmit(proof, &progress) || !receive(proof, &progress))
            return;
    }
    const unsigned char *bytes;
    bool left = handshake_output(&proof->handshake, &bytes) > 0;
    enum handshake_state state = handshake_state(&proof->handshake);
    if (state == HANDSHAKE_GOING || left)
        poll_again(proof);
    else
        finish(proof, state == HANDSHAKE_PROVED ? NULL : handshake_text(&proof->handshake));
}

/* ---- The interface ------------------------------------------------------------------------ */

struct net_proof *net_proof_start(uv_loop_t *loop, int fd, const struct net_meet_options *options,
                                  bool listens, bool connecting, int failed)
{
    unsigned char random[HANDSHAKE_RANDOM];
    struct net_proof *proof = calloc(1, sizeof(*proof));
    if (!proof || sodium_init() < 0) {
        if (fd >= 0)
            close(fd);
        free(proof);
        return NULL;
    }
    randombytes_buf(random, sizeof(random));
    if (listens)
        handshake_listen(&proof->handshake, &options->setup, random);
    else
        handshake_call(&proof->handshake, &options->setup, random);
    proof->fd = fd;
    proof->connecting = connecting;
    proof->handshake_ms = options->handshake_ms;
    proof->handles = 1;
    uv_timer_init(loop, &proof->deadline);
    proof->deadline.data = proof;
    int status = failed ? failed : uv_poll_init_socket(loop, &proof->poll, fd);
    if (status < 0) {
        fail_later(proof, uv_strerror(status));
        return proof;
    }
    proof->handles = 2;
    proof->poll.data = proof;
    uv_timer_start(&proof->deadline, on_deadline, proof->handshake_ms, 0);
    poll_again(proof);
    return proof;
}

void net_proof_take(struct net_proof *proof, struct net_meeting *meeting)
{
    *meeting = (struct net_meeting){.fd = proof->fd,
                                    .peer = *handshake_peer(&proof->handshake),
                                    .session = *handshake_session(&proof->handshake)};
    memcpy(meeting->address, proof->address, sizeof(meeting->address));
    proof->fd = -1;
}

void net_proof_cancel(struct net_proof *proof)
{
    end(proof);
    close_descriptor(proof);
}
