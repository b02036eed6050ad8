/* quiet.h - tells Processor Zero when all processes of this host wait for objects of the dataspace,
 * for messages of MPI, or for others at a barrier; coordinator/core/quiet.c decides whether that can ever end.
 */
#ifndef BSPRUN_AGENT_QUIET_H
#define BSPRUN_AGENT_QUIET_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct agent;
struct bspz_post; /* lib/shm/mail.h */
struct dataspace; /* bsprun/dataspace/service.h */

/* Messages MAIL_READ to and from other hosts. */
struct agent_quiet_reports {
    uint64_t sent, received;
};

/* The dataspace of the term exists: looks at the processes from time to time, and at it with that
 * lock held.  NULL: it does not exist any more.  False: no memory. */
bool agent_quiet_watch(struct agent *agent, const struct dataspace *space, pthread_mutex_t *lock);
/* The same for messages of MPI; reports are kept up to date by the caller. */
bool agent_quiet_watch_mail(struct agent *agent, const struct bspz_post *post,
                            const struct agent_quiet_reports *reports);
/* ASK_QUIET. */
void agent_quiet_answer(struct agent *agent, uint64_t round);

#endif
