/* guest.c - see guest.h.
 *
 * Happy path: a look -> the owner is active -> the processes are paused, OWNER -> GIVE_WAY, if
 * bsprun wants something else -> the owner is quiet -> they go on, OWNER.
 *
 * What can fail: something cannot be looked at (no sign of an owner).
 */
#include "bsprun/agent/guest.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <unistd.h>

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/clock.h"
#include "bsprun/agent/core/pause.h"
#include "bsprun/agent/core/starter.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/owner/view.h"

#define LOOK_MS    1000u
#define TEXT_BYTES 64

struct agent_guest {
    uv_timer_t timer;
    struct owner_view *view;
    struct owner_activity activity;
    enum wire_act act; /* while the owner is active */
    bool told;
};

static void tell(struct agent *agent)
{
    const struct agent_guest *guest = agent->guest;
    bool active = guest->activity.state == OWNER_ACTIVE;
    struct wire_message message = {.kind = WIRE_OWNER};
    char text[TEXT_BYTES];

    owner_sign_text(&guest->activity, text, sizeof text);
    message.owner.active = active;
    message.owner.act = active ? guest->act : WIRE_ACT_GO_ON;
    message.owner.text = text;
    agent_send(agent, &message);
}

static void on_look(uv_timer_t *timer)
{
    struct agent *agent = timer->data;
    struct agent_guest *guest = agent->guest;
    enum wire_policy policy = guest->activity.rule.policy;
    struct owner_sample sample;

    owner_view_look(guest->view, agent_now_ns() / 1000000u, &sample);
    bool changed = owner_look(&guest->activity, &sample);

    if (changed) {
        guest->act = owner_act(policy, OWNER_ACTIVE);
        agent_pause_set(agent, owner_act(policy, guest->activity.state));
    } else {
        agent_pause_renew(agent);
    }
    if (changed || !guest->told)
        tell(agent);
    guest->told = true;
}

int agent_guest_begin(struct agent *agent, const struct wire_start *start)
{
    const struct owner_rule rule = {.policy = (enum wire_policy)start->owner_policy,
                                    .input_ms = start->owner_input_ms,
                                    .load = start->owner_load,
                                    .quiet_ms = start->owner_quiet_ms};
    struct agent_guest *guest;

    if (rule.policy == WIRE_POLICY_NONE)
        return 0;
    guest = calloc(1, sizeof *guest);
    if (!guest)
        return -ENOMEM;
    guest->view = owner_view_new(agent_view(agent), getuid(), agent_bsprun(agent));
    if (!guest->view || agent_pause_open(agent, agent_view(agent), agent_bsprun(agent)) != 0) {
        owner_view_free(guest->view);
        free(guest);
        return -ENOMEM;
    }
    owner_begin(&guest->activity, &rule);
    uv_timer_init(agent_loop(agent), &guest->timer);
    guest->timer.data = agent;
    agent->guest = guest;
    uv_timer_start(&guest->timer, on_look, 0, LOOK_MS);
    return 0;
}

void agent_guest_order(struct agent *agent, uint32_t act)
{
    struct agent_guest *guest = agent->guest;

    if (!guest || guest->activity.state != OWNER_ACTIVE)
        return;
    guest->act = (enum wire_act)act;
    agent_pause_set(agent, guest->act);
}

static void free_guest(uv_handle_t *handle)
{
    struct agent_guest *guest =
        (struct agent_guest *)((char *)handle - offsetof(struct agent_guest, timer));

    owner_view_free(guest->view);
    free(guest);
}

void agent_guest_close(struct agent *agent)
{
    if (agent->guest)
        uv_close((uv_handle_t *)&agent->guest->timer, free_guest);
    agent->guest = NULL;
}
