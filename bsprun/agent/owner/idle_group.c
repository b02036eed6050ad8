/* idle_group.c - see idle_group.h.
 *
 * A group of version 2 that has processes of its own gives its children no controllers, so that
 * cpu.idle is found in a group beside that of the agent rather than below it. */
#include "bsprun/agent/owner/idle_group.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bsprun/agent/owner/parts.h"
#include "lib/base/io.h"

#define TEXT_BYTES 8192
#define TRIES      50 /* of a millisecond */
#define NAME       "bspzero-"

struct idle_group {
    char path[OWNER_PATH];
};

/* 0 or -errno. */
static int write_to(const struct idle_group *group, const char *name, const char *text)
{
    char path[OWNER_PATH + 32];
    int fd;

    snprintf(path, sizeof path, "%s/%s", group->path, name);
    fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    int error = bspz_write_all(fd, text, strlen(text));

    close(fd);
    return error;
}

/* Whether it is the name of a group whose agent has ended.  That of an agent that lives may be
 * empty, too, as long as it has no processes. */
static bool is_left(const char *name)
{
    char *end;

    if (strncmp(name, NAME, strlen(NAME)) != 0)
        return false;
    long pid = strtol(name + strlen(NAME), &end, 10);

    return pid > 0 && pid <= INT_MAX && !*end && kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

/* Removes what agents that were killed have left there, as far as no process is in it. */
static void sweep(const char *directory)
{
    DIR *opened = opendir(directory);
    const struct dirent *entry;

    while (opened && (entry = readdir(opened)))
        if (is_left(entry->d_name))
            unlinkat(dirfd(opened), entry->d_name, AT_REMOVEDIR);
    if (opened)
        closedir(opened);
}

/* Makes it there, if that is possible. */
static bool make(struct idle_group *group, const char *root, const char *mount, const char *parent)
{
    char directory[OWNER_PATH];

    snprintf(directory, sizeof directory, "%s%s%s", root, mount, parent);
    int length =
        snprintf(group->path, sizeof group->path, "%s/" NAME "%d", directory, (int)getpid());

    if (length >= (int)sizeof group->path)
        return false;
    sweep(directory);
    if (mkdir(group->path, 0755) != 0 && errno != EEXIST)
        return false;
    if (idle_group_set(group, false))
        return true;
    rmdir(group->path);
    return false;
}

/* Below the group, then beside it. */
static bool make_near(struct idle_group *group, const char *root, const char *mount, char *place)
{
    char *slash = strrchr(place, '/');

    if (strcmp(place, "/") == 0)
        place[0] = '\0';
    if (make(group, root, mount, place))
        return true;
    if (!place[0])
        return false;
    *slash = '\0';
    return make(group, root, mount, place);
}

/* Where groups of the controllers are mounted; NULL: they do not include the processors'. */
static const char *mount_of(const char *controllers)
{
    if (!controllers[0])
        return "/sys/fs/cgroup";
    return strcmp(controllers, "cpu") == 0 || strncmp(controllers, "cpu,", strlen("cpu,")) == 0
               ? "/sys/fs/cgroup/cpu"
               : NULL;
}

/* Lines of /proc/self/cgroup: "0::/group" of version 2, "7:cpu,cpuacct:/group" of version 1. */
struct idle_group *idle_group_new(const char *root)
{
    char path[OWNER_PATH], text[TEXT_BYTES], *rest = text, *line;
    struct idle_group *group = malloc(sizeof *group);

    snprintf(path, sizeof path, "%s/proc/self/cgroup", root);
    if (!group || !bspz_read_text(path, text, sizeof text)) {
        free(group);
        return NULL;
    }
    while ((line = strsep(&rest, "\n"))) {
        char *controllers = strchr(line, ':');
        char *place = controllers ? strchr(controllers + 1, ':') : NULL;

        if (!place || place[1] != '/')
            continue;
        *place++ = '\0';
        const char *mount = mount_of(controllers + 1);

        if (mount && make_near(group, root, mount, place))
            return group;
    }
    free(group);
    return NULL;
}

bool idle_group_add(const struct idle_group *group, pid_t pid)
{
    char text[32];

    snprintf(text, sizeof text, "%d", (int)pid);
    int error = write_to(group, "cgroup.procs", text);

    return error == 0 || error == -ESRCH;
}

bool idle_group_set(const struct idle_group *group, bool idle)
{
    return write_to(group, "cpu.idle", idle ? "1" : "0") == 0;
}

void idle_group_free(struct idle_group *group)
{
    const struct timespec pause = {0, 1000000};

    /* The kernel may still be about to take out processes that have ended. */
    for (int i = 0; group && i < TRIES && rmdir(group->path) != 0 && errno == EBUSY; i++)
        nanosleep(&pause, NULL);
    free(group);
}
