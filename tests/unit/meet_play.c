/* meet_play.c - see meet_play.h. */
#include "tests/unit/meet_play.h"

#include <arpa/inet.h>
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

const unsigned char key[NET_KEY_SIZE] = "the key of this job, 32 bytes..";
const unsigned char other_key[NET_KEY_SIZE] = "the key of this job, 32 bytes.!";
struct net_meet_options of_listener, of_caller;
struct side listening, calling;
struct net_listener *listener;
struct net_call *call;
char address[NET_ADDRESS_SIZE]; /* of the listener */
int strangers[STRANGERS_MAX];
unsigned stranger_count;

void meet_set_up(void)
{
    loop_set_up();
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

void meet_tear_down(void)
{
    struct side *sides[] = {&listening, &calling};
    net_listener_close(listener);
    for (unsigned i = 0; i < stranger_count; i++)
        close(strangers[i]);
    for (unsigned i = 0; i < 2; i++)
        for (unsigned k = 0; k < sides[i]->met; k++)
            close(sides[i]->meetings[k].fd);
    loop_tear_down();
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

const struct net_meeter meeter = {on_met, on_refused, on_failed};

void listen_on(const char *host)
{
    ck_assert_int_eq(net_listen(&loop, host, 0, &of_listener, &meeter, &listening, &listener), 0);
    ck_assert_uint_ne(net_listener_port(listener), 0);
    snprintf(address, sizeof(address), "127.0.0.1:%u", net_listener_port(listener));
}

void call_them(const char *const *addresses, unsigned count)
{
    ck_assert_int_eq(net_call(&loop, addresses, count, &of_caller, &meeter, &calling, &call), 0);
}

void call_it(void)
{
    const char *const addresses[] = {address};
    call_them(addresses, 1);
}

/* Until the call is over, and the listener, too, knows that they have met. */
void run_call(void)
{
    while (calling.met + calling.failed == 0)
        turn();
    while (calling.met > listening.met)
        turn();
}

void expect_text(const struct side *side, const char *text)
{
    ck_assert_msg(strstr(side->text, text) != NULL, "\"%s\" is not in \"%s\"", text, side->text);
}

/* ---- Strangers ---------------------------------------------------------------------------- */

int stranger(void)
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

void write_all(int fd, const void *bytes, size_t size)
{
    ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
}

/* The listener hangs up without having said a word. */
void expect_hang_up(int fd)
{
    char byte;
    ck_assert_int_eq(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    ssize_t count;
    while ((count = read(fd, &byte, 1)) < 0 && errno == EAGAIN)
        turn();
    ck_assert_int_le(count, 0);
}

/* A port where nobody listens: it is bound as long as the descriptor lives. */
int deaf_port(char *text)
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

void expect_met(void)
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
