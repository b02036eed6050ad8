/* guest.h - the job is a guest on a host that has an owner: while that one is active its processes
 * are slowed, stopped, or leave, by the policy of --owner-policy.
 *
 * The agent decides for itself whether to slow or stop them, and tells bsprun; whether they can
 * leave bsprun decides. */
#ifndef BSPRUN_AGENT_GUEST_H
#define BSPRUN_AGENT_GUEST_H

#include <stdint.h>

struct agent;
struct wire_start;

/* Watches the owner from now on, if there is a policy: a look a second. 0 or -ENOMEM. */
int agent_guest_begin(struct agent *agent, const struct wire_start *start);
/* bsprun says what is done while the owner is active: enum wire_act. */
void agent_guest_order(struct agent *agent, uint32_t act);
void agent_guest_close(struct agent *agent);

#endif
