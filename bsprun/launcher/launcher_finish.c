/* launcher_finish.c - events of the job; and the end of bsprun when the job is over: remaining
 * output, the cause, dismissal of agents.
 *
 * Happy path: EXIT -> every agent has sent its REPORT -> all output is written -> the cause is
 * reported -> the agents leave -> everything is closed.
 *
 * What can fail: a host does not send its REPORT, the output is not read, an agent does not leave.
 */
#include <errno.h>
#include <signal.h>

#include "bsprun/launcher/launcher_inside.h"

#define REPORTS_LATE_MS  10000u /* after the end */
#define REPLICAS_LATE_MS 2000u  /* where another host has ended the same processes */

/* ---- Reports ---- */

/* Whether Processor Zero has not told it that the job failed: it waits for bsprun. */
static bool is_untold(const struct launcher *launcher, const struct launcher_agent *agent)
{
    return agent->untold_term == job_machine_term(launcher->machine) &&
           agent->untold_by == job_machine_zero(launcher->machine) &&
           launcher->last_cause != WIRE_CAUSE_NONE;
}

/* Whether a REPORT of the agent is still expected: if it is connected and the job has ended by
 * itself. */
static bool owes_report(const struct launcher *launcher, const struct launcher_agent *agent)
{
    return launcher->reports_awaited && !agent->reported && !is_untold(launcher, agent) &&
           !output_is_reported_for(&launcher->output, agent->host) &&
           job_machine_member(launcher->machine, agent->host);
}

static void tell_incomplete(struct launcher *launcher, const struct launcher_agent *agent)
{
    notices_say(&launcher->common.notices,
                "host %s has not confirmed its end: some of its output may be missing",
                agent->name);
    if (launcher->status == 0)
        launcher->status = 1;
}

void launcher_note_leaver(struct launcher *launcher, struct launcher_agent *agent)
{
    enum job_machine_state state = job_machine_state(launcher->machine);

    if (life_is_over(&launcher->common.life)
            ? owes_report(launcher, agent)
            : !agent->reported && job_machine_member(launcher->machine, agent->host) &&
                  (state == JOB_MACHINE_RUNNING || state == JOB_MACHINE_FINISHING)) {
        agent->left_term = job_machine_term(launcher->machine);
    }
}

/* All reports have come, or will not.  A job can end well without hosts whose processes have ended;
 * their output may be incomplete. */
static void tell_early_leavers(struct launcher *launcher)
{
    uint32_t term = job_machine_term(launcher->machine);

    for (uint32_t i = 0; i < launcher->agents.count; i++)
        if (launcher->reports_awaited && launcher->last_cause == WIRE_CAUSE_NONE &&
            launcher->agents.items[i].left_term == term &&
            !output_is_reported_for(&launcher->output, i))
            tell_incomplete(launcher, &launcher->agents.items[i]);
}

static bool has_all_reports(const struct launcher *launcher)
{
    for (uint32_t i = 0; i < launcher->agents.count; i++)
        if (launcher->agents.items[i].line && owes_report(launcher, &launcher->agents.items[i]))
            return false;
    return true;
}

/* ---- The end ---- */

/* Signals are still caught, but their handles no longer keep the loop running. */
static void wind_up(struct launcher *launcher)
{
    if (launcher->common.life.state == LIFE_CLOSED)
        return;
    life_move(&launcher->common.life, LIFE_CLOSED);
    learning_end(&launcher->learning, false);
    for (int i = 0; i < LAUNCHER_STOPS; i++)
        uv_unref((uv_handle_t *)&launcher->stops[i]);
    uv_unref((uv_handle_t *)&launcher->save_signal);
    uv_close((uv_handle_t *)&launcher->progress_timer, NULL);
    uv_close((uv_handle_t *)&launcher->machine_timer, NULL);
    uv_close((uv_handle_t *)&launcher->live_timer, NULL);
    uv_close((uv_handle_t *)&launcher->window_signal, NULL);
    uv_close((uv_handle_t *)&launcher->leave_timer, NULL);
    launcher_close_stacks(launcher);
    uv_close((uv_handle_t *)&launcher->removal_timer, NULL);
    wanted_moves_free(&launcher->wanted_moves);
    replica_view_free(&launcher->replicas);
    output_close(&launcher->output);
    stdin_close(&launcher->input);
    agents_close_remote(&launcher->agents);
    allocation_close(&launcher->allocation);
    launcher_close_status(launcher);
}

/* The agents that were to leave have left, or are lost. */
static void wind_up_if_alone(struct launcher *launcher)
{
    if (life_is_said(&launcher->common.life) && !agents_has_lines(&launcher->agents))
        wind_up(launcher);
}

static void on_reports_late(uv_timer_t *timer);

/* Of a host that is lost just now this is not known for a heartbeat yet. */
static void on_replicas_late(uv_timer_t *timer)
{
    struct launcher *launcher = timer->data;

    for (uint32_t i = 0; i < launcher->agents.count; i++) {
        struct launcher_agent *agent = &launcher->agents.items[i];

        if (!agent->local && !agent->reported && output_is_reported_for(&launcher->output, i))
            agents_cut_line(agent);
    }
    uv_timer_start(timer, on_reports_late, REPORTS_LATE_MS, 0);
}

/* All output precedes messages about the end; then the agents are told to leave. */
void launcher_finish(struct launcher *launcher)
{
    struct wire_message farewell = {.kind = WIRE_EXIT};

    if (!life_is_over(&launcher->common.life) || life_is_said(&launcher->common.life) ||
        !has_all_reports(launcher))
        return;
    if (launcher->common.life.state == LIFE_OVER) {
        tell_early_leavers(launcher);
        life_move(&launcher->common.life, LIFE_FLUSHED);
        output_flush(&launcher->output);
    }
    if (life_is_said(&launcher->common.life) || !output_is_out(&launcher->output))
        return;
    life_move(&launcher->common.life, LIFE_SAID);
    /* Some output has not reached the user; without a reader the status is that of SIGPIPE. */
    if (launcher->output.error && (launcher->status == 0 || launcher->output.error != -EPIPE))
        launcher->status = 1;
    notices_clear(&launcher->common.notices);
    if (job_machine_outcome(launcher->machine).cause == WIRE_CAUSE_SAVED)
        output_record(&launcher->output, launcher->committed);
    launcher_tell_report(launcher);
    launcher_write_report(launcher);
    launcher_write_page(launcher);
    launcher_tell_end(launcher);
    agents_send_all(&launcher->agents, &farewell);
    if (agents_has_hosts(&launcher->agents))
        uv_timer_start(&launcher->machine_timer, on_replicas_late, REPLICAS_LATE_MS, 0);
    wind_up_if_alone(launcher);
}

void launcher_settled(void *context)
{
    struct launcher *launcher = context;

    launcher_finish(launcher); /* which may have waited for this agent */
    wind_up_if_alone(launcher);
}

/* Ends what is still open without further messages. */
void launcher_line_ended(void *context)
{
    struct launcher *launcher = context;

    if (launcher->forced_status && !life_is_over(&launcher->common.life)) {
        launcher_over(launcher, LIFE_SAID, launcher->forced_status);
        agents_cut_lines(&launcher->agents);
    }
    wind_up_if_alone(launcher);
}

static bool reports_are_arriving(const struct launcher *launcher)
{
    const struct agents *agents = &launcher->agents;
    uint64_t now = launcher_now_ms();

    for (uint32_t i = 0; i < agents->count; i++)
        if (agents->items[i].line && owes_report(launcher, &agents->items[i]) &&
            now - agents->items[i].spoke_ms < REPORTS_LATE_MS)
            return true;
    return agents->paused;
}

static void on_reports_late(uv_timer_t *timer)
{
    struct launcher *launcher = timer->data;

    if (life_is_said(&launcher->common.life)) {
        agents_cut_lines(&launcher->agents); /* an agent does not leave */
    } else if (!reports_are_arriving(launcher)) {
        for (uint32_t i = 0; i < launcher->agents.count; i++)
            if (launcher->agents.items[i].line && owes_report(launcher, &launcher->agents.items[i]))
                tell_incomplete(launcher, &launcher->agents.items[i]);
        tell_early_leavers(launcher);
        launcher->reports_awaited = false;
        launcher_finish(launcher);
    }
    uv_timer_start(timer, on_reports_late, REPORTS_LATE_MS, 0);
}

/* ---- Events ---- */

void launcher_event(struct launcher *launcher, struct job_event event)
{
    bool was_over = life_is_over(&launcher->common.life);

    launcher_step(launcher, event);
    if (was_over || !life_is_over(&launcher->common.life))
        return;
    if (agents_has_hosts(&launcher->agents))
        uv_timer_start(&launcher->machine_timer, on_reports_late, REPORTS_LATE_MS, 0);
    launcher_finish(launcher);
}

void launcher_machine_due(uv_timer_t *timer)
{
    launcher_event(timer->data, (struct job_event){.kind = JOB_EVENT_TIMER});
}

/* ---- What the streams say ---- */

static void on_output_closed(void *context)
{
    launcher_event(
        context,
        (struct job_event){.kind = JOB_EVENT_STOP, .how = WIRE_STOP_SIGNAL, .signal = SIGPIPE});
}

static void on_output_moved(void *context)
{
    launcher_finish(context);
}

void launcher_close(struct launcher *launcher, bool cut_short)
{
    launcher_event(launcher, (struct job_event){.kind = JOB_EVENT_CLOSING,
                                                .cut_short = cut_short,
                                                .term = job_machine_term(launcher->machine),
                                                .host = job_machine_zero(launcher->machine)});
}

static void on_output_complete(void *context)
{
    launcher_close(context, false);
}

const struct output_calls launcher_output_calls = {on_output_closed, on_output_moved,
                                                   on_output_complete};

void launcher_wrong_input(void *context, const char *text)
{
    struct launcher *launcher = context;

    if (life_is_over(&launcher->common.life) || launcher->end_told)
        return;
    notices_say(&launcher->common.notices, "%s", text);
    launcher->forced_status = 1;
    launcher->end_told = true;
    launcher_event(
        launcher,
        (struct job_event){.kind = JOB_EVENT_STOP, .how = WIRE_STOP_SIGNAL, .signal = SIGTERM});
}
