/* learning.h - failures as bsprun sees them, what Processor Zero makes of them, and what the user
 * is told of it.
 *
 * Happy path: what earlier jobs saw is read -> ELECT takes it to Processor Zero -> SAVED, STATUS
 * and ENDED bring back what it has learned.
 *
 * What can fail: a loss is seen, and of what kind it is decided by how it was noticed (evidence.h);
 * a host whose agent cannot be started again was lost after all.
 */
#ifndef BSPRUN_LEARNING_H
#define BSPRUN_LEARNING_H

#include "bsprun/launcher/account.h"
#include "bsprun/launcher/job_history.h"
#include "bsprun/launcher/job_machine.h"
#include "bsprun/status/learned_text.h"

struct learning {
    struct common *common;
    const struct agents *agents;
    const struct job_machine *machine;
    const struct account *account;
    struct evidence evidence;
    struct job_history history;
    bool *agent_ended;  /* of each host: its agent has, which may have been the host's end */
    uint32_t processes; /* 0: not known yet */
    double most_hosts;  /* of any term */
    uint64_t told_interval_ns;
    uint32_t told_why; /* plus 1; 0: nothing was told */
    bool hardly_told;
};

/* Reads what earlier jobs saw.  0 or -ENOMEM. */
int learning_open(struct learning *learning, struct common *common, const struct agents *agents,
                  const struct job_machine *machine, const struct account *account);
void learning_free(struct learning *learning); /* after the loop; also when all is zero */

/* Before anything changes in who lives: the time up to now counts. */
void learning_watch(struct learning *learning);
/* The host's agent has come. */
void learning_up(struct learning *learning, const struct launcher_agent *agent);
/* Something was lost; agent NULL: a process, or no host in particular.  Before the job machine
 * knows of it. */
void learning_saw(struct learning *learning, const struct launcher_agent *agent,
                  enum evidence_loss how);
/* No agent can be started there again: it was not the agent alone that was lost. */
void learning_saw_no_agent(struct learning *learning, const struct launcher_agent *agent);
/* A term begins, with so many hosts: what ELECT tells of it, in `room` until the next call. */
void learning_elect(struct learning *learning, uint32_t members, struct evidence_room *room,
                    struct wire_elect *elect);
/* So many processes run (again). */
void learning_running(struct learning *learning, uint32_t processes);
/* A snapshot is committed, with images of so many bytes. */
void learning_saved(struct learning *learning, uint64_t bytes);
/* What Processor Zero says in that term that it has learned. */
void learning_take(struct learning *learning, uint32_t term, struct wire_real_list estimate,
                   uint64_t interval_ns, uint32_t why);
/* The job is over; preempted: somebody else wanted its hosts. */
void learning_end(struct learning *learning, bool preempted);

/* What it points to stays as long as the learning does. */
struct learned_facts learning_facts(const struct learning *learning);
/* For the report; to be freed; NULL: no memory. */
char *learning_table(const struct learning *learning);

#endif
