/* launcher.c - bsprun at work.
 *
 * Happy path: the directory of snapshots is opened, if there is one -> the agents are started ->
 * the job machine decides on what they say (launcher_job.c) -> EXIT -> their connections close ->
 * the job's status is ours.
 *
 * What can fail: an agent cannot be started or dies (the job goes on with another one from a
 * snapshot, or ends); the user interrupts (STOP or SAVE, then kill).
 */
#include "bsprun/launcher/launcher_inside.h"
#include "bsprun/leftovers.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

#include "bsprun/launcher/program.h"
#include "bsprun/load/load.h"
#include "bsprun/verdict.h"
#include "lib/base/clock.h"

#define STATUS_USAGE         2
#define JOB_DESCRIPTORS      24 /* what bsprun opens, and no less than what the agent does */
#define PROGRESS_TERMINAL_MS 250u
#define PROGRESS_PLAIN_MS    1000u
#define SAME_MS              1000u /* in which signals are one that came by several ways */

static const int stop_signals[LAUNCHER_STOPS] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR2};

uint64_t launcher_now_ms(void)
{
    return bspz_now_ns() / BSPZ_NS_PER_MS;
}

bool launcher_has_store(const struct launcher *launcher)
{
    return launcher->saved.store != NULL;
}

bool launcher_has_snapshots(const struct launcher *launcher)
{
    return launcher_has_store(launcher) && !launcher->saved.private_directory;
}

void launcher_clear_progress(struct launcher *launcher)
{
    if (launcher->line_shown)
        fputs("\r\033[K", stderr);
    launcher->line_shown = false;
}

void launcher_say(struct launcher *launcher, const char *format, ...)
{
    va_list arguments;

    launcher->lines++;
    launcher_clear_progress(launcher);
    fputs("bsprun: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    fflush(stderr);
}

/* ---- The user's signals ---- */

static void ask_to_stop(struct launcher *launcher, int signal)
{
    struct job_event event = {
        .kind = JOB_EVENT_STOP, .how = WIRE_STOP_SIGNAL, .signal = (uint32_t)signal};

    if (launcher_has_snapshots(launcher) && (signal == SIGTERM || signal == SIGUSR2)) {
        event.kind = JOB_EVENT_SAVE;
        event.stop = true;
        event.grace_ms = launcher->options->snapshots.grace_ms;
        launcher->saving_ms = uv_now(&launcher->loop);
    }
    launcher_event(launcher, event);
}

/* What systems send to all processes of a job comes by several ways: agents pass theirs on, and
 * timeout(1) sends it to bsprun and to its group.  One that ends the job unsaved comes later. */
static bool is_the_same(const struct launcher *launcher, int signal)
{
    return (signal == SIGTERM || signal == SIGUSR2) && launcher->saving_ms > 0 &&
           uv_now(&launcher->loop) - launcher->saving_ms < SAME_MS;
}

void launcher_asked_by_agent(struct launcher *launcher, int signal)
{
    if (launcher->signals_seen > 0 || launcher->over || !launcher_has_snapshots(launcher))
        return;
    if (signal == SIGUSR1)
        launcher_event(launcher, (struct job_event){.kind = JOB_EVENT_SAVE, .signal = SIGUSR1});
    if (signal != SIGTERM && signal != SIGUSR2)
        return;
    launcher->signals_seen++;
    ask_to_stop(launcher, signal);
}

static void on_stop_signal(uv_signal_t *handle, int signal)
{
    struct launcher *launcher = handle->data;

    if (is_the_same(launcher, signal))
        return;
    if (launcher->signals_seen++ == 0 && !launcher->over) {
        ask_to_stop(launcher, signal);
        return;
    }
    launcher_event(launcher, (struct job_event){.kind = JOB_EVENT_STOP,
                                                .how = WIRE_STOP_KILL,
                                                .signal = (uint32_t)signal});
    launcher_drop_output(launcher);
    if (launcher->signals_seen > 2)
        launcher_kill_agents(launcher);
}

static void on_save_signal(uv_signal_t *handle, int signal)
{
    struct launcher *launcher = handle->data;

    (void)signal;
    if (launcher_has_snapshots(launcher))
        launcher_event(launcher, (struct job_event){.kind = JOB_EVENT_SAVE, .signal = SIGUSR1});
    else
        launcher_say(launcher, "SIGUSR1 asks for a snapshot, for which --ckpt DIR is missing");
}

static void on_window_signal(uv_signal_t *handle, int signal)
{
    (void)signal;
    launcher_resize(handle->data);
}

static void on_progress_timer(uv_timer_t *timer)
{
    launcher_query_status(timer->data);
}

/* ---- Set-up and end ---- */

/* What there may be no descriptors for.  0 or the error. */
static int open_loop(struct launcher *launcher)
{
    int error = process_enough_descriptors(JOB_DESCRIPTORS);

    if (!error)
        error = uv_loop_init(&launcher->loop);
    return error ? error : uv_signal_init(&launcher->loop, &launcher->window_signal);
}

static void catch (struct launcher *launcher, uv_signal_t *handle, uv_signal_cb handler, int signal)
{
    uv_signal_init(&launcher->loop, handle);
    handle->data = launcher;
    if (!process_signal_ignored(launcher->process_signals, signal))
        uv_signal_start(handle, handler, signal);
}

/* Only now are signals caught: a child that is not yet the agent would pass its own on to us. */
static void prepare_loop(struct launcher *launcher)
{
    unsigned interval;

    for (int i = 0; i < LAUNCHER_STOPS; i++)
        catch (launcher, &launcher->stops[i], on_stop_signal, stop_signals[i]);
    catch (launcher, &launcher->save_signal, on_save_signal, SIGUSR1);
    launcher->window_signal.data = launcher;
    if (launcher->show)
        uv_signal_start(&launcher->window_signal, on_window_signal, SIGWINCH);
    launcher->terminal = isatty(STDERR_FILENO);
    interval = launcher->terminal ? PROGRESS_TERMINAL_MS : PROGRESS_PLAIN_MS;
    if (launcher->options->progress)
        uv_timer_start(&launcher->progress_timer, on_progress_timer, interval, interval);
}

/* Signals are still caught, though no longer a reason to stay: one that comes now is too late to
 * matter. */
void launcher_wind_up(struct launcher *launcher)
{
    if (launcher->wound_up)
        return;
    launcher->wound_up = true;
    launcher_history_end(launcher, false);
    for (int i = 0; i < LAUNCHER_STOPS; i++)
        uv_unref((uv_handle_t *)&launcher->stops[i]);
    uv_unref((uv_handle_t *)&launcher->save_signal);
    uv_close((uv_handle_t *)&launcher->progress_timer, NULL);
    uv_close((uv_handle_t *)&launcher->machine_timer, NULL);
    uv_close((uv_handle_t *)&launcher->window_signal, NULL);
    launcher_close_streams(launcher);
    launcher_close_remote(launcher);
    launcher_close_status(launcher);
}

static void tell_no_load(void *launcher, const char *text)
{
    launcher_say(launcher, "--load: %s", text);
}

/* 0, or a status: said why. */
static int find_hosts(struct launcher *launcher, struct options *options)
{
    char error[SAVED_TEXT];

    if (!options_find_hosts_from_here(options)) {
        launcher_say(launcher, "%s", options->error);
        return STATUS_USAGE;
    }
    if (options->note[0])
        launcher_say(launcher, "%s", options->note);
    if (options->hosts.load && !options->hosts.only_here &&
        !load_sort(&options->hosts, tell_no_load, launcher))
        launcher_say(launcher, "--load: out of memory");
    if (options->hosts.only_here || launcher_has_store(launcher))
        return 0;
    if (saved_open_private(&launcher->saved, error) == 0)
        return 0;
    launcher_say(launcher, "%s", error);
    return 1;
}

/* Whether there are snapshots, and which.  0, or a status: said why. */
static int open_saved(struct launcher *launcher, struct options *options)
{
    char path[PATH_MAX], error[SAVED_TEXT];
    int linked = 0;

    if (options->command_length > 0 &&
        program_find(options->command[0], options->lookup("PATH"), path, sizeof path))
        linked = program_linked_seconds(path);
    if (!options_complete(options, linked)) {
        launcher_say(launcher, "%s", options->error);
        return STATUS_USAGE;
    }
    int status = saved_open(&launcher->saved, options, error);
    if (status)
        launcher_say(launcher, "%s", error);
    else
        status = find_hosts(launcher, options);
    if (status == 0 && launcher->saved.note[0])
        launcher_say(launcher, "%s", launcher->saved.note);
    return status;
}

/* Until the loop runs.  0, or a status: said why. */
static int set_up(struct launcher *launcher)
{
    int error = open_loop(launcher);

    if (!error) {
        uv_timer_init(&launcher->loop, &launcher->progress_timer);
        uv_timer_init(&launcher->loop, &launcher->machine_timer);
        launcher->progress_timer.data = launcher->machine_timer.data = launcher;
        error = launcher_make_agents(launcher) ? launcher_open_streams(launcher) : -ENOMEM;
    }
    if (!error && !launcher_begin_job(launcher))
        error = -ENOMEM;
    if (!error)
        launcher_learn_begin(launcher);
    if (!error)
        error = launcher_open_remote(launcher);
    if (error) {
        char text[160];

        net_listen_problem(error, launcher_ports(launcher), text, sizeof text);
        launcher_say(launcher, "cannot start a job: %s%s", text, verdict_limit_hint(-error));
        return 1;
    }
    return launcher_start_agents(launcher) ? 0 : 1;
}

static int run(struct launcher *launcher)
{
    int status;

    signal(SIGPIPE, SIG_IGN); /* an agent may be gone before it is told what to do */
    status = set_up(launcher);
    if (status)
        return status;
    prepare_loop(launcher);
    launcher_open_status(launcher);
    uv_run(&launcher->loop, UV_RUN_DEFAULT);
    return launcher->status;
}

int launcher_run(struct options *options, const struct process_signals *signals)
{
    static struct launcher launcher; /* the loop's handles stay until the process ends */
    int status;

    launcher.options = options;
    launcher.process_signals = signals;
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    leftovers_sweep();
    status = open_saved(&launcher, options);
    memcpy(launcher.job, launcher.saved.job, sizeof launcher.job);
    if (status == 0 && launcher.saved.finished) {
        status = launcher.saved.finished_status;
        launcher_say(&launcher, "job %s has ended already, with status %d",
                     store_job_name(launcher.saved.store), status);
    } else if (status == 0) {
        status = run(&launcher);
    }
    if (status != 0 && launcher.lines == 0)
        launcher_tell_reason(&launcher, status);
    saved_close(&launcher.saved, launcher.committed.term > 0 || launcher.finish_noted);
    show_free(launcher.show);
    replay_free(launcher.replay);
    order_free(launcher.order);
    input_free(&launcher.input);
    launcher_free_agents(&launcher);
    free(launcher.usages);
    free(launcher.process_faults);
    account_free(&launcher.account);
    job_machine_free(launcher.machine);
    return status;
}
