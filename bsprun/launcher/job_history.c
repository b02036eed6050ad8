/* job_history.c - the history of failures: from earlier jobs for this one, and from this one for
 * later ones.
 *
 * Happy path: the history is read before the job begins -> it is the prior of the estimates, and of
 * what others leave of each host.  New observations are appended when a host is lost, or an agent
 * as soon as it is certain that its host is not, from time to time with a snapshot, and at the end;
 * by a thread, as the home directory may be slow or unavailable.
 *
 * What can fail: access to the file (history_file.c): one line, and the job goes on without.  If
 * its file system does not answer, bsprun ends nevertheless.
 */
#include "bsprun/launcher/job_history.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/units.h"

#define NAMED_MOST 16u     /* hosts whose lives are recorded individually */
#define EVERY_MS   600000u /* least time between records with snapshots */
#define WAIT_MS    2000 /* for the file system of the history, before the job begins and after it */
#define LITTLE     86400.0 /* seconds without a failure that are too few to record */

_Static_assert((int)HISTORY_HOST == (int)ESTIMATE_HOST &&
                   (int)HISTORY_PROCESS == (int)ESTIMATE_PROCESS &&
                   (int)HISTORY_PREEMPTION == (int)ESTIMATE_PREEMPTION &&
                   (int)HISTORY_SPLIT == (int)ESTIMATE_SPLIT,
               "kinds of failures have one order");

/* ---- Before the job ---- */

static bool is_wanted(const struct job_history *history)
{
    return !history->common->options->no_history &&
           (saved_recovers(&history->common->saved) || agents_has_hosts(history->agents));
}

static void name_site(struct job_history *history)
{
    const struct agents *agents = history->agents;
    const char *names[HOSTS_MAX];
    char own[WIRE_NAME_MAX + 1] = "here";

    for (uint32_t i = 0; i < agents->count; i++)
        names[i] = agents->items[i].name;
    gethostname(own, sizeof own - 1);
    history_site_name(history->common->options->lookup("SLURM_CLUSTER_NAME"), own, names,
                      agents->count, history->site);
}

static void guess(struct estimate_cost *cost, const struct history_cost *before)
{
    if (before->weight > 0)
        estimate_guess(cost, before->seconds);
}

/* A preemption after a snapshot has cost no work; it is recorded, but does not count. */
static void take_prior(const struct history_site *site, struct estimate *prior)
{
    for (unsigned kind = 0; kind < ESTIMATE_KINDS; kind++) {
        const struct history_rate *rate = &site->rates[kind];

        if (kind != ESTIMATE_PREEMPTION && (rate->events > 0 || rate->seconds >= LITTLE))
            estimate_prior_of_history(prior, (enum estimate_kind)kind, rate->events, rate->seconds);
        guess(&prior->restores[kind], &site->restore[kind]);
    }
    guess(&prior->snapshot, &site->snapshot);
    guess(&prior->delay, &site->commit);
}

static void tell_prior(struct common *common, const struct history_site *site,
                       const struct estimate *prior)
{
    struct estimate_life life = estimate_life(prior, ESTIMATE_HOST);
    char mean[BSPZ_TIME_TEXT];

    if (common->options->verbosity == 0 || site->jobs == 0)
        return;
    notices_say(
        &common->notices, "history of %s: %llu job%s, %.0f failure%s of hosts%s%s", site->name,
        (unsigned long long)site->jobs, site->jobs == 1 ? "" : "s",
        site->rates[HISTORY_HOST].all_events, site->rates[HISTORY_HOST].all_events == 1 ? "" : "s",
        life.known ? ", one lives " : "", life.known ? bspz_time_text(life.mean, mean) : "");
}

static void read_prior(struct job_history *own, struct estimate *prior)
{
    struct common *common = own->common;
    bool verbose = common->options->verbosity > 0;
    struct history history;
    struct history_site site;
    char why[512];

    if (!history_path(common->options->lookup, own->path, why, sizeof why)) {
        if (why[0] && verbose)
            notices_say(&common->notices, "%s", why);
        return;
    }
    if (history_load_within(WAIT_MS, own->path, &history, why, sizeof why) != 0) {
        notices_say(&common->notices, "%s", why);
        return;
    }
    own->state = JOB_HISTORY_ON;
    if (history.bad > 0 && verbose)
        notices_say(&common->notices,
                    "the history of earlier jobs, %s: %zu unreadable line%s ignored", own->path,
                    history.bad, history.bad == 1 ? "" : "s");
    history_look(&history, own->site, &site);
    if (saved_recovers(&common->saved))
        take_prior(&site, prior);
    size_t count = 0;
    struct history_share *shares = history_shares(&history, own->site, &count);
    host_shares_know(&own->shares, shares, count);
    tell_prior(common, &site, prior);
    history_free(&history);
}

int job_history_open(struct job_history *history, struct common *common,
                     const struct agents *agents, const bool *agent_ended,
                     const struct evidence *evidence, struct estimate *prior)
{
    history->common = common;
    history->agents = agents;
    history->agent_ended = agent_ended;
    history->evidence = evidence;
    history->lives_since_ms = calloc(agents->room, sizeof *history->lives_since_ms);
    if (!history->lives_since_ms || host_shares_open(&history->shares, agents->room) != 0)
        return -ENOMEM;
    name_site(history);
    if (is_wanted(history))
        read_prior(history, prior);
    return 0;
}

/* ---- Lines ---- */

static void add(struct job_history *own, struct history_record record)
{
    char line[HISTORY_LINE_MAX];
    size_t length;

    if (own->state == JOB_HISTORY_OFF)
        return;
    record.time = (int64_t)time(NULL);
    snprintf(record.site, sizeof record.site, "%s", own->site);
    length = history_print(&record, line);
    if (own->size + length > sizeof own->lines)
        return; /* the writer is stuck: the file system hangs */
    memcpy(own->lines + own->size, line, length);
    own->size += length;
}

static void tell_life(struct job_history *history, const struct launcher_agent *agent, bool ended,
                      enum estimate_kind kind)
{
    uint64_t *since = &history->lives_since_ms[agent->host], now = launcher_now_ms();
    struct history_record record = {.kind = HISTORY_LIFE,
                                    .seconds = (double)(now - *since) / 1e3,
                                    .ended = ended,
                                    .fault = (enum history_fault)kind};

    if (*since == 0)
        return;
    snprintf(record.name, sizeof record.name, "%.*s", (int)HISTORY_NAME_MAX, agent->name);
    add(history, record);
    *since = ended ? 0 : now;
}

/* Records the lives of hosts that are still up. */
static void tell_lives(struct job_history *history)
{
    const struct agents *agents = history->agents;
    struct history_record all = {.kind = HISTORY_SEEN, .fault = HISTORY_HOST};
    uint64_t now = launcher_now_ms();

    for (uint32_t i = 0; i < agents->count; i++) {
        uint64_t *since = &history->lives_since_ms[i];

        if (*since == 0 || *since == now)
            continue;
        if (agents->count <= NAMED_MOST) {
            tell_life(history, &agents->items[i], false, ESTIMATE_HOST);
            continue;
        }
        all.seconds += (double)(now - *since) / 1e3;
        *since = now;
    }
    if (all.seconds > 0)
        add(history, all);
}

/* Ends of agents that may turn out to be failures of their hosts. */
static uint32_t count_unsure(const struct job_history *history)
{
    uint32_t most = evidence_new(history->evidence, ESTIMATE_PROCESS), count = 0;

    for (uint32_t i = 0; i < history->agents->count && count < most; i++)
        count += history->agent_ended[i];
    return history->state == JOB_HISTORY_ENDED ? 0 : count;
}

/* Records the other kinds: the exposure since the last time. */
static void tell_rates(struct job_history *history, const struct estimate *now)
{
    const struct estimate *before = &history->told;

    for (unsigned kind = 0; kind < ESTIMATE_KINDS; kind++) {
        struct history_record record = {.kind = HISTORY_SEEN,
                                        .fault = (enum history_fault)kind,
                                        .events = now->rates[kind].seen - before->rates[kind].seen,
                                        .seconds =
                                            now->rates[kind].watched - before->rates[kind].watched};

        if (kind != ESTIMATE_HOST && (record.events > 0 || record.seconds > 0))
            add(history, record);
    }
}

/* Records what others left of hosts. */
static void tell_shares(struct job_history *history)
{
    const struct agents *agents = history->agents;

    for (uint32_t i = 0; i < agents->count && i < HISTORY_HOSTS_MAX; i++) {
        struct history_record record = {0};

        if (!host_shares_tell(&history->shares, i, &record))
            continue;
        history_name(record.name, agents->items[i].name);
        add(history, record);
    }
}

static void tell_cost(struct job_history *history, enum history_what what, unsigned kind,
                      const struct estimate_cost *now, const struct estimate_cost *before)
{
    if (now->count > before->count)
        add(history, (struct history_record){.kind = HISTORY_COST,
                                             .what = what,
                                             .fault = (enum history_fault)kind,
                                             .seconds = now->mean,
                                             .count = (uint64_t)(now->count - before->count),
                                             .bytes = history->image_bytes});
}

/* ---- Writing ---- */

/* False: none can be written. */
static bool begin_writing(struct job_history *own)
{
    own->writing = history_append_begin(own->path, own->lines, own->size, &own->done);
    if (own->writing)
        own->size = 0;
    return own->writing;
}

static void end_writing(struct job_history *own)
{
    char why[512];

    close(own->done);
    if (history_append_end(own->writing, why, sizeof why) != 0) {
        own->state = JOB_HISTORY_OFF; /* later records would be incomplete */
        notices_say(&own->common->notices, "%s", why);
    }
    own->writing = NULL;
}

static void write_more(struct job_history *own);

static void on_poll_closed(uv_handle_t *handle)
{
    struct job_history *own = handle->data;

    end_writing(own);
    write_more(own);
}

static void on_written(uv_poll_t *poll, int status, int events)
{
    (void)status;
    (void)events;
    uv_close((uv_handle_t *)poll, on_poll_closed);
}

/* The loop does not wait for it: see job_history_free. */
static void write_more(struct job_history *own)
{
    if (own->writing || own->size == 0 || own->state == JOB_HISTORY_OFF || !begin_writing(own) ||
        uv_poll_init(&own->common->loop, &own->poll, own->done) != 0)
        return;
    own->poll.data = own;
    uv_poll_start(&own->poll, UV_READABLE, on_written);
    uv_unref((uv_handle_t *)&own->poll);
}

static void await_writing(const struct job_history *own)
{
    struct pollfd done = {.fd = own->done, .events = POLLIN};

    while (poll(&done, 1, WAIT_MS) < 0 && errno == EINTR)
        ;
}

void job_history_free(struct job_history *history)
{
    while (history->writing) {
        await_writing(history);
        end_writing(history);
        if (history->size > 0 && history->state != JOB_HISTORY_OFF)
            begin_writing(history);
    }
    free(history->lives_since_ms);
    host_shares_free(&history->shares);
}

/* What has been recorded cannot be taken back: such a failure makes up for the next one. */
static void leave_unsure(struct job_history *own, double *seen)
{
    double told = own->told.rates[ESTIMATE_PROCESS].seen;
    uint32_t unsure = count_unsure(own);

    own->owes = unsure > 0 && *seen > told;
    *seen = *seen - unsure > told ? *seen - unsure : told;
}

static void flush(struct job_history *own)
{
    struct estimate now = evidence_estimate(own->evidence);
    const struct estimate *before = &own->told;

    if (own->state == JOB_HISTORY_OFF)
        return;
    leave_unsure(own, &now.rates[ESTIMATE_PROCESS].seen);
    tell_lives(own);
    tell_rates(own, &now);
    tell_shares(own);
    tell_cost(own, HISTORY_SNAPSHOT, 0, &now.snapshot, &before->snapshot);
    tell_cost(own, HISTORY_COMMIT, 0, &now.delay, &before->delay);
    for (unsigned kind = 0; kind < ESTIMATE_KINDS; kind++)
        tell_cost(own, HISTORY_RESTORE, kind, &now.restores[kind], &before->restores[kind]);
    own->told = now;
    own->flushed_ms = launcher_now_ms();
    write_more(own);
}

/* ---- Events ---- */

void job_history_up(struct job_history *history, const struct launcher_agent *agent)
{
    if (history->lives_since_ms[agent->host] == 0)
        history->lives_since_ms[agent->host] = launcher_now_ms();
}

void job_history_running(struct job_history *history)
{
    const struct agents *agents = history->agents;
    double hosts = 0;

    for (uint32_t i = 0; i < agents->count; i++)
        hosts += agents_is_up(&agents->items[i]);
    if (history->flushed_ms == 0)
        history->flushed_ms = launcher_now_ms();
    if (history->owes)
        flush(history);
    if (history->state != JOB_HISTORY_ON)
        return;
    history->state = JOB_HISTORY_BEGUN;
    add(history, (struct history_record){.kind = HISTORY_JOB, .events = hosts, .count = 1});
    write_more(history);
}

void job_history_lost(struct job_history *history, const struct launcher_agent *agent,
                      enum estimate_kind kind)
{
    /* A failure of the agent is not a failure of its host. */
    if (agent && kind != ESTIMATE_PROCESS)
        tell_life(history, agent, true, kind);
    history->owes = kind == ESTIMATE_PROCESS && count_unsure(history) > 0;
    if (!history->owes)
        flush(history);
}

void job_history_sure(struct job_history *history)
{
    if (history->owes && count_unsure(history) == 0)
        flush(history);
}

void job_history_left(struct job_history *history, const struct launcher_agent *agent)
{
    tell_life(history, agent, false, ESTIMATE_HOST);
    history->lives_since_ms[agent->host] = 0;
}

void job_history_saved(struct job_history *history)
{
    if (history->state == JOB_HISTORY_BEGUN && launcher_now_ms() - history->flushed_ms >= EVERY_MS)
        flush(history);
}

void job_history_end(struct job_history *history, bool preempted)
{
    if (history->state != JOB_HISTORY_BEGUN)
        return;
    history->state = JOB_HISTORY_ENDED;
    if (preempted)
        add(history, (struct history_record){
                         .kind = HISTORY_SEEN, .fault = HISTORY_PREEMPTION, .events = 1});
    flush(history);
}
