/* net.c - one connection: frames in, frames out, one end.
 *
 * Happy path:
 *   net_open -> OPEN; on_ready reads what there is; tick() hands out each complete frame as a
 *   message.  net_send writes what the descriptor takes, on_ready the rest.  net_finish ->
 *   FLUSHING; when nothing is left to write -> CLOSING; on_closed calls the `closed` handler and
 *   frees the connection.
 *
 * What can fail:
 *   the stream ends or breaks (read_some)      -> what has arrived is handed out first, then
 *                                                 NET_END_PEER, _BROKEN or _CUT
 *   a write fails (write_some)                 -> nothing is sent any more, but what the peer sent
 *                                                 before it went is still read; it may be its last
 *                                                 words.  When flushing: the end at once
 *   a frame is too long, forged or no message (hand_out_frame) -> NET_END_PROTOCOL
 *   no memory (read_some, write_some, hand_out_frame) -> NET_END_MEMORY
 *   the queue is full (net_send)               -> -ENOBUFS, later `drained`
 *
 * Callbacks of libuv store what happened and call tick(); calls of the interface mark work and
 * post a tick, so that no handler ever runs inside them.
 */
#include "lib/net/net.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/net/frames.h"

/* Messages handed out in one turn of the loop, so that one busy peer does not starve the rest. */
#define MESSAGES_PER_TURN 64u
#define PROBES_MOST       100 /* without an answer: then the kernel ends the connection */

enum stage { OPEN, FLUSHING, CLOSING, STAGE_COUNT };

static const bool may_move[STAGE_COUNT][STAGE_COUNT] = {
    [OPEN] = {[FLUSHING] = true, [CLOSING] = true},
    [FLUSHING] = {[CLOSING] = true},
};

struct net_connection {
    uv_poll_t poll;
    uv_timer_t posted; /* runs tick() in the next turn of the loop */
    unsigned handles;  /* of these two: how many are not closed yet */
    int fd;
    int events; /* that it is polled for */
    enum stage stage;
    struct net_handlers handlers;
    void *context;
    size_t queue_max;

    /* Receiving. */
    struct net_frames_in in;
    bool paused;  /* by the receiver */
    bool backlog; /* complete frames are left over from this turn */
    int read_end; /* 0, or why nothing more will come: UV_EOF or an error */

    /* Sending. */
    struct net_frames_out out;
    bool blocked;    /* the descriptor takes no more for now */
    int write_error; /* 0, or why nothing can be written any more */
    bool owes_drained;
    uint64_t told_written; /* what net_written was when the handler was called */

    enum net_end ended; /* from CLOSING on */
    char text[WIRE_ERROR_SIZE];
};

static void tick(struct net_connection *connection);

static void move(struct net_connection *connection, enum stage to)
{
    assert(may_move[connection->stage][to]);
    connection->stage = to;
}

/* ---- The end ------------------------------------------------------------------------------ */

static void free_connection(struct net_connection *connection)
{
    net_frames_out_free(&connection->out);
    net_frames_in_free(&connection->in);
    free(connection);
}

static void on_closed(uv_handle_t *handle)
{
    struct net_connection *connection = handle->data;
    if (--connection->handles > 0)
        return;
    if (connection->handlers.closed)
        connection->handlers.closed(connection->context, connection->ended, connection->text);
    free_connection(connection);
}

/* The first caller decides why the connection ends. */
static void finish(struct net_connection *connection, enum net_end end, const char *text)
{
    if (connection->stage == CLOSING)
        return;
    move(connection, CLOSING);
    connection->ended = end;
    snprintf(connection->text, sizeof(connection->text), "%s", text);
    uv_close((uv_handle_t *)&connection->poll, on_closed);
    uv_close((uv_handle_t *)&connection->posted, on_closed);
    close(connection->fd);
}

/* ---- Sending ------------------------------------------------------------------------------ */

/* Writes what the descriptor takes of what waits. */
static void write_some(struct net_connection *connection)
{
    if (connection->blocked || connection->write_error)
        return;
    int result = net_frames_out_write(&connection->out, connection->fd);
    connection->blocked = result > 0;
    if (result >= 0)
        return;
    connection->write_error = result;
    net_frames_out_free(&connection->out);
    if (result == -ENOMEM)
        finish(connection, NET_END_MEMORY, "out of memory");
}

static void tell_drained(struct net_connection *connection)
{
    if (!connection->owes_drained || connection->write_error ||
        net_queued(connection) >= connection->queue_max / 4)
        return;
    connection->owes_drained = false;
    if (connection->handlers.drained)
        connection->handlers.drained(connection->context, connection);
}

static void tell_written(struct net_connection *connection)
{
    if (connection->told_written == connection->out.written)
        return;
    connection->told_written = connection->out.written;
    if (connection->handlers.written)
        connection->handlers.written(connection->context, connection);
}

/* ---- Receiving ---------------------------------------------------------------------------- */

static bool is_read(const struct net_connection *connection)
{
    return !connection->paused && !connection->backlog && !connection->read_end;
}

static void read_some(struct net_connection *connection)
{
    size_t room;
    if (!is_read(connection))
        return;
    unsigned char *bytes = net_frames_in_room(&connection->in, &room);
    ssize_t count = bytes ? read(connection->fd, bytes, room) : 0;
    if (!bytes)
        connection->read_end = UV_ENOBUFS;
    else if (count > 0)
        net_frames_in_filled(&connection->in, (size_t)count);
    else if (count == 0)
        connection->read_end = UV_EOF;
    else if (errno != EINTR && errno != EAGAIN)
        connection->read_end = -errno;
}

static void end_for(struct net_connection *connection, int error, const char *text)
{
    finish(connection, error == -ENOMEM ? NET_END_MEMORY : NET_END_PROTOCOL, text);
}

/* False: there is no complete frame, or the connection has ended. */
static bool hand_out_frame(struct net_connection *connection)
{
    char text[WIRE_ERROR_SIZE];
    const unsigned char *body;
    uint32_t size;
    struct wire_message message;
    int result = net_frames_in_next(&connection->in, &body, &size, text, sizeof(text));
    if (result < 0)
        end_for(connection, result, text);
    if (result <= 0)
        return false;
    result = wire_decode(body, size, &message, text, sizeof(text));
    if (result < 0) {
        end_for(connection, result, text);
        return false;
    }
    connection->handlers.message(connection->context, connection, &message);
    wire_message_free(&message);
    return true;
}

/* Hands out complete frames; leaves `backlog` set when there are more than one turn's share. */
static void hand_out(struct net_connection *connection)
{
    connection->backlog = false;
    for (unsigned i = 0; connection->stage != CLOSING && !connection->paused; i++) {
        if (i == MESSAGES_PER_TURN) {
            connection->backlog = net_frames_in_ready(&connection->in);
            return;
        }
        if (!hand_out_frame(connection))
            break;
    }
    net_frames_in_relax(&connection->in);
}

/* Whether the peer's kernel said it: then the process is gone for sure. */
static bool is_reset(int error)
{
    return error == UV_ECONNRESET || error == UV_EPIPE;
}

static void finish_for_error(struct net_connection *connection, int error)
{
    finish(connection, is_reset(error) ? NET_END_BROKEN : NET_END_CUT, uv_strerror(error));
}

static void take_read_end(struct net_connection *connection)
{
    int error = connection->read_end;
    if (!error || connection->paused || connection->backlog)
        return;
    const char *cut = net_frames_in_end(&connection->in);
    /* An error is told once: what came to the writer looks like an end to the reader. */
    if (error == UV_EOF && connection->write_error && !is_reset(connection->write_error))
        error = connection->write_error;
    if (error == UV_ENOBUFS)
        finish(connection, NET_END_MEMORY, "out of memory");
    else if (error != UV_EOF)
        finish_for_error(connection, error);
    else if (cut)
        finish(connection, NET_END_BROKEN, cut);
    else
        finish(connection, NET_END_PEER, "the peer closed");
}

/* ---- The tick ----------------------------------------------------------------------------- */

/* An error of the descriptor is seen by what is done with it; libuv stops to poll it then. */
static void on_ready(uv_poll_t *poll, int status, int events)
{
    struct net_connection *connection = poll->data;
    if (status < 0)
        connection->events = 0;
    if (status < 0 || events & UV_WRITABLE)
        connection->blocked = false;
    read_some(connection);
    tick(connection);
}

static void poll_again(struct net_connection *connection)
{
    int events = (is_read(connection) ? UV_READABLE : 0) | (connection->blocked ? UV_WRITABLE : 0);
    if (events == connection->events)
        return;
    connection->events = events;
    int status = events == 0 ? uv_poll_stop(&connection->poll)
                             : uv_poll_start(&connection->poll, events, on_ready);
    if (status < 0)
        finish_for_error(connection, status);
}

static void on_posted(uv_timer_t *timer)
{
    tick(timer->data);
}

static void post(struct net_connection *connection)
{
    uv_timer_start(&connection->posted, on_posted, 0, 0);
}

/* Does whatever the connection's state asks for.  Each step may end the connection through a
 * handler, which is why the stage is looked at again after each. */
static void tick(struct net_connection *connection)
{
    if (connection->stage == CLOSING)
        return;
    hand_out(connection);
    if (connection->stage == CLOSING)
        return;
    take_read_end(connection);
    if (connection->stage == CLOSING)
        return;
    write_some(connection);
    if (connection->stage != CLOSING)
        tell_drained(connection);
    if (connection->stage != CLOSING)
        tell_written(connection);
    if (connection->stage == FLUSHING && connection->write_error) {
        finish_for_error(connection, connection->write_error);
    } else if (connection->stage == FLUSHING && net_queued(connection) == 0) {
        finish(connection, NET_END_CLOSED, "closed");
    } else if (connection->stage != CLOSING) {
        poll_again(connection);
        if (connection->stage != CLOSING && connection->backlog)
            post(connection);
    }
}

/* ---- The interface ------------------------------------------------------------------------ */

static struct net_connection *make(const struct net_options *options,
                                   const struct net_handlers *handlers, void *context)
{
    struct net_connection *connection = calloc(1, sizeof(*connection));
    if (!connection)
        return NULL;
    connection->stage = OPEN;
    connection->handlers = *handlers;
    connection->context = context;
    connection->queue_max = options && options->queue_max ? options->queue_max : NET_QUEUE_MAX;
    connection->in.frame_max = WIRE_FRAME_MAX;
    if (!options || !options->encrypt)
        return connection;
    net_frames_in_seal(&connection->in, options->session->receive);
    if (net_frames_out_seal(&connection->out, options->session->send) == 0)
        return connection;
    free_connection(connection);
    return NULL;
}

int net_open(uv_loop_t *loop, int fd, const struct net_options *options,
             const struct net_handlers *handlers, void *context,
             struct net_connection **connection_out)
{
    if (options && options->encrypt && !options->session)
        return -EINVAL;
    int flags = fcntl(fd, F_GETFD);
    if (flags < 0 || fcntl(fd, F_SETFD, flags | FD_CLOEXEC) < 0)
        return -errno;
    struct net_connection *connection = make(options, handlers, context);
    if (!connection)
        return -ENOMEM;
    int status = uv_poll_init(loop, &connection->poll, fd);
    if (status < 0) {
        free_connection(connection);
        return status;
    }
    uv_timer_init(loop, &connection->posted);
    connection->poll.data = connection;
    connection->posted.data = connection;
    connection->handles = 2;
    connection->fd = fd;
    post(connection);
    *connection_out = connection;
    return 0;
}

int net_send(struct net_connection *connection, const struct wire_message *message)
{
    if (connection->stage != OPEN || connection->write_error)
        return -ENOTCONN;
    int result = net_frames_out_add(&connection->out, message, connection->queue_max);
    if (result == 0)
        write_some(connection);
    if (result == -ENOBUFS || net_queued(connection) > connection->queue_max / 2)
        connection->owes_drained = true;
    if (result == 0)
        post(connection);
    return result;
}

size_t net_queued(const struct net_connection *connection)
{
    return connection->out.accepted - connection->out.written;
}

uint64_t net_accepted(const struct net_connection *connection)
{
    return connection->out.accepted;
}

uint64_t net_written(const struct net_connection *connection)
{
    return connection->out.written;
}

void net_finish(struct net_connection *connection)
{
    if (connection->stage != OPEN)
        return;
    move(connection, FLUSHING);
    if (!connection->write_error)
        net_frames_out_last(&connection->out);
    post(connection);
}

void net_close(struct net_connection *connection)
{
    finish(connection, NET_END_CLOSED, "closed");
}

void net_cut(struct net_connection *connection)
{
    const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    if (connection->stage == CLOSING)
        return;
    setsockopt(connection->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    finish(connection, NET_END_CLOSED, "cut");
}

void net_pause(struct net_connection *connection)
{
    if (connection->stage == CLOSING)
        return;
    connection->paused = true;
    post(connection);
}

void net_resume(struct net_connection *connection)
{
    if (connection->stage == CLOSING)
        return;
    connection->paused = false;
    post(connection);
}

int64_t net_unheard_ms(const struct net_connection *connection)
{
    struct tcp_info info;
    socklen_t size = sizeof(info);
    memset(&info, 0, sizeof(info));
    if (connection->stage == CLOSING ||
        getsockopt(connection->fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
        return -1;
    return info.tcpi_last_ack_recv < info.tcpi_last_data_recv ? info.tcpi_last_ack_recv
                                                              : info.tcpi_last_data_recv;
}

void net_probe(struct net_connection *connection, unsigned seconds)
{
    const int on = 1, idle = (int)seconds, most = PROBES_MOST;
    int fd = connection->fd;
    if (connection->stage == CLOSING)
        return;
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &idle, sizeof(idle));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &most, sizeof(most));
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
}
