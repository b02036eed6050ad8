/* launcher_stacks.c - the C stacks of all processes: asked for, gathered, handed out.
 *
 * Happy path: QUERY_STACKS to all agents -> STACK, for each process -> the text for bspctl, and for
 * whoever else has asked.
 *
 * What can fail: an agent does not answer in time, or is lost (the text says so); the job ends
 * first (nobody gets a text).
 */
#include <stdio.h>
#include <stdlib.h>

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

void launcher_open_stacks(struct launcher *launcher)
{
    uv_timer_init(&launcher->common.loop, &launcher->stacks.limit_timer);
    launcher->stacks.limit_timer.data = launcher;
}

void launcher_close_stacks(struct launcher *launcher)
{
    uv_close((uv_handle_t *)&launcher->stacks.limit_timer, NULL);
    launcher->stacks.gathering = false;
    stacks_free(&launcher->stacks.stacks);
}
