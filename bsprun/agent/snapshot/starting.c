/* starting.c - starts processes that become those of images.
 *
 * What can fail: a manifest, an image or a base cannot be opened; the program is another one, or
 * cannot be started.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/input.h"
#include "bsprun/agent/core/launch.h"
#include "bsprun/agent/core/order.h"
#include "bsprun/agent/core/output.h"
#include "bsprun/agent/snapshot/inside.h"
#include "bsprun/verdict.h"
#include "ckpt/binaries.h"
#include "ckpt/capture/capture.h"
#include "lib/base/hex.h"
#include "lib/shm/ahead.h"

#define VARIABLES_MORE 7 /* board, task, gathered ones, elsewhere, ahead, the end */

/* ---- Images ---- */

void agent_chain_close(struct chain *chain)
{
    while (chain->count > 0)
        close(chain->fds[--chain->count]);
}

int agent_chain_open(struct sources *sources, struct bspz_snapshot_name name, uint32_t pid,
                     struct chain *chain, char *why)
{
    const struct manifest_image *image;
    uint64_t size;
    int error;

    chain->count = 0;
    do {
        const struct manifest *manifest = agent_manifest_of(sources, name, &error, why);
        struct bspz_image_name *one = &chain->names[chain->count];

        if (!manifest)
            return -EIO;
        if (pid >= manifest->nprocs || chain->count == (int)BSPZ_IMAGE_CHAIN_MAX) {
            snprintf(why, AGENT_WHY, "the chain of images does not end");
            return -EIO;
        }
        image = &manifest->images.items[pid];
        *one = (struct bspz_image_name){
            .superstep = name.superstep, .term = name.term, .pid = image->image_pid};
        memcpy(one->digest, image->facts.digest, sizeof one->digest);
        chain->fds[chain->count] =
            store_image_open(sources->store, name, image->image_pid, &size, why);
        if (chain->fds[chain->count] < 0)
            return -EIO;
        chain->count++;
        name = bspz_image_snapshot(&image->facts.base);
        pid = image->facts.base.pid;
    } while (image->facts.generation > 0);
    return 0;
}

/* ---- Starting ---- */

/* BSPZ_ENV_RESTORE and its value; for free(). */
static char *restore_variable(int pid, const struct chain *chain)
{
    const struct bspz_image_name *name = &chain->names[0];
    char digest[2 * BSPZ_IMAGE_DIGEST_SIZE + 1], fds[BSPZ_IMAGE_CHAIN_MAX * 12 + 1] = "";
    size_t used = 0;
    char *text;

    bspz_hex(digest, name->digest, BSPZ_IMAGE_DIGEST_SIZE);
    for (int i = 0; i < chain->count; i++)
        used += (size_t)snprintf(fds + used, sizeof fds - used, "%s%d", i > 0 ? "," : "",
                                 chain->fds[i]);
    return asprintf(&text, "%s=%d:%u:%llu:%u:%s:%s", BSPZ_ENV_RESTORE, pid, name->pid,
                    (unsigned long long)name->superstep, name->term, digest, fds) < 0
               ? NULL
               : text;
}

static char *ahead_variable(int socket)
{
    char *text;

    return asprintf(&text, "%s=%d", BSPZ_ENV_AHEAD, socket) < 0 ? NULL : text;
}

void agent_standard(struct agent *agent, int pid, int null, int standard[3])
{
    standard[0] = pid == agent_order(agent)->stdin_pid ? agent_input_reader(agent) : null;
    standard[1] = agent_relay_socket(agent, 1);
    standard[2] = agent_relay_socket(agent, 2);
}

/* Fills in the environment of a process, whose own begins it. */
static void add_variables(struct agent *agent, char **environment, char *board, char *restore,
                          char *ahead)
{
    static char elsewhere[] = BSPZ_ENV_ELSEWHERE "=1";
    uint32_t count = snapshots_of(agent)->identity.environment_count;

    memcpy(environment, snapshots_of(agent)->identity.environment, count * sizeof *environment);
    environment[count++] = board;
    environment[count++] = restore;
    for (int i = 0; i < 2; i++)
        if (agent_gathered_variable(agent, i))
            environment[count++] = (char *)agent_gathered_variable(agent, i);
    if (making_is_remote(snapshots_of(agent)->making))
        environment[count++] = elsewhere;
    if (ahead)
        environment[count++] = ahead;
}

static pid_t launch(struct agent *agent, int pid, const struct chain *chain, int socket)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    const struct identity *identity = &snapshots->identity;
    const char *program = agent_gathered_program(agent);
    char **environment =
        calloc((size_t)identity->environment_count + VARIABLES_MORE, sizeof *environment);
    char *board = agent_board_variable(agent), *restore = restore_variable(pid, chain);
    char *ahead = socket >= 0 ? ahead_variable(socket) : NULL;
    int handed_on[BSPZ_IMAGE_CHAIN_MAX + 1];
    int null = open("/dev/null", O_RDONLY | O_CLOEXEC);
    struct agent_launch launch = {
        .agent = agent,
        .path = program ? program : identity->program,
        .arguments = identity->arguments,
        .environment = environment,
        .directory = "",
        .own_group = pid > 0,
        .handed_on = handed_on,
        .handed_on_count = chain->count + (socket >= 0),
        .shares = socket >= 0 ? NULL : snapshots->shares,
        .group = snapshots->together[pid],
    };
    pid_t ospid = -ENOMEM;

    memcpy(handed_on, chain->fds, (size_t)chain->count * sizeof *handed_on);
    handed_on[chain->count] = socket;
    agent_standard(agent, pid, null, launch.standard);
    if (socket >= 0)
        launch.standard[0] = null; /* the input may be on another host still */
    if (environment && board && restore && (ahead || socket < 0)) {
        add_variables(agent, environment, board, restore, ahead);
        ospid = agent_launch(&launch);
    }
    if (null >= 0)
        close(null);
    free(ahead);
    free(restore);
    free(board);
    free(environment);
    return ospid;
}

/* Checks the file at the program's path once for all processes, before it is executed. 0, or
 * -ENOEXEC and `why`: another snapshot would need the same program. */
static int check_program(struct agent *agent, struct sources *sources, const struct chain *chain,
                         char *why)
{
    const char *gathered = agent_gathered_program(agent);
    char reason[BINARIES_WHY];
    int error;

    if (sources->program_checked)
        return 0;
    sources->program_checked = true;
    error = binaries_check_program(chain->fds[0],
                                   gathered ? gathered : snapshots_of(agent)->identity.program,
                                   agent_gathered_variable(agent, 0) != NULL, reason);
    if (!error)
        return 0;
    snprintf(why, AGENT_WHY, "%.500s", reason);
    return -ENOEXEC;
}

/* Checks that the program's libbsp, which wrote the image, is compatible with this agent, before
 * anything is started. */
static bool is_of_this_library(struct sources *sources, const struct chain *chain, char *why)
{
    struct bspz_snapshot_name name = bspz_image_snapshot(&chain->names[0]);
    struct bspz_image_header header;
    const struct manifest *manifest;
    int error;

    manifest = agent_manifest_of(sources, name, &error, why);
    if (!manifest || pread(chain->fds[0], &header, sizeof header, 0) != (ssize_t)sizeof header ||
        memcmp(header.magic, BSPZ_IMAGE_MAGIC, sizeof header.magic) != 0 ||
        header.libbsp_version == BSPZ_LIBRARY_VERSION)
        return true; /* or damaged, which the process will report */
    snprintf(why, AGENT_WHY,
             "snapshot %llu.%u was taken by bspzero %.40s (libbsp %u), and this is bspzero %s "
             "(libbsp %u): restart it with the bsprun that took it, or link the program again and "
             "start from the beginning",
             (unsigned long long)name.superstep, name.term, manifest->version,
             header.libbsp_version, BSPZ_VERSION, BSPZ_LIBRARY_VERSION);
    return false;
}

pid_t agent_start_of_image(struct agent *agent, int pid, const struct chain *chain,
                           struct sources *sources, int socket, char *why)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    pid_t ospid;

    if (!is_of_this_library(sources, chain, why) || check_program(agent, sources, chain, why) != 0)
        return -ENOEXEC;
    if (snapshots->shares && socket < 0)
        shares_open(snapshots->shares, snapshots->together[pid], chain->fds[0]);
    ospid = launch(agent, pid, chain, socket);
    if (ospid < 0) {
        snprintf(why, AGENT_WHY, "%.300s cannot be started: %s%s", snapshots->identity.program,
                 strerror(-ospid), verdict_limit_hint(-ospid));
        return -ENOEXEC;
    }
    return ospid;
}
