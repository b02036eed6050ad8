/* output.c - the output of the job's processes; see output.h.
 *
 * What can fail: our stdout is closed (treated like SIGPIPE); a re-executed program writes
 * different output (shown, with one warning).
 */
#include "bsprun/launcher/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bsprun/launcher/replica_view.h"
#include "bsprun/launcher/shown.h"

#define PROMPT_MS    100u
/* Output waiting for its reader: above HIGH the agents are paused until it is below LOW. */
#define WAITING_HIGH (1u << 20)
#define WAITING_LOW  (1u << 18)
#define SPOOL_MEMORY (2u << 20)
/* In place of a stream: what follows the process writes again, from the snapshot that is the data.
 */
#define GOES_BACK    0

static void check_output(struct output *output, int error)
{
    if (!error || output->error)
        return;
    output->error = error;
    if (error != -EPIPE)
        notices_say(&output->common->notices, "cannot write the output%s%s: %s",
                    output->files.directory ? " to files in " : "",
                    output->files.directory ? output->files.directory : "", strerror(-error));
    output->calls->closed(output->context);
}

/* Pauses the agents while the user's reader is slow. */
static void on_sink_changed(void *context)
{
    struct output *output = context;
    size_t waiting = sink_waiting(&output->sinks[0]) + sink_waiting(&output->sinks[1]);

    for (int i = 0; i < 2; i++)
        check_output(output, output->sinks[i].error);
    output->calls->moved(output->context);
    if (!output->agents->paused && waiting > WAITING_HIGH)
        agents_pause(output->agents, true);
    else if (output->agents->paused && waiting < WAITING_LOW) {
        line_buffer_excuse(&output->lines, launcher_now_ms());
        agents_pause(output->agents, false);
    }
}

static int write_stream(void *context, int pid, int stream, const char *data, size_t size)
{
    struct output *output = context;

    if (output->files.directory)
        return output_files_write(&output->files, pid, stream, data, size);

    notices_clear(
        &output->common->notices); /* also before output that has waited for the rest of its line */
    if (size > 0)
        output->common->notices.within_line = data[size - 1] != '\n';
    return sink_write(&output->sinks[stream == 2], data, size);
}

void output_drop(struct output *output)
{
    for (int i = 0; output->show && i < 2; i++)
        sink_drop(&output->sinks[i]);
    if (output->show)
        on_sink_changed(output);
}

/* ---- Shown once ---- */

static int show_fresh(void *context, int pid, int stream, const char *data, size_t size)
{
    struct output *output = context;

    return show_piece(output->show, pid, stream, data, size);
}

static int new_file(void *context)
{
    const struct output *output = context;

    return saved_spill(&output->common->saved);
}

static void tell_differs(struct output *output, int pid)
{
    if (!output->differs_told)
        notices_say(&output->common->notices,
                    "process %d has not written the same output as before the rollback: some of it "
                    "appears in both versions",
                    pid);
    output->differs_told = true;
}

/* Of what is shown, in contrast to what is kept to recognise it after a rollback. */
static int write_error(const struct output *output)
{
    int error = output->files.error;

    for (int i = 0; i < 2 && !error; i++)
        error = output->sinks[i].error;
    return error;
}

static int show_once(struct output *output, int pid, int stream, const char *data, size_t size)
{
    int error = replay_piece(output->replay, pid, stream, data, size), failed = write_error(output);

    output->any = true;
    if (replay_differed(output->replay, &pid, &stream))
        tell_differs(output, pid);
    if (failed)
        return failed;
    if (error && !output->unkept_told) {
        output->unkept_told = true;
        notices_say(&output->common->notices,
                    "output cannot be stored: %s; after a rollback some may be missing "
                    "or shown twice",
                    strerror(-error));
    }
    return 0;
}

static void say_unknown(struct output *output)
{
    if (output->any)
        notices_say(&output->common->notices, "the position of the output at that snapshot is not "
                                              "known: some of it will be shown twice");
}

/* ---- Shown by this bsprun, not to be shown by the next ---- */

static bool is_written(const struct output *output)
{
    return !output->error && output_is_out(output) && !output->sinks[0].dropping &&
           !output->sinks[1].dropping;
}

/* Only of what has been written: rather is some of it shown twice than lost. */
void output_record(struct output *output, struct bspz_snapshot_name name)
{
    int error;

    if (!output->replay || !is_written(output))
        return;
    error = shown_save(output->common->saved.job_directory, output->replay, name);
    if (error && !output->unrecorded_told) {
        output->unrecorded_told = true;
        notices_say(
            &output->common->notices,
            "what has been shown cannot be recorded: %s; after --restart some of it will be "
            "shown twice",
            strerror(-error));
    }
}

static bool recall_shown(struct output *output, struct bspz_snapshot_name name)
{
    int error;

    if (!output->common->saved.restart || output->any)
        return false;
    error = shown_load(output->common->saved.job_directory, output->replay, name);
    if (error && error != -ENOENT)
        notices_say(
            &output->common->notices,
            "what was shown before the job was stopped is not known: %s; some of it will be "
            "shown twice",
            error == -EBADMSG ? "the record is damaged" : strerror(-error));
    return error == 0;
}

static void show_now(void *context, int pid, int stream, const char *data, size_t size)
{
    struct output *output = context;
    struct bspz_snapshot_name from;

    if (output->error)
        return;
    if (stream == GOES_BACK) {
        memcpy(&from, data, sizeof from);
        if (output->replay && !replay_back_alone(output->replay, from, pid))
            say_unknown(output);
        return;
    }
    check_output(output, output->replay ? show_once(output, pid, stream, data, size)
                                        : show_piece(output->show, pid, stream, data, size));
}

/* ---- In order ---- */

static void ask_passed(struct output *output)
{
    struct wire_message message = {.kind = WIRE_ASK_PASSED};

    while (order_asks(output->order, &message.envelope.superstep))
        agents_send_all(output->agents, &message);
}

static void put_in_order(struct output *output, uint32_t host, const struct wire_message *message)
{
    const struct wire_output *piece = &message->output;

    line_buffer_piece(&output->lines, launcher_now_ms(), host, message->envelope.superstep,
                      piece->pid, (int)piece->stream, piece->data.data, piece->data.size);
    ask_passed(output);
}

/* Of replicas of processes that are not known. */
static void pass_fresh_lines(struct output *output, uint32_t host, uint64_t superstep, int stream,
                             const char *data, size_t size)
{
    while (size > 0) {
        const char *end = memchr(data, '\n', size);
        size_t line = end ? (size_t)(end - data) + 1 : size;

        if (first_output_line(&output->first, output->lead[host], host, stream, data, line))
            order_piece(output->order, host, superstep, -1, stream, data, line);
        data += line;
        size -= line;
    }
}

/* Passes on lines, or part of one. */
static void pass_line(void *context, uint32_t host, uint64_t superstep, int pid, int stream,
                      const char *data, size_t size)
{
    struct output *output = context;
    size_t fresh = size;

    if (output->replicas && pid < 0 && output->parallel[host]) {
        pass_fresh_lines(output, host, superstep, stream, data, size);
        return;
    }
    if (output->replicas && output->parallel[host])
        fresh = first_output_take(&output->first, host, pid, stream, size);
    if (fresh > 0)
        order_piece(output->order, host, superstep, pid, stream, data + size - fresh, fresh);
}

/* ---- Output before the end ---- */

static void end_wait(struct output *output)
{
    output_await_no_more(output);
    output->calls->complete(output->context);
}

static void on_waited(uv_timer_t *timer)
{
    end_wait(timer->data);
}

static void check_complete(struct output *output)
{
    for (uint32_t i = 0; i < output->agents->count; i++)
        if (output->owes[i])
            return;
    end_wait(output);
}

static void owes_no_more(struct output *output, uint32_t host)
{
    if (output->awaited == 0 || !output->owes[host])
        return;
    for (uint32_t i = 0; i < output->agents->count; i++)
        if (output->lead[i] == output->lead[host])
            output->owes[i] = false;
    if (output->common->options->verbosity >= 2)
        notices_say(&output->common->notices, "host %s has sent all output before bsp_end",
                    output->agents->items[host].name);
    check_complete(output);
}

void output_await(struct output *output, const struct job_machine *machine, uint64_t superstep)
{
    struct wire_message message = {.kind = WIRE_ASK_PASSED, .envelope.superstep = superstep};

    output->awaited = superstep + 1;
    for (uint32_t i = 0; i < output->agents->count; i++)
        output->owes[i] = output->show && !output->idle[i] && job_machine_member(machine, i);
    if (output->show)
        agents_send_all(output->agents, &message);
    if (output->common->options->hosts.heartbeat_ms > 0)
        uv_timer_start(&output->await_timer, on_waited, output->common->options->hosts.heartbeat_ms,
                       0);
    check_complete(output);
}

void output_await_no_more(struct output *output)
{
    output->awaited = 0;
    uv_timer_stop(&output->await_timer);
}

/* ---- From the hosts ---- */

static void put_passed_in_order(struct output *output, uint32_t host, uint64_t superstep)
{
    if (!output->order)
        return;
    if (superstep == WIRE_NEVER) {
        output_leave(output, host);
    } else {
        line_buffer_come(&output->lines, host, superstep + 1);
        order_passed(output->order, host, superstep);
    }
    ask_passed(output);
    on_sink_changed(output);
}

void output_passed(struct output *output, uint32_t host, uint64_t superstep)
{
    put_passed_in_order(output, host, superstep);
    output->idle[host] = superstep == WIRE_NEVER;
    if (output->awaited > 0 && superstep >= output->awaited - 1)
        owes_no_more(output, host);
}

void output_begin_term(struct output *output, const struct job_machine *machine)
{
    output_await_no_more(output);
    memset(output->idle, 0, sizeof output->idle);
    line_buffer_begin(&output->lines);
    if (!output->order)
        return;
    if (job_machine_restores(machine)) {    /* else it has begun before */
        line_buffer_forget(&output->lines); /* it follows the last mark, and will be repeated */
        order_begin(output->order);
    }
    first_output_begin(&output->first);
    output->housing_known = false;
    output->replicas = replica_counts_most(&output->common->replicas, WIRE_RANKS_MAX) > 1;
    for (uint32_t i = 0; i < HOSTS_MAX; i++) {
        output->lead[i] = i;
        output->lost[i] = output->houses[i] = false;
        output->parallel[i] = job_machine_restores(machine);
    }
    for (uint32_t i = 0; i < output->agents->count; i++)
        if (job_machine_member(machine, i))
            order_join(output->order, i);
}

/* A home may be any host of its cell. */
static void note_houses(struct output *output, struct wire_numbers homes)
{
    for (uint32_t i = 0; i < homes.count; i++)
        if (homes.items[i] < HOSTS_MAX)
            output->houses[output->lead[homes.items[i]]] = true;
    for (uint32_t host = 0; host < output->agents->count; host++)
        output->houses[host] = output->houses[output->lead[host]];
    output->housing_known = homes.count > 0;
}

void output_replicas(struct output *output, struct wire_numbers homes, struct wire_numbers leads)
{
    if (!output->order || leads.count == 0)
        return;
    for (uint32_t i = 0; i + 1 < leads.count; i += 2) {
        uint64_t host = leads.items[i], lead = leads.items[i + 1];

        if (host >= output->agents->count || lead >= output->agents->count)
            continue;
        output->lead[host] = (uint32_t)lead;
        order_replica(output->order, (uint32_t)host, (uint32_t)lead);
    }
    note_houses(output, homes);
    for (uint32_t host = 0; host < output->agents->count; host++)
        if (output->lost[host])
            output_lose(output, host);
    ask_passed(output);
}

bool output_is_reported_for(const struct output *output, uint32_t host)
{
    struct wire_numbers early[HOSTS_MAX];
    uint32_t count = 0;

    if (output->replicas && output->housing_known && !output->houses[host])
        return true; /* it has no processes that could have written any */
    for (uint32_t i = 0; output->replicas && i < output->agents->count; i++)
        if (i != host && output->lead[i] == output->lead[host] && output->agents->items[i].reported)
            early[count++] = output->agents->items[i].early;
    return replica_reports_cover(early, count);
}

void output_leave(struct output *output, uint32_t host)
{
    if (!output->order)
        return;
    line_buffer_come(&output->lines, host, UINT64_MAX);
    order_leave(output->order, host);
}

/* Its replicas may become known later. */
void output_lose(struct output *output, uint32_t host)
{
    output->lost[host] = true;
    if (!output->order)
        return;
    if (output->housing_known && !output->houses[host])
        order_leave(output->order, host);
    else if (order_lose(output->order, host))
        line_buffer_drop(&output->lines, host);
    ask_passed(output);
}

/* What the processes have written on the lost host may wait for that of other hosts: they go back
 * behind it. */
void output_resettle(struct output *output, const struct output_resettled *resettled)
{
    if (!output->order)
        return;
    line_buffer_drop(&output->lines, resettled->lost);
    order_leave(output->order, resettled->lost);
    for (uint32_t i = 0; i < resettled->pids.count; i++)
        order_piece(output->order, resettled->host, resettled->superstep,
                    (int)resettled->pids.items[i], GOES_BACK, (const char *)&resettled->from,
                    sizeof resettled->from);
    ask_passed(output);
}

/* ---- Beginnings of lines ---- */

/* There was no output for a while: an incomplete line is taken for a prompt. */
static void on_prompt_timer(uv_timer_t *timer)
{
    struct output *output = timer->data;

    if (!output->error)
        check_output(output, show_release(output->show));
}

static void await_prompt(struct output *output)
{
    if (output->prompts)
        uv_timer_start(&output->prompt_timer, on_prompt_timer, PROMPT_MS, 0);
}

static void await_rest_of_lines(struct output *output);

static void on_line_timer(uv_timer_t *timer)
{
    struct output *output = timer->data;

    if (output->agents->paused)
        line_buffer_excuse(&output->lines, launcher_now_ms());
    else
        line_buffer_release(&output->lines, launcher_now_ms());
    ask_passed(output);
    await_prompt(output);
    on_sink_changed(output);
    await_rest_of_lines(output);
}

/* Restarts the timer for incomplete lines. */
static void await_rest_of_lines(struct output *output)
{
    if (output->lines.first && !uv_is_active((uv_handle_t *)&output->line_timer))
        uv_timer_start(&output->line_timer, on_line_timer, LINE_BUFFER_PROMPT_MS, 0);
}

static void tell_unordered(void *context, int error)
{
    notices_say(&((struct output *)context)->common->notices,
                "output that waited for that of other hosts is lost: %s", strerror(-error));
}

void output_take(struct output *output, const struct launcher_agent *agent,
                 const struct wire_message *message, bool present)
{
    const struct wire_output *piece = &message->output;

    notices_clear(&output->common->notices);
    if (!output->show || output->error || piece->data.size == 0)
        return;
    if (!output->order)
        show_now(output, piece->pid, (int)piece->stream, piece->data.data, piece->data.size);
    else if (present) /* what an older term wrote comes again */
        put_in_order(output, agent->host, message);
    await_prompt(output);
    await_rest_of_lines(output);
    on_sink_changed(output);
}

void output_flush(struct output *output)
{
    line_buffer_flush(&output->lines);
    if (output->order)
        order_flush(output->order);
    if (output->show && !output->error)
        check_output(output, show_flush(output->show));
}

bool output_is_out(const struct output *output)
{
    return sink_waiting(&output->sinks[0]) + sink_waiting(&output->sinks[1]) == 0;
}

bool output_behind(const struct output *output, int *pid)
{
    int stream;

    return output->replay && !output->differs_told && replay_behind(output->replay, pid, &stream);
}

/* ---- Snapshots ---- */

/* The mark of another host may arrive after the commit from Processor Zero. */
static void marked(void *context, struct bspz_snapshot_name name)
{
    struct output *output = context;

    if (!output->replay)
        return;
    replay_mark(output->replay, name);
    output_record(output, name); /* it may be older than what was shown before a rollback */
    if (bspz_snapshot_same(output->known, name))
        replay_commit(output->replay, name);
}

void output_mark(struct output *output, uint32_t host, struct bspz_snapshot_name name)
{
    if (!output->order) {
        marked(output, name);
        return;
    }
    line_buffer_come(&output->lines, host, UINT64_MAX);
    output->parallel[host] = true;
    order_mark(output->order, host, name);
    ask_passed(output);
    on_sink_changed(output);
}

void output_commit(struct output *output, struct bspz_snapshot_name name,
                   struct bspz_snapshot_name right)
{
    output->known = name;
    if (!output->replay)
        return;
    replay_commit(output->replay, name);
    replay_spare(output->replay, right);
}

/* In a restarted job this bsprun has shown nothing yet. */
void output_go_back(struct output *output, struct bspz_snapshot_name name)
{
    if (output->order)
        order_from(output->order, name);
    if (!output->replay || replay_back(output->replay, name) || recall_shown(output, name))
        return;
    say_unknown(output);
    replay_begin(output->replay, name);
}

/* ---- Life ---- */

static bool open_order(struct output *output)
{
    static const struct order_calls calls = {show_now, marked, tell_unordered};

    if (!agents_has_hosts(output->agents))
        return true;
    output->lines = (struct line_buffer){.pass = pass_line, .context = output};
    output->order = order_new(output->agents->room, output->spool, &calls, output);
    return output->order != NULL;
}

/* Output is relayed by bsprun with snapshots, as repeated output is suppressed, and with a live
 * line of progress, which must be erased before output; and where lines get times, or go to files.
 */
static enum wire_stdio mode_of(const struct common *common)
{
    const struct options *options = common->options;
    bool live = options->progress && common->notices.terminal;

    bool relayed = common->saved.store || live || options->run.output || options->run.times;

    if (options->run.output && options->stdio == WIRE_STDIO_SPLIT)
        return WIRE_STDIO_PLAIN; /* the files say whose it is */
    return options->stdio == WIRE_STDIO_INHERIT && relayed ? WIRE_STDIO_PLAIN : options->stdio;
}

/* Local time to the millisecond, as in 2026-11-24T15:05:54.123+0100. */
static size_t time_now(char *text, size_t size)
{
    struct timespec now;
    struct tm parts;
    char zone[8];
    size_t length;

    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &parts);
    length = strftime(text, size, "%Y-%m-%dT%H:%M:%S", &parts);
    strftime(zone, sizeof zone, "%z", &parts);
    length +=
        (size_t)snprintf(text + length, size - length, ".%03ld%s ", now.tv_nsec / 1000000, zone);
    return length;
}

void output_running(struct output *output, uint32_t processes)
{
    if (output->files.directory && !output->error)
        check_output(output, output_files_begin(&output->files, processes));
}

int output_open(struct output *output, struct common *common, struct agents *agents,
                const struct output_calls *calls, void *context)
{
    output->common = common;
    output->agents = agents;
    output->calls = calls;
    output->context = context;
    output->replicas = replica_counts_most(&common->replicas, WIRE_RANKS_MAX) > 1;
    output->mode = mode_of(common);
    sink_init(&output->sinks[0], &common->loop, STDOUT_FILENO, on_sink_changed, output);
    sink_init(&output->sinks[1], &common->loop, STDERR_FILENO, on_sink_changed, output);
    uv_timer_init(&common->loop, &output->prompt_timer);
    uv_timer_init(&common->loop, &output->line_timer);
    uv_timer_init(&common->loop, &output->await_timer);
    output->prompt_timer.data = output->line_timer.data = output->await_timer.data = output;
    if (common->options->run.output)
        output_files_open(&output->files, common->options->run.output, common->saved.restart);
    output->prompts = !output->files.directory && isatty(STDOUT_FILENO);
    if (output->mode == WIRE_STDIO_INHERIT)
        return 0;
    output->show = show_new(output->mode, write_stream, output);
    output->spool = spool_new(SPOOL_MEMORY, new_file, output);
    if (!output->show || !output->spool)
        return -ENOMEM;
    if (common->options->run.times)
        show_times(output->show, time_now);
    if (saved_recovers(&common->saved)) {
        output->replay = replay_new(output->spool, show_fresh, output);
        if (!output->replay)
            return -ENOMEM;
    }
    return !common->saved.store || open_order(output) ? 0 : -ENOMEM;
}

void output_close(struct output *output)
{
    line_buffer_forget(&output->lines);
    uv_close((uv_handle_t *)&output->prompt_timer, NULL);
    uv_close((uv_handle_t *)&output->line_timer, NULL);
    uv_close((uv_handle_t *)&output->await_timer, NULL);
    for (int i = 0; i < 2; i++)
        sink_close(&output->sinks[i]);
}

void output_free(struct output *output)
{
    output_files_close(&output->files);
    show_free(output->show);
    first_output_begin(&output->first);
    replay_free(output->replay);
    order_free(output->order);
    spool_free(output->spool);
}
