/* known.h - what this host knows of the decisions of Processor Zero in the term: for the one that
 * takes the place of another (succession.h).
 *
 * From the account it gives of that until the new one answers, it tells Processor Zero nothing
 * else; what it would have said is said again then.  But copies that it keeps for other hosts may
 * be of a snapshot that the new one has begun, which those hosts know sooner.
 */
#ifndef BSPRUN_AGENT_KNOWN_H
#define BSPRUN_AGENT_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

struct agent;
struct wire_message; /* lib/wire/wire.h */

struct known {
    uint64_t decided; /* supersteps up to the newest barrier that is decided; 0: none */
    uint64_t next;    /* the next one, as named then, by RUN or by HALT; WIRE_NEVER: not known */
    bool ended;       /* the newest one is that of bsp_end */
    bool ready;       /* the processes of this host are, for RUN */
    bool runs;        /* RUN has come */
};

/* ---- Pure: known_facts.c ---- */

/* The barrier of a superstep is decided, and the processes go on. */
void known_decided(struct known *known, uint64_t superstep, uint64_t next, bool ended);

/* Processes are asked to stop at calls (HALT): the barrier there is the next one to be decided,
 * which the decision of the one before has not named. */
void known_asked(struct known *known, uint64_t superstep);

/* A barrier that was decided. */
struct known_barrier {
    uint64_t superstep, next; /* as in known_decided */
    bool ended;
};
#define KNOWN_MISSED_MOST 2u

struct wire_taken_over; /* lib/wire/wire.h */

/* What a former Processor Zero has decided, as another one says, and this host has not heard: it
 * would have asked at the next barrier it knows of, and may pass all up to the newest one.  In
 * order; returns how many. */
unsigned known_missed(const struct known *known, const struct wire_taken_over *taken,
                      struct known_barrier missed[KNOWN_MISSED_MOST]);
/* The host has heard of those it had missed: it is the only one that knows, if that Processor Zero
 * is lost, too. */
void known_caught_up(struct known *known, const struct wire_taken_over *taken);

/* Whether a message of that kind may be sent while the account is not answered. */
bool known_lets(uint32_t kind);

/* ---- In an agent ---- */

/* For the whole job: 0 or -ENOMEM. */
int agent_known_open(struct agent *agent);
void agent_known_free(struct agent *agent);
struct known agent_known(const struct agent *agent);
/* An account was given, or it is answered. */
void agent_known_wait(struct agent *agent, bool waits);
/* The last request for the end of the job, which belongs to this module; NULL: none. */
struct wire_message *agent_known_abort(const struct agent *agent);

/* A term begins. */
void agent_known_begin(struct agent *agent);
/* The processes are ready; RUN; the barrier of a superstep is decided, and the processes go on. */
void agent_known_ready(struct agent *agent);
void agent_known_run(struct agent *agent, uint64_t next);
void agent_known_decided(struct agent *agent, uint64_t superstep, uint64_t next, bool ended);
void agent_known_asked(struct agent *agent, uint64_t superstep);
void agent_known_caught_up(struct agent *agent, const struct wire_taken_over *taken);
/* Whether the message may be sent to Processor Zero now. */
bool agent_known_lets(struct agent *agent, const struct wire_message *message);

#endif
