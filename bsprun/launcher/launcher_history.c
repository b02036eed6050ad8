/* launcher_history.c - what earlier jobs saw, for this one, and what this one sees, for later ones.
 *
 * Happy path: the history is read before the job begins -> it is the prior of the estimates.  What
 * is new is appended when a host is lost, every now and then with a snapshot, and at the end; by a
 * thread, as the home directory may be slow, or gone.
 *
 * What can fail: whatever can be wrong with a file (history_file.c): one line, and the job goes on
 * without.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bsprun/launcher/launcher_inside.h"

#define NAMED_MOST 16u     /* hosts whose lives are told one by one */
#define EVERY_MS   600000u /* what was seen since then is told with a snapshot */
#define LITTLE     86400.0 /* seconds without a failure say nothing unless there are more */

_Static_assert((int)HISTORY_HOST == (int)ESTIMATE_HOST &&
                   (int)HISTORY_PROCESS == (int)ESTIMATE_PROCESS &&
                   (int)HISTORY_PREEMPTION == (int)ESTIMATE_PREEMPTION &&
                   (int)HISTORY_SPLIT == (int)ESTIMATE_SPLIT,
               "kinds of failures have one order");

/* ---- Before the job ---- */

static bool is_wanted(const struct launcher *launcher)
{
    return !launcher->options->no_history &&
           (launcher_has_snapshots(launcher) || launcher_has_hosts(launcher));
}

static void name_site(struct launcher *launcher)
{
    const char *names[HOSTS_MAX];
    char own[WIRE_NAME_MAX + 1] = "here";

    for (uint32_t i = 0; i < launcher->agent_count; i++)
        names[i] = launcher->agents[i].name;
    gethostname(own, sizeof own - 1);
    history_site_name(launcher->options->lookup("SLURM_CLUSTER_NAME"), own, names,
                      launcher->agent_count, launcher->history.site);
}

static void guess(struct estimate_cost *cost, const struct history_cost *before)
{
    if (before->weight > 0)
        estimate_guess(cost, before->seconds);
}

/* A preemption that a snapshot was taken before has cost no work; it is told, and does not count. */
static void take_prior(const struct history_site *site, struct estimate *prior)
{
    for (unsigned kind = 0; kind < ESTIMATE_KINDS; kind++) {
        const struct history_rate *rate = &site->rates[kind];

        if (kind != ESTIMATE_PREEMPTION && (rate->events > 0 || rate->seconds >= LITTLE))
            estimate_prior_of_history(prior, (enum estimate_kind)kind, rate->events,
                                      rate->seconds);
        guess(&prior->restores[kind], &site->restore[kind]);
    }
    guess(&prior->snapshot, &site->snapshot);
    guess(&prior->delay, &site->commit);
}

static void tell_prior(struct launcher *launcher, const struct history_site *site,
                       const struct estimate *prior)
{
    struct estimate_life life = estimate_life(prior, ESTIMATE_HOST);
    char mean[LEARNED_TIME_MAX];

    if (launcher->options->verbosity == 0 || site->jobs == 0)
        return;
    launcher_say(launcher, "history of %s: %llu job%s, %.0f failure%s of hosts%s%s", site->name,
                 (unsigned long long)site->jobs, site->jobs == 1 ? "" : "s",
                 site->rates[HISTORY_HOST].all_events,
                 site->rates[HISTORY_HOST].all_events == 1 ? "" : "s",
                 life.known ? ", one lives " : "", life.known ? learned_time(life.mean, mean) : "");
}

void launcher_history_begin(struct launcher *launcher, struct estimate *prior)
{
    struct launcher_history *own = &launcher->history;
    struct history history;
    struct history_site site;
    char why[512];

    name_site(launcher);
    if (!is_wanted(launcher))
        return;
    if (!history_path(launcher->options->lookup, own->path, why, sizeof why)) {
        if (why[0] && launcher->options->verbosity > 0)
            launcher_say(launcher, "%s", why);
        return;
    }
    if (history_load(own->path, &history, why, sizeof why) != 0) {
        launcher_say(launcher, "%s", why);
        return;
    }
    own->on = true;
    if (history.bad > 0 && launcher->options->verbosity > 0)
        launcher_say(launcher, "the history of earlier jobs, %s: %zu line%s left out that cannot be read",
                     own->path, history.bad, history.bad == 1 ? "" : "s");
    history_look(&history, own->site, &site);
    if (launcher_has_snapshots(launcher))
        take_prior(&site, prior);
    tell_prior(launcher, &site, prior);
    history_free(&history);
}

/* ---- Lines ---- */

static void add(struct launcher *launcher, struct history_record record)
{
    struct launcher_history *own = &launcher->history;
    char line[HISTORY_LINE_MAX];
    size_t length;

    if (!own->on)
        return;
    record.time = (int64_t)time(NULL);
    snprintf(record.site, sizeof record.site, "%s", own->site);
    length = history_print(&record, line);
    if (own->size + length > sizeof own->lines)
        return; /* nobody takes them: the file system hangs */
    memcpy(own->lines + own->size, line, length);
    own->size += length;
}

static void tell_life(struct launcher_agent *agent, bool ended, enum estimate_kind kind)
{
    struct launcher *launcher = agent->launcher;
    uint64_t now = launcher_now_ms();
    struct history_record record = {.kind = HISTORY_LIFE,
                                    .seconds = (double)(now - agent->life_ms) / 1e3,
                                    .ended = ended,
                                    .fault = (enum history_fault)kind};

    if (agent->life_ms == 0)
        return;
    snprintf(record.name, sizeof record.name, "%.*s", (int)HISTORY_NAME_MAX, agent->name);
    add(launcher, record);
    agent->life_ms = ended ? 0 : now;
}

/* Of those that live on. */
static void tell_lives(struct launcher *launcher)
{
    struct history_record all = {.kind = HISTORY_SEEN, .fault = HISTORY_HOST};
    uint64_t now = launcher_now_ms();

    for (uint32_t i = 0; i < launcher->agent_count; i++) {
        struct launcher_agent *agent = &launcher->agents[i];

        if (agent->life_ms == 0 || agent->life_ms == now)
            continue;
        if (launcher->agent_count <= NAMED_MOST) {
            tell_life(agent, false, ESTIMATE_HOST);
            continue;
        }
        all.seconds += (double)(now - agent->life_ms) / 1e3;
        agent->life_ms = now;
    }
    if (all.seconds > 0)
        add(launcher, all);
}

/* Of the other kinds: what has been watched since the last time. */
static void tell_rates(struct launcher *launcher, const struct estimate *now)
{
    const struct estimate *before = &launcher->history.told;

    for (unsigned kind = 0; kind < ESTIMATE_KINDS; kind++) {
        struct history_record record = {
            .kind = HISTORY_SEEN,
            .fault = (enum history_fault)kind,
            .events = now->rates[kind].seen - before->rates[kind].seen,
            .seconds = now->rates[kind].watched - before->rates[kind].watched};

        if (kind != ESTIMATE_HOST && (record.events > 0 || record.seconds > 0))
            add(launcher, record);
    }
}

static void tell_cost(struct launcher *launcher, enum history_what what, unsigned kind,
                      const struct estimate_cost *now, const struct estimate_cost *before)
{
    if (now->count > before->count)
        add(launcher, (struct history_record){.kind = HISTORY_COST,
                                              .what = what,
                                              .fault = (enum history_fault)kind,
                                              .seconds = now->mean,
                                              .count = (uint64_t)(now->count - before->count),
                                              .bytes = launcher->newest_bytes});
}

/* ---- Writing ---- */

static void on_write(uv_work_t *work)
{
    struct launcher_history *own = work->data;

    own->failed = history_append(own->path, own->written, own->written_size, own->why,
                                 sizeof own->why) != 0;
}

static void write_more(struct launcher *launcher);

static void on_written(uv_work_t *work, int status)
{
    struct launcher *launcher = (struct launcher *)((char *)work->data - offsetof(struct launcher, history));
    struct launcher_history *own = &launcher->history;

    own->writing = false;
    if (status == 0 && own->failed && !own->failure_told && !launcher->said) {
        own->failure_told = true;
        launcher_say(launcher, "%s", own->why);
    }
    if (own->failed)
        own->on = false; /* what comes later would lack what came before */
    write_more(launcher);
}

static void write_more(struct launcher *launcher)
{
    struct launcher_history *own = &launcher->history;

    if (own->writing || own->size == 0 || !own->on)
        return;
    memcpy(own->written, own->lines, own->size);
    own->written_size = own->size;
    own->size = 0;
    own->work.data = own;
    own->writing = uv_queue_work(&launcher->loop, &own->work, on_write, on_written) == 0;
}

void launcher_history_flush(struct launcher *launcher)
{
    struct launcher_history *own = &launcher->history;
    struct estimate now = evidence_estimate(&launcher->evidence);
    const struct estimate *before = &own->told;

    if (!own->on)
        return;
    tell_lives(launcher);
    tell_rates(launcher, &now);
    tell_cost(launcher, HISTORY_SNAPSHOT, 0, &now.snapshot, &before->snapshot);
    tell_cost(launcher, HISTORY_COMMIT, 0, &now.delay, &before->delay);
    for (unsigned kind = 0; kind < ESTIMATE_KINDS; kind++)
        tell_cost(launcher, HISTORY_RESTORE, kind, &now.restores[kind], &before->restores[kind]);
    own->told = now;
    own->flushed_ms = launcher_now_ms();
    write_more(launcher);
}

/* ---- Events ---- */

void launcher_history_running(struct launcher *launcher)
{
    struct launcher_history *own = &launcher->history;
    double hosts = 0;

    for (uint32_t i = 0; i < launcher->agent_count; i++)
        hosts += launcher->agents[i].up;
    if (own->flushed_ms == 0)
        own->flushed_ms = launcher_now_ms();
    if (own->begun)
        return;
    own->begun = true;
    add(launcher, (struct history_record){.kind = HISTORY_JOB, .events = hosts, .count = 1});
    write_more(launcher);
}

void launcher_history_lost(struct launcher_agent *agent, enum estimate_kind kind)
{
    struct launcher *launcher = agent->launcher;

    /* What was a failure of the agent is none of its host. */
    if (kind != ESTIMATE_PROCESS)
        tell_life(agent, true, kind);
    launcher_history_flush(launcher);
}

void launcher_history_saved(struct launcher *launcher)
{
    if (launcher->history.begun && launcher_now_ms() - launcher->history.flushed_ms >= EVERY_MS)
        launcher_history_flush(launcher);
}

void launcher_history_end(struct launcher *launcher, bool preempted)
{
    struct launcher_history *own = &launcher->history;

    if (own->ended || !own->begun)
        return;
    own->ended = true;
    if (preempted)
        add(launcher, (struct history_record){
                          .kind = HISTORY_SEEN, .fault = HISTORY_PREEMPTION, .events = 1});
    launcher_watch(launcher);
    launcher_history_flush(launcher);
}
