/* launcher_talk.c - what agents say, and what they are told.
 *
 * Happy path: HELLO -> START -> REGISTER -> ELECT (launcher_job.c) -> OUTPUT, STATUS, NOTICE,
 * TRACE, MARK, SAVED -> CLOSING -> CLOSED -> REPORT, ENDED.
 *
 * What can fail: an agent that replaces another one is told to restore (START with resume, no
 * REGISTER); what comes from an older term is dropped by the job machine.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/hosts/adapter.h"
#include "bsprun/launcher/launcher_inside.h"
#include "bsprun/launcher/window.h"
#include "bsprun/usage.h"

void launcher_query_status(struct launcher *launcher)
{
    struct wire_message message = {.kind = WIRE_QUERY_STATUS};

    for (uint32_t i = 0; i < launcher->agent_count; i++)
        launcher->agents[i].answered = false;
    launcher_send_all(launcher, &message);
}

void launcher_resize(struct launcher *launcher)
{
    struct wire_message message = {.kind = WIRE_RESIZE};
    struct window window = window_look();

    message.resize.rows = window.rows;
    message.resize.columns = window.columns;
    launcher_send_all(launcher, &message);
}

/* ---- What is shown ---- */

/* What all agents have answered together; the caller frees it.  NULL: no memory. */
static struct wire_where *gather_places(const struct launcher *launcher, uint32_t *count)
{
    uint32_t all = 0;

    for (uint32_t i = 0; i < launcher->agent_count; i++)
        all += launcher->agents[i].place_count;
    struct wire_where *rows = calloc(all + 1, sizeof *rows);

    *count = 0;
    for (uint32_t i = 0; rows && i < launcher->agent_count; i++) {
        const struct launcher_agent *agent = &launcher->agents[i];

        for (uint32_t j = 0; j < agent->place_count; j++)
            rows[(*count)++] = agent->places[j];
    }
    return rows;
}

static void show_progress(struct launcher *launcher, const struct wire_status *status)
{
    struct progress *progress = &launcher->progress;
    uint32_t columns = window_look().columns;
    char text[256];

    progress->total = launcher->options->total_supersteps;
    progress->has_snapshot = launcher_has_snapshots(launcher) && launcher->committed.term > 0;
    progress->snapshot = launcher->committed.superstep;
    progress->restarts = launcher->faults;
    progress_text(status, progress, text, sizeof text);
    if (launcher->over)
        return;
    if (!launcher->terminal) {
        launcher_say(launcher, "%s", text);
        return;
    }
    if (launcher->within_line)
        return; /* a prompt, say: it would be wiped */
    /* One that goes over several lines could not be wiped; a cursor needs the last column. */
    if (columns <= sizeof "bsprun: ")
        columns = 80;
    fprintf(stderr, "\r\033[Kbsprun: %.*s", (int)(columns - sizeof "bsprun: "), text);
    fflush(stderr);
    launcher->line_shown = true;
}

/* The names in it live as long as the message and are not kept. */
static bool keep_places(struct launcher_agent *agent, const struct wire_where_list *places)
{
    struct wire_where *rows = realloc(agent->places, (places->count + 1) * sizeof *rows);

    if (!rows)
        return false;
    for (uint32_t i = 0; i < places->count; i++) {
        rows[i] = places->items[i];
        rows[i].function = rows[i].file = "";
    }
    agent->places = rows;
    agent->place_count = places->count;
    return true;
}

static void take_status(struct launcher_agent *agent, const struct wire_status *status)
{
    struct launcher *launcher = agent->launcher;
    struct wire_status all = *status;

    all.host = agent->host;
    status_socket_take(launcher->status_socket, &all);
    agent->answered = keep_places(agent, &status->ranks);
    if (agent->host == job_machine_zero(launcher->machine)) {
        launcher->status_seconds = status->seconds;
        launcher->status_processes = status->processes;
    }
    for (uint32_t i = 0; i < launcher->agent_count; i++)
        if (launcher->agents[i].up && !launcher->agents[i].answered)
            return;
    struct wire_where *rows = gather_places(launcher, &all.ranks.count);
    all.ranks.items = rows;
    all.seconds = launcher->status_seconds;
    all.processes = launcher->status_processes;
    if (rows && launcher->options->progress)
        show_progress(launcher, &all);
    free(rows);
}

static int by_pid(const void *a, const void *b)
{
    const struct wire_usage *first = a, *second = b;

    return first->pid < second->pid ? -1 : first->pid > second->pid;
}

static void take_report(struct launcher_agent *agent, const struct wire_report *report)
{
    struct launcher *launcher = agent->launcher;
    uint32_t count = launcher->usage_count + report->ranks.count;
    struct wire_usage *all = realloc(launcher->usages, (count + 1) * sizeof *all);

    agent->reported = true;
    if (!all)
        return;
    for (uint32_t i = 0; i < report->ranks.count; i++)
        all[launcher->usage_count + i] = report->ranks.items[i];
    qsort(all, count, sizeof *all, by_pid);
    launcher->usages = all;
    launcher->usage_count = count;
}

void launcher_tell_report(struct launcher *launcher)
{
    char size[16];
    char *table =
        launcher->usage_count > 0 ? usage_table(launcher->usages, launcher->usage_count) : NULL;

    if (!table)
        return;
    launcher_say(launcher, "%s", table);
    free(table);
    if (!launcher_has_snapshots(launcher))
        return;
    account_stopped(&launcher->account, launcher_now_ms());
    table = usage_faults_table(
        launcher->usages, launcher->usage_count,
        &(struct usage_faults){launcher->snapshots, (double)launcher->pause_ns / 1e9,
                               (double)launcher->account.lost_ms / 1e3,
                               (double)launcher->account.down_ms / 1e3, launcher->faults,
                               launcher->process_faults, launcher->process_count,
                               launcher->saved.restart});
    if (table)
        launcher_say(launcher, "%s", table);
    free(table);
    usage_bytes_text(launcher->snapshot_bytes, size, sizeof size);
    launcher_say(launcher,
                 "%llu snapshot%s, %s, %.3f s of pauses; %u fault%s recovered from; %.3f s "
                 "lost, %.3f s down",
                 (unsigned long long)launcher->snapshots, launcher->snapshots == 1 ? "" : "s", size,
                 (double)launcher->pause_ns / 1e9, launcher->faults,
                 launcher->faults == 1 ? "" : "s", (double)launcher->account.lost_ms / 1e3,
                 (double)launcher->account.down_ms / 1e3);
    table = launcher_learned_table(launcher);
    if (table)
        launcher_say(launcher, "%s", table);
    free(table);
}

/* ---- What the job machine is told ---- */

static void tell_ended(struct launcher_agent *agent, const struct wire_message *message)
{
    struct launcher *launcher = agent->launcher;
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
    free(launcher->last_text);
    free(launcher->last_table);
    launcher->last_text = strdup(ended->text);
    launcher->last_table = strdup(ended->table);
    launcher->last_cause = (enum wire_cause)ended->cause;
    launcher->reports_awaited = launcher_has_hosts(launcher) && message->envelope.term > 0;
    launcher_take_learned(launcher, message, ended->estimate, ended->interval_ns, ended->why);
    account_stopped(&launcher->account, launcher_now_ms());
    if (ended->cause == WIRE_CAUSE_RANK_SIGNALLED)
        launcher_saw(launcher, NULL, EVIDENCE_RANK_DIED);
    launcher_event(launcher, event);
}

/* For the report; without memory for it the sum is what is told. */
static void count_process_fault(struct launcher *launcher, uint32_t pid)
{
    if (pid >= launcher->process_count) {
        uint32_t *more = realloc(launcher->process_faults, (pid + 1) * sizeof *more);

        if (!more)
            return;
        memset(more + launcher->process_count, 0,
               (pid + 1 - launcher->process_count) * sizeof *more);
        launcher->process_faults = more;
        launcher->process_count = pid + 1;
    }
    launcher->process_faults[pid]++;
}

static void tell_term_over(struct launcher *launcher, const struct wire_message *message)
{
    const struct wire_term_over *over = &message->term_over;
    struct coord_name bad = {over->bad_superstep, over->bad_from};

    if (message->envelope.term != job_machine_term(launcher->machine))
        return;
    launcher_take_learned(launcher, message, over->estimate, over->interval_ns, over->why);
    account_stopped(&launcher->account, launcher_now_ms());
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
                    .bad = over->bad ? bad : (struct coord_name){0, 0}},
    };
    if (over->pid >= 0)
        count_process_fault(launcher, (uint32_t)over->pid);
    if (over->cause == WIRE_CAUSE_RANK_SIGNALLED)
        launcher_saw(launcher, NULL, EVIDENCE_RANK_DIED);
    const char *text = over->text[0] ? over->text : wire_cause_text(over->cause);

    if (over->cause == WIRE_CAUSE_HOST_LOST && launcher_has_hosts(launcher))
        snprintf(launcher->loss_text, sizeof launcher->loss_text, "%s", text);
    else
        launcher_fault_text(launcher, text);
    launcher_event(launcher, event);
}

static void note_snapshot(struct launcher *launcher, const struct wire_saved *saved)
{
    char size[16];

    launcher->snapshots++;
    launcher->snapshot_bytes += saved->size;
    launcher->newest_bytes = saved->size;
    launcher->pause_ns += saved->pause_ns;
    usage_bytes_text(saved->size, size, sizeof size);
    if (launcher->options->verbosity > 0 && launcher_has_snapshots(launcher))
        launcher_say(launcher,
                     "snapshot of superstep %llu: %s, paused %.1f ms, committed after %.1f ms",
                     (unsigned long long)saved->superstep, size, (double)saved->pause_ns / 1e6,
                     (double)saved->commit_ns / 1e6);
}

static void tell_saved(struct launcher *launcher, const struct wire_message *message)
{
    struct coord_name name = {message->envelope.superstep, message->envelope.term};

    if (name.term != job_machine_term(launcher->machine))
        return;
    launcher_take_learned(launcher, message, message->saved.estimate, message->saved.interval_ns,
                          message->saved.why);
    if (message->saved.known) {
        launcher_forget(launcher, name);
        launcher_history_saved(launcher);
        return;
    }
    launcher->committed = name;
    launcher->saved_ms = launcher_now_ms();
    for (uint32_t i = 0; i < launcher->agent_count; i++)
        launcher->agents[i].saves = job_machine_member(launcher->machine, i);
    note_snapshot(launcher, &message->saved);
    account_saved(&launcher->account, name,
                  launcher->saved_ms - message->saved.commit_ns / 1000000u);
    launcher_event(launcher, (struct job_event){.kind = JOB_EVENT_COMMITTED,
                                                .term = message->envelope.term,
                                                .name = name});
}

/* An agent that has not been in a term yet speaks of the first. */
bool launcher_is_present(const struct launcher *launcher, const struct wire_message *message)
{
    return message->envelope.term == job_machine_term(launcher->machine) ||
           (message->envelope.term == 0 && !job_machine_restores(launcher->machine));
}

static void take_hello(struct launcher_agent *agent, const struct wire_hello *hello)
{
    struct launcher *launcher = agent->launcher;

    free(agent->addresses);
    agent->addresses =
        agent->adapter ? adapter_first(hello->addresses, agent->adapter) : strdup(hello->addresses);
    agent->cores = hello->cores;
    launcher_watch(launcher);
    if (agent->life_ms == 0)
        agent->life_ms = launcher_now_ms();
    agent->ended_here = false;
    agent->up = agent->unstarted = true;
    agent->starting = false;
    if (launcher->options->verbosity >= 2 && launcher_has_hosts(launcher))
        launcher_say(launcher, "host %s has come", agent->name);
    if (job_machine_program(launcher->machine) == agent->host)
        launcher->reader = agent;
    for (uint32_t i = 0; i < launcher->agent_count; i++)
        launcher_start_when_possible(&launcher->agents[i]);
}

/* Where the user has said which hosts there are. */
static void tell_crowded(struct launcher *launcher, const struct wire_registration *registration)
{
    const struct options *options = launcher->options;
    char line[HOSTS_ERROR];
    uint64_t slots = 0;

    for (uint32_t i = 0; i < launcher->agent_count - launcher->spares; i++)
        slots += launcher->agents[i].slots ? launcher->agents[i].slots : launcher->agents[i].cores;
    if ((launcher_has_hosts(launcher) || launcher->agents[0].slots > 0) &&
        !options->hosts.oversubscribe &&
        hosts_crowded(registration->wanted, (uint32_t)options->processes, slots, line))
        launcher_say(launcher, "%s", line);
}

static void tell_machine(struct launcher_agent *agent, const struct wire_message *message)
{
    struct job_event event = {.term = message->envelope.term, .host = agent->host};

    switch (message->kind) {
    case WIRE_REGISTER:
        event.kind = JOB_EVENT_REGISTERED;
        tell_crowded(agent->launcher, &message->registration);
        break;
    case WIRE_CHOSEN:
        event.kind = JOB_EVENT_CHOSEN;
        event.name = (struct coord_name){message->chosen.superstep, message->chosen.from};
        break;
    case WIRE_CLOSING:
        event.kind = JOB_EVENT_CLOSING;
        break;
    default: /* HELLO */
        if (!launcher_accepts(agent, &message->hello))
            return;
        take_hello(agent, &message->hello);
        event.kind = JOB_EVENT_AGENT_UP;
        break;
    }
    launcher_event(agent->launcher, event);
}

static void tell_running(struct launcher *launcher, const struct wire_message *message)
{
    launcher_watch(launcher);
    evidence_running(&launcher->evidence);
    launcher->processes = message->running.processes;
    launcher_take_learned(launcher, message, message->running.estimate,
                          message->running.interval_ns, message->running.why);
    account_running(&launcher->account, launcher_now_ms());
    launcher_history_running(launcher);
}

/* What only Processor Zero says. */
static bool is_presumptuous(const struct launcher_agent *agent, uint32_t kind)
{
    return (kind == WIRE_CHOSEN || kind == WIRE_CLOSING || kind == WIRE_SAVED ||
            kind == WIRE_TERM_OVER) &&
           agent->host != job_machine_zero(agent->launcher->machine);
}

void launcher_take(struct launcher_agent *agent, const struct wire_message *message)
{
    struct launcher *launcher = agent->launcher;

    if (is_presumptuous(agent, message->kind))
        return;
    switch (message->kind) {
    case WIRE_HELLO:
    case WIRE_REGISTER:
    case WIRE_CHOSEN:
    case WIRE_CLOSING:
        tell_machine(agent, message);
        break;
    case WIRE_STOP:
        launcher_asked_by_agent(launcher, (int)message->stop.signal);
        break;
    case WIRE_NOTICE:
        launcher_say(launcher, "%s", message->notice.text);
        break;
    case WIRE_TRACE:
        launcher_say(launcher, "%s", message->trace.text);
        break;
    case WIRE_STATUS:
        if (agent->host == job_machine_zero(launcher->machine) && message->status.estimate.count > 0)
            launcher_take_learned(launcher, message, message->status.estimate,
                                  message->status.interval_ns, message->status.why);
        take_status(agent, &message->status);
        break;
    case WIRE_OUTPUT:
        launcher_show_output(agent, message);
        break;
    case WIRE_REPORT:
        take_report(agent, &message->report);
        launcher_finish(launcher);
        break;
    case WIRE_MARK:
        launcher_mark(agent, message);
        break;
    case WIRE_ALIVE:
        launcher_take_alive(agent);
        break;
    case WIRE_LINK_LOST:
        launcher_take_link_lost(agent, message);
        break;
    case WIRE_RUNNING:
        if (launcher_is_present(launcher, message))
            tell_running(launcher, message);
        break;
    case WIRE_PASSED:
        launcher_passed(agent, message);
        break;
    case WIRE_INPUT_TAKEN:
        if (launcher_is_present(launcher, message))
            launcher_input_taken(agent, message->input_taken.position, message->input_taken.digest);
        break;
    case WIRE_SAVED:
        tell_saved(launcher, message);
        break;
    case WIRE_TERM_OVER:
        tell_term_over(launcher, message);
        break;
    case WIRE_ENDED:
        tell_ended(agent, message);
        break;
    default:
        break;
    }
}
