/* launcher_learn.c - failures as bsprun sees them, what Processor Zero makes of them, and what the user is
 * told of it.
 *
 * Happy path: what earlier jobs saw is read -> ELECT takes it to Processor Zero -> SAVED, STATUS and
 * ENDED bring back what it has learned.
 *
 * What can fail: a loss is seen, and of what kind it is decided by how it was noticed (evidence.h);
 * a host whose agent cannot be started again was lost after all.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bsprun/launcher/launcher_inside.h"
#include "bsprun/options/options.h"
#include "coordinator/core/interval.h"
#include "lib/base/clock.h"
#include "lib/base/json.h"

#define TOGETHER_LEAST_MS 1000u
#define CHANGED           1.2 /* an interval that is worth a line of -v */

struct evidence_time launcher_evidence_now(void)
{
    return (struct evidence_time){bspz_now_ns() / BSPZ_NS_PER_MS,
                                  bspz_clock_ns(CLOCK_BOOTTIME) / BSPZ_NS_PER_MS};
}

/* ---- Time ---- */

static double hosts_that_live(const struct launcher *launcher)
{
    double hosts = 0;

    for (uint32_t i = 0; i < launcher->agent_count; i++)
        hosts += launcher->agents[i].up &&
                 job_machine_member(launcher->machine, launcher->agents[i].host);
    return hosts;
}

void launcher_watch(struct launcher *launcher)
{
    evidence_watch(&launcher->evidence,
                   job_machine_term(launcher->machine) > 0 ? hosts_that_live(launcher) : 0,
                   launcher->account.running ? launcher->processes : 0, launcher_evidence_now());
}

/* ---- Failures ---- */

static bool counts(const struct launcher *launcher)
{
    return job_machine_term(launcher->machine) > 0 && !launcher->over &&
           !job_machine_closed(launcher->machine) && launcher->signals_seen == 0;
}

static uint64_t bound_of(const struct launcher *launcher, const struct launcher_agent *agent)
{
    return agent && agent->local ? 0 : launcher->options->hosts.heartbeat_ms;
}

void launcher_saw(struct launcher *launcher, struct launcher_agent *agent, enum evidence_loss how)
{
    struct evidence_time now = launcher_evidence_now();
    uint64_t heartbeat = launcher->options->hosts.heartbeat_ms, silence = 0;
    enum estimate_kind kind;

    launcher_watch(launcher);
    if (!counts(launcher) ||
        (agent && (agent->dismissed || !job_machine_member(launcher->machine, agent->host))))
        return;
    if (agent && !agent->local && how != EVIDENCE_LINK)
        silence = now.monotonic_ms - agent->heard_ms;
    kind = evidence_kind(&launcher->evidence, how, silence, bound_of(launcher, agent), now);
    evidence_fault(&launcher->evidence, kind, silence,
                   heartbeat > TOGETHER_LEAST_MS ? heartbeat : TOGETHER_LEAST_MS, now);
    if (agent)
        launcher_history_lost(agent, kind);
    else
        launcher_history_flush(launcher);
}

void launcher_saw_no_agent(struct launcher_agent *agent)
{
    struct launcher *launcher = agent->launcher;

    if (job_machine_term(launcher->machine) == 0 || !agent->ended_here)
        return;
    agent->ended_here = false;
    if (evidence_change(&launcher->evidence, ESTIMATE_PROCESS, ESTIMATE_HOST))
        launcher_history_lost(agent, ESTIMATE_HOST);
}

/* ---- What is known before ---- */

void launcher_learn_begin(struct launcher *launcher)
{
    struct estimate prior = {0};
    uint64_t mtbf_ns = launcher->options->snapshots.mtbf_ns;

    launcher_history_begin(launcher, &prior);
    if (mtbf_ns > 0)
        estimate_prior(&prior, ESTIMATE_HOST, (double)mtbf_ns / 1e9, ESTIMATE_GIVEN_LIVES);
    evidence_begin(&launcher->evidence, &prior, launcher_evidence_now());
}

/* ---- What is told ---- */

struct learned_facts launcher_learned(const struct launcher *launcher)
{
    struct estimate_units units = {hosts_that_live(launcher), launcher->processes};

    /* At the end the agents have gone. */
    if (units.hosts < launcher->most_hosts && launcher->over)
        units.hosts = launcher->most_hosts;
    return (struct learned_facts){.estimate = evidence_estimate(&launcher->evidence),
                                  .units = units,
                                  .told = launcher->evidence.told,
                                  .interval_ns = launcher->evidence.interval_ns,
                                  .why = wire_why_text(launcher->evidence.why),
                                  .image_bytes = launcher->newest_bytes,
                                  .site = launcher->history.site};
}

static void tell_interval(struct launcher *launcher, const struct learned_facts *facts)
{
    double interval = (double)facts->interval_ns, before = (double)launcher->told_interval_ns;
    char text[256];

    if (launcher->options->verbosity == 0 || launcher->options->snapshots.rule != WIRE_RULE_AUTO ||
        launcher->evidence.why == WIRE_WHY_FIRST ||
        (launcher->told_why == launcher->evidence.why + 1 &&
         (launcher->evidence.why == WIRE_WHY_OVERHEAD ||
          (interval < CHANGED * before && CHANGED * interval > before))))
        return;
    launcher->told_interval_ns = facts->interval_ns;
    launcher->told_why = launcher->evidence.why + 1;
    learned_interval_text(facts, text, sizeof text);
    launcher_say(launcher, "%s", text);
}

/* Once: whether it is worth its while is for the user to say. */
static void tell_hardly(struct launcher *launcher, const struct learned_facts *facts)
{
    struct interval_model model;
    char otherwise[160];

    if (launcher->hardly_told || facts->estimate.snapshot.count == 0 ||
        !estimate_model(&facts->estimate, facts->units, &model))
        return;
    uint32_t hosts = facts->units.hosts > 1 ? (uint32_t)facts->units.hosts : 1;
    struct interval_advice advice = interval_advise(&model, hosts);
    if (!advice.hardly)
        return;
    launcher->hardly_told = true;
    if (advice.none)
        snprintf(otherwise, sizeof otherwise, "on fewer hosts it would not be 10 %% either");
    else
        snprintf(otherwise, sizeof otherwise, "on %u host%s it would be %.0f %%", advice.hosts,
                 advice.hosts == 1 ? "" : "s", 100 * advice.utilisation_there);
    launcher_say(launcher,
                 "the job hardly makes progress on %u host%s that fail%s so often: %.1f %% of the "
                 "time is useful; %s",
                 hosts, hosts == 1 ? "" : "s", hosts == 1 ? "s" : "", 100 * advice.utilisation,
                 otherwise);
}

void launcher_take_learned(struct launcher *launcher, const struct wire_message *message,
                           struct wire_real_list estimate, uint64_t interval_ns, uint32_t why)
{
    struct learned_facts facts;

    if (!launcher_has_snapshots(launcher))
        return;
    launcher_watch(launcher);
    if (!evidence_take(&launcher->evidence, message->envelope.term, estimate, interval_ns, why))
        return;
    facts = launcher_learned(launcher);
    tell_interval(launcher, &facts);
    if (!launcher->over)
        tell_hardly(launcher, &facts);
}

char *launcher_learned_table(struct launcher *launcher)
{
    struct learned_facts facts = launcher_learned(launcher);
    char *text = NULL;
    size_t size;
    FILE *file = open_memstream(&text, &size);

    if (!file)
        return NULL;
    fprintf(file, "failures and costs:\n");
    learned_print(file, &facts, "");
    if (fclose(file) != 0)
        return NULL;
    text[size - 1] = '\0'; /* the last line feed */
    return text;
}

/* ---- The report as a file ---- */

void launcher_write_report(struct launcher *launcher)
{
    const char *path = launcher->options->report_file;
    struct learned_facts facts = launcher_learned(launcher);
    uint64_t now = launcher_now_ms(), supersteps = 0;
    FILE *file = path ? fopen(path, "we") : NULL;
    struct bspz_json json = {.file = file};

    if (path && !file)
        launcher_say(launcher, "--report=%s: %m", path);
    if (!file)
        return;
    for (uint32_t i = 0; i < launcher->usage_count; i++)
        if (launcher->usages[i].supersteps > supersteps)
            supersteps = launcher->usages[i].supersteps;
    bspz_json_object(&json, NULL);
    bspz_json_number(&json, "report", 1);
    bspz_json_signed(&json, "status", launcher->status);
    bspz_json_format(&json, "hosts", "%.0f", facts.units.hosts);
    bspz_json_format(&json, "processes", "%.0f", facts.units.processes);
    bspz_json_number(&json, "supersteps", supersteps);
    bspz_json_format(&json, "seconds", "%.3f",
                     launcher->begun_ms > 0 ? (double)(now - launcher->begun_ms) / 1e3 : 0);
    bspz_json_format(&json, "useful", "%.3f", (double)launcher->account.useful_ms / 1e3);
    bspz_json_format(&json, "lost", "%.3f", (double)launcher->account.lost_ms / 1e3);
    bspz_json_format(&json, "down", "%.3f", (double)launcher->account.down_ms / 1e3);
    bspz_json_number(&json, "faults", launcher->faults);
    bspz_json_number(&json, "snapshots", launcher->snapshots);
    bspz_json_number(&json, "snapshot_bytes", launcher->snapshot_bytes);
    bspz_json_format(&json, "pauses", "%.6f", (double)launcher->pause_ns / 1e9);
    learned_json(&json, "failures", &facts);
    bspz_json_end(&json);
    if (fclose(file) != 0)
        launcher_say(launcher, "--report=%s: %m", path);
}
