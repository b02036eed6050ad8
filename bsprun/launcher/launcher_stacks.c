/* launcher_stacks.c - the C stacks of all processes: asked for, gathered, handed out.
 *
 * Happy path: bspctl, the time limit or Ctrl-C asks -> QUERY_STACKS to all agents -> STACK, for
 * each process -> the text for bspctl, and for whoever else has asked.
 *
 * What can fail: an agent does not answer in time, or is lost (the text says so); the job ends
 * first (nobody gets a text).
 */
#include <stdlib.h>
#include <string.h>

#include "bsprun/launcher/launcher_inside.h"

/* Agents have their limit, too: this is for those that do not answer at all. */
#define LATER_MS 1000u

static void finish(struct launcher *launcher)
{
    struct stacks_request *request = &launcher->stacks;
    void (*then)(struct launcher * launcher, const char *text) = request->then;

    uv_timer_stop(&request->limit_timer);
    for (uint32_t i = 0; i < launcher->agents.count; i++)
        if (request->awaited[i])
            stacks_add_silent(&request->stacks, launcher->agents.items[i].name);
    char *text = stacks_text(&request->stacks);

    stacks_free(&request->stacks);
    request->gathering = false;
    request->then = NULL;
    status_socket_give_stacks(launcher->status_socket, text);
    if (then)
        then(launcher, text ? text : "");
    free(text);
}

static void finish_if_complete(struct launcher *launcher)
{
    for (uint32_t i = 0; i < launcher->agents.count; i++)
        if (launcher->stacks.awaited[i])
            return;
    finish(launcher);
}

static void on_limit(uv_timer_t *timer)
{
    finish(timer->data);
}

void launcher_take_stack(struct launcher *launcher, const struct launcher_agent *agent,
                         const struct wire_stack *answer)
{
    struct stacks_request *request = &launcher->stacks;

    if (!request->gathering || answer->number != request->number || !request->awaited[agent->host])
        return;
    stacks_add(&request->stacks, agents_has_hosts(&launcher->agents) ? agent->name : "", answer);
    if (answer->left > 0)
        return;
    request->awaited[agent->host] = false;
    finish_if_complete(launcher);
}

void launcher_stacks_lost(struct launcher *launcher, const struct launcher_agent *agent)
{
    struct stacks_request *request = &launcher->stacks;

    if (!request->gathering || !request->awaited[agent->host])
        return;
    request->awaited[agent->host] = false;
    stacks_add_silent(&request->stacks, agent->name);
    finish_if_complete(launcher);
}

/* At once, when nobody can be asked. */
static void ask(struct launcher *launcher, uint32_t limit_ms)
{
    struct stacks_request *request = &launcher->stacks;
    struct wire_message message = {.kind = WIRE_QUERY_STACKS};

    request->gathering = true;
    message.query_stacks.number = ++request->number;
    message.query_stacks.limit_ms = limit_ms;
    for (uint32_t i = 0; i < launcher->agents.count; i++) {
        struct launcher_agent *agent = &launcher->agents.items[i];

        request->awaited[i] = agents_is_up(agent) && !agent->dismissed;
        if (request->awaited[i])
            agents_send(agent, &message);
    }
    uv_timer_start(&request->limit_timer, on_limit, limit_ms + LATER_MS, 0);
}

void launcher_ask_stacks(struct launcher *launcher, uint32_t limit_ms,
                         void (*then)(struct launcher *launcher, const char *text))
{
    struct stacks_request *request = &launcher->stacks;

    if (then)
        request->then = then;
    if (!request->gathering)
        ask(launcher, limit_ms);
    else if (uv_timer_get_due_in(&request->limit_timer) > limit_ms + LATER_MS)
        uv_timer_start(&request->limit_timer, on_limit, limit_ms + LATER_MS, 0);
}

/* ---- The time limit ---- */

void launcher_tell_stacks(struct launcher *launcher, const char *text)
{
    size_t length = strlen(text);

    if (length > 0 && !life_is_said(&launcher->common.life))
        notices_say(&launcher->common.notices, "the processes are here:\n%.*s", (int)length - 1,
                    text);
}

/* All agents are told, as each has the limit; one that is between two terms ends the job in the
 * next. */
static void end_by_limit(struct launcher *launcher, const char *text)
{
    struct wire_message stop = {.kind = WIRE_STOP, .stop = {.how = WIRE_STOP_TIMEOUT, .text = ""}};

    if (life_is_over(&launcher->common.life))
        return;
    launcher_tell_stacks(launcher, text);
    agents_send_all(&launcher->agents, &stop);
}

static void on_job_limit(uv_timer_t *timer)
{
    struct launcher *launcher = timer->data;

    if (!life_is_over(&launcher->common.life) && launcher->common.life.signals == 0)
        launcher_ask_stacks(launcher, LAUNCHER_STACKS_MS, end_by_limit);
}

void launcher_limit_with_stacks(struct launcher *launcher)
{
    const struct options *options = launcher->common.options;

    if (!options->run.stacks || options->timeout <= 0 || launcher->stacks.has_limit)
        return;
    launcher->stacks.has_limit = true;
    uv_timer_start(&launcher->stacks.job_timer, on_job_limit,
                   (uint64_t)(options->timeout * 1e3) + 1, 0);
}

/* ---- Life ---- */

void launcher_open_stacks(struct launcher *launcher)
{
    uv_timer_init(&launcher->common.loop, &launcher->stacks.job_timer);
    launcher->stacks.job_timer.data = launcher;
    uv_timer_init(&launcher->common.loop, &launcher->stacks.limit_timer);
    launcher->stacks.limit_timer.data = launcher;
}

void launcher_close_stacks(struct launcher *launcher)
{
    uv_close((uv_handle_t *)&launcher->stacks.limit_timer, NULL);
    uv_close((uv_handle_t *)&launcher->stacks.job_timer, NULL);
    launcher->stacks.gathering = false;
    stacks_free(&launcher->stacks.stacks);
}
