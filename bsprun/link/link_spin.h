/* link_spin.h - whether the thread of the bell polls the connections when all ranks of this host
 * wait for others, and for how long; pure.
 *
 * Over links on which an answer takes longer than the thread polls, it polls in vain each time,
 * which costs more processor time than all else that an agent does in a superstep.  So after
 * a few times in a row it only looks once whether what is waited for is there, at more and more
 * barriers, before it polls again. */
#ifndef BSPRUN_LINK_SPIN_H
#define BSPRUN_LINK_SPIN_H

#include <stdbool.h>
#include <stdint.h>

#define LINK_SPIN_PAUSE 30u /* barriers to leave to the loop when others need the processor */
#define LINK_SPIN_FEW   4u  /* so often in vain is chance */
#define LINK_SPIN_MOST  31u /* barriers with one look */

/* Begins with all zero but spin_ns. */
struct link_spin {
    uint64_t spin_ns; /* how long without anything that comes; 0: the loop reads everything */
    unsigned pause;   /* barriers to leave to the loop */
    unsigned vain;    /* in a row */
    unsigned looks;   /* barriers at which it looks once */
};

/* At a barrier: whether it polls.  *quiet_ns: until nothing has come for so long; 0: it looks once.
 */
static inline bool link_spin_begin(struct link_spin *spin, uint64_t *quiet_ns)
{
    if (spin->spin_ns == 0)
        return false;
    if (spin->pause > 0) {
        spin->pause--;
        return false;
    }
    *quiet_ns = spin->looks > 0 ? 0 : spin->spin_ns;
    if (spin->looks > 0)
        spin->looks--;
    return true;
}

/* What was waited for has come. */
static inline void link_spin_came(struct link_spin *spin)
{
    spin->vain = spin->looks = 0;
}

/* Nothing has come for quiet_ns. */
static inline void link_spin_in_vain(struct link_spin *spin, uint64_t quiet_ns)
{
    unsigned beyond;

    if (quiet_ns == 0)
        return;
    spin->vain++;
    beyond = spin->vain > LINK_SPIN_FEW ? spin->vain - LINK_SPIN_FEW : 0;
    spin->looks = beyond < 5 ? (1u << beyond) - 1 : LINK_SPIN_MOST;
}

/* Another process had the processor meanwhile. */
static inline void link_spin_disturbed(struct link_spin *spin)
{
    spin->pause = LINK_SPIN_PAUSE;
}

#endif
