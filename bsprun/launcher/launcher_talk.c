/* launcher_talk.c - handles messages and losses of agents.
 *
 * Happy path: HELLO -> START -> REGISTER -> ELECT (launcher_job.c) -> OUTPUT, STATUS, NOTICE,
 * TRACE, MARK, SAVED -> CLOSING -> CLOSED -> REPORT, ENDED.
 *
 * What can fail: an agent that replaces another one restores (START with resume, no REGISTER); the
 * job machine drops events of older terms.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "bsprun/launcher/launcher_inside.h"
#include "lib/base/units.h"

/* ---- What the job machine is told ---- */

/* Whether the job goes on without an agent that ends before it is in a term: one that joins, or
 * that has come in the place of one that was lost. */
static bool is_spared(const struct launcher *launcher, const struct launcher_agent *agent,
                      uint32_t term)
{
    return job_machine_joins(launcher->machine, agent->host) ||
           (term == 0 && !agent->local && launcher->running_term > 0 &&
            job_machine_restores(launcher->machine));
}

static void tell_ended(struct launcher *launcher, struct launcher_agent *agent,
                       const struct wire_message *message)
{
    const struct wire_ended *ended = &message->ended;
    struct job_event event = {
        .kind = JOB_EVENT_ENDED,
        .term = message->envelope.term,
        .outcome = {.status = ended->status,
                    .cause = (enum wire_cause)ended->cause,
                    .pid = ended->pid,
                    .signal = ended->signal,
                    .superstep = message->envelope.superstep,
                    .text = ""},
    };

    if (message->envelope.term > 0 && agent->host != job_machine_zero(launcher->machine))
        return; /* that is for Processor Zero to say */
    if (is_spared(launcher, agent, message->envelope.term)) {
        char text[WIRE_NAME_MAX + 192];

        snprintf(text, sizeof text, "host %s: %.160s", agent->name,
                 ended->text[0] ? ended->text : wire_cause_text((enum wire_cause)ended->cause));
        agents_give_up(agent, AGENT_NOT_STARTED, text);
        return;
    }
    free(launcher->last_text);
    free(launcher->last_table);
    launcher->last_text = strdup(ended->text);
    launcher->last_table = strdup(ended->table);
    launcher->last_cause = (enum wire_cause)ended->cause;
    launcher->last_unaware = ended->unaware;
    launcher->reports_awaited = agents_has_hosts(&launcher->agents) && message->envelope.term > 0;
    learning_take(&launcher->learning, message->envelope.term, &ended->learned);
    launcher_note_stopped(launcher);
    if (ended->cause == WIRE_CAUSE_RANK_SIGNALLED)
        learning_saw(&launcher->learning, NULL, EVIDENCE_RANK_DIED);
    launcher_event(launcher, event);
}

static void tell_term_over(struct launcher *launcher, const struct wire_message *message)
{
    const struct wire_term_over *over = &message->term_over;

    if (message->envelope.term != job_machine_term(launcher->machine))
        return;
    learning_take(&launcher->learning, message->envelope.term, &over->learned);
    launcher_take_moves(launcher, over);
    launcher_note_stopped(launcher);
    struct job_event event = {
        .kind = JOB_EVENT_TERM_OVER,
        .term = message->envelope.term,
        .outcome = {.status = over->status,
                    .cause = (enum wire_cause)over->cause,
                    .pid = over->pid,
                    .signal = over->signal,
                    .superstep = message->envelope.superstep,
                    .text = "",
                    .again = true,
                    .bad = over->bad ? over->not_restored : (struct bspz_snapshot_name){0, 0},
                    .right = over->right},
    };
    if (over->pid >= 0)
        launcher_count_process_fault(launcher, (uint32_t)over->pid);
    if (over->cause == WIRE_CAUSE_RANK_SIGNALLED)
        learning_saw(&launcher->learning, NULL, EVIDENCE_RANK_DIED);
    const char *text = over->text[0] ? over->text : wire_cause_text(over->cause);

    if (over->cause == WIRE_CAUSE_MOVED) {
        launcher->fault_repeats = 0;
        launcher_note(launcher, &(struct timeline_event){.kind = TIMELINE_MOVED});
    } else if (over->cause == WIRE_CAUSE_HOST_LOST && agents_has_hosts(&launcher->agents)) {
        snprintf(launcher->loss_text, sizeof launcher->loss_text, "%s", text);
    } else {
        launcher_fault_text(launcher, text);
    }
    launcher_end_term(launcher, &event);
}

static void note_snapshot(struct launcher *launcher, const struct wire_saved *saved)
{
    char size[16];

    launcher_note(launcher, &(struct timeline_event){.kind = TIMELINE_SAVED,
                                                     .at_ms = launcher->saved_ms -
                                                              saved->commit_ns / 1000000u,
                                                     .superstep = saved->superstep,
                                                     .bytes = saved->size,
                                                     .pause_ns = saved->pause_ns,
                                                     .commit_ns = saved->commit_ns});

    launcher->snapshots++;
    launcher->snapshot_bytes += saved->size;
    learning_saved(&launcher->learning, saved->size);
    launcher->pause_ns += saved->pause_ns;
    bspz_bytes_text(saved->size, size, sizeof size);
    if (launcher->common.options->verbosity > 0 && launcher_has_snapshots(launcher))
        notices_say(&launcher->common.notices,
                    "snapshot of superstep %llu: %s, paused %.1f ms, committed after %.1f ms",
                    (unsigned long long)saved->superstep, size, (double)saved->pause_ns / 1e6,
                    (double)saved->commit_ns / 1e6);
}

/* For how long the processes have been going on from there. */
static uint64_t age_ns(const struct wire_saved *saved)
{
    return saved->commit_ns > saved->pause_ns ? saved->commit_ns - saved->pause_ns : 0;
}

static void tell_saved(struct launcher *launcher, const struct wire_message *message)
{
    struct bspz_snapshot_name name = {message->envelope.superstep, message->envelope.term};

    if (name.term != job_machine_term(launcher->machine))
        return;
    learning_take(&launcher->learning, message->envelope.term, &message->saved.learned);
    if (message->saved.known) {
        if (bspz_snapshot_same(launcher->known, name))
            return; /* said again by another Processor Zero */
        launcher->known = name;
        output_commit(&launcher->output, name, message->saved.right);
        stdin_commit(&launcher->input, name, message->saved.right);
        learning_known(&launcher->learning);
        if (name.superstep == 0)
            launcher_event(launcher, (struct job_event){.kind = JOB_EVENT_PLACED,
                                                        .term = name.term,
                                                        .replicas = message->saved.replicas});
        return;
    }
    launcher->committed = name;
    wanted_moves_saved(&launcher->wanted_moves, message->envelope.term);
    launcher->saved_ms = launcher_now_ms();
    for (uint32_t i = 0; i < launcher->agents.count; i++)
        launcher->savers[i] = job_machine_member(launcher->machine, i);
    note_snapshot(launcher, &message->saved);
    owners_snapshot_over(&launcher->owners, &launcher->agents,
                         launcher->saved_ms - message->saved.commit_ns / 1000000u);
    account_saved(&launcher->account, name,
                  launcher->saved_ms - message->saved.commit_ns / 1000000u);
    launcher_event(launcher, (struct job_event){.kind = JOB_EVENT_COMMITTED,
                                                .term = message->envelope.term,
                                                .name = name,
                                                .age_ms = age_ns(&message->saved) / 1000000u});
    if (!job_machine_owes_snapshot(launcher->machine))
        status_socket_done(launcher->status_socket, 1u << STATUS_SNAPSHOT);
}

/* Who waits for it need not wait for another one. */
static void tell_unsaved(struct launcher *launcher, const struct wire_message *message)
{
    uint64_t age_ms = message->unsaved.age_ns / 1000000u;
    char text[512];

    launcher_event(launcher, (struct job_event){.kind = JOB_EVENT_UNSAVED,
                                                .term = message->envelope.term,
                                                .age_ms = age_ms});
    if (job_machine_owes_snapshot(launcher->machine))
        return;
    owners_snapshot_over(&launcher->owners, &launcher->agents, launcher_now_ms() - age_ms);
    snprintf(text, sizeof text, "no snapshot after superstep %llu: %.400s",
             (unsigned long long)message->envelope.superstep, message->unsaved.text);
    for (char *at = text; (at = strchr(at, '\n'));)
        *at = ' '; /* it is a line */
    status_socket_tell_all(launcher->status_socket, 1u << STATUS_SNAPSHOT, text);
}

/* Messages of an agent that has not been in a term yet belong to the first. */
static bool is_present(const struct launcher *launcher, const struct wire_message *message)
{
    return message->envelope.term == job_machine_term(launcher->machine) ||
           (message->envelope.term == 0 && !job_machine_restores(launcher->machine));
}

/* Whether the agent is acceptable; else it is given up. */
static bool accepts(const struct launcher *launcher, struct launcher_agent *agent,
                    const struct wire_hello *hello)
{
    const struct launcher_agent *twin = NULL;
    char text[2 * WIRE_NAME_MAX + 128] = "";
    struct utsname own;

    if (agent->local || uname(&own) != 0)
        return true;
    if (strcmp(hello->version, BSPZ_VERSION) != 0)
        snprintf(text, sizeof text, "host %s: its node agent is of version %.40s, not %s",
                 agent->name, hello->version, BSPZ_VERSION);
    else if (strcmp(hello->machine, own.machine) != 0)
        snprintf(text, sizeof text,
                 "host %s: a machine of type %.40s cannot continue what one of type %s has begun",
                 agent->name, hello->machine, own.machine);
    /* Hosts named at the beginning are as the user wants them. */
    else if (job_machine_joins(launcher->machine, agent->host) &&
             (twin = agents_twin(agent, hello)))
        snprintf(text, sizeof text, "host %s is host %s, which already takes part", agent->name,
                 twin->name);
    if (text[0])
        agents_give_up(agent, AGENT_REFUSED, text);
    return !text[0];
}

static void take_hello(struct launcher *launcher, struct launcher_agent *agent,
                       const struct wire_hello *hello)
{
    agents_hello(agent, hello);
    learning_up(&launcher->learning, agent);
    launcher_forget_status(launcher, agent->host);
    if (launcher->common.options->verbosity >= 2 && agents_has_hosts(&launcher->agents))
        notices_say(&launcher->common.notices, "host %s has joined", agent->name);
    if (job_machine_program(launcher->machine) == agent->host &&
        job_machine_state(launcher->machine) == JOB_MACHINE_GATHERING &&
        launcher->common.options->run.stdin_pid == 0)
        stdin_set_reader(&launcher->input, agent);
    launcher_start_when_possible(launcher);
}

static void tell_machine(struct launcher *launcher, struct launcher_agent *agent,
                         const struct wire_message *message)
{
    struct job_event event = {.term = message->envelope.term, .host = agent->host};

    switch (message->kind) {
    case WIRE_REGISTER:
        event.kind = JOB_EVENT_REGISTERED;
        launcher->begin_wanted = message->registration.wanted;
        break;
    case WIRE_CHOSEN:
        event.kind = JOB_EVENT_CHOSEN;
        event.name = message->chosen.name;
        if (event.term == job_machine_term(launcher->machine))
            launcher_take_missed(launcher, &message->chosen);
        break;
    default: /* HELLO */
        if (!accepts(launcher, agent, &message->hello))
            return;
        take_hello(launcher, agent, &message->hello);
        event.kind = JOB_EVENT_AGENT_UP;
        break;
    }
    launcher_event(launcher, event);
}

static void tell_running(struct launcher *launcher, const struct wire_message *message)
{
    uint32_t term = message->envelope.term;

    output_replicas(&launcher->output, message->running.homes, message->running.leads);
    if (launcher->running_term == term)
        return; /* by another Processor Zero */
    launcher->running_term = term;
    learning_running(&launcher->learning, message->running.processes);
    learning_take(&launcher->learning, message->envelope.term, &message->running.learned);
    account_running(&launcher->account, launcher_now_ms());
    launcher_note(launcher, &(struct timeline_event){.kind = TIMELINE_RUNNING});
    output_running(&launcher->output, message->running.processes);
    launcher_replicas_run(launcher, &message->running);
    launcher_tell_moved(launcher, message->running.processes);
    if (launcher->common.options->run.display_map)
        launcher_tell_map(launcher);
    launcher_owners_running(launcher);
    launcher_event(launcher, (struct job_event){.kind = JOB_EVENT_RUNNING,
                                                .term = message->envelope.term,
                                                .replicas = message->running.leads.count > 0});
}

static void take_link_lost(struct launcher *launcher, const struct launcher_agent *agent,
                           const struct wire_message *message)
{
    uint32_t peer = message->link_lost.peer;
    bool is_told = message->envelope.term == job_machine_term(launcher->machine) &&
                   agents_of(&launcher->agents, peer) && !launcher->agents.items[peer].dismissed &&
                   launcher->common.options->verbosity > 0 && !life_is_over(&launcher->common.life);

    if (is_told && peer == agent->host)
        notices_say(&launcher->common.notices, "host %s: %s", agent->name, message->link_lost.text);
    else if (is_told)
        notices_say(&launcher->common.notices, "host %s has lost host %s: %s", agent->name,
                    launcher->agents.items[peer].name, message->link_lost.text);
    launcher_note_link(launcher, agent->host, message);
    launcher_event(launcher, (struct job_event){.kind = JOB_EVENT_LINK_LOST,
                                                .term = message->envelope.term,
                                                .host = agent->host,
                                                .peer = peer,
                                                .behind = message->link_lost.behind});
    launcher_finish(launcher); /* which may have waited for the REPORT of one of them */
}

static void take_mark(struct launcher *launcher, struct launcher_agent *agent,
                      const struct wire_message *message)
{
    struct bspz_snapshot_name name = {message->envelope.superstep, message->envelope.term};
    struct wire_message echo = {.kind = WIRE_MARK, .envelope.superstep = name.superstep};

    if (name.term != job_machine_term(launcher->machine))
        return;
    stdin_mark(&launcher->input, agent, name, message->mark.input);
    output_mark(&launcher->output, agent->host, name);
    if (agents_has_hosts(&launcher->agents))
        agents_send(agent, &echo); /* behind the record of what was shown before a rollback */
}

static void tell_status(struct launcher *launcher, const struct launcher_agent *agent,
                        const struct wire_message *message)
{
    if (agent->host == job_machine_zero(launcher->machine) &&
        message->status.learned.estimate.count > 0)
        learning_take(&launcher->learning, message->envelope.term, &message->status.learned);
    launcher_take_status(launcher, agent, &message->status);
    launcher_check_removals(launcher);
}

/* Nothing is rolled back after CLOSED, so with snapshots output that could then be lost must have
 * come before. */
static void take_closing(struct launcher *launcher, const struct wire_message *message)
{
    if (message->closing.whole && launcher_has_snapshots(launcher)) {
        output_await(&launcher->output, launcher->machine, message->envelope.superstep);
        return;
    }
    output_await_no_more(&launcher->output);
    launcher_close(launcher, !message->closing.whole);
}

/* Whether an agent that is not Processor Zero's sends a message of Processor Zero. */
static bool claims_to_be_zero(const struct launcher *launcher, const struct launcher_agent *agent,
                              uint32_t kind)
{
    return (kind == WIRE_CHOSEN || kind == WIRE_CLOSING || kind == WIRE_SAVED ||
            kind == WIRE_UNSAVED || kind == WIRE_TERM_OVER || kind == WIRE_BEARABLE) &&
           agent->host != job_machine_zero(launcher->machine);
}

/* A host is lost, and processes of it go on at that of the agent. */
static void take_resettled(struct launcher *launcher, const struct launcher_agent *agent,
                           const struct wire_message *message)
{
    const struct wire_resettled *resettled = &message->resettled;

    notices_say(&launcher->common.notices, "%s", resettled->text);
    output_resettle(&launcher->output,
                    &(struct output_resettled){.lost = resettled->lost,
                                               .host = agent->host,
                                               .superstep = message->envelope.superstep,
                                               .from = resettled->name,
                                               .pids = resettled->pids});
    launcher->agents.items[resettled->lost].left_term = 0; /* what it owed comes from elsewhere */
    launcher->restarted_alone += resettled->pids.count;
    for (uint32_t i = 0; i < resettled->pids.count; i++)
        launcher_count_process_fault(launcher, (uint32_t)resettled->pids.items[i]);
    launcher_event(launcher, (struct job_event){.kind = JOB_EVENT_SURVIVED,
                                                .term = message->envelope.term,
                                                .host = resettled->lost});
}

static bool is_about_survival(struct launcher *launcher, const struct launcher_agent *agent,
                              const struct wire_message *message)
{
    if (message->kind == WIRE_RESETTLED && agents_of(&launcher->agents, message->resettled.lost))
        take_resettled(launcher, agent, message);
    else if (message->kind == WIRE_BEARABLE)
        launcher_event(launcher, (struct job_event){.kind = JOB_EVENT_BEARABLE,
                                                    .term = message->envelope.term,
                                                    .host = message->bearable.of,
                                                    .bears = message->bearable.bears});
    else
        return false;
    return true;
}

/* What is shown, or asked for by the user.  False: it is something else. */
static bool is_for_the_user(struct launcher *launcher, struct launcher_agent *agent,
                            const struct wire_message *message, bool present)
{
    switch (message->kind) {
    case WIRE_NOTICE:
        if (message->notice.once > 0)
            notices_say_once(&launcher->common.notices, message->envelope.term,
                             message->notice.once, message->notice.text);
        else
            notices_say(&launcher->common.notices, "%s", message->notice.text);
        if (present && message->notice.status > 0)
            launcher->agent_status = (int)message->notice.status;
        break;
    case WIRE_RESTARTED:
        notices_say(&launcher->common.notices, "%s", message->restarted.text);
        launcher->restarted_alone++;
        launcher_count_process_fault(launcher, message->restarted.pid);
        break;
    case WIRE_TRACE:
        notices_say(&launcher->common.notices, "%s", message->trace.text);
        break;
    case WIRE_STATUS:
        tell_status(launcher, agent, message);
        break;
    case WIRE_DEBUGGED:
        launcher->debuggers = message->debugged.count;
        break;
    case WIRE_STACK:
        launcher_take_stack(launcher, agent, &message->stack);
        break;
    case WIRE_OUTPUT:
        output_take(&launcher->output, agent, message, present);
        break;
    default:
        return false;
    }
    return true;
}

static void on_message(void *context, struct launcher_agent *agent,
                       const struct wire_message *message)
{
    struct launcher *launcher = context;
    bool present = is_present(launcher, message);

    if (claims_to_be_zero(launcher, agent, message->kind))
        return;
    if (is_for_the_user(launcher, agent, message, present) ||
        (present && is_about_survival(launcher, agent, message)))
        return;
    switch (message->kind) {
    case WIRE_HELLO:
    case WIRE_REGISTER:
    case WIRE_CHOSEN:
        tell_machine(launcher, agent, message);
        break;
    case WIRE_CLOSING:
        if (present)
            take_closing(launcher, message);
        break;
    case WIRE_STOP:
        launcher_asked_by_agent(launcher, agent, (int)message->stop.signal);
        break;
    case WIRE_OWNER:
        launcher_take_owner(launcher, agent, &message->owner);
        break;
    case WIRE_REPORT:
        launcher_take_report(launcher, &message->report);
        launcher_finish(launcher);
        break;
    case WIRE_MARK:
        take_mark(launcher, agent, message);
        break;
    case WIRE_LINK_LOST:
        take_link_lost(launcher, agent, message);
        break;
    case WIRE_RUNNING:
        if (present)
            tell_running(launcher, message);
        break;
    case WIRE_PASSED:
        if (present)
            output_passed(&launcher->output, agent->host, message->envelope.superstep);
        break;
    case WIRE_INPUT_TAKEN:
        if (present)
            stdin_taken(&launcher->input, agent, &message->input_taken);
        break;
    case WIRE_SAVED:
        tell_saved(launcher, message);
        break;
    case WIRE_UNSAVED:
        tell_unsaved(launcher, message);
        break;
    case WIRE_TERM_OVER:
        tell_term_over(launcher, message);
        break;
    case WIRE_ENDED:
        tell_ended(launcher, agent, message);
        break;
    default:
        break;
    }
}

/* ---- What becomes of agents ---- */

static void on_watched(void *context)
{
    struct launcher *launcher = context;

    learning_watch(&launcher->learning);
}

/* After a fault the job recovers from, its waiting output will be written again. */
static void on_forgot(void *context, struct launcher_agent *agent)
{
    struct launcher *launcher = context;

    launcher_note_leaver(launcher, agent);
    stdin_leave(&launcher->input, agent);
    if (life_is_over(&launcher->common.life) || !launcher_has_snapshots(launcher))
        output_leave(&launcher->output, agent->host);
}

/* If nothing is rolled back, Processor Zero decides about the loss. */
static void tell_zero_lost(struct launcher *launcher, const struct launcher_agent *agent,
                           const char *text)
{
    if (launcher_has_snapshots(launcher) || agent->host == job_machine_zero(launcher->machine) ||
        job_machine_state(launcher->machine) != JOB_MACHINE_RUNNING)
        return;
    launcher_lost_to_zero(launcher, agent->host, text);
}

static void learn_of_loss(struct learning *learning, const struct launcher_agent *agent,
                          enum agent_loss loss)
{
    if (loss == AGENT_NOT_STARTED)
        learning_saw_no_agent(learning, agent);
    else if (loss != AGENT_REFUSED)
        learning_saw(learning, agent,
                     loss == AGENT_ENDED ? EVIDENCE_AGENT_ENDED
                     : loss == AGENT_CUT ? EVIDENCE_CUT
                                         : EVIDENCE_SILENT);
}

static void on_lost(void *context, struct launcher_agent *agent, enum agent_loss loss, int status,
                    const char *text)
{
    struct launcher *launcher = context;
    bool joins = job_machine_joins(launcher->machine, agent->host);

    if (joins)
        learning_saw_no_joiner(&launcher->learning, agent);
    else
        learn_of_loss(&launcher->learning, agent, loss);
    if (!agent->dismissed && !joins) {
        launcher_fault_text(launcher, text);
        if (!agent->local)
            tell_zero_lost(launcher, agent, text);
    }
    if (agent->local) {
        if (launcher->agent_status == 0)
            launcher->agent_status = status;
        if (!launcher_has_snapshots(launcher) && !replica_view_any(&launcher->replicas) &&
            launcher->common.life.signals <= 2) /* else bsprun has killed it */
            launcher->forced_status = status;
    }
    launcher_event(launcher,
                   (struct job_event){.kind = JOB_EVENT_AGENT_LOST,
                                      .host = agent->host,
                                      .unheard = loss == AGENT_CUT || loss == AGENT_SILENT,
                                      .usable = loss == AGENT_ENDED});
    if (joins && !job_machine_joins(launcher->machine, agent->host))
        launcher_tell_not_joined(launcher, agent, text);
    launcher_owner_lost(launcher, agent);
    launcher_stacks_lost(launcher, agent);
}

static void on_answered(void *context)
{
    launcher_event(context, (struct job_event){.kind = JOB_EVENT_ROLL});
}

static void on_unsendable(void *context)
{
    struct launcher *launcher = context;

    launcher->forced_status = LAUNCHER_NOT_RUNNABLE;
}

const struct agents_calls launcher_agents_calls = {
    .message = on_message,
    .watched = on_watched,
    .forgot = on_forgot,
    .ended = launcher_line_ended,
    .settled = launcher_settled,
    .lost = on_lost,
    .answered = on_answered,
    .unsendable = on_unsendable,
};
