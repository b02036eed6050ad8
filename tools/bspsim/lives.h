/* lives.h - when the hosts of a simulated job are up: drawn, or from a trace.
 *
 * Each host has lives, one after the other.  A drawn life begins after the previous one and the
 * time of repair; without a time of repair at once, as if a spare host took over.  The lives of a
 * host depend on seed, job and host only.  At the beginning all hosts are new.
 *
 * If the rate doubles, lives elapse in a time that runs twice as fast after every `doubling`:
 * exponential lives then have the rate mu 2^(t / doubling).
 */
#ifndef BSPSIM_LIVES_H
#define BSPSIM_LIVES_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/bspsim/chance.h"
#include "tools/bspsim/trace.h"

#define LIVES_FOR_EVER  TRACE_FOR_EVER
#define LIVES_HOSTS_MAX TRACE_HOSTS_MAX

enum lives_kind { LIVES_EXPONENTIAL, LIVES_WEIBULL, LIVES_LOGNORMAL, LIVES_TRACE };

struct lives_law {
    enum lives_kind kind;
    double
        mean; /* seconds; infinite: hosts do not fail; ignored for traces, as are the next three */
    double shape;              /* of Weibull lives; sigma of log-normal ones */
    double doubling;           /* seconds in which the rate doubles; 0: constant */
    uint64_t repair_ns;        /* until a host comes back; 0: it is replaced at once */
    const struct trace *trace; /* not owned */
};

struct lives_host {
    uint64_t up_ns, down_ns; /* the present or next life; up_ns LIVES_FOR_EVER: none */
    struct chance chance;
    uint32_t next; /* life of the trace */
    bool used;     /* by the job, which sets it */
};

struct lives {
    const struct lives_law *law;
    struct lives_host *hosts;
    uint32_t count;
};

/* Makes `count` hosts, of a trace its first ones; false: no memory.  Free with lives_free.  The
 * caller owns `law`.  There are no lives before lives_begin. */
bool lives_make(const struct lives_law *law, uint32_t count, struct lives *lives);
void lives_free(struct lives *lives);

/* Begins the lives for another job. */
void lives_begin(struct lives *lives, uint64_t seed, uint64_t job);

/* Goes to the host's next life. */
void lives_next(struct lives *lives, uint32_t host);

/* The rate of failures of one host at that time, per second; 0 when that depends on its age or is
 * unknown, as for all but exponential lives. */
double lives_rate(const struct lives_law *law, uint64_t now_ns);

#endif
