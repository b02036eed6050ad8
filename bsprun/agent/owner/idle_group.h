/* idle_group.h - a control group whose processes get what the others of the machine leave of the
 * processors: cpu.idle, which, in contrast to the policy SCHED_IDLE, can be taken back without
 * privileges. */
#ifndef BSPRUN_AGENT_OWNER_IDLE_GROUP_H
#define BSPRUN_AGENT_OWNER_IDLE_GROUP_H

#include <stdbool.h>
#include <sys/types.h>

struct idle_group;

/* Makes an empty group below that of this process, or beside it; of version 2, where that is
 * delegated to the user, or of version 1.  Removes those that killed agents have left there.  root:
 * as of owner_view_new.  NULL: it cannot be made, or has no cpu.idle: then processes must be slowed
 * otherwise. */
struct idle_group *idle_group_new(const char *root);
/* Has the process in it, if it lives, with what it forks from now on.  False: that is not
 * allowed. */
bool idle_group_add(const struct idle_group *group, pid_t pid);
/* Whether its processes give way to all others.  False: that could not be set. */
bool idle_group_set(const struct idle_group *group, bool idle);
/* Removes it, if no process is in it any more or will be in a moment; NULL is fine. */
void idle_group_free(struct idle_group *group);

#endif
