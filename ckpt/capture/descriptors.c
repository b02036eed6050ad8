/* descriptors.c - /proc/self/fd and /proc/self/fdinfo. */
#include "ckpt/capture/descriptors.h"

#include <errno.h>
#include <linux/kcmp.h>
#include <string.h>
#include <sys/sysmacros.h>

#include "ckpt/capture/linux.h"
#include "ckpt/format/layout.h"

#define LIST_BUFFER (16 * 1024)
#define INFO_BUFFER (16 * 1024)
#define PATH_BUFFER 4200

struct kernel_entry {
    uint64_t inode;
    int64_t offset;
    uint16_t length;
    uint8_t type;
    char name[];
};

static void name_of(char *to, size_t room, const char *directory, int number)
{
    struct bspz_text text;

    bspz_text_begin(&text, to, room);
    bspz_text_add(&text, directory);
    bspz_text_decimal(&text, number);
}

/* Offset, flags and locks in one read. */
static int take_info(struct bspz_descriptor *one, char *buffer)
{
    char name[64];
    long bytes;

    name_of(name, sizeof name, "/proc/self/fdinfo/", one->number);
    bytes = bspz_sys_slurp(name, buffer, INFO_BUFFER);
    if (bytes == -EFBIG)
        buffer[INFO_BUFFER - 1] = '\0'; /* cut only for kinds that are refused anyway */
    else if (bytes < 0)
        return (int)bytes;
    one->offset = bspz_number_behind(buffer, "pos:", 10);
    one->flags = (int32_t)bspz_number_behind(buffer, "flags:", 8);
    one->close_on_exec = one->flags & O_CLOEXEC;
    one->flags &= ~O_CLOEXEC;
    one->locked = strstr(buffer, "\nlock:") != NULL;
    return 0;
}

/* Devices that behave the same wherever and by whomever they are opened. */
static bool is_common_device(const struct stat *status)
{
    if (!S_ISCHR(status->st_mode))
        return false;
    /* null, zero, full, random, urandom */
    if (major(status->st_rdev) == 1) {
        unsigned which = minor(status->st_rdev);

        return which == 3 || which == 5 || which == 7 || which == 8 || which == 9;
    }
    return major(status->st_rdev) == 5 && minor(status->st_rdev) == 0; /* tty */
}

/* The directories of files that the kernel makes for each process and thread. */
static const char own[] = "/proc/self", own_thread[] = "/proc/thread-self";

/* What follows the directory of `path` and a number in it; NULL: it does not begin so. */
static char *behind_number(char *path, const char *directory, int64_t *number)
{
    size_t length = strlen(directory);
    const char *at = path + length;

    if (strncmp(path, directory, length) != 0 || *at < '0' || *at > '9')
        return NULL;
    *number = (int64_t)bspz_number(&at, 10);
    return *at == '/' || *at == '\0' ? path + (at - path) : NULL;
}

static char *behind_process(char *path, int64_t *process)
{
    return behind_number(path, "/proc/", process);
}

/* Names this process and its thread without their number, which another one will not have; the
 * buffer has room for that. */
static void name_own(char *path)
{
    int64_t process, thread = 0;
    char *rest = behind_process(path, &process), *end;
    const char *name = own;

    if (!rest || process != bspz_sys0(SYS_getpid))
        return;
    end = behind_number(rest, "/task/", &thread);
    if (end && thread == bspz_sys0(SYS_gettid)) {
        name = own_thread;
        rest = end;
    }
    memmove(path + strlen(name), rest, strlen(rest) + 1);
    memcpy(path, name, strlen(name));
}

static bool is_below(const char *path, const char *directory)
{
    size_t length = strlen(directory);

    return strncmp(path, directory, length) == 0 && (path[length] == '/' || path[length] == '\0');
}

bool bspz_is_own_file(const struct bspz_descriptor *one)
{
    return (one->kind == BSPZ_FD_FILE || one->kind == BSPZ_FD_DIRECTORY) &&
           (is_below(one->path, own) || is_below(one->path, own_thread));
}

/* The memory of a process, which bspz_files_open opens in place of a lost file, and any file of
 * another process, which need not exist any more. */
static bool is_lost(char *path)
{
    int64_t process;

    return behind_process(path, &process) || strcmp(path, "/proc/self/mem") == 0;
}

static enum bspz_descriptor_kind kind_of(const struct stat *status, char *path)
{
    struct stat named;

    if (is_common_device(status))
        return BSPZ_FD_DEVICE;
    if (!S_ISREG(status->st_mode) && !S_ISDIR(status->st_mode))
        return BSPZ_FD_OTHER;
    if (is_lost(path))
        return BSPZ_FD_LOST;
    if (bspz_sys4(SYS_newfstatat, AT_FDCWD, path, &named, 0) != 0 ||
        named.st_dev != status->st_dev || named.st_ino != status->st_ino)
        return BSPZ_FD_DELETED;
    return S_ISDIR(status->st_mode) ? BSPZ_FD_DIRECTORY : BSPZ_FD_FILE;
}

/* The mark of an open file description, or 0: see BSPZ_SHARED_FIRST. */
static uint32_t mark_of(int number)
{
    long mark = bspz_sys3(SYS_fcntl, number, F_GETSIG, 0);

    return mark >= (long)BSPZ_SHARED_FIRST && mark <= (long)BSPZ_SHARED_LAST ? (uint32_t)mark : 0;
}

/* The same without locks, which do not matter for the job's own files: three times as fast. */
static int take_flags(struct bspz_descriptor *one)
{
    long flags = bspz_sys3(SYS_fcntl, one->number, F_GETFL, 0);
    long offset = bspz_sys3(SYS_lseek, one->number, 0, SEEK_CUR);

    if (flags < 0)
        return (int)flags;
    one->flags = (int32_t)flags & ~O_CLOEXEC;
    one->close_on_exec = bspz_sys3(SYS_fcntl, one->number, F_GETFD, 0) & FD_CLOEXEC;
    one->offset = offset < 0 ? 0 : (uint64_t)offset;
    return 0;
}

static int describe(struct bspz_descriptor *one, bool is_jobs, char *buffer,
                    struct bspz_arena *arena)
{
    struct stat status;
    char name[64];
    int error = is_jobs ? take_flags(one) : take_info(one, buffer);
    long length;

    if (error)
        return error;
    name_of(name, sizeof name, "/proc/self/fd/", one->number);
    length = bspz_sys4(SYS_readlinkat, AT_FDCWD, name, buffer, PATH_BUFFER - 1);
    if (length < 0)
        return (int)length;
    buffer[length] = '\0';
    name_own(buffer);
    one->path = bspz_arena_string(arena, buffer);
    if (!one->path)
        return -ENOMEM;
    error = (int)bspz_sys2(SYS_fstat, one->number, &status);
    if (error)
        return error;
    one->size = S_ISREG(status.st_mode) ? (uint64_t)status.st_size : 0;
    one->device = status.st_dev;
    one->inode = status.st_ino;
    one->modified = (uint64_t)status.st_mtim.tv_sec * 1000000000 + (uint64_t)status.st_mtim.tv_nsec;
    one->mode = status.st_mode;
    one->kind = !is_jobs                  ? kind_of(&status, buffer)
                : S_ISREG(status.st_mode) ? BSPZ_FD_FILE
                                          : BSPZ_FD_OTHER;
    if (S_ISREG(status.st_mode) || S_ISDIR(status.st_mode))
        one->shared = mark_of(one->number);
    return 0;
}

/* Descriptors made by dup share a description, and with it the offset.  Where kcmp is not
 * available, setting a flag that has no effect on files, and resetting it at once, tells
 * descriptions apart.  Descriptions that other processes hold, too, have a mark instead, as those
 * might see the flag. */
static bool same_description(const struct bspz_descriptor *a, const struct bspz_descriptor *b)
{
    long self, order, flags, seen;

    if (a->device != b->device || a->inode != b->inode || a->flags != b->flags ||
        a->offset != b->offset)
        return false;
    if (a->shared || b->shared)
        return a->shared == b->shared;
    self = bspz_sys0(SYS_getpid);
    order = bspz_sys5(SYS_kcmp, self, self, KCMP_FILE, a->number, b->number);
    if (order >= 0)
        return order == 0;
    /* A pipe end or socket has only one description; for a device either will do. */
    if (a->kind == BSPZ_FD_OTHER || a->kind == BSPZ_FD_DEVICE)
        return true;
    flags = bspz_sys3(SYS_fcntl, a->number, F_GETFL, 0);
    bspz_sys3(SYS_fcntl, a->number, F_SETFL, flags ^ O_NONBLOCK);
    seen = bspz_sys3(SYS_fcntl, b->number, F_GETFL, 0);
    bspz_sys3(SYS_fcntl, a->number, F_SETFL, flags);
    return seen == (flags ^ O_NONBLOCK);
}

static void find_same(struct bspz_descriptors *all)
{
    for (uint32_t i = 0; i < all->count; i++) {
        struct bspz_descriptor *one = &all->descriptor[i];

        one->same_as = one->number;
        for (uint32_t before = 0; before < i; before++) {
            if (same_description(&all->descriptor[before], one)) {
                one->same_as = all->descriptor[before].same_as;
                break;
            }
        }
    }
}

_Static_assert(sizeof(struct bspz_descriptor) % 8 == 0, "an array of these has no holes");

/* Only the numbers, ascending as the kernel lists them, so that the table is contiguous. */
static int list_numbers(struct bspz_descriptors *all, int directory, char *buffer,
                        struct bspz_arena *arena)
{
    size_t room;

    all->descriptor = bspz_arena_rest(arena, &room);
    for (;;) {
        long bytes = bspz_sys3(SYS_getdents64, directory, buffer, LIST_BUFFER);

        if (bytes <= 0)
            return (int)bytes;
        for (long at = 0; at < bytes;) {
            const struct kernel_entry *entry = (const void *)(buffer + at);
            int number = 0;

            at += entry->length;
            if (entry->name[0] < '0' || entry->name[0] > '9')
                continue;
            for (const char *digit = entry->name; *digit; digit++)
                number = number * 10 + (*digit - '0');
            if (number == directory)
                continue;
            if ((all->count + 1) * sizeof *all->descriptor > room)
                return -ENOMEM;
            all->descriptor[all->count++] = (struct bspz_descriptor){.number = number};
        }
    }
}

static bool is_listed(int number, const int *numbers, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (numbers[i] == number)
            return true;
    return false;
}

int bspz_descriptors_read(struct bspz_descriptors *all, const int *jobs, uint32_t job_count,
                          struct bspz_arena *arena)
{
    char *buffer = bspz_arena_take(arena, LIST_BUFFER);
    int directory, error;

    if (!buffer)
        return -ENOMEM;
    all->count = 0;
    directory = bspz_sys_open("/proc/self/fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (directory < 0)
        return directory;
    error = list_numbers(all, directory, buffer, arena);
    bspz_sys_close(directory);
    if (error)
        return error;
    if (!bspz_arena_take(arena, all->count * sizeof *all->descriptor))
        return -ENOMEM;
    for (uint32_t i = 0; i < all->count; i++) {
        error = describe(&all->descriptor[i], is_listed(all->descriptor[i].number, jobs, job_count),
                         buffer, arena);
        if (error)
            return error;
    }
    find_same(all);
    return 0;
}
