/* launcher_faults.c - messages about faults and rollbacks.
 *
 * Happy path: nothing.
 *
 * What can fail: a fault is reported together with the snapshot of the rollback; two faults in a
 * row are reported one by one; link failures, which the job machine has found
 * (job_machine_links.c), are put into words here.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/launcher/launcher_inside.h"
#include "lib/base/buffer.h"

#define LINKS_MOST 64u /* of which the text is kept */

struct broken_link {
    uint32_t term, host, peer;
    char text[160];
};

const char *launcher_last_fault(const struct launcher *launcher)
{
    return launcher->fault_text ? launcher->fault_text : "a fault";
}

/* One line for each rollback, once its snapshot is known; NULL: another fault came first. */
void launcher_tell_rollback(struct launcher *launcher, const struct bspz_snapshot_name *from)
{
    struct job_fault fault = job_machine_fault(launcher->machine);
    char again[64] = "", where[64] = "another fault occurred before the job continued ";

    if (!launcher->fault_untold)
        return;
    launcher->fault_untold = false;
    if (launcher->fault_repeats > 1)
        snprintf(again, sizeof again, ", the same fault %u times in a row",
                 launcher->fault_repeats);
    if (from)
        snprintf(where, sizeof where, "the job continues from superstep %llu ",
                 (unsigned long long)from->superstep);
    notices_say(&launcher->common.notices,
                "%s; %s(restart %u of %u since the last committed snapshot%s)",
                launcher_last_fault(launcher), where, fault.restarts,
                launcher->common.options->snapshots.max_restarts, again);
}

void launcher_fault_text(struct launcher *launcher, const char *text)
{
    bool same = launcher->fault_text && strcmp(launcher->fault_text, text) == 0;

    launcher_tell_rollback(launcher, NULL); /* the previous one, if its snapshot was never known */
    launcher->fault_repeats = same ? launcher->fault_repeats + 1 : 1;
    free(launcher->fault_text);
    launcher->fault_text = strdup(text);
    launcher_note(launcher,
                  &(struct timeline_event){.kind = TIMELINE_FAULT, .text = launcher->fault_text});
}

/* ---- Between hosts ---- */

static const struct broken_link *link_between(const struct launcher *launcher, uint32_t host,
                                              uint32_t peer)
{
    for (size_t i = 0; i < launcher->link_count; i++) {
        const struct broken_link *link = &launcher->links[i];

        if (link->term == job_machine_term(launcher->machine) &&
            ((link->host == host && link->peer == peer) ||
             (link->host == peer && link->peer == host)))
            return link;
    }
    return NULL;
}

/* Processor Zero tells a host nothing any more if it has lost the connection to it; its successor
 * does. */
static void note_untold(struct launcher *launcher, uint32_t host)
{
    launcher->agents.items[host].untold_term = job_machine_term(launcher->machine);
    launcher->agents.items[host].untold_by = job_machine_zero(launcher->machine);
}

static void note_lost_to_zero(struct launcher *launcher, uint32_t host, uint32_t peer)
{
    uint32_t zero = job_machine_zero(launcher->machine);

    if (host == zero || peer == zero)
        note_untold(launcher, host == zero ? peer : host);
}

/* The one that says so first knows why; the other one may know only that it has ended. */
void launcher_note_link(struct launcher *launcher, uint32_t host,
                        const struct wire_message *message)
{
    uint32_t term = job_machine_term(launcher->machine), peer = message->link_lost.peer;
    struct broken_link *link;

    if (message->envelope.term != term || peer == host || !agents_of(&launcher->agents, peer))
        return;
    note_lost_to_zero(launcher, host, peer);
    if (launcher->link_count > 0 && launcher->links[0].term != term)
        launcher->link_count = 0;
    if (link_between(launcher, host, peer) || launcher->link_count == LINKS_MOST ||
        !BSPZ_GROW(launcher->links, launcher->link_count))
        return;
    link = &launcher->links[launcher->link_count++];
    link->term = term;
    link->host = host;
    link->peer = peer;
    snprintf(link->text, sizeof link->text, "%s", message->link_lost.text);
}

void launcher_blame(struct launcher *launcher, const struct job_effect *effect)
{
    const struct launcher_agent *host = agents_of(&launcher->agents, effect->host);
    const struct launcher_agent *peer = agents_of(&launcher->agents, effect->peer);
    const struct broken_link *link = link_between(launcher, effect->host, effect->peer);
    char text[3 * WIRE_NAME_MAX + sizeof link->text + 128];

    learning_saw(&launcher->learning, NULL, EVIDENCE_LINK);

    if (!host || !peer)
        snprintf(text, sizeof text, "%s", launcher->loss_text);
    else if (host == peer)
        snprintf(text, sizeof text, "host %s has not heard from bsprun for too long", host->name);
    else
        snprintf(text, sizeof text, "the connection between host %s and host %s broke%s%s%s%s%s%s",
                 host < peer ? host->name : peer->name, host < peer ? peer->name : host->name,
                 link ? " (" : "", link ? link->text : "", link ? ")" : "",
                 effect->gone ? " again: host " : "", effect->gone ? host->name : "",
                 effect->gone ? " is left out" : "");
    launcher_fault_text(launcher, text);
}

void launcher_lost_to_zero(struct launcher *launcher, uint32_t host, const char *text)
{
    uint32_t zero = job_machine_zero(launcher->machine);
    struct wire_message message = {.kind = WIRE_LINK_LOST};

    message.link_lost.host = zero;
    message.link_lost.peer = host;
    message.link_lost.text = text;
    agents_send(&launcher->agents.items[zero], &message);
    note_untold(launcher, host);
}

/* ---- For the report ---- */

void launcher_note(struct launcher *launcher, const struct timeline_event *event)
{
    struct timeline_event noted = *event;

    if (noted.at_ms == 0)
        noted.at_ms = launcher_now_ms();
    past_note(&launcher->past, &noted);
    if (launcher->common.options->report_page)
        timeline_add(&launcher->timeline, &noted);
}

void launcher_note_stopped(struct launcher *launcher)
{
    account_stopped(&launcher->account, launcher_now_ms());
    launcher_note(launcher, &(struct timeline_event){.kind = TIMELINE_STOPPED});
}

void launcher_count_process_fault(struct launcher *launcher, uint32_t pid)
{
    if (BSPZ_REACH(launcher->process_faults, launcher->process_count, pid + (size_t)1))
        launcher->process_faults[pid]++;
}
