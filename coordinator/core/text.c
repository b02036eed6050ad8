/* text.c - events and effects as lines for a trace. */
#include "coordinator/core/coord.h"

#include <stdio.h>

static const char *const event_names[COORD_EVENT_KIND_COUNT] = {
    [COORD_EVENT_HOST_READY] = "HOST_READY",
    [COORD_EVENT_REGISTERED] = "REGISTERED",
    [COORD_EVENT_RANKS_READY] = "RANKS_READY",
    [COORD_EVENT_ARRIVED] = "ARRIVED",
    [COORD_EVENT_RANK_EXITED] = "RANK_EXITED",
    [COORD_EVENT_ABORT] = "ABORT",
    [COORD_EVENT_STOP] = "STOP",
    [COORD_EVENT_RANKS_STOPPED] = "RANKS_STOPPED",
    [COORD_EVENT_HOST_LOST] = "HOST_LOST",
    [COORD_EVENT_TIMER] = "TIMER",
    [COORD_EVENT_HELD] = "HELD",
    [COORD_EVENT_TERM_RECORDED] = "TERM_RECORDED",
    [COORD_EVENT_STAGED] = "STAGED",
    [COORD_EVENT_CAPTURED] = "CAPTURED",
    [COORD_EVENT_IMAGE_DURABLE] = "IMAGE_DURABLE",
    [COORD_EVENT_IMAGE_FAILED] = "IMAGE_FAILED",
    [COORD_EVENT_PERSISTED] = "PERSISTED",
    [COORD_EVENT_KNOWN] = "KNOWN",
    [COORD_EVENT_SAVE] = "SAVE",
    [COORD_EVENT_CLOSED] = "CLOSED",
};

static const char *const effect_names[COORD_EFFECT_KIND_COUNT] = {
    [COORD_EFFECT_PERSIST] = "PERSIST",
    [COORD_EFFECT_CHOOSE] = "CHOOSE",
    [COORD_EFFECT_CLOSE] = "CLOSE",
    [COORD_EFFECT_COMMITTED] = "COMMITTED",
    [COORD_EFFECT_RETIRE] = "RETIRE",
    [COORD_EFFECT_ABANDON] = "ABANDON",
    [COORD_EFFECT_PLACE] = "PLACE",
    [COORD_EFFECT_RESTORE] = "RESTORE",
    [COORD_EFFECT_PASS] = "PASS",
    [COORD_EFFECT_RESUME] = "RESUME",
    [COORD_EFFECT_CONSULT] = "CONSULT",
    [COORD_EFFECT_RUN] = "RUN",
    [COORD_EFFECT_RELEASE] = "RELEASE",
    [COORD_EFFECT_STOP_RANKS] = "STOP_RANKS",
    [COORD_EFFECT_END] = "END",
    [COORD_EFFECT_SET_TIMER] = "SET_TIMER",
    [COORD_EFFECT_CANCEL_TIMER] = "CANCEL_TIMER",
    [COORD_EFFECT_FINISH] = "FINISH",
};

static const char *const timer_names[COORD_TIMER_COUNT] = {
    [COORD_TIMER_STOP] = "",
    [COORD_TIMER_SNAPSHOT] = " snapshot",
    [COORD_TIMER_GRACE] = " grace",
};

static const char *timer_name(enum coord_timer timer)
{
    return (unsigned)timer < COORD_TIMER_COUNT ? timer_names[timer] : " unknown";
}

/* The events of snapshots. */
static void snapshot_details(const struct coord_event *event, char *text, size_t size)
{
    switch (event->kind) {
    case COORD_EVENT_HELD:
        snprintf(text, size, "%s snapshot %llu.%u processes %u images %u copies %u",
                 event->held.manifest ? "" : " part of",
                 (unsigned long long)event->held.name.superstep, event->held.name.term,
                 event->held.processes,
                 event->held.all ? event->held.processes : event->held.images.count,
                 event->held.copies.count);
        break;
    case COORD_EVENT_STAGED:
        snprintf(text, size, " count %u", event->staged.count);
        break;
    case COORD_EVENT_CAPTURED:
        snprintf(text, size, " superstep %llu", (unsigned long long)event->captured.superstep);
        break;
    case COORD_EVENT_IMAGE_DURABLE:
        snprintf(text, size, " snapshot %llu pid %u size %llu",
                 (unsigned long long)event->image_durable.superstep, event->image_durable.image.pid,
                 (unsigned long long)event->image_durable.image.size);
        break;
    case COORD_EVENT_IMAGE_FAILED:
        snprintf(text, size, " snapshot %llu pid %u: %s",
                 (unsigned long long)event->image_failed.superstep, event->image_failed.pid,
                 wire_cause_text(event->image_failed.cause));
        break;
    case COORD_EVENT_PERSISTED:
        snprintf(text, size, " snapshot %llu error %u",
                 (unsigned long long)event->persisted.superstep, event->persisted.error);
        break;
    case COORD_EVENT_KNOWN:
        snprintf(text, size, " snapshot %llu busy %llu us copied %llu us",
                 (unsigned long long)event->known.superstep,
                 (unsigned long long)event->known.busy_ns / 1000,
                 (unsigned long long)event->known.copied_ns / 1000);
        break;
    case COORD_EVENT_SAVE:
        snprintf(text, size, "%s signal %u", event->save.stop ? " and stop" : "",
                 event->save.signal);
        break;
    default:
        break;
    }
}

static void event_details(const struct coord_event *event, char *text, size_t size)
{
    text[0] = '\0';
    switch (event->kind) {
    case COORD_EVENT_HOST_READY:
        snprintf(text, size, " slots %u", event->host_ready.slots);
        break;
    case COORD_EVENT_REGISTERED:
        snprintf(text, size, " wanted %u", event->registered.wanted);
        break;
    case COORD_EVENT_RANKS_READY:
        snprintf(text, size, " count %u", event->ranks_ready.count);
        break;
    case COORD_EVENT_ARRIVED:
        snprintf(text, size, " superstep %llu %s", (unsigned long long)event->arrived.superstep,
                 wire_barrier_text(event->arrived.barrier));
        break;
    case COORD_EVENT_RANK_EXITED:
        if (event->rank_exited.signal > 0)
            snprintf(text, size, " pid %u signal %u", event->rank_exited.pid,
                     event->rank_exited.signal);
        else
            snprintf(text, size, " pid %u status %u", event->rank_exited.pid,
                     event->rank_exited.status);
        break;
    case COORD_EVENT_ABORT:
        snprintf(text, size, " pid %d: %s", event->abort.pid, wire_cause_text(event->abort.cause));
        break;
    case COORD_EVENT_STOP:
        snprintf(text, size, " %s %u", wire_stop_text(event->stop.how), event->stop.signal);
        break;
    case COORD_EVENT_TIMER:
        snprintf(text, size, "%s", timer_name(event->timer.timer));
        break;
    default:
        snapshot_details(event, text, size);
        break;
    }
}

void coord_event_text(const struct coord_event *event, char *text, size_t size)
{
    if (size == 0)
        return;
    if ((unsigned)event->kind >= COORD_EVENT_KIND_COUNT) {
        snprintf(text, size, "event %u", (unsigned)event->kind);
        return;
    }
    const char *name = event_names[event->kind];
    char details[160];
    event_details(event, details, sizeof(details));
    bool of_no_host = event->kind == COORD_EVENT_STOP || event->kind == COORD_EVENT_TIMER ||
                      event->kind == COORD_EVENT_SAVE || event->kind == COORD_EVENT_CLOSED ||
                      event->kind == COORD_EVENT_TERM_RECORDED;
    if (of_no_host)
        snprintf(text, size, "event %s term %u%s", name, event->term, details);
    else
        snprintf(text, size, "event %s term %u host %u%s", name, event->term, event->host, details);
}

/* A superstep; the one that never comes by its name. */
static void superstep_text(uint64_t superstep, char *text, size_t size)
{
    if (superstep == COORD_NEVER)
        snprintf(text, size, "never");
    else
        snprintf(text, size, "%llu", (unsigned long long)superstep);
}

void coord_effect_text(const struct coord_effect *effect, char *text, size_t size)
{
    if (size == 0)
        return;
    if ((unsigned)effect->kind >= COORD_EFFECT_KIND_COUNT) {
        snprintf(text, size, "effect %u", (unsigned)effect->kind);
        return;
    }
    char consult[24];
    superstep_text(effect->consult, consult, sizeof(consult));
    char details[96] = "";
    switch (effect->kind) {
    case COORD_EFFECT_PLACE:
        snprintf(details, sizeof(details), " processes %u%s", effect->processes,
                 effect->flag ? " snapshot" : "");
        break;
    case COORD_EFFECT_PERSIST:
    case COORD_EFFECT_CHOOSE:
    case COORD_EFFECT_COMMITTED:
    case COORD_EFFECT_RETIRE:
    case COORD_EFFECT_ABANDON:
    case COORD_EFFECT_RESTORE:
        snprintf(details, sizeof(details), " snapshot %llu.%u",
                 (unsigned long long)effect->name.superstep, effect->name.term);
        break;
    case COORD_EFFECT_RESUME:
        snprintf(details, sizeof(details), " superstep %llu consult %s",
                 (unsigned long long)effect->superstep, consult);
        break;
    case COORD_EFFECT_STOP_RANKS:
        snprintf(details, sizeof(details), "%s", effect->flag ? " again" : "");
        break;
    case COORD_EFFECT_RUN:
        snprintf(details, sizeof(details), " processes %u consult %s", effect->processes, consult);
        break;
    case COORD_EFFECT_RELEASE:
        snprintf(details, sizeof(details), " superstep %llu decision %s consult %s",
                 (unsigned long long)effect->superstep, wire_decision_text(effect->decision),
                 consult);
        break;
    case COORD_EFFECT_SET_TIMER:
        snprintf(details, sizeof(details), "%s %llu ms", timer_name(effect->timer),
                 (unsigned long long)effect->milliseconds);
        break;
    case COORD_EFFECT_CANCEL_TIMER:
        snprintf(details, sizeof(details), "%s", timer_name(effect->timer));
        break;
    default:
        break;
    }
    snprintf(text, size, "effect %s term %u%s", effect_names[effect->kind], effect->term, details);
}
