/* input.c - the stdin of process 0 in a job with snapshots: a pipe that can be rewound.
 *
 * Happy path: INPUT -> the pipe -> INPUT_TAKEN, for more.  At a snapshot, process 0 has read what
 * was written minus the contents of the pipe.  After a rollback the pipe is emptied, and
 * INPUT_TAKEN tells bsprun where to continue.
 *
 * The bytes read are digested, so that a restart can check that its input is the same: bytes in the
 * pipe are kept until they have been read.
 *
 * What can fail: the pipe is full (waits for room); INPUT that does not continue at the right
 * position (dropped).  The agent has a reading end, too, so there is always one.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/input.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "lib/base/digest.h"

#define PIPE_BYTES (256 << 10)

struct agent_input {
    struct agent *agent;
    int reader, writer; /* writer -1: the end of the input has been written */
    uint64_t written;   /* position after the last byte in the pipe */
    size_t waiting;     /* bytes for which there was no room */
    bool ends;          /* these are the last */
    uv_poll_t *poll;    /* for room; NULL: not waiting */
    char bytes[WIRE_CHUNK_MAX];
    uint64_t digest; /* of the bytes known to be read by process 0 */
    size_t pending;  /* bytes after those, up to `written` */
    char undigested[PIPE_BYTES + WIRE_CHUNK_MAX];
};

static void free_poll(uv_handle_t *handle)
{
    free(handle);
}

static void stop_waiting(struct agent_input *input)
{
    if (input->poll)
        uv_close((uv_handle_t *)input->poll, free_poll);
    input->poll = NULL;
}

int agent_input_open(struct agent *agent)
{
    struct agent_input *input;
    int ends[2];

    if (!agent_has_snapshots(agent))
        return 0;
    input = calloc(1, sizeof *input);
    if (!input)
        return -ENOMEM;
    if (pipe2(ends, O_CLOEXEC) != 0) {
        free(input);
        return -errno;
    }
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    fcntl(ends[1], F_SETPIPE_SZ, PIPE_BYTES); /* an optimisation */
    input->agent = agent;
    input->reader = ends[0];
    input->writer = ends[1];
    agent->input = input;
    return 0;
}

void agent_input_close(struct agent *agent)
{
    struct agent_input *input = agent->input;

    if (!input)
        return;
    stop_waiting(input);
    close(input->reader);
    if (input->writer >= 0)
        close(input->writer);
    free(input);
    agent->input = NULL;
}

int agent_input_reader(const struct agent *agent)
{
    return agent->input ? agent->input->reader : -1;
}

static uint64_t unread(const struct agent_input *input)
{
    int bytes = 0;

    return ioctl(input->reader, FIONREAD, &bytes) == 0 && bytes > 0 ? (uint64_t)bytes : 0;
}

uint64_t agent_input_position(const struct agent *agent)
{
    const struct agent_input *input = agent->input;

    return input ? input->written - unread(input) : 0;
}

/* ---- What was read ---- */

/* Digests what process 0 has read by now. */
static void digest_read(struct agent_input *input)
{
    uint64_t left = unread(input);
    size_t size = left < input->pending ? input->pending - (size_t)left : 0;

    input->digest = bspz_digest(input->digest, input->undigested, size);
    input->pending -= size;
    memmove(input->undigested, input->undigested + size, input->pending);
}

/* If the pipe holds more than is kept, the digest is lost. */
static void keep_undigested(struct agent_input *input, const char *bytes, size_t size)
{
    if (size > sizeof input->undigested - input->pending) {
        input->digest = BSPZ_DIGEST_UNKNOWN;
        input->pending = 0;
        return;
    }
    memcpy(input->undigested + input->pending, bytes, size);
    input->pending += size;
}

uint64_t agent_input_digest(const struct agent *agent)
{
    struct agent_input *input = agent->input;

    if (!input)
        return BSPZ_DIGEST_UNKNOWN;
    digest_read(input);
    return input->digest;
}

/* ---- INPUT ---- */

static void say_taken(struct agent_input *input)
{
    struct wire_message message = {.kind = WIRE_INPUT_TAKEN};

    message.input_taken.position = input->written;
    agent_send(input->agent, &message);
}

static void say_begins(struct agent_input *input)
{
    struct wire_message message = {.kind = WIRE_INPUT_TAKEN};

    message.input_taken.position = input->written;
    message.input_taken.begins = true;
    message.input_taken.digest = input->digest;
    agent_send(input->agent, &message);
}

static void write_waiting(struct agent_input *input);

static void on_room(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    write_waiting(poll->data);
}

static void wait_for_room(struct agent_input *input)
{
    if (input->poll)
        return;
    input->poll = malloc(sizeof *input->poll);
    if (!input->poll || uv_poll_init(agent_loop(input->agent), input->poll, input->writer) != 0) {
        free(input->poll);
        input->poll = NULL;
        return;
    }
    input->poll->data = input;
    uv_poll_start(input->poll, UV_WRITABLE, on_room);
}

static void end_input(struct agent_input *input)
{
    stop_waiting(input);
    close(input->writer);
    input->writer = -1;
}

static void write_waiting(struct agent_input *input)
{
    while (input->waiting > 0) {
        ssize_t put = write(input->writer, input->bytes, input->waiting);

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0) {
            wait_for_room(input);
            return;
        }
        keep_undigested(input, input->bytes, (size_t)put);
        digest_read(input);
        input->written += (uint64_t)put;
        input->waiting -= (size_t)put;
        memmove(input->bytes, input->bytes + put, input->waiting);
    }
    stop_waiting(input);
    if (input->ends)
        end_input(input);
    else
        say_taken(input);
}

/* What was on its way when the input was rewound may be some of what is sent again. */
void agent_input_take(struct agent *agent, const struct wire_message *message)
{
    struct agent_input *input = agent->input;
    const struct wire_input *news = &message->input;
    uint64_t known;
    size_t added;

    if (!input || agent_is_finished(agent) || message->envelope.term != agent_term(agent) ||
        agent_job(agent) == JOB_REWINDING || input->writer < 0 || input->ends ||
        news->position > input->written + input->waiting)
        return;
    known = input->written + input->waiting - news->position;
    added = news->data.size > known ? news->data.size - (size_t)known : 0;
    if (added > sizeof input->bytes - input->waiting)
        return;
    if (added > 0)
        memcpy(input->bytes + input->waiting, (const char *)news->data.data + known, added);
    input->waiting += added;
    input->ends = news->end;
    write_waiting(input);
}

/* Empties the pipe.  No process that could read it runs. */
static void empty(struct agent_input *input)
{
    char bytes[4096];

    for (uint64_t left = unread(input); left > 0;) {
        ssize_t got = read(input->reader, bytes, left < sizeof bytes ? left : sizeof bytes);

        if (got <= 0)
            return;
        left -= (uint64_t)got;
    }
}

/* Reopens the pipe, which must stay the same: frozen copies have its reading end. */
static void open_again(struct agent_input *input)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", input->reader);
    input->writer = open(path, O_WRONLY | O_NONBLOCK | O_CLOEXEC);
}

void agent_input_rewind(struct agent *agent, uint64_t position, uint64_t digest)
{
    struct agent_input *input = agent->input;

    if (!input)
        return;
    stop_waiting(input);
    empty(input);
    input->waiting = 0;
    input->ends = false;
    input->written = position;
    input->digest = digest;
    input->pending = 0;
    if (input->writer < 0)
        open_again(input);
    say_begins(input);
}
