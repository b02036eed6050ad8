/* zero.c - Processor Zero, the real one: what reaches it, and what becomes of what it decides. */
#include "tests/sim/cells/world.h"

#include <inttypes.h>

#define STOPS_IN_CAPTURE 40u /* one of so many; the number of that fault */

static void send_to_all(struct world *world, uint32_t era, const struct wire_message *message)
{
    for (uint32_t i = 0; i < world->host_count; i++) {
        uint32_t id = world->hosts[i].id;
        if (!coord_is_addressed(world->zeros[era].coord, id, message->kind))
            continue;
        if (message->kind == WIRE_PERSIST)
            note(world, "... to host %u", id);
        struct action *action =
            cells_plan(world, DO_TO_HOST, cells_on_link(world, &world->hosts[i].link_free[0]), i);
        action->era = era;
        action->message.kind = message->kind;
        action->message.envelope = message->envelope;
        if (message->kind == WIRE_RUN)
            action->message.run = message->run;
        else if (message->kind == WIRE_RESUME)
            action->message.resume = message->resume;
        else if (message->kind == WIRE_TAKEN_OVER)
            action->message.taken_over = message->taken_over;
        if (message->kind != WIRE_RELEASE)
            continue;
        action->message.release = message->release;
        action->message.release.captures = (struct wire_numbers){0};
        for (uint32_t k = 0; k < message->release.captures.count; k++)
            action->captures = action->captures || message->release.captures.items[k] == id;
        if (action->captures && timeline_apart(&world->time, STOPS_IN_CAPTURE) == 0 &&
            seeds_keeps_fault(&world->time.job, STOPS_IN_CAPTURE))
            cells_plan(world, DO_FAULT, timeline_apart(&world->time, 8), i)->number = FAULT_STOPPED;
    }
}

static void finish(struct world *world, uint32_t era)
{
    struct coord_outcome outcome = coord_outcome(world->zeros[era].coord);

    world->zeros[era].finished = true;
    if (world->zeros[era].unheard)
        return;
    world->finished = true;
    note(world, "the end: %s", wire_cause_text(outcome.cause));
    world->well = outcome.cause == WIRE_CAUSE_NONE && !world->stopped;
    if (world->time.now >= FOR_GOOD && !world->by_death)
        fail(world, "the job has waited for processes that are stopped");
    if (outcome.cause == WIRE_CAUSE_NONE)
        cells_summary.well++;
    else if (!world->by_death)
        fail(world, "the term ends by itself: %s", wire_cause_text(outcome.cause));
    else
        cells_summary.back++;
}

/* What bsprun hears. */
static void tell(struct world *world, uint32_t era, const struct wire_message *message)
{
    if (era != world->era || world->zeros[era].unheard)
        return;
    if (message->kind == WIRE_CLOSING)
        cells_plan(world, DO_CLOSED, 1 + timeline_random(&world->time, 20), 0)->number =
            message->closing.whole;
    if (message->kind != WIRE_SAVED)
        return;
    world->commits += !message->saved.known;
    world->placed |= message->saved.known;
    /* Its last words may be lost with it. */
    if (timeline_apart(&world->time, 4) > 0)
        world->committed = message->envelope.superstep + 1;
}

static void carry_out(struct world *world, uint32_t era, const struct coord_effects *effects)
{
    for (uint32_t i = 0; i < effects->count; i++) {
        const struct coord_effect *effect = &effects->items[i];
        switch (effect->kind) {
        case COORD_EFFECT_TELL:
            tell(world, era, &effect->message);
            break;
        case COORD_EFFECT_SEND:
            note(world, "Processor Zero: %s %" PRIu64, wire_kind_name(effect->message.kind),
                 effect->message.envelope.superstep);
            cells_note_said(world, &effect->message, era == world->era);
            send_to_all(world, era, &effect->message);
            break;
        case COORD_EFFECT_SET_TIMER: {
            struct action *action =
                cells_plan(world, DO_TIMER, effect->milliseconds, effect->timer);
            action->number = ++world->zeros[era].timers[effect->timer];
            action->era = era;
            break;
        }
        case COORD_EFFECT_CANCEL_TIMER:
            world->zeros[era].timers[effect->timer]++;
            break;
        default:
            finish(world, era);
        }
    }
}

void cells_feed(struct world *world, uint32_t era, uint32_t from,
                const struct wire_message *message)
{
    struct coord_effects effects;
    struct zero *zero = &world->zeros[era];

    if (world->finished || zero->dead || zero->finished)
        return;
    note(world, "%u says %s %" PRIu64, from, wire_kind_name(message->kind),
         message->envelope.superstep);
    if (coord_step(zero->coord, world->time.now * 1000000u, from, message, &effects) < 0) {
        /* The answer to another one that was asked. */
        if (message->kind == WIRE_CLOSED && era > 0)
            return;
        fail(world, "%s: %s", wire_kind_name(message->kind), effects.complaint);
    }
    carry_out(world, era, &effects);
}

void cells_order(struct world *world, struct wire_message message)
{
    message.envelope.term = TERM;
    cells_feed(world, world->era, COORD_BSPRUN, &message);
}

void cells_expire(struct world *world, const struct action *action)
{
    struct coord_effects effects;

    if (world->finished || action->number != world->zeros[action->era].timers[action->host] ||
        world->zeros[action->era].dead || world->zeros[action->era].finished)
        return;
    coord_expire(world->zeros[action->era].coord, world->time.now * 1000000u,
                 (enum coord_timer)action->host, &effects);
    carry_out(world, action->era, &effects);
}
