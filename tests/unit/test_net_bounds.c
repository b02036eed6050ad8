/* test_net_bounds.c - connections that are full, paused, or whose other end has stopped to listen.
 */
#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/net_play.h"
#include "tests/unit/suite.h"

START_TEST(full_queue_refuses_and_drains)
{
    struct net_options options = {.queue_max = 1u << 20};
    open_end(&a, fds[0], &options);
    char *item = calloc(1, WIRE_TEXT_MAX + 1);
    memset(item, 'q', WIRE_TEXT_MAX);
    unsigned sent = 0;
    struct wire_message message = numbered(0, item);
    while (net_send(a.connection, &message) == 0) {
        message.envelope.superstep = ++sent;
        ck_assert_uint_lt(sent, 1000);
    }
    ck_assert_uint_le(net_queued(a.connection), options.queue_max);
    ck_assert_int_eq(net_send(a.connection, &message), -ENOBUFS);
    for (unsigned turn = 0; turn < 10; turn++)
        uv_run(&loop, UV_RUN_NOWAIT);
    ck_assert_uint_eq(a.drained, 0);
    uint64_t accepted = net_accepted(a.connection); /* what was refused does not count */
    ck_assert_uint_lt(net_written(a.connection), accepted);

    open_end(&b, fds[1], NULL);
    while (a.drained == 0)
        uv_run(&loop, UV_RUN_ONCE);
    while (net_written(a.connection) < accepted)
        uv_run(&loop, UV_RUN_ONCE);
    ck_assert_uint_lt(net_queued(a.connection), options.queue_max / 4);
    ck_assert_int_eq(net_send(a.connection, &message), 0);
    net_finish(a.connection);
    run();
    ck_assert_uint_eq(b.received, sent + 1);
    ck_assert_uint_eq(a.drained, 1);
    free(item);
}
END_TEST

START_TEST(one_message_beyond_the_queue_is_taken)
{
    struct net_options options = {.queue_max = 10};
    open_both(&options);
    send_numbered(&a, 1);
    net_finish(a.connection);
    run();
    ck_assert_uint_eq(b.received, 1);
}
END_TEST

START_TEST(pause_holds_messages_and_the_end)
{
    open_both(NULL);
    b.pause_after = 7;
    send_numbered(&a, 1000);
    net_finish(a.connection);
    while (a.closed == 0)
        uv_run(&loop, UV_RUN_ONCE);
    for (unsigned turn = 0; turn < 10; turn++)
        uv_run(&loop, UV_RUN_NOWAIT);
    ck_assert_uint_eq(b.received, 7);
    ck_assert_uint_eq(b.closed, 0);
    net_resume(b.connection);
    run();
    ck_assert_uint_eq(b.received, 1000);
    expect_end(&b, NET_END_PEER);
}
END_TEST

/* The end of one connection comes in the same turn in which another one's message pauses it. */
START_TEST(pause_from_elsewhere_holds_the_end)
{
    int others[2];
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, others), 0);
    open_end(&a, others[0], NULL);
    open_end(&b, fds[1], NULL);
    a.pauses = &b;
    uv_run(&loop, UV_RUN_NOWAIT); /* both read */
    struct bspz_buffer frame = {0};
    struct wire_message message = numbered(0, "stop him");
    ck_assert_int_eq(wire_encode(&message, &frame, NULL, 0), 0);
    ck_assert_int_eq(write(others[1], frame.data, frame.size), (ssize_t)frame.size);
    bspz_buffer_free(&frame);
    close(fds[0]);
    for (unsigned turn = 0; turn < 10; turn++)
        uv_run(&loop, UV_RUN_NOWAIT);
    ck_assert_uint_eq(a.received, 1);
    ck_assert_uint_eq(b.closed, 0);
    net_resume(b.connection);
    close(others[1]);
    run();
    expect_end(&b, NET_END_PEER);
    expect_end(&a, NET_END_PEER);
}
END_TEST

START_TEST(refused_message_is_told_when_there_is_room)
{
    struct net_options options = {.queue_max = 400};
    unsigned sent = 0;
    open_both(&options);
    while (net_queued(a.connection) < 50) { /* far from half of the queue */
        struct wire_message message = numbered(sent++, "hello");
        ck_assert_int_eq(net_send(a.connection, &message), 0);
    }
    char item[1000];
    memset(item, 'l', sizeof(item));
    item[sizeof(item) - 1] = '\0';
    struct wire_message message = numbered(sent, item);
    ck_assert_int_eq(net_send(a.connection, &message), -ENOBUFS);
    while (b.received == 0 || a.drained == 0 || net_queued(a.connection) > 0)
        ck_assert_int_ne(uv_run(&loop, UV_RUN_ONCE), 0);
    ck_assert_int_eq(net_send(a.connection, &message), 0);
    net_finish(a.connection);
    run();
    ck_assert_uint_eq(b.received, sent + 1);
}
END_TEST

/* The peer takes nothing any more but does not close: to finish must not take for ever. */
START_TEST(finish_ends_when_nobody_listens)
{
    open_end(&a, fds[0], NULL);
    ck_assert_int_eq(shutdown(fds[1], SHUT_RD), 0);
    send_numbered(&a, 1);
    net_finish(a.connection);
    run();
    expect_end(&a, NET_END_BROKEN);
    close(fds[1]);
}
END_TEST

START_TEST(bad_messages_and_descriptors_are_refused)
{
    struct net_connection *connection = NULL;
    close(fds[1]);
    ck_assert_int_eq(net_open(&loop, fds[1], NULL, &handlers, &b, &connection), -EBADF);
    ck_assert_ptr_null(connection);
    struct net_options options = {.encrypt = true}; /* with which keys? */
    ck_assert_int_eq(net_open(&loop, fds[0], &options, &handlers, &b, &connection), -EINVAL);
    open_end(&a, fds[0], NULL);
    struct wire_message message = {.kind = WIRE_HELLO};
    message.hello.host = WIRE_HOSTS_MAX;
    ck_assert_int_eq(net_send(a.connection, &message), -EINVAL);
    ck_assert_uint_eq(net_queued(a.connection), 0);
    run();
    expect_end(&a, NET_END_PEER);
    ck_assert_uint_eq(b.closed, 0);
}
END_TEST

/* A reset by the peer's kernel and a silent network are told apart. */
START_TEST(the_end_tells_gone_from_silent)
{
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(own);
    int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int peer = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(listening, (struct sockaddr *)&own, length), 0);
    ck_assert_int_eq(listen(listening, 1), 0);
    ck_assert_int_eq(getsockname(listening, (struct sockaddr *)&own, &length), 0);
    ck_assert_int_eq(connect(peer, (struct sockaddr *)&own, length), 0);
    int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    close(listening);
    close(fds[0]);
    close(fds[1]);
    if (_i == 0) {
        struct linger reset = {1, 0};
        open_end(&a, fd, NULL);
        ck_assert_int_eq(setsockopt(peer, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)), 0);
        close(peer);
        run();
        expect_end(&a, NET_END_BROKEN);
    } else {
        /* The peer takes nothing: for the kernel that is, after a while, a silent one. */
        int small = 4096, impatient = 300;
        setsockopt(peer, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
        ck_assert_int_eq(
            setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &impatient, sizeof(impatient)), 0);
        open_end(&a, fd, NULL);
        while (net_queued(a.connection) < NET_QUEUE_MAX / 4)
            send_numbered(&a, 1000);
        run();
        expect_end(&a, NET_END_CUT);
        close(peer);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("net bounds");
    TCase *connections = tcase_create("connections");
    tcase_set_timeout(connections, 120);
    tcase_add_checked_fixture(connections, net_set_up, loop_tear_down);
    tcase_add_test(connections, full_queue_refuses_and_drains);
    tcase_add_test(connections, one_message_beyond_the_queue_is_taken);
    tcase_add_test(connections, pause_holds_messages_and_the_end);
    tcase_add_test(connections, pause_from_elsewhere_holds_the_end);
    tcase_add_test(connections, refused_message_is_told_when_there_is_room);
    tcase_add_test(connections, finish_ends_when_nobody_listens);
    tcase_add_loop_test(connections, the_end_tells_gone_from_silent, 0, 2);
    tcase_add_test(connections, bad_messages_and_descriptors_are_refused);
    suite_add_tcase(suite, connections);

    TCase *sealed = tcase_create("encrypted connections");
    tcase_set_timeout(sealed, 120);
    tcase_add_checked_fixture(sealed, net_set_up_encrypted, loop_tear_down);
    tcase_add_test(sealed, full_queue_refuses_and_drains);
    tcase_add_test(sealed, one_message_beyond_the_queue_is_taken);
    tcase_add_test(sealed, pause_holds_messages_and_the_end);
    tcase_add_test(sealed, refused_message_is_told_when_there_is_room);
    tcase_add_test(sealed, finish_ends_when_nobody_listens);
    suite_add_tcase(suite, sealed);
    return suite_run(suite);
}
