/* launcher_requests.c - requests of the user: by signals, including those that agents pass on, and
 * by bspkill.
 *
 * What can fail: one signal arrives by several paths; the job does not end, so that the second one
 * kills its processes and the third one its agents.
 */
#include <signal.h>
#include <stdio.h>

#include "bsprun/launcher/launcher_inside.h"
#include "bsprun/launcher/window.h"

#define SAME_MS 1000u /* within which equal signals count as one */

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

/* A signal to all processes of a job arrives by several paths: agents pass theirs on, and
 * timeout(1) signals bsprun and its group.  A signal that ends the job without saving comes
 * later. */
static bool is_the_same(const struct launcher *launcher, int signal)
{
    return (signal == SIGTERM || signal == SIGUSR2) && launcher->saving_ms > 0 &&
           uv_now(&launcher->common.loop) - launcher->saving_ms < SAME_MS;
}

void launcher_asked_by_agent(struct launcher *launcher, int signal)
{
    if (launcher->common.life.signals > 0 || life_is_over(&launcher->common.life) ||
        !launcher_has_snapshots(launcher))
        return;
    if (signal == SIGUSR1)
        launcher_event(launcher, (struct job_event){.kind = JOB_EVENT_SAVE, .signal = SIGUSR1});
    if (signal != SIGTERM && signal != SIGUSR2)
        return;
    launcher->common.life.signals++;
    ask_to_stop(launcher, signal);
}

static void on_stop_signal(uv_signal_t *handle, int signal)
{
    struct launcher *launcher = handle->data;

    if (is_the_same(launcher, signal))
        return;
    if (launcher->common.life.signals++ == 0 && !life_is_over(&launcher->common.life)) {
        ask_to_stop(launcher, signal);
        return;
    }
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
                    "SIGUSR1 asks for a snapshot, for which --ckpt DIR is missing");
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
    for (int i = 0; i < LAUNCHER_STOPS; i++)
        catch (launcher, &launcher->stops[i], on_stop_signal, stop_signals[i]);
    catch (launcher, &launcher->save_signal, on_save_signal, SIGUSR1);
    launcher->window_signal.data = launcher;
    if (launcher->output.show)
        uv_signal_start(&launcher->window_signal, on_window_signal, SIGWINCH);
}

/* ---- bspkill ---- */

const char *launcher_take_request(void *context, enum status_request what)
{
    struct launcher *launcher = context;
    struct job_event event = {.kind = JOB_EVENT_STOP, .signal = SIGTERM};

    if (life_is_over(&launcher->common.life))
        return NULL;
    if (what == STATUS_SAVE && !launcher_has_snapshots(launcher))
        return "it takes no snapshots: it was started without --ckpt";
    if (what == STATUS_SAVE) {
        event.kind = JOB_EVENT_SAVE;
        event.stop = true;
        event.grace_ms = launcher->common.options->snapshots.grace_ms;
    } else {
        event.how = what == STATUS_KILL ? WIRE_STOP_KILL : WIRE_STOP_SIGNAL;
    }
    launcher->common.life.signals++;
    launcher->end_requested = true;
    launcher_event(launcher, event);
    if (what == STATUS_KILL)
        output_drop(&launcher->output);
    return NULL;
}
