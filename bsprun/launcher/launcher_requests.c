/* launcher_requests.c - requests of the user by signals, including those that agents pass on, and
 * by bspkill.
 *
 * What can fail: one signal arrives by several paths; the job does not end, so that the second one
 * kills its processes and the third one its agents.
 */
#include <signal.h>

#include "bsprun/launcher/launcher_inside.h"
#include "bsprun/launcher/window.h"

static const int stop_signals[LAUNCHER_STOPS] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR2};

static void ask_to_stop(struct launcher *launcher, int signal)
{
    struct job_event event = {
        .kind = JOB_EVENT_STOP, .how = WIRE_STOP_SIGNAL, .signal = (uint32_t)signal};

    if (launcher_has_snapshots(launcher) && (signal == SIGTERM || signal == SIGUSR2)) {
        event.kind = JOB_EVENT_SAVE;
        event.stop = true;
        event.grace_ms = launcher->common.options->snapshots.grace_ms;
        launcher->saving_ms = uv_now(&launcher->common.loop);
    }
    launcher_event(launcher, event);
}

void launcher_save_and_stop(struct launcher *launcher, int signal)
{
    launcher->has_leisure = false;
    launcher->common.life.signals++;
    ask_to_stop(launcher, signal);
}

/* A signal to all processes of a job arrives by several paths: agents pass theirs on, and
 * timeout(1) signals bsprun and its group.  A signal that ends the job without saving comes
 * later, but for the one by which Slurm ends the grace time of a job that makes room. */
static bool is_the_same(struct launcher *launcher, int signal)
{
    struct allocation *slurm = &launcher->allocation;
    bool is_late = slurm->makes_room && !slurm->ended && signal == SIGTERM;

    if ((signal == SIGTERM || signal == SIGUSR2) && launcher->saving_ms > 0 &&
        uv_now(&launcher->common.loop) - launcher->saving_ms < LAUNCHER_SAME_MS)
        return true;
    slurm->ended = slurm->ended || is_late;
    return is_late;
}

/* ---- Hosts that are to be left ---- */

/* Whether all agents have been told to leave, or all but that of bsprun's own host, which a batch
 * system may not know. */
static bool is_the_whole_job(const struct launcher *launcher)
{
    uint32_t leaving = 0, staying = 0;

    for (uint32_t i = 0; i < launcher->agents.count; i++) {
        const struct launcher_agent *agent = &launcher->agents.items[i];

        if (!job_machine_member(launcher->machine, agent->host))
            continue;
        leaving += launcher->leaving[i];
        staying += !launcher->leaving[i] && !agent->local;
    }
    return staying == 0 && leaving > 1;
}

static void on_leave(uv_timer_t *timer)
{
    struct launcher *launcher = timer->data;

    for (uint32_t i = 0; i < launcher->agents.count; i++) {
        if (!launcher->leaving[i] || life_is_over(&launcher->common.life) ||
            launcher->common.life.signals > 0)
            continue;
        launcher->leaving[i] = false;
        if (job_machine_can_drain(launcher->machine, i))
            launcher_leave_host(launcher, &launcher->agents.items[i],
                                "its agent was told to end by SIGTERM");
        else
            launcher_save_and_stop(launcher, SIGTERM);
    }
}

/* The agent of a host was told by SIGTERM to end.  False: the job must be saved and stopped, as
 * there is no other host, or it is the whole job that ends. */
static bool note_leaving(struct launcher *launcher, const struct launcher_agent *agent)
{
    if (!agents_has_hosts(&launcher->agents) || job_machine_closed(launcher->machine) ||
        !job_machine_can_drain(launcher->machine, agent->host))
        return false;
    if (job_machine_drained(launcher->machine, agent->host))
        return true; /* it leaves already, or has nothing that could */
    launcher->leaving[agent->host] = true;
    if (is_the_whole_job(launcher))
        return false;
    /* Slurm warns only the agents of other nodes that the job has to make room. */
    allocation_ask_often(&launcher->allocation);
    launcher_query_status(launcher, false); /* how much memory there is */
    if (!uv_is_active((uv_handle_t *)&launcher->leave_timer))
        uv_timer_start(&launcher->leave_timer, on_leave, LAUNCHER_SAME_MS, 0);
    return true;
}

/* ---- Signals ---- */

void launcher_asked_by_agent(struct launcher *launcher, const struct launcher_agent *agent,
                             int signal)
{
    if ((launcher->common.life.signals > 0 && !launcher->has_leisure) ||
        life_is_over(&launcher->common.life) || !launcher_has_snapshots(launcher))
        return;
    if (signal == SIGUSR1 && !launcher->has_leisure)
        launcher_event(launcher, (struct job_event){.kind = JOB_EVENT_SAVE, .signal = SIGUSR1});
    if ((signal == SIGTERM && (launcher->has_leisure || !note_leaving(launcher, agent))) ||
        signal == SIGUSR2)
        launcher_save_and_stop(launcher, signal);
}

static void end_by_terminal(struct launcher *launcher, const char *text)
{
    if (life_is_over(&launcher->common.life) || launcher->common.life.signals > 1)
        return;
    launcher_tell_stacks(launcher, text);
    ask_to_stop(launcher, SIGINT);
}

static bool wants_stacks(const struct launcher *launcher, int signal)
{
    const struct options *options = launcher->common.options;

    return signal == SIGINT && options->run.stacks && options->verbosity > 0;
}

/* The keys of the terminal are for a debugger in it. */
static bool is_for_debugger(const struct launcher *launcher, int signal)
{
    return (signal == SIGINT || signal == SIGQUIT) && launcher->debuggers > 0 &&
           !launcher->common.options->debug.xterm;
}

static void on_stop_signal(uv_signal_t *handle, int signal)
{
    struct launcher *launcher = handle->data;
    bool first = launcher->common.life.signals == 0 || launcher->has_leisure;

    if (is_the_same(launcher, signal) || is_for_debugger(launcher, signal))
        return;
    launcher->has_leisure = false;
    launcher->common.life.signals++;
    if (first && !life_is_over(&launcher->common.life)) {
        if (wants_stacks(launcher, signal))
            launcher_ask_stacks(launcher, LAUNCHER_STACKS_MS, end_by_terminal);
        else
            ask_to_stop(launcher, signal);
        return;
    }
    launcher->common.notices.hurries = true;
    launcher_event(launcher, (struct job_event){.kind = JOB_EVENT_STOP,
                                                .how = WIRE_STOP_KILL,
                                                .signal = (uint32_t)signal});
    output_drop(&launcher->output);
    if (launcher->common.life.signals > 2)
        agents_kill(&launcher->agents);
}

static void on_save_signal(uv_signal_t *handle, int signal)
{
    struct launcher *launcher = handle->data;

    (void)signal;
    if (launcher_has_snapshots(launcher))
        launcher_event(launcher, (struct job_event){.kind = JOB_EVENT_SAVE, .signal = SIGUSR1});
    else
        notices_say(&launcher->common.notices,
                    "SIGUSR1 requests a snapshot, but --ckpt DIR was not given");
}

/* The terminal has been resized. */
static void on_window_signal(uv_signal_t *handle, int signal)
{
    struct launcher *launcher = handle->data;
    struct wire_message message = {.kind = WIRE_RESIZE};
    struct window window = window_look();

    (void)signal;
    message.resize.rows = window.rows;
    message.resize.columns = window.columns;
    agents_send_all(&launcher->agents, &message);
}

static void catch (struct launcher *launcher, uv_signal_t *handle, uv_signal_cb handler, int signal)
{
    uv_signal_init(&launcher->common.loop, handle);
    handle->data = launcher;
    if (!process_signal_ignored(launcher->common.signals, signal))
        uv_signal_start(handle, handler, signal);
}

void launcher_catch_signals(struct launcher *launcher)
{
    uv_timer_init(&launcher->common.loop, &launcher->leave_timer);
    launcher->leave_timer.data = launcher;
    launcher_begin_removals(launcher);
    for (int i = 0; i < LAUNCHER_STOPS; i++)
        catch (launcher, &launcher->stops[i], on_stop_signal, stop_signals[i]);
    catch (launcher, &launcher->save_signal, on_save_signal, SIGUSR1);
    launcher->window_signal.data = launcher;
    if (launcher->output.show)
        uv_signal_start(&launcher->window_signal, on_window_signal, SIGWINCH);
}

/* ---- bspctl and bspkill ---- */

static const char *end_job(struct launcher *launcher, enum status_request what)
{
    struct job_event event = {.kind = JOB_EVENT_STOP, .signal = SIGTERM};

    if (what == STATUS_SAVE) {
        event.kind = JOB_EVENT_SAVE;
        event.stop = true;
        event.grace_ms = WIRE_NEVER; /* as long as it takes: bspkill can end the job meanwhile */
    } else {
        event.how = what == STATUS_KILL ? WIRE_STOP_KILL : WIRE_STOP_SIGNAL;
    }
    launcher->has_leisure = what == STATUS_SAVE && launcher->common.life.signals == 0;
    launcher->common.life.signals++;
    launcher->end_requested = true;
    launcher_event(launcher, event);
    if (what == STATUS_KILL)
        output_drop(&launcher->output);
    return NULL;
}

static const char *const request_texts[STATUS_REQUEST_COUNT] = {
    [STATUS_SNAPSHOT] = "a snapshot",
    [STATUS_DRAIN] = "processes are to leave host ",
    [STATUS_REMOVE] = "the job is to leave host ",
    [STATUS_OPEN] = "processes may go to host ",
    [STATUS_PLACE] = "processes are to be placed as at the beginning",
    [STATUS_MOVE] = "a process is to move to host ",
    [STATUS_REPLICAS] = "replicas are to be ",
};

const char *launcher_take_request(void *context, struct status_order *order)
{
    struct launcher *launcher = context;
    enum status_request what = order->what;
    bool ends = what == STATUS_STOP || what == STATUS_KILL || what == STATUS_SAVE;

    if (life_is_over(&launcher->common.life))
        return ends ? NULL : "it is ending";
    if (what != STATUS_STOP && what != STATUS_KILL && !launcher_has_snapshots(launcher))
        return "it takes no snapshots: it was started without --ckpt";
    if (ends)
        return end_job(launcher, what);
    const char *refusal = what == STATUS_SNAPSHOT   ? NULL
                          : what == STATUS_REPLICAS ? launcher_change_replicas(launcher, order)
                                                    : launcher_change_places(launcher, order);
    if (what == STATUS_SNAPSHOT)
        launcher_event(launcher, (struct job_event){.kind = JOB_EVENT_SAVE, .signal = SIGUSR1});
    if (!refusal && !order->already && launcher->common.options->verbosity > 0)
        notices_say(&launcher->common.notices, "bspctl: %s%s", request_texts[what], order->host);
    return refusal;
}
