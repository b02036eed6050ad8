/* launcher_faults.c - what is wrong between hosts: who is to blame for a connection that broke.
 *
 * Happy path: nothing is.
 *
 * What can fail: an agent, or Processor Zero, has lost another host.  Before the term is given up
 * for that, all agents are called: one that is gone does not answer, and is what was lost.  When
 * all answer it was the way between two of them; they try again in the next term, and when they
 * cannot meet then, either, the job goes on without one of the two.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "bsprun/launcher/launcher_inside.h"

/* ---- The roll ---- */

static bool all_have_answered(const struct launcher *launcher)
{
    for (uint32_t i = 0; i < launcher->agent_count; i++) {
        const struct launcher_agent *agent = &launcher->agents[i];

        if (agent->line && !agent->local && agent->answers < agent->called_at)
            return false;
    }
    return true;
}

static void name_pair(const struct launcher *launcher, const uint32_t pair[2], char *text,
                      size_t size)
{
    snprintf(text, size, "the connection between host %s and host %s broke",
             launcher->agents[pair[0]].name, launcher->agents[pair[1]].name);
}

/* Rather one that Processor Zero is not on, and not the host of bsprun. */
static struct launcher_agent *pick_of(struct launcher *launcher, const uint32_t pair[2])
{
    struct launcher_agent *first = &launcher->agents[pair[0]];
    struct launcher_agent *second = &launcher->agents[pair[1]];
    uint32_t zero = job_machine_zero(launcher->machine);

    if (first->host > second->host) {
        first = second;
        second = &launcher->agents[pair[0]];
    }
    return second->host == zero || (second->local && first->host != zero) ? first : second;
}

/* All that are still there have answered, and it was not noticed that one is gone. */
static void blame_pair(struct launcher *launcher, struct job_event *event)
{
    bool again = memcmp(launcher->broken, launcher->called_pair, sizeof launcher->broken) == 0 &&
                 launcher->broken_term + 1 == event->term;
    char text[2 * WIRE_NAME_MAX + 128];

    for (int i = 0; i < 2; i++)
        if (!launcher->agents[launcher->called_pair[i]].line)
            return; /* one is gone after all, which has been told */
    name_pair(launcher, launcher->called_pair, text, sizeof text);
    memcpy(launcher->broken, launcher->called_pair, sizeof launcher->broken);
    launcher->broken_term = event->term;
    if (again || !launcher_has_snapshots(launcher)) {
        launcher_give_up_agent(pick_of(launcher, launcher->called_pair), true, false, text);
        return;
    }
    launcher_fault_text(launcher, text);
    launcher_event(launcher, *event);
}

void launcher_check_roll(struct launcher *launcher)
{
    struct job_event event = launcher->called_for;

    if (!launcher->calling || !all_have_answered(launcher))
        return;
    launcher->calling = false;
    if (event.term != job_machine_term(launcher->machine) ||
        job_machine_state(launcher->machine) != JOB_MACHINE_RUNNING)
        return; /* the one that is gone has been noticed */
    if (launcher->called_about_pair) {
        blame_pair(launcher, &event);
        return;
    }
    if (event.kind == JOB_EVENT_TERM_OVER)
        launcher_fault_text(launcher, launcher->called_text);
    launcher_event(launcher, event);
}

/* A second fault of a term does not change what the first one was. */
static void call_roll(struct launcher *launcher, const struct job_event *event, const char *text)
{
    struct wire_message alive = {.kind = WIRE_ALIVE};

    if (launcher->calling && launcher->called_for.term == event->term &&
        event->kind != JOB_EVENT_ENDED)
        return;
    launcher->calling = true;
    launcher->called_for = *event;
    snprintf(launcher->called_text, sizeof launcher->called_text, "%s", text);
    for (uint32_t i = 0; i < launcher->agent_count; i++) {
        launcher_send_to(&launcher->agents[i], &alive);
        launcher->agents[i].called_at = ++launcher->agents[i].calls;
    }
    launcher_check_roll(launcher);
}

void launcher_host_lost(struct launcher *launcher, const struct job_event *event, const char *text)
{
    launcher->called_about_pair = false;
    call_roll(launcher, event, text);
}

/* ---- What agents say ---- */

void launcher_take_alive(struct launcher_agent *agent)
{
    agent->answers++;
    launcher_check_roll(agent->launcher);
}

/* It has not heard of us for so long that it has ended its processes. */
static void take_deaf(struct launcher_agent *agent, const struct job_event *event)
{
    struct launcher *launcher = agent->launcher;
    char text[WIRE_NAME_MAX + 96];

    snprintf(text, sizeof text, "host %s has not heard of bsprun for too long", agent->name);
    if (!launcher_has_snapshots(launcher))
        launcher_give_up_agent(agent, false, false, text);
    else if (!launcher->calling)
        launcher_host_lost(launcher, event, text);
}

void launcher_take_link_lost(struct launcher_agent *agent, const struct wire_message *message)
{
    struct launcher *launcher = agent->launcher;
    uint32_t peer = message->link_lost.peer;
    struct job_event event = {.kind = JOB_EVENT_TERM_OVER,
                              .term = message->envelope.term,
                              .outcome = {.status = 1,
                                          .cause = WIRE_CAUSE_HOST_LOST,
                                          .pid = COORD_NOBODY,
                                          .text = "",
                                          .again = true}};

    if (event.term != job_machine_term(launcher->machine) || !launcher_agent_of(launcher, peer))
        return;
    if (launcher->options->verbosity > 0 && !launcher->over)
        launcher_say(launcher, "host %s has lost host %s: %s", agent->name,
                     launcher->agents[peer].name, message->link_lost.text);
    if (peer == agent->host) {
        take_deaf(agent, &event);
        return;
    }
    if (launcher->calling && launcher->called_for.kind == JOB_EVENT_ENDED)
        return;
    launcher->called_about_pair = true;
    launcher->called_pair[0] = agent->host < peer ? agent->host : peer;
    launcher->called_pair[1] = agent->host < peer ? peer : agent->host;
    call_roll(launcher, &event, "");
}

void launcher_tell_zero_lost(struct launcher_agent *agent, const char *text)
{
    struct launcher *launcher = agent->launcher;
    uint32_t zero = job_machine_zero(launcher->machine);
    struct wire_message message = {.kind = WIRE_LINK_LOST};

    if (launcher_has_snapshots(launcher) || agent->host == zero ||
        job_machine_state(launcher->machine) != JOB_MACHINE_RUNNING)
        return;
    message.link_lost.host = zero;
    message.link_lost.peer = agent->host;
    message.link_lost.text = text;
    launcher_send_to(&launcher->agents[zero], &message);
}

bool launcher_accepts(struct launcher_agent *agent, const struct wire_hello *hello)
{
    char text[2 * WIRE_NAME_MAX + 128] = "";
    struct utsname own;

    if (agent->local || uname(&own) != 0)
        return true;
    if (strcmp(hello->version, BSPZ_VERSION) != 0)
        snprintf(text, sizeof text, "host %s: its node agent is of version %.40s, not %s",
                 agent->name, hello->version, BSPZ_VERSION);
    else if (strcmp(hello->machine, own.machine) != 0)
        snprintf(text, sizeof text,
                 "host %s: a machine of type %.40s cannot go on with what one "
                 "of type %s has begun",
                 agent->name, hello->machine, own.machine);
    if (text[0])
        launcher_give_up_agent(agent, false, false, text);
    return !text[0];
}
