/* test_meet.c - listeners and callers over loopback: who meets whom, and what strangers cost.
 *
 * Everything lives on one loop and one thread; strangers are plain sockets.  The fixture fails a
 * test that leaks a descriptor. */
#include <arpa/inet.h>
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
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/net/meet.h"

#define MET_MAX       8u
#define STRANGERS_MAX 64u

/* What happened to a listener or a caller. */
struct side {
    unsigned met, failed, refused, refused_proved;
    struct net_meeting meetings[MET_MAX];
    char text[NET_FAILED_TEXT]; /* of the last failed or refused */
    struct net_listener *close_on_met;
};

static uv_loop_t loop;
static int open_before;
static const unsigned char key[NET_KEY_SIZE] = "the key of this job, 32 bytes..";
static const unsigned char other_key[NET_KEY_SIZE] = "the key of this job, 32 bytes.!";
static struct net_meet_options of_listener, of_caller;
static struct side listening, calling;
static struct net_listener *listener;
static struct net_call *call;
static char address[NET_ADDRESS_SIZE]; /* of the listener */
static int strangers[STRANGERS_MAX];
static unsigned stranger_count;

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
    of_caller = (struct net_meet_options){
        .setup = {.key = key,
                  .job = "a job",
                  .own = {NET_AGENT, 3, 2, NET_CONTROL, 0},
                  .wanted = {.role = NET_BSPRUN}},
        .handshake_ms = 60000,
        .call_ms = 60000,
    };
    of_listener = (struct net_meet_options){
        .setup = {.key = key,
                  .job = "a job",
                  .own = {.role = NET_BSPRUN},
                  .accepts = NET_ACCEPTS(NET_AGENT, NET_CONTROL)},
        .handshake_ms = 60000,
    };
    listening = calling = (struct side){0};
    listener = NULL;
    call = NULL;
    stranger_count = 0;
}

static void tear_down(void)
{
    struct side *sides[] = {&listening, &calling};
    net_listener_close(listener);
    for (unsigned i = 0; i < stranger_count; i++)
        close(strangers[i]);
    for (unsigned i = 0; i < 2; i++)
        for (unsigned k = 0; k < sides[i]->met; k++)
            close(sides[i]->meetings[k].fd);
    ck_assert_int_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
    ck_assert_int_eq(count_descriptors(), open_before);
}

/* ---- Handlers ----------------------------------------------------------------------------- */

static void on_met(void *context, const struct net_meeting *meeting)
{
    struct side *side = context;
    ck_assert_uint_lt(side->met, MET_MAX);
    side->meetings[side->met++] = *meeting;
    if (side->close_on_met) {
        net_listener_close(side->close_on_met);
        listener = NULL;
    }
}

static void on_refused(void *context, bool proved, const char *text)
{
    struct side *side = context;
    side->refused++;
    side->refused_proved += proved;
    snprintf(side->text, sizeof(side->text), "%s", text);
}

static void on_failed(void *context, const char *text)
{
    struct side *side = context;
    side->failed++;
    snprintf(side->text, sizeof(side->text), "%s", text);
}

static const struct net_meeter meeter = {on_met, on_refused, on_failed};

static void listen_on(const char *host)
{
    ck_assert_int_eq(net_listen(&loop, host, 0, &of_listener, &meeter, &listening, &listener), 0);
    ck_assert_uint_ne(net_listener_port(listener), 0);
    snprintf(address, sizeof(address), "127.0.0.1:%u", net_listener_port(listener));
}

static void call_them(const char *const *addresses, unsigned count)
{
    ck_assert_int_eq(net_call(&loop, addresses, count, &of_caller, &meeter, &calling, &call), 0);
}

static void call_it(void)
{
    const char *const addresses[] = {address};
    call_them(addresses, 1);
}

static void turn(void)
{
    uv_run(&loop, UV_RUN_ONCE);
}

/* Until the call is over, and the listener, too, knows that they have met. */
static void run_call(void)
{
    while (calling.met + calling.failed == 0)
        turn();
    while (calling.met > listening.met)
        turn();
}

static void expect_text(const struct side *side, const char *text)
{
    ck_assert_msg(strstr(side->text, text) != NULL, "\"%s\" is not in \"%s\"", text, side->text);
}

/* ---- Strangers ---------------------------------------------------------------------------- */

static int stranger(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(net_listener_port(listener)),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    ck_assert_uint_lt(stranger_count, STRANGERS_MAX);
    strangers[stranger_count++] = fd;
    return fd;
}

static void write_all(int fd, const void *bytes, size_t size)
{
    ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
}

/* The listener hangs up without having said a word. */
static void expect_hang_up(int fd)
{
    char byte;
    ck_assert_int_eq(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    ssize_t count;
    while ((count = read(fd, &byte, 1)) < 0 && errno == EAGAIN)
        turn();
    ck_assert_int_le(count, 0);
}

/* ---- Meeting ------------------------------------------------------------------------------ */

static void expect_fine_descriptor(int fd)
{
    int value = -1;
    socklen_t size = sizeof(value);
    ck_assert_int_ne(fcntl(fd, F_GETFD) & FD_CLOEXEC, 0);
    ck_assert_int_ne(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
    ck_assert_int_eq(getsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &value, &size), 0);
    ck_assert_int_ne(value, 0);
    ck_assert_int_eq(getsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &value, &size), 0);
    ck_assert_int_eq(value, 0);
}

static void expect_met(void)
{
    ck_assert_msg(calling.met == 1, "%s", calling.text);
    ck_assert_uint_eq(calling.failed, 0);
    ck_assert_uint_eq(listening.met, 1);
    const struct net_meeting *a = &calling.meetings[0], *b = &listening.meetings[0];
    ck_assert_mem_eq(a->session.send, b->session.receive, NET_KEY_SIZE);
    ck_assert_mem_eq(a->session.receive, b->session.send, NET_KEY_SIZE);
    expect_fine_descriptor(a->fd);
    expect_fine_descriptor(b->fd);
    /* Nothing of the handshake is left in the connection. */
    char byte = 0;
    ck_assert_int_eq(read(a->fd, &byte, 1), -1);
    ck_assert_int_eq(errno, EAGAIN);
    write_all(a->fd, "x", 1);
    ck_assert_int_eq(fcntl(b->fd, F_SETFL, 0), 0);
    ck_assert_int_eq(read(b->fd, &byte, 1), 1);
    ck_assert_int_eq(byte, 'x');
}

START_TEST(two_meet)
{
    static const char *const hosts[] = {"127.0.0.1", NULL};
    listen_on(hosts[_i]);
    call_it();
    run_call();
    expect_met();
    ck_assert_uint_eq(listening.meetings[0].peer.role, NET_AGENT);
    ck_assert_uint_eq(listening.meetings[0].peer.host, 3);
    ck_assert_uint_eq(listening.meetings[0].peer.incarnation, 2);
    ck_assert_uint_eq(calling.meetings[0].peer.role, NET_BSPRUN);
    ck_assert_str_eq(calling.meetings[0].address, address);
    ck_assert_ptr_nonnull(strstr(listening.meetings[0].address, "127.0.0.1:"));
    ck_assert_uint_eq(listening.refused, 0);
}
END_TEST

START_TEST(two_meet_over_ipv6)
{
    static const char *const hosts[] = {"::1", NULL};
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in6 own = {.sin6_family = AF_INET6, .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    bool there = fd >= 0 && bind(fd, (struct sockaddr *)&own, sizeof(own)) == 0;
    if (fd >= 0)
        close(fd);
    if (!there) {
        printf("no IPv6 here: not tested\n");
        return;
    }
    listen_on(hosts[_i]);
    snprintf(address, sizeof(address), "[::1]:%u", net_listener_port(listener));
    call_it();
    run_call();
    expect_met();
    ck_assert_str_eq(calling.meetings[0].address, address);
}
END_TEST

START_TEST(many_meet_one_listener)
{
    listen_on("127.0.0.1");
    for (unsigned i = 0; i < 6; i++) {
        of_caller.setup.own.host = i;
        call_it();
    }
    while (listening.met < 6 || calling.met < 6)
        turn();
    unsigned seen = 0;
    for (unsigned i = 0; i < 6; i++)
        seen |= 1u << listening.meetings[i].peer.host;
    ck_assert_uint_eq(seen, 63);
    ck_assert_uint_eq(calling.failed + listening.refused, 0);
}
END_TEST

START_TEST(handler_may_close_the_listener)
{
    listen_on("127.0.0.1");
    listening.close_on_met = listener;
    stranger();
    stranger();
    call_it();
    run_call();
    expect_met();
}
END_TEST

START_TEST(cancelled_call_says_nothing)
{
    listen_on("127.0.0.1");
    call_it();
    for (int i = 0; i < _i; i++)
        uv_run(&loop, UV_RUN_NOWAIT);
    if (calling.met == 0)
        net_call_cancel(call);
    net_listener_close(listener);
    listener = NULL;
    unsigned met = calling.met;
    ck_assert_int_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
    ck_assert_uint_eq(calling.met, met);
    ck_assert_uint_eq(calling.failed, 0);
}
END_TEST

/* ---- Several addresses -------------------------------------------------------------------- */

/* A port where nobody listens: it is bound as long as the descriptor lives. */
static int deaf_port(char *text)
{
    struct sockaddr_in own = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(own);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(bind(fd, (struct sockaddr *)&own, length), 0);
    ck_assert_int_eq(getsockname(fd, (struct sockaddr *)&own, &length), 0);
    snprintf(text, NET_ADDRESS_SIZE, "127.0.0.1:%u", ntohs(own.sin_port));
    strangers[stranger_count++] = fd;
    return fd;
}

START_TEST(refused_address_is_followed_by_the_next)
{
    char deaf[NET_ADDRESS_SIZE];
    of_caller.stagger_ms = 50000; /* it is not this that starts the next one */
    listen_on("127.0.0.1");
    deaf_port(deaf);
    const char *const addresses[] = {deaf, address};
    call_them(addresses, 2);
    run_call();
    expect_met();
}
END_TEST

START_TEST(silent_address_is_overtaken)
{
    char silent[NET_ADDRESS_SIZE];
    of_caller.stagger_ms = 20;
    listen_on("127.0.0.1");
    /* It takes connections, by its kernel, and says nothing. */
    ck_assert_int_eq(listen(deaf_port(silent), 5), 0);
    const char *const addresses[] = {silent, address, silent};
    call_them(addresses, 3);
    run_call();
    expect_met();
}
END_TEST

/* Both addresses lead to the listener at the same time: it must not see the caller twice. */
START_TEST(first_proof_wins_alone)
{
    of_caller.stagger_ms = 1;
    listen_on("127.0.0.1");
    const char *const addresses[] = {address, address, address, address};
    call_them(addresses, 4);
    while (calling.met == 0)
        turn();
    while (net_listener_unproved(listener) > 0)
        turn();
    expect_met();
}
END_TEST

START_TEST(every_address_is_named_with_its_failure)
{
    char deaf[NET_ADDRESS_SIZE], silent[NET_ADDRESS_SIZE], text[200];
    of_caller.handshake_ms = 200;
    of_caller.setup.key = other_key;
    listen_on("127.0.0.1");
    deaf_port(deaf);
    ck_assert_int_eq(listen(deaf_port(silent), 5), 0);
    const char *const addresses[] = {deaf, silent, address, "0.0.0.1:1"};
    call_them(addresses, 4);
    while (calling.failed == 0)
        turn();
    ck_assert_uint_eq(calling.met, 0);
    snprintf(text, sizeof(text), "%s: Connection refused", deaf);
    expect_text(&calling, text);
    snprintf(text, sizeof(text), "%s: 0.2 s passed without an answer", silent);
    expect_text(&calling, text);
    snprintf(text, sizeof(text), "%s: it closed the connection without an answer", address);
    expect_text(&calling, text);
    expect_text(&calling, "0.0.0.1:1: ");
    ck_assert_uint_eq(listening.met, 0);
    ck_assert_uint_eq(listening.refused_proved, 0);
}
END_TEST

START_TEST(a_call_has_a_deadline)
{
    char silent[NET_ADDRESS_SIZE], text[200];
    of_caller.call_ms = 100;
    of_caller.stagger_ms = 50000;
    listen_on("127.0.0.1");
    ck_assert_int_eq(listen(deaf_port(silent), 5), 0);
    const char *const addresses[] = {silent, address};
    call_them(addresses, 2);
    while (calling.failed == 0)
        turn();
    snprintf(text, sizeof(text), "%s: no answer within 0.1 s; %s: no answer within 0.1 s", silent,
             address);
    ck_assert_str_eq(calling.text, text);
}
END_TEST

START_TEST(bad_addresses_are_refused)
{
    static const char *const bad[] = {
        "",
        "127.0.0.1",
        "127.0.0.1:",
        "127.0.0.1:0",
        "127.0.0.1:65536",
        "127.0.0.1:-1",
        "127.0.0.1: 1",
        "127.0.0.1:1x",
        "localhost:1",
        "::1:1",
        "[::1:1",
        "::1]:1",
        "[::1]1",
        "[127.0.0.1]:1",
        "[]:1",
        ":1",
        "]:1",
        "[",
        "127.1:1",
        "[::1]:99999999999999999999",
        "11111111111111111111111111111111111111111111111111111111111111111:1"};
    const char *const addresses[] = {"127.0.0.1:1", bad[_i]};
    ck_assert_int_eq(net_call(&loop, addresses, 2, &of_caller, &meeter, &calling, &call), -EINVAL);
    ck_assert_int_eq(net_call(&loop, addresses, 0, &of_caller, &meeter, &calling, &call), -EINVAL);
    ck_assert_int_eq(
        net_listen(&loop, "localhost", 0, &of_listener, &meeter, &listening, &listener), -EINVAL);
}
END_TEST

START_TEST(an_address_in_use_is_refused)
{
    struct net_listener *second = NULL;
    listen_on("127.0.0.1");
    ck_assert_int_eq(net_listen(&loop, "127.0.0.1", net_listener_port(listener), &of_listener,
                                &meeter, &listening, &second),
                     -EADDRINUSE);
    ck_assert_ptr_null(second);
}
END_TEST

/* ---- The wrong ones ----------------------------------------------------------------------- */

/* Agents of two jobs, one of which has the other's address. */
START_TEST(two_jobs_do_not_meet)
{
    of_caller.setup.key = other_key;
    memcpy(of_caller.setup.job, "b job", 5);
    listen_on("127.0.0.1");
    call_it();
    run_call();
    ck_assert_uint_eq(calling.failed, 1);
    ck_assert_uint_eq(listening.met, 0);
    ck_assert_uint_eq(listening.refused, 1);
    ck_assert_uint_eq(listening.refused_proved, 0);
    expect_text(&listening, "it does not know the key of this job");
    expect_text(&calling, "may not belong to this job");
}
END_TEST

START_TEST(versions_are_told_to_both)
{
    of_caller.setup.version = 99;
    listen_on("127.0.0.1");
    call_it();
    run_call();
    ck_assert_uint_eq(calling.failed, 1);
    ck_assert_uint_eq(listening.refused_proved, 1);
    expect_text(&listening, "it speaks version 99 of the protocol");
    expect_text(&calling, "this bspzero version 99");
}
END_TEST

START_TEST(another_host_is_passed_by)
{
    struct net_listener *other;
    struct net_meet_options of_other = of_listener;
    char addresses_text[2][NET_ADDRESS_SIZE];
    of_other.setup.own.host = 7;
    of_caller.stagger_ms = 50000;
    listen_on("127.0.0.1");
    ck_assert_int_eq(net_listen(&loop, "127.0.0.1", 0, &of_other, &meeter, &listening, &other), 0);
    snprintf(addresses_text[0], NET_ADDRESS_SIZE, "127.0.0.1:%u", net_listener_port(other));
    snprintf(addresses_text[1], NET_ADDRESS_SIZE, "%s", address);
    const char *const addresses[] = {addresses_text[0], addresses_text[1]};
    call_them(addresses, 2);
    run_call();
    expect_met();
    ck_assert_uint_eq(listening.refused_proved, 1);
    net_listener_close(other);
}
END_TEST

/* ---- Strangers at the door ---------------------------------------------------------------- */

START_TEST(a_port_scan_gets_nothing)
{
    listen_on("127.0.0.1");
    for (unsigned i = 0; i < 20; i++)
        close(stranger());
    stranger_count = 0;
    while (listening.refused < 20)
        turn();
    ck_assert_uint_eq(listening.refused_proved, 0);
    ck_assert_uint_eq(net_listener_unproved(listener), 0);
    call_it();
    run_call();
    expect_met();
}
END_TEST

START_TEST(garbage_is_hung_up_on)
{
    unsigned char garbage[4096];
    memset(garbage, 'G', sizeof(garbage));
    if (_i > 0)
        memcpy(garbage, "bspzero\xb5", 8);
    listen_on("127.0.0.1");
    int fd = stranger();
    write_all(fd, garbage, sizeof(garbage));
    expect_hang_up(fd);
    ck_assert_uint_eq(listening.refused, 1);
    ck_assert_uint_eq(listening.refused_proved, 0);
}
END_TEST

START_TEST(the_slow_are_hung_up_on)
{
    of_listener.handshake_ms = 100;
    listen_on("127.0.0.1");
    int fd = stranger();
    if (_i > 0)
        write_all(fd, "bspzero\xb5", (size_t)_i);
    expect_hang_up(fd);
    ck_assert_uint_eq(listening.refused, 1);
    expect_text(&listening, "0.1 s passed during the handshake");
}
END_TEST

/* All places are taken by those who only begin, and go on coming. */
START_TEST(an_honest_peer_gets_in_beside_slow_ones)
{
    of_listener.unproved_max = 8;
    listen_on("127.0.0.1");
    for (unsigned i = 0; i < 20; i++)
        write_all(stranger(), "bspzero", 7);
    while (net_listener_unproved(listener) + listening.refused < 20)
        turn();
    ck_assert_uint_eq(net_listener_unproved(listener), 8);
    ck_assert_uint_eq(listening.refused, 12);
    expect_text(&listening, "too many connections that prove nothing");
    call_it();
    while (calling.met + calling.failed == 0) {
        if (stranger_count < STRANGERS_MAX)
            write_all(stranger(), "bspzero", 7);
        uv_run(&loop, UV_RUN_NOWAIT);
    }
    while (listening.met == 0)
        turn();
    expect_met();
    ck_assert_uint_le(net_listener_unproved(listener), 8);
}
END_TEST

/* One that has shown the key keeps its place, however many come behind it. */
START_TEST(a_hello_keeps_its_place)
{
    struct handshake handshake;
    unsigned char random[HANDSHAKE_RANDOM] = "random";
    const unsigned char *bytes;
    of_listener.unproved_max = 4;
    of_caller.setup.version = 1;
    of_listener.setup.version = 1;
    listen_on("127.0.0.1");
    handshake_call(&handshake, &of_caller.setup, random);
    int fd = stranger();
    size_t size = handshake_output(&handshake, &bytes);
    write_all(fd, bytes, size);
    handshake_sent(&handshake, size);
    unsigned char reply[HANDSHAKE_REPLY];
    ssize_t count;
    fcntl(fd, F_SETFL, O_NONBLOCK);
    while ((count = read(fd, reply, sizeof(reply))) < 0 && errno == EAGAIN)
        turn();
    ck_assert_int_eq(count, sizeof(reply));
    for (unsigned i = 0; i < 30; i++)
        stranger();
    while (listening.refused < 27)
        turn();
    handshake_take(&handshake, reply, sizeof(reply));
    size = handshake_output(&handshake, &bytes);
    write_all(fd, bytes, size);
    while (listening.met == 0)
        turn();
    ck_assert_uint_eq(listening.meetings[0].peer.host, 3);
}
END_TEST

START_TEST(a_replayed_caller_does_not_get_in)
{
    struct handshake first, second;
    unsigned char random[HANDSHAKE_RANDOM] = "random", reply[HANDSHAKE_REPLY];
    unsigned char said[HANDSHAKE_HELLO + HANDSHAKE_CONFIRM];
    const unsigned char *bytes;
    of_caller.setup.version = of_listener.setup.version = 1;
    handshake_call(&first, &of_caller.setup, random);
    handshake_listen(&second, &of_listener.setup, random);
    handshake_output(&first, &bytes);
    memcpy(said, bytes, HANDSHAKE_HELLO);
    handshake_sent(&first, HANDSHAKE_HELLO);
    handshake_take(&second, said, HANDSHAKE_HELLO);
    handshake_output(&second, &bytes);
    memcpy(reply, bytes, sizeof(reply));
    handshake_take(&first, reply, sizeof(reply));
    handshake_output(&first, &bytes);
    memcpy(said + HANDSHAKE_HELLO, bytes, HANDSHAKE_CONFIRM);

    listen_on("127.0.0.1");
    write_all(stranger(), said, sizeof(said));
    while (listening.refused == 0)
        turn();
    ck_assert_uint_eq(listening.met, 0);
    ck_assert_uint_eq(listening.refused_proved, 0);
    expect_text(&listening, "it does not know the key of this job");
}
END_TEST

static void on_time(uv_timer_t *timer)
{
    *(bool *)timer->data = true;
}

/* No descriptor is left for a while: it neither spins nor stops taking connections for good. */
START_TEST(a_shortage_of_descriptors_passes)
{
    struct rlimit limit, none;
    uv_timer_t timer;
    bool over = false;
    unsigned turns = 0;
    listen_on("127.0.0.1");
    stranger();
    uv_timer_init(&loop, &timer);
    timer.data = &over;
    uv_timer_start(&timer, on_time, 300, 0);
    getrlimit(RLIMIT_NOFILE, &limit);
    none = (struct rlimit){3, limit.rlim_max};
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    do {
        turn();
        turns++;
    } while (!*(volatile bool *)&over);
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    ck_assert_uint_eq(net_listener_unproved(listener), 0);
    ck_assert_uint_lt(turns, 30);
    uv_close((uv_handle_t *)&timer, NULL);
    while (net_listener_unproved(listener) == 0)
        turn();
    call_it();
    run_call();
    expect_met();
}
END_TEST

/* ---- Addresses ---------------------------------------------------------------------------- */

START_TEST(addresses_read_as_they_are_written)
{
    static const char *const texts[] = {"1.2.3.4:5", "255.255.255.255:65535", "[::1]:1",
                                        "[2001:db8::1]:4711", "[fe80::1:2:3:4]:80"};
    struct sockaddr_storage parsed;
    char text[NET_ADDRESS_SIZE];
    ck_assert_int_eq(net_address_parse(texts[_i], &parsed), 0);
    net_address_text(&parsed, text);
    ck_assert_str_eq(text, texts[_i]);
}
END_TEST

START_TEST(mapped_address_reads_as_ipv4)
{
    struct sockaddr_storage parsed;
    char text[NET_ADDRESS_SIZE];
    ck_assert_int_eq(net_address_parse("[::ffff:10.1.2.3]:9", &parsed), 0);
    net_address_text(&parsed, text);
    ck_assert_str_eq(text, "10.1.2.3:9");
}
END_TEST

START_TEST(own_addresses_are_usable)
{
    char texts[NET_ADDRESSES_MAX][NET_ADDRESS_SIZE];
    struct sockaddr_storage parsed;
    int with = net_own_addresses(4711, true, texts, NET_ADDRESSES_MAX);
    ck_assert_int_ge(with, 1);
    bool loopback = false;
    for (int i = 0; i < with; i++) {
        ck_assert_msg(net_address_parse(texts[i], &parsed) == 0, "%s", texts[i]);
        bool is_loopback = strncmp(texts[i], "127.", 4) == 0 || strncmp(texts[i], "[::1]", 5) == 0;
        ck_assert_msg(is_loopback || !loopback, "%s comes behind loopback", texts[i]);
        loopback |= is_loopback;
        ck_assert_ptr_null(strstr(texts[i], "[fe80"));
        ck_assert_ptr_nonnull(strstr(texts[i], ":4711"));
    }
    ck_assert(loopback);
    int without = net_own_addresses(4711, false, texts, NET_ADDRESSES_MAX);
    ck_assert_int_ge(without, 0);
    ck_assert_int_lt(without, with);
    for (int i = 0; i < without; i++)
        ck_assert_int_ne(strncmp(texts[i], "127.", 4), 0);
    ck_assert_int_eq(net_own_addresses(4711, true, texts, 1), 1);
}
END_TEST

struct looked_up {
    unsigned calls, count;
    char first[NET_ADDRESS_SIZE];
    char error[200];
};

static void on_found(void *context, const char *const *addresses, unsigned count, const char *error)
{
    struct looked_up *looked_up = context;
    looked_up->calls++;
    looked_up->count = count;
    snprintf(looked_up->first, NET_ADDRESS_SIZE, "%s", count > 0 ? addresses[0] : "");
    snprintf(looked_up->error, sizeof(looked_up->error), "%s", error ? error : "");
}

START_TEST(names_are_looked_up)
{
    struct looked_up good = {0}, bad = {0}, cancelled = {0};
    struct net_lookup *lookup;
    ck_assert_int_eq(net_lookup(&loop, "127.0.0.1", 12, on_found, &good, &lookup), 0);
    ck_assert_int_eq(net_lookup(&loop, "no..such..name", 12, on_found, &bad, &lookup), 0);
    ck_assert_int_eq(net_lookup(&loop, "127.0.0.1", 12, on_found, &cancelled, &lookup), 0);
    net_lookup_cancel(lookup);
    ck_assert_int_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
    ck_assert_uint_eq(good.calls, 1);
    ck_assert_uint_eq(good.count, 1);
    ck_assert_str_eq(good.first, "127.0.0.1:12");
    ck_assert_uint_eq(bad.calls, 1);
    ck_assert_uint_eq(bad.count, 0);
    ck_assert_str_ne(bad.error, "");
    ck_assert_uint_eq(cancelled.calls, 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("meet");
    TCase *tests = tcase_create("meet");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_loop_test(tests, two_meet, 0, 2);
    tcase_add_loop_test(tests, two_meet_over_ipv6, 0, 2);
    tcase_add_test(tests, many_meet_one_listener);
    tcase_add_test(tests, handler_may_close_the_listener);
    tcase_add_loop_test(tests, cancelled_call_says_nothing, 0, 8);
    tcase_add_test(tests, refused_address_is_followed_by_the_next);
    tcase_add_test(tests, silent_address_is_overtaken);
    tcase_add_test(tests, first_proof_wins_alone);
    tcase_add_test(tests, every_address_is_named_with_its_failure);
    tcase_add_test(tests, a_call_has_a_deadline);
    tcase_add_loop_test(tests, bad_addresses_are_refused, 0, 21);
    tcase_add_test(tests, an_address_in_use_is_refused);
    tcase_add_test(tests, two_jobs_do_not_meet);
    tcase_add_test(tests, versions_are_told_to_both);
    tcase_add_test(tests, another_host_is_passed_by);
    tcase_add_test(tests, a_port_scan_gets_nothing);
    tcase_add_loop_test(tests, garbage_is_hung_up_on, 0, 2);
    tcase_add_loop_test(tests, the_slow_are_hung_up_on, 0, 3);
    tcase_add_test(tests, an_honest_peer_gets_in_beside_slow_ones);
    tcase_add_test(tests, a_hello_keeps_its_place);
    tcase_add_test(tests, a_replayed_caller_does_not_get_in);
    tcase_add_test(tests, a_shortage_of_descriptors_passes);
    tcase_add_loop_test(tests, addresses_read_as_they_are_written, 0, 5);
    tcase_add_test(tests, mapped_address_reads_as_ipv4);
    tcase_add_test(tests, own_addresses_are_usable);
    tcase_add_test(tests, names_are_looked_up);
    suite_add_tcase(suite, tests);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
