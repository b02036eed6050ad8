/* test_net.c - connections over a socket pair: order, bounds, and that every connection ends once.
 *
 * Both ends live on one loop; a test runs it until nothing is left to do.  The fixture fails a test
 * that leaks a descriptor. */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/net/net.h"

/* One end of a pair and what happened to it. */
struct end {
    struct net_connection *connection; /* NULL once closed */
    unsigned received;
    uint64_t next; /* superstep expected in the next message */
    size_t text_bytes;
    unsigned closed;
    unsigned drained;
    enum net_end how;
    char why[WIRE_ERROR_SIZE];
    unsigned close_after, finish_after, pause_after; /* messages; 0: never */
    bool echo;
    struct end *pauses; /* a message here pauses that one */
};

static uv_loop_t loop;
static int fds[2];
static int open_before;
static struct end a, b;
static bool encrypted; /* whether open_end makes encrypted connections */
static const struct net_session sessions[2] = {
    {"from a to b, a key of 32 bytes.", "from b to a, a key of 32 bytes."},
    {"from b to a, a key of 32 bytes.", "from a to b, a key of 32 bytes."},
};

static int count_descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    int count = 0;
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

static void set_up(void)
{
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a hanging one does not outlive the runner */
    /* The first loop of a process makes two descriptors that stay. */
    ck_assert_int_eq(uv_loop_init(&loop), 0);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
    open_before = count_descriptors();
    ck_assert_int_eq(uv_loop_init(&loop), 0);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
    a = (struct end){0};
    b = (struct end){0};
}

static void set_up_encrypted(void)
{
    set_up();
    encrypted = true;
}

static void tear_down(void)
{
    ck_assert_int_eq(uv_loop_close(&loop), 0);
    ck_assert_int_eq(count_descriptors(), open_before);
}

static struct wire_message numbered(uint64_t number, const char *text)
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

static const struct net_handlers handlers = {on_message, on_drained, NULL, on_closed};

static void open_end(struct end *end, int fd, const struct net_options *given)
{
    struct net_options options = given ? *given : (struct net_options){0};
    options.encrypt = encrypted;
    options.session = &sessions[end == &b];
    ck_assert_int_eq(net_open(&loop, fd, &options, &handlers, end, &end->connection), 0);
    ck_assert_int_ne(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
}

static void open_both(const struct net_options *options)
{
    open_end(&a, fds[0], options);
    open_end(&b, fds[1], options);
}

/* Runs until both ends that exist have closed. */
static void run(void)
{
    ck_assert_int_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
}

static void send_numbered(struct end *end, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct wire_message message = numbered(i, "hello");
        ck_assert_int_eq(net_send(end->connection, &message), 0);
    }
}

static void expect_end(const struct end *end, enum net_end how)
{
    ck_assert_uint_eq(end->closed, 1);
    ck_assert_msg(end->how == how, "ended as %s (%s) instead of %s", net_end_name(end->how),
                  end->why, net_end_name(how));
}

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
    struct wire_buffer frame = {0};
    struct wire_message message = numbered(0, "in pieces");
    ck_assert_int_eq(wire_encode(&message, &frame, NULL, 0), 0);
    for (size_t i = 0; i < frame.size; i++) {
        ck_assert_int_eq(write(fds[0], frame.data + i, 1), 1);
        for (unsigned turn = 0; turn < 3; turn++)
            uv_run(&loop, UV_RUN_NOWAIT);
        ck_assert_uint_eq(b.received, i + 1 == frame.size);
    }
    wire_buffer_free(&frame);
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
    struct wire_buffer frames = {0};
    for (unsigned i = 0; i < 500; i++) {
        struct wire_message message = numbered(i, "last words");
        ck_assert_int_eq(wire_encode(&message, &frames, NULL, 0), 0);
    }
    ck_assert_int_eq(write(fds[0], frames.data, frames.size), (ssize_t)frames.size);
    wire_buffer_free(&frames);
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

START_TEST(frame_max_is_kept)
{
    struct wire_buffer frame = {0};
    struct wire_message message = numbered(0, "a little longer");
    ck_assert_int_eq(wire_encode(&message, &frame, NULL, 0), 0);
    struct net_options options = {.frame_max = frame.size - WIRE_HEADER};
    open_end(&b, fds[1], &options);
    ck_assert_int_eq(write(fds[0], frame.data, frame.size), (ssize_t)frame.size);
    while (b.received == 0)
        uv_run(&loop, UV_RUN_ONCE);
    message.notice.text = "a little longer!";
    frame.size = 0;
    ck_assert_int_eq(wire_encode(&message, &frame, NULL, 0), 0);
    ck_assert_int_eq(write(fds[0], frame.data, frame.size), (ssize_t)frame.size);
    run();
    expect_end(&b, NET_END_PROTOCOL);
    wire_buffer_free(&frame);
    close(fds[0]);
}
END_TEST

/* ---- Bounds ------------------------------------------------------------------------------- */

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
    struct wire_buffer frame = {0};
    struct wire_message message = numbered(0, "stop him");
    ck_assert_int_eq(wire_encode(&message, &frame, NULL, 0), 0);
    ck_assert_int_eq(write(others[1], frame.data, frame.size), (ssize_t)frame.size);
    wire_buffer_free(&frame);
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
    open_both(&options);
    send_numbered(&a, 1); /* far from half of the queue */
    char item[1000];
    memset(item, 'l', sizeof(item));
    item[sizeof(item) - 1] = '\0';
    struct wire_message message = numbered(1, item);
    ck_assert_int_eq(net_send(a.connection, &message), -ENOBUFS);
    while (b.received == 0 || a.drained == 0)
        ck_assert_int_ne(uv_run(&loop, UV_RUN_ONCE), 0);
    ck_assert_int_eq(net_send(a.connection, &message), 0);
    net_finish(a.connection);
    run();
    ck_assert_uint_eq(b.received, 2);
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
    ck_assert_str_eq(net_end_name((enum net_end)99), "unknown");
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
    tcase_add_checked_fixture(connections, set_up, tear_down);
    tcase_add_test(connections, messages_arrive_in_order);
    tcase_add_test(connections, longest_message_arrives);
    tcase_add_test(connections, pieces_make_a_message);
    tcase_add_test(connections, close_in_handler_is_the_last_message);
    tcase_add_test(connections, close_loses_what_waits_and_comes_later);
    tcase_add_test(connections, finish_sends_everything);
    tcase_add_test(connections, last_words_are_heard);
    tcase_add_test(connections, end_inside_a_frame_is_broken);
    tcase_add_loop_test(connections, garbage_ends_the_connection, 0,
                        sizeof(garbage) / sizeof(garbage[0]));
    tcase_add_test(connections, frame_max_is_kept);
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
    tcase_add_checked_fixture(sealed, set_up_encrypted, tear_down);
    tcase_add_test(sealed, messages_arrive_in_order);
    tcase_add_test(sealed, longest_message_arrives);
    tcase_add_test(sealed, close_in_handler_is_the_last_message);
    tcase_add_test(sealed, finish_sends_everything);
    tcase_add_test(sealed, full_queue_refuses_and_drains);
    tcase_add_test(sealed, one_message_beyond_the_queue_is_taken);
    tcase_add_test(sealed, pause_holds_messages_and_the_end);
    tcase_add_test(sealed, refused_message_is_told_when_there_is_room);
    tcase_add_test(sealed, finish_ends_when_nobody_listens);
    tcase_add_test(sealed, encrypted_stream_that_is_cut_is_broken);
    tcase_add_loop_test(sealed, both_must_encrypt_alike, 0, 2);
    tcase_add_loop_test(sealed, garbage_ends_an_encrypted_connection, 0, 6);
    suite_add_tcase(suite, sealed);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
