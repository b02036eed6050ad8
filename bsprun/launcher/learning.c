/* learning.c - failures observed by bsprun, and estimates from them; see learning.h. */
#include "bsprun/launcher/learning.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "coordinator/core/interval.h"
#include "coordinator/core/replicas_model.h"

#define TOGETHER_LEAST_MS 1000u
#define CHANGED           1.2 /* factor of change of the interval that -v reports */

static struct evidence_time evidence_now(void)
{
    return (struct evidence_time){launcher_now_ms(),
                                  bspz_clock_ns(CLOCK_BOOTTIME) / BSPZ_NS_PER_MS};
}

/* ---- Time ---- */

static double count_live_hosts(const struct learning *learning)
{
    const struct agents *agents = learning->agents;
    double hosts = 0;

    for (uint32_t i = 0; i < agents->count; i++)
        hosts += agents_is_up(&agents->items[i]) && job_machine_member(learning->machine, i);
    return hosts;
}

void learning_watch(struct learning *learning)
{
    evidence_watch(&learning->evidence,
                   job_machine_term(learning->machine) > 0 ? count_live_hosts(learning) : 0,
                   learning->account->running ? learning->processes : 0, evidence_now());
}

/* ---- Failures ---- */

static bool counts(const struct learning *learning)
{
    const struct life *life = &learning->common->life;

    return job_machine_term(learning->machine) > 0 && !life_is_over(life) &&
           !job_machine_closed(learning->machine) && life->signals == 0;
}

/* No other agent has come in this term: its hosts are not watched any more, and what is not
 * recorded yet is as sure as it will be. */
static void settle(struct learning *learning)
{
    for (uint32_t i = 0; i < learning->agents->count; i++) {
        if (learning->agent_ended[i])
            job_history_left(&learning->history, &learning->agents->items[i]);
        learning->agent_ended[i] = false;
    }
    job_history_sure(&learning->history);
}

void learning_saw(struct learning *learning, const struct launcher_agent *agent,
                  enum evidence_loss how)
{
    struct evidence_time now = evidence_now();
    uint64_t heartbeat = learning->common->options->hosts.heartbeat_ms, silence = 0;
    uint64_t bound = agent && agent->local ? 0 : heartbeat;
    enum estimate_kind kind;

    if (agent && (how == EVIDENCE_AGENT_ENDED || how == EVIDENCE_CUT))
        learning->agent_ended[agent->host] = how == EVIDENCE_AGENT_ENDED;
    learning_watch(learning);
    if (agent && agent->dismissed)
        job_history_left(&learning->history, agent);
    if (!counts(learning) ||
        (agent && (agent->dismissed || !job_machine_member(learning->machine, agent->host))))
        return;
    if (agent && !agent->local && how != EVIDENCE_LINK)
        silence = now.monotonic_ms - agent->heard_ms;
    kind = evidence_kind(&learning->evidence, how, silence, bound, now);
    evidence_fault(&learning->evidence, kind, silence,
                   heartbeat > TOGETHER_LEAST_MS ? heartbeat : TOGETHER_LEAST_MS, now);
    job_history_lost(&learning->history, agent, kind);
    if (!saved_recovers(&learning->common->saved))
        settle(learning); /* agents are not replaced */
}

void learning_saw_no_joiner(struct learning *learning, const struct launcher_agent *agent)
{
    job_history_left(&learning->history, agent);
}

void learning_saw_no_agent(struct learning *learning, const struct launcher_agent *agent)
{
    if (job_machine_term(learning->machine) == 0 || !learning->agent_ended[agent->host])
        return;
    learning->agent_ended[agent->host] = false;
    /* Of failures that count as one, only the first can be changed; but each host's life is over.
     */
    if (evidence_change(&learning->evidence, ESTIMATE_PROCESS, ESTIMATE_HOST) || counts(learning))
        job_history_lost(&learning->history, agent, ESTIMATE_HOST);
}

/* ---- What happens ---- */

void learning_up(struct learning *learning, const struct launcher_agent *agent)
{
    learning->agent_ended[agent->host] = false;
    job_history_up(&learning->history, agent);
    /* In a term that goes on, as with replicas, nothing else comes that would record it. */
    if (job_machine_state(learning->machine) == JOB_MACHINE_RUNNING)
        job_history_sure(&learning->history);
}

void learning_elect(struct learning *learning, uint32_t members, struct evidence_room *room,
                    struct wire_elect *elect)
{
    learning_watch(learning);
    evidence_elect(&learning->evidence, job_machine_term(learning->machine), evidence_now(), room,
                   elect);
    elect->shares = host_shares_elect(&learning->history.shares, &elect->hosts);
    if (learning->most_hosts < members)
        learning->most_hosts = members;
}

void learning_running(struct learning *learning, uint32_t processes)
{
    learning_watch(learning);
    evidence_running(&learning->evidence);
    learning->processes = processes;
    job_history_running(&learning->history);
}

void learning_saved(struct learning *learning, uint64_t bytes)
{
    learning->history.image_bytes = bytes;
}

void learning_known(struct learning *learning)
{
    if (job_machine_state(learning->machine) == JOB_MACHINE_RUNNING)
        settle(learning);
    job_history_saved(&learning->history);
}

void learning_end(struct learning *learning, bool preempted)
{
    learning_watch(learning);
    job_history_end(&learning->history, preempted);
}

/* ---- Life ---- */

int learning_open(struct learning *learning, struct common *common, const struct agents *agents,
                  const struct job_machine *machine, const struct account *account)
{
    uint64_t mtbf_ns = common->options->snapshots.mtbf_ns;
    struct estimate prior = {0};

    learning->common = common;
    learning->agents = agents;
    learning->machine = machine;
    learning->account = account;
    learning->agent_ended = calloc(agents->room, sizeof *learning->agent_ended);
    if (!learning->agent_ended ||
        job_history_open(&learning->history, common, agents, learning->agent_ended,
                         &learning->evidence, &prior) != 0)
        return -ENOMEM;
    if (mtbf_ns > 0)
        estimate_prior(&prior, ESTIMATE_HOST, (double)mtbf_ns / 1e9, ESTIMATE_GIVEN_LIVES);
    evidence_begin(&learning->evidence, &prior, evidence_now());
    return 0;
}

void learning_free(struct learning *learning)
{
    free(learning->agent_ended);
    job_history_free(&learning->history);
}

/* ---- What is told ---- */

struct learned_facts learning_facts(const struct learning *learning)
{
    struct estimate_units units = {count_live_hosts(learning), learning->processes};

    /* At the end the agents leave. */
    if (units.hosts < learning->most_hosts && life_is_over(&learning->common->life))
        units.hosts = learning->most_hosts;
    return (struct learned_facts){.estimate = evidence_estimate(&learning->evidence),
                                  .units = units,
                                  .told = learning->evidence.told,
                                  .interval_ns = learning->evidence.interval_ns,
                                  .why = wire_why_text(learning->evidence.why),
                                  .image_bytes = learning->history.image_bytes};
}

static void tell_interval(struct learning *learning, const struct learned_facts *facts)
{
    double interval = (double)facts->interval_ns, before = (double)learning->told_interval_ns;
    char text[256];

    if (learning->common->options->verbosity == 0 ||
        learning->common->options->snapshots.rule != WIRE_RULE_AUTO ||
        learning->evidence.why == WIRE_WHY_FIRST ||
        (learning->told_why == learning->evidence.why + 1 &&
         (learning->evidence.why == WIRE_WHY_OVERHEAD ||
          (interval < CHANGED * before && CHANGED * interval > before))))
        return;
    learning->told_interval_ns = facts->interval_ns;
    learning->told_why = learning->evidence.why + 1;
    learned_interval_text(facts, text, sizeof text);
    notices_say(&learning->common->notices, "%s", text);
}

/* Whether the same hosts would get more done with replicas, and how much more. */
static uint32_t advise_replicas(const struct interval_model *model, uint32_t hosts, double *gain)
{
    const struct replicas_model with = {.host_rate = model->rate / hosts,
                                        .cost = model->cost,
                                        .delay = model->delay,
                                        .restore = model->restore,
                                        .replace = model->restore};
    struct replicas_advice advice = replicas_advise(&with, hosts);
    double best = advice.speed[advice.replicas], now = advice.speed[1];

    *gain = now > 0 ? best / now : 0;
    return best > now ? advice.replicas : 1;
}

/* Printed once, as advice to the user. */
static void warn_low_utilisation(struct learning *learning, const struct learned_facts *facts)
{
    struct interval_model model;
    char otherwise[160], replicas[120] = "";
    double gain;

    if (learning->hardly_told ||
        replica_counts_most(&learning->common->replicas, WIRE_RANKS_MAX) > 1 ||
        facts->estimate.snapshot.count == 0 ||
        !estimate_model(&facts->estimate, facts->units, &model))
        return;
    uint32_t hosts = facts->units.hosts > 1 ? (uint32_t)facts->units.hosts : 1;
    struct interval_advice advice = interval_advise(&model, hosts);
    if (!advice.hardly)
        return;
    learning->hardly_told = true;
    if (advice.none)
        snprintf(otherwise, sizeof otherwise, "on fewer hosts it would not reach 10 %% either");
    else
        snprintf(otherwise, sizeof otherwise, "on %u host%s it would be %.0f %%", advice.hosts,
                 advice.hosts == 1 ? "" : "s", 100 * advice.utilisation_there);
    uint32_t best = advise_replicas(&model, hosts, &gain);
    if (best > 1 && gain > 0)
        snprintf(replicas, sizeof replicas,
                 "; with --replicas %u these hosts would get %.2g times as much done", best, gain);
    else if (best > 1)
        snprintf(replicas, sizeof replicas, "; with --replicas %u the job would go on", best);
    notices_say(&learning->common->notices,
                "the job makes little progress because its %u host%s fail%s so often: %.1f %% of "
                "the time is useful; %s%s",
                hosts, hosts == 1 ? "" : "s", hosts == 1 ? "s" : "", 100 * advice.utilisation,
                otherwise, replicas);
}

void learning_take(struct learning *learning, uint32_t term, const struct wire_learned *learned)
{
    struct learned_facts facts;

    if (!saved_recovers(&learning->common->saved))
        return;
    learning_watch(learning);
    if (!evidence_take(&learning->evidence, term, learned))
        return;
    host_shares_take(&learning->history.shares, term, &learned->shares);
    facts = learning_facts(learning);
    tell_interval(learning, &facts);
    if (!life_is_over(&learning->common->life))
        warn_low_utilisation(learning, &facts);
}

char *learning_table(const struct learning *learning)
{
    struct learned_facts facts = learning_facts(learning);
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
