/* net.c - one connection: frames in, frames out, one end.
 *
 * Happy path:
 *   net_open -> OPEN; on_read collects bytes; tick() hands out each complete frame as a message.
 *   net_send encodes into `waiting`; one write at a time takes all that waits; on_write frees it
 *   and ticks.  net_finish -> FLUSHING; when nothing is left to write -> CLOSING; on_closed calls
 *   the `closed` handler and frees the connection.
 *
 * What can fail:
 *   the stream ends or breaks (on_read)        -> what has arrived is handed out first, then
 *                                                 NET_END_PEER, _BROKEN or _CUT
 *   a write fails (write_failed)               -> nothing is sent any more, but what the peer sent
 *                                                 before it went is still read; it may be its last
 *                                                 words.  When flushing: the end at once
 *   a frame is too long, forged or no message (hand_out_frame) -> NET_END_PROTOCOL
 *   no memory (on_read, hand_out_frame)        -> NET_END_MEMORY
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
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    uv_pipe_t stream;
    uv_timer_t posted; /* runs tick() in the next turn of the loop */
    unsigned handles;  /* of these two: how many are not closed yet */
    enum stage stage;
    struct net_handlers handlers;
    void *context;
    size_t queue_max;
    struct net_session session; /* of an encrypted connection */
    size_t preamble;            /* bytes ahead of the first message */

    /* Receiving. */
    struct net_frames_in in;
    bool reading; /* libuv is asked to read */
    bool paused;  /* by the receiver */
    bool backlog; /* complete frames are left over from this turn */
    int read_end; /* 0, or why nothing more will come: UV_EOF or an error */

    /* Sending. */
    struct net_frames_out out;  /* frames that libuv does not have yet */
    struct bspz_buffer writing; /* frames that libuv is writing */
    uv_write_t write;
    bool write_busy;
    int write_error; /* 0, or why nothing can be written any more */
    bool owes_drained;
    bool owes_written;
    uint64_t accepted; /* bytes, since the beginning */

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
    bspz_buffer_free(&connection->writing);
    sodium_memzero(&connection->session, sizeof(connection->session));
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
    uv_close((uv_handle_t *)&connection->stream, on_closed);
    uv_close((uv_handle_t *)&connection->posted, on_closed);
}

/* ---- Sending ------------------------------------------------------------------------------ */

static void write_failed(struct net_connection *connection, int error)
{
    connection->write_error = error;
    bspz_buffer_clear(&connection->out.bytes, NET_BUFFER_KEEP);
}

static void on_write(uv_write_t *write, int status)
{
    struct net_connection *connection = write->data;
    connection->write_busy = false;
    bspz_buffer_clear(&connection->writing, NET_BUFFER_KEEP);
    connection->owes_written = true;
    if (status < 0)
        write_failed(connection, status);
    tick(connection);
}

/* Gives everything that waits to libuv, unless it is still busy with what it has. */
static void start_write(struct net_connection *connection)
{
    if (connection->write_busy || connection->write_error || connection->out.bytes.size == 0)
        return;
    struct bspz_buffer emptied = connection->writing;
    connection->writing = connection->out.bytes;
    connection->out.bytes = emptied;
    uv_buf_t bytes =
        uv_buf_init((char *)connection->writing.data, (unsigned)connection->writing.size);
    connection->write.data = connection;
    connection->write_busy = true;
    int status =
        uv_write(&connection->write, (uv_stream_t *)&connection->stream, &bytes, 1, on_write);
    if (status < 0) {
        connection->write_busy = false;
        bspz_buffer_clear(&connection->writing, NET_BUFFER_KEEP);
        write_failed(connection, status);
    }
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
    if (!connection->owes_written)
        return;
    connection->owes_written = false;
    if (connection->handlers.written)
        connection->handlers.written(connection->context, connection);
}

/* ---- Receiving ---------------------------------------------------------------------------- */

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
    struct net_connection *connection = handle->data;
    size_t room = 0;
    (void)suggested;
    unsigned char *bytes = net_frames_in_room(&connection->in, &room);
    /* Without room on_read gets UV_ENOBUFS. */
    *buffer = uv_buf_init((char *)bytes, (unsigned)room);
}

static void on_read(uv_stream_t *stream, ssize_t count, const uv_buf_t *buffer)
{
    struct net_connection *connection = stream->data;
    (void)buffer;
    if (connection->stage == CLOSING || count == 0)
        return;
    if (count < 0)
        connection->read_end = (int)count;
    else
        net_frames_in_filled(&connection->in, (size_t)count);
    tick(connection);
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

static void start_or_stop_reading(struct net_connection *connection)
{
    bool wanted = !connection->paused && !connection->backlog && !connection->read_end;
    if (wanted == connection->reading)
        return;
    connection->reading = wanted;
    if (!wanted) {
        uv_read_stop((uv_stream_t *)&connection->stream);
        return;
    }
    int status = uv_read_start((uv_stream_t *)&connection->stream, on_room, on_read);
    if (status < 0)
        finish_for_error(connection, status);
}

/* ---- The tick ----------------------------------------------------------------------------- */

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
    start_write(connection);
    tell_drained(connection);
    if (connection->stage != CLOSING)
        tell_written(connection);
    if (connection->stage == FLUSHING && connection->write_error) {
        finish_for_error(connection, connection->write_error);
    } else if (connection->stage == FLUSHING && net_queued(connection) == 0) {
        finish(connection, NET_END_CLOSED, "closed");
    } else if (connection->stage != CLOSING) {
        start_or_stop_reading(connection);
        if (connection->stage != CLOSING && connection->backlog)
            post(connection);
    }
}

/* ---- The interface ------------------------------------------------------------------------ */

static void on_open_failed(uv_handle_t *handle)
{
    struct net_connection *connection = handle->data;
    if (--connection->handles == 0)
        free_connection(connection);
}

/* Both directions are sealed with the keys of the session. */
static int encrypt(struct net_connection *connection, const struct net_session *session)
{
    connection->session = *session;
    net_frames_in_seal(&connection->in, connection->session.receive);
    int result = net_frames_out_seal(&connection->out, connection->session.send);
    connection->accepted = connection->preamble = connection->out.bytes.size;
    return result;
}

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
    if (options && options->frame_max && options->frame_max < WIRE_FRAME_MAX)
        connection->in.frame_max = options->frame_max;
    if (options && options->encrypt && encrypt(connection, options->session) < 0) {
        free_connection(connection);
        return NULL;
    }
    return connection;
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
    int status = uv_pipe_init(loop, &connection->stream, 0);
    if (status < 0) {
        free_connection(connection);
        return status;
    }
    uv_timer_init(loop, &connection->posted);
    connection->stream.data = connection;
    connection->posted.data = connection;
    connection->handles = 2;
    status = uv_pipe_open(&connection->stream, fd);
    if (status < 0) {
        uv_close((uv_handle_t *)&connection->stream, on_open_failed);
        uv_close((uv_handle_t *)&connection->posted, on_open_failed);
        return status;
    }
    post(connection);
    *connection_out = connection;
    return 0;
}

int net_send(struct net_connection *connection, const struct wire_message *message)
{
    if (connection->stage != OPEN || connection->write_error)
        return -ENOTCONN;
    size_t before = connection->out.bytes.size;
    size_t queued = net_queued(connection);
    size_t room = SIZE_MAX;
    if (queued > connection->preamble)
        room = queued < connection->queue_max ? connection->queue_max - queued : 0;
    int result = net_frames_out_add(&connection->out, message, room);
    if (result == -ENOBUFS)
        connection->owes_drained = true;
    if (result < 0)
        return result;
    connection->accepted += connection->out.bytes.size - before;
    start_write(connection);
    if (connection->write_error)
        post(connection);
    else if (net_queued(connection) > connection->queue_max / 2)
        connection->owes_drained = true;
    return 0;
}

size_t net_queued(const struct net_connection *connection)
{
    return connection->out.bytes.size + connection->writing.size;
}

uint64_t net_accepted(const struct net_connection *connection)
{
    return connection->accepted;
}

uint64_t net_written(const struct net_connection *connection)
{
    return connection->accepted - net_queued(connection);
}

void net_finish(struct net_connection *connection)
{
    if (connection->stage != OPEN)
        return;
    move(connection, FLUSHING);
    size_t before = connection->out.bytes.size;
    /* Without memory for its mark the end looks like a cut to the peer. */
    if (!connection->write_error && net_frames_out_last(&connection->out) == 0)
        connection->accepted += connection->out.bytes.size - before;
    post(connection);
}

void net_close(struct net_connection *connection)
{
    finish(connection, NET_END_CLOSED, "closed");
}

void net_cut(struct net_connection *connection)
{
    const struct linger at_once = {.l_onoff = 1, .l_linger = 0};
    uv_os_fd_t fd;
    if (connection->stage == CLOSING)
        return;
    if (uv_fileno((const uv_handle_t *)&connection->stream, &fd) == 0)
        setsockopt(fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
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
    uv_os_fd_t fd;
    memset(&info, 0, sizeof(info));
    if (uv_fileno((const uv_handle_t *)&connection->stream, &fd) != 0 ||
        getsockopt(fd, IPPROTO_TCP, TCP_INFO, &info, &size) != 0)
        return -1;
    return info.tcpi_last_ack_recv < info.tcpi_last_data_recv ? info.tcpi_last_ack_recv
                                                              : info.tcpi_last_data_recv;
}

void net_probe(struct net_connection *connection, unsigned seconds)
{
    const int on = 1, idle = (int)seconds, most = PROBES_MOST;
    uv_os_fd_t fd;
    if (uv_fileno((const uv_handle_t *)&connection->stream, &fd) != 0)
        return;
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &idle, sizeof(idle));
    setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &most, sizeof(most));
    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
}

const char *net_end_name(enum net_end end)
{
    static const char *const names[] = {
        [NET_END_CLOSED] = "closed", [NET_END_PEER] = "peer",         [NET_END_BROKEN] = "broken",
        [NET_END_CUT] = "cut",       [NET_END_PROTOCOL] = "protocol", [NET_END_MEMORY] = "memory",
    };
    return (unsigned)end < sizeof(names) / sizeof(names[0]) ? names[end] : "unknown";
}
