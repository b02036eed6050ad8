/* tcp.c - what the network between two hosts can do by itself: round trips and streams over TCP.
 *
 *   tcp listen PORT [harness options]          process 0, which prints
 *   tcp connect ADDRESS PORT [harness options] process 1
 *
 * Line limit.roundtrip: 8 bytes there and back; form blocking: read sleeps; form spinning: it does
 * not.  Line limit.stream: blocks one after the other, one way or both ways at once.
 */
#include "tests/bench/common/harness.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

struct context {
    int fd, pid;
    size_t size;
    char *out, *in;
};

static int connection;
static int own_pid;

static void fail(const char *what)
{
    fprintf(stderr, "tcp: %s: %s\n", what, strerror(errno));
    exit(1);
}

static void send_all(int fd, const void *bytes, size_t size)
{
    for (const char *from = bytes; size > 0;) {
        ssize_t n = send(fd, from, size, MSG_NOSIGNAL);
        if (n <= 0)
            fail("send");
        from += n;
        size -= (size_t)n;
    }
}

static void receive_all(int fd, void *bytes, size_t size, int flags)
{
    for (char *to = bytes; size > 0;) {
        ssize_t n = recv(fd, to, size, flags);
        if (n < 0 && errno == EAGAIN)
            continue;
        if (n <= 0)
            fail("receive");
        to += n;
        size -= (size_t)n;
    }
}

/* Both processes have come here. */
static long from_zero(long value)
{
    if (own_pid == 0)
        send_all(connection, &value, sizeof(value));
    else
        receive_all(connection, &value, sizeof(value), 0);
    if (own_pid == 1)
        send_all(connection, &value, sizeof(value));
    else
        receive_all(connection, &value, sizeof(value), 0);
    return value;
}

static void roundtrips(struct context *c, long count, int flags)
{
    for (long i = 0; i < count; i++) {
        if (c->pid == 0)
            send_all(c->fd, c->out, c->size);
        receive_all(c->fd, c->in, c->size, flags);
        if (c->pid == 1)
            send_all(c->fd, c->out, c->size);
    }
}

static void blocking(void *context, long count)
{
    roundtrips(context, count, 0);
}

static void spinning(void *context, long count)
{
    roundtrips(context, count, MSG_DONTWAIT);
}

static void one_way(void *context, long count)
{
    struct context *c = context;
    for (long i = 0; i < count; i++) {
        if (c->pid == 1)
            send_all(c->fd, c->out, c->size);
        else
            receive_all(c->fd, c->in, c->size, 0);
    }
    from_zero(0);
}

static size_t moved(ssize_t n)
{
    if (n < 0 && errno != EAGAIN)
        fail("exchange");
    return n > 0 ? (size_t)n : 0;
}

static void both_ways(void *context, long count)
{
    struct context *c = context;
    for (long i = 0; i < count; i++) {
        size_t sent = 0, received = 0;
        while (sent < c->size || received < c->size) {
            struct pollfd polled = {
                c->fd, (short)((sent < c->size ? POLLOUT : 0) | (received < c->size ? POLLIN : 0)),
                0};
            poll(&polled, 1, -1);
            if (sent < c->size)
                sent +=
                    moved(send(c->fd, c->out + sent, c->size - sent, MSG_DONTWAIT | MSG_NOSIGNAL));
            if (received < c->size)
                received += moved(recv(c->fd, c->in + received, c->size - received, MSG_DONTWAIT));
        }
    }
    from_zero(0);
}

static int accept_one(const char *port)
{
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(port))};
    int listening = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    setsockopt(listening, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(listening, (struct sockaddr *)&any, sizeof(any)) != 0 || listen(listening, 1) != 0)
        fail("listen");
    fprintf(stderr, "listening\n");
    int fd = accept(listening, NULL, NULL);
    if (fd < 0)
        fail("accept");
    close(listening);
    return fd;
}

static int connect_to(const char *address, const char *port)
{
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found;
    if (getaddrinfo(address, port, &hints, &found) != 0)
        fail("unknown address");
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(fd, found->ai_addr, found->ai_addrlen) != 0)
        fail("connect");
    freeaddrinfo(found);
    return fd;
}

int main(int argc, char **argv)
{
    bool listens = argc > 2 && strcmp(argv[1], "listen") == 0;
    int words = listens ? 2 : 3, on = 1;
    if (argc <= words || (!listens && strcmp(argv[1], "connect") != 0)) {
        fprintf(stderr, "usage: tcp listen PORT | connect ADDRESS PORT [options]\n");
        return 2;
    }
    struct bench_options options = bench_parse(argc - words, argv + words);
    connection = listens ? accept_one(argv[2]) : connect_to(argv[2], argv[3]);
    own_pid = listens ? 0 : 1;
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    struct bench_world world = {.pid = own_pid, .nprocs = 2, .from_zero = from_zero};
    size_t most = (size_t)bench_largest(&options, 8);
    struct context c = {.fd = connection,
                        .pid = own_pid,
                        .size = 8,
                        .out = bench_alloc(most),
                        .in = bench_alloc(most)};
    bench_measure(&world, &options, "limit.roundtrip", "blocking", 0, blocking, &c);
    bench_measure(&world, &options, "limit.roundtrip", "spinning", 0, spinning, &c);
    for (int i = 0; i < options.nsizes; i++) {
        c.size = (size_t)options.sizes[i];
        bench_measure(&world, &options, "limit.stream", "one way", options.sizes[i], one_way, &c);
        bench_measure(&world, &options, "limit.stream", "both ways", options.sizes[i], both_ways,
                      &c);
    }
    return 0;
}
