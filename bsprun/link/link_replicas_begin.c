/* link_replicas_begin.c - makes and frees what links need for replicas, and passes on what the set
 * of replicas has found out; see link_replicas.h. */
#include <errno.h>
#include <stdlib.h>

#include "bsprun/link/link_replicas_inside.h"
#include "bsprun/link/link_turn.h"

#define TURN_BYTES 4096u /* a content of so many is not sent by all homes at once */

/* ---- What the set calls -------------------------------------------------------------------- */

static void report(struct link_replicas *replicas, const struct replica_report *what)
{
    struct replica_report *report = malloc(sizeof *report);

    if (!report)
        return;
    *report = *what;
    report->next = NULL;
    *replicas->tail = report;
    replicas->tail = &report->next;
    uv_async_send(&replicas->links->async);
}

static void on_mismatch(void *context, const struct replica_mismatch *mismatch)
{
    struct link_replicas *replicas = context;
    report(replicas,
           &(struct replica_report){.mismatch = {.pid = mismatch->pid,
                                                 .superstep = replica_superstep(mismatch->key),
                                                 .stage = replica_stage(mismatch->key),
                                                 .hosts = {replicas->hosts[mismatch->homes[0]],
                                                           replicas->hosts[mismatch->homes[1]]},
                                                 .alike = {mismatch->alike[0], mismatch->alike[1]},
                                                 .open = mismatch->open,
                                                 .in_vain = mismatch->in_vain,
                                                 .seen = mismatch->seen,
                                                 .place = mismatch->place}});
}

static void on_behind(void *context, uint32_t home, uint64_t key)
{
    struct link_replicas *replicas = context;
    struct link *link = links_to(replicas->links, replicas->hosts[home]);

    report(replicas, &(struct replica_report){.is_behind = true,
                                              .host = replicas->hosts[home],
                                              .superstep = key > 0 ? replica_superstep(key) : 0,
                                              .error = replica_set_error(replicas->set, home)});
    if (home != replicas->own && link)
        link_break(link, LINK_TOO_FAR_BEHIND);
}

static bool on_ready(void *context, uint32_t pid, uint64_t key)
{
    const struct link_replicas *replicas = context;

    return mirror_ready(replicas->links->mirror, (int)pid, replica_superstep(key),
                        (enum bspz_stage)replica_stage(key));
}

/* Who has passed its end has known it. */
static bool on_knows_stop(void *context, uint64_t superstep, unsigned stop)
{
    const struct link_replicas *replicas = context;
    const struct replica_stop *newest = &replicas->stop;

    return (newest->any && (superstep < newest->superstep ||
                            (superstep == newest->superstep &&
                             !replica_stop_is_later(stop, replica_stop(newest->round))))) ||
           mirror_is_past(replicas->links->mirror, superstep);
}

static int on_apply(void *context, uint32_t pid, uint64_t key, void *bytes, uint64_t size)
{
    const struct link_replicas *replicas = context;
    const struct mirror_head *head = bytes;

    if (size < sizeof *head || head->superstep != replica_superstep(key) ||
        head->stage != replica_stage(key))
        return -EPROTO;
    return mirror_apply(replicas->links->mirror, (int)pid, bytes, size);
}

static void on_locate(void *context, const void *first, uint64_t first_size, const void *second,
                      uint64_t second_size, bool made, struct link_place *place)
{
    (void)context;
    if (!mirror_locate(first, first_size, second, second_size, made, place))
        place->what = LINK_PLACE_NONE;
}

/* ---- Beginning and end ---------------------------------------------------------------------- */

/* The processes for which that one's contents are sent anywhere: those on hosts without it. */
static int find_needers(struct link_replicas *replicas, uint32_t pid)
{
    int count = 0;

    replicas->needers[pid] = malloc(replicas->nprocs * sizeof **replicas->needers);
    if (!replicas->needers[pid])
        return -ENOMEM;
    for (uint32_t to = 0; to < replicas->nprocs; to++) {
        bool needs = false;

        for (uint32_t home = 0; home < replicas->home_count; home++)
            needs |= link_replicas_on(replicas, home)[to] && !link_replicas_on(replicas, home)[pid];
        if (needs)
            replicas->needers[pid][count++] = (int)to;
    }
    replicas->needer_counts[pid] = count;
    return 0;
}

static int fill_in(struct link_replicas *replicas, const struct links_replicas *setup,
                   struct replica_home *homes)
{
    int error = 0;

    replicas->own = LINK_NO_HOME;
    for (uint32_t home = 0; home < setup->home_count; home++) {
        const struct links_home *from = &setup->homes[home];

        homes[home] = (struct replica_home){from->pids, from->count};
        replicas->hosts[home] = from->host;
        replicas->clocks[home].ahead_ns = MIRROR_NO_CLOCK;
        if (from->host == replicas->links->host)
            replicas->own = home;
        for (uint32_t i = 0; i < from->count; i++) {
            if (from->pids[i] >= replicas->nprocs)
                return -EINVAL;
            link_replicas_on(replicas, home)[from->pids[i]] = true;
        }
    }
    if (replicas->own == LINK_NO_HOME)
        return -EINVAL;
    for (uint32_t pid = 0; pid < replicas->nprocs && !error; pid++)
        if (link_replicas_on(replicas, replicas->own)[pid])
            error = find_needers(replicas, pid);
    return error;
}

/* Whether the board and the homes agree about what lives here. */
static bool board_agrees(const struct link_replicas *replicas, const struct mirror *mirror)
{
    const bool *here = link_replicas_on(replicas, replicas->own);

    for (uint32_t pid = 0; pid < replicas->nprocs; pid++)
        if (here[pid] != bspz_is_here(mirror_board(mirror), (int)pid))
            return false;
    return true;
}

static void release(struct link_replicas *replicas)
{
    while (replicas->reports) {
        struct replica_report *report = replicas->reports;

        replicas->reports = report->next;
        free(report);
    }
    for (uint32_t pid = 0; replicas->needers && pid < replicas->nprocs; pid++)
        free(replicas->needers[pid]);
    link_turn_end(replicas);
    replica_set_free(replicas->set);
    free(replicas->needers);
    free(replicas->needer_counts);
    free(replicas->hosts);
    free(replicas->clocks);
    free(replicas->evens);
    free(replicas->lives);
    free(replicas);
}

static struct link_replicas *allocate(struct links *links, uint32_t nprocs, uint32_t home_count)
{
    struct link_replicas *replicas = calloc(1, sizeof *replicas);

    if (!replicas)
        return NULL;
    replicas->links = links;
    replicas->turn_fd = -1;
    replicas->nprocs = nprocs;
    replicas->home_count = home_count;
    replicas->tail = &replicas->reports;
    replicas->hosts = calloc(home_count + 1, sizeof *replicas->hosts);
    replicas->clocks = calloc(home_count + 1, sizeof *replicas->clocks);
    replicas->evens = calloc(home_count + 1, sizeof *replicas->evens);
    replicas->lives = calloc((size_t)home_count * nprocs + 1, sizeof *replicas->lives);
    replicas->needers = calloc(nprocs, sizeof *replicas->needers);
    replicas->needer_counts = calloc(nprocs, sizeof *replicas->needer_counts);
    if (replicas->hosts && replicas->clocks && replicas->evens && replicas->lives &&
        replicas->needers && replicas->needer_counts)
        return replicas;
    release(replicas);
    return NULL;
}

static int make_set(struct link_replicas *replicas, const struct links_replicas *setup)
{
    static const struct replica_calls calls = {.ready = on_ready,
                                               .apply = on_apply,
                                               .locate = on_locate,
                                               .knows_stop = on_knows_stop,
                                               .mismatch = on_mismatch,
                                               .behind = on_behind};
    struct replica_home *homes = calloc(setup->home_count + 1, sizeof *homes);
    struct replica_setup facts = {.nprocs = replicas->nprocs,
                                  .home_count = setup->home_count,
                                  .homes = homes,
                                  .log_bytes = setup->log_bytes,
                                  .spill_bytes = setup->spill_bytes,
                                  .agree = setup->agree,
                                  .majority = setup->majority,
                                  .turn_bytes = TURN_BYTES};
    int error = homes ? fill_in(replicas, setup, homes) : -ENOMEM;

    facts.own = replicas->own;
    if (!error)
        replicas->set = replica_set_new(&facts, &calls, replicas, &error);
    free(homes);
    return error;
}

static bool has_common(const struct link_replicas *replicas, uint32_t home)
{
    bool any = false;

    for (uint32_t pid = 0; pid < replicas->nprocs; pid++)
        any |=
            link_replicas_on(replicas, home)[pid] && link_replicas_on(replicas, replicas->own)[pid];
    return any;
}

/* Nobody applies anything before the links know the mirror. */
static void find_lost(struct link_replicas *replicas)
{
    for (uint32_t home = 0; home < replicas->home_count; home++) {
        struct link *link = links_to(replicas->links, replicas->hosts[home]);

        link_even_begin(&replicas->evens[home]);
        if (home == replicas->own)
            continue;
        if (link) {
            link->home = home;
            link->kin = has_common(replicas, home);
        }
        if (!link || link->broken)
            replica_set_lost(replicas->set, home);
    }
}

int link_replicas_new(struct links *links, int board_fd, int nprocs,
                      const struct links_replicas *setup, struct link_replicas **made,
                      struct mirror **mirror)
{
    struct link_replicas *replicas = allocate(links, (uint32_t)nprocs, setup->home_count);
    int error = replicas ? make_set(replicas, setup) : -ENOMEM;

    if (!error)
        error = link_turn_begin(replicas, setup->turn_ns);
    *mirror = NULL;
    if (!error)
        *mirror = mirror_new_apart(board_fd, nprocs, &error);
    if (!error && !board_agrees(replicas, *mirror))
        error = -EINVAL;
    if (error) {
        mirror_free(*mirror);
        if (replicas)
            release(replicas);
        return error;
    }
    for (uint32_t i = 0; i < links->count; i++)
        links->all[i].home = LINK_NO_HOME;
    find_lost(replicas);
    *made = replicas;
    return 0;
}

void link_replicas_free(struct links *links)
{
    if (links->replicas)
        release(links->replicas);
    links->replicas = NULL;
}

/* ---- The loop ------------------------------------------------------------------------------- */

/* For free(); NULL: there is none. */
static struct replica_report *next_report(struct links *links)
{
    struct link_replicas *replicas = links->closed ? NULL : links->replicas;
    struct replica_report *report;

    if (!replicas)
        return NULL;
    links_lock(links);
    report = replicas->reports;
    if (report)
        replicas->reports = report->next;
    if (!replicas->reports)
        replicas->tail = &replicas->reports;
    links_unlock(links);
    return report;
}

void links_replicas_report(struct links *links)
{
    struct replica_report *report;

    while ((report = next_report(links)) != NULL) {
        if (report->is_behind && links->calls.behind)
            links->calls.behind(links->context, report->host, report->superstep, report->error);
        if (!report->is_behind && links->calls.mismatch)
            links->calls.mismatch(links->context, &report->mismatch);
        free(report);
    }
}

void links_replicas_report_last(struct links *links)
{
    struct replica_report *report;

    while ((report = next_report(links)) != NULL) {
        if (!report->is_behind && report->mismatch.seen && links->calls.mismatch)
            links->calls.mismatch(links->context, &report->mismatch);
        free(report);
    }
}
