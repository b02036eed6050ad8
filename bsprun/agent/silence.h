/* silence.h - what an agent concludes from not hearing bsprun; pure, the times are given.
 *
 * bsprun lets others take a host's processes over when the full bound has passed on its clock since
 * it gave the host up and cut the connection (net_cut): nothing that it sent before comes much
 * later.  The agent has ended them by then, if
 *
 *     ratio * (2/3 + 1/12 of the bound, 2 ms, and delays)  <=  the bound
 *
 * where ratio is how much faster bsprun's clock runs than the agent's, and delays is the sum of
 * what the last message took until it was read, by how much the two looks came late, and what it
 * took to end the processes.  With clocks alike, delays may be nearly a quarter of the bound; with
 * a ratio of 5/4, a twenty-fifth.  tests/sim/fence holds this code and bsprun's job machine
 * against that, and shows that it is not so with clocks that differ more.
 */
#ifndef BSPRUN_AGENT_SILENCE_H
#define BSPRUN_AGENT_SILENCE_H

#include <stdbool.h>
#include <stdint.h>

struct silence {
    uint32_t bound_ms; /* after which a host is lost */
    uint64_t heard_ns;
    bool looked;  /* once more, and there was nothing */
    bool cut_off; /* since cut_off_ns */
    uint64_t cut_off_ns;
};

enum silence_step {
    SILENCE_WAIT,       /* look again after silence_period_ms */
    SILENCE_LOOK_AGAIN, /* after SILENCE_MOMENT_MS, when what has come meanwhile was read */
    SILENCE_CUT_OFF,    /* end the processes; then as WAIT */
    SILENCE_LEAVE,      /* this agent was given up */
};

#define SILENCE_MOMENT_MS 1u

/* bound_ms > 0. */
void silence_begin(struct silence *silence, uint32_t bound_ms, uint64_t now_ns);
void silence_heard(struct silence *silence, uint64_t now_ns);
uint64_t silence_period_ms(const struct silence *silence);

/* unheard_ms: since bsprun's kernel was heard of, which may answer for a bsprun that is stopped;
 * -1: not known, or there is no connection. */
enum silence_step silence_look(struct silence *silence, uint64_t now_ns, int64_t unheard_ms);

#endif
