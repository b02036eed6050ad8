/* launcher_removals.c - hosts that are to be removed when a term is over, unless memory has become
 * short since that was asked for.
 *
 * Happy path: TERM_OVER, to move processes off a host that is to be removed -> the agents are asked
 * for the memory they have left -> all have answered: it suffices, the machine takes TERM_OVER and
 * dismisses the host.
 *
 * What can fail: it may not suffice: the host is drained instead, and what fits nowhere else stays
 * there (Processor Zero says what), or if all have left it is removed then; an agent does not
 * answer: the machine takes TERM_OVER as it is.
 */
#include "bsprun/launcher/launcher_inside.h"

#define ANSWERS_MS 2000u

static bool is_to_go(const struct launcher *launcher, uint32_t host)
{
    return job_machine_removed(launcher->machine, host) &&
           job_machine_member(launcher->machine, host) &&
           agents_is_up(&launcher->agents.items[host]);
}

static bool any_is_to_go(const struct launcher *launcher)
{
    for (uint32_t i = 0; i < launcher->agents.count; i++)
        if (is_to_go(launcher, i))
            return true;
    return false;
}

/* Whether processes have copies where they are is not known here: none may have, which asks for too
 * much where they have.  Then all leave the host, and it is removed with the next term. */
static void drain_instead(struct launcher *launcher)
{
    for (uint32_t i = 0; i < launcher->agents.count; i++) {
        const struct status_order order = {.what = STATUS_REMOVE};

        if (!is_to_go(launcher, i) || launcher->places[i].count == 0 ||
            !launcher_refuse_room(launcher, &order, i))
            continue;
        launcher->to_remove[i] = true;
        launcher_event(
            launcher, (struct job_event){.kind = JOB_EVENT_USE, .host = i, .use = JOB_USE_DRAINED});
    }
}

static void take_over(struct launcher *launcher, bool answered)
{
    uv_timer_stop(&launcher->removal_timer);
    if (answered && !life_is_over(&launcher->common.life))
        drain_instead(launcher);
    launcher->holds_over = false;
    launcher_event(launcher, launcher->held_over);
}

static void on_no_answers(uv_timer_t *timer)
{
    struct launcher *launcher = timer->data;

    if (launcher->holds_over)
        take_over(launcher, false);
}

void launcher_begin_removals(struct launcher *launcher)
{
    uv_timer_init(&launcher->common.loop, &launcher->removal_timer);
    launcher->removal_timer.data = launcher;
}

void launcher_end_term(struct launcher *launcher, const struct job_event *event)
{
    if (event->outcome.cause != WIRE_CAUSE_MOVED || !launcher->places || !any_is_to_go(launcher)) {
        launcher_event(launcher, *event);
        return;
    }
    launcher->held_over = *event;
    launcher->holds_over = true;
    launcher_query_status(launcher, false);
    uv_timer_start(&launcher->removal_timer, on_no_answers, ANSWERS_MS, 0);
}

void launcher_check_removals(struct launcher *launcher)
{
    if (!launcher->holds_over)
        return;
    for (uint32_t i = 0; i < launcher->agents.count; i++)
        if (job_machine_member(launcher->machine, i) && agents_is_up(&launcher->agents.items[i]) &&
            !launcher->places[i].answered)
            return;
    take_over(launcher, true);
}
