/* write_manifest.c - writes the manifest of a snapshot, and records how process 0 was started.
 *
 * That is read from /proc once process 0 is adopted, so that it is correct whatever started it: a
 * shell, a wrapper, PATH.  A replacement agent reads it from the manifest.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/snapshot/inside.h"

#define OWN_VARIABLES "BSPZERO_"
#define TEXT_MAX      ((size_t)WIRE_FRAME_MAX / 4)

/* ---- Process 0 ------------------------------------------------------------------------------- */

static char *read_link(pid_t ospid, const char *name)
{
    char path[64], target[PATH_MAX];
    ssize_t length;

    snprintf(path, sizeof path, "/proc/%d/%s", (int)ospid, name);
    length = readlink(path, target, sizeof target - 1);
    return length > 0 ? strndup(target, (size_t)length) : NULL;
}

/* The texts of /proc/PID/NAME. */
static char **read_texts(pid_t ospid, const char *name, const char *without, uint32_t *count)
{
    char path[64];
    char *bytes = malloc(TEXT_MAX), **texts;
    size_t used = 0;
    ssize_t got = -1;
    int file;

    snprintf(path, sizeof path, "/proc/%d/%s", (int)ospid, name);
    file = open(path, O_RDONLY | O_CLOEXEC);
    while (bytes && file >= 0 && used < TEXT_MAX &&
           (got = read(file, bytes + used, TEXT_MAX - used)) > 0)
        used += (size_t)got;
    if (file >= 0)
        close(file);
    texts = got < 0 ? NULL : snapshot_unpack_texts(bytes, used, without, count);
    free(bytes);
    return texts;
}

bool agent_identified(const struct agent *agent)
{
    return snapshots_of(agent)->identity.program != NULL;
}

void agent_forget_identity(struct identity *identity)
{
    free(identity->program);
    free(identity->directory);
    snapshot_free_texts(identity->arguments);
    snapshot_free_texts(identity->environment);
    *identity = (struct identity){0};
}

static bool is_whole(const struct identity *identity)
{
    return identity->program && identity->directory && identity->arguments && identity->environment;
}

void agent_identify(struct agent *agent, pid_t ospid)
{
    struct identity *identity = &snapshots_of(agent)->identity;

    if (agent_identified(agent))
        return;
    identity->directory = read_link(ospid, "cwd");
    identity->arguments = read_texts(ospid, "cmdline", NULL, &identity->argument_count);
    identity->environment =
        read_texts(ospid, "environ", OWN_VARIABLES, &identity->environment_count);
    identity->program = read_link(ospid, "exe");
    if (!is_whole(identity))
        agent_forget_identity(identity); /* it has just died, which will be handled */
}

bool agent_identify_from(struct agent *agent, const struct manifest *manifest)
{
    struct identity *identity = &snapshots_of(agent)->identity;

    if (agent_identified(agent))
        return true;
    identity->directory = strdup(manifest->directory);
    identity->arguments = snapshot_copy_texts(manifest->arguments.items, manifest->arguments.count);
    identity->argument_count = manifest->arguments.count;
    identity->environment =
        snapshot_copy_texts(manifest->environment.items, manifest->environment.count);
    identity->environment_count = manifest->environment.count;
    identity->program = strdup(manifest->program);
    if (is_whole(identity))
        return true;
    agent_forget_identity(identity);
    return false;
}

/* ---- The manifest ---------------------------------------------------------------------------- */

/* Memory for the lists of a manifest. */
struct lists {
    struct manifest_image *images;
    uint64_t *host_of, *together;
    const char **hosts;
    struct manifest_stream streams[3];
};

/* Lists the images as reported to Processor Zero.  Snapshot 0 is one image for all processes. */
static void list_images(const struct wire_persist *order, bool first, struct lists *lists)
{
    for (uint32_t pid = 0; pid < order->processes; pid++) {
        const struct wire_image *image = &order->images.items[pid];

        lists->images[pid] = (struct manifest_image){pid, first ? 0 : image->pid, image->facts};
    }
}

/* Lists the sums over all hosts per stream, as the amounts per process are unknown. */
static uint32_t list_streams(const struct wire_persist *order, struct lists *lists)
{
    lists->streams[0] = (struct manifest_stream){.pid = 0, .number = 0, .position = order->input};
    for (uint32_t number = 1; number <= 2; number++)
        lists->streams[number] = (struct manifest_stream){.number = number};
    for (uint32_t i = 0; i < order->output.count; i++)
        lists->streams[1 + i % 2].position += order->output.items[i];
    return 3;
}

static uint32_t count_hosts(const struct agent *agent)
{
    uint32_t count;

    agent_peers_hosts(agent, &count);
    return count > 0 ? count : 1;
}

/* Lists the hosts by name, and the host of each process. */
static struct wire_texts list_hosts(const struct agent *agent, struct lists *lists)
{
    uint32_t count;
    const struct wire_host *hosts = agent_peers_hosts(agent, &count);

    lists->hosts[0] = agent_host_name(agent);
    for (uint32_t i = 0; hosts && i < count; i++) {
        lists->hosts[i] = hosts[i].name;
        for (int pid = 0; pid < agent_nprocs(agent); pid++)
            if (agent_home(agent, pid) == hosts[i].host)
                lists->host_of[pid] = i;
    }
    return (struct wire_texts){lists->hosts, count > 0 ? count : 1};
}

static void fill(const struct agent *agent, const struct wire_message *message, struct lists *lists,
                 struct manifest *manifest)
{
    const struct agent_snapshots *snapshots = snapshots_of(agent);
    const struct identity *identity = &snapshots->identity;
    const struct wire_persist *order = &message->persist;

    *manifest = (struct manifest){
        .job = {agent_job_id(agent), WIRE_JOB_SIZE},
        .name = snapshots->ticket.name,
        .nprocs = order->processes,
        .created = snapshots->ticket.created,
        .program = identity->program,
        .arguments = {(const char *const *)identity->arguments, identity->argument_count},
        .environment = {(const char *const *)identity->environment, identity->environment_count},
        .directory = identity->directory,
        .options = {(const char *const *)snapshots->options, snapshots->option_count},
        .host_of = {lists->host_of, order->processes},
        .version = BSPZ_VERSION,
        .images = {lists->images, order->processes},
        .streams = {lists->streams, list_streams(order, lists)},
        .together = {lists->together, order->processes},
        .input_digest = order->input_digest,
    };
}

int agent_write_manifest(struct agent *agent, const struct wire_message *order, char *why)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    uint32_t processes = order->persist.processes;
    struct lists lists = {.images = calloc(processes, sizeof *lists.images),
                          .host_of = calloc(processes, sizeof *lists.host_of),
                          .together = calloc(processes, sizeof *lists.together),
                          .hosts = calloc(count_hosts(agent), sizeof *lists.hosts)};
    struct wire_texts hosts;
    struct manifest manifest;
    int error = -ENOMEM;

    snprintf(why, AGENT_WHY, "out of memory");
    if (!agent_identified(agent) || processes != (uint32_t)agent_nprocs(agent) ||
        order->persist.images.count != processes) {
        snprintf(why, AGENT_WHY, "it is not known how the program was started");
        error = -EINVAL;
    } else if (lists.images && lists.host_of && lists.together && lists.hosts) {
        list_images(&order->persist, snapshots->ticket.first, &lists);
        for (uint32_t pid = 0; pid < processes; pid++)
            lists.together[pid] = snapshots->together[pid];
        fill(agent, order, &lists, &manifest);
        hosts = list_hosts(agent, &lists);
        manifest.hosts = hosts;
        error = (snapshots->copies > 1 ? store_snapshot_commit_part : store_snapshot_commit)(
            snapshots->ticket.staging, &manifest, why);
    }
    if (!error)
        snapshots->ticket.staging = NULL;
    free(lists.images);
    free(lists.host_of);
    free(lists.together);
    free(lists.hosts);
    return error;
}
