/* link_beat.c - a link that brings nothing is lost: signs of life to and fro.
 *
 * Happy path: on_beat, a few times in the time that a peer may be silent, sends each peer a word
 * and looks whether anything has come from it since the last time.
 *
 * What can fail: nothing comes, though the connection stands: the host is gone, frozen, or what
 * lies between drops everything: links_break.  Turns are counted and not time, so that who was late
 * himself concludes nothing before he has read what waits for him.
 *
 * A link is lost at the fifth beat in a row that has found nothing, with four beats in the time of
 * the heartbeat: 1 1/4 to 1 1/2 heartbeats after its last byte came.  As peers speak at every beat,
 * that is 1 to 1 1/2 heartbeats after the way was cut.  Nothing is fenced by it: bsprun is told,
 * and it ends the term on both hosts.
 */
#include <stdio.h>

#include "bsprun/link/link_inside.h"

#define BEATS      4u /* in the time that a peer may be silent */
#define BEAT_LEAST 5u

/* What waits already will do as well. */
static void say_something(struct link *link)
{
    struct wire_message alive = {.kind = WIRE_ALIVE};

    if (links_waiting(link->links, link->host) == 0)
        links_send(link->links, link->host, &alive);
}

static void look(struct link *link)
{
    char why[LINK_TEXT];

    if (atomic_exchange(&link->heard, false) || link->in.stalled)
        link->silent = 0; /* stalled: it is we who do not listen */
    else if (++link->silent > BEATS) {
        snprintf(why, sizeof why, "nothing has come for %g s",
                 link->links->heartbeat_ms / 1e3);
        links_break(link->links, link->host, why);
    }
}

static void on_beat(uv_timer_t *timer)
{
    struct links *links = timer->data;

    for (uint32_t i = 0; i < links->count; i++) {
        struct link *link = &links->all[i];

        if (!link->up || link->broken)
            continue;
        look(link);
        say_something(link);
    }
}

void link_beat_begin(struct links *links)
{
    uint64_t period = links->heartbeat_ms / BEATS;

    uv_timer_init(links->loop, &links->beat);
    links->beat.data = links;
    if (period < BEAT_LEAST)
        period = BEAT_LEAST;
    if (links->heartbeat_ms > 0)
        uv_timer_start(&links->beat, on_beat, period, period);
}
