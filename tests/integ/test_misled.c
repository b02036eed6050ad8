/* test_misled.c - an agent that bsprun tells what is for Processor Zero, which another host has.
 * This test is bsprun, and the other host: a listener that never says a word.  Or that it tells
 * more than it can do. */
#include <arpa/inet.h>
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/wire/wire.h"
#include "tests/unit/suite.h"

static const unsigned char job[WIRE_JOB_SIZE] = "misled", key[WIRE_KEY_MAX] = "a key";
static int agent_fd = -1, other = -1;
static pid_t agent;

static void set_up(void)
{
    char path[4096], number[16];
    int ends[2];

    snprintf(path, sizeof path, "%s/bspnode", getenv("INTEG_BIN"));
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    snprintf(number, sizeof number, "%d", ends[1]);
    agent = fork();
    ck_assert_int_ge(agent, 0);
    if (agent == 0) {
        close(ends[0]);
        execl(path, path, "--fd", number, "--join", NULL);
        _exit(127);
    }
    close(ends[1]);
    agent_fd = ends[0];
}

static void tear_down(void)
{
    close(agent_fd);
    close(other);
    if (agent > 0) {
        kill(agent, SIGKILL);
        waitpid(agent, NULL, 0);
    }
    agent = 0;
}

/* Where the other host listens. */
static void listen_there(char *address, size_t size)
{
    struct sockaddr_in name = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof name;

    other = socket(AF_INET, SOCK_STREAM, 0);
    ck_assert_int_eq(bind(other, (struct sockaddr *)&name, sizeof name), 0);
    ck_assert_int_eq(listen(other, 8), 0);
    ck_assert_int_eq(getsockname(other, (struct sockaddr *)&name, &length), 0);
    snprintf(address, size, "127.0.0.1:%u", (unsigned)ntohs(name.sin_port));
}

static void say(struct bspz_buffer *buffer, struct wire_message message)
{
    char error[WIRE_ERROR_SIZE] = "";

    memcpy(message.envelope.job, job, WIRE_JOB_SIZE);
    ck_assert_msg(wire_encode(&message, buffer, error, sizeof error) == 0, "%s", error);
}

static void read_all(void *bytes, size_t size)
{
    for (size_t done = 0; done < size;) {
        ssize_t got = read(agent_fd, (char *)bytes + done, size - done);

        ck_assert_msg(got > 0, "the agent is gone");
        done += (size_t)got;
    }
}

/* What the agent says up to a message of that kind. */
static void hear(enum wire_kind wanted)
{
    static unsigned char body[WIRE_FRAME_MAX];
    enum wire_kind kind;

    do {
        unsigned char header[WIRE_HEADER];
        struct wire_message message;
        uint32_t size;

        read_all(header, sizeof header);
        size = wire_frame_length(header);
        ck_assert_uint_le(size, sizeof body);
        read_all(body, size);
        ck_assert_int_eq(wire_decode(body, size, &message, NULL, 0), 0);
        kind = message.kind;
        wire_message_free(&message);
    } while (kind != wanted);
}

static struct wire_message elect(const struct wire_host *hosts, const char *const *addresses)
{
    struct wire_message message = {.kind = WIRE_ELECT, .envelope.term = 1};

    message.elect.elected = 1;
    message.elect.hosts = (struct wire_host_list){hosts, 2};
    message.elect.addresses = (struct wire_texts){addresses, 2};
    return message;
}

static struct wire_message save(bool stop)
{
    return (struct wire_message){
        .kind = WIRE_SAVE, .envelope.term = 1, .save = {.stop = stop, .signal = SIGTERM}};
}

/* It is asked for a snapshot, and for one before the end. */
START_TEST(to_save_without_processor_zero)
{
    static const struct wire_host hosts[] = {{0, 1, "here"}, {1, 1, "there"}};
    const char *addresses[2] = {"", NULL};
    char address[32];
    struct bspz_buffer buffer = {0};
    struct wire_message join = {.kind = WIRE_JOIN};

    listen_there(address, sizeof address);
    addresses[1] = address;
    join.join.key = (struct wire_bytes){key, sizeof key};
    join.join.hosts = (struct wire_host_list){hosts, 2};
    say(&buffer, join);
    say(&buffer,
        (struct wire_message){.kind = WIRE_START,
                              .start = {.cores = 1, .resume = true, .abort_at = WIRE_NEVER}});
    say(&buffer, elect(hosts, addresses));
    say(&buffer, save(false));
    say(&buffer, save(true));
    say(&buffer, (struct wire_message){.kind = WIRE_ALIVE});
    ck_assert_int_eq(write(agent_fd, buffer.data, buffer.size), (ssize_t)buffer.size);
    bspz_buffer_free(&buffer);
    hear(WIRE_HELLO);
    hear(WIRE_ALIVE);
}
END_TEST

/* It is told to leave, and then to start a program, which was on its way: it leaves. */
START_TEST(to_start_after_its_leave)
{
    static const struct wire_host hosts[] = {{0, 1, "here"}, {1, 1, "there"}};
    struct bspz_buffer buffer = {0};
    struct wire_message join = {.kind = WIRE_JOIN}, start = {.kind = WIRE_START};
    char byte;
    int status;

    join.join.key = (struct wire_bytes){key, sizeof key};
    join.join.hosts = (struct wire_host_list){hosts, 2};
    start.start.cores = 1;
    start.start.program = "/bin/sleep";
    start.start.arguments = (struct wire_texts){(const char *const[]){"1000"}, 1};
    start.start.abort_at = WIRE_NEVER;
    say(&buffer, join);
    say(&buffer, (struct wire_message){.kind = WIRE_EXIT});
    say(&buffer, start);
    ck_assert_int_eq(write(agent_fd, buffer.data, buffer.size), (ssize_t)buffer.size);
    bspz_buffer_free(&buffer);
    while (read(agent_fd, &byte, 1) > 0)
        ;
    ck_assert_int_eq(waitpid(agent, &status, 0), agent); /* or this waits in vain */
    agent = 0;
    ck_assert_int_eq(status, 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {to_save_without_processor_zero, to_start_after_its_leave};

    return suite_run_tests("misled", tests, sizeof tests / sizeof *tests, set_up, tear_down);
}
