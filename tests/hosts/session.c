/* session.c - rsh: a command on another host, with its three streams and its status.
 *
 * As with ssh the words of the command are joined and read by a shell there, the environment is a
 * fresh one, a connection that breaks closes the command's streams and nothing else.
 */
#include "tests/hosts/farmhost.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum { POLLED_MOST = 4 };

static void add(struct pollfd *polled, int fd, short events)
{
    polled->fd = events ? fd : -1;
    polled->events = events;
    polled->revents = 0;
}

/* Sends what is there to be read; at the end of it the descriptor is closed and -1. */
static void forward(struct channel *channel, int *from, enum frame_kind kind)
{
    char bytes[FRAME_MOST];
    ssize_t n = read(*from, bytes, sizeof(bytes));
    if (n < 0 && (errno == EINTR || errno == EAGAIN))
        return;
    if (n > 0) {
        channel_send(channel, kind, bytes, (size_t)n);
        return;
    }
    if (kind == FRAME_INPUT)
        channel_send(channel, kind, NULL, 0);
    close(*from);
    *from = -1;
}

static bool readable(const struct pollfd *polled)
{
    return polled->fd >= 0 && (polled->revents & (POLLIN | POLLHUP | POLLERR));
}

/* ---- On the host --------------------------------------------------------------------------- */

struct session {
    struct channel channel;
    int in, out, err;  /* our ends of the command's streams; -1: closed */
    size_t input_done; /* bytes of the received frame that are in the pipe */
    pid_t command;
};

static _Noreturn void run_command(uid_t uid, gid_t gid, const char *text)
{
    static const char path[] = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    const struct passwd *user = getpwuid(uid);
    char *home = NULL, *name = NULL, *logname = NULL;
    if (asprintf(&home, "HOME=%s", user ? user->pw_dir : "/") < 0 ||
        asprintf(&name, "USER=%s", user ? user->pw_name : "nobody") < 0 ||
        asprintf(&logname, "LOGNAME=%s", user ? user->pw_name : "nobody") < 0)
        _exit(255);
    char *environment[] = {(char *)path, home, name, logname, (char *)"SHELL=/bin/sh", NULL};
    signal(SIGCHLD, SIG_DFL);
    signal(SIGPIPE, SIG_DFL);
    setsid();
    become(uid, gid);
    if (!user || chdir(user->pw_dir) != 0)
        (void)!chdir("/");
    execle("/bin/sh", "sh", "-c", text, (char *)NULL, environment);
    give_up("cannot run", "/bin/sh");
}

static void start_command(struct session *session)
{
    uint32_t ids[2];
    int in[2], out[2], err[2];
    struct channel *channel = &session->channel;
    if (channel->head.kind != FRAME_COMMAND || channel->head.size < sizeof(ids) ||
        channel->head.size == FRAME_MOST)
        exit(255);
    memcpy(ids, channel->data, sizeof(ids));
    channel->data[channel->head.size] = '\0';
    signal(SIGCHLD, SIG_DFL); /* its status is wanted here */
    if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0)
        give_up("cannot make", "pipes");
    session->command = fork();
    if (session->command == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        dup2(err[1], 2);
        run_command(ids[0], ids[1], channel->data + sizeof(ids));
    }
    close(in[0]);
    close(out[1]);
    close(err[1]);
    session->in = in[1];
    session->out = out[0];
    session->err = err[0];
    fcntl(session->in, F_SETFL, O_NONBLOCK);
    channel_taken(channel);
}

/* Hands the received input to the command. */
static void take_input(struct session *session)
{
    struct channel *channel = &session->channel;
    size_t left = channel->head.size - session->input_done;
    ssize_t n = 0;
    if (session->in >= 0 && left > 0) {
        n = write(session->in, channel->data + session->input_done, left);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
    }
    if (session->in >= 0 && (n < 0 || channel->head.size == 0)) {
        close(session->in);
        session->in = -1;
    }
    session->input_done += n > 0 ? (size_t)n : left;
    if (session->input_done == channel->head.size) {
        session->input_done = 0;
        channel_taken(channel);
    }
}

/* Waits for what can be done next and does it. */
static void relay(struct session *session)
{
    struct channel *channel = &session->channel;
    struct pollfd polled[POLLED_MOST];
    bool idle = channel_idle(channel), pending = channel_receive(channel);
    if (pending)
        take_input(session);
    pending = channel_receive(channel);
    add(&polled[0], channel->fd, (short)((pending ? 0 : POLLIN) | (idle ? 0 : POLLOUT)));
    add(&polled[1], session->in, pending && session->in >= 0 ? POLLOUT : 0);
    add(&polled[2], session->out, idle && session->out >= 0 ? POLLIN : 0);
    add(&polled[3], session->err, idle && session->err >= 0 ? POLLIN : 0);
    if (channel->ended || poll(polled, POLLED_MOST, -1) < 0)
        return;
    channel_flush(channel);
    if (readable(&polled[2]) && channel_idle(channel))
        forward(channel, &session->out, FRAME_OUTPUT);
    if (readable(&polled[3]) && channel_idle(channel))
        forward(channel, &session->err, FRAME_ERRORS);
}

void session_serve(int connection)
{
    static struct session session = {.in = -1, .out = -1, .err = -1};
    int status = 255 << 8, on = 1;
    prctl(PR_SET_NAME, "farm-session");
    signal(SIGPIPE, SIG_IGN);
    setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    channel_open(&session.channel, connection);
    struct pollfd request = {connection, POLLIN, 0};
    while (!channel_receive(&session.channel)) {
        if (session.channel.ended || poll(&request, 1, -1) < 0)
            exit(255);
    }
    start_command(&session);
    while (session.out >= 0 || session.err >= 0) {
        relay(&session);
        if (session.channel.ended)
            exit(255);
    }
    waitpid(session.command, &status, 0);
    struct pollfd sending = {connection, POLLOUT, 0};
    bool told = false;
    while (!session.channel.ended && !(told && channel_idle(&session.channel))) {
        if (channel_idle(&session.channel)) {
            channel_send(&session.channel, FRAME_STATUS, &status, sizeof(status));
            told = true;
        } else if (poll(&sending, 1, -1) > 0) {
            channel_flush(&session.channel);
        }
    }
    exit(0);
}

/* ---- rsh ----------------------------------------------------------------------------------- */

static int connect_to(const char *host)
{
    char port[16];
    struct addrinfo hints = {.ai_family = AF_INET, .ai_socktype = SOCK_STREAM}, *found;
    snprintf(port, sizeof(port), "%d", FARM_PORT);
    int wrong = getaddrinfo(host, port, &hints, &found);
    if (wrong != 0) {
        fprintf(stderr, "rsh: %s: %s\n", host, gai_strerror(wrong));
        exit(255);
    }
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (connect(fd, found->ai_addr, found->ai_addrlen) != 0) {
        fprintf(stderr, "rsh: %s: %s\n", host, strerror(errno));
        exit(255);
    }
    freeaddrinfo(found);
    return fd;
}

static void ask(struct channel *channel, int argc, char **argv)
{
    char request[FRAME_MOST - 1];
    uint32_t ids[2] = {geteuid(), getegid()};
    size_t size = sizeof(ids);
    memcpy(request, ids, sizeof(ids));
    for (int i = 0; i < argc; i++) {
        size_t length = strlen(argv[i]);
        if (size + length + 1 > sizeof(request)) {
            fprintf(stderr, "rsh: the command is too long\n");
            exit(255);
        }
        if (i > 0)
            request[size++] = ' ';
        memcpy(request + size, argv[i], length);
        size += length;
    }
    channel_send(channel, FRAME_COMMAND, request, size);
}

static void show(int fd, const char *bytes, size_t size)
{
    while (size > 0) {
        ssize_t n = write(fd, bytes, size);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            exit(255);
        bytes += n;
        size -= (size_t)n;
    }
}

int rsh_main(int argc, char **argv)
{
    static struct channel channel;
    if (argc < 2) {
        fprintf(stderr, "usage: rsh HOST COMMAND ...\n");
        return 255;
    }
    int in = 0;
    channel_open(&channel, connect_to(argv[0]));
    ask(&channel, argc - 1, argv + 1);
    for (;;) {
        while (channel_receive(&channel)) {
            if (channel.head.kind == FRAME_STATUS) {
                int status;
                memcpy(&status, channel.data, sizeof(status));
                return WIFEXITED(status) ? WEXITSTATUS(status) : 255;
            }
            show(channel.head.kind == FRAME_ERRORS ? 2 : 1, channel.data, channel.head.size);
            channel_taken(&channel);
        }
        if (channel.ended) {
            fprintf(stderr, "rsh: %s: the connection is lost\n", argv[0]);
            return 255;
        }
        struct pollfd polled[2];
        bool idle = channel_idle(&channel);
        add(&polled[0], channel.fd, (short)(POLLIN | (idle ? 0 : POLLOUT)));
        add(&polled[1], in, idle && in >= 0 ? POLLIN : 0);
        if (poll(polled, 2, -1) < 0)
            continue;
        channel_flush(&channel);
        if (readable(&polled[1]) && channel_idle(&channel))
            forward(&channel, &in, FRAME_INPUT);
    }
}
