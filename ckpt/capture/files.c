/* files.c - the program's descriptors in the process that is being restored.
 *
 * Files are first opened and checked, at numbers far above all in use, as far as there are.  When
 * every process of the job is ready, files are truncated to their lengths, all descriptors of this
 * process are closed, and the new ones go to their numbers. */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>

#include "ckpt/capture/linux.h"
#include "ckpt/capture/restore.h"

#define OPENED_ONLY_ONCE (O_CREAT | O_EXCL | O_TRUNC | O_CLOEXEC | O_NOCTTY | O_ASYNC)

static uint32_t count_of(const struct bspz_restore *restore)
{
    return (uint32_t)restore->image->end.descriptors;
}

/* ---- Opening --------------------------------------------------------------------------------- */

/* The first number above all that the program, the job or this process uses. */
static int first_free(const struct bspz_restore *restore)
{
    int highest = 2;

    for (uint32_t i = 0; i < count_of(restore); i++)
        if ((int)restore->image->descriptors[i]->number > highest)
            highest = (int)restore->image->descriptors[i]->number;
    for (uint32_t i = 0; i < restore->plan->job_count; i++)
        if (restore->job_descriptors[i] > highest)
            highest = restore->job_descriptors[i];
    return highest + 1;
}

static void allow_many(void)
{
    struct rlimit limit;

    if (bspz_sys4(SYS_prlimit64, 0, RLIMIT_NOFILE, 0, &limit) == 0 &&
        limit.rlim_cur < limit.rlim_max) {
        limit.rlim_cur = limit.rlim_max;
        bspz_sys4(SYS_prlimit64, 0, RLIMIT_NOFILE, &limit, 0);
    }
}

static const struct bspz_image_descriptor *saved_number(const struct bspz_restore *restore, int fd)
{
    for (uint32_t i = 0; i < count_of(restore); i++)
        if ((int)restore->image->descriptors[i]->number == fd)
            return restore->image->descriptors[i];
    return NULL;
}

/* A number that neither the program nor this process uses. */
static long unused_number(const struct bspz_restore *restore, int fd)
{
    long number = 2;

    do {
        number = bspz_sys3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, number + 1);
        if (number < 0 || !saved_number(restore, (int)number))
            return number;
        bspz_sys_close((int)number);
    } while (true);
}

/* Moves a descriptor to a number of at least `lowest`, above all in use.  Where the limit leaves
 * none (ulimit -n), to the one that the program has for it, if that is free and not one of a
 * standard stream, else to any that it does not use.  number: the program's, 0: none. */
static int set_aside(const struct bspz_restore *restore, int fd, int lowest, int number)
{
    long moved = bspz_sys3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, lowest);

    if (moved < 0 && fd == number && number > 2)
        return fd;
    if (moved < 0 && number > 2 && bspz_sys3(SYS_fcntl, number, F_GETFD, 0) < 0)
        moved = bspz_sys3(SYS_dup3, fd, number, O_CLOEXEC);
    if (moved < 0)
        moved = unused_number(restore, fd);
    bspz_sys_close(fd);
    return (int)moved;
}

static int find_marked(const struct bspz_restore *restore, uint32_t mark, uint64_t device,
                       uint64_t inode)
{
    const struct bspz_descriptors *own = &restore->self->descriptors;

    for (uint32_t i = 0; i < own->count; i++) {
        const struct bspz_descriptor *one = &own->descriptor[i];

        if (one->shared == mark && one->device == device && one->inode == inode)
            return (int)bspz_sys3(SYS_fcntl, one->number, F_DUPFD_CLOEXEC, 0);
    }
    return -1;
}

/* For a description that other processes of the job hold, too, the starter of this process left it
 * a descriptor.  It is the one of the file now at the path or, if there is none, of the file with
 * the saved inode number; not the other way round, since inode numbers are reused.  Returns the new
 * descriptor, or -1. */
static int find_shared(struct bspz_restore *restore, const struct bspz_image_descriptor *saved,
                       const char *path)
{
    struct stat now;
    int fd = -1;

    if (bspz_sys4(SYS_newfstatat, AT_FDCWD, path, &now, 0) == 0)
        fd = find_marked(restore, saved->shared, now.st_dev, now.st_ino);
    return fd >= 0 ? fd : find_marked(restore, saved->shared, saved->device, saved->inode);
}

static int check_opened(struct bspz_restore *restore, const struct bspz_image_descriptor *saved,
                        const char *path, int fd)
{
    struct bspz_text note;
    struct stat now;

    if (bspz_sys2(SYS_fstat, fd, &now) != 0 || (now.st_mode & S_IFMT) != (saved->mode & S_IFMT))
        return bspz_restore_fail(restore, -ESTALE, "the program has open", path,
                                 "it is no longer that kind of file");
    if (saved->kind != BSPZ_DESCRIPTOR_FILE || (uint64_t)now.st_size >= saved->size)
        return 0;
    if (((int)saved->flags & O_ACCMODE) == O_RDONLY)
        return bspz_restore_fail(restore, -ESTALE, "the program has open", path,
                                 "it is shorter than it was");
    /* Either the program truncated the file after the snapshot and will do so again, and until then
     * only its length matters; or somebody else did, and its contents are lost. */
    bspz_text_begin(&note, restore->plan->note, BSPZ_WHY_SIZE);
    bspz_text_add(&note, path);
    bspz_text_add(&note, " is shorter than it was at the snapshot: it is extended with zeros");
    return 0;
}

static void note_lost(struct bspz_restore *restore, const char *path)
{
    bool of_process = strncmp(path, "/proc/", 6) == 0 && path[6] >= '0' && path[6] <= '9';
    struct bspz_text note;

    if (restore->plan->note[0])
        return; /* one example is enough */
    bspz_text_begin(&note, restore->plan->note, BSPZ_WHY_SIZE);
    bspz_text_add(&note, path);
    bspz_text_add(
        &note, of_process ? " is a file of another process, which need not exist any more"
                          : " is not, or not certainly, the same file as on the host of process 0");
    bspz_text_add(&note, ": reading and writing it fail here (EIO)");
}

/* Opens the same file: by the caller's hook, as a shared description, or by its path. */
static int open_same(struct bspz_restore *restore, const struct bspz_image_descriptor *saved,
                     const char *path)
{
    int fd = -1;

    if (restore->plan->open_file)
        fd = restore->plan->open_file(restore->plan->context, saved, path);
    if (fd == -1 && saved->shared)
        fd = find_shared(restore, saved, path);
    if (fd == -1)
        fd = bspz_sys_open(path, ((int)saved->flags & ~OPENED_ONLY_ONCE) | O_CLOEXEC | O_NOCTTY);
    return fd;
}

/* The same file, or its substitute. */
static int open_again(struct bspz_restore *restore, const struct bspz_image_descriptor *saved,
                      const char *path, bool *lost)
{
    *lost = saved->kind == BSPZ_DESCRIPTOR_LOST;
    if (!*lost) {
        int fd = open_same(restore, saved, path);

        if (!restore->plan->elsewhere || saved->kind != BSPZ_DESCRIPTOR_FILE ||
            (fd >= 0 && bspz_same_file(restore, saved, fd)))
            return fd;
        if (fd >= 0)
            bspz_sys_close(fd);
        *lost = true;
    }
    note_lost(restore, path);
    return bspz_lost_file(saved);
}

static int open_one(struct bspz_restore *restore, const struct bspz_image_descriptor *saved,
                    int lowest, int *opened, bool *lost)
{
    const char *path = bspz_image_descriptor_path(saved);
    int fd = open_again(restore, saved, path, lost), error;

    if (fd < 0 && saved->kind == BSPZ_DESCRIPTOR_EXCLUDED)
        return 0;
    if (fd < 0)
        return bspz_restore_fail(restore, fd, "the program has open", path,
                                 "it cannot be opened again");
    fd = set_aside(restore, fd, lowest, (int)saved->number);
    if (fd < 0)
        return bspz_restore_fail(restore, fd, "no descriptor for", path, "see ulimit -n");
    *opened = fd;
    if (*lost)
        return 0;
    error = check_opened(restore, saved, path, fd);
    if (error && saved->kind == BSPZ_DESCRIPTOR_EXCLUDED) {
        restore->plan->why[0] = '\0';
        bspz_sys_close(fd);
        *opened = -1;
        return 0;
    }
    return error;
}

/* A host that lacks the directory can still do the work; a note says so. */
static int open_directory(struct bspz_restore *restore)
{
    const char *path = restore->thread->cwd;
    int directory = bspz_sys_open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct bspz_text note;

    if (directory >= 0 || !restore->plan->elsewhere)
        return directory;
    if (!restore->plan->note[0]) {
        bspz_text_begin(&note, restore->plan->note, BSPZ_WHY_SIZE);
        bspz_text_add(&note, "there is no directory ");
        bspz_text_add(&note, path);
        bspz_text_add(&note, " here: the processes of this host are in / instead");
    }
    return bspz_sys_open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
}

int bspz_files_open(struct bspz_restore *restore)
{
    int lowest = first_free(restore);
    int listed = bspz_descriptors_read(&restore->self->descriptors, NULL, 0, &restore->self->arena);

    if (listed)
        return bspz_restore_fail(restore, listed, "/proc/self/fd", NULL, NULL);
    allow_many();
    restore->opened = bspz_arena_take(&restore->self->arena, count_of(restore) * sizeof(int) + 1);
    restore->lost = bspz_arena_take(&restore->self->arena, count_of(restore) + 1);
    if (!restore->opened || !restore->lost)
        return bspz_restore_fail(restore, -ENOMEM, "too many descriptors", NULL, NULL);
    for (uint32_t i = 0; i < count_of(restore); i++) {
        const struct bspz_image_descriptor *saved = restore->image->descriptors[i];
        int error;

        restore->opened[i] = -1;
        restore->lost[i] = false;
        if (saved->kind == BSPZ_DESCRIPTOR_JOB || saved->same_as != saved->number)
            continue;
        error = open_one(restore, saved, lowest, &restore->opened[i], &restore->lost[i]);
        if (error)
            return error;
    }
    restore->directory = open_directory(restore);
    if (restore->directory < 0)
        return bspz_restore_fail(restore, restore->directory, "the program's current directory",
                                 restore->thread->cwd, "it cannot be entered");
    restore->directory = set_aside(restore, restore->directory, lowest, 0);
    return restore->directory < 0
               ? bspz_restore_fail(restore, restore->directory, "no descriptor for",
                                   restore->thread->cwd, "see ulimit -n")
               : 0;
}

/* ---- Placing --------------------------------------------------------------------------------- */

static int put_back(struct bspz_restore *restore, uint32_t index)
{
    const struct bspz_image_descriptor *saved = restore->image->descriptors[index];
    int fd = restore->opened[index];
    bool written = ((int)saved->flags & O_ACCMODE) != O_RDONLY;
    long error = 0;

    if (fd < 0 || restore->lost[index] || saved->kind == BSPZ_DESCRIPTOR_DEVICE ||
        (int)saved->flags & O_PATH)
        return 0;
    if (saved->shared) {
        bspz_sys3(SYS_fcntl, fd, F_SETSIG, saved->shared);
        bspz_sys3(SYS_fcntl, fd, F_SETFL, saved->flags);
    }
    if (saved->kind == BSPZ_DESCRIPTOR_FILE && written && !restore->plan->keep_lengths)
        error = bspz_sys2(SYS_ftruncate, fd, saved->size);
    if (!error && bspz_sys3(SYS_lseek, fd, saved->offset, 0) < 0 &&
        saved->kind != BSPZ_DESCRIPTOR_EXCLUDED)
        error = -EIO;
    return error ? bspz_restore_fail(restore, (int)error, "cannot put back",
                                     bspz_image_descriptor_path(saved), NULL)
                 : 0;
}

static bool is_jobs(const struct bspz_restore *restore, int fd)
{
    for (uint32_t i = 0; i < restore->plan->job_count; i++)
        if (restore->job_descriptors[i] == fd)
            return true;
    return false;
}

static bool stays(const struct bspz_restore *restore, int fd)
{
    if (fd == restore->directory || is_jobs(restore, fd))
        return true;
    for (uint32_t i = 0; i < count_of(restore); i++)
        if (restore->opened[i] == fd)
            return true;
    return false;
}

/* Moves the job's descriptors above 2 out of the way of the program's. */
static int move_jobs(struct bspz_restore *restore)
{
    int lowest = first_free(restore);

    for (uint32_t i = 0; i < restore->plan->job_count; i++) {
        int fd = restore->job_descriptors[i];
        const struct bspz_image_descriptor *saved = saved_number(restore, fd);

        if (fd <= 2 || !saved ||
            (saved->kind == BSPZ_DESCRIPTOR_JOB && saved->same_as == saved->number))
            continue;
        fd = set_aside(restore, fd, lowest, 0);
        if (fd < 0)
            return bspz_restore_fail(restore, fd, "no descriptor for the job's own", NULL, NULL);
        restore->job_descriptors[i] = fd;
    }
    return 0;
}

static int close_rest(struct bspz_restore *restore)
{
    struct bspz_descriptors now;
    int error = bspz_descriptors_read(&now, NULL, 0, &restore->self->arena);

    if (error)
        return bspz_restore_fail(restore, error, "/proc/self/fd", NULL, NULL);
    for (uint32_t i = 0; i < now.count; i++)
        if (now.descriptor[i].number > 2 && !stays(restore, now.descriptor[i].number))
            bspz_sys_close(now.descriptor[i].number);
    /* Closes those that the program had closed; others are replaced next. */
    for (int fd = 0; fd <= 2; fd++)
        if (!saved_number(restore, fd))
            bspz_sys_close(fd);
    return 0;
}

static int place_one(struct bspz_restore *restore, uint32_t index)
{
    const struct bspz_image_descriptor *saved = restore->image->descriptors[index];
    int number = (int)saved->number, from = restore->opened[index];
    int flags = saved->descriptor_flags & FD_CLOEXEC ? O_CLOEXEC : 0;
    long result;

    if (saved->same_as != saved->number) {
        from = (int)saved->same_as;
        if (saved->kind == BSPZ_DESCRIPTOR_EXCLUDED && bspz_sys3(SYS_fcntl, from, F_GETFD, 0) < 0)
            return 0;
    } else if (from < 0) {
        if (saved->kind == BSPZ_DESCRIPTOR_JOB && number <= 2)
            bspz_sys3(SYS_fcntl, number, F_SETFD, flags ? FD_CLOEXEC : 0);
        else if (saved->kind == BSPZ_DESCRIPTOR_EXCLUDED && number <= 2)
            bspz_sys_close(number);
        return 0;
    } else if (from == number) {
        bspz_sys3(SYS_fcntl, number, F_SETFD, flags ? FD_CLOEXEC : 0);
        return 0;
    }
    result = bspz_sys3(SYS_dup3, from, number, flags);
    if (result < 0)
        return bspz_restore_fail(restore, (int)result, "cannot put back the descriptor of",
                                 bspz_image_descriptor_path(saved), NULL);
    if (saved->same_as == saved->number)
        bspz_sys_close(from);
    return 0;
}

int bspz_files_place(struct bspz_restore *restore)
{
    int error = 0;

    for (uint32_t i = 0; i < count_of(restore) && !error; i++)
        error = put_back(restore, i);
    if (!error)
        error = move_jobs(restore);
    if (!error)
        error = close_rest(restore);
    for (uint32_t i = 0; i < count_of(restore) && !error; i++)
        error = place_one(restore, i);
    if (error)
        return error;
    bspz_sys1(SYS_fchdir, restore->directory);
    bspz_sys_close(restore->directory);
    bspz_sys1(SYS_umask, restore->thread->umask);
    return 0;
}
