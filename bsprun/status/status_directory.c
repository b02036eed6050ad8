/* status_directory.c - the directory of the status sockets of running jobs; see status_directory.h.
 *
 * A socket is made under another name and renamed when it listens: so one that refuses a connection
 * belongs to a killed job.
 */
#include "bsprun/status/status_directory.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/temporary.h"

#define JOB_PREFIX  "job-"
#define NEW_PREFIX  "new-"
#define NEW_SECONDS 60  /* after which one that was not renamed counts as left over */
#define TRIES       100 /* another process may remove the directory at the same time */
#define BACKLOG     16
#define NAME_ROOM   32 /* for the part after the directory: job-PID-RANDOM */

/* ---- The directory --------------------------------------------------------------------------- */

static void say_too_long(void)
{
    static bool said;

    if (!said)
        fprintf(stderr,
                "%s: BSPZERO_STATUS_DIR: the path of a directory of sockets has at most %zu "
                "characters; bspstat and bspkill do not find jobs there\n",
                program_invocation_short_name, STATUS_PATH_MAX - NAME_ROOM - 1);
    said = true;
}

enum {
    PLACE_RUNTIME,
    PLACE_TEMPORARY, /* and others: anybody can make any name in /tmp */
    PLACE_USER = PLACE_TEMPORARY + BSPZ_TEMPORARY_NAMES, /* only looked into */
    PLACES
};

/* The possible directories, the best first; "" for none. */
static void list_places(char places[PLACES][STATUS_PATH_MAX])
{
    const char *runtime = getenv("XDG_RUNTIME_DIR"), *chosen = getenv("BSPZERO_STATUS_DIR");
    unsigned uid = geteuid();
    struct stat status;

    memset(places, 0, PLACES * STATUS_PATH_MAX);
    if (chosen && chosen[0]) {
        if (strlen(chosen) < STATUS_PATH_MAX - NAME_ROOM)
            snprintf(places[PLACE_RUNTIME], STATUS_PATH_MAX, "%s", chosen);
        else
            say_too_long();
        return;
    }
    if (runtime && runtime[0] == '/' && strlen(runtime) < STATUS_PATH_MAX - NAME_ROOM &&
        stat(runtime, &status) == 0 && S_ISDIR(status.st_mode) && status.st_uid == uid)
        snprintf(places[PLACE_RUNTIME], STATUS_PATH_MAX, "%s/bspzero", runtime);
    snprintf(places[PLACE_TEMPORARY], STATUS_PATH_MAX, "/tmp/bspzero-%u", uid);
    for (unsigned number = 2; number <= BSPZ_TEMPORARY_NAMES; number++)
        snprintf(places[PLACE_TEMPORARY + number - 1], STATUS_PATH_MAX, "/tmp/bspzero-%u-%u", uid,
                 number);
    snprintf(places[PLACE_USER], STATUS_PATH_MAX, "/run/user/%u/bspzero", uid);
    if (strcmp(places[PLACE_RUNTIME], places[PLACE_USER]) == 0)
        places[PLACE_USER][0] = '\0';
}

/* 0: it is the user's alone; -EPERM, or -errno. */
static int check(const char *path)
{
    struct stat status;

    if (lstat(path, &status) != 0)
        return -errno;
    return S_ISDIR(status.st_mode) && status.st_uid == geteuid() && (status.st_mode & 077) == 0
               ? 0
               : -EPERM;
}

static bool is_private(const char *path)
{
    return check(path) == 0;
}

/* A user mask may have left the owner without access, now or when an earlier job made it. */
static int give_access(const char *path)
{
    struct stat status;

    if (lstat(path, &status) != 0 || ((status.st_mode & 0700) != 0700 && chmod(path, 0700) != 0))
        return -errno;
    return 0;
}

/* 0 or -errno; -ENOENT: another process has removed it meanwhile. */
static int make(const char *path)
{
    int error;

    if (mkdir(path, 0700) != 0 && errno != EEXIST)
        return -errno;
    error = check(path);
    return error ? error : give_access(path);
}

/* ---- Connections ----------------------------------------------------------------------------- */

static bool address_of(struct sockaddr_un *address, const char *directory, const char *name)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    return snprintf(address->sun_path, STATUS_PATH_MAX, "%s/%s", directory, name) <
           (int)STATUS_PATH_MAX;
}

/* A connection, or -1; removes the socket of a killed job, and counts it.  `full`: it has as many
 * connections waiting as it may. */
static int connect_to(const struct sockaddr_un *address, int *removed, bool *full)
{
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    *full = false;
    if (fd < 0)
        return -1;
    if (connect(fd, (const struct sockaddr *)address, sizeof *address) == 0)
        return fd;
    *full = errno == EAGAIN;
    if (errno == ECONNREFUSED && unlink(address->sun_path) == 0)
        ++*removed;
    close(fd);
    return -1;
}

/* The listening process, if it is the user's; else -1. */
static pid_t listener(int fd)
{
    struct ucred peer;
    socklen_t size = sizeof peer;

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) != 0 || peer.uid != geteuid())
        return -1;
    return peer.pid;
}

bool status_directory_runs(pid_t job)
{
    static const char program[] = "bsprun";
    char path[32], target[PATH_MAX];
    struct stat status;

    snprintf(path, sizeof path, "/proc/%d", (int)job);
    if (job <= 0 || stat(path, &status) != 0 || status.st_uid != geteuid())
        return false;
    snprintf(path, sizeof path, "/proc/%d/exe", (int)job);
    ssize_t size = readlink(path, target, sizeof target - 1);
    target[size < 0 ? 0 : size] = '\0';
    const char *name = strrchr(target, '/');
    size_t length = sizeof program - 1;
    return name && strncmp(name + 1, program, length) == 0 &&
           (name[1 + length] == '\0' || name[1 + length] == ' '); /* " (deleted)" */
}

/* The process that a socket is named after, if it is a bsprun of the user's; else -1.  Without a
 * connection there is nothing better, and it may be killed. */
static pid_t named_process(const char *socket_name)
{
    pid_t os_pid = atoi(socket_name + sizeof JOB_PREFIX - 1);

    return status_directory_runs(os_pid) ? os_pid : -1;
}

static bool has_prefix(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

static void remove_if_old(const char *path)
{
    struct stat status;

    if (lstat(path, &status) == 0 && status.st_mtime + NEW_SECONDS < time(NULL))
        unlink(path);
}

/* job NULL: only removes leftovers.  The directory goes with the last of them, and else not: that
 * would be under the hands of jobs that begin. */
static int visit(const char *directory, void (*job)(void *context, int fd, pid_t os_pid),
                 void *context)
{
    DIR *entries = is_private(directory) ? opendir(directory) : NULL;
    struct dirent *entry;
    int count = 0, removed = 0;

    while (entries && (entry = readdir(entries))) {
        struct sockaddr_un address;

        if (!address_of(&address, directory, entry->d_name))
            continue;
        if (has_prefix(entry->d_name, NEW_PREFIX))
            remove_if_old(address.sun_path);
        if (!has_prefix(entry->d_name, JOB_PREFIX))
            continue;
        bool full;
        int fd = connect_to(&address, &removed, &full);
        pid_t os_pid = fd >= 0 ? listener(fd) : full ? named_process(entry->d_name) : -1;
        if (job && os_pid > 0) {
            if (fd >= 0)
                fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) & ~O_NONBLOCK);
            job(context, fd, os_pid);
            count++;
        } else if (fd >= 0) {
            close(fd);
        }
    }
    if (entries)
        closedir(entries);
    if (removed > 0)
        rmdir(directory); /* if it is empty */
    return count;
}

int status_directory_jobs(void (*job)(void *context, int fd, pid_t os_pid), void *context)
{
    char places[PLACES][STATUS_PATH_MAX];
    int count = 0;

    list_places(places);
    for (int i = 0; i < PLACES; i++)
        if (places[i][0])
            count += visit(places[i], job, context);
    return count;
}

/* ---- Listening ------------------------------------------------------------------------------- */

/* Binds the socket under a temporary name and renames it. 0 or -errno. */
static int appear(int fd, const char *directory, char path[STATUS_PATH_MAX])
{
    struct sockaddr_un first, last;
    char name[64];
    uint32_t random = 0;

    if (getrandom(&random, sizeof random, GRND_NONBLOCK) < 0)
        random = (uint32_t)time(NULL);
    snprintf(name, sizeof name, NEW_PREFIX "%d-%08x", (int)getpid(), random);
    if (!address_of(&first, directory, name))
        return -ENAMETOOLONG;
    snprintf(name, sizeof name, JOB_PREFIX "%d-%08x", (int)getpid(), random);
    if (!address_of(&last, directory, name))
        return -ENAMETOOLONG;
    if (bind(fd, (struct sockaddr *)&first, sizeof first) != 0)
        return -errno;
    if (chmod(first.sun_path, 0600) != 0 || listen(fd, BACKLOG) != 0 ||
        rename(first.sun_path, last.sun_path) != 0) {
        int error = -errno;

        unlink(first.sun_path);
        return error;
    }
    memcpy(path, last.sun_path, STATUS_PATH_MAX);
    return 0;
}

int status_directory_listen(char path[STATUS_PATH_MAX])
{
    char places[PLACES][STATUS_PATH_MAX];
    int error = -ENOENT;

    list_places(places);
    for (int i = 0; i < PLACE_USER && error; i++)
        for (int k = 0; places[i][0] && k < TRIES && (k == 0 || error == -ENOENT); k++) {
            int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

            if (fd < 0)
                return -errno;
            error = make(places[i]);
            if (!error) {
                visit(places[i], NULL, NULL);
                error = appear(fd, places[i], path);
            }
            if (!error)
                return fd;
            close(fd);
        }
    return error;
}

bool status_directory_is_gone(const char *path)
{
    const char *chosen = getenv("BSPZERO_STATUS_DIR");

    if (chosen && chosen[0])
        return false;
    return access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR);
}

void status_directory_leave(const char *path)
{
    char directory[STATUS_PATH_MAX];

    unlink(path);
    snprintf(directory, sizeof directory, "%s", path);
    *strrchr(directory, '/') = '\0';
    rmdir(directory); /* not while there is another job */
}
