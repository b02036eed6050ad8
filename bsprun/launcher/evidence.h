/* evidence.h - bsprun's observations of failures, for Processor Zero of the next term.
 *
 * Processor Zero makes estimates during its term and reports them to bsprun from time to time.
 * bsprun observes the failure that ends a term, as Processor Zero may be lost with it.
 * Observations since the last report of Processor Zero are passed on with the next election; they
 * are kept, and passed on again, until Processor Zero of that term has reported.
 *
 * Pure: times are arguments, in milliseconds of CLOCK_MONOTONIC, which stops while the machine is
 * suspended, and of CLOCK_BOOTTIME, which does not: the difference reveals a suspension.  Setting
 * the clock does no harm.
 */
#ifndef BSPRUN_EVIDENCE_H
#define BSPRUN_EVIDENCE_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/core/learn.h"
#include "lib/wire/wire.h"

/* How a host or an agent was lost. */
enum evidence_loss {
    EVIDENCE_RANK_DIED,   /* a process, by a signal */
    EVIDENCE_AGENT_ENDED, /* an agent; its kernel closed the connection, or it is on this host */
    EVIDENCE_CUT,         /* the host, or the network to it, no longer answers */
    EVIDENCE_SILENT,      /* silent for the heartbeat */
    EVIDENCE_LINK, /* two hosts that answer do not hear each other, or one does not hear bsprun */
};

struct evidence_time {
    uint64_t monotonic_ms, boot_ms;
};

struct evidence {
    struct estimate estimate; /* the last one of Processor Zero, or the prior */
    struct coord_seen seen;   /* since then */
    uint32_t
        handed[ESTIMATE_KINDS]; /* failures in `seen` that were passed on with the election of */
    uint32_t handed_term;       /* this term; 0: none */
    uint64_t interval_ns;       /* in force; WIRE_NEVER */
    uint32_t why;               /* enum wire_why */
    bool told;                  /* reported by Processor Zero */

    struct evidence_time watched;
    uint64_t woke_ms; /* when a suspension of this machine was noticed; 0: never */
    uint64_t counted_ms[ESTIMATE_KINDS]; /* when one of the kind was last counted; 0: never */
    bool recovering;                     /* a failure has stopped the processes: */
    enum estimate_kind kind;
    uint64_t ceased_ms; /* since when, including the silence before it was noticed */
};

void evidence_begin(struct evidence *evidence, const struct estimate *prior,
                    struct evidence_time now);

/* Adds the time up to now of so many hosts and running processes. */
void evidence_watch(struct evidence *evidence, double hosts, double processes,
                    struct evidence_time now);

/* The kind of a failure.  silence_ms: since its last message; bound_ms: the heartbeat.  Failures of
 * other hosts soon after a suspension of this one are caused by that: they were cut off. */
enum estimate_kind evidence_kind(const struct evidence *evidence, enum evidence_loss how,
                                 uint64_t silence_ms, uint64_t bound_ms, struct evidence_time now);

/* Adds a failure noticed now.  Failures of a kind within together_ms count as one, as do those of
 * hosts that are cut off and of agents that end because of it: false, it does not count, but the
 * recovery is from it. */
bool evidence_fault(struct evidence *evidence, enum estimate_kind kind, uint64_t silence_ms,
                    uint64_t together_ms, struct evidence_time now);

/* Failures of that kind that were not passed on yet. */
uint32_t evidence_new(const struct evidence *evidence, enum estimate_kind kind);
/* Changes the kind of the newest of them.  False: there is none. */
bool evidence_change(struct evidence *evidence, enum estimate_kind from, enum estimate_kind to);

/* The processes run, again or for the first time. */
void evidence_running(struct evidence *evidence);

/* Fills in the fields of ELECT of that term; the lists are in `room` until the next call. */
struct evidence_room {
    struct wire_real numbers[ESTIMATE_NUMBERS];
    uint64_t failures[ESTIMATE_KINDS];
};
void evidence_elect(struct evidence *evidence, uint32_t term, struct evidence_time now,
                    struct evidence_room *room, struct wire_elect *elect);

/* Takes a report of Processor Zero of that term.  False: it is invalid or empty. */
bool evidence_take(struct evidence *evidence, uint32_t term, const struct wire_learned *learned);

/* The estimate with all observations. */
struct estimate evidence_estimate(const struct evidence *evidence);

#endif
