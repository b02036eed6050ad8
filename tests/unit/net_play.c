/* net_play.c - see net_play.h. */
#include "tests/unit/net_play.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

int fds[2];
struct end a, b;
bool encrypted; /* whether open_end makes encrypted connections */
const struct net_session sessions[2] = {
    {"from a to b, a key of 32 bytes.", "from b to a, a key of 32 bytes."},
    {"from b to a, a key of 32 bytes.", "from a to b, a key of 32 bytes."},
};

void net_set_up(void)
{
    loop_set_up();
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    a = (struct end){0};
    b = (struct end){0};
}

void net_set_up_encrypted(void)
{
    net_set_up();
    encrypted = true;
}

struct wire_message numbered(uint64_t number, const char *text)
{
    struct wire_message message = {.kind = WIRE_NOTICE, .envelope = {.superstep = number}};
    message.notice.text = text;
    return message;
}

static void on_message(void *context, struct net_connection *connection,
                       const struct wire_message *message)
{
    struct end *end = context;
    ck_assert_ptr_eq(connection, end->connection);
    ck_assert_uint_eq(end->closed, 0);
    ck_assert_int_eq(message->kind, WIRE_NOTICE);
    ck_assert_uint_eq(message->envelope.superstep, end->next++);
    end->received++;
    end->text_bytes += strlen(message->notice.text);
    if (end->echo)
        ck_assert_int_eq(net_send(connection, message), 0);
    if (end->received == end->close_after)
        net_close(connection);
    if (end->received == end->finish_after)
        net_finish(connection);
    if (end->received == end->pause_after)
        net_pause(connection);
    if (end->pauses)
        net_pause(end->pauses->connection);
}

static void on_drained(void *context, struct net_connection *connection)
{
    struct end *end = context;
    ck_assert_ptr_eq(connection, end->connection);
    end->drained++;
}

static void on_closed(void *context, enum net_end how, const char *text)
{
    struct end *end = context;
    end->closed++;
    end->how = how;
    snprintf(end->why, sizeof(end->why), "%s", text);
    end->connection = NULL;
}

const struct net_handlers handlers = {on_message, on_drained, NULL, on_closed};

void open_end(struct end *end, int fd, const struct net_options *given)
{
    struct net_options options = given ? *given : (struct net_options){0};
    options.encrypt = encrypted;
    options.session = &sessions[end == &b];
    ck_assert_int_eq(net_open(&loop, fd, &options, &handlers, end, &end->connection), 0);
    ck_assert_int_ne(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
}

void open_both(const struct net_options *options)
{
    open_end(&a, fds[0], options);
    open_end(&b, fds[1], options);
}

void send_numbered(struct end *end, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct wire_message message = numbered(i, "hello");
        ck_assert_int_eq(net_send(end->connection, &message), 0);
    }
}

void expect_end(const struct end *end, enum net_end how)
{
    ck_assert_uint_eq(end->closed, 1);
    ck_assert_msg(end->how == how, "ended as %d (%s) instead of %d", (int)end->how, end->why,
                  (int)how);
}
