/* link_follow.c - chooses the processor of the thread of the bell; see link_inside.h.
 *
 * The rank that rings is about to sleep: its processor is awake and free at once, while any other
 * one may have to be woken, which takes longer than everything else in a superstep.  So the thread
 * binds itself there.  If ranks ring from different processors in turn it stays on its own, and it
 * leaves that when another process needs it.
 */
#include <sched.h>

#include "bsprun/link/link_inside.h"

static bool is_allowed(struct link_bell *bell, int32_t processor)
{
    if (!bell->allowed_known && sched_getaffinity(0, sizeof bell->allowed, &bell->allowed) != 0)
        CPU_ZERO(&bell->allowed); /* more processors than the set can hold: it is not bound */
    bell->allowed_known = true;
    return CPU_ISSET((unsigned)processor - 1, &bell->allowed);
}

void link_follow(struct link_bell *bell, int32_t rung_on)
{
    int32_t before = bell->rung_on;
    cpu_set_t one;

    bell->rung_on = rung_on;
    if (rung_on <= 0 || rung_on == bell->bound_to || rung_on != before ||
        !is_allowed(bell, rung_on))
        return;
    CPU_ZERO(&one);
    CPU_SET((unsigned)rung_on - 1, &one);
    if (sched_setaffinity(0, sizeof one, &one) == 0)
        bell->bound_to = rung_on;
}

void link_follow_no_more(struct link_bell *bell)
{
    if (bell->bound_to > 0)
        sched_setaffinity(0, sizeof bell->allowed, &bell->allowed);
    bell->bound_to = bell->rung_on = 0;
}
