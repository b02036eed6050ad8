/* launcher_faults.c - what is wrong between hosts: the job machine decides (job_machine_links.c),
 * here the agents are called, and it is put into words.
 *
 * Happy path: nothing is.
 *
 * What can fail: an agent, or Processor Zero, has lost another host.  All agents are called: one
 * that is gone does not answer, and its loss is noticed as any is.
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

        if (agent->line && !agent->local && !agent->dismissed && agent->answers < agent->called_at)
            return false;
    }
    return true;
}

void launcher_check_roll(struct launcher *launcher)
{
    if (!launcher->calling || !all_have_answered(launcher))
        return;
    launcher->calling = false;
    launcher_event(launcher, (struct job_event){.kind = JOB_EVENT_ROLL});
}

void launcher_call_roll(struct launcher *launcher)
{
    struct wire_message alive = {.kind = WIRE_ALIVE};

    launcher->calling = true;
    for (uint32_t i = 0; i < launcher->agent_count; i++) {
        launcher_send_to(&launcher->agents[i], &alive);
        launcher->agents[i].called_at = ++launcher->agents[i].calls;
    }
    launcher_check_roll(launcher);
}

/* ---- What comes of it ---- */

void launcher_blame(struct launcher *launcher, const struct job_effect *effect)
{
    const struct launcher_agent *host = launcher_agent_of(launcher, effect->host);
    const struct launcher_agent *peer = launcher_agent_of(launcher, effect->peer);
    char text[3 * WIRE_NAME_MAX + sizeof launcher->link_text + 128];

    launcher_saw(launcher, NULL, EVIDENCE_LINK);

    if (!host || !peer)
        snprintf(text, sizeof text, "%s", launcher->loss_text);
    else if (host == peer)
        snprintf(text, sizeof text, "host %s has not heard of bsprun for too long", host->name);
    else
        snprintf(text, sizeof text, "the connection between host %s and host %s broke (%s)%s%s%s",
                 host < peer ? host->name : peer->name, host < peer ? peer->name : host->name,
                 launcher->link_text, effect->gone ? " again: host " : "",
                 effect->gone ? host->name : "", effect->gone ? " is left out" : "");
    launcher_fault_text(launcher, text);
}

/* Its line ends when nothing of it runs any more. */
void launcher_dismiss(struct launcher_agent *agent)
{
    struct wire_message farewell = {.kind = WIRE_EXIT};

    agent->dismissed = true;
    if (agent->line)
        launcher_send_to(agent, &farewell);
    else
        launcher_event(agent->launcher,
                       (struct job_event){.kind = JOB_EVENT_AGENT_LOST, .host = agent->host});
}

void launcher_lost_to_zero(struct launcher *launcher, uint32_t host, const char *text)
{
    uint32_t zero = job_machine_zero(launcher->machine);
    struct wire_message message = {.kind = WIRE_LINK_LOST};

    message.link_lost.host = zero;
    message.link_lost.peer = host;
    message.link_lost.text = text;
    launcher_send_to(&launcher->agents[zero], &message);
}

void launcher_tell_zero_lost(struct launcher_agent *agent, const char *text)
{
    struct launcher *launcher = agent->launcher;

    if (launcher_has_snapshots(launcher) || agent->host == job_machine_zero(launcher->machine) ||
        job_machine_state(launcher->machine) != JOB_MACHINE_RUNNING)
        return;
    launcher_lost_to_zero(launcher, agent->host, text);
}

/* ---- What agents say ---- */

void launcher_take_alive(struct launcher_agent *agent)
{
    agent->answers++;
    launcher_check_roll(agent->launcher);
}

void launcher_take_link_lost(struct launcher_agent *agent, const struct wire_message *message)
{
    struct launcher *launcher = agent->launcher;
    uint32_t peer = message->link_lost.peer;

    if (message->envelope.term == job_machine_term(launcher->machine) &&
        launcher_agent_of(launcher, peer) && launcher->options->verbosity > 0 && !launcher->over)
        launcher_say(launcher, "host %s has lost host %s: %s", agent->name,
                     launcher->agents[peer].name, message->link_lost.text);
    if (message->envelope.term == job_machine_term(launcher->machine) && peer != agent->host)
        snprintf(launcher->link_text, sizeof launcher->link_text, "%s", message->link_lost.text);
    launcher_event(launcher, (struct job_event){.kind = JOB_EVENT_LINK_LOST,
                                                .term = message->envelope.term,
                                                .host = agent->host,
                                                .peer = peer});
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
