/* fetch_play.c - see fetch_play.h. */
#include "tests/unit/fetch_play.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bsprun/agent/core/clock.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/core/to_zero.h"
#include "tests/ckpt/store_sample.h"

struct agent agent;
struct said said[FETCH_SAID_MAX];
unsigned said_count, dropped, failed_images, noticed, done_count;
struct bspz_snapshot_name failed_name;
uint32_t dropped_host;
int done_error;
bool fetch_play_unsettled;
const struct bspz_snapshot_name fetch_name = {1, 1};
struct fetch_bytes fetch_image[FETCH_PROCS], fetch_manifest;

uint32_t fetch_play_lost = UINT32_MAX;
uint32_t fetch_play_hosts;
static struct agent_snapshots snapshots;
static struct wire_host hosts[] = {{0, 1, "here"}, {1, 1, "there"}, {2, 1, "elsewhere"}};
static char directory[256], other_directory[256];

/* A condition of the test's own: also where there is no test (fuzzing). */
static void must(bool truth)
{
    if (!truth)
        abort();
}

/* ---- In place of the rest of the agent ---- */

void agent_peers_send(struct agent *at, uint32_t host, const struct wire_message *message)
{
    struct said *entry = &said[said_count % FETCH_SAID_MAX];

    (void)at;
    free(entry->data);
    *entry = (struct said){.host = host, .message = *message};
    if (message->kind == WIRE_PIECE && message->piece.data.size > 0) {
        entry->data = malloc(message->piece.data.size);
        must(entry->data != NULL);
        memcpy(entry->data, message->piece.data.data, message->piece.data.size);
        entry->message.piece.data.data = entry->data;
    }
    said_count++;
}

void agent_tell_zero(struct agent *at, struct wire_message *message)
{
    agent_peers_send(at, FETCH_ZERO, message);
}

void agent_peers_drop(struct agent *at, uint32_t host, const char *complaint)
{
    (void)at;
    (void)complaint;
    dropped++;
    dropped_host = host;
}

void agent_image_of_failed(struct agent *at, struct bspz_snapshot_name name, int pid,
                           enum wire_cause cause, const char *why)
{
    (void)at;
    failed_name = name;
    (void)pid;
    (void)cause;
    (void)why;
    failed_images++;
}

void agent_notice(struct agent *at, const char *format, ...)
{
    (void)at;
    (void)format;
    noticed++;
}

/* A test that has more of the agent says otherwise. */
__attribute__((weak)) bool agent_is_here(const struct agent *at, int pid)
{
    return at != NULL && pid == 0;
}

uint64_t agent_now_ns(void)
{
    return 1;
}

bool agent_peers_is_lost(const struct agent *at, uint32_t host)
{
    (void)at;
    return host == fetch_play_lost;
}

const struct wire_host *agent_peers_hosts(const struct agent *at, uint32_t *count)
{
    (void)at;
    *count = fetch_play_hosts;
    return hosts;
}

const struct wire_host *agent_peers_find(const struct agent *at, uint32_t host)
{
    (void)at;
    for (uint32_t i = 0; i < fetch_play_hosts; i++)
        if (hosts[i].host == host)
            return &hosts[i];
    return NULL;
}

uint64_t agent_peers_waiting(const struct agent *at, uint32_t host)
{
    (void)at;
    (void)host;
    return 0;
}

/* ---- The other store ---- */

static struct fetch_bytes read_all(int fd)
{
    struct fetch_bytes file = {malloc(1u << 20), 0};
    ssize_t got;

    must(fd >= 0 && file.bytes);
    while ((got = read(fd, file.bytes + file.size, (1u << 20) - file.size)) > 0)
        file.size += (size_t)got;
    must(got == 0 && file.size < 1u << 20);
    close(fd);
    return file;
}

static struct store *open_store(char *path)
{
    char why[MANIFEST_ERROR_SIZE];
    struct store *store;

    store_sample_directory(path);
    must(store_open(&store, path, STORE_CREATE, NULL, why) == 0);
    must(store_job_create(store, store_sample_job, 1000, why) == 0);
    return store;
}

static void make_files(void)
{
    struct store *store = open_store(other_directory);
    char why[MANIFEST_ERROR_SIZE];
    struct store_sample sample;
    uint64_t size;

    store_sample_make(&sample);
    must(store_sample_snapshot(&sample, store, fetch_name.superstep, fetch_name.term,
                               STORE_SAMPLE_ALL, true, why) == 0);
    for (uint32_t pid = 0; pid < FETCH_PROCS; pid++)
        fetch_image[pid] = read_all(store_image_open(store, fetch_name, pid, &size, why));
    fetch_manifest = read_all(store_manifest_open(store, fetch_name, &size, why));
    store_sample_free(&sample);
    store_close(store);
}

/* ---- What a test does ---- */

static void on_done(struct agent *at, const struct fetch_want *want, int error, const char *why)
{
    must(at == &agent && want != NULL && why != NULL);
    done_count++;
    done_error = error;
}

const unsigned char *fetch_digest(uint32_t pid)
{
    return fetch_image[pid].bytes + fetch_image[pid].size - BSPZ_IMAGE_DIGEST_SIZE;
}

void fetch_play_want(enum wire_thing thing, uint32_t pid)
{
    struct fetch_want want = {
        .thing = thing, .name = fetch_name, .pid = pid, .from = 1, .done = on_done};

    memcpy(want.digest, fetch_digest(pid), sizeof want.digest);
    must(agent_fetch(&agent, &want) == 0);
}

const struct said *fetch_last_said(uint32_t kind)
{
    for (unsigned i = said_count; i > 0 && i + FETCH_SAID_MAX > said_count; i--)
        if (said[(i - 1) % FETCH_SAID_MAX].message.kind == kind)
            return &said[(i - 1) % FETCH_SAID_MAX];
    return NULL;
}

void fetch_play_take(uint32_t host, const struct wire_message *message)
{
    if (message->kind == WIRE_KEEP)
        agent_replicas_take(&agent, host, message);
    else
        agent_fetch_message(&agent, host, message);
    if (!fetch_play_unsettled)
        fetch_play_settle();
}

void fetch_play_settle(void)
{
    while (agent.fetches && agent.fetches->now.finishing)
        uv_run(&agent.loop, UV_RUN_ONCE);
}

void fetch_play_piece(uint32_t host, uint64_t offset, const void *bytes, size_t count,
                      uint64_t size)
{
    const struct said *fetch = fetch_last_said(WIRE_FETCH);
    struct wire_message message = {.kind = WIRE_PIECE};

    must(fetch != NULL);
    message.piece.request = fetch->message.fetch.request;
    message.piece.offset = offset;
    message.piece.size = size;
    message.piece.data = (struct wire_bytes){bytes, (uint32_t)count};
    fetch_play_take(host, &message);
}

void fetch_play_send(uint32_t host, const struct fetch_bytes *file, size_t piece)
{
    for (size_t at = 0; at < file->size; at += piece) {
        size_t count = file->size - at < piece ? file->size - at : piece;

        fetch_play_piece(host, at, file->bytes + at, count, file->size);
    }
}

void fetch_play_refuse(uint32_t host, uint32_t error)
{
    struct wire_message message = {.kind = WIRE_PIECE};

    message.piece.request = fetch_last_said(WIRE_FETCH)->message.fetch.request;
    message.piece.error = error;
    fetch_play_take(host, &message);
}

bool fetch_play_asked(unsigned number, uint32_t host)
{
    return said_count == number && said[number - 1].message.kind == WIRE_FETCH &&
           said[number - 1].host == host;
}

static bool is_the_same(int fd, const struct fetch_bytes *expected)
{
    struct fetch_bytes found;
    bool same;

    if (fd < 0)
        return false;
    found = read_all(fd);
    same = found.size == expected->size && memcmp(found.bytes, expected->bytes, found.size) == 0;
    free(found.bytes);
    return same;
}

bool fetch_play_has_image(uint32_t pid)
{
    char why[MANIFEST_ERROR_SIZE];
    uint64_t size;

    return is_the_same(store_image_open(agent.store, fetch_name, pid, &size, why),
                       &fetch_image[pid]);
}

bool fetch_play_has_manifest(void)
{
    char why[MANIFEST_ERROR_SIZE];
    uint64_t size;

    return is_the_same(store_manifest_open(agent.store, fetch_name, &size, why), &fetch_manifest);
}

void fetch_play_spoil(uint32_t pid, enum fetch_spoil way)
{
    const struct fetch_bytes *good = &fetch_image[pid],
                             *other = &fetch_image[(pid + 1) % FETCH_PROCS];
    const struct fetch_bytes *bytes = way == SPOIL_OTHER ? other : good;
    size_t at = way == SPOIL_HEADER ? 40 : bytes->size - 3;
    char path[512];
    int fd;

    snprintf(path, sizeof path, "%s/%s/%d.%u/%u.img", store_path(agent.store),
             store_job_name(agent.store), (int)fetch_name.superstep, fetch_name.term, pid);
    fd = open(path, O_WRONLY | O_TRUNC);
    must(fd >= 0 && fchmod(fd, way == SPOIL_GRANTED ? 0622 : 0600) == 0);
    must(write(fd, bytes->bytes, bytes->size) == (ssize_t)bytes->size);
    if (way == SPOIL_CUT)
        must(ftruncate(fd, (off_t)bytes->size / 2) == 0);
    if (way == SPOIL_HEADER || way == SPOIL_END)
        must(pwrite(fd, &(unsigned char){bytes->bytes[at] ^ 4}, 1, (off_t)at) == 1);
    close(fd);
}

/* ---- Fixture ---- */

void fetch_set_up(void)
{
    make_files();
    agent = (struct agent){.peers = (struct agent_peers *)&agent /* never looked into */,
                           .snapshots = &snapshots,
                           .store = open_store(directory)};
    fetch_play_place(FETCH_PROCS);
    must(uv_loop_init(&agent.loop) == 0);
    fetch_play_lost = UINT32_MAX;
    fetch_play_hosts = sizeof hosts / sizeof *hosts;
    snapshots = (struct agent_snapshots){.ticket = {.state = TICKET_NONE}};
    agent.term = fetch_name.term;
    said_count = dropped = failed_images = noticed = done_count = 0;
    done_error = 1;
    fetch_play_unsettled = false;
}

void fetch_play_place(int nprocs)
{
    if (agent.roster)
        agent_roster_free(&agent);
    must(agent_roster_open(&agent) == 0 && (nprocs == 0 || agent_roster_size(&agent, nprocs) == 0));
}

void fetch_play_unsay(void)
{
    for (unsigned i = 0; i < FETCH_SAID_MAX; i++) {
        free(said[i].data);
        said[i] = (struct said){.data = NULL};
    }
    said_count = 0;
}

void fetch_tear_down(void)
{
    agent_fetch_forget(&agent);
    must(uv_run(&agent.loop, UV_RUN_DEFAULT) == 0);
    must(uv_loop_close(&agent.loop) == 0);
    fetch_play_unsay();
    for (uint32_t pid = 0; pid < FETCH_PROCS; pid++)
        free(fetch_image[pid].bytes);
    free(fetch_manifest.bytes);
    agent_replicas_free(&agent);
    agent_roster_free(&agent);
    store_close(agent.store);
    store_sample_remove(directory);
    store_sample_remove(other_directory);
}
