/* world.h - the made-up world of cells: see main.c.
 *
 * Calls go from main.c down: faults.c, takeover.c, bsprun.c, zero.c, then said.c and hosts.c, which
 * only plan what happens next.
 */
#ifndef SIM_CELLS_WORLD_H
#define SIM_CELLS_WORLD_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/core/coord.h"
#include "tests/sim/timeline.h"

#define HOSTS      12u
#define SUPERSTEPS 40u
#define TERM       3u
#define NEVER      UINT64_MAX
#define FOR_GOOD   1000000u /* longer than any job takes */

enum fault_kind {
    FAULT_KILLED,
    FAULT_STALLS,
    FAULT_SLOW,
    FAULT_ZERO,
    FAULT_CUT,
    FAULT_STOPPED, /* its processes: the agent goes on */
    FAULT_KINDS
};

extern const char *const cells_fault_names[FAULT_KINDS];

/* What a host knows of the barrier of a superstep. */
struct heard {
    bool told, snapshot, captures, resumed, end;
    uint64_t consult;
};

struct host {
    uint32_t id, cell; /* the index of the lead; HOSTS: none */
    uint32_t count, first;
    bool dead, silent; /* nothing more comes of it */
    bool doomed;       /* soon to be, as bsprun no longer hears it */
    bool over, running;
    uint64_t pace;          /* the most that a superstep takes */
    uint64_t stalled_until; /* nothing moves there before */
    uint64_t stopped_until; /* its processes do not */
    uint64_t superstep;
    bool here;               /* its processes have come to the end of that superstep */
    uint64_t consult;        /* the barrier at which it asks */
    bool asked;              /* it has sent ARRIVE for the present barrier */
    uint64_t held;           /* the barrier at which they wait though they do not ask; 0: none */
    bool captured;           /* it has written its images and waits for RESUME */
    uint64_t reached[HOSTS]; /* supersteps + 1 of that host whose data it has got */
    uint64_t link_free[2];   /* when the last message to, from Processor Zero arrives */
    struct heard heard[SUPERSTEPS + 2];
    uint64_t decided, next; /* as in ACCOUNT: supersteps decided, and what was named with that */
    bool ended, told_to_run, made; /* its processes are, of snapshot 0 */
    uint64_t committed;            /* + 1 */
    uint32_t era;                  /* whom it obeys */
    bool waits;                    /* for that one's TAKEN_OVER */
    bool cut;              /* what Processor Zero said before it died has not come this far */
    uint32_t left;         /* how many of its processes have ended */
    bool noticed;          /* bsprun knows that it is lost */
    uint64_t line_free[2]; /* when the last message to, from bsprun arrives */
    uint64_t asked_passed; /* superstep + 1 of which bsprun wants to know; 0: none */
    bool cut_off;          /* bsprun hears nothing more of it */
    bool wrote_all;        /* bsprun has all that it has written up to bsp_end */
};

/* Those of the term, one after the other. */
struct zero {
    struct coord *coord;
    uint32_t host;
    bool dead, unheard; /* with its host; bsprun does not listen to it */
    bool finished;
    unsigned timers[COORD_TIMER_COUNT]; /* settings */
};

enum action_kind {
    DO_READY,
    DO_MADE,
    DO_ARRIVE,
    DO_TO_ZERO,
    DO_TO_HOST,
    DO_DATA,
    DO_TIMER,
    DO_CLOSED,
    DO_LOSS,
    DO_TAKE_OVER,
    DO_FAULT,
    DO_TO_BSPRUN,
    DO_ASK_PASSED,
    DO_CONTINUE
};

/* What a host tells bsprun. */
enum told { TOLD_LINE, TOLD_MARK, TOLD_PASSED, TOLD_IDLE, TOLD_LEADS };

struct action {
    struct moment moment;
    enum action_kind kind;
    uint32_t host, number, era;
    uint64_t superstep;
    struct wire_message message; /* without lists */
    bool captures;               /* of RELEASE: the host is in that list */
    enum told told;
};

struct world {
    struct timeline time;
    struct zero zeros[HOSTS + 1];
    uint32_t era; /* the last of them */
    struct coord_config config;
    struct wire_host listed[HOSTS];
    uint32_t host_count, replicas, processes;
    struct replica_counts counts; /* count 0: all processes have `replicas` */
    uint64_t supersteps;          /* the last one, which ends with bsp_end */
    struct host hosts[HOSTS];
    bool finished, by_death, closed;
    bool ran;           /* RUN was said */
    bool placed;        /* bsprun knows that all hosts have snapshot 0 */
    bool stopped, well; /* some processes were; it has ended as it should */
    bool housing_known; /* to bsprun: who has processes, and which */
    uint64_t committed; /* + 1, as bsprun knows */
    uint64_t commits, exits;
    bool has_image[HOSTS * 2]; /* of the snapshot that is taken */
    uint64_t snapshot;
    unsigned faults[FAULT_KINDS];
};

/* Of all jobs. */
struct cells_summary {
    uint64_t faults[FAULT_KINDS], well, back, commits, lost_beside, taken_over, taken_again,
        captured, mixed, ahead, making, late, for_good;
};
extern struct cells_summary cells_summary;

#define fail(world, ...) timeline_fail(&(world)->time, __VA_ARGS__)
#define note(world, ...) timeline_note(&(world)->time, __VA_ARGS__)

/* ---- world.c ---- */
struct action *cells_plan(struct world *world, enum action_kind kind, uint64_t delay,
                          uint32_t host);
/* Delays of the next message, after all before it: between a host and Processor Zero, or bsprun. */
uint64_t cells_on_link(struct world *world, uint64_t *is_free);
uint64_t cells_on_line(struct world *world, uint64_t *is_free);
uint32_t cells_index_of(const struct world *world, uint64_t id);
/* Whether each cell has a host that lives, and will, whose processes are not stopped for good. */
bool cells_is_covered(const struct world *world);

/* ---- hosts.c ---- */
void cells_host_begin(struct world *world, uint32_t host);
/* Its processes have been made. */
void cells_host_is_ready(struct world *world, uint32_t host);
void cells_host_arrives(struct world *world, uint32_t host, uint64_t superstep);
void cells_host_data(struct world *world, uint32_t host, uint32_t from, uint64_t superstep);
/* Its processes have been stopped, and go on. */
void cells_host_continues(struct world *world, uint32_t host);
/* Whether they are stopped. */
bool cells_is_stopped(const struct world *world, const struct host *host);
/* What Processor Zero says. */
void cells_host_message(struct world *world, uint32_t host, const struct action *action);
/* bsprun says: another Processor Zero is to be obeyed; it wants to know of a superstep. */
void cells_host_taken_over(struct world *world, uint32_t host, uint32_t era);
void cells_host_asked(struct world *world, const struct action *action);

/* ---- said.c ---- */
/* Once, when Processor Zero says it; hosts hear of it later. */
void cells_note_said(struct world *world, const struct wire_message *message, bool heeded);

/* ---- zero.c ---- */
void cells_feed(struct world *world, uint32_t era, uint32_t from,
                const struct wire_message *message);
/* From bsprun, to the Processor Zero that it listens to. */
void cells_order(struct world *world, struct wire_message message);
void cells_expire(struct world *world, const struct action *action);

/* ---- bsprun.c ---- */
void cells_bsprun_hears(struct world *world, const struct action *action);
void cells_show_lost(const struct world *world, uint32_t host);
void cells_ask_all(struct world *world);
/* whole: the processes have come to bsp_end. */
void cells_close_when_written(struct world *world, bool whole);

/* ---- takeover.c ---- */
/* bsprun learns that the host is lost. */
void cells_lose(struct world *world, uint32_t host);

/* ---- faults.c ---- */
void cells_harm(struct world *world, const struct action *action);

#endif
