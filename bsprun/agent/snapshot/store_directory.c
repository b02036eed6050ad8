/* store_directory.c - the directory of snapshots on a host that does not share bsprun's.
 *
 * bsprun's directory has a file that START names.  If that file is not visible the agent makes its
 * own directory, at the same path if possible, so that a user finds the images at one place on all
 * hosts, else below $TMPDIR.  An existing directory of the job was made by an agent, or by bsprun
 * if the job began on this host: it is used unless it is locked.  One below $TMPDIR is looked for
 * under every number, and also where the path is possible: between a job and its restart a host may
 * get another number, and the path may become possible.
 *
 * What can fail: neither can be made, or it is locked: the job cannot run on this host.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/election.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/saved.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/snapshot/inside.h"
#include "bsprun/leftovers.h"
#include "lib/base/clock.h"
#include "lib/base/temporary.h"

/* Lets the user's next job remove it if this agent cannot. */
static int mark_temporary(const char *path)
{
    char name[PATH_MAX + sizeof LEFTOVERS_MARK + 1];
    int file;

    snprintf(name, sizeof name, "%s/" LEFTOVERS_MARK, path);
    file = open(name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (file < 0)
        return -errno;
    close(file);
    return 0;
}

static void make_directories(const char *path)
{
    char name[PATH_MAX];

    snprintf(name, sizeof name, "%s", path);
    for (char *at = strchr(name + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        mkdir(name, 0700);
        *at = '/';
    }
    mkdir(name, 0700); /* the open will report a failure */
}

static bool is_of_this_job(struct agent *agent)
{
    struct manifest_terms terms;
    bool same;

    if (store_terms(agent_store(agent), &terms, NULL) != 0)
        return false;
    same = memcmp(terms.job.data, agent_job_id(agent), WIRE_JOB_SIZE) == 0;
    manifest_terms_free(&terms);
    return same;
}

/* DIR and JOB below it.  0, or -errno and `why`. */
static int open_own(struct agent *agent, const char *directory, const char *job, char *why)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    struct store *store;
    char path[PATH_MAX];
    int error;

    make_directories(directory);
    error = store_open(&store, directory, STORE_CREATE, NULL, why);
    if (error)
        return error;
    agent_set_store(agent, store);
    snprintf(path, sizeof path, "%s/%s", directory, job);
    if (access(path, F_OK) == 0)
        error = store_job_open(store, job, why);
    else
        error = store_job_create(store, agent_job_id(agent), bspz_wall_ns(), why);
    if (!error && !is_of_this_job(agent))
        error = -EEXIST;
    if (!error && snapshots->temporary)
        error = mark_temporary(path);
    if (!error && strcmp(store_job_name(store), job) != 0)
        error = -EINVAL;
    if (!error && !(snapshots->path = strdup(path)))
        error = -ENOMEM;
    if (error) {
        store_close(store);
        agent_set_store(agent, NULL);
    }
    return error;
}

#define HIDDEN_STEM 48

/* What the names of this host's places below $TMPDIR begin with. */
static void hidden_stem(const struct agent *agent, char stem[HIDDEN_STEM])
{
    snprintf(stem, HIDDEN_STEM, LEFTOVERS_STORE "%u-%u", (unsigned)getuid(), agent_host(agent));
}

/* The place of the job below $TMPDIR: where it is already, else the first name that no other user
 * has taken. */
static void hidden_directory(const struct agent *agent, const char *job, char path[PATH_MAX])
{
    char stem[HIDDEN_STEM], inside[PATH_MAX + NAME_MAX];
    unsigned first = 0;

    hidden_stem(agent, stem);
    for (unsigned number = 1; number <= BSPZ_TEMPORARY_NAMES; number++) {
        if (!bspz_temporary_name(path, stem, number) || bspz_temporary_is_taken(path))
            continue;
        snprintf(inside, sizeof inside, "%s/%.*s", path, NAME_MAX - 1, job);
        if (access(inside, F_OK) == 0)
            return;
        if (first == 0)
            first = number;
    }
    bspz_temporary_name(path, stem, first);
}

/* Uses the directory if it has the job, and both are this user's alone.  Hosts may share $TMPDIR:
 * what another one has stays its own. */
static bool try_hidden(struct agent *agent, const char *directory, const char *job)
{
    char inside[PATH_MAX + NAME_MAX], why[AGENT_WHY];

    snprintf(inside, sizeof inside, "%s/%.*s", directory, NAME_MAX - 1, job);
    return access(inside, F_OK) == 0 && !bspz_temporary_is_taken(directory) &&
           !bspz_temporary_is_taken(inside) && store_locked_here(directory) &&
           open_own(agent, directory, job, why) == 0;
}

static int is_hidden(const struct dirent *entry)
{
    char stem[48];
    int length = snprintf(stem, sizeof stem, LEFTOVERS_STORE "%u-", (unsigned)getuid());

    return strncmp(entry->d_name, stem, (size_t)length) == 0;
}

/* The job's place below $TMPDIR, if this host has one: that of its number, else of any other. */
static bool find_hidden(struct agent *agent, const char *job)
{
    const char *root = bspz_temporary_root();
    char directory[PATH_MAX];
    struct dirent **entries = NULL;
    bool found;
    int count;

    hidden_directory(agent, job, directory);
    found = try_hidden(agent, directory, job);
    count = found ? 0 : scandir(root, &entries, is_hidden, alphasort);
    for (int i = 0; i < count; i++) {
        found = found || (snprintf(directory, sizeof directory, "%s/%s", root, entries[i]->d_name) <
                              (int)sizeof directory &&
                          try_hidden(agent, directory, job));
        free(entries[i]);
    }
    free(entries);
    return found;
}

/* The first of the places below $TMPDIR that can be used; another job of the user's may have some.
 */
static int open_hidden(struct agent *agent, const char *job, char *why)
{
    char directory[PATH_MAX], stem[HIDDEN_STEM];

    hidden_directory(agent, job, directory);
    int error = open_own(agent, directory, job, why);
    hidden_stem(agent, stem);
    for (unsigned number = 1; error == -EBUSY && number <= BSPZ_TEMPORARY_NAMES; number++)
        if (bspz_temporary_name(directory, stem, number) && !bspz_temporary_is_taken(directory))
            error = open_own(agent, directory, job, why);
    return error;
}

static int open_private(struct agent *agent, const char *path, char *why)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    const char *job = strrchr(path, '/');
    char directory[PATH_MAX];
    bool here;

    if (!job || job == path || strlen(path) >= sizeof directory)
        return -EINVAL;
    snprintf(directory, sizeof directory, "%.*s", (int)(job - path), path);
    here = access(path, F_OK) == 0;
    if (here && open_own(agent, directory, job + 1, why) == 0)
        return 0;
    snapshots->hidden = find_hidden(agent, job + 1);
    if (snapshots->hidden || (!here && open_own(agent, directory, job + 1, why) == 0))
        return 0;
    snapshots->hidden = true;
    return open_hidden(agent, job + 1, why);
}

/* Always true without other hosts. */
static bool is_bspruns(const struct agent *agent, const char *path, const char *home)
{
    char name[PATH_MAX + WIRE_NAME_MAX + 2];

    snprintf(name, sizeof name, "%s/%s", path, home);
    return !agent_has_peers(agent) || (home[0] && access(name, F_OK) == 0);
}

int agent_store_open(struct agent *agent, const char *path, const char *home, char why[AGENT_WHY])
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    struct store *store = NULL;
    int error = -ENOENT;

    if (agent_has_peers(agent))
        leftovers_sweep();
    if (is_bspruns(agent, path, home)) {
        error = store_open(&store, path, STORE_JOIN, NULL, why);
        if (!error)
            error = store_job_open(store, NULL, why);
        if (error && agent_has_peers(agent)) {
            store_close(store);
            store = NULL;
        }
        agent_set_store(agent, store);
    }
    snapshots->shared = !error;
    if (!error || !agent_has_peers(agent))
        return error;
    snapshots->temporary = !snapshots->recover;
    return open_private(agent, path, why);
}

/* The last term on record in this host's own directory; 0: it has none. */
static uint32_t last_own_term(const struct agent *agent)
{
    struct manifest_terms terms;
    uint32_t last = 0;

    if (!agent_has_peers(agent) || snapshots_of(agent)->shared ||
        store_terms(agent_store(agent), &terms, NULL) != 0)
        return 0;
    if (terms.terms.count > 0)
        last = terms.terms.items[terms.terms.count - 1].term;
    manifest_terms_free(&terms);
    return last;
}

/* Those that this host has missed, as far as ELECT says how they began. */
static int note_missed(struct agent *agent, char why[AGENT_WHY])
{
    const struct coord_lineage *lineage = &agent_election(agent)->lineage;
    uint32_t last = last_own_term(agent);
    int error = 0;

    for (uint32_t i = 0; i < lineage->count && !error; i++) {
        const struct wire_begun *begun = &lineage->items[i];

        if (begun->term > last && begun->term < agent_term(agent))
            error =
                store_term_begin(agent_store(agent), begun->term, begun->from, bspz_wall_ns(), why);
    }
    return error;
}

int agent_note_term_again(struct agent *agent, char why[AGENT_WHY])
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    int error;

    if (snapshots->unnoted.term == 0)
        return 0;
    error = note_missed(agent, why);
    if (!error)
        error = store_term_begin(agent_store(agent), agent_term(agent), snapshots->unnoted,
                                 bspz_wall_ns(), why);
    if (!error)
        snapshots->unnoted = (struct bspz_snapshot_name){0, 0};
    return error;
}

void agent_note_term(struct agent *agent, struct bspz_snapshot_name from)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    char why[AGENT_WHY];

    if (!agent_has_peers(agent) || snapshots->shared)
        return;
    snapshots->unnoted = from;
    if (agent_note_term_again(agent, why) != 0)
        agent_notice(agent, "host %s: %.400s; it will be tried again with the next snapshot",
                     agent_host_name(agent), why);
}

/* bsprun was started where the job had been left behind.  The numbers of its terms would name
 * snapshots of two executions, and older ones than the user may expect would be used. */
bool agent_snapshots_outran(struct agent *agent)
{
    uint32_t last = last_own_term(agent);
    char why[AGENT_WHY];

    if (last < agent_term(agent))
        return false;
    snprintf(why, sizeof why,
             "host %s has later terms of this job (term %u) in %.200s: run bsprun --restart "
             "there, or leave it out of --hosts",
             agent_host_name(agent), last, snapshots_of(agent)->path);
    agent_cannot_go_on(agent, COORD_NOBODY, why);
    return true;
}

void agent_store_remove(struct agent *agent)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    /* After a normal end, a directory that users would not find is removed. */
    bool useless = snapshots->hidden && agent_is_finished(agent) &&
                   agent_outcome(agent)->cause == WIRE_CAUSE_NONE;
    char directory[PATH_MAX], lock[PATH_MAX + 8];
    char *slash;

    if (!snapshots->path || !(snapshots->temporary || useless))
        return;
    snprintf(directory, sizeof directory, "%s", snapshots->path);
    slash = strrchr(directory, '/');
    *slash = '\0';
    leftovers_remove(snapshots->path);
    snprintf(lock, sizeof lock, "%s/lock", directory);
    unlink(lock);
    rmdir(directory); /* unless there is another job */
}
