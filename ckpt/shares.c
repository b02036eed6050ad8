/* shares.c - descriptors that process 0 has passed, or opened as an image describes; see
 * shares.h. */
#include "ckpt/shares.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ckpt/format/image.h"
#include "lib/base/buffer.h"

#define AT_ONCE     253 /* most descriptors in one message */
#define OPENED_NOW  (O_CLOEXEC | O_NOCTTY)
/* Flags that apply to the first open only: files exist now, and must keep their contents. */
#define OPENED_ONCE (O_CREAT | O_EXCL | O_TRUNC | O_ASYNC)

struct share {
    int fd;
    dev_t device;
    ino_t inode;
    uint32_t group;
    int mark;
    bool given; /* the original description; else opened by the path in an image */
};

struct shares {
    int socket;
    struct share *list;
    size_t count;
};

struct shares *shares_new(void)
{
    struct shares *shares = calloc(1, sizeof *shares);

    if (shares)
        shares->socket = -1;
    return shares;
}

void shares_free(struct shares *shares)
{
    if (!shares)
        return;
    for (size_t i = 0; i < shares->count; i++)
        close(shares->list[i].fd);
    if (shares->socket >= 0)
        close(shares->socket);
    free(shares->list);
    free(shares);
}

int shares_offer(struct shares *shares, int *end)
{
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
        return -errno;
    if (shares->socket >= 0)
        close(shares->socket);
    shares->socket = ends[0];
    *end = ends[1];
    return 0;
}

/* Keeps the descriptor, or closes it. */
static int keep(struct shares *shares, int fd, uint32_t group, int mark, bool given)
{
    struct stat status;

    if (fstat(fd, &status) != 0 || mark < (int)BSPZ_SHARED_FIRST || mark > (int)BSPZ_SHARED_LAST) {
        close(fd);
        return 0;
    }
    if (!BSPZ_GROW(shares->list, shares->count)) {
        close(fd);
        return -ENOMEM;
    }
    shares->list[shares->count++] =
        (struct share){fd, status.st_dev, status.st_ino, group, mark, given};
    return 0;
}

static int keep_all(struct shares *shares, struct msghdr *message)
{
    int error = 0;

    for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part; part = CMSG_NXTHDR(message, part)) {
        size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);

        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t i = 0; i < count; i++) {
            int fd, failed;

            memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
            failed = keep(shares, fd, 0, fcntl(fd, F_GETSIG), true);
            error = error ? error : failed;
        }
    }
    return error;
}

int shares_take(struct shares *shares)
{
    char byte, space[CMSG_SPACE(AT_ONCE * sizeof(int))] __attribute__((aligned(8)));
    int error = 0;

    while (!error && shares->socket >= 0) {
        struct iovec bytes = {&byte, 1};
        struct msghdr message = {.msg_iov = &bytes,
                                 .msg_iovlen = 1,
                                 .msg_control = space,
                                 .msg_controllen = sizeof space};
        ssize_t got = recvmsg(shares->socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && errno == EAGAIN)
            return 0;
        if (got <= 0) {
            error = got < 0 ? -errno : 0;
            close(shares->socket);
            shares->socket = -1;
            break;
        }
        error = keep_all(shares, &message);
    }
    return error;
}

/* ---- Groups ---- */

void shares_regroup(struct shares *shares, const uint32_t *from, const uint32_t *to, int count)
{
    size_t kept = 0;

    for (size_t i = 0; i < shares->count; i++) {
        struct share *share = &shares->list[i];
        int which = 0;

        while (which < count && from[which] != share->group)
            which++;
        if (which == count) {
            close(share->fd);
            continue;
        }
        share->group = to[which];
        shares->list[kept++] = *share;
    }
    shares->count = kept;
}

/* ---- From an image ---- */

static bool has(const struct shares *shares, uint32_t group, dev_t device, ino_t inode, int mark,
                bool given)
{
    for (size_t i = 0; i < shares->count; i++) {
        const struct share *share = &shares->list[i];

        if (share->group == group && share->device == device && share->inode == inode &&
            share->mark == mark && (share->given || !given))
            return true;
    }
    return false;
}

/* The file may have another inode number after it was copied; and unless it was open all the time,
 * any other file may have its number. */
static bool is_there(const struct shares *shares, uint32_t group,
                     const struct bspz_image_descriptor *saved)
{
    const char *path = bspz_image_descriptor_path(saved);
    int mark = (int)saved->shared;
    struct stat now;

    return has(shares, group, saved->device, saved->inode, mark, true) ||
           (stat(path, &now) == 0 && has(shares, group, now.st_dev, now.st_ino, mark, false));
}

static int open_one(struct shares *shares, uint32_t group,
                    const struct bspz_image_descriptor *saved)
{
    int fd;

    if (!saved->shared || saved->same_as != saved->number || is_there(shares, group, saved))
        return 0;
    fd = open(bspz_image_descriptor_path(saved), ((int)saved->flags & ~OPENED_ONCE) | OPENED_NOW);
    if (fd < 0)
        return 0;
    if (fcntl(fd, F_SETSIG, (int)saved->shared) != 0) {
        close(fd);
        return 0;
    }
    return keep(shares, fd, group, (int)saved->shared, false);
}

static int read_image(void *context, uint64_t offset, void *bytes, size_t size)
{
    int fd = *(int *)context;

    while (size > 0) {
        ssize_t got = pread(fd, bytes, size, (off_t)offset);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got ? -errno : -EIO;
        bytes = (char *)bytes + got;
        offset += (uint64_t)got;
        size -= (size_t)got;
    }
    return 0;
}

/* A function for a loaded image. */
typedef int use_image(void *context, const struct bspz_image *image);

static int with_image(int image_fd, use_image *use, void *context)
{
    struct bspz_image_source source = {.read = read_image, .context = &image_fd};
    void *scratch = NULL, *tables = NULL;
    struct bspz_image image;
    struct stat status;
    int error = fstat(image_fd, &status) == 0 ? 0 : -errno;

    if (!error && posix_memalign(&scratch, 64, BSPZ_IMAGE_READER_SCRATCH) != 0)
        error = -ENOMEM;
    source.size = error ? 0 : (uint64_t)status.st_size;
    if (!error)
        error = bspz_image_open(&image, &source, scratch, NULL);
    if (!error && posix_memalign(&tables, 16, bspz_image_memory(&image) + 1) != 0)
        error = -ENOMEM;
    if (!error)
        error = bspz_image_load_front(&image, tables, NULL);
    if (!error)
        error = use(context, &image);
    free(tables);
    free(scratch);
    return error;
}

struct opening {
    struct shares *shares;
    uint32_t group;
};

static int open_saved(void *context, const struct bspz_image *image)
{
    const struct opening *opening = context;
    int error = 0;

    for (uint64_t i = 0; !error && i < image->end.descriptors; i++)
        error = open_one(opening->shares, opening->group, image->descriptors[i]);
    return error;
}

int shares_open(struct shares *shares, uint32_t group, int image_fd)
{
    struct opening opening = {shares, group};

    return with_image(image_fd, open_saved, &opening);
}

/* Descriptions open for reading are private to each process. */
static int has_shared(void *context, const struct bspz_image *image)
{
    (void)context;
    for (uint64_t i = 0; i < image->end.descriptors; i++)
        if (image->descriptors[i]->shared &&
            ((int)image->descriptors[i]->flags & O_ACCMODE) != O_RDONLY)
            return 1;
    for (uint64_t i = 0; i < image->end.regions; i++)
        if (image->regions[i]->kind == BSPZ_REGION_COMMON)
            return 1;
    return 0;
}

int shares_in_image(int image_fd)
{
    return with_image(image_fd, has_shared, NULL);
}

void shares_pass(const struct shares *shares, uint32_t group)
{
    for (size_t i = 0; i < shares->count; i++)
        if (shares->list[i].group == group)
            fcntl(shares->list[i].fd, F_SETFD, 0);
}
