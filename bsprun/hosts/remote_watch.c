/* remote_watch.c - one child that starts a program on another host: its streams, its end, its
 * memory; see remote_start_inside.h. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bsprun/hosts/remote_start_inside.h"
#include "bsprun/verdict.h"

#define STREAMS_MS    200u  /* for the rest of its output, once it has ended */
#define KILL_MS       1000u /* from SIGTERM to SIGKILL */
#define PART_MS       3000u /* to SIGTERM, while it may have something to do */
#define OUTPUT_MAX    (1u << 20)
#define CHILD_HANDLES 5u

/* ---- Memory ---- */

void remote_watch_free(struct child *child)
{
    for (uint32_t i = 0; child->targets && i < child->count; i++)
        free(child->targets[i].name);
    free(child->targets);
    launch_command_free(child->command);
    if (child->input)
        explicit_bzero(child->input, child->input_size);
    free(child->input);
    free(child->said.bytes);
    free(child->output.bytes);
    free(child);
}

static void on_child_handle_closed(uv_handle_t *handle)
{
    struct child *child = handle->data;

    if (--child->handles > 0)
        return;
    if (child->process.pidfd >= 0)
        close(child->process.pidfd);
    child->start->gone(child);
}

static void close_handle(uv_handle_t *handle)
{
    if (!uv_is_closing(handle))
        uv_close(handle, on_child_handle_closed);
}

void remote_watch_close(struct child *child)
{
    child->state = CHILD_CLOSING;
    if (child->handles == 0) { /* no process was started */
        child->start->gone(child);
        return;
    }
    close_handle((uv_handle_t *)&child->exit);
    close_handle((uv_handle_t *)&child->in);
    close_handle((uv_handle_t *)&child->err);
    close_handle((uv_handle_t *)&child->out);
    close_handle((uv_handle_t *)&child->timer);
}

/* ---- How it ended ---- */

/* Signals its process group. */
static void signal_child(struct child *child, int signal)
{
    if (child->alive && kill(-child->process.pid, signal) != 0)
        process_signal(child->process.pidfd, signal);
}

static void on_kill_timer(uv_timer_t *timer)
{
    signal_child(timer->data, SIGKILL);
}

void remote_watch_end_input(struct child *child)
{
    if (child->in_open)
        close_handle((uv_handle_t *)&child->in);
    child->in_open = false;
}

void remote_watch_end(struct child *child)
{
    if (child->state != CHILD_RUNNING)
        return;
    remote_watch_end_input(child);
    child->ending = true;
    if (!child->alive)
        return; /* its streams will end soon */
    signal_child(child, SIGTERM);
    uv_timer_start(&child->timer, on_kill_timer, KILL_MS, 0);
}

static void on_part_timer(uv_timer_t *timer)
{
    remote_watch_end(timer->data);
}

void remote_watch_part(struct child *child)
{
    if (child->state != CHILD_RUNNING)
        return;
    remote_watch_end_input(child);
    child->ending = true;
    if (child->alive)
        uv_timer_start(&child->timer, on_part_timer, PART_MS, 0);
}

/* Until it is reaped, its process group id cannot be reused. */
static void reap(struct child *child)
{
    siginfo_t info;

    memset(&info, 0, sizeof info);
    if (child->ending &&
        waitid(P_PID, (id_t)child->process.pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
        info.si_pid > 0)
        kill(-child->process.pid, SIGKILL);
    child->known = waitpid(child->process.pid, &child->wait_status, WNOHANG) > 0;
    child->state = CHILD_ENDED;
    child->start->changed(child->start);
}

static void on_streams_timer(uv_timer_t *timer)
{
    struct child *child = timer->data;

    child->err_open = child->out_open = false;
    reap(child);
}

/* It is done when its output has ended, too. */
static void look_at(struct child *child)
{
    if (child->state != CHILD_RUNNING || child->alive)
        return;
    if (!child->err_open && !child->out_open)
        reap(child);
    else
        uv_timer_start(&child->timer, on_streams_timer, STREAMS_MS, 0);
}

static void on_exit_seen(uv_poll_t *poll, int status, int events)
{
    struct child *child = poll->data;

    (void)status;
    (void)events;
    child->alive = false;
    uv_poll_stop(poll);
    look_at(child);
}

/* ---- Streams ---- */

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
    (void)handle;
    *buffer = uv_buf_init(malloc(suggested), (unsigned)suggested);
    if (!buffer->base)
        buffer->len = 0;
}

/* Keeps the last bytes if not all fit. */
static void append(struct text *text, const char *bytes, size_t size, size_t most)
{
    if (size > most) {
        bytes += size - most;
        size = most;
    }
    if (text->size + size > most) {
        size_t drop = text->size + size - most;

        memmove(text->bytes, text->bytes + drop, text->size - drop);
        text->size -= drop;
    }
    if (text->size + size + 1 > text->room) {
        size_t room = text->size + size + 1024;
        char *more = realloc(text->bytes, room);

        if (!more)
            return;
        text->bytes = more;
        text->room = room;
    }
    memcpy(text->bytes + text->size, bytes, size);
    text->size += size;
    text->bytes[text->size] = '\0';
}

static void on_bytes(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
    struct child *child = stream->data;
    bool is_output = stream == (uv_stream_t *)&child->out;

    if (size > 0)
        append(is_output ? &child->output : &child->said, buffer->base, (size_t)size,
               is_output ? OUTPUT_MAX : REMOTE_START_TEXT);
    free(buffer->base);
    if (size >= 0)
        return;
    uv_read_stop(stream);
    *(is_output ? &child->out_open : &child->err_open) = false;
    look_at(child);
}

static void on_input_written(uv_write_t *write, int status)
{
    struct child *child = write->data;

    (void)status; /* a child that does not read has ended, or will time out */
    explicit_bzero(child->input, child->input_size);
    free(child->input);
    child->input = NULL;
    child->input_size = 0;
}

/* ---- Starting ---- */

static void on_late(uv_timer_t *timer)
{
    struct child *child = timer->data;

    child->late = true;
    child->start->changed(child->start);
}

static void open_handles(struct child *child)
{
    uv_loop_t *loop = child->start->loop;
    uv_handle_t *handles[CHILD_HANDLES] = {(uv_handle_t *)&child->exit, (uv_handle_t *)&child->in,
                                           (uv_handle_t *)&child->err, (uv_handle_t *)&child->out,
                                           (uv_handle_t *)&child->timer};

    uv_poll_init(loop, &child->exit, child->process.pidfd);
    uv_pipe_init(loop, &child->in, 0);
    uv_pipe_init(loop, &child->err, 0);
    uv_pipe_init(loop, &child->out, 0);
    uv_timer_init(loop, &child->timer);
    for (unsigned i = 0; i < CHILD_HANDLES; i++)
        handles[i]->data = child;
    child->handles = CHILD_HANDLES;
}

/* Watches the running child, and writes its input. */
static void attach(struct child *child)
{
    uv_buf_t bytes = uv_buf_init((char *)child->input, (unsigned)child->input_size);

    child->alive = true;
    child->state = CHILD_RUNNING;
    open_handles(child);
    uv_pipe_open(&child->in, child->process.in);
    uv_pipe_open(&child->err, child->process.err);
    child->in_open = child->err_open = true;
    uv_read_start((uv_stream_t *)&child->err, on_room, on_bytes);
    if (child->process.out >= 0) {
        uv_pipe_open(&child->out, child->process.out);
        child->out_open = true;
        uv_read_start((uv_stream_t *)&child->out, on_room, on_bytes);
    }
    uv_poll_start(&child->exit, UV_READABLE, on_exit_seen);
    child->write.data = child;
    if (child->input_size > 0)
        uv_write(&child->write, (uv_stream_t *)&child->in, &bytes, 1, on_input_written);
    if (child->start->config.timeout_ms > 0)
        uv_timer_start(&child->timer, on_late, child->start->config.timeout_ms, 0);
}

void remote_watch_begin(struct child *child)
{
    const struct remote_start_config *config = &child->start->config;
    int error =
        remote_child_start(&child->process, child->command, config->keep_output, config->signals);
    char why[256];

    if (!error) {
        attach(child);
        return;
    }
    snprintf(why, sizeof why, "%s: %s%s", child->command[0], strerror(error),
             verdict_limit_hint(error));
    append(&child->said, why, strlen(why), REMOTE_START_TEXT);
    child->process.pidfd = -1;
    child->failed = true;
    child->state = CHILD_ENDED;
}
