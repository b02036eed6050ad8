/* test_secret.c - the job's key: its memory, and how JOIN brings it. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/net/secret.h"
#include "tests/unit/suite.h"

static const unsigned char zero[NET_KEY_SIZE];
static struct net_secret *secret;
static struct bspz_buffer frame;
static int fds[2];
static struct net_join_reader reader;
static struct wire_message received;
static struct net_secret *received_secret;
static char error[WIRE_ERROR_SIZE];

static const struct wire_host hosts[] = {{.host = 0, .slots = 2, .name = "Alpha.example.org"},
                                         {.host = 3, .slots = 4, .name = "beta.one"},
                                         {.host = 4, .slots = 4, .name = "beta.two"},
                                         {.host = 7, .slots = 1, .name = "10.0.0.1"}};
static const char *const addresses[] = {"10.0.0.1:4711", "[fd00::1]:4711"};

static struct wire_message join_message(void)
{
    struct wire_message message = {.kind = WIRE_JOIN, .envelope = {.job = "the job"}};
    message.join.host = WIRE_HOSTS_MAX;
    message.join.hosts.items = hosts;
    message.join.hosts.count = 4;
    message.join.incarnation = 5;
    message.join.addresses.items = addresses;
    message.join.addresses.count = 2;
    message.join.first_port = 4000;
    message.join.last_port = 65535;
    message.join.heartbeat_ms = 10000;
    message.join.encrypt = true;
    return message;
}

static void set_up(void)
{
    secret = net_secret_make();
    ck_assert_ptr_nonnull(secret);
    struct wire_message message = join_message();
    ck_assert_int_eq(net_join_encode(&message, secret, &frame, error, sizeof(error)), 0);
    ck_assert_int_eq(pipe2(fds, O_CLOEXEC | O_NONBLOCK), 0);
}

static void tear_down(void)
{
    net_join_reader_wipe(&reader);
    net_secret_wipe_buffer(&frame);
    wire_message_free(&received);
    net_secret_free(received_secret);
    net_secret_free(secret);
    close(fds[0]);
    close(fds[1]);
}

static int read_on(void)
{
    return net_join_read(&reader, fds[0], &received, &received_secret, error, sizeof(error));
}

static void put(const void *bytes, size_t size)
{
    ck_assert_int_eq(write(fds[1], bytes, size), (ssize_t)size);
}

static void expect_error(int result, const char *text)
{
    ck_assert_int_eq(result, -EPROTO);
    ck_assert_msg(strstr(error, text) != NULL, "\"%s\" is not in \"%s\"", text, error);
    ck_assert_ptr_null(received_secret);
    ck_assert_ptr_null(reader.bytes);
}

/* ---- The key ------------------------------------------------------------------------------ */

START_TEST(keys_differ)
{
    struct net_secret *second = net_secret_make();
    ck_assert_mem_ne(net_secret_key(secret), zero, NET_KEY_SIZE);
    ck_assert_mem_ne(net_secret_key(secret), net_secret_key(second), NET_KEY_SIZE);
    struct net_secret *third = net_secret_of(net_secret_key(second));
    ck_assert_mem_eq(net_secret_key(third), net_secret_key(second), NET_KEY_SIZE);
    net_secret_free(second);
    net_secret_free(third);
    net_secret_free(NULL);
}
END_TEST

START_TEST(forked_processes_see_no_key)
{
    pid_t child = fork();
    if (child == 0)
        _exit(memcmp(net_secret_key(secret), zero, NET_KEY_SIZE) == 0 ? 0 : 1);
    int status;
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    ck_assert_int_eq(status, 0);
    ck_assert_mem_ne(net_secret_key(secret), zero, NET_KEY_SIZE);
}
END_TEST

/* The mapping that holds the key is left out of core dumps. */
START_TEST(core_dumps_have_no_key)
{
    FILE *maps = fopen("/proc/self/smaps", "r");
    char line[512];
    bool here = false, found = false;
    while (fgets(line, sizeof(line), maps)) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2)
            here =
                (uintptr_t)net_secret_key(secret) >= from && (uintptr_t)net_secret_key(secret) < to;
        if (here && strncmp(line, "VmFlags:", 8) == 0) {
            found = true;
            ck_assert_msg(strstr(line, " dd") != NULL, "%s", line);
            ck_assert_msg(strstr(line, " wf") != NULL, "%s", line);
        }
    }
    fclose(maps);
    ck_assert(found);
}
END_TEST

/* ---- JOIN --------------------------------------------------------------------------------- */

static void expect_join(void)
{
    ck_assert_ptr_nonnull(received_secret);
    ck_assert_mem_eq(net_secret_key(received_secret), net_secret_key(secret), NET_KEY_SIZE);
    ck_assert_uint_eq(received.join.key.size, 0);
    ck_assert_str_eq((const char *)received.envelope.job, "the job");
    ck_assert_uint_eq(received.join.incarnation, 5);
    ck_assert_uint_eq(received.join.hosts.count, 4);
    ck_assert_str_eq(received.join.hosts.items[1].name, "beta.one");
    ck_assert_uint_eq(received.join.addresses.count, 2);
    ck_assert_str_eq(received.join.addresses.items[1], "[fd00::1]:4711");
    ck_assert_uint_eq(received.join.first_port, 4000);
    ck_assert_uint_eq(received.join.last_port, 65535);
    ck_assert_uint_eq(received.join.heartbeat_ms, 10000);
    ck_assert(received.join.encrypt);
    ck_assert_ptr_null(reader.bytes);
}

START_TEST(join_arrives_in_pieces)
{
    for (size_t i = 0; i < frame.size; i++) {
        ck_assert_int_eq(read_on(), 0);
        put(frame.data + i, 1);
        if (i + 1 < frame.size)
            ck_assert_int_eq(read_on(), 0);
    }
    ck_assert_int_eq(read_on(), 1);
    expect_join();
}
END_TEST

START_TEST(what_follows_is_left)
{
    char byte;
    put(frame.data, frame.size);
    put("x", 1);
    ck_assert_int_eq(read_on(), 0);
    ck_assert_int_eq(read_on(), 1);
    expect_join();
    ck_assert_int_eq(read(fds[0], &byte, 1), 1);
    ck_assert_int_eq(byte, 'x');
}
END_TEST

/* Of a descriptor that blocks, as stdin may. */
START_TEST(join_is_waited_for)
{
    ck_assert_int_eq(fcntl(fds[0], F_SETFL, 0), 0);
    pid_t child = fork();
    if (child == 0) {
        for (size_t i = 0; i < frame.size; i++)
            if (write(fds[1], frame.data + i, 1) != 1)
                _exit(1);
        _exit(0);
    }
    ck_assert_int_eq(
        net_join_wait(fds[0], 60000, &received, &received_secret, error, sizeof(error)), 1);
    expect_join();
    ck_assert_int_eq(waitpid(child, NULL, 0), child);
}
END_TEST

START_TEST(waiting_has_an_end)
{
    ck_assert_int_eq(fcntl(fds[0], F_SETFL, 0), 0);
    put(frame.data, _i == 0 ? 3 : frame.size - 1);
    ck_assert_int_eq(net_join_wait(fds[0], 50, &received, &received_secret, error, sizeof(error)),
                     -ETIMEDOUT);
    ck_assert_str_eq(error, "nothing to join has come within 0.05 s");
    ck_assert_ptr_null(received_secret);
}
END_TEST

START_TEST(early_end_is_told)
{
    static const size_t parts[] = {0, 2, 4, 50};
    put(frame.data, parts[_i]);
    close(fds[1]);
    int result;
    while ((result = read_on()) == 0)
        ;
    expect_error(result, "the input ends before what to join has come");
    fds[1] = dup(fds[0]);
}
END_TEST

START_TEST(garbage_is_told)
{
    put(_i == 0 ? "hello world, this is no JOIN" : "\0\0\0\0 this neither", 16);
    int result;
    while ((result = read_on()) == 0)
        ;
    expect_error(result, "the input is not what bsprun sends an agent");
}
END_TEST

START_TEST(longest_frame_is_bounded)
{
    uint32_t length = NET_JOIN_MAX - WIRE_HEADER + 1;
    unsigned char header[WIRE_HEADER];
    for (unsigned i = 0; i < WIRE_HEADER; i++)
        header[i] = (unsigned char)(length >> (8 * i));
    put(header, sizeof(header));
    expect_error(read_on(), "the input is not what bsprun sends an agent");
    header[0]--;
    put(header, sizeof(header));
    ck_assert_int_eq(read_on(), 0);
}
END_TEST

START_TEST(another_message_is_told)
{
    struct wire_message message = {.kind = WIRE_QUERY_STATUS};
    struct bspz_buffer other = {0};
    ck_assert_int_eq(wire_encode(&message, &other, NULL, 0), 0);
    put(other.data, other.size);
    bspz_buffer_free(&other);
    ck_assert_int_eq(read_on(), 0);
    expect_error(read_on(), "QUERY_STATUS instead of JOIN");
}
END_TEST

START_TEST(a_short_key_is_told)
{
    struct wire_message message = join_message();
    struct bspz_buffer other = {0};
    message.join.key = (struct wire_bytes){"short", 5};
    ck_assert_int_eq(wire_encode(&message, &other, NULL, 0), 0);
    put(other.data, other.size);
    bspz_buffer_free(&other);
    ck_assert_int_eq(read_on(), 0);
    expect_error(read_on(), "a key of 5 bytes");
}
END_TEST

START_TEST(bad_join_is_not_sent)
{
    struct wire_message message = join_message();
    struct bspz_buffer other = {0};
    message.join.host = WIRE_HOSTS_MAX + 1;
    ck_assert_int_eq(net_join_encode(&message, secret, &other, error, sizeof(error)), -EINVAL);
    ck_assert_ptr_null(other.data);
    ck_assert_str_ne(error, "");
}
END_TEST

/* The most hosts with the longest names still fit. */
START_TEST(the_largest_job_fits)
{
    struct wire_host *many = calloc(WIRE_HOSTS_MAX, sizeof(*many));
    char name[WIRE_NAME_MAX + 1];
    memset(name, 'n', sizeof(name) - 1);
    name[WIRE_NAME_MAX] = '\0';
    for (unsigned i = 0; i < WIRE_HOSTS_MAX; i++)
        many[i] = (struct wire_host){.host = i, .slots = WIRE_SLOTS_MAX, .name = name};
    struct wire_message message = join_message();
    struct bspz_buffer other = {0};
    message.join.hosts.items = many;
    message.join.hosts.count = WIRE_HOSTS_MAX;
    ck_assert_int_eq(net_join_encode(&message, secret, &other, error, sizeof(error)), 0);
    ck_assert_uint_le(other.size, NET_JOIN_MAX);
    net_secret_wipe_buffer(&other);
    ck_assert_ptr_null(other.data);
    free(many);
}
END_TEST

START_TEST(hosts_find_themselves)
{
    static const struct {
        const char *name;
        int64_t host;
    } cases[] = {
        {"alpha.example.org", 0},
        {"ALPHA.EXAMPLE.ORG", 0},
        {"alpha", 0},
        {"alpha.elsewhere", 0},
        {"beta.one", 3},
        {"beta.two", 4},
        {"beta", -ENOENT},
        {"", -ENOENT},
        {"gamma", -ENOENT},
        {"alph", -ENOENT},
        {".org", -ENOENT},
        {"10.0.0.1", 7},
    };
    struct wire_message message = join_message();
    for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        ck_assert_msg(net_join_host(&message.join, cases[i].name) == cases[i].host, "%s",
                      cases[i].name);
    message.join.host = 9;
    ck_assert_int_eq(net_join_host(&message.join, "alpha"), 9);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("secret");
    TCase *tests = tcase_create("secret");
    tcase_set_timeout(tests, 60);
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, keys_differ);
    tcase_add_test(tests, forked_processes_see_no_key);
    tcase_add_test(tests, core_dumps_have_no_key);
    tcase_add_test(tests, join_arrives_in_pieces);
    tcase_add_test(tests, what_follows_is_left);
    tcase_add_test(tests, join_is_waited_for);
    tcase_add_loop_test(tests, waiting_has_an_end, 0, 2);
    tcase_add_loop_test(tests, early_end_is_told, 0, 4);
    tcase_add_loop_test(tests, garbage_is_told, 0, 2);
    tcase_add_test(tests, longest_frame_is_bounded);
    tcase_add_test(tests, another_message_is_told);
    tcase_add_test(tests, a_short_key_is_told);
    tcase_add_test(tests, bad_join_is_not_sent);
    tcase_add_test(tests, the_largest_job_fits);
    tcase_add_test(tests, hosts_find_themselves);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
