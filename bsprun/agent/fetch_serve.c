/* fetch_serve.c - sends files to other agents, a piece at a time; see fetch.h.
 *
 * What can fail: there is no such file (PIECE with the error), or it is still being written: it is
 * looked for again until it is there or too much time has passed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bsprun/agent/fetch_inside.h"

#define PIECE_BYTES   262144u
#define WAITING_BYTES (UINT64_C(4) << 20) /* in the link's queue, at most */
#define PUMP_MS       2
#define PATIENCE_NS   UINT64_C(60000000000) /* for what is being written */
#define UPLOADS_MAX   256u                  /* for one host, which asks for one thing at a time */

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

static int open_thing(struct agent *agent, struct upload *upload)
{
    struct store *store = agent->snapshots ? agent->snapshots->store : NULL;
    char why[AGENT_WHY];

    if (!store)
        return -ENOENT;
    upload->mode = 0600;
    return upload->thing == WIRE_THING_IMAGE
               ? store_image_open(store, upload->name.superstep, upload->name.term, upload->pid,
                                  &upload->size, why)
               : store_manifest_open(store, upload->name.superstep, upload->name.term,
                                     &upload->size, why);
}

/* Whether it may yet come: the snapshot that is being taken, or was just committed. */
static bool is_on_its_way(const struct agent *agent, const struct upload *upload)
{
    return agent->snapshots && upload->thing != WIRE_THING_BINARY &&
           coord_name_same(upload->name, agent->snapshots->ticket.name) &&
           agent_now_ns() - upload->asked_ns < PATIENCE_NS;
}

/* False: it is over, well or not. */
static bool send_some(struct agent *agent, struct upload *upload, void *buffer)
{
    if (upload->fd < 0)
        upload->fd = open_thing(agent, upload);
    if (upload->fd < 0) {
        if (is_on_its_way(agent, upload))
            return true;
        send_piece(agent, upload, NULL, 0, -upload->fd);
        return false;
    }
    while (links_waiting(agent->peers->links, upload->host) < WAITING_BYTES) {
        ssize_t got = pread(upload->fd, buffer, PIECE_BYTES, (off_t)upload->offset);

        if (got < 0 || (got == 0 && upload->offset < upload->size)) {
            send_piece(agent, upload, NULL, 0, got < 0 ? errno : EIO);
            return false;
        }
        if ((uint64_t)got > upload->size - upload->offset)
            got = (ssize_t)(upload->size - upload->offset);
        send_piece(agent, upload, buffer, (uint32_t)got, 0);
        upload->offset += (uint64_t)got;
        if (upload->offset >= upload->size)
            return false;
        if (!agent->peers->links)
            return true; /* sending has found it broken */
    }
    return true;
}

static void on_pump(uv_timer_t *timer)
{
    agent_fetch_pump(timer->data);
}

void agent_fetch_pump(struct agent *agent)
{
    struct fetches *fetches = agent->peers->fetches;
    void *buffer = fetches->uploads ? malloc(PIECE_BYTES) : NULL;

    for (struct upload **at = &fetches->uploads; buffer && *at;) {
        struct upload *upload = *at;

        if (agent->peers->links && send_some(agent, upload, buffer)) {
            at = &upload->next;
            continue;
        }
        if (*at != upload)
            break; /* the host was lost meanwhile, and the list has changed */
        *at = upload->next;
        free_upload(upload);
    }
    free(buffer);
    if (fetches->uploads)
        uv_timer_start(&fetches->pump, on_pump, PUMP_MS, 0);
}

static void serve(struct agent *agent, struct fetches *fetches, uint32_t host,
                  const struct wire_message *message)
{
    struct upload *upload = calloc(1, sizeof *upload);
    const struct wire_fetch *fetch = &message->fetch;
    char name[BSPZ_BINARY_NAME] = "", why[BINARIES_WHY];
    const char *path;

    if (!upload)
        return;
    *upload = (struct upload){.host = host,
                              .request = fetch->request,
                              .fd = -1,
                              .asked_ns = agent_now_ns(),
                              .thing = (enum wire_thing)fetch->thing,
                              .name = {message->envelope.superstep, fetch->from},
                              .pid = fetch->pid};
    if (fetch->thing == WIRE_THING_BINARY) {
        struct stat about;

        if (fetch->build_id.size > 0 && fetch->build_id.size < sizeof name)
            memcpy(name, fetch->build_id.data, fetch->build_id.size);
        upload->fd = binaries_open(agent_fetch_folder(agent, &path, why), name, fetch->path,
                                   &upload->size, why);
        if (upload->fd < 0 || fstat(upload->fd, &about) != 0) {
            send_piece(agent, upload, NULL, 0, ENOENT);
            free_upload(upload);
            return;
        }
        upload->mode = about.st_mode & 0777;
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
