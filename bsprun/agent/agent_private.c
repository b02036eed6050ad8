/* agent_private.c - the directory of snapshots on a host that does not see bsprun's.
 *
 * A job's folder is named by chance: one that is there is bsprun's own, unless this host's agent has
 * made and marked it.  Else the agent makes one, at the same path if it can, so that a user finds
 * the images on all hosts in one place; below $TMPDIR if not.
 *
 * What can fail: neither can be had, or somebody else writes there: no job on this host.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "bsprun/agent/agent_snapshots.h"

#define MARK            "private"
#define DESCRIPTORS_FTW 16

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static bool is_marked(const char *path)
{
    char name[PATH_MAX + sizeof MARK + 1];

    snprintf(name, sizeof name, "%s/" MARK, path);
    return access(name, F_OK) == 0;
}

static int mark(const char *path)
{
    char name[PATH_MAX + sizeof MARK + 1];
    int file;

    snprintf(name, sizeof name, "%s/" MARK, path);
    file = open(name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
        return -errno;
    close(file);
    return 0;
}

static void make_folders(const char *path)
{
    char name[PATH_MAX];

    snprintf(name, sizeof name, "%s", path);
    for (char *at = strchr(name + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        mkdir(name, 0700);
        *at = '/';
    }
    mkdir(name, 0700); /* whether it is there is seen by who opens it */
}

/* DIR and JOB below it, marked.  0, or -errno and `why`. */
static int open_own(struct agent *agent, const char *folder, const char *job, char *why)
{
    struct agent_snapshots *snapshots = agent->snapshots;
    char path[PATH_MAX];
    int error;

    make_folders(folder);
    error = store_open(&snapshots->store, folder, STORE_CREATE, NULL, why);
    if (error) {
        snapshots->store = NULL;
        return error;
    }
    snprintf(path, sizeof path, "%s/%s", folder, job);
    if (access(path, F_OK) == 0)
        error = is_marked(path) ? store_job_open(snapshots->store, job, why) : -EEXIST;
    else
        error = store_job_create(snapshots->store, agent->job_id, now_ns(), why);
    if (!error)
        error = mark(path);
    if (!error && strcmp(store_job_name(snapshots->store), job) != 0)
        error = -EINVAL;
    if (!error && !(snapshots->path = strdup(path)))
        error = -ENOMEM;
    if (error) {
        store_close(snapshots->store);
        snapshots->store = NULL;
    }
    return error;
}

static int open_private(struct agent *agent, const char *path, char *why)
{
    const char *job = strrchr(path, '/'), *root = getenv("TMPDIR");
    char folder[PATH_MAX];
    int error;

    if (!job || job == path || strlen(path) >= sizeof folder)
        return -EINVAL;
    snprintf(folder, sizeof folder, "%.*s", (int)(job - path), path);
    error = open_own(agent, folder, job + 1, why);
    if (!error)
        return 0;
    snprintf(folder, sizeof folder, "%s/bspzero-store-%u-%u", root && root[0] == '/' ? root : "/tmp",
             (unsigned)getuid(), agent->host);
    return open_own(agent, folder, job + 1, why);
}

int agent_store_open(struct agent *agent, const char *path, char why[AGENT_WHY])
{
    struct agent_snapshots *snapshots = agent->snapshots;
    bool own = agent->peers && is_marked(path);
    int error = own ? -ENOENT : store_open(&snapshots->store, path, STORE_JOIN, NULL, why);

    if (!error)
        error = store_job_open(snapshots->store, NULL, why);
    snapshots->shared = !error;
    if (!error || !agent->peers)
        return error;
    if (!own) {
        store_close(snapshots->store);
        snapshots->store = NULL;
    }
    snapshots->temporary = !snapshots->recover;
    return open_private(agent, path, why);
}

void agent_note_term(struct agent *agent, struct coord_name from)
{
    struct agent_snapshots *snapshots = agent->snapshots;
    char why[AGENT_WHY];

    if (agent->peers && !snapshots->shared &&
        store_term_begin(snapshots->store, agent->term, from.superstep, from.term, now_ns(), why) !=
            0)
        agent_notice(agent, "%s", why);
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about;
    (void)kind;
    (void)place;
    remove(path);
    return 0;
}

void agent_store_remove(struct agent *agent)
{
    struct agent_snapshots *snapshots = agent->snapshots;
    char folder[PATH_MAX], lock[PATH_MAX + 8];
    char *slash;

    if (!snapshots->path || !snapshots->temporary)
        return;
    snprintf(folder, sizeof folder, "%s", snapshots->path);
    slash = strrchr(folder, '/');
    *slash = '\0';
    nftw(snapshots->path, remove_one, DESCRIPTORS_FTW, FTW_DEPTH | FTW_PHYS);
    snprintf(lock, sizeof lock, "%s/lock", folder);
    unlink(lock);
    rmdir(folder); /* unless there is another job */
}
