/* silence.h - what an agent concludes from the silence of bsprun; pure, times are arguments.
 *
 * bsprun lets others take over a host's processes when the full bound has passed on its clock since
 * it gave the host up and cut the connection (net_cut); messages that it sent before do not arrive
 * much later.  The agent has ended them by then, if
 *
 *     ratio * (2/3 + 1/12 of the bound, 2 ms, and delays)  <=  the bound
 *
 * where ratio is the speed of bsprun's clock relative to the agent's, and delays is the sum of the
 * time until the last message was read, the lateness of the two checks, and the time to end the
 * processes.  With equal clocks, delays may be nearly a quarter of the bound; with a ratio of 5/4,
 * a twenty-fifth.  tests/sim/fence checks this code and bsprun's job machine against that, and
 * shows that it fails with clocks that differ more.
 */
#ifndef BSPRUN_AGENT_SILENCE_H
#define BSPRUN_AGENT_SILENCE_H

#include <stdbool.h>
#include <stdint.h>

struct silence {
    uint32_t bound_ms; /* after which a host is lost */
    uint64_t heard_ns;
    bool looked;  /* checked once more without a message */
    bool cut_off; /* since cut_off_ns */
    uint64_t cut_off_ns;
};

enum silence_step {
    SILENCE_WAIT,       /* check again after silence_period_ms */
    SILENCE_LOOK_AGAIN, /* check again after SILENCE_MOMENT_MS, when pending messages have been read
                         */
    SILENCE_CUT_OFF,    /* end the processes; then as WAIT */
    SILENCE_LEAVE,      /* this agent was given up */
};

#define SILENCE_MOMENT_MS 1u

/* bound_ms > 0. */
void silence_begin(struct silence *silence, uint32_t bound_ms, uint64_t now_ns);
void silence_heard(struct silence *silence, uint64_t now_ns);
uint64_t silence_period_ms(const struct silence *silence);

/* unheard_ms: since the last answer of bsprun's kernel, which also answers for a stopped bsprun;
 * -1: unknown, or no connection. */
enum silence_step silence_look(struct silence *silence, uint64_t now_ns, int64_t unheard_ms);

#endif
