/* test_meet.c - listeners and callers over loopback: who meets whom, by which of several addresses.
 */
#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/meet_play.h"
#include "tests/unit/suite.h"

/* ---- Meeting ------------------------------------------------------------------------------ */

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

/* That the peer is not on this host is no cause; a firewall that drops everything is one. */
START_TEST(the_blocked_address_is_named_first)
{
    char deaf[NET_ADDRESS_SIZE], silent[NET_ADDRESS_SIZE], text[200];
    of_caller.handshake_ms = 100;
    deaf_port(deaf);
    ck_assert_int_eq(listen(deaf_port(silent), 5), 0);
    const char *const addresses[] = {deaf, silent, "0.0.0.1:1"};
    call_them(addresses, 3);
    while (calling.failed == 0)
        turn();
    ck_assert_ptr_eq(strstr(calling.text, "0.0.0.1:1: "), calling.text);
    snprintf(text, sizeof(text), "%s: 0.1 s passed without an answer", silent);
    expect_text(&calling, text);
    ck_assert(strstr(calling.text, silent) < strstr(calling.text, deaf));
}
END_TEST

/* ---- Ports -------------------------------------------------------------------------------- */

START_TEST(listeners_share_a_range)
{
    struct net_listener *others[8];
    char text[200];
    unsigned taken, starts = 0;
    listen_on(NULL);
    taken = net_listener_port(listener);
    of_listener.ports = (struct net_ports){taken, taken};
    ck_assert_int_eq(net_listen(&loop, NULL, 0, &of_listener, &meeter, &listening, &others[0]),
                     -EADDRINUSE);
    net_listen_problem(-EADDRINUSE, of_listener.ports, text, sizeof(text));
    ck_assert_ptr_eq(strstr(text, "none of the ports "), text);
    of_listener.ports = taken > 60000 ? (struct net_ports){taken - 1000, taken}
                                      : (struct net_ports){taken, taken + 1000};
    for (unsigned i = 0; i < 8; i++) {
        unsigned port;
        ck_assert_int_eq(net_listen(&loop, NULL, 0, &of_listener, &meeter, &listening, &others[i]),
                         0);
        port = net_listener_port(others[i]);
        ck_assert(port >= of_listener.ports.first && port <= of_listener.ports.last);
        for (unsigned k = 0; k < i; k++)
            ck_assert_uint_ne(port, net_listener_port(others[k]));
        starts += i > 0 && port != net_listener_port(others[i - 1]) + 1u;
    }
    ck_assert_uint_gt(starts, 0); /* not one after the other */
    for (unsigned i = 0; i < 8; i++)
        net_listener_close(others[i]);
}
END_TEST

START_TEST(what_is_no_range_is_refused)
{
    static const struct net_ports bad[] = {{0, 9}, {5, 4}, {9, 0}, {65535, 65536}};
    of_listener.ports = bad[_i];
    ck_assert_int_eq(net_listen(&loop, NULL, 0, &of_listener, &meeter, &listening, &listener),
                     -EINVAL);
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

int main(void)
{
    Suite *suite = suite_create("meet");
    TCase *tests = tcase_create("meet");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, meet_set_up, meet_tear_down);
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
    tcase_add_test(tests, the_blocked_address_is_named_first);
    tcase_add_test(tests, listeners_share_a_range);
    tcase_add_loop_test(tests, what_is_no_range_is_refused, 0, 4);
    tcase_add_loop_test(tests, bad_addresses_are_refused, 0, 21);
    tcase_add_test(tests, an_address_in_use_is_refused);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
