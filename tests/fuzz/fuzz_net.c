/* fuzz_net.c - a peer that sends anything: the connection hands out messages and ends once. */
#include "tests/fuzz/fuzz.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/net/net.h"
#include "tests/unit/wire_sample.h"

/* What fits into a socket's buffer, so that one write takes it all. */
#define INPUT_MAX 65536u

struct seen {
    unsigned messages;
    unsigned closed;
    enum net_end end;
};

static void on_message(void *context, struct net_connection *connection,
                       const struct wire_message *message)
{
    struct seen *seen = context;
    FUZZ_CHECK(seen->closed == 0);
    FUZZ_CHECK((unsigned)message->kind < WIRE_KIND_COUNT);
    seen->messages++;
    if (message->envelope.superstep % 16 == 15)
        net_pause(connection);
    if (message->envelope.superstep % 16 == 14)
        net_finish(connection);
    net_resume(connection);
}

static void on_closed(void *context, enum net_end end, const char *text)
{
    struct seen *seen = context;
    FUZZ_CHECK(text[0] != '\0');
    seen->closed++;
    seen->end = end;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const struct net_handlers handlers = {.message = on_message, .closed = on_closed};
    struct seen seen = {0};
    struct net_connection *connection;
    uv_loop_t loop;
    int fds[2];
    if (size > INPUT_MAX)
        return 0;
    signal(SIGPIPE, SIG_IGN);
    FUZZ_CHECK(uv_loop_init(&loop) == 0);
    FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
    FUZZ_CHECK(write(fds[0], bytes, size) == (ssize_t)size);
    close(fds[0]);
    FUZZ_CHECK(net_open(&loop, fds[1], NULL, &handlers, &seen, &connection) == 0);
    FUZZ_CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
    FUZZ_CHECK(seen.closed == 1);
    FUZZ_CHECK(uv_loop_close(&loop) == 0);
    return 0;
}

/* Two messages, one behind the other. */
size_t fuzz_seed(unsigned number, uint8_t *bytes)
{
    if (number >= WIRE_KIND_COUNT)
        return 0;
    struct wire_message message;
    struct bspz_buffer frames = {0};
    wire_sample((enum wire_kind)number, number + 1, &message);
    FUZZ_CHECK(wire_encode(&message, &frames, NULL, 0) == 0);
    wire_sample((enum wire_kind)(WIRE_KIND_COUNT - 1 - number), 1, &message);
    FUZZ_CHECK(wire_encode(&message, &frames, NULL, 0) == 0);
    FUZZ_CHECK(frames.size <= FUZZ_SEED_MAX);
    memcpy(bytes, frames.data, frames.size);
    size_t size = frames.size;
    bspz_buffer_free(&frames);
    return size;
}
