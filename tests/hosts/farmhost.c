/* farmhost.c - the subcommands' names, and what they share. */
#include "tests/hosts/farmhost.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

void give_up(const char *what, const char *which)
{
    fprintf(stderr, "farmhost: %s %s: %s\n", what, which, strerror(errno));
    exit(255);
}

void die_with_parent(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
}

/* A namespace to be joined; -1: it is ours already. */
static int open_namespace(pid_t process, const char *name)
{
    char path[64], own[64];
    struct stat theirs, ours;
    snprintf(path, sizeof(path), "/proc/%d/ns/%s", process, name);
    snprintf(own, sizeof(own), "/proc/self/ns/%s", name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &theirs) != 0 || stat(own, &ours) != 0)
        give_up("cannot find", path);
    if (theirs.st_ino != ours.st_ino)
        return fd;
    close(fd);
    return -1;
}

void join_namespaces(pid_t process, const char *const *names)
{
    int fds[8], count = 0;
    for (; names[count]; count++) /* all of them first: /proc is another one afterwards */
        fds[count] = open_namespace(process, names[count]);
    for (int i = 0; i < count; i++) {
        if (fds[i] >= 0 && setns(fds[i], 0) != 0)
            give_up("cannot join", names[i]);
        if (fds[i] >= 0)
            close(fds[i]);
    }
}

void become(uid_t uid, gid_t gid)
{
    if (uid == geteuid() && gid == getegid())
        return;
    if (setgroups(1, &gid) != 0 || setresgid(gid, gid, gid) != 0 || setresuid(uid, uid, uid) != 0)
        give_up("cannot become", "another user");
}

/* ---- Frames -------------------------------------------------------------------------------- */

void channel_open(struct channel *channel, int fd)
{
    memset(channel, 0, sizeof(*channel));
    channel->fd = fd;
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
}

bool channel_idle(const struct channel *channel)
{
    return channel->sent == channel->send_size;
}

void channel_send(struct channel *channel, enum frame_kind kind, const void *data, size_t size)
{
    struct frame_head head = {kind, (uint32_t)size};
    memcpy(channel->sending, &head, sizeof(head));
    if (size > 0)
        memcpy(channel->sending + sizeof(head), data, size);
    channel->sent = 0;
    channel->send_size = sizeof(head) + size;
    channel_flush(channel);
}

void channel_flush(struct channel *channel)
{
    while (!channel_idle(channel) && !channel->ended) {
        ssize_t n = send(channel->fd, channel->sending + channel->sent,
                         channel->send_size - channel->sent, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return;
        if (n < 0)
            channel->ended = true;
        else
            channel->sent += (size_t)n;
    }
}

bool channel_receive(struct channel *channel)
{
    size_t head = sizeof(channel->head);
    while (!channel->ended) {
        bool in_head = channel->received < head;
        if (!in_head && channel->head.size > FRAME_MOST) {
            channel->ended = true;
            break;
        }
        if (!in_head && channel->received == head + channel->head.size)
            return true;
        char *to = in_head ? (char *)&channel->head + channel->received
                           : channel->data + (channel->received - head);
        size_t wanted = (in_head ? head : head + channel->head.size) - channel->received;
        ssize_t n = read(channel->fd, to, wanted);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && errno == EAGAIN)
            return false;
        if (n <= 0)
            channel->ended = true;
        else
            channel->received += (size_t)n;
    }
    return false;
}

void channel_taken(struct channel *channel)
{
    channel->received = 0;
}

/* ---- Main ---------------------------------------------------------------------------------- */

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
    } commands[] = {{"switch", switch_main},
                    {"host", host_main},
                    {"enter", enter_main},
                    {"rsh", rsh_main},
                    {"wires", wires_main}};
    for (size_t i = 0; argc > 1 && i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(argv[1], commands[i].name) == 0)
            return commands[i].run(argc - 2, argv + 2);
    }
    fprintf(stderr, "usage: farmhost switch|host|enter|rsh|wires ...\n");
    return 255;
}
