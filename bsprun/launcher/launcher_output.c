/* launcher_output.c - relayed output and input.
 *
 * Output: OUTPUT -> lines are put together (whole.h) -> it waits for that of other hosts (order.h) ->
 * what was shown before a rollback is left out (replay.h) -> lines are marked (show.h) -> it waits for
 * a slow reader (sink.h).
 * Input: feed.h reads, input.h keeps.
 *
 * What can fail: our stdout is closed (like a program that gets SIGPIPE); a program that is
 * executed again writes something else (shown, and said once).
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/launcher/launcher_inside.h"

#define PROMPT_MS     100u
/* Output that waits for its reader: beyond HIGH no more is taken from the agent, until LOW. */
#define WAITING_HIGH  (1u << 20)
#define WAITING_LOW   (1u << 18)
#define REPLAY_MEMORY (1u << 20)
#define INPUT_MEMORY  (1u << 18)
#define ORDER_MEMORY  (1u << 20)

static void check_output(struct launcher *launcher, int error)
{
    if (!error || launcher->output_closed)
        return;
    launcher->output_closed = true;
    if (error != -EPIPE)
        launcher_say(launcher, "cannot write the output: %s", strerror(-error));
    launcher_event(
        launcher,
        (struct job_event){.kind = JOB_EVENT_STOP, .how = WIRE_STOP_SIGNAL, .signal = SIGPIPE});
}

/* Takes no more from the agent than the user's reader takes from us. */
static void on_sink_changed(void *context)
{
    struct launcher *launcher = context;
    size_t waiting = sink_waiting(&launcher->sinks[0]) + sink_waiting(&launcher->sinks[1]);

    for (int i = 0; i < 2; i++)
        check_output(launcher, launcher->sinks[i].error);
    launcher_finish(launcher);
    if (!launcher->paused && waiting > WAITING_HIGH)
        launcher_pause(launcher, true);
    else if (launcher->paused && waiting < WAITING_LOW) {
        whole_excuse(&launcher->whole, launcher_now_ms());
        launcher_pause(launcher, false);
    }
}

static int write_stream(void *context, int stream, const char *data, size_t size)
{
    struct launcher *launcher = context;

    launcher_clear_progress(launcher); /* also before what has waited for the rest of its line */
    if (size > 0)
        launcher->within_line = data[size - 1] != '\n';
    return sink_write(&launcher->sinks[stream == 2], data, size);
}

void launcher_drop_output(struct launcher *launcher)
{
    for (int i = 0; launcher->show && i < 2; i++)
        sink_drop(&launcher->sinks[i]);
    if (launcher->show)
        on_sink_changed(launcher);
}

/* ---- Shown once ---- */

static int show_fresh(void *context, int pid, int stream, const char *data, size_t size)
{
    struct launcher *launcher = context;

    return show_piece(launcher->show, pid, stream, data, size);
}

static int new_file(void *context)
{
    const struct launcher *launcher = context;

    return saved_spill(&launcher->saved);
}

static void tell_differs(struct launcher *launcher, int pid)
{
    if (!launcher->differs_told)
        launcher_say(launcher,
                     "process %d has not written the same as before the rollback: some of its "
                     "output is there in both versions",
                     pid);
    launcher->differs_told = true;
}

static int show_once(struct launcher *launcher, int pid, int stream, const char *data, size_t size)
{
    int error = replay_piece(launcher->replay, pid, stream, data, size);

    launcher->any_output = true;
    if (replay_differed(launcher->replay, &pid, &stream))
        tell_differs(launcher, pid);
    for (int i = 0; i < 2; i++)
        if (launcher->sinks[i].error)
            return launcher->sinks[i].error;
    if (error && !launcher->unkept_told) {
        launcher->unkept_told = true;
        launcher_say(launcher,
                     "output cannot be remembered: %s; after a rollback some may be missing "
                     "or shown twice",
                     strerror(-error));
    }
    return 0;
}

static void show_now(void *context, int pid, int stream, const char *data, size_t size)
{
    struct launcher *launcher = context;

    if (launcher->output_closed)
        return;
    check_output(launcher, launcher->replay ? show_once(launcher, pid, stream, data, size)
                                            : show_piece(launcher->show, pid, stream, data, size));
}

/* ---- In order ---- */

static void ask_passed(struct launcher *launcher)
{
    struct wire_message message = {.kind = WIRE_ASK_PASSED};

    while (order_asks(launcher->order, &message.envelope.superstep))
        launcher_send_all(launcher, &message);
}

static void put_in_order(struct launcher_agent *agent, const struct wire_message *message)
{
    struct launcher *launcher = agent->launcher;
    const struct wire_output *output = &message->output;

    if (!launcher_is_present(launcher, message))
        return; /* what an older term wrote comes again */
    whole_piece(&launcher->whole, launcher_now_ms(), agent->host, message->envelope.superstep,
                output->pid, (int)output->stream, output->data.data, output->data.size);
    ask_passed(launcher);
}

/* A line, or what there is of it. */
static void pass_line(void *context, uint32_t host, uint64_t superstep, int pid, int stream,
                      const char *data, size_t size)
{
    struct launcher *launcher = context;

    order_piece(launcher->order, host, superstep, pid, stream, data, size);
}

void launcher_passed(struct launcher_agent *agent, const struct wire_message *message)
{
    struct launcher *launcher = agent->launcher;

    if (!launcher->order || !launcher_is_present(launcher, message))
        return;
    if (message->envelope.superstep == WIRE_NEVER) {
        whole_come(&launcher->whole, agent->host, UINT64_MAX);
        order_leave(launcher->order, agent->host);
    } else {
        whole_come(&launcher->whole, agent->host, message->envelope.superstep + 1);
        order_passed(launcher->order, agent->host, message->envelope.superstep);
    }
    ask_passed(launcher);
    on_sink_changed(launcher);
}

void launcher_order_term(struct launcher *launcher)
{
    if (!launcher->order)
        return;
    if (job_machine_restores(launcher->machine)) { /* else it has begun already */
        whole_forget(&launcher->whole); /* it is behind the last mark, and comes again */
        order_begin(launcher->order);
    }
    for (uint32_t i = 0; i < launcher->agent_count; i++)
        if (job_machine_member(launcher->machine, i))
            order_join(launcher->order, i);
}

/* After a fault that is recovered from, what waits is written again. */
void launcher_order_lost(struct launcher_agent *agent)
{
    struct launcher *launcher = agent->launcher;

    if (!launcher->order || (!launcher->over && launcher_has_snapshots(launcher)))
        return;
    whole_come(&launcher->whole, agent->host, UINT64_MAX);
    order_leave(launcher->order, agent->host);
}

/* ---- Beginnings of lines ---- */

/* Nothing more has come for a while: what looks like a prompt is one. */
static void on_prompt_timer(uv_timer_t *timer)
{
    struct launcher *launcher = timer->data;

    if (!launcher->output_closed)
        check_output(launcher, show_release(launcher->show));
}

static void await_prompt(struct launcher *launcher)
{
    if (launcher->prompts)
        uv_timer_start(&launcher->prompt_timer, on_prompt_timer, PROMPT_MS, 0);
}

static void await_rest_of_lines(struct launcher *launcher);

static void on_line_timer(uv_timer_t *timer)
{
    struct launcher *launcher = timer->data;

    if (launcher->paused)
        whole_excuse(&launcher->whole, launcher_now_ms());
    else
        whole_release(&launcher->whole, launcher_now_ms());
    ask_passed(launcher);
    await_prompt(launcher);
    on_sink_changed(launcher);
    await_rest_of_lines(launcher);
}

/* Whatever else comes meanwhile. */
static void await_rest_of_lines(struct launcher *launcher)
{
    if (launcher->whole.first && !uv_is_active((uv_handle_t *)&launcher->line_timer))
        uv_timer_start(&launcher->line_timer, on_line_timer, WHOLE_PROMPT_MS, 0);
}

static void tell_unordered(void *context, int error)
{
    launcher_say(context, "output that waited for that of other hosts is lost: %s",
                 strerror(-error));
}

void launcher_show_output(struct launcher_agent *agent, const struct wire_message *message)
{
    struct launcher *launcher = agent->launcher;
    const struct wire_output *output = &message->output;

    launcher_clear_progress(launcher);
    if (!launcher->show || launcher->output_closed || output->data.size == 0)
        return;
    if (launcher->order)
        put_in_order(agent, message);
    else
        show_now(launcher, output->pid, (int)output->stream, output->data.data, output->data.size);
    await_prompt(launcher);
    await_rest_of_lines(launcher);
    on_sink_changed(launcher);
}

void launcher_finish_output(struct launcher *launcher)
{
    whole_flush(&launcher->whole);
    if (launcher->order)
        order_flush(launcher->order);
    if (launcher->show && !launcher->output_closed)
        check_output(launcher, show_flush(launcher->show));
}

bool launcher_output_is_out(const struct launcher *launcher)
{
    return sink_waiting(&launcher->sinks[0]) + sink_waiting(&launcher->sinks[1]) == 0;
}

/* ---- Snapshots ---- */

/* The agent of another host may be later with its mark than Processor Zero with the commit. */
static void marked(void *context, struct coord_name name)
{
    struct launcher *launcher = context;

    if (launcher->replay)
        replay_mark(launcher->replay, name);
    if (coord_name_same(launcher->known, name))
        launcher_forget(launcher, name);
}

void launcher_mark(struct launcher_agent *agent, const struct wire_message *message)
{
    struct launcher *launcher = agent->launcher;
    struct coord_name name = {message->envelope.superstep, message->envelope.term};
    struct wire_message echo = {.kind = WIRE_MARK, .envelope.superstep = name.superstep};

    if (name.term != job_machine_term(launcher->machine))
        return;
    if (launcher_has_hosts(launcher))
        launcher_send_to(agent, &echo);
    if (!launcher->input.spool)
        return;
    if (agent == launcher->reader)
        input_mark(&launcher->input, name, message->mark.input);
    if (!launcher->order) {
        marked(launcher, name);
        return;
    }
    whole_come(&launcher->whole, agent->host, UINT64_MAX);
    order_mark(launcher->order, agent->host, name);
    ask_passed(launcher);
    on_sink_changed(launcher);
}

void launcher_forget(struct launcher *launcher, struct coord_name name)
{
    launcher->known = name;
    if (launcher->replay)
        replay_commit(launcher->replay, name);
    if (launcher->input.spool)
        input_commit(&launcher->input, name);
}

/* When a job is restarted this bsprun has shown nothing yet. */
void launcher_go_back(struct launcher *launcher, struct coord_name name)
{
    if (launcher->order)
        order_from(launcher->order, name);
    if (!launcher->replay || replay_back(launcher->replay, name))
        return;
    if (launcher->any_output)
        launcher_say(launcher,
                     "it is not known how far the output was at that snapshot: some will be "
                     "shown twice");
    replay_begin(launcher->replay, name);
}

/* ---- Input ---- */

static void send_input(struct launcher *launcher)
{
    struct wire_message message = {.kind = WIRE_INPUT};

    while (launcher->reader && launcher->reader->line &&
           input_next(&launcher->input, &message.input))
        launcher_send_to(launcher->reader, &message);
}

static size_t input_wanted(void *context)
{
    const struct launcher *launcher = context;

    return launcher->reader && launcher->reader->line ? input_room(&launcher->input) : 0;
}

/* Process 0 cannot be given what it would have read. */
static void end_for_input(struct launcher *launcher, const char *text)
{
    if (launcher->over || launcher->end_told)
        return;
    launcher_say(launcher, "%s", text);
    input_close(&launcher->input);
    launcher->forced_status = 1;
    launcher->end_told = true;
    launcher_event(
        launcher,
        (struct job_event){.kind = JOB_EVENT_STOP, .how = WIRE_STOP_SIGNAL, .signal = SIGTERM});
}

/* The input is shorter than what process 0 had read before, or another one. */
static void wrong_input(struct launcher *launcher, bool ends)
{
    struct input_claim claim = {launcher->committed.superstep, launcher->input.kept_from,
                                launcher->input.expected};
    char text[INPUT_TEXT];

    if (launcher->options->input_differs)
        return;
    input_complaint(&claim, ends ? INPUT_ENDS : INPUT_DIFFERS, text);
    end_for_input(launcher, text);
}

static void on_input(void *context, const char *data, size_t size, int error)
{
    struct launcher *launcher = context;

    if (error)
        launcher_say(launcher, "cannot read the input: %s", strerror(-error));
    if (size == 0 && !input_end(&launcher->input))
        wrong_input(launcher, true);
    if (size > 0)
        error = input_add(&launcher->input, data, size);
    if (size > 0 && error == -EILSEQ)
        wrong_input(launcher, false);
    else if (size > 0 && error != 0)
        launcher_say(launcher, "no room for the input, some of which is lost");
    send_input(launcher);
}

void launcher_input_taken(struct launcher_agent *agent, uint64_t position, uint64_t digest)
{
    struct launcher *launcher = agent->launcher;
    bool first = launcher->input.spool && !launcher->input.open;
    char text[96];

    if (!launcher->input.spool)
        return;
    launcher->reader = agent;
    if (first && !launcher->options->input_differs)
        input_expect(&launcher->input, digest);
    if (!input_taken(&launcher->input, position)) {
        snprintf(text, sizeof text,
                 "what process 0 had read from position %llu on is not kept any more",
                 (unsigned long long)position);
        end_for_input(launcher, text);
        return;
    }
    if (first && isatty(STDIN_FILENO))
        input_continue(&launcher->input);
    if (!launcher_has_snapshots(launcher))
        input_forget_taken(&launcher->input);
    send_input(launcher);
    feed_wake(&launcher->feed);
}

/* ---- Life ---- */

static bool open_order(struct launcher *launcher)
{
    static const struct order_calls calls = {show_now, marked, tell_unordered, new_file};

    if (!launcher_has_hosts(launcher))
        return true;
    launcher->whole = (struct whole){.pass = pass_line, .context = launcher};
    launcher->order = order_new(launcher->agent_count, ORDER_MEMORY, &calls, launcher);
    return launcher->order != NULL;
}

enum wire_stdio launcher_stdio(const struct launcher *launcher)
{
    bool live = launcher->options->progress && isatty(STDERR_FILENO);

    return launcher->options->stdio == WIRE_STDIO_INHERIT && (launcher_has_store(launcher) || live)
               ? WIRE_STDIO_PLAIN
               : launcher->options->stdio;
}

int launcher_open_streams(struct launcher *launcher)
{
    bool snapshots = launcher_has_store(launcher);
    enum wire_stdio mode = launcher_stdio(launcher);

    sink_init(&launcher->sinks[0], &launcher->loop, STDOUT_FILENO, on_sink_changed, launcher);
    sink_init(&launcher->sinks[1], &launcher->loop, STDERR_FILENO, on_sink_changed, launcher);
    uv_timer_init(&launcher->loop, &launcher->prompt_timer);
    uv_timer_init(&launcher->loop, &launcher->line_timer);
    launcher->prompt_timer.data = launcher->line_timer.data = launcher;
    launcher->prompts = isatty(STDOUT_FILENO);
    if (mode == WIRE_STDIO_INHERIT)
        return 0;
    launcher->show = show_new(mode, write_stream, launcher);
    if (!launcher->show)
        return -ENOMEM;
    if (!snapshots)
        return 0;
    if (launcher_has_snapshots(launcher)) {
        launcher->replay = replay_new(REPLAY_MEMORY, show_fresh, new_file, launcher);
        if (!launcher->replay)
            return -ENOMEM;
    }
    if (!open_order(launcher) || !input_init(&launcher->input, launcher->options->snapshots.keep,
                                             INPUT_MEMORY, new_file, launcher))
        return -ENOMEM;
    return feed_open(&launcher->feed, &launcher->loop, input_wanted, on_input, launcher);
}

void launcher_close_streams(struct launcher *launcher)
{
    whole_forget(&launcher->whole);
    uv_close((uv_handle_t *)&launcher->prompt_timer, NULL);
    uv_close((uv_handle_t *)&launcher->line_timer, NULL);
    for (int i = 0; i < 2; i++)
        sink_close(&launcher->sinks[i]);
    feed_close(&launcher->feed);
}
