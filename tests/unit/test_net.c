/* test_net.c - connections over a socket pair: order, garbage, and that every connection ends once.
 */
#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/net_play.h"
#include "tests/unit/suite.h"

/* ---- Messages ----------------------------------------------------------------------------- */

START_TEST(messages_arrive_in_order)
{
    open_both(NULL);
    b.echo = true;
    b.finish_after = 5000;
    send_numbered(&a, 5000);
    ck_assert_uint_eq(b.received, 0); /* nothing happens inside net_send */
    run();
    ck_assert_uint_eq(b.received, 5000);
    ck_assert_uint_eq(a.received, 5000);
    expect_end(&b, NET_END_CLOSED);
    expect_end(&a, NET_END_PEER);
}
END_TEST

START_TEST(longest_message_arrives)
{
    open_both(NULL);
    char *item = calloc(1, WIRE_TEXT_MAX + 1);
    memset(item, 'z', WIRE_TEXT_MAX);
    for (unsigned i = 0; i < 100; i++) {
        struct wire_message message = numbered(i, item);
        ck_assert_int_eq(net_send(a.connection, &message), 0);
    }
    free(item);
    net_finish(a.connection);
    run();
    ck_assert_uint_eq(b.text_bytes, 100u * WIRE_TEXT_MAX);
    expect_end(&a, NET_END_CLOSED);
    expect_end(&b, NET_END_PEER);
}
END_TEST

/* Writes a frame in pieces of every size and looks after each that nothing comes too early. */
START_TEST(pieces_make_a_message)
{
    open_end(&b, fds[1], NULL);
    struct bspz_buffer frame = {0};
    struct wire_message message = numbered(0, "in pieces");
    ck_assert_int_eq(wire_encode(&message, &frame, NULL, 0), 0);
    for (size_t i = 0; i < frame.size; i++) {
        ck_assert_int_eq(write(fds[0], frame.data + i, 1), 1);
        for (unsigned turn = 0; turn < 3; turn++)
            uv_run(&loop, UV_RUN_NOWAIT);
        ck_assert_uint_eq(b.received, i + 1 == frame.size);
    }
    bspz_buffer_free(&frame);
    close(fds[0]);
    run();
    expect_end(&b, NET_END_PEER);
}
END_TEST

/* ---- The end ------------------------------------------------------------------------------ */

START_TEST(close_in_handler_is_the_last_message)
{
    open_both(NULL);
    b.close_after = 3;
    send_numbered(&a, 10);
    run();
    ck_assert_uint_eq(b.received, 3);
    expect_end(&b, NET_END_CLOSED);
    ck_assert_uint_eq(a.closed, 1);
}
END_TEST

START_TEST(close_loses_what_waits_and_comes_later)
{
    open_both(NULL);
    send_numbered(&a, 1);
    net_close(a.connection);
    ck_assert_uint_eq(a.closed, 0);
    struct wire_message message = numbered(1, "too late");
    ck_assert_int_eq(net_send(a.connection, &message), -ENOTCONN);
    net_close(a.connection);
    net_finish(a.connection);
    net_pause(a.connection);
    net_resume(a.connection);
    run();
    expect_end(&a, NET_END_CLOSED);
    expect_end(&b, NET_END_PEER);
}
END_TEST

/* A pair over TCP; the second of them is not read until the end. */
static void make_tcp_pair(int pair[2])
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(listener, (struct sockaddr *)&address, size), 0);
    ck_assert_int_eq(listen(listener, 1), 0);
    ck_assert_int_eq(getsockname(listener, (struct sockaddr *)&address, &size), 0);
    pair[0] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(connect(pair[0], (struct sockaddr *)&address, size), 0);
    pair[1] = accept(listener, NULL, NULL);
    ck_assert_int_ge(pair[1], 0);
    close(listener);
}

/* What the kernel has is sent after a close (0), and taken back by a cut (1). */
START_TEST(cut_takes_back_what_the_kernel_has)
{
    int pair[2];
    static char piece[65536];
    close(fds[0]);
    close(fds[1]);
    make_tcp_pair(pair);
    open_end(&a, pair[0], NULL);
    struct wire_message message = numbered(0, "one of many");
    for (unsigned i = 0; i < 2000000 && net_send(a.connection, &message) == 0; i++)
        ;
    for (unsigned turns = 0; turns < 10; turns++)
        uv_run(&loop, UV_RUN_NOWAIT);
    int there, on_its_way;
    ck_assert_int_eq(ioctl(pair[1], FIONREAD, &there), 0);
    ck_assert_int_eq(ioctl(pair[0], TIOCOUTQ, &on_its_way), 0);
    ck_assert_int_gt(on_its_way, 0); /* the other end takes no more */
    if (_i == 1)
        net_cut(a.connection);
    else
        net_close(a.connection);
    run();
    expect_end(&a, NET_END_CLOSED);
    ssize_t got, came = 0;
    while ((got = read(pair[1], piece, sizeof(piece))) > 0)
        came += got;
    if (_i == 1) {
        ck_assert_int_eq(got, -1);
        ck_assert_int_eq(errno, ECONNRESET);
        ck_assert_int_lt(came, there + on_its_way);
    } else {
        ck_assert_int_eq(got, 0);
        ck_assert_int_gt(came, there);
    }
    close(pair[1]);
}
END_TEST

START_TEST(finish_sends_everything)
{
    open_both(NULL);
    send_numbered(&a, 20000);
    net_finish(a.connection);
    net_finish(a.connection);
    struct wire_message message = numbered(1, "too late");
    ck_assert_int_eq(net_send(a.connection, &message), -ENOTCONN);
    run();
    ck_assert_uint_eq(b.received, 20000);
    expect_end(&a, NET_END_CLOSED);
    expect_end(&b, NET_END_PEER);
}
END_TEST

/* A peer that says its last words and dies: they are heard although writing to it fails. */
START_TEST(last_words_are_heard)
{
    open_end(&b, fds[1], NULL);
    struct bspz_buffer frames = {0};
    for (unsigned i = 0; i < 500; i++) {
        struct wire_message message = numbered(i, "last words");
        ck_assert_int_eq(wire_encode(&message, &frames, NULL, 0), 0);
    }
    ck_assert_int_eq(write(fds[0], frames.data, frames.size), (ssize_t)frames.size);
    bspz_buffer_free(&frames);
    close(fds[0]);
    struct wire_message message = numbered(0, "are you there?");
    ck_assert_int_eq(net_send(b.connection, &message), 0);
    run();
    ck_assert_uint_eq(b.received, 500);
    ck_assert_uint_eq(b.closed, 1);
}
END_TEST

START_TEST(end_inside_a_frame_is_broken)
{
    open_end(&b, fds[1], NULL);
    ck_assert_int_eq(write(fds[0], "\x10\x00\x00\x00\x91", 5), 5);
    close(fds[0]);
    run();
    expect_end(&b, NET_END_BROKEN);
}
END_TEST

/* ---- Peers that break the rules ------------------------------------------------------------ */

static const struct {
    const char *what;
    const char *bytes;
    size_t size;
} garbage[] = {
    {"an empty frame", "\0\0\0\0", 4},
    {"a length beyond the limit", "\x01\x00\x00\x01", 4},
    {"the largest length", "\xff\xff\xff\xff", 4},
    {"a body that is no message", "\x02\x00\x00\x00\x91\x01", 6},
    {"text", "GET / HTTP/1.1\r\n\r\n", 18},
};

START_TEST(garbage_ends_the_connection)
{
    open_end(&b, fds[1], NULL);
    ck_assert_int_eq(write(fds[0], garbage[_i].bytes, garbage[_i].size), (ssize_t)garbage[_i].size);
    run(); /* without the peer closing */
    expect_end(&b, NET_END_PROTOCOL);
    ck_assert_str_ne(b.why, "");
    close(fds[0]);
}
END_TEST

/* ---- Encrypted ---------------------------------------------------------------------------- */

/* The end without net_finish, which an outsider could have made, is told from a good one. */
START_TEST(encrypted_stream_that_is_cut_is_broken)
{
    open_both(NULL);
    send_numbered(&a, 10);
    while (b.received < 10)
        uv_run(&loop, UV_RUN_ONCE);
    net_close(a.connection);
    run();
    expect_end(&a, NET_END_CLOSED);
    expect_end(&b, NET_END_BROKEN);
}
END_TEST

/* One of the two was not told, or they are of different connections. */
START_TEST(both_must_encrypt_alike)
{
    if (_i == 1) {
        open_end(&a, fds[0], NULL);
        encrypted = false;
        open_end(&b, fds[1], NULL);
    } else {
        open_end(&b, fds[0], NULL);
        /* The same end of another session: what both send is sealed with the same key. */
        struct net_options options = {.encrypt = true, .session = &sessions[1]};
        ck_assert_int_eq(net_open(&loop, fds[1], &options, &handlers, &a, &a.connection), 0);
    }
    send_numbered(&a, 10);
    send_numbered(&b, 10);
    run();
    ck_assert_uint_eq(a.received + b.received, 0);
    ck_assert_uint_eq(a.closed + b.closed, 2);
    ck_assert(a.how == NET_END_PROTOCOL || b.how == NET_END_PROTOCOL);
}
END_TEST

/* Who has taken over the connection after the handshake. */
START_TEST(garbage_ends_an_encrypted_connection)
{
    char bytes[4 * WIRE_FRAME_MAX / 1024] = {0};
    static const unsigned lengths[] = {0, 1, 16, 17, 1000, WIRE_FRAME_MAX + 18};
    for (unsigned i = 0; i < 4; i++)
        bytes[24 + i] = (char)(lengths[_i] >> (8 * i));
    open_end(&b, fds[1], NULL);
    ck_assert_int_eq(write(fds[0], bytes, sizeof(bytes)), (ssize_t)sizeof(bytes));
    run(); /* without the peer closing */
    expect_end(&b, NET_END_PROTOCOL);
    close(fds[0]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("net");
    TCase *connections = tcase_create("connections");
    tcase_set_timeout(connections, 120);
    tcase_add_checked_fixture(connections, net_set_up, loop_tear_down);
    tcase_add_test(connections, messages_arrive_in_order);
    tcase_add_test(connections, longest_message_arrives);
    tcase_add_test(connections, pieces_make_a_message);
    tcase_add_test(connections, close_in_handler_is_the_last_message);
    tcase_add_test(connections, close_loses_what_waits_and_comes_later);
    tcase_add_loop_test(connections, cut_takes_back_what_the_kernel_has, 0, 2);
    tcase_add_test(connections, finish_sends_everything);
    tcase_add_test(connections, last_words_are_heard);
    tcase_add_test(connections, end_inside_a_frame_is_broken);
    tcase_add_loop_test(connections, garbage_ends_the_connection, 0,
                        sizeof(garbage) / sizeof(garbage[0]));
    suite_add_tcase(suite, connections);

    TCase *sealed = tcase_create("encrypted connections");
    tcase_set_timeout(sealed, 120);
    tcase_add_checked_fixture(sealed, net_set_up_encrypted, loop_tear_down);
    tcase_add_test(sealed, messages_arrive_in_order);
    tcase_add_test(sealed, longest_message_arrives);
    tcase_add_test(sealed, close_in_handler_is_the_last_message);
    tcase_add_test(sealed, finish_sends_everything);
    tcase_add_test(sealed, encrypted_stream_that_is_cut_is_broken);
    tcase_add_loop_test(sealed, both_must_encrypt_alike, 0, 2);
    tcase_add_loop_test(sealed, garbage_ends_an_encrypted_connection, 0, 6);
    suite_add_tcase(suite, sealed);
    return suite_run(suite);
}
