/* launcher.c - runs a job.
 *
 * Happy path: the directory of snapshots is opened, if there is one -> the agents are started ->
 * the job machine handles their messages (launcher_job.c) -> EXIT -> their connections close ->
 * bsprun exits with the job's status.
 *
 * What can fail: an agent cannot be started or dies (the job goes on with another one from a
 * snapshot, or ends); the user interrupts (STOP or SAVE, then kill).
 */
#include "bsprun/launcher/launcher_inside.h"
#include "bsprun/leftovers.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "bsprun/launcher/map.h"
#include "bsprun/launcher/program.h"
#include "bsprun/load/load.h"
#include "bsprun/verdict.h"
#include "lib/page/page.h"

#define STATUS_USAGE         2
#define JOB_DESCRIPTORS      24 /* opened by bsprun, and no fewer than by the agent */
#define PROGRESS_TERMINAL_MS 250u
#define PROGRESS_PLAIN_MS    1000u
#define LIVE_MS              5000u /* how exactly it is known when a killed bsprun ended */

static void on_progress_timer(uv_timer_t *timer)
{
    launcher_query_status(timer->data, false);
}

static void on_live_timer(uv_timer_t *timer)
{
    past_live(timer->data);
}

/* ---- Set-up and end ---- */

/* Opens what needs descriptors. 0 or the error. */
static int open_loop(struct launcher *launcher)
{
    int error = process_enough_descriptors(JOB_DESCRIPTORS);

    if (!error)
        error = uv_loop_init(&launcher->common.loop);
    return error ? error : uv_signal_init(&launcher->common.loop, &launcher->window_signal);
}

static void tell_no_load(void *notices, const char *text)
{
    notices_say(notices, "--load: %s", text);
}

/* Hosts may take long to answer, or never do. */
static void sort_by_load(struct launcher *launcher, struct options *options)
{
    bool held = launcher->common.saved.holds_signals;

    saved_let_signals_go(&launcher->common.saved);
    if (!load_sort(&options->hosts, tell_no_load, &launcher->common.notices))
        notices_say(&launcher->common.notices, "--load: out of memory");
    if (held)
        saved_hold_signals(&launcher->common.saved);
}

/* 0, or a status: said why. */
static int find_hosts(struct launcher *launcher, struct options *options)
{
    char error[SAVED_TEXT];

    if (!options_find_hosts_from_here(options) || !options_check_debug(options)) {
        notices_say(&launcher->common.notices, "%s", options->error);
        return STATUS_USAGE;
    }
    replica_view_begin(&launcher->replicas, &options->hosts.replicas);
    launcher->common.replicas = options->hosts.replicas;
    if (options->note[0])
        notices_say(&launcher->common.notices, "%s", options->note);
    if (options->hosts.load && !options->hosts.only_here)
        sort_by_load(launcher, options);
    if (options->hosts.only_here || launcher->common.saved.store)
        return 0;
    if (saved_open_private(&launcher->common.saved, error) == 0)
        return 0;
    notices_say(&launcher->common.notices, "%s", error);
    return 1;
}

/* Completes the options, by what the program was linked with; 0, or a status after a message. */
static int complete_options(struct launcher *launcher, struct options *options)
{
    char path[PATH_MAX];
    int linked = 0;

    if (options->command_length > 0 &&
        program_find(options->command[0], options->lookup("PATH"), path, sizeof path))
        linked = program_linked_seconds(path);
    if (!options_complete(options, linked) || !options_check_debug(options)) {
        notices_say(&launcher->common.notices, "%s", options->error);
        return STATUS_USAGE;
    }
    return 0;
}

/* 0, or a status after a message. */
static int prepare_output(struct launcher *launcher, const struct options *options)
{
    int error = options->run.output ? output_files_prepare(options->run.output) : 0;

    if (error)
        notices_say(&launcher->common.notices, "--output %s: %s", options->run.output,
                    strerror(-error));
    return error ? 1 : 0;
}

/* --stdin none: nobody reads what others are to read. 0, or a status after a message. */
static int prepare_input(struct launcher *launcher, const struct options *options)
{
    const struct saved *saved = &launcher->common.saved;
    uint32_t pid = options->run.stdin_pid;
    int null = options->run.no_stdin ? open("/dev/null", O_RDONLY | O_CLOEXEC) : STDIN_FILENO;

    if (saved->has_manifest && pid >= saved->manifest.nprocs) {
        notices_say(&launcher->common.notices,
                    "--stdin %u: there is no such process: the processes are 0 to %u", pid,
                    saved->manifest.nprocs - 1);
        return STATUS_USAGE;
    }
    if (saved->has_manifest && !options->run.no_stdin && pid != saved_reader(saved)) {
        notices_say(&launcher->common.notices,
                    "--stdin %u: process %u reads the input of this job, which a restart cannot "
                    "change; leave out --stdin",
                    pid, saved_reader(saved));
        return STATUS_USAGE;
    }
    if (null == STDIN_FILENO || (null > 0 && dup2(null, STDIN_FILENO) == STDIN_FILENO)) {
        if (null > 0)
            close(null);
        return 0;
    }
    notices_say(&launcher->common.notices, "--stdin none: /dev/null: %s", strerror(errno));
    return 1;
}

/* --debug, --attach-on-error: 0, or a status after a message. */
static int prepare_debugger(struct launcher *launcher, const struct options *options)
{
    char error[512];

    if (!options->debug.asked && !options->debug.attach)
        return 0;
    if (!debugger_possible(options, error, sizeof error)) {
        notices_say(&launcher->common.notices, "%s", error);
        return STATUS_USAGE;
    }
    debugger_keep_terminal(&launcher->terminal);
    return 0;
}

/* Opens the directory of snapshots, if any. 0, or a status after a message. */
static int open_saved(struct launcher *launcher, struct options *options)
{
    char error[SAVED_TEXT];
    int status = complete_options(launcher, options);

    if (status == 0)
        status = prepare_debugger(launcher, options);
    if (status)
        return status;
    status = saved_open(&launcher->common.saved, options, error);
    if (status)
        notices_say(&launcher->common.notices, "%s", error);
    else
        status = find_hosts(launcher, options);
    if (status == 0 && launcher->common.saved.note[0])
        notices_say(&launcher->common.notices, "%s", launcher->common.saved.note);
    if (status == 0 && !launcher->common.saved.finished)
        status = prepare_output(launcher, options);
    if (status == 0)
        status = prepare_input(launcher, options);
    return status;
}

/* Prepares everything before the loop. 0, or a status after a message. */
static int set_up(struct launcher *launcher)
{
    int error = open_loop(launcher);

    if (!error) {
        uv_timer_init(&launcher->common.loop, &launcher->progress_timer);
        launcher_open_stacks(launcher);
        uv_timer_init(&launcher->common.loop, &launcher->machine_timer);
        uv_timer_init(&launcher->common.loop, &launcher->live_timer);
        launcher->live_timer.data = &launcher->past;
        launcher->progress_timer.data = launcher->machine_timer.data = launcher;
        launcher->machine_due = launcher_machine_due;
        if (!agents_make(&launcher->agents, &launcher->common, &launcher_agents_calls, launcher))
            error = -ENOMEM;
    }
    if (!error)
        error = output_open(&launcher->output, &launcher->common, &launcher->agents,
                            &launcher_output_calls, launcher);
    if (!error && launcher->common.saved.store)
        error = stdin_open(&launcher->input, &launcher->common, &launcher->committed,
                           launcher_wrong_input, launcher);
    if (!error && !launcher_begin_job(launcher))
        error = -ENOMEM;
    if (!error)
        error = learning_open(&launcher->learning, &launcher->common, &launcher->agents,
                              launcher->machine, &launcher->account);
    if (!error)
        error = agents_open_remote(&launcher->agents);
    if (!error)
        error = allocation_open(
            &launcher->allocation, &launcher->common,
            launcher_has_snapshots(launcher) ? launcher->common.options->hosts.rejoin_ms : 0,
            launcher_take_allocation, launcher);
    if (error) {
        char text[160];

        net_listen_problem(error, agents_ports(launcher->common.options), text, sizeof text);
        notices_say(&launcher->common.notices, "cannot start a job: %s%s", text,
                    verdict_limit_hint(-error));
        return 1;
    }
    return agents_start_all(&launcher->agents) ? 0 : 1;
}

static int run(struct launcher *launcher)
{
    unsigned interval =
        launcher->common.notices.terminal ? PROGRESS_TERMINAL_MS : PROGRESS_PLAIN_MS;
    int status;

    signal(SIGPIPE, SIG_IGN); /* an agent may exit before its first message */
    status = set_up(launcher);
    if (status)
        return status;
    launcher_catch_signals(launcher);
    saved_let_signals_go(&launcher->common.saved);
    if (launcher->common.options->progress)
        uv_timer_start(&launcher->progress_timer, on_progress_timer, interval, interval);
    if (launcher->past.file)
        uv_timer_start(&launcher->live_timer, on_live_timer, LIVE_MS, LIVE_MS);
    launcher_open_status(launcher, launcher_take_request);
    uv_run(&launcher->common.loop, UV_RUN_DEFAULT);
    return launcher->status;
}

/* --dry-run: shows where processes would be.  The status. */
static int show_map(struct launcher *launcher, struct options *options)
{
    char error[HOSTS_ERROR], *text;
    int status = complete_options(launcher, options);

    if (status)
        return status;
    if (!options_find_hosts_from_here(options)) {
        notices_say(&launcher->common.notices, "%s", options->error);
        return STATUS_USAGE;
    }
    if (options->note[0])
        notices_say(&launcher->common.notices, "%s", options->note);
    if (options->hosts.load)
        notices_say(
            &launcher->common.notices,
            "--dry-run: hosts are not asked for their loads and are shown in the order given");
    text =
        map_expected(options, options_own_cores(), options_most_processes(), error, sizeof error);
    if (!text) {
        notices_say(&launcher->common.notices, "%s", error);
        return STATUS_USAGE;
    }
    status = fputs(text, stdout) >= 0 && fflush(stdout) == 0 ? 0 : 1;
    if (status)
        notices_say(&launcher->common.notices, "cannot write the map: %s", strerror(errno));
    free(text);
    return status;
}

int launcher_run(struct options *options, const struct process_signals *signals)
{
    static struct launcher launcher; /* static, as the loop's handles live until the process ends */
    struct common *common = &launcher.common;
    int status;

    common->options = options;
    common->signals = signals;
    common->notices.terminal = isatty(STDERR_FILENO);
    if (options->run.dry_run)
        return show_map(&launcher, options);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    signal(SIGXFSZ, SIG_IGN); /* what is too large for ulimit -f is said */
    leftovers_sweep();
    if (options->report_page && !page_is_there()) {
        notices_say(&common->notices, "--report=html: this bsprun was %s", page_missing);
        return STATUS_USAGE;
    }
    if (!launcher_reports_can_be_written(common))
        return STATUS_USAGE;
    status = open_saved(&launcher, options);
    if (status == 0 && common->saved.finished) {
        status = common->saved.finished_status;
    } else if (status == 0) {
        if (saved_recovers(&common->saved))
            past_open(&launcher.past, common->saved.job_directory, launcher_now_ms(),
                      bspz_wall_ns() / BSPZ_NS_PER_MS);
        status = run(&launcher);
    }
    debugger_reset_terminal(&launcher.terminal);
    past_close(&launcher.past, launcher_now_ms());
    if (status != 0 && common->notices.lines == 0)
        launcher_tell_reason(&launcher, status);
    saved_close(&common->saved, launcher.committed.term > 0 || launcher.finish_noted);
    output_free(&launcher.output);
    stdin_free(&launcher.input);
    learning_free(&launcher.learning);
    agents_free(&launcher.agents);
    free(launcher.usages);
    free(launcher.process_faults);
    free(launcher.links);
    free(launcher.missed);
    account_free(&launcher.account);
    timeline_free(&launcher.timeline);
    job_machine_free(launcher.machine);
    return status;
}
