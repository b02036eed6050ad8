/* save_ahead.c - a process that is restored ahead of the rank's move; see lib/shm/ahead.h.
 *
 * Happy path: staged -> answer -> order with newer images -> staged again -> answer ... -> order
 * that it goes on -> the rest is that of any restored rank.
 *
 * What can fail: an image is damaged or memory is missing: the answer says so, and the process
 * exits; the agent closes the socket: it exits.
 */
#include "lib/rt/save_ahead.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define STANDARD 3 /* descriptors 0, 1 and 2 */

bool bspz_ahead_begin(struct bspz_ahead *ahead)
{
    const char *value = getenv(BSPZ_ENV_AHEAD);

    *ahead = (struct bspz_ahead){.socket = value ? atoi(value) : -1};
    unsetenv(BSPZ_ENV_AHEAD);
    return ahead->socket >= 0;
}

static void answer(const struct bspz_ahead *ahead, int error, const char *why)
{
    struct bspz_ahead_answer answer = {.error = error};

    snprintf(answer.why, sizeof answer.why, "%s", why);
    if (send(ahead->socket, &answer, sizeof answer, MSG_NOSIGNAL) != (ssize_t)sizeof answer)
        _exit(1); /* the agent has no more use for this process */
}

void bspz_ahead_failed(const struct bspz_ahead *ahead, int error, const char *why)
{
    if (ahead->socket < 0)
        return;
    answer(ahead, error, why);
    _exit(1);
}

/* Waits for an order.  Returns the number of its descriptors. */
static uint32_t receive(const struct bspz_ahead *ahead, struct bspz_ahead_order *order,
                        int fds[STANDARD + BSPZ_IMAGE_CHAIN_MAX])
{
    union {
        char bytes[CMSG_SPACE((STANDARD + BSPZ_IMAGE_CHAIN_MAX) * sizeof(int))];
        struct cmsghdr aligned;
    } space;
    struct iovec bytes = {order, sizeof *order};
    struct msghdr message = {.msg_iov = &bytes,
                             .msg_iovlen = 1,
                             .msg_control = space.bytes,
                             .msg_controllen = sizeof space.bytes};
    const struct cmsghdr *part;
    ssize_t got;
    size_t size;

    do
        got = recvmsg(ahead->socket, &message, MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    if (got != (ssize_t)sizeof *order)
        _exit(1); /* the agent has ended, or has no more use for this process */
    part = CMSG_FIRSTHDR(&message);
    if (!part || part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
        return 0;
    size = part->cmsg_len - CMSG_LEN(0);
    memcpy(fds, CMSG_DATA(part), size);
    return (uint32_t)(size / sizeof *fds);
}

/* Takes the agent's descriptors 0, 1 and 2, which may be others than when the process began. */
static void go_on(struct bspz_ahead *ahead, const int fds[STANDARD])
{
    for (int i = 0; i < STANDARD; i++) {
        if (dup2(fds[i], i) < 0)
            _exit(1);
        close(fds[i]);
    }
    close(ahead->socket);
    ahead->socket = -1;
}

int bspz_ahead_more(struct bspz_ahead *ahead, struct bspz_image_source *sources,
                    struct bspz_image_name *name)
{
    struct bspz_ahead_order order;
    int fds[STANDARD + BSPZ_IMAGE_CHAIN_MAX];
    const int *images = fds;
    uint32_t count;

    if (ahead->socket < 0)
        return 0;
    answer(ahead, 0, "");
    count = receive(ahead, &order, fds);
    if (order.images > BSPZ_IMAGE_CHAIN_MAX ||
        count != order.images + (order.goes_on ? STANDARD : 0))
        return -EPROTO;
    if (order.goes_on) {
        go_on(ahead, fds);
        images += STANDARD;
    }
    for (uint32_t i = 0; i < order.images; i++)
        if (bspz_restore_source(&sources[i], images[i]) != 0)
            return -EIO;
    if (order.images > 0)
        *name = order.name;
    return (int)order.images;
}
