/* fetch_serve.c - sends files to other agents, a piece at a time; see fetch.h.
 *
 * An incoming image is forwarded as it arrives, so that a tree of hosts takes little longer than
 * one host.
 *
 * What can fail: there is no such file (PIECE with the error), or it is still being written: it is
 * tried again until it exists or a timeout expires.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/clock.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/fetch_inside.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/saved.h"

#define PIECE_BYTES   262144u
#define WAITING_BYTES (UINT64_C(4) << 20) /* most bytes in the link's queue */
#define PUMP_MS       2
#define PATIENCE_NS   UINT64_C(60000000000) /* for a file being written */
#define UPLOADS_MAX   256u                  /* per host, which requests one file at a time */

static void send_piece(struct agent *agent, const struct upload *upload, const void *data,
                       uint32_t size, int error)
{
    struct wire_message message = {.kind = WIRE_PIECE};

    message.piece.request = upload->request;
    message.piece.offset = upload->offset;
    message.piece.size = upload->size;
    message.piece.mode = upload->mode;
    message.piece.error = (uint32_t)error;
    message.piece.data = (struct wire_bytes){data, size};
    agent_peers_send(agent, upload->host, &message);
}

static void free_upload(struct upload *upload)
{
    if (upload->fd >= 0)
        close(upload->fd);
    free(upload->path);
    free(upload);
}

void agent_fetch_stop_serving(struct fetches *fetches, uint32_t host)
{
    for (struct upload **at = &fetches->uploads; *at;) {
        struct upload *upload = *at;

        if (host != UINT32_MAX && upload->host != host) {
            at = &upload->next;
            continue;
        }
        *at = upload->next;
        free_upload(upload);
    }
}

static int open_binary(struct agent *agent, struct upload *upload)
{
    char why[BINARIES_WHY];
    const char *path;
    struct stat about;
    int file = binaries_open(agent_fetch_directory(agent, &path, why), upload->binary, upload->path,
                             &upload->size, why);

    if (file >= 0 && fstat(file, &about) == 0)
        upload->mode = about.st_mode & 0777;
    return file;
}

static int open_thing(struct agent *agent, struct upload *upload)
{
    struct store *store = agent_store(agent);
    char why[AGENT_WHY];

    if (upload->thing == WIRE_THING_BINARY)
        return open_binary(agent, upload);
    if (!store)
        return -ENOENT;
    upload->mode = 0600;
    return upload->thing == WIRE_THING_IMAGE
               ? store_image_open(store, upload->name, upload->pid, &upload->size, why)
               : store_manifest_open(store, upload->name, &upload->size, why);
}

static bool is_same(const struct upload *upload, const struct fetch_want *want)
{
    if (upload->thing != want->thing)
        return false;
    if (upload->thing == WIRE_THING_BINARY)
        return strcmp(upload->binary, want->file->name) == 0;
    return bspz_snapshot_same(upload->name, want->name) &&
           (upload->thing != WIRE_THING_IMAGE || upload->pid == want->pid);
}

/* Forwards the part of the incoming file that has arrived. */
static bool follow(struct fetches *fetches, struct upload *upload)
{
    const struct wanted *wanted = fetches->first;
    char path[64];

    if (!wanted || fetches->now.fd < 0 || !is_same(upload, &wanted->want))
        return false;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fetches->now.fd);
    upload->fd = open(path, O_RDONLY | O_CLOEXEC);
    upload->size = fetches->now.size;
    upload->mode = 0600;
    upload->follows = upload->fd >= 0;
    return upload->follows;
}

/* An incomplete file is shorter than announced, which the read will detect. */
void agent_fetch_passed_on(struct fetches *fetches)
{
    for (struct upload *upload = fetches->uploads; upload; upload = upload->next)
        upload->follows = false;
}

/* Whether the file may still arrive: it was requested here, too; it belongs to the snapshot that is
 * being taken or was just committed; or gathering is about to request it. */
static bool is_on_its_way(const struct agent *agent, const struct upload *upload)
{
    if (agent_now_ns() - upload->asked_ns >= PATIENCE_NS)
        return false;
    for (const struct wanted *one = fetches_of(agent)->first; one; one = one->next)
        if (is_same(upload, &one->want))
            return true;
    return upload->thing != WIRE_THING_BINARY && agent_store(agent) &&
           (bspz_snapshot_same(upload->name, agent_coming(agent)) ||
            (agent_job(agent) == JOB_FORMING && agent_here(agent) > 0));
}

/* False: the upload has ended or failed.  A link failure is reported later, from the loop, so that
 * the list of uploads does not change here. */
static bool send_some(struct agent *agent, struct upload *upload)
{
    struct fetches *fetches = fetches_of(agent);

    if (upload->fd < 0 && !follow(fetches, upload))
        upload->fd = open_thing(agent, upload);
    if (upload->fd < 0) {
        if (is_on_its_way(agent, upload))
            return true;
        send_piece(agent, upload, NULL, 0, -upload->fd);
        return false;
    }
    while (agent_peers_waiting(agent, upload->host) < WAITING_BYTES) {
        uint64_t there = upload->follows ? fetches->now.received : upload->size;
        uint64_t some = there - upload->offset < PIECE_BYTES ? there - upload->offset : PIECE_BYTES;
        ssize_t got;

        if (some == 0 && upload->follows)
            return true;
        got = pread(upload->fd, fetches->buffer, (size_t)some, (off_t)upload->offset);

        if (got < 0 || (got == 0 && upload->offset < upload->size)) {
            send_piece(agent, upload, NULL, 0, got < 0 ? errno : EIO);
            return false;
        }
        if ((uint64_t)got > upload->size - upload->offset)
            got = (ssize_t)(upload->size - upload->offset);
        send_piece(agent, upload, fetches->buffer, (uint32_t)got, 0);
        upload->offset += (uint64_t)got;
        if (upload->offset >= upload->size)
            return false;
    }
    return true;
}

static void on_pump(uv_timer_t *timer)
{
    agent_fetch_pump(timer->data);
}

void agent_fetch_pump(struct agent *agent)
{
    struct fetches *fetches = fetches_of(agent);

    if (fetches->uploads && !fetches->buffer)
        fetches->buffer = malloc(PIECE_BYTES);
    for (struct upload **at = &fetches->uploads; fetches->buffer && *at;) {
        struct upload *upload = *at;

        if (send_some(agent, upload)) {
            at = &upload->next;
            continue;
        }
        *at = upload->next;
        free_upload(upload);
    }
    if (fetches->uploads)
        uv_timer_start(&fetches->pump, on_pump, PUMP_MS, 0);
}

static void serve(struct agent *agent, struct fetches *fetches, uint32_t host,
                  const struct wire_message *message)
{
    struct upload *upload = calloc(1, sizeof *upload);
    const struct wire_fetch *fetch = &message->fetch;

    if (!upload)
        return;
    *upload = (struct upload){.host = host,
                              .request = fetch->request,
                              .fd = -1,
                              .asked_ns = agent_now_ns(),
                              .thing = (enum wire_thing)fetch->thing,
                              .name = {message->envelope.superstep, fetch->from},
                              .pid = fetch->pid};
    if (fetch->build_id.size > 0 && fetch->build_id.size < sizeof upload->binary)
        memcpy(upload->binary, fetch->build_id.data, fetch->build_id.size);
    upload->path = strdup(fetch->path);
    if (!upload->path) {
        free_upload(upload);
        return;
    }
    upload->next = fetches->uploads;
    fetches->uploads = upload;
    agent_fetch_pump(agent);
}

static bool asks_for_too_much(const struct fetches *fetches, uint32_t host)
{
    uint32_t count = 0;

    for (const struct upload *upload = fetches->uploads; upload; upload = upload->next)
        count += upload->host == host;
    return count >= UPLOADS_MAX;
}

void agent_fetch_serve(struct agent *agent, uint32_t host, const struct wire_message *message)
{
    struct fetches *fetches = agent_fetches(agent);

    if (fetches && asks_for_too_much(fetches, host))
        agent_peers_drop(agent, host, "it asks for too many files at a time");
    else if (fetches)
        serve(agent, fetches, host, message);
}
