/* evidence.h - what bsprun sees of failures, for Processor Zero of the next term.
 *
 * Processor Zero learns while its term lasts and tells bsprun now and then what it has learned.  The
 * failure that ends a term is seen by bsprun, for Processor Zero may be gone with it.  What bsprun has
 * seen since the newest word of Processor Zero goes with the next election; until Processor Zero of
 * that term has spoken, it is kept, and told again.
 *
 * Pure: times are given, in milliseconds of CLOCK_MONOTONIC, which stands still while the machine
 * sleeps, and of CLOCK_BOOTTIME, which does not: that is how a sleep is noticed.  No other clock
 * counts, so clocks that are set do no harm.
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
    EVIDENCE_AGENT_ENDED, /* an agent; its kernel closed the connection, or it is of this host */
    EVIDENCE_CUT,         /* the way to it, or it, does not answer any more */
    EVIDENCE_SILENT,      /* nothing was heard of it for the heartbeat */
    EVIDENCE_LINK,        /* two that both answer do not hear each other, or one does not hear us */
};

struct evidence_time {
    uint64_t monotonic_ms, boot_ms;
};

struct evidence {
    struct estimate estimate; /* the newest that Processor Zero has told, or what was known before */
    struct coord_seen seen;   /* since then */
    uint32_t handed[ESTIMATE_KINDS]; /* of the failures in it, with the election of: */
    uint32_t handed_term;            /* 0: none is on its way */
    uint64_t interval_ns;            /* in force; WIRE_NEVER */
    uint32_t why;                    /* enum wire_why */
    bool told;                       /* Processor Zero has said so */

    struct evidence_time watched;
    uint64_t woke_ms;                       /* when a sleep of this machine was noticed; 0: never */
    uint64_t counted_ms[ESTIMATE_KINDS];    /* when one of the kind was counted last; 0: never */
    bool recovering;                        /* the processes do not run, by a failure: */
    enum estimate_kind kind;
    uint64_t ceased_ms; /* since when, the silence before it was noticed included */
};

void evidence_begin(struct evidence *evidence, const struct estimate *prior,
                    struct evidence_time now);

/* Until now there were so many hosts and running processes. */
void evidence_watch(struct evidence *evidence, double hosts, double processes,
                    struct evidence_time now);

/* What kind of failure that is.  silence_ms: since the last word of it; bound_ms: the heartbeat.  What
 * happens to other hosts soon after this one slept is its own doing: they were cut off. */
enum estimate_kind evidence_kind(const struct evidence *evidence, enum evidence_loss how,
                                 uint64_t silence_ms, uint64_t bound_ms, struct evidence_time now);

/* A failure, noticed now.  Failures of a kind within together_ms are one, and so are those of hosts
 * that are cut off and of agents that end by it: false, it does not count, but the recovery is from it. */
bool evidence_fault(struct evidence *evidence, enum estimate_kind kind, uint64_t silence_ms,
                    uint64_t together_ms, struct evidence_time now);

/* The newest failure of that kind was of the other.  False: it was told already, or there was none. */
bool evidence_change(struct evidence *evidence, enum estimate_kind from, enum estimate_kind to);

/* The processes run (again). */
void evidence_running(struct evidence *evidence);

/* Fills what ELECT of that term says of it; the lists are in `room` until the next call. */
struct evidence_room {
    struct wire_real numbers[ESTIMATE_NUMBERS];
    uint64_t failures[ESTIMATE_KINDS];
};
void evidence_elect(struct evidence *evidence, uint32_t term, struct evidence_time now,
                    struct evidence_room *room, struct wire_elect *elect);

/* Processor Zero of that term has told this.  False: it makes no sense, or there is none. */
bool evidence_take(struct evidence *evidence, uint32_t term, struct wire_real_list numbers,
                   uint64_t interval_ns, uint32_t why);

/* All that is known. */
struct estimate evidence_estimate(const struct evidence *evidence);

#endif
