/* shown.c - see shown.h. */
#include "tests/sim/cells/shown.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/launcher/first_output.h"
#include "bsprun/launcher/order.h"
#include "tests/sim/timeline.h"

#define PIDS 64u
#define LINE 8u /* bytes */

static struct {
    struct timeline *timeline;
    struct spool *spool;
    struct order *order;
    struct first_output *first;
    uint32_t term;
    uint64_t next[PIDS]; /* of each process: the superstep of its next line */
    uint64_t newest;     /* superstep of which something was shown */
} world;

static uint64_t count;

bool shown_writes(uint32_t pid, uint64_t superstep)
{
    return (superstep * 7 + pid * 13) % 5 < 3;
}

static uint64_t after(uint32_t pid, uint64_t superstep)
{
    while (!shown_writes(pid, superstep))
        superstep++;
    return superstep;
}

static void show(void *context, int pid, int stream, const char *data, size_t size)
{
    uint64_t superstep;

    (void)context;
    if (pid < 0 || (uint32_t)pid >= PIDS || stream != 1 || size != LINE)
        timeline_fail(world.timeline, "%zu bytes are shown of process %d", size, pid);
    memcpy(&superstep, data, sizeof superstep);
    if (superstep != world.next[pid])
        timeline_fail(world.timeline,
                      "process %d: the line of superstep %" PRIu64 " is shown when that of %" PRIu64
                      " is next",
                      pid, superstep, world.next[pid]);
    if (superstep < world.newest)
        timeline_fail(world.timeline, "superstep %" PRIu64 " is shown after %" PRIu64, superstep,
                      world.newest);
    world.newest = superstep;
    world.next[pid] = after((uint32_t)pid, superstep + 1);
    count++;
}

static void marked(void *context, struct bspz_snapshot_name name)
{
    (void)context;
    (void)name;
}

static void lost(void *context, int error)
{
    (void)context;
    timeline_fail(world.timeline, "output cannot be kept: %d", error);
}

static int no_file(void *context)
{
    (void)context;
    return -1;
}

void shown_begin(struct timeline *timeline, uint32_t hosts, uint32_t term)
{
    static const struct order_calls calls = {show, marked, lost};

    memset(&world, 0, sizeof world);
    world.timeline = timeline;
    world.term = term;
    world.spool = spool_new(1u << 20, no_file, NULL);
    world.order = world.spool ? order_new(hosts, world.spool, &calls, NULL) : NULL;
    if (!world.order)
        timeline_fail(timeline, "no memory");
    order_begin(world.order);
    for (uint32_t host = 0; host < hosts; host++)
        order_join(world.order, host);
    for (uint32_t pid = 0; pid < PIDS; pid++)
        world.next[pid] = after(pid, 0);
}

void shown_end(void)
{
    order_free(world.order);
    spool_free(world.spool);
    first_output_begin(&world.first);
}

void shown_replica(uint32_t host, uint32_t lead)
{
    order_replica(world.order, host, lead);
}

void shown_line(uint32_t host, uint32_t pid, uint64_t superstep)
{
    char line[LINE];
    size_t fresh = first_output_take(&world.first, host, (int)pid, 1, sizeof line);

    memcpy(line, &superstep, sizeof superstep);
    if (fresh > 0)
        order_piece(world.order, host, superstep, (int)pid, 1, line + sizeof line - fresh, fresh);
}

void shown_mark(uint32_t host, uint64_t snapshot)
{
    order_mark(world.order, host, (struct bspz_snapshot_name){snapshot, world.term});
}

void shown_passed(uint32_t host, uint64_t superstep)
{
    order_passed(world.order, host, superstep);
}

void shown_idle(uint32_t host)
{
    order_leave(world.order, host);
}

void shown_lost(uint32_t host)
{
    order_lose(world.order, host);
}

bool shown_asks(uint64_t *superstep)
{
    return order_asks(world.order, superstep);
}

void shown_check(uint32_t processes, uint64_t last, bool whole)
{
    for (uint32_t pid = 0; whole && pid < processes; pid++)
        if (world.next[pid] <= last)
            timeline_fail(world.timeline,
                          "process %u: the line of superstep %" PRIu64 " of %" PRIu64
                          " is not shown at the end",
                          pid, world.next[pid], last);
    order_flush(world.order);
}

uint64_t shown_count(void)
{
    return count;
}
