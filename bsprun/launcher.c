/* launcher.c - bsprun at work.
 *
 * Happy path: the agent is started -> HELLO -> START -> REGISTER, the first: its host is elected
 * for term 1 -> ELECT -> OUTPUT, STATUS, NOTICE, TRACE are shown -> REPORT, ENDED -> EXIT -> the
 * connection closes -> the agent is reaped -> the job's status is ours.
 *
 * What can fail: the agent cannot be started or dies (all that it leaves behind is ours, as we are
 * the next subreaper: it is killed); the user interrupts (STOP, then kill); our stdout is closed
 * (like a program that gets SIGPIPE).
 */
#include "bsprun/launcher.h"

#include <errno.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "bsprun/show.h"
#include "bsprun/sink.h"
#include "bsprun/start.h"
#include "bsprun/usage.h"
#include "bsprun/verdict.h"
#include "bsprun/window.h"
#include "lib/net/net.h"

#define FIRST_TERM           1u
#define SIGNAL_STATUS        128
#define JOB_DESCRIPTORS      16 /* what bsprun opens, and no less than what the agent does */
#define PROGRESS_TERMINAL_MS 250u
#define PROGRESS_PLAIN_MS    1000u
#define PROMPT_MS            100u
/* Output that waits for its reader: beyond HIGH no more is taken from the agent, until LOW. */
#define WAITING_HIGH         (1u << 20)
#define WAITING_LOW          (1u << 18)

static const int stop_signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
#define STOP_SIGNALS (int)(sizeof stop_signals / sizeof *stop_signals)

struct launcher {
    const struct options *options;
    uv_loop_t loop;
    struct net_connection *agent; /* NULL once it is closed */
    pid_t agent_pid;
    uv_signal_t signals[STOP_SIGNALS];
    uv_timer_t progress_timer, prompt_timer;
    uv_signal_t window_signal;
    struct show *show;
    struct sink sinks[2]; /* our stdout and stderr, for relayed output */
    bool paused;
    bool prompts; /* somebody looks on: beginnings of lines are shown, too */
    unsigned char job[WIRE_JOB_SIZE];
    uint32_t term;
    int signals_seen;
    bool ended; /* ENDED has come: status is the job's */
    bool output_closed;
    int status;
    bool terminal;      /* stderr is one: progress is one live line */
    bool line_shown;    /* ... and it is on the screen */
    uint64_t superstep; /* of the last progress, for the rate */
    double seconds;
};

static void say(struct launcher *launcher, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void clear_progress(struct launcher *launcher)
{
    if (launcher->line_shown)
        fputs("\r\033[K", stderr);
    launcher->line_shown = false;
}

/* A line of bsprun's own. */
static void say(struct launcher *launcher, const char *format, ...)
{
    va_list arguments;

    clear_progress(launcher);
    fputs("bsprun: ", stderr);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
    fflush(stderr);
}

static void send_message(struct launcher *launcher, struct wire_message *message)
{
    int error;

    if (!launcher->agent)
        return;
    memcpy(message->envelope.job, launcher->job, sizeof launcher->job);
    message->envelope.term = launcher->term;
    error = net_send(launcher->agent, message);
    if (error == -EINVAL || error == -EMSGSIZE || error == -ENOMEM) {
        say(launcher, "the arguments or the environment are too long: %s", strerror(-error));
        launcher->status = 126;
        launcher->ended = true;
        net_close(launcher->agent);
    }
}

static void send_stop(struct launcher *launcher, enum wire_stop_how how, int signal)
{
    struct wire_message message = {.kind = WIRE_STOP};

    message.stop.how = how;
    message.stop.signal = (uint32_t)signal;
    send_message(launcher, &message);
}

/* ---- Relayed output ---- */

static void check_output(struct launcher *launcher, int error)
{
    if (!error || launcher->output_closed)
        return;
    launcher->output_closed = true;
    if (error != -EPIPE)
        say(launcher, "cannot write the output: %s", strerror(-error));
    send_stop(launcher, WIRE_STOP_SIGNAL, SIGPIPE);
}

/* Takes no more from the agent than the user's reader takes from us. */
static void on_sink_changed(void *context)
{
    struct launcher *launcher = context;
    size_t waiting = sink_waiting(&launcher->sinks[0]) + sink_waiting(&launcher->sinks[1]);

    for (int i = 0; i < 2; i++)
        check_output(launcher, launcher->sinks[i].error);
    if (!launcher->agent)
        return;
    if (!launcher->paused && waiting > WAITING_HIGH) {
        launcher->paused = true;
        net_pause(launcher->agent);
    } else if (launcher->paused && waiting < WAITING_LOW) {
        launcher->paused = false;
        net_resume(launcher->agent);
    }
}

static int write_stream(void *context, int stream, const char *data, size_t size)
{
    struct launcher *launcher = context;

    return sink_write(&launcher->sinks[stream == 2], data, size);
}

/* The user wants the end, not the rest of the output. */
static void drop_output(struct launcher *launcher)
{
    for (int i = 0; launcher->show && i < 2; i++)
        sink_drop(&launcher->sinks[i]);
    if (launcher->show)
        on_sink_changed(launcher);
}

/* Nothing more has come for a while: what looks like a prompt is one. */
static void on_prompt_timer(uv_timer_t *timer)
{
    struct launcher *launcher = timer->data;

    if (!launcher->output_closed)
        check_output(launcher, show_release(launcher->show));
}

static void show_output(struct launcher *launcher, const struct wire_output *output)
{
    clear_progress(launcher);
    if (!launcher->show || launcher->output_closed)
        return;
    check_output(launcher, show_piece(launcher->show, output->pid, (int)output->stream,
                                      output->data.data, output->data.size));
    if (launcher->prompts)
        uv_timer_start(&launcher->prompt_timer, on_prompt_timer, PROMPT_MS, 0);
    on_sink_changed(launcher);
}

/* All of it, before anything is said about the end.  The job is over: whoever does not want to wait
 * for a slow reader may interrupt us without ado. */
static void finish_output(struct launcher *launcher)
{
    if (!launcher->show || launcher->output_closed)
        return;
    check_output(launcher, show_flush(launcher->show));
    for (int i = 0; i < STOP_SIGNALS; i++)
        if (uv_is_active((uv_handle_t *)&launcher->signals[i]) &&
            sink_waiting(&launcher->sinks[0]) + sink_waiting(&launcher->sinks[1]) > 0)
            uv_signal_stop(&launcher->signals[i]);
    for (int i = 0; i < 2; i++)
        check_output(launcher, sink_flush(&launcher->sinks[i]));
}

/* ---- The user's signals ---- */

static void on_stop_signal(uv_signal_t *handle, int signal)
{
    struct launcher *launcher = handle->data;

    if (launcher->signals_seen++ == 0) {
        send_stop(launcher, WIRE_STOP_SIGNAL, signal);
    } else {
        send_stop(launcher, WIRE_STOP_KILL, signal);
        drop_output(launcher);
        if (launcher->signals_seen > 2 && launcher->agent)
            kill(launcher->agent_pid, SIGKILL); /* not even the agent answers */
    }
}

static void on_window_signal(uv_signal_t *handle, int signal)
{
    struct wire_message message = {.kind = WIRE_RESIZE};
    struct window window = window_look();

    (void)signal;
    message.resize.rows = window.rows;
    message.resize.columns = window.columns;
    send_message(handle->data, &message);
}

/* ---- What the agent sends ---- */

static void send_start(struct launcher *launcher)
{
    const struct options *options = launcher->options;
    struct wire_message message = {.kind = WIRE_START};
    struct wire_start *start = &message.start;
    struct window window = window_look();

    start->program = options->command[0];
    start->arguments = (struct wire_texts){(const char *const *)options->command + 1,
                                           (uint32_t)options->command_length - 1};
    start->environment = (struct wire_texts){options->exports, (uint32_t)options->export_count};
    start->directory = "";
    start->process_limit = (uint32_t)options->processes;
    start->bind = options->bind;
    start->stdio = options->stdio;
    start->terminals = window.terminals;
    start->rows = window.rows;
    start->columns = window.columns;
    start->report = options->report;
    start->core_dumps = options->core_dumps;
    start->verbosity = (uint32_t)options->verbosity;
    start->timeout_ns = (uint64_t)(options->timeout * 1e9);
    start->consult_every = options->faults.consult_every;
    start->abort_at = options->faults.abort_at;
    send_message(launcher, &message);
}

/* The first registration elects; there is no other here. */
static void elect(struct launcher *launcher, const struct wire_message *message)
{
    struct wire_message election = {.kind = WIRE_ELECT};
    char name[WIRE_NAME_MAX] = "";
    struct wire_host host = {message->registration.host, 0, name};

    if (launcher->term != 0)
        return;
    gethostname(name, sizeof name - 1);
    launcher->term = FIRST_TERM;
    election.elect.elected = message->registration.host;
    election.elect.hosts = (struct wire_host_list){&host, 1};
    send_message(launcher, &election);
}

static void show_status(struct launcher *launcher, const struct wire_status *status)
{
    char text[128];

    progress_text(status, launcher->superstep, launcher->seconds, text, sizeof text);
    launcher->superstep = progress_superstep(status);
    launcher->seconds = status->seconds;
    if (launcher->ended)
        return;
    if (!launcher->terminal) {
        say(launcher, "%s", text);
        return;
    }
    fprintf(stderr, "\r\033[Kbsprun: %s", text);
    fflush(stderr);
    launcher->line_shown = true;
}

static void show_ended(struct launcher *launcher, const struct wire_ended *ended)
{
    struct wire_message farewell = {.kind = WIRE_EXIT};

    finish_output(launcher);
    launcher->ended = true;
    launcher->status = ended->status;
    if (launcher->output_closed && launcher->status == 0)
        launcher->status = 1; /* not all of it has reached the user */
    clear_progress(launcher);
    if (ended->text[0])
        say(launcher, "%s", ended->text);
    fputs(ended->table, stderr);
    fflush(stderr);
    send_message(launcher, &farewell);
}

static void show_report(struct launcher *launcher, const struct wire_report *report)
{
    char *table = usage_table(report->ranks.items, report->ranks.count);

    finish_output(launcher);
    if (!table)
        return;
    say(launcher, "%s", table);
    free(table);
}

static void on_message(void *context, struct net_connection *connection,
                       const struct wire_message *message)
{
    struct launcher *launcher = context;

    (void)connection;
    switch (message->kind) {
    case WIRE_HELLO:
        send_start(launcher);
        break;
    case WIRE_REGISTER:
        elect(launcher, message);
        break;
    case WIRE_NOTICE:
        say(launcher, "%s", message->notice.text);
        break;
    case WIRE_TRACE:
        say(launcher, "%s", message->trace.text);
        break;
    case WIRE_STATUS:
        show_status(launcher, &message->status);
        break;
    case WIRE_OUTPUT:
        show_output(launcher, &message->output);
        break;
    case WIRE_REPORT:
        show_report(launcher, &message->report);
        break;
    case WIRE_ENDED:
        show_ended(launcher, &message->ended);
        break;
    default:
        break;
    }
}

static void on_closed(void *context, enum net_end end, const char *text)
{
    struct launcher *launcher = context;

    (void)end;
    (void)text;
    launcher->agent = NULL;
    /* Still caught, though no longer a reason to stay: one that comes now is too late to matter. */
    for (int i = 0; i < STOP_SIGNALS; i++)
        uv_unref((uv_handle_t *)&launcher->signals[i]);
    uv_close((uv_handle_t *)&launcher->progress_timer, NULL);
    uv_close((uv_handle_t *)&launcher->prompt_timer, NULL);
    uv_close((uv_handle_t *)&launcher->window_signal, NULL);
    for (int i = 0; i < 2; i++)
        sink_close(&launcher->sinks[i]);
}

/* ---- Set-up and end ---- */

static void on_progress_timer(uv_timer_t *timer)
{
    struct wire_message message = {.kind = WIRE_QUERY_STATUS};

    send_message(timer->data, &message);
}

/* What there may be no descriptors for.  0 or the error. */
static int open_loop(struct launcher *launcher)
{
    int error = process_enough_descriptors(JOB_DESCRIPTORS);

    if (!error)
        error = uv_loop_init(&launcher->loop);
    return error ? error : uv_signal_init(&launcher->loop, &launcher->window_signal);
}

/* Only now are signals caught: a child that is not yet the agent would pass its own on to us. */
static void prepare_loop(struct launcher *launcher, const struct process_signals *signals)
{
    unsigned interval;

    sink_init(&launcher->sinks[0], &launcher->loop, STDOUT_FILENO, on_sink_changed, launcher);
    sink_init(&launcher->sinks[1], &launcher->loop, STDERR_FILENO, on_sink_changed, launcher);
    for (int i = 0; i < STOP_SIGNALS; i++) {
        uv_signal_init(&launcher->loop, &launcher->signals[i]);
        launcher->signals[i].data = launcher;
        if (!process_signal_ignored(signals, stop_signals[i]))
            uv_signal_start(&launcher->signals[i], on_stop_signal, stop_signals[i]);
    }
    launcher->window_signal.data = launcher;
    if (launcher->show)
        uv_signal_start(&launcher->window_signal, on_window_signal, SIGWINCH);
    uv_timer_init(&launcher->loop, &launcher->progress_timer);
    uv_timer_init(&launcher->loop, &launcher->prompt_timer);
    launcher->progress_timer.data = launcher->prompt_timer.data = launcher;
    launcher->prompts = isatty(STDOUT_FILENO);
    launcher->terminal = isatty(STDERR_FILENO);
    interval = launcher->terminal ? PROGRESS_TERMINAL_MS : PROGRESS_PLAIN_MS;
    if (launcher->options->progress)
        uv_timer_start(&launcher->progress_timer, on_progress_timer, interval, interval);
}

/* The agent is gone without a word: nothing that it started may outlive it. */
static void clean_up_after_agent(struct launcher *launcher, int wait_status)
{
    const struct timespec pause = {0, 2000000};
    char how[96] = "ended";

    if (WIFSIGNALED(wait_status)) {
        char name[48];

        verdict_signal_text(WTERMSIG(wait_status), name, sizeof name);
        snprintf(how, sizeof how, "was killed by signal %s", name);
    }
    while (process_kill_descendants(0) > 0)
        nanosleep(&pause, NULL);
    process_reap_all();
    if (launcher->signals_seen > 2)
        return;
    say(launcher, "the node agent (" AGENT_NAME ", process %d) %s, which ends the job",
        (int)launcher->agent_pid, how);
    launcher->status = WIFSIGNALED(wait_status) ? SIGNAL_STATUS + WTERMSIG(wait_status) : 1;
}

int launcher_run(const struct options *options, const struct process_signals *signals)
{
    static const struct net_handlers handlers = {.message = on_message, .closed = on_closed};
    static struct launcher launcher; /* the loop's handles stay until the process ends */
    char failure[PATH_MAX + 128];
    int wait_status = 0;
    int fd, error;

    launcher.options = options;
    launcher.status = 1;
    if (options->note[0])
        say(&launcher, "%s", options->note);
    if (getrandom(launcher.job, sizeof launcher.job, 0) != (ssize_t)sizeof launcher.job)
        say(&launcher, "no random numbers: %s", strerror(errno));
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    error = open_loop(&launcher);
    if (error) {
        say(&launcher, "cannot start a job: %s%s", strerror(-error), verdict_limit_hint(-error));
        return 1;
    }
    fd = start_agent(&launcher.agent_pid, failure, sizeof failure);
    if (fd < 0) {
        say(&launcher, "%s", failure);
        return 1;
    }
    signal(SIGPIPE, SIG_IGN);
    if (options->stdio != WIRE_STDIO_INHERIT)
        launcher.show = show_new(options->stdio, write_stream, &launcher);
    prepare_loop(&launcher, signals);
    error = net_open(&launcher.loop, fd, NULL, &handlers, &launcher, &launcher.agent);
    if (error) {
        say(&launcher, "cannot talk to the node agent: %s", strerror(-error));
        close(fd);
        on_closed(&launcher, NET_END_BROKEN, "");
    }
    uv_run(&launcher.loop, UV_RUN_DEFAULT);
    show_free(launcher.show);
    while (waitpid(launcher.agent_pid, &wait_status, 0) < 0 && errno == EINTR)
        ;
    if (!launcher.ended)
        clean_up_after_agent(&launcher, wait_status);
    return launcher.status;
}
