/* view.h - what can be seen of the owner of this host, without privileges: input, the processes of
 * other users, the battery. */
#ifndef BSPRUN_AGENT_OWNER_VIEW_H
#define BSPRUN_AGENT_OWNER_VIEW_H

#include <sys/types.h>

#include "bsprun/agent/owner/activity.h"

struct owner_view;

/* root: the directory in which var/run/utmp, dev, proc, sys and etc/login.defs are; "": those of
 * this host.  own: the user whose processes are none of others.  bsprun: the process whose
 * terminals do not count; 0: it is on another host.  NULL: no memory. */
struct owner_view *owner_view_new(const char *root, uid_t own, pid_t bsprun);
void owner_view_free(struct owner_view *view); /* NULL is fine */

/* Takes a look; what cannot be read counts as no sign.  Costs a stat() for each process of the
 * host, and a read for each one of another user: 0.7 ms where there are 130. */
void owner_view_look(struct owner_view *view, uint64_t now_ms, struct owner_sample *sample);

#endif
