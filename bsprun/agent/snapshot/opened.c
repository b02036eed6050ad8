/* opened.c - see opened.h. */
#include "bsprun/agent/snapshot/opened.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <time.h>
#include <unistd.h>

#include "bsprun/agent/core/outside.h"
#include "lib/base/buffer.h"
#include "lib/base/process_stat.h"

#define SNAPSHOTS_MAX 8u /* with recorded lengths */
#define UNKNOWN       INT64_MIN

/* File systems with time stamps of this machine's clock. */
static const long local_types[] = {0xef53 /* ext */,
                                   0x58465342 /* xfs */,
                                   0x9123683e /* btrfs */,
                                   0x01021994 /* tmpfs */,
                                   0x794c7630 /* overlay */,
                                   0xf2f52010 /* f2fs */,
                                   0x2fc12fc1 /* zfs */};

struct moment {
    struct bspz_snapshot_name name; /* term 0: none */
    struct timespec time;           /* of the clock that file systems use */
};

struct opened_file {
    char *path;
    dev_t device;
    ino_t inode;
    bool appended;
    int64_t lengths[SNAPSHOTS_MAX]; /* as `moments`; UNKNOWN */
};

/* A file of a rank in the last scan. */
struct sight {
    int pid, number;
    uint32_t file;
    uint32_t times; /* in a row */
    bool fresh;
};

struct opened {
    const struct outside *outside;
    struct moment moments[SNAPSHOTS_MAX];
    uint32_t next_moment;
    struct opened_file files[OPENED_FILES_MAX];
    uint32_t count, next_file;
    struct sight *sights;
    uint32_t sight_count;
};

struct opened *opened_new(const struct outside *outside)
{
    struct opened *opened = calloc(1, sizeof *opened);

    if (opened)
        opened->outside = outside;
    return opened;
}

void opened_free(struct opened *opened)
{
    if (!opened)
        return;
    for (uint32_t i = 0; i < opened->count; i++)
        free(opened->files[i].path);
    free(opened->sights);
    free(opened);
}

/* ---- Lengths --------------------------------------------------------------------------------- */

static bool later(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

static bool has_local_times(const char *path)
{
    struct statfs system;

    if (statfs(path, &system) != 0)
        return false;
    for (size_t i = 0; i < sizeof local_types / sizeof *local_types; i++)
        if ((long)system.f_type == local_types[i])
            return true;
    return false;
}

/* The length of the file at that moment, if its time stamps determine it. */
static int64_t length_then(const struct statx *now, const struct timespec *moment)
{
    const struct timespec born = {now->stx_btime.tv_sec, now->stx_btime.tv_nsec};
    const struct timespec changed = {now->stx_mtime.tv_sec, now->stx_mtime.tv_nsec};

    if ((now->stx_mask & STATX_BTIME) && later(&born, moment))
        return 0;
    return later(moment, &changed) ? (int64_t)now->stx_size : UNKNOWN;
}

static void derive_lengths(const struct opened *opened, struct opened_file *file)
{
    bool local = has_local_times(file->path);
    struct statx now;

    for (uint32_t i = 0; i < SNAPSHOTS_MAX; i++)
        file->lengths[i] = UNKNOWN;
    if (!local || statx(AT_FDCWD, file->path, 0, STATX_BASIC_STATS | STATX_BTIME, &now) != 0)
        return;
    for (uint32_t i = 0; i < SNAPSHOTS_MAX; i++)
        if (opened->moments[i].name.term > 0)
            file->lengths[i] = length_then(&now, &opened->moments[i].time);
}

void opened_snapshot(struct opened *opened, struct bspz_snapshot_name name)
{
    uint32_t at = opened->next_moment;
    struct stat now;

    opened->next_moment = (at + 1) % SNAPSHOTS_MAX;
    opened->moments[at].name = name;
    clock_gettime(CLOCK_REALTIME_COARSE, &opened->moments[at].time);
    for (uint32_t i = 0; i < opened->count; i++) {
        struct opened_file *file = &opened->files[i];

        file->lengths[at] = stat(file->path, &now) != 0 ? UNKNOWN
                            : now.st_dev == file->device && now.st_ino == file->inode
                                ? (int64_t)now.st_size
                                : UNKNOWN;
    }
}

/* ---- What is open ---------------------------------------------------------------------------- */

static uint32_t find_file(struct opened *opened, const char *path, const struct stat *now)
{
    struct opened_file *file;
    uint32_t at;

    for (at = 0; at < opened->count; at++)
        if (opened->files[at].inode == now->st_ino && opened->files[at].device == now->st_dev)
            return at;
    if (opened->count < OPENED_FILES_MAX) {
        opened->count++;
    } else {
        at = opened->next_file;
        opened->next_file = (at + 1) % OPENED_FILES_MAX;
        for (uint32_t i = 0; i < opened->sight_count; i++)
            if (opened->sights[i].file == at)
                opened->sights[i].times = 0;
    }
    file = &opened->files[at];
    free(file->path);
    *file = (struct opened_file){.path = strdup(path), .device = now->st_dev, .inode = now->st_ino};
    if (!file->path)
        file->path = strdup("");
    derive_lengths(opened, file);
    return at;
}

static void note_sight(struct opened *opened, int pid, int number, uint32_t file)
{
    for (uint32_t i = 0; i < opened->sight_count; i++) {
        struct sight *sight = &opened->sights[i];

        if (sight->pid == pid && sight->number == number && sight->file == file) {
            sight->times++;
            sight->fresh = true;
            return;
        }
    }
    if (!BSPZ_GROW(opened->sights, opened->sight_count))
        return;
    opened->sights[opened->sight_count++] = (struct sight){pid, number, file, 1, true};
}

/* Records the descriptor if it is a linked file open for writing. */
static void look_at(struct opened *opened, int pid, pid_t ospid, int directory, const char *name)
{
    int number = atoi(name);
    char path[PATH_MAX];
    struct stat link, file;
    ssize_t length;

    /* The permissions of the link tell how the file is open. */
    if (fstatat(directory, name, &link, AT_SYMLINK_NOFOLLOW) != 0 || !(link.st_mode & S_IWUSR) ||
        fstatat(directory, name, &file, 0) != 0 || !S_ISREG(file.st_mode) || file.st_nlink == 0 ||
        outside_has(opened->outside, number, &file))
        return;
    length = readlinkat(directory, name, path, sizeof path - 1);
    if (length <= 0 || path[0] != '/')
        return;
    path[length] = '\0';
    uint32_t at = find_file(opened, path, &file);
    note_sight(opened, pid, number, at);
    opened->files[at].appended = opened->files[at].appended || bspz_process_appends(ospid, number);
}

static void forget_stale(struct opened *opened, int pid)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < opened->sight_count; i++)
        if (opened->sights[i].pid != pid || opened->sights[i].fresh)
            opened->sights[kept++] = opened->sights[i];
    opened->sight_count = kept;
}

void opened_look(struct opened *opened, int pid, pid_t ospid)
{
    const struct dirent *entry;
    char path[64];
    uint32_t seen = 0;

    snprintf(path, sizeof path, "/proc/%d/fd", (int)ospid);
    DIR *directory = opendir(path);
    if (!directory)
        return;
    for (uint32_t i = 0; i < opened->sight_count; i++)
        if (opened->sights[i].pid == pid)
            opened->sights[i].fresh = false;
    while ((entry = readdir(directory)))
        if (entry->d_name[0] != '.') {
            seen++;
            look_at(opened, pid, ospid, dirfd(directory), entry->d_name);
        }
    closedir(directory);
    if (seen > 0) /* an exiting process has none any more */
        forget_stale(opened, pid);
}

bool opened_writes(const struct opened *opened, int pid)
{
    for (uint32_t i = 0; opened && i < opened->sight_count; i++)
        if (opened->sights[i].pid == pid)
            return true;
    return false;
}

/* ---- Going back ------------------------------------------------------------------------------ */

static bool is_still_open(const struct opened *opened, uint32_t file)
{
    for (uint32_t i = 0; i < opened->sight_count; i++)
        if (opened->sights[i].file == file && opened->sights[i].times >= 2)
            return true;
    return false;
}

/* Truncates the file to its length at the snapshot. 0 or -errno. */
static int cut(const struct opened_file *file, int64_t length)
{
    int descriptor = open(file->path, O_WRONLY | O_NOFOLLOW | O_CLOEXEC), error = 0;
    struct stat now;

    if (descriptor < 0)
        return errno == ENOENT ? 0 : -errno;
    if (fstat(descriptor, &now) != 0)
        error = -errno;
    else if (now.st_dev == file->device && now.st_ino == file->inode && now.st_size > length &&
             ftruncate(descriptor, length) != 0)
        error = -errno;
    close(descriptor);
    return error;
}

void opened_back(struct opened *opened, struct bspz_snapshot_name name,
                 void (*tell)(void *context, const char *text), void *context)
{
    char text[OPENED_TEXT];
    uint32_t at = 0;

    while (at < SNAPSHOTS_MAX && !bspz_snapshot_same(opened->moments[at].name, name))
        at++;
    for (uint32_t i = 0; i < opened->count; i++) {
        const struct opened_file *file = &opened->files[i];
        int64_t length = at < SNAPSHOTS_MAX ? file->lengths[at] : UNKNOWN;
        int error = 0;

        if (!is_still_open(opened, i))
            continue;
        if (length != UNKNOWN)
            error = cut(file, length);
        else if (!file->appended)
            continue;
        if (error)
            snprintf(text, sizeof text,
                     "%.300s cannot be restored to the length that it had at "
                     "superstep %llu: %s",
                     file->path, (unsigned long long)name.superstep, strerror(-error));
        else if (length == UNKNOWN)
            snprintf(text, sizeof text,
                     "%.300s was opened after superstep %llu, and its length then is not known: "
                     "what is appended again may appear twice",
                     file->path, (unsigned long long)name.superstep);
        if (error || length == UNKNOWN)
            tell(context, text);
    }
    opened->sight_count = 0;
}
