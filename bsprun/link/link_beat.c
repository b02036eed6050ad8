/* link_beat.c - heartbeats: a silent link is lost.
 *
 * Happy path: on_beat, a few times per heartbeat, sends a message to each peer and checks whether
 * anything has arrived from it since the last time.
 *
 * What can fail: nothing arrives, though the connection stands: the host is dead or frozen, or the
 * network drops everything: links_break.  Beats are counted and not time, so that an agent that was
 * late itself concludes nothing before it has read pending data.
 *
 * A link is lost at the fifth beat in a row that has found nothing, with four beats in the time of
 * the heartbeat: 1 1/4 to 1 1/2 heartbeats after its last byte came.  As peers send at every beat,
 * that is 1 to 1 1/2 heartbeats after the network failed.  Fencing does not depend on it: bsprun is
 * told, and ends the term on both hosts.
 */
#include <stdio.h>

#include "bsprun/link/link_inside.h"

#define BEATS      4u /* per heartbeat */
#define BEAT_LEAST 5u

/* Not needed if data are waiting to be sent. */
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
        link->silent = 0; /* stalled: this side does not read */
    else if (++link->silent > BEATS) {
        snprintf(why, sizeof why, "nothing was received for %g s", link->links->heartbeat_ms / 1e3);
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
