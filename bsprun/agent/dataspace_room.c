/* dataspace_room.c - the room for objects and answers, and what is said when there is none; see
 * dataspace_inside.h. */
#include <stdio.h>

#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/order.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/dataspace_inside.h"
#include "bsprun/agent/snapshot/memory.h"
#include "bsprun/agent/spill.h"
#include "bsprun/dataspace/object.h"
#include "bsprun/verdict.h"
#include "lib/base/temporary.h"

#define LOG_PART   4u /* of the memory for objects */
#define LOG_MOST   (UINT64_C(1) << 30)
#define FILE_LEAST 16384u /* bytes of an object that may go to a file */

static void *on_map(void *context, uint64_t size)
{
    return spill_map(context, size);
}

static void on_unmap(void *context, void *at, uint64_t size)
{
    spill_unmap(context, at, size);
}

/* Bytes of objects that this host may have in memory. */
static uint64_t memory_bound(const struct agent *agent)
{
    uint64_t available = memory_available();

    if (agent_order(agent)->dataspace_memory > 0)
        return agent_order(agent)->dataspace_memory;
    return available == UINT64_MAX ? available : available / 2;
}

uint64_t objects_log_bound(const struct agent *agent)
{
    uint64_t bound = memory_bound(agent) / LOG_PART;

    return bound < LOG_MOST ? bound : LOG_MOST;
}

bool objects_room_open(const struct agent *agent, struct agent_dataspace *shell)
{
    static const struct pool_files files = {.map = on_map, .unmap = on_unmap};

    shell->spill = spill_open();
    if (shell->spill)
        shell->pool =
            pool_open(memory_bound(agent), FILE_LEAST, OBJECT_ENTRY, &files, shell->spill);
    return shell->pool != NULL;
}

void objects_room_close(struct agent_dataspace *shell)
{
    pool_close(shell->pool);
    spill_close(shell->spill);
}

struct failure objects_no_room(const struct pool *pool, uint32_t pid, uint64_t bytes)
{
    return (struct failure){.known = true,
                            .pid = pid,
                            .bytes = bytes,
                            .stays = pool_is_used_up(pool, bytes),
                            .in_memory = pool_in_memory(pool) + pool_beside(pool),
                            .in_file = pool_in_file(pool)};
}

/* Where there was no room, and what would give some. */
static void say_where(const struct failure *failure, char *text, size_t size)
{
    if (failure->stays)
        snprintf(
            text, size,
            ": objects of less than %u bytes and all tags stay in memory, where they take %llu "
            "bytes; give more with --dataspace-memory",
            FILE_LEAST, (unsigned long long)failure->in_memory);
    else
        snprintf(text, size,
                 ", neither in memory (--dataspace-memory), where %llu bytes are, nor in %s, where "
                 "%llu are",
                 (unsigned long long)failure->in_memory, bspz_temporary_root(),
                 (unsigned long long)failure->in_file);
}

void objects_end_job(struct agent *agent, const struct failure *failure)
{
    struct verdict verdict = {.cause = WIRE_CAUSE_INTERNAL, .status = 1};
    char where[384];

    say_where(failure, where, sizeof where);
    snprintf(verdict.text, sizeof verdict.text,
             "no room on host %s for an object of %llu bytes in the dataspace (pid %u)%s",
             agent_host_name(agent), (unsigned long long)failure->bytes, failure->pid, where);
    agent_abort(agent, COORD_NOBODY, &verdict);
}
