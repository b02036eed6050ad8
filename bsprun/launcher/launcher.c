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

#define STATUS_USAGE         2
#define JOB_DESCRIPTORS      24 /* what bsprun opens, and no less than what the agent does */
#define PROGRESS_TERMINAL_MS 250u
#define PROGRESS_PLAIN_MS    1000u

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

static void tell_no_load(void *notices, const char *text)
{
    notices_say(notices, "--load: %s", text);
}

/* 0, or a status: said why. */
static int find_hosts(struct launcher *launcher, struct options *options)
{
    char error[SAVED_TEXT];

    if (!options_find_hosts_from_here(options)) {
        notices_say(&launcher->notices, "%s", options->error);
        return STATUS_USAGE;
    }
    if (options->note[0])
        notices_say(&launcher->notices, "%s", options->note);
    if (options->hosts.load && !options->hosts.only_here &&
        !load_sort(&options->hosts, tell_no_load, &launcher->notices))
        notices_say(&launcher->notices, "--load: out of memory");
    if (options->hosts.only_here || launcher->saved.store)
        return 0;
    if (saved_open_private(&launcher->saved, error) == 0)
        return 0;
    notices_say(&launcher->notices, "%s", error);
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
        notices_say(&launcher->notices, "%s", options->error);
        return STATUS_USAGE;
    }
    int status = saved_open(&launcher->saved, options, error);
    if (status)
        notices_say(&launcher->notices, "%s", error);
    else
        status = find_hosts(launcher, options);
    if (status == 0 && launcher->saved.note[0])
        notices_say(&launcher->notices, "%s", launcher->saved.note);
    return status;
}

static int make_agents(struct launcher *launcher)
{
    const struct agents_config config = {
        .loop = &launcher->loop,
        .options = launcher->options,
        .signals = launcher->process_signals,
        .store = launcher->saved.store,
        .job = launcher->job,
        .life = &launcher->life,
        .notices = &launcher->notices,
        .calls = &launcher_agents_calls,
        .context = launcher,
    };

    return agents_make(&launcher->agents, &config) ? 0 : -ENOMEM;
}

/* With snapshots output comes through bsprun, which can leave out what is written again, and with a
 * live line of progress, which must be wiped before it. */
static enum wire_stdio output_mode(const struct launcher *launcher)
{
    bool live = launcher->options->progress && launcher->notices.terminal;

    return launcher->options->stdio == WIRE_STDIO_INHERIT && (launcher->saved.store || live)
               ? WIRE_STDIO_PLAIN
               : launcher->options->stdio;
}

static int open_streams(struct launcher *launcher)
{
    const struct output_config output = {
        .loop = &launcher->loop,
        .mode = output_mode(launcher),
        .recovers = launcher_has_snapshots(launcher),
        .saved = &launcher->saved,
        .agents = &launcher->agents,
        .notices = &launcher->notices,
        .calls = &launcher_output_calls,
        .context = launcher,
    };
    const struct stdin_config input = {
        .loop = &launcher->loop,
        .options = launcher->options,
        .saved = &launcher->saved,
        .committed = &launcher->committed,
        .notices = &launcher->notices,
        .wrong = launcher_wrong_input,
        .context = launcher,
    };
    int error = output_open(&launcher->output, &output);

    return error || !launcher->saved.store ? error : stdin_open(&launcher->input, &input);
}

static int open_learning(struct launcher *launcher)
{
    const struct learning_config config = {
        .loop = &launcher->loop,
        .options = launcher->options,
        .saved = &launcher->saved,
        .agents = &launcher->agents,
        .machine = launcher->machine,
        .account = &launcher->account,
        .life = &launcher->life,
        .notices = &launcher->notices,
    };

    return learning_open(&launcher->learning, &config);
}

/* Until the loop runs.  0, or a status: said why. */
static int set_up(struct launcher *launcher)
{
    int error = open_loop(launcher);

    if (!error) {
        uv_timer_init(&launcher->loop, &launcher->progress_timer);
        uv_timer_init(&launcher->loop, &launcher->machine_timer);
        launcher->progress_timer.data = launcher->machine_timer.data = launcher;
        launcher->machine_due = launcher_machine_due;
        error = make_agents(launcher);
    }
    if (!error)
        error = open_streams(launcher);
    if (!error && !launcher_begin_job(launcher))
        error = -ENOMEM;
    if (!error)
        error = open_learning(launcher);
    if (!error)
        error = agents_open_remote(&launcher->agents);
    if (error) {
        char text[160];

        net_listen_problem(error, agents_ports(&launcher->agents), text, sizeof text);
        notices_say(&launcher->notices, "cannot start a job: %s%s", text,
                    verdict_limit_hint(-error));
        return 1;
    }
    return agents_start_all(&launcher->agents) ? 0 : 1;
}

static int run(struct launcher *launcher)
{
    unsigned interval = launcher->notices.terminal ? PROGRESS_TERMINAL_MS : PROGRESS_PLAIN_MS;
    int status;

    signal(SIGPIPE, SIG_IGN); /* an agent may be gone before it is told what to do */
    status = set_up(launcher);
    if (status)
        return status;
    launcher_catch_signals(launcher);
    if (launcher->options->progress)
        uv_timer_start(&launcher->progress_timer, on_progress_timer, interval, interval);
    launcher_open_status(launcher, launcher_take_wish);
    uv_run(&launcher->loop, UV_RUN_DEFAULT);
    return launcher->status;
}

int launcher_run(struct options *options, const struct process_signals *signals)
{
    static struct launcher launcher; /* the loop's handles stay until the process ends */
    int status;

    launcher.options = options;
    launcher.process_signals = signals;
    launcher.notices.terminal = isatty(STDERR_FILENO);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    leftovers_sweep();
    status = open_saved(&launcher, options);
    memcpy(launcher.job, launcher.saved.job, sizeof launcher.job);
    if (status == 0 && launcher.saved.finished) {
        status = launcher.saved.finished_status;
        notices_say(&launcher.notices, "job %s has ended already, with status %d",
                    store_job_name(launcher.saved.store), status);
    } else if (status == 0) {
        status = run(&launcher);
    }
    if (status != 0 && launcher.notices.lines == 0)
        launcher_tell_reason(&launcher, status);
    saved_close(&launcher.saved, launcher.committed.term > 0 || launcher.finish_noted);
    output_free(&launcher.output);
    stdin_free(&launcher.input);
    learning_free(&launcher.learning);
    agents_free(&launcher.agents);
    free(launcher.usages);
    free(launcher.process_faults);
    account_free(&launcher.account);
    job_machine_free(launcher.machine);
    return status;
}
