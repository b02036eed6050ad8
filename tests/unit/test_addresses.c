/* test_addresses.c - network addresses: as text, of this machine. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/net/meet.h"
#include "tests/unit/suite.h"

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

int main(void)
{
    Suite *suite = suite_create("addresses");
    TCase *tests = tcase_create("addresses");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, addresses_read_as_they_are_written, 0, 5);
    tcase_add_test(tests, mapped_address_reads_as_ipv4);
    tcase_add_test(tests, own_addresses_are_usable);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
