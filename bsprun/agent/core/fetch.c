/* fetch.c - gets files from other agents; see fetch.h. */
#include "bsprun/agent/core/fetch_inside.h"
#include "bsprun/agent/core/to_bsprun.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/agent/core/saved.h"
#include "lib/base/io.h"

static void ask_next(struct agent *agent);

/* ---- What is wanted -------------------------------------------------------------------------- */

static void free_wanted(struct wanted *wanted)
{
    free(wanted->file.path);
    free(wanted);
}

/* Removes the incomplete incoming file. */
static void give_up_incoming(struct fetches *fetches)
{
    struct incoming *now = &fetches->now;

    agent_fetch_finish_wait(now);
    agent_fetch_passed_on(fetches);
    if (now->fd >= 0)
        close(now->fd);
    store_snapshot_leave(now->staging);
    binaries_give_up(now->copy);
    bspz_buffer_free(&now->manifest);
    *now = (struct incoming){.fd = -1};
}

static void finish_first(struct agent *agent, int error, const char *why)
{
    struct fetches *fetches = fetches_of(agent);
    struct wanted *wanted = fetches->first;

    give_up_incoming(fetches);
    fetches->first = wanted->next;
    if (!fetches->first)
        fetches->last = &fetches->first;
    wanted->want.done(agent, &wanted->want, error, why);
    free_wanted(wanted);
    if (fetches_of(agent) == fetches && fetches->first && fetches->now.request == 0)
        ask_next(agent);
}

/* The next host to ask: first the two that should have it, then all others.  *asked: how many of
 * these have had their turn then. */
static bool host_to_ask(const struct agent *agent, const struct wanted *wanted, uint32_t *host,
                        uint32_t *asked)
{
    const struct fetch_want *want = &wanted->want;
    uint32_t count;
    const struct wire_host *hosts = agent_peers_hosts(agent, &count);

    for (uint32_t i = wanted->asked; i < count + 2; i++) {
        *host = i == 0 ? want->from : i == 1 ? want->otherwise : hosts[i - 2].host;
        *asked = i + 1;
        if (*host != agent_host(agent) && !agent_peers_is_lost(agent, *host) &&
            (i == 0 || *host != want->from) && (i <= 1 || *host != want->otherwise) &&
            (i >= 2 || agent_peers_find(agent, *host)))
            return true;
    }
    return false;
}

static void ask(struct agent *agent, struct wanted *wanted, uint32_t host)
{
    struct fetches *fetches = fetches_of(agent);
    const struct fetch_want *want = &wanted->want;
    struct wire_message message = {.kind = WIRE_FETCH};

    fetches->now.request = ++fetches->requests;
    fetches->now.host = host;
    message.envelope.superstep = want->name.superstep;
    message.fetch.request = fetches->now.request;
    message.fetch.thing = want->thing;
    message.fetch.from = want->name.term;
    message.fetch.pid = want->pid;
    message.fetch.path = want->file ? want->file->path : "";
    if (want->file)
        message.fetch.build_id =
            (struct wire_bytes){want->file->name, (uint32_t)strlen(want->file->name)};
    agent_peers_send(agent, host, &message);
}

static void ask_next(struct agent *agent)
{
    struct wanted *wanted = fetches_of(agent)->first;
    uint32_t host;
    bool found = host_to_ask(agent, wanted, &host, &wanted->asked);

    give_up_incoming(fetches_of(agent));
    if (found)
        ask(agent, wanted, host);
    else
        finish_first(agent, -ENOENT, "no host of the job has it");
}

/* Reports a failure without hosts to ask from the loop, not before agent_fetch has returned. */
static void on_first(uv_timer_t *timer)
{
    const struct fetches *fetches = fetches_of(timer->data);

    if (fetches->first && fetches->now.request == 0)
        ask_next(timer->data);
}

int agent_fetch(struct agent *agent, const struct fetch_want *want)
{
    struct fetches *fetches = agent_fetches(agent);
    struct wanted *wanted = fetches ? calloc(1, sizeof *wanted) : NULL;
    uint32_t host, asked;

    if (!wanted)
        return -ENOMEM;
    wanted->want = *want;
    if (want->file) {
        wanted->file = *want->file;
        wanted->file.path = strdup(want->file->path);
        wanted->want.file = &wanted->file;
        if (!wanted->file.path) {
            free(wanted);
            return -ENOMEM;
        }
    }
    *fetches->last = wanted;
    fetches->last = &wanted->next;
    if (fetches->first != wanted)
        return 0;
    if (host_to_ask(agent, wanted, &host, &asked))
        ask_next(agent);
    else
        uv_timer_start(&fetches->begin, on_first, 0, 0);
    return 0;
}

static bool is_of_snapshot(const struct fetch_want *want, struct bspz_snapshot_name name)
{
    return want->thing != WIRE_THING_BINARY && bspz_snapshot_same(want->name, name);
}

void agent_fetch_cancel(struct agent *agent, struct bspz_snapshot_name name)
{
    struct fetches *fetches = fetches_of(agent);

    if (!fetches)
        return;
    fetches->last = &fetches->first;
    while (*fetches->last) {
        struct wanted *wanted = *fetches->last;
        bool is_first = wanted == fetches->first;

        if (!is_of_snapshot(&wanted->want, name) || (is_first && fetches->now.finishing)) {
            fetches->last = &wanted->next;
            continue;
        }
        if (is_first)
            give_up_incoming(fetches);
        *fetches->last = wanted->next;
        free_wanted(wanted);
    }
    if (fetches->first && fetches->now.request == 0)
        uv_timer_start(&fetches->begin, on_first, 0, 0);
}

/* ---- What comes ------------------------------------------------------------------------------ */

static int open_sink(struct agent *agent, const struct fetch_want *want, uint64_t size, char *why)
{
    struct incoming *now = &fetches_of(agent)->now;
    const char *path;
    int directory;

    if (want->in_time && !bspz_snapshot_same(want->name, agent_committed(agent))) {
        snprintf(why, AGENT_WHY, "there is a newer snapshot");
        return -ESTALE;
    }
    if (want->thing == WIRE_THING_BINARY) {
        directory = agent_fetch_directory(agent, &path, why);
        return directory < 0 ? directory : binaries_begin(directory, want->file, &now->copy, why);
    }
    if (want->thing == WIRE_THING_MANIFEST) {
        if (size <= WIRE_FRAME_MAX)
            return 0;
        snprintf(why, AGENT_WHY, "it is too large for a manifest");
        return -EPROTO;
    }
    directory = store_snapshot_join(agent_store(agent), want->name, &now->staging, why);
    if (directory < 0)
        return directory;
    now->fd = store_image_create(now->staging, want->pid, why);
    return now->fd < 0 ? now->fd : 0;
}

static int store_bytes(struct incoming *now, enum wire_thing thing, const struct wire_piece *piece,
                       char *why)
{
    const char *at = piece->data.data;
    size_t left = piece->data.size;

    if (left == 0) /* an empty file: data may be NULL */
        return 0;
    if (now->copy)
        return binaries_add(now->copy, at, left, why);
    if (thing == WIRE_THING_MANIFEST)
        return bspz_buffer_add(&now->manifest, at, left) ? 0 : -ENOMEM;
    int error = bspz_write_all(now->fd, at, left);
    if (error)
        snprintf(why, AGENT_WHY, "it cannot be written here: %s", strerror(-error));
    return error;
}

static int close_sink(struct agent *agent, const struct fetch_want *want, char *why)
{
    struct incoming *now = &fetches_of(agent)->now;
    int error;

    if (want->thing == WIRE_THING_BINARY) {
        error = binaries_finish(now->copy, why);
        now->copy = NULL;
        return error;
    }
    error = store_snapshot_join(agent_store(agent), want->name, &now->staging, why);
    if (!error)
        error =
            store_snapshot_take_manifest(now->staging, now->manifest.data, now->manifest.size, why);
    return error;
}

/* The first request is complete, or has failed (error, why). */
static void complete(struct agent *agent, int error, const char *why)
{
    struct fetches *fetches = fetches_of(agent);
    const struct wire_host *host = agent_peers_find(agent, fetches->now.host);

    agent_fetch_passed_on(fetches);
    if (error == -EBADMSG || error == -EPROTO || error == -ESTALE) {
        agent_notice(agent, "the data of host %s cannot be used: %s", host ? host->name : "", why);
        ask_next(agent);
        return;
    }
    finish_first(agent, error, error ? why : "");
}

static void take_piece(struct agent *agent, uint32_t host, const struct wire_piece *piece)
{
    struct fetches *fetches = fetches_of(agent);
    struct wanted *wanted = fetches ? fetches->first : NULL;
    struct incoming *now = wanted ? &fetches->now : NULL;
    char why[AGENT_WHY] = "out of memory";
    int error = 0;

    if (!wanted || piece->request != now->request || host != now->host || now->finishing)
        return; /* of an abandoned request */
    if (piece->error) {
        ask_next(agent);
        return;
    }
    if (now->received == 0)
        now->size = piece->size;
    if (piece->size != now->size || piece->offset != now->received ||
        piece->data.size > now->size - now->received || (piece->data.size == 0 && now->size > 0)) {
        agent_peers_drop(agent, host, "pieces of a file that do not follow each other");
        return;
    }
    if (now->received == 0)
        error = open_sink(agent, &wanted->want, piece->size, why);
    if (!error)
        error = store_bytes(now, wanted->want.thing, piece, why);
    if (error) {
        finish_first(agent, error, why);
        return;
    }
    now->received += piece->data.size;
    if (now->received < now->size)
        return;
    if (wanted->want.thing != WIRE_THING_IMAGE) {
        complete(agent, close_sink(agent, &wanted->want, why), why);
        return;
    }
    error = agent_fetch_finish(agent, &wanted->want, complete);
    if (error)
        finish_first(agent, error, why);
}

/* ---- Messages and ends ----------------------------------------------------------------------- */

void agent_fetch_message(struct agent *agent, uint32_t host, const struct wire_message *message)
{
    if (message->kind == WIRE_FETCH)
        agent_fetch_serve(agent, host, message);
    else
        take_piece(agent, host, &message->piece);
}

void agent_fetch_lost(struct agent *agent, uint32_t host)
{
    struct fetches *fetches = fetches_of(agent);

    if (!fetches)
        return;
    agent_fetch_stop_serving(fetches, host);
    if (fetches->first && fetches->now.request > 0 && fetches->now.host == host)
        ask_next(agent);
}

static void on_pump_closed(uv_handle_t *handle)
{
    struct fetches *fetches = (struct fetches *)((char *)handle - offsetof(struct fetches, pump));

    free(fetches);
}

static void on_begin_closed(uv_handle_t *handle)
{
    struct fetches *fetches = (struct fetches *)((char *)handle - offsetof(struct fetches, begin));

    uv_close((uv_handle_t *)&fetches->pump, on_pump_closed);
}

void agent_fetch_forget(struct agent *agent)
{
    struct fetches *fetches = fetches_of(agent);

    if (!fetches)
        return;
    fetches_gone(agent);
    agent_fetch_stop_serving(fetches, UINT32_MAX);
    give_up_incoming(fetches);
    while (fetches->first) {
        struct wanted *wanted = fetches->first;

        fetches->first = wanted->next;
        free_wanted(wanted);
    }
    if (fetches->directory >= 0)
        close(fetches->directory);
    free(fetches->buffer);
    uv_timer_stop(&fetches->pump);
    uv_close((uv_handle_t *)&fetches->begin, on_begin_closed);
}
