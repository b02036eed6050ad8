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
};

static const char *const effect_names[COORD_EFFECT_KIND_COUNT] = {
    [COORD_EFFECT_PLACE] = "PLACE",
    [COORD_EFFECT_RUN] = "RUN",
    [COORD_EFFECT_RELEASE] = "RELEASE",
    [COORD_EFFECT_STOP_RANKS] = "STOP_RANKS",
    [COORD_EFFECT_END] = "END",
    [COORD_EFFECT_SET_TIMER] = "SET_TIMER",
    [COORD_EFFECT_CANCEL_TIMER] = "CANCEL_TIMER",
    [COORD_EFFECT_FINISH] = "FINISH",
};

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
    default:
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
    char details[96];
    event_details(event, details, sizeof(details));
    if (event->kind == COORD_EVENT_STOP || event->kind == COORD_EVENT_TIMER)
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
        snprintf(details, sizeof(details), " processes %u", effect->processes);
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
        snprintf(details, sizeof(details), " %llu ms", (unsigned long long)effect->milliseconds);
        break;
    default:
        break;
    }
    snprintf(text, size, "effect %s term %u%s", effect_names[effect->kind], effect->term, details);
}
