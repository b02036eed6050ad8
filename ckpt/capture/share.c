/* share.c - marks the open files of a process, and passes them on. */
#include "ckpt/capture/share.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#include "ckpt/capture/linux.h"
#include "ckpt/capture/snapshot.h"

#define AT_ONCE 250 /* descriptors in one message: the kernel takes three more */

static bool can_be_shared(const struct bspz_snapshot *snapshot, const struct bspz_descriptor *one)
{
    return (one->kind == BSPZ_FD_FILE || one->kind == BSPZ_FD_DIRECTORY) &&
           one->same_as == one->number && !(one->flags & O_PATH) && !bspz_is_own_file(one) &&
           !bspz_is_job_descriptor(snapshot->options, one->number);
}

static bool is_taken(const struct bspz_snapshot *snapshot, const struct bspz_descriptor *one,
                     uint32_t mark)
{
    for (uint32_t i = 0; i < snapshot->descriptors.count; i++) {
        const struct bspz_descriptor *other = &snapshot->descriptors.descriptor[i];

        if (other->same_as != one->same_as && other->device == one->device &&
            other->inode == one->inode && other->shared == mark)
            return true;
    }
    return false;
}

/* An existing mark is kept: other processes may know the description by it. */
static void mark(const struct bspz_snapshot *snapshot, struct bspz_descriptor *one)
{
    uint32_t wanted = one->shared ? one->shared : BSPZ_SHARED_LAST;

    while (wanted >= BSPZ_SHARED_FIRST && is_taken(snapshot, one, wanted))
        wanted--;
    one->shared = 0;
    if (wanted >= BSPZ_SHARED_FIRST && bspz_sys3(SYS_fcntl, one->number, F_SETSIG, wanted) == 0)
        one->shared = wanted;
}

static int send_some(int socket, const int *numbers, size_t count)
{
    char space[CMSG_SPACE(AT_ONCE * sizeof(int))] __attribute__((aligned(8)));
    struct iovec byte = {(void *)"", 1};
    struct msghdr message = {
        .msg_iov = &byte,
        .msg_iovlen = 1,
        .msg_control = space,
        .msg_controllen = CMSG_SPACE(count * sizeof(int)),
    };
    struct cmsghdr *header;
    long sent;

    memset(space, 0, sizeof space);
    header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(count * sizeof(int));
    memcpy(CMSG_DATA(header), numbers, count * sizeof(int));
    sent = bspz_sys3(SYS_sendmsg, socket, &message, MSG_DONTWAIT | MSG_NOSIGNAL);
    return sent < 0 ? (int)sent : 0;
}

int bspz_share_give(int socket, const struct bspz_capture_options *options, char why[BSPZ_WHY_SIZE])
{
    struct bspz_snapshot *snapshot = bspz_snapshot_begin(options, why);
    int numbers[AT_ONCE], error;
    size_t count = 0;

    if (!snapshot) {
        strcpy(why, "no address space for the tables of a snapshot");
        return -ENOMEM;
    }
    error = bspz_descriptors_read(&snapshot->descriptors, options->job_descriptors,
                                  options->job_count, &snapshot->arena);
    for (uint32_t i = 0; i < snapshot->descriptors.count && !error; i++) {
        struct bspz_descriptor *one = &snapshot->descriptors.descriptor[i];

        if (!can_be_shared(snapshot, one))
            continue;
        mark(snapshot, one);
        if (one->shared)
            numbers[count++] = one->number;
        if (count == AT_ONCE) {
            error = send_some(socket, numbers, count);
            count = 0;
        }
    }
    if (!error && count)
        error = send_some(socket, numbers, count);
    return error ? bspz_snapshot_fail(snapshot, "open files cannot be handed on", error) : 0;
}
