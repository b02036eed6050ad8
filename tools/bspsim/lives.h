/* lives.h - when the hosts of a simulated job are up: drawn, or as a trace says.
 *
 * Each host has lives, one after the other.  A life that is drawn begins when the one before has
 * ended and the time of repair is over; without a time of repair that is at once: another host
 * takes the place, as if hosts were plenty.  The lives of a host depend on seed, job and host only.
 * At the beginning all hosts come fresh.
 *
 * Where the rate doubles, life is counted in another time, which runs twice as fast with every
 * `doubling` that passes: for exponential lives that is a rate mu 2^(t / doubling).
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
    double mean;        /* seconds; infinite: hosts do not fail; not for traces, nor what follows */
    double shape;       /* of Weibull's; sigma of the log-normal one */
    double doubling;    /* seconds in which the rate doubles; 0: it stays */
    uint64_t repair_ns; /* until a host comes back; 0: it is replaced at once */
    const struct trace *trace; /* not owned */
};

struct lives_host {
    uint64_t up_ns, down_ns; /* the life that is now, or comes next; up_ns LIVES_FOR_EVER: none */
    struct chance chance;
    uint32_t next; /* life of the trace */
    bool used;     /* by the job, whose this is */
};

struct lives {
    const struct lives_law *law;
    struct lives_host *hosts;
    uint32_t count;
};

/* So many hosts, of a trace its first ones; false: no memory.  To be freed with lives_free.  law
 * stays with the caller.  Before lives_begin there are no lives. */
bool lives_make(const struct lives_law *law, uint32_t count, struct lives *lives);
void lives_free(struct lives *lives);

/* The first lives of another job. */
void lives_begin(struct lives *lives, uint64_t seed, uint64_t job);

/* The life after this one. */
void lives_next(struct lives *lives, uint32_t host);

/* The rate of failures of one host at that time, per second; 0 where that depends on its age, or is
 * not known: for all but exponential lives. */
double lives_rate(const struct lives_law *law, uint64_t now_ns);

#endif
