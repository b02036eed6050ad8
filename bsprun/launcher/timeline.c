/* timeline.c - see timeline.h. */
#include "bsprun/launcher/timeline.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/buffer.h"

void timeline_add(struct timeline *timeline, const struct timeline_event *event)
{
    if (timeline->count >= TIMELINE_EVENTS || !BSPZ_GROW(timeline->events, timeline->count)) {
        timeline->dropped++;
        return;
    }
    timeline->events[timeline->count] = *event;
    if (event->text)
        timeline->events[timeline->count].text = strdup(event->text);
    timeline->count++;
}

void timeline_free(struct timeline *timeline)
{
    for (size_t i = 0; i < timeline->count; i++)
        free(timeline->events[i].text);
    free(timeline->events);
    *timeline = (struct timeline){0};
}

/* ---- Spans ---- */

struct spans {
    struct timeline_span *list;
    size_t count;
    uint64_t since_ms;
    bool running;
};

/* What was since `since_ms`; nothing of no length. */
static void close_span(struct spans *spans, uint64_t now_ms, enum timeline_use use)
{
    if (now_ms <= spans->since_ms)
        return;
    spans->list[spans->count++] = (struct timeline_span){spans->since_ms, now_ms, use};
    spans->since_ms = now_ms;
}

static enum timeline_use use_now(const struct spans *spans, bool began)
{
    return spans->running ? TIMELINE_USEFUL : began ? TIMELINE_DOWN : TIMELINE_START;
}

/* What was useful from then on is lost. */
static void lose(struct spans *spans, uint64_t from_ms)
{
    for (size_t i = spans->count; i-- > 0 && spans->list[i].to_ms > from_ms;) {
        struct timeline_span *span = &spans->list[i];

        if (span->use != TIMELINE_USEFUL)
            continue;
        if (span->from_ms < from_ms) {
            memmove(span + 1, span, (spans->count - i) * sizeof *span);
            spans->count++;
            span->to_ms = span[1].from_ms = from_ms;
            span++;
        }
        span->use = TIMELINE_LOST;
    }
}

/* When the newest snapshot of at most that superstep was taken, by what was told before the event;
 * `begin_ms`: there is none. */
static uint64_t taken(const struct timeline *timeline, size_t event, uint64_t begin_ms)
{
    uint64_t superstep = timeline->events[event].superstep;

    while (event-- > 0)
        if (timeline->events[event].kind == TIMELINE_SAVED &&
            timeline->events[event].superstep <= superstep)
            return timeline->events[event].at_ms;
    return begin_ms;
}

size_t timeline_spans(const struct timeline *timeline, uint64_t begin_ms, uint64_t end_ms,
                      struct timeline_span **list)
{
    /* Each event ends one span at most, or splits one. */
    struct spans spans = {.list = calloc(timeline->count + 1, sizeof *spans.list),
                          .since_ms = begin_ms};
    bool began = false;

    *list = NULL;
    if (!spans.list)
        return 0;
    for (size_t i = 0; i < timeline->count; i++) {
        const struct timeline_event *event = &timeline->events[i];
        bool runs = event->kind == TIMELINE_RUNNING;

        if (event->kind == TIMELINE_BACK)
            lose(&spans, taken(timeline, i, begin_ms));
        if (event->kind > TIMELINE_STOPPED || runs == spans.running)
            continue;
        close_span(&spans, event->at_ms, use_now(&spans, began));
        spans.running = runs;
        began = true;
    }
    close_span(&spans, end_ms, spans.running ? TIMELINE_USEFUL : TIMELINE_START);
    if (spans.count > 0)
        *list = spans.list;
    else
        free(spans.list);
    return spans.count;
}
