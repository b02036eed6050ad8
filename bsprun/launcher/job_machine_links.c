/* job_machine_links.c - distinguishes host failures from link failures.
 *
 * Happy path: no loss is reported.
 *
 * What can fail: LINK_LOST, or Processor Zero's report of a lost host -> CALL -> an agent is lost
 * meanwhile, which is handled as such; or ROLL: all have answered, and decide() finds the host to
 * blame.
 */
#include "bsprun/launcher/job_machine_inside.h"

#include <string.h>

void machine_forget_roll(struct job_machine *machine)
{
    memset(&machine->roll, 0, sizeof(machine->roll));
    machine->roll.deaf = JOB_NO_HOST;
}

static bool is_up(const struct job_machine *machine, uint32_t id)
{
    const struct machine_host *host = machine_find(machine, id);
    return host && host->state == HOST_UP && !host->given_up;
}

/* ---- Who does not hear whom --------------------------------------------------------------- */

static bool is_of(const struct machine_links *links, uint32_t i, uint32_t host)
{
    return links->items[i].host == host || links->items[i].peer == host;
}

static void note_link(struct machine_links *links, uint32_t host, uint32_t peer)
{
    for (uint32_t i = 0; i < links->count; i++)
        if (is_of(links, i, host) && is_of(links, i, peer))
            return;
    if (links->count == LINKS_MAX)
        return;
    links->items[links->count].host = host;
    links->items[links->count++].peer = peer;
}

/* The number of lost links of a host. */
static uint32_t count_of(const struct machine_links *links, uint32_t host)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < links->count; i++)
        found += is_of(links, i, host);
    return found;
}

/* Drops the links of lost hosts, which are not to blame. */
static void drop_gone(const struct job_machine *machine, struct machine_links *links)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < links->count; i++)
        if (is_up(machine, links->items[i].host) && is_up(machine, links->items[i].peer))
            links->items[kept++] = links->items[i];
    links->count = kept;
}

/* ---- The decision ------------------------------------------------------------------------- */

/* Whether the previous term has lost a link of one of these hosts, too. */
static bool is_again(const struct job_machine *machine)
{
    const struct machine_links *lost = &machine->roll.lost;
    if (machine->lost_before_term + 1 != machine->term)
        return false;
    for (uint32_t i = 0; i < lost->count; i++)
        if (count_of(&machine->lost_before, lost->items[i].host) > 0 ||
            count_of(&machine->lost_before, lost->items[i].peer) > 0)
            return true;
    return false;
}

#define BEHIND (4 * 4 * LINKS_MAX) /* more than any number of links */

/* A score of a host at an end of lost links: the one with the highest is excluded. */
static uint32_t exclusion_score(const struct job_machine *machine, uint32_t host)
{
    uint32_t links = count_of(&machine->roll.lost, host);
    if (links == 0 || !is_up(machine, host))
        return 0;
    if (machine->lost_before_term + 1 == machine->term)
        links += count_of(&machine->lost_before, host);
    return BEHIND * machine_find(machine, host)->behind + 4 * links + 2 * (host != machine->zero) +
           (host != machine->config.own);
}

static uint32_t pick(const struct job_machine *machine)
{
    uint32_t picked = 0;
    for (uint32_t i = 1; i < machine->config.host_count; i++)
        if (exclusion_score(machine, machine->hosts[i].id) >=
            exclusion_score(machine, machine->hosts[picked].id))
            picked = i;
    return machine->hosts[picked].id;
}

static void blame(struct job_machine *machine, struct job_effects *effects, uint32_t host,
                  uint32_t peer, bool gone)
{
    struct job_effect *effect = machine_add(machine, effects, JOB_EFFECT_BLAME);
    effect->host = host;
    effect->peer = peer;
    effect->gone = gone;
    machine->roll.blamed = true;
}

/* A host that this one does not hear; preferably Processor Zero's. */
static uint32_t peer_of(const struct job_machine *machine, uint32_t host)
{
    const struct machine_links *lost = &machine->roll.lost;
    uint32_t peer = JOB_NO_HOST;
    for (uint32_t i = 0; i < lost->count; i++)
        if (is_of(lost, i, host) && peer != machine->zero)
            peer = lost->items[i].host == host ? lost->items[i].peer : lost->items[i].host;
    return peer;
}

/* The job is not (or no longer) rolled back: Processor Zero decides. */
static void leave_to_zero(struct job_machine *machine, uint32_t host, uint32_t peer,
                          struct job_effects *effects)
{
    if (!machine->roll.blamed)
        blame(machine, effects, host, peer, false);
    if (host == machine->zero)
        machine_end_of_loss(machine, effects);
    else {
        machine_add(machine, effects, JOB_EFFECT_LOST_TO_ZERO)->host = host;
        machine_find(machine, host)->given_up = machine->config.replicas;
    }
}

/* What the host has may run on in replicas: Processor Zero knows, unless it has ended the term. */
static bool goes_on_without(const struct job_machine *machine, uint32_t host)
{
    return machine->config.replicas && host != machine->zero && !machine->closed &&
           machine->roll.loss.kind != JOB_EVENT_TERM_OVER;
}

static void links_lost(struct job_machine *machine, struct job_effects *effects)
{
    /* If Processor Zero has ended the term, it did so before it received CLOSED. */
    bool open = !machine->closed || machine->roll.loss.kind == JOB_EVENT_TERM_OVER;
    uint32_t host = pick(machine), peer = peer_of(machine, host);
    bool rolls_back = machine->config.snapshots && open && !goes_on_without(machine, host);
    bool again = is_again(machine);
    struct coord_outcome lost = machine_host_lost();
    if (host == machine->zero && machine_can_succeed(machine) &&
        machine->roll.loss.kind != JOB_EVENT_TERM_OVER) {
        blame(machine, effects, host, peer, true);
        machine_depose(machine, effects);
        machine_call_spare(machine, effects);
        return;
    }
    if (!rolls_back) {
        uint32_t other = peer_of(machine, machine->zero); /* after bsp_end only its links matter */
        if (other != JOB_NO_HOST)
            leave_to_zero(machine, other, machine->zero, effects);
        else if (!machine->closed)
            leave_to_zero(machine, host, peer, effects);
        return;
    }
    blame(machine, effects, host, peer, again);
    machine->lost_before = machine->roll.lost;
    machine->lost_before_term = machine->term;
    machine_recover(machine, &lost, effects);
    if (again && machine->state == JOB_MACHINE_GATHERING) {
        machine->lost_before.count = 0;
        machine_dismiss(machine, host, effects);
    }
}

static void bsprun_unheard(struct job_machine *machine, struct job_effects *effects)
{
    struct coord_outcome lost = machine_host_lost();
    uint32_t deaf = machine->roll.deaf;
    if (deaf == machine->zero && machine_can_succeed(machine)) {
        blame(machine, effects, deaf, deaf, false);
        machine_depose(machine, effects);
        machine_call_spare(machine, effects);
        return;
    }
    if (!machine->config.snapshots || machine->closed || goes_on_without(machine, deaf)) {
        leave_to_zero(machine, deaf, deaf, effects);
        return;
    }
    blame(machine, effects, deaf, deaf, false);
    machine_recover(machine, &lost, effects);
}

/* ---- Events ------------------------------------------------------------------------------- */

static void call(struct job_machine *machine, struct job_effects *effects)
{
    if (!machine->roll.called)
        machine_add(machine, effects, JOB_EFFECT_CALL);
    machine->roll.called = true;
}

void machine_review_links(struct job_machine *machine, struct job_effects *effects)
{
    drop_gone(machine, &machine->roll.lost);
    if (count_of(&machine->roll.lost, machine->zero) > 0)
        call(machine, effects);
}

void machine_take_link_lost(struct job_machine *machine, const struct job_event *event,
                            struct job_effects *effects)
{
    if (machine->state != JOB_MACHINE_RUNNING || event->term != machine->term ||
        !is_up(machine, event->host) || !is_up(machine, event->peer)) {
        effects->dropped = true;
        return;
    }
    if (event->host == event->peer)
        machine->roll.deaf = event->host;
    else
        note_link(&machine->roll.lost, event->host, event->peer);
    if (event->behind)
        machine_find(machine, event->peer)->behind = true;
    call(machine, effects);
}

void machine_take_loss(struct job_machine *machine, const struct job_event *event,
                       struct job_effects *effects)
{
    if (event->kind == JOB_EVENT_TERM_OVER && machine_has_asked(machine)) {
        machine_recover(machine, &event->outcome, effects); /* that is its answer */
        return;
    }
    machine->roll.loss = *event;
    call(machine, effects);
}

/* What is left of them when a host is given up may be those of another one, if the term goes on. */
static void decide(struct job_machine *machine, struct job_effects *effects)
{
    struct machine_roll *roll = &machine->roll;
    uint32_t before;
    do {
        before = roll->lost.count;
        links_lost(machine, effects);
        drop_gone(machine, &roll->lost);
    } while (machine->config.replicas && machine->state == JOB_MACHINE_RUNNING &&
             roll->lost.count > 0 && roll->lost.count < before &&
             effects->count < JOB_EFFECTS_MAX / 2);
    if (machine->config.replicas && machine->state == JOB_MACHINE_RUNNING &&
        is_up(machine, roll->deaf))
        bsprun_unheard(machine, effects);
}

/* Whoever reports first that it does not hear Processor Zero may be the one to blame, or the first
 * of many. */
static bool waits_for_others(struct job_machine *machine, uint64_t now_ms)
{
    if (!machine_can_succeed(machine) || count_of(&machine->roll.lost, machine->zero) == 0)
        return false;
    if (machine->roll.decide_at_ms == 0)
        machine->roll.decide_at_ms = now_ms + machine->config.fence_ms / 2 + 1;
    return true;
}

void machine_decide_links(struct job_machine *machine, uint64_t now_ms, struct job_effects *effects)
{
    struct machine_roll *roll = &machine->roll;
    if (roll->decide_at_ms == 0 || now_ms < roll->decide_at_ms)
        return;
    roll->decide_at_ms = 0;
    drop_gone(machine, &roll->lost);
    if (roll->lost.count > 0)
        decide(machine, effects);
}

void machine_take_roll(struct job_machine *machine, uint64_t now_ms, struct job_effects *effects)
{
    struct machine_roll *roll = &machine->roll;
    if (machine->state != JOB_MACHINE_RUNNING || !roll->called) {
        effects->dropped = true;
        return;
    }
    roll->called = false;
    drop_gone(machine, &roll->lost);
    if (roll->loss.kind == JOB_EVENT_ENDED) {
        uint32_t host = pick(machine);
        if (roll->lost.count > 0 && !roll->blamed)
            blame(machine, effects, host, peer_of(machine, host), false);
        machine_take_ended(machine, &roll->loss, effects);
    } else if (roll->lost.count > 0) {
        if (roll->loss.kind == JOB_EVENT_TERM_OVER || !waits_for_others(machine, now_ms))
            decide(machine, effects);
    } else if (roll->loss.kind == JOB_EVENT_TERM_OVER) {
        blame(machine, effects, JOB_NO_HOST, JOB_NO_HOST, false);
        machine_recover(machine, &roll->loss.outcome, effects);
    } else if (is_up(machine, roll->deaf)) {
        bsprun_unheard(machine, effects);
    }
}
