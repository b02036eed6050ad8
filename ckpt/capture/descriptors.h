/* descriptors.h - the open descriptors of this process, read from the kernel without allocation. */
#ifndef CKPT_CAPTURE_DESCRIPTORS_H
#define CKPT_CAPTURE_DESCRIPTORS_H

#include <stdbool.h>
#include <stdint.h>

#include "ckpt/capture/arena.h"

enum bspz_descriptor_kind {
    BSPZ_FD_FILE,      /* a regular file that can be opened again by its path */
    BSPZ_FD_DIRECTORY, /* likewise, a directory */
    BSPZ_FD_DEVICE,    /* a character device that is the same for everybody, such as /dev/null */
    BSPZ_FD_DELETED,   /* a file that has been unlinked or replaced at its path */
    BSPZ_FD_OTHER,     /* socket, pipe, terminal, epoll and so on */
    BSPZ_FD_LOST,      /* a restored one of kind BSPZ_DESCRIPTOR_LOST, or a file that is lost: of
                          another process, in /proc */
};

struct bspz_descriptor {
    int32_t number;
    int32_t same_as; /* lowest number that shares the offset (dup, dup2); `number` if none does */
    enum bspz_descriptor_kind kind;
    int32_t flags; /* of fcntl(F_GETFL): access mode, O_APPEND, O_NONBLOCK ... */
    bool close_on_exec;
    bool locked; /* holds a lock of fcntl or flock */
    uint64_t offset;
    uint64_t size;
    uint64_t device;
    uint64_t inode;
    uint64_t modified; /* nanoseconds since 1970 */
    uint32_t mode;     /* type and permissions, of stat */
    uint32_t shared; /* the mark of a description that other processes hold; 0: no other holds it */
    const char *path; /* as the kernel names it: "/a/file", "socket:[17]"; but "/proc/self/..." */
};

struct bspz_descriptors {
    struct bspz_descriptor *descriptor; /* ascending by number */
    uint32_t count;
};

/* Whether it is a file that the kernel makes for each process: where this process goes on in
 * another one, it is to be that one's. */
bool bspz_is_own_file(const struct bspz_descriptor *descriptor);

/* Lists all descriptors but those used for the listing; of the job's own, with fewer details. 0, or
 * a negative errno: -ENOMEM when the arena is full. */
int bspz_descriptors_read(struct bspz_descriptors *descriptors, const int *jobs, uint32_t job_count,
                          struct bspz_arena *arena);

#endif
