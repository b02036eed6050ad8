/* text.c - messages, timers and effects as lines for a trace. */
#include "coordinator/core/coord.h"

#include <stdio.h>

/* Names in traces that differ from the message's. */
static const char *name_of(enum wire_kind kind)
{
    return kind == WIRE_ARRIVE      ? "ARRIVED"
           : kind == WIRE_LINK_LOST ? "HOST_LOST"
           : kind == WIRE_CHOSEN    ? "CHOOSE"
           : kind == WIRE_CLOSING   ? "CLOSE"
                                    : wire_kind_name(kind);
}

static const char *const timer_names[COORD_TIMER_COUNT] = {
    [COORD_TIMER_STOP] = "",
    [COORD_TIMER_SNAPSHOT] = " snapshot",
    [COORD_TIMER_GRACE] = " grace",
    [COORD_TIMER_GLANCE] = " glance",
    [COORD_TIMER_CAPTURE] = " capture",
};

static const char *timer_name(enum coord_timer timer)
{
    return (unsigned)timer < COORD_TIMER_COUNT ? timer_names[timer] : " unknown";
}

typedef unsigned long long number;

/* The messages about snapshots. */
static void snapshot_details(const struct wire_message *message, char *text, size_t size)
{
    number superstep = message->envelope.superstep;
    switch (message->kind) {
    case WIRE_HELD:
        snprintf(text, size, "%s snapshot %llu.%u processes %u images %u copies %u",
                 message->held.manifest ? "" : " part of", (number)message->held.name.superstep,
                 message->held.name.term, message->held.processes,
                 message->held.all ? message->held.processes : message->held.images.count,
                 message->held.copies.count);
        break;
    case WIRE_STAGED:
        snprintf(text, size, " count %u", message->staged.count);
        break;
    case WIRE_CAPTURED:
        snprintf(text, size, " superstep %llu", superstep);
        break;
    case WIRE_IMAGE_DURABLE:
        snprintf(text, size, " snapshot %llu pid %u size %llu", superstep,
                 message->image_durable.pid, (number)message->image_durable.facts.size);
        break;
    case WIRE_IMAGE_FAILED:
        snprintf(text, size, " snapshot %llu pid %u: %s", superstep, message->image_failed.pid,
                 wire_cause_text(message->image_failed.cause));
        break;
    case WIRE_PERSISTED:
        snprintf(text, size, " snapshot %llu error %u", superstep, message->persisted.error);
        break;
    case WIRE_KNOWN:
        snprintf(text, size, " snapshot %llu busy %llu us copied %llu us", superstep,
                 (number)message->known.busy_ns / 1000, (number)message->known.copied_ns / 1000);
        break;
    case WIRE_AHEAD_READY:
        snprintf(text, size, " snapshot %llu.%u count %u",
                 (number)message->ahead_ready.name.superstep, message->ahead_ready.name.term,
                 message->ahead_ready.count);
        break;
    case WIRE_SAVE:
        snprintf(text, size, "%s signal %u",
                 message->save.stop   ? " and stop"
                 : message->save.move ? " and move"
                                      : "",
                 message->save.signal);
        break;
    default:
        break;
    }
}

static void details(const struct wire_message *message, char *text, size_t size)
{
    switch (message->kind) {
    case WIRE_HOST_READY:
        snprintf(text, size, " slots %u", message->host_ready.slots);
        break;
    case WIRE_REGISTERED:
        snprintf(text, size, " wanted %u", message->registered.wanted);
        break;
    case WIRE_RANKS_READY:
        snprintf(text, size, " count %u", message->ranks_ready.count);
        break;
    case WIRE_ARRIVE:
        snprintf(text, size, " superstep %llu %s", (number)message->envelope.superstep,
                 wire_barrier_text(message->arrive.barrier));
        break;
    case WIRE_RANK_EXITED:
        if (message->rank_exited.signal > 0)
            snprintf(text, size, " pid %u signal %u", message->rank_exited.pid,
                     message->rank_exited.signal);
        else
            snprintf(text, size, " pid %u status %u", message->rank_exited.pid,
                     message->rank_exited.status);
        break;
    case WIRE_ACCOUNT:
        snprintf(text, size, " decided %llu%s captures %llu%s%s", (number)message->account.decided,
                 message->account.ended ? " ended" : "", (number)message->account.captures,
                 message->account.runs    ? ""
                 : message->account.ready ? " not running"
                                          : " not ready",
                 message->account.stopped ? " stopped" : "");
        break;
    case WIRE_BEARS:
        snprintf(text, size, "%s", message->bears.bears ? "" : " not");
        break;
    case WIRE_ABORT:
        snprintf(text, size, " pid %d: %s", message->abort.pid,
                 wire_cause_text(message->abort.cause));
        break;
    case WIRE_STOP:
        snprintf(text, size, " %s %u", wire_stop_text(message->stop.how), message->stop.signal);
        break;
    default:
        snapshot_details(message, text, size);
        break;
    }
}

void coord_message_text(uint32_t from, const struct wire_message *message, char *text, size_t size)
{
    uint32_t host = message->kind == WIRE_LINK_LOST ? message->link_lost.peer : from;
    char more[160] = "", of_host[24] = "";
    details(message, more, sizeof(more));
    if (host != COORD_BSPRUN)
        snprintf(of_host, sizeof(of_host), " host %u", host);
    snprintf(text, size, "event %s term %u%s%s", name_of(message->kind), message->envelope.term,
             of_host, more);
}

void coord_timer_text(uint32_t term, enum coord_timer timer, char *text, size_t size)
{
    snprintf(text, size, "event TIMER term %u%s", term, timer_name(timer));
}

/* A superstep; COORD_NEVER by name. */
static const char *superstep_text(uint64_t superstep, char text[24])
{
    if (superstep == COORD_NEVER)
        return "never";
    snprintf(text, 24, "%llu", (number)superstep);
    return text;
}

static void order_details(const struct wire_message *order, char *text, size_t size)
{
    number superstep = order->envelope.superstep;
    char consult[24];
    switch (order->kind) {
    case WIRE_PLACE:
        snprintf(text, size, " processes %u%s", order->place.processes,
                 order->place.snapshot ? " snapshot" : "");
        break;
    case WIRE_PERSIST:
    case WIRE_COMMITTED:
    case WIRE_RETIRE:
    case WIRE_ABANDON: /* they belong to the term */
        snprintf(text, size, " snapshot %llu.%u", superstep, order->envelope.term);
        break;
    case WIRE_CHOSEN:
        snprintf(text, size, " snapshot %llu.%u", superstep, order->chosen.name.term);
        break;
    case WIRE_RESTORE:
        snprintf(text, size, " snapshot %llu.%u", superstep, order->restore.from);
        break;
    case WIRE_AHEAD:
        snprintf(text, size, " snapshot %llu.%u processes %u", superstep, order->ahead.from,
                 order->ahead.moves.count);
        break;
    case WIRE_RESUME:
        snprintf(text, size, " superstep %llu consult %s", superstep,
                 superstep_text(order->resume.consult, consult));
        break;
    case WIRE_STOP_RANKS:
        snprintf(text, size, "%s", order->stop_ranks.again ? " again" : "");
        break;
    case WIRE_RUN:
        snprintf(text, size, " processes %u consult %s", order->run.processes,
                 superstep_text(order->run.consult, consult));
        break;
    case WIRE_SURVIVED:
        snprintf(text, size, " lost %u processes %u snapshot %llu.%u", order->survived.lost,
                 order->survived.moves.count, (number)order->survived.name.superstep,
                 order->survived.name.term);
        break;
    case WIRE_TAKEN_OVER:
        snprintf(text, size, " decided %llu%s consult %s", (number)order->taken_over.decided,
                 order->taken_over.ended ? " ended" : "",
                 superstep_text(order->taken_over.consult, consult));
        break;
    case WIRE_RELEASE:
        snprintf(text, size, " superstep %llu decision %s%s consult %s", superstep,
                 order->release.last     ? "last "
                 : order->release.urgent ? "urgent "
                                         : "",
                 wire_decision_text(order->release.decision),
                 superstep_text(order->release.consult, consult));
        break;
    default:
        break;
    }
}

void coord_effect_text(const struct coord_effect *effect, char *text, size_t size)
{
    const struct wire_message *message = &effect->message;
    char more[96] = "";
    switch (effect->kind) {
    case COORD_EFFECT_TELL:
    case COORD_EFFECT_SEND:
        order_details(message, more, sizeof(more));
        if (message->kind == WIRE_SAVED || message->kind == WIRE_UNSAVED)
            snprintf(text, size, "%s", "");
        else
            snprintf(text, size, "effect %s term %u%s", name_of(message->kind),
                     message->envelope.term, more);
        break;
    case COORD_EFFECT_SET_TIMER:
        snprintf(text, size, "effect SET_TIMER term %u%s %llu ms", message->envelope.term,
                 timer_name(effect->timer), (number)effect->milliseconds);
        break;
    case COORD_EFFECT_CANCEL_TIMER:
        snprintf(text, size, "effect CANCEL_TIMER term %u%s", message->envelope.term,
                 timer_name(effect->timer));
        break;
    default:
        snprintf(text, size, "effect FINISH term %u", message->envelope.term);
        break;
    }
}
