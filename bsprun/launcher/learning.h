/* learning.h - failures observed by bsprun, Processor Zero's estimates, and messages about them.
 *
 * Happy path: the history of earlier jobs is read -> ELECT passes it to Processor Zero -> SAVED,
 * STATUS and ENDED return its estimates.
 *
 * What can fail: the kind of a loss is inferred from how it was noticed (evidence.h); a host whose
 * agent cannot be restarted counts as lost.
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
    bool *agent_ended;  /* by host: its agent has ended, possibly with the host */
    uint32_t processes; /* 0: not known yet */
    double most_hosts;  /* of any term */
    uint64_t told_interval_ns;
    uint32_t told_why; /* plus 1; 0: nothing was told */
    bool hardly_told;
};

/* Reads the history of earlier jobs. 0 or -ENOMEM. */
int learning_open(struct learning *learning, struct common *common, const struct agents *agents,
                  const struct job_machine *machine, const struct account *account);
void learning_free(struct learning *learning); /* after the loop; also when all is zero */

/* To be called before the set of live hosts changes: adds the time up to now. */
void learning_watch(struct learning *learning);
/* The host's agent is up. */
void learning_up(struct learning *learning, const struct launcher_agent *agent);
/* A loss; agent NULL: a process, or no host in particular.  To be called before the job machine
 * handles it. */
void learning_saw(struct learning *learning, const struct launcher_agent *agent,
                  enum evidence_loss how);
/* A host is lost that was about to join: that costs the job nothing, and it is not watched. */
void learning_saw_no_joiner(struct learning *learning, const struct launcher_agent *agent);
/* The agent cannot be restarted: the host was lost, not only its agent. */
void learning_saw_no_agent(struct learning *learning, const struct launcher_agent *agent);
/* A term begins with so many hosts: fills in ELECT; lists are in `room` until the next call. */
void learning_elect(struct learning *learning, uint32_t members, struct evidence_room *room,
                    struct wire_elect *elect);
/* So many processes run, again or for the first time. */
void learning_running(struct learning *learning, uint32_t processes);
/* A snapshot is committed, with images of so many bytes. */
void learning_saved(struct learning *learning, uint64_t bytes);
/* All know that, and the processes go on: without hosts whose agents have not come again. */
void learning_known(struct learning *learning);
/* Takes the estimates of Processor Zero of that term. */
void learning_take(struct learning *learning, uint32_t term, const struct wire_learned *learned);
/* The job is over; preempted: its hosts were taken away. */
void learning_end(struct learning *learning, bool preempted);

/* The pointers are valid as long as `learning`. */
struct learned_facts learning_facts(const struct learning *learning);
/* For the report; to be freed; NULL: no memory. */
char *learning_table(const struct learning *learning);

#endif
