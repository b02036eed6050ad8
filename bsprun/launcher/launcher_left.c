/* launcher_left.c - after the loss of a job: which snapshot survives, on which hosts, and the
 * command to restart from it.
 *
 * Happy path: the newest snapshot is completely in the directory, or on hosts that are up.
 *
 * What can fail: some of its images are on hosts that were lost; none of it is in the directory, as
 * hosts share none, or as it is lost.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/hosts/launch_command.h"
#include "bsprun/launcher/launcher_inside.h"
#include "lib/base/units.h"

#define LACKS_MOST 4u /* most images that are named */
#define HOLDERS    16u
#define HOSTS_MOST 16u /* most hosts in a command that is shown */

/* An image that is neither in the directory nor on a host that is up. */
struct lack {
    uint32_t pid;
    struct bspz_snapshot_name name;
    char hosts[256]; /* hosts that had it */
};

struct look {
    struct launcher *launcher;
    struct lack lacks[LACKS_MOST];
    uint32_t count;
};

/* The command that goes on with the job, to be pasted into a shell; at: "" or @SUPERSTEP.  It is
 * freed by the caller. */
static char *restart_command(const struct launcher *launcher, const char *at)
{
    const char *directory = launcher->common.saved.directory, *own = strrchr(directory, '@');
    char *word = NULL, *quoted, *command = NULL;
    uint64_t number;
    /* A name that ends as if a superstep were given is told from that by a slash. */
    bool ambiguous = !at[0] && own && bspz_whole(own + 1, 0, WIRE_NEVER - 1, &number);

    if (asprintf(&word, "%s%s%s", directory, ambiguous ? "/" : "", at) < 0)
        word = NULL;
    quoted = word ? launch_quoted(word) : NULL;
    if (asprintf(&command, "bsprun --restart %s", quoted ? quoted : "DIR") < 0)
        command = NULL;
    free(quoted);
    free(word);
    return command;
}

static bool is_there(const struct launcher *launcher, const char *name)
{
    for (uint32_t i = 0; i < launcher->agents.count; i++)
        if (strcmp(launcher->agents.items[i].name, name) == 0)
            return launcher->agents.items[i].line != NULL;
    return false;
}

/* The host of the process and those after it, as the agents distribute replicas.  True: one of them
 * is up. */
static bool find_holders(const struct launcher *launcher, const struct manifest *manifest,
                         uint32_t pid, char *text, size_t size)
{
    uint32_t copies = launcher->common.options->hosts.copies, count = manifest->hosts.count;
    size_t used = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < count && i < HOLDERS && (i == 0 || i < copies); i++) {
        const char *name = manifest->hosts.items[(manifest->host_of.items[pid] + i) % count];

        if (is_there(launcher, name))
            return true;
        if (used < size)
            used +=
                (size_t)snprintf(text + used, size - used, "%s%s", i > 0 ? " and on " : "", name);
    }
    return false;
}

static void note_lack(void *context, const struct store_fault *fault)
{
    struct look *look = context;
    struct lack *lack = &look->lacks[look->count];
    struct manifest manifest;

    if (look->count == LACKS_MOST || fault->pid < 0)
        return;
    *lack = (struct lack){(uint32_t)fault->pid, fault->name, ""};
    if (store_manifest(look->launcher->common.saved.store, fault->name, &manifest, NULL) != 0)
        return;
    if (lack->pid >= manifest.nprocs ||
        !find_holders(look->launcher, &manifest, lack->pid, lack->hosts, sizeof lack->hosts))
        look->count++;
    manifest_free(&manifest);
}

/* Reports missing images. */
static void tell_lacks(struct launcher *launcher, const struct look *look,
                       const struct manifest *manifest, const char *at)
{
    char *command = restart_command(launcher, at);

    for (uint32_t i = 0; i < look->count; i++) {
        const struct lack *lack = &look->lacks[i];

        notices_say(&launcher->common.notices,
                    "the image %llu.%u/%u.img, of process %u, is neither in %s nor on a host that "
                    "is in the job now; it was on host %s",
                    (unsigned long long)lack->name.superstep, lack->name.term, lack->pid, lack->pid,
                    launcher->common.saved.directory, lack->hosts[0] ? lack->hosts : "(unknown)");
    }
    notices_say(&launcher->common.notices,
                "the snapshots are kept: %s continues from superstep %llu when %s "
                "of these hosts is up and one of the hosts of the job (--hosts)",
                command ? command : "", (unsigned long long)manifest->name.superstep,
                look->count > 1 ? "one for each image" : "one");
    free(command);
}

/* No snapshot in the directory can be used. */
static void tell_lost(struct launcher *launcher, const char *directory, const char *error)
{
    notices_say(&launcher->common.notices,
                "%s; bspckpt verify %s says what is left, and bspckpt repair %s makes again what "
                "it can",
                error[0] ? error : "no snapshot can be used", directory, directory);
}

/* What is wrong here, and which other hosts may have the snapshots.  bsprun does not know whether
 * they share the directory, in which case all has been lost. */
static void tell_elsewhere(struct launcher *launcher, const char *error)
{
    char hosts[512] = "", *command = restart_command(launcher, "");
    char *quoted = launch_quoted(launcher->common.saved.directory);
    const char *directory = quoted ? quoted : "DIR";
    size_t used = 0;

    for (uint32_t i = 0; i < launcher->agents.count; i++) {
        const struct launcher_agent *agent = &launcher->agents.items[i];

        if (launcher->savers[i] && !agent->local && used < sizeof hosts)
            used += (size_t)snprintf(hosts + used, sizeof hosts - used, "%s%s", used ? ", " : "",
                                     agent->name);
    }
    tell_lost(launcher, directory, error);
    if (used > 0)
        notices_say(&launcher->common.notices,
                    "hosts that do not share %s may have some of the snapshot of superstep %llu in "
                    "a %s of their own (or bspzero-store-%u-NUMBER of TMPDIR): %s; if so, %s on "
                    "one of them, with the others up, continues from there",
                    directory, (unsigned long long)launcher->committed.superstep, directory,
                    (unsigned)getuid(), hosts, command ? command : "");
    free(quoted);
    free(command);
}

/* A host as --hosts takes it. */
static int write_host(const struct launcher_agent *agent, char *text, size_t size)
{
    const char *user = agent->given->user;
    bool bracketed = strchr(agent->name, ':');
    char slots[16] = "";

    if (agent->slots > 0)
        snprintf(slots, sizeof slots, ":%u", agent->slots);
    return snprintf(text, size, "%s%s%s%s%s%s", user ? user : "", user ? "@" : "",
                    bracketed ? "[" : "", agent->name, bracketed ? "]" : "", slots);
}

/* The hosts of the job, each once; many of them as LIST. */
static void list_hosts(const struct launcher *launcher, char *text, size_t size)
{
    size_t used = 0;
    uint32_t named = 0;

    text[0] = '\0';
    for (uint32_t i = 0; i < launcher->agents.count; i++) {
        const struct launcher_agent *agent = &launcher->agents.items[i];

        if (!job_machine_member(launcher->machine, i) || agent->given->reached)
            continue;
        if (named++ < HOSTS_MOST && used < size) {
            used += (size_t)snprintf(text + used, size - used, "%s", used > 0 ? "," : "");
            if (used < size)
                used += (size_t)write_host(agent, text + used, size - used);
        }
    }
    if (named > HOSTS_MOST || used >= size || used == 0)
        snprintf(text, size, "LIST");
}

/* All of it is there, but the hosts have too little memory. */
static void tell_crowded(struct launcher *launcher, const char *at, uint64_t superstep)
{
    char hosts[1024], *command = restart_command(launcher, at);

    list_hosts(launcher, hosts, sizeof hosts);
    notices_say(&launcher->common.notices,
                "the snapshots are kept: %s --hosts %s,HOST%s continues from superstep %llu with a "
                "further HOST that has enough memory",
                command ? command : "", hosts,
                launcher->common.options->hosts.spares > 0 ? " --spares 0" : "",
                (unsigned long long)superstep);
    free(command);
}

static void tell_all_there(struct launcher *launcher, const char *at, uint64_t superstep)
{
    char *command = restart_command(launcher, at);

    notices_say(&launcher->common.notices, "%s continues from superstep %llu",
                command ? command : "", (unsigned long long)superstep);
    free(command);
}

void launcher_tell_left(struct launcher *launcher)
{
    bool crowded = launcher->last_cause == WIRE_CAUSE_NO_MEMORY;
    bool refused = launcher->common.saved.restart &&
                   (crowded || launcher->last_cause == WIRE_CAUSE_NOTHING_SAVED);
    uint64_t wanted = refused ? launcher->common.options->snapshots.restart_at : WIRE_NEVER;
    char at[32] = "", note[SAVED_TEXT], error[SAVED_TEXT];
    struct look look = {.launcher = launcher};
    struct manifest manifest;

    if (launcher->committed.term == 0 || access(launcher->common.saved.job_directory, F_OK) != 0)
        return;
    if (wanted != WIRE_NEVER)
        snprintf(at, sizeof at, "@%llu", (unsigned long long)wanted);
    if (store_newest(launcher->common.saved.store, wanted, WIRE_NEVER, &manifest, note, error) !=
        0) {
        tell_elsewhere(launcher, error);
        return;
    }
    int status = store_check(launcher->common.saved.store, &manifest, false, note_lack, &look);
    if (status < 0 && status != -ENOENT) /* damaged, and perhaps whole elsewhere */
        tell_elsewhere(launcher, note);
    else if (look.count > 0)
        tell_lacks(launcher, &look, &manifest, at);
    else if (crowded)
        tell_crowded(launcher, at, manifest.name.superstep);
    else
        tell_all_there(launcher, at, manifest.name.superstep);
    manifest_free(&manifest);
}
