/* test_strangers.c - who is not let in by a listener, and what those cost who prove nothing. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/unit/meet_play.h"
#include "tests/unit/suite.h"

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

int main(void)
{
    Suite *suite = suite_create("strangers");
    TCase *tests = tcase_create("strangers");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, meet_set_up, meet_tear_down);
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
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
