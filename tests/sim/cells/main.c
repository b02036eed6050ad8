/* main.c - Processor Zero and hosts with replicas of the same processes, in a made-up world.
 *
 * Processor Zero is the real one.  Around it are hosts that compute at paces of their own, and pass
 * a barrier when their processes and, of each other cell, those of one host have come to it, as
 * links between hosts make it.  Hosts are killed, stall for long, or become ten times slower; at
 * any time, that of snapshots included.  Where that of Processor Zero is killed, what it has sent
 * gets as far as chance has it; or only bsprun does not hear it any more, and it goes on deciding
 * until the last host has ceased to obey.  Another one takes its place, more than once in a job.
 *
 * What must hold:
 *   - no term ends, and nothing is rolled back, while each cell has a living host, Processor Zero's
 *     own host included, and no process dies: the job then ends well, and takes no longer than its
 *     fastest living hosts
 *   - at each barrier all hosts are told the same, and none passes a barrier that is decided before
 *     it was; so the replicas of a process see the same sequence of supersteps
 *   - each process has as many replicas as it is to have, no two on one host
 *   - what a living host has heard of a barrier is not decided again
 *   - no host of a cell with one other living is waited for: by its death or stall nothing stops
 *   - each committed snapshot has the image of each process from a host that had captured it at
 *     that barrier, of each process one
 *   - bsprun shows what processes write once and in order, see shown.h
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/core/coord.h"
#include "tests/sim/cells/shown.h"
#include "tests/sim/seeds.h"
#include "tests/sim/timeline.h"

#define HOSTS       12u
#define SUPERSTEPS  40u
#define ACTIONS_MAX 400000u
#define TERM        3u
#define NEVER       UINT64_MAX

enum fault_kind { FAULT_KILLED, FAULT_STALLS, FAULT_SLOW, FAULT_ZERO, FAULT_CUT, FAULT_KINDS };

static const char *const fault_names[FAULT_KINDS] = {"host killed", "host stalls", "host slow",
                                                     "host of Processor Zero killed",
                                                     "Processor Zero cut off from bsprun"};

/* What a host knows of the barrier of a superstep. */
struct heard {
    bool told, snapshot, captures, resumed, end;
    uint64_t consult;
};

struct host {
    uint32_t id, cell; /* the index of the lead; NEVER-like HOSTS: none */
    uint32_t count, first;
    bool dead, silent; /* nothing more comes of it */
    bool doomed;       /* soon to be, as bsprun no longer hears it */
    bool over, running;
    uint64_t pace;          /* the most that a superstep takes */
    uint64_t stalled_until; /* nothing moves there before */
    uint64_t superstep;
    bool here;               /* its processes have come to the end of that superstep */
    uint64_t consult;        /* the barrier at which it asks */
    bool asked;              /* it has sent ARRIVE for the present barrier */
    bool captured;           /* it has written its images and waits for RESUME */
    uint64_t reached[HOSTS]; /* supersteps + 1 of that host whose data it has got */
    uint64_t link_free[2];   /* when the last message to, from Processor Zero arrives */
    struct heard heard[SUPERSTEPS + 2];
    uint64_t decided, next; /* as in ACCOUNT: supersteps decided, and what was named with that */
    bool ended, told_to_run;
    uint64_t committed;    /* + 1 */
    uint32_t era;          /* whom it obeys */
    bool waits;            /* for that one's TAKEN_OVER */
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
};

enum action_kind {
    DO_READY,
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
    DO_ASK_PASSED
};

/* What a host tells bsprun. */
enum told { TOLD_LINE, TOLD_MARK, TOLD_PASSED, TOLD_IDLE, TOLD_LEADS };
static const char *const told_names[] = {"a line", "the mark", "the passing", "the rest",
                                         "the replicas"};

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
    unsigned timers[COORD_TIMER_COUNT]; /* settings */
    bool finished, by_death, closed;
    bool stopped, well; /* some processes were; it has ended as it should */
    bool housing_known; /* to bsprun: who has processes, and which */
    uint64_t committed; /* + 1, as bsprun knows */
    uint64_t commits, exits;
    bool has_image[HOSTS * 2]; /* of the snapshot that is taken */
    uint64_t snapshot;
    unsigned faults[FAULT_KINDS];
};

static struct {
    uint64_t faults[FAULT_KINDS], well, back, commits, lost_beside, taken_over, taken_again,
        captured, mixed;
} summary;

#define fail(world, ...) timeline_fail(&(world)->time, __VA_ARGS__)
#define note(world, ...) timeline_note(&(world)->time, __VA_ARGS__)

static void feed(struct world *world, uint32_t era, uint32_t from,
                 const struct wire_message *message);

static void order(struct world *world, struct wire_message message);

static struct action *plan(struct world *world, enum action_kind kind, uint64_t delay,
                           uint32_t host)
{
    struct action *action = timeline_plan(&world->time, delay);

    action->kind = kind;
    action->host = host;
    return action;
}

static uint64_t on_link(struct world *world, uint64_t *is_free)
{
    uint64_t when = world->time.now + 1 + timeline_random(&world->time, 8);

    if (when <= *is_free)
        when = *is_free + 1;
    *is_free = when;
    return when - world->time.now;
}

static void say(struct world *world, uint32_t host, struct wire_message message)
{
    struct host *from = &world->hosts[host];

    if (from->dead || (from->waits && message.kind != WIRE_ACCOUNT))
        return;
    message.envelope.term = TERM;
    *wire_sender(&message) = from->id;
    struct action *action = plan(world, DO_TO_ZERO, on_link(world, &from->link_free[1]), host);
    action->message = message;
    action->era = from->era;
}

/* ---- bsprun ------------------------------------------------------------------------------- */

static uint64_t on_line(struct world *world, uint64_t *is_free)
{
    uint64_t when = world->time.now + 1 + timeline_apart(&world->time, 12);

    if (when <= *is_free)
        when = *is_free + 1;
    *is_free = when;
    return when - world->time.now;
}

static void report_to_bsprun(struct world *world, uint32_t host, enum told told, uint32_t pid,
                             uint64_t superstep)
{
    struct host *from = &world->hosts[host];
    struct action *action;

    if (from->dead)
        return;
    action = plan(world, DO_TO_BSPRUN, on_line(world, &from->line_free[0]), host);
    action->told = told;
    action->number = pid;
    action->superstep = superstep;
}

/* What was written before is on its way, as an agent sends it before the superstep. */
static void answer_passed(struct world *world, uint32_t host)
{
    struct host *here = &world->hosts[host];
    uint64_t done = here->superstep + (here->here || !here->running ? 1 : 0);

    if (here->asked_passed == 0 || here->count == 0 || done < here->asked_passed)
        return;
    report_to_bsprun(world, host, TOLD_PASSED, 0, here->asked_passed - 1);
    here->asked_passed = 0;
}

static void ask_passed(struct world *world, const struct action *action)
{
    struct host *here = &world->hosts[action->host];

    if (here->dead)
        return;
    if (here->asked_passed < action->superstep + 1)
        here->asked_passed = action->superstep + 1;
    answer_passed(world, action->host);
}

static void ask_all(struct world *world)
{
    uint64_t superstep;

    while (shown_asks(&superstep))
        for (uint32_t i = 0; i < world->host_count; i++)
            plan(world, DO_ASK_PASSED, on_line(world, &world->hosts[i].line_free[1]), i)
                ->superstep = superstep;
}

static void write_lines(struct world *world, uint32_t host)
{
    const struct host *here = &world->hosts[host];

    for (uint32_t pid = here->first; pid < here->first + here->count; pid++)
        if (shown_writes(pid, here->superstep))
            report_to_bsprun(world, host, TOLD_LINE, pid, here->superstep);
}

/* Of hosts without processes nothing is to come. */
static void show_lost(const struct world *world, uint32_t host)
{
    if (world->housing_known && world->hosts[host].count == 0)
        shown_idle(host);
    else
        shown_lost(host);
}

static void bsprun_hears(struct world *world, const struct action *action)
{
    struct host *from = &world->hosts[action->host];

    if (from->doomed || (from->dead && timeline_apart(&world->time, 100) < 30))
        from->cut_off = true;
    if (from->cut_off)
        return;
    note(world, "bsprun: %s of host %u, %" PRIu64, told_names[action->told], from->id,
         action->superstep);
    switch (action->told) {
    case TOLD_LINE:
        shown_line(action->host, action->number, action->superstep);
        break;
    case TOLD_MARK:
        shown_mark(action->host, action->superstep);
        break;
    case TOLD_PASSED:
        from->wrote_all |= action->superstep == world->supersteps;
        shown_passed(action->host, action->superstep);
        break;
    case TOLD_IDLE:
        shown_idle(action->host);
        break;
    default:
        world->housing_known = true;
        for (uint32_t i = 0; i < world->host_count; i++)
            if (world->hosts[i].count > 0 && world->hosts[i].cell != i)
                shown_replica(i, world->hosts[i].cell);
        for (uint32_t i = 0; i < world->host_count; i++)
            if (world->hosts[i].noticed)
                show_lost(world, i);
    }
    ask_all(world);
}

/* Before nothing can be rolled back any more, bsprun waits for what has been written, by one host
 * of each cell that has a living one. */
static bool has_all_output(struct world *world)
{
    for (uint32_t lead = 0; lead < world->host_count; lead++) {
        bool any = false, all = false;

        for (uint32_t i = 0; i < world->host_count; i++)
            if (world->hosts[i].count > 0 && world->hosts[i].cell == lead) {
                any |= !world->hosts[i].doomed && !world->hosts[i].dead;
                all |= world->hosts[i].wrote_all;
            }
        if (any && !all)
            return false;
    }
    return true;
}

/* whole: the processes have come to bsp_end. */
static void close_when_written(struct world *world, bool whole)
{
    if (world->finished)
        return;
    if (whole && !has_all_output(world)) {
        for (uint32_t i = 0; i < world->host_count; i++)
            plan(world, DO_ASK_PASSED, on_line(world, &world->hosts[i].line_free[1]), i)
                ->superstep = world->supersteps;
        plan(world, DO_CLOSED, 20, 0)->number = true;
        return;
    }
    world->closed = true;
    order(world, (struct wire_message){.kind = WIRE_CLOSED});
}

/* ---- What must hold ----------------------------------------------------------------------- */

static bool is_covered(const struct world *world)
{
    for (uint32_t lead = 0; lead < world->host_count; lead++) {
        bool living = world->hosts[lead].cell != lead || world->hosts[lead].count == 0;
        for (uint32_t i = 0; i < world->host_count; i++)
            living = living || (world->hosts[i].cell == lead && !world->hosts[i].dead &&
                                !world->hosts[i].doomed);
        if (!living)
            return false;
    }
    return true;
}

static void check_passed(struct world *world, const struct host *host)
{
    const struct heard *heard = &host->heard[host->superstep];

    if (host->superstep == world->supersteps && !(heard->told && heard->end))
        fail(world, "host %u leaves bsp_end before that was decided", host->id);
    if (host->era > 0)
        return; /* TAKEN_OVER may have let it pass several */
    for (uint64_t next = host->superstep + 1; next <= world->supersteps; next++)
        for (uint32_t i = 0; i < world->host_count; i++)
            if (world->hosts[i].heard[next].told && !world->hosts[i].dead && next < host->consult &&
                host->superstep < next && !host->heard[next].end && next != world->supersteps)
                fail(world, "host %u is not told of the decision about %" PRIu64, host->id, next);
}

/* ---- Hosts -------------------------------------------------------------------------------- */

static void look(struct world *world, uint32_t host);

static void compute(struct world *world, uint32_t host)
{
    struct host *here = &world->hosts[host];
    uint64_t delay = 1 + timeline_random(&world->time, here->pace);

    plan(world, DO_ARRIVE, delay, host)->superstep = here->superstep;
}

/* Of every other cell the data of one host are here. */
static bool is_complete(const struct world *world, const struct host *here)
{
    for (uint32_t lead = 0; lead < world->host_count; lead++) {
        bool got =
            world->hosts[lead].cell != lead || world->hosts[lead].count == 0 || here->cell == lead;
        for (uint32_t i = 0; i < world->host_count && !got; i++)
            got = world->hosts[i].cell == lead && here->reached[i] > here->superstep;
        if (!got)
            return false;
    }
    return true;
}

static void say_left(struct world *world, uint32_t host)
{
    struct host *here = &world->hosts[host];

    for (uint32_t i = 0; i < here->left; i++)
        say(world, host,
            (struct wire_message){.kind = WIRE_RANK_EXITED, .rank_exited.pid = here->first + i});
}

static void leave(struct world *world, uint32_t host)
{
    struct host *here = &world->hosts[host];

    check_passed(world, here);
    here->here = here->asked = here->captured = false;
    if (here->superstep == world->supersteps) {
        here->running = false;
        here->left = here->count;
        say_left(world, host);
        return;
    }
    here->superstep++;
    compute(world, host);
}

static void say_captured(struct world *world, uint32_t host)
{
    say(world, host,
        (struct wire_message){.kind = WIRE_CAPTURED,
                              .envelope.superstep = world->hosts[host].superstep});
}

static void capture(struct world *world, uint32_t host)
{
    struct host *here = &world->hosts[host];
    uint64_t snapshot = here->superstep + 1;

    here->captured = true;
    report_to_bsprun(world, host, TOLD_MARK, 0, snapshot);
    say_captured(world, host);
    for (uint32_t i = 0; i < here->count; i++) {
        struct wire_message message = {.kind = WIRE_IMAGE_DURABLE, .envelope.superstep = snapshot};
        message.image_durable.pid = here->first + i;
        message.image_durable.facts = (struct bspz_image_facts){.size = 7};
        say(world, host, message);
    }
}

static void say_arrived(struct world *world, uint32_t host)
{
    struct host *here = &world->hosts[host];
    bool end = here->superstep == world->supersteps;

    here->asked = true;
    say(world, host,
        (struct wire_message){.kind = WIRE_ARRIVE,
                              .envelope.superstep = here->superstep,
                              .arrive.barrier = end ? WIRE_BARRIER_END : WIRE_BARRIER_SYNC});
}

/* Whether something can go on at the barrier where the host may be. */
static void look(struct world *world, uint32_t host)
{
    struct host *here = &world->hosts[host];
    struct heard *heard = &here->heard[here->superstep];
    bool end = here->superstep == world->supersteps;

    if (!here->here || here->dead || !here->running || here->over)
        return;
    if (here->superstep != here->consult && !end) {
        if (is_complete(world, here))
            leave(world, host);
        return;
    }
    if (!heard->told) {
        if (!here->asked)
            say_arrived(world, host);
        return;
    }
    if (heard->snapshot && heard->captures && !here->captured && !heard->resumed)
        capture(world, host);
    if ((heard->snapshot && !heard->resumed) || !is_complete(world, here))
        return;
    here->consult = heard->consult;
    leave(world, host);
}

static void arrive(struct world *world, uint32_t host, uint64_t superstep)
{
    struct host *here = &world->hosts[host];

    if (here->dead || here->over || here->superstep != superstep || !here->running)
        return;
    here->here = true;
    write_lines(world, host);
    answer_passed(world, host);
    for (uint32_t i = 0; i < world->host_count; i++)
        if (i != host && !world->hosts[i].dead) {
            struct action *action = plan(world, DO_DATA, 1 + timeline_random(&world->time, 6), i);
            action->number = host;
            action->superstep = superstep;
        }
    timeline_note(&world->time, "host %u at the end of %" PRIu64, here->id, superstep);
    look(world, host);
}

static void take_data(struct world *world, uint32_t host, uint32_t from, uint64_t superstep)
{
    struct host *here = &world->hosts[host];

    if (superstep + 1 > here->reached[from])
        here->reached[from] = superstep + 1;
    look(world, host);
}

/* ---- Messages of Processor Zero ----------------------------------------------------------- */

static uint32_t index_of(const struct world *world, uint64_t id)
{
    for (uint32_t i = 0; i < world->host_count; i++)
        if (world->hosts[i].id == id)
            return i;
    fail(world, "there is no host %" PRIu64, id);
}

static void check_replicas(struct world *world, const struct host *lead, uint32_t copies)
{
    for (uint32_t pid = lead->first; pid < lead->first + lead->count; pid++) {
        uint32_t wanted =
            world->counts.count > 0 ? replica_counts_of(&world->counts, pid) : world->replicas;

        if (copies != wanted)
            fail(world, "process %u of host %u has %u replicas instead of %u", pid, lead->id,
                 copies, wanted);
    }
}

/* As all hosts are told: who has which processes. */
static void note_place(struct world *world, const struct wire_place *place)
{
    uint32_t copies[HOSTS] = {0};

    world->processes = place->processes;
    for (uint32_t i = 0; i < world->host_count; i++)
        world->hosts[i].cell = HOSTS;
    for (uint32_t pid = 0; pid < place->processes; pid++) {
        struct host *lead = &world->hosts[index_of(world, place->host_of.items[pid])];
        lead->cell = (uint32_t)(lead - world->hosts);
        if (lead->count++ == 0)
            lead->first = pid;
    }
    for (uint32_t i = 0; i + 1 < place->leads.count; i += 2) {
        uint32_t host = index_of(world, place->leads.items[i]);
        uint32_t lead = index_of(world, place->leads.items[i + 1]);
        if (world->hosts[host].cell != HOSTS)
            fail(world, "host %u has two replicas", world->hosts[host].id);
        if (world->hosts[lead].cell != lead && world->hosts[lead].count > 0)
            fail(world, "host %u is no lead", world->hosts[lead].id);
        world->hosts[host].cell = lead;
        world->hosts[host].count = world->hosts[lead].count;
        world->hosts[host].first = world->hosts[lead].first;
    }
    for (uint32_t i = 0; i < world->host_count; i++)
        if (world->hosts[i].count > 0)
            copies[world->hosts[i].cell]++;
    for (uint32_t i = 0; i < world->host_count; i++)
        if (world->hosts[i].cell == i && world->hosts[i].count > 0)
            check_replicas(world, &world->hosts[i], copies[i]);
}

static void check_new(struct world *world, uint64_t superstep)
{
    for (uint32_t i = 0; i < world->host_count; i++) {
        const struct host *host = &world->hosts[i];
        if (host->count > 0 && host->superstep > superstep && !host->dead)
            fail(world, "host %u is past superstep %" PRIu64 " when that is decided", host->id,
                 superstep);
        if (!host->dead && host->heard[superstep].told &&
            (!host->heard[superstep].snapshot || host->heard[superstep].resumed ||
             (host->era == world->era && !host->waits)))
            fail(world, "superstep %" PRIu64 " is decided twice", superstep);
    }
}

static void note_decision(struct world *world, const struct wire_message *message)
{
    uint64_t superstep = message->envelope.superstep;
    bool end = message->release.decision == WIRE_DECISION_END;

    if (superstep > world->supersteps)
        fail(world, "superstep %" PRIu64 " never comes", superstep);
    check_new(world, superstep);
    if (message->release.decision == WIRE_DECISION_ABORT)
        fail(world, "Processor Zero aborts");
    if (end != (superstep == world->supersteps))
        fail(world, "bsp_end is decided at superstep %" PRIu64, superstep);
    if (message->release.decision != WIRE_DECISION_SNAPSHOT)
        return;
    memset(world->has_image, 0, sizeof world->has_image);
    world->snapshot = superstep + 1;
    for (uint32_t i = 0; i < message->release.captures.count; i++) {
        uint32_t host = index_of(world, message->release.captures.items[i]);
        const struct host *who = &world->hosts[host];
        if (who->dead && !who->here)
            fail(world, "host %u is to capture", who->id);
        for (uint32_t pid = who->first; pid < who->first + who->count; pid++) {
            if (world->has_image[pid])
                fail(world, "process %u has two images", pid);
            world->has_image[pid] = true;
        }
    }
    for (uint32_t pid = 0; pid < world->processes; pid++)
        if (!world->has_image[pid])
            fail(world, "process %u has no image", pid);
}

/* Once, when Processor Zero says it; hosts hear of it later. */
static void note_said(struct world *world, const struct wire_message *message, bool heeded)
{
    if (!heeded)
        return; /* of one that was cut off: see check_new when somebody has heard it */
    if (message->kind == WIRE_PLACE)
        note_place(world, &message->place);
    else if (message->kind == WIRE_RELEASE)
        note_decision(world, message);
    else if (message->kind == WIRE_STOP_RANKS && !world->by_death)
        fail(world, "processes are stopped though each has a living replica");
}

static void hear_ready(struct world *world, uint32_t host)
{
    say(world, host,
        (struct wire_message){.kind = WIRE_RANKS_READY,
                              .ranks_ready.count = world->hosts[host].count});
}

static void note_decided(struct host *here, uint64_t superstep, uint64_t consult, bool end)
{
    if (superstep + 1 <= here->decided)
        return;
    here->decided = superstep + 1;
    here->next = consult;
    here->ended = end;
}

static void hear_release(struct world *world, uint32_t host, const struct action *action)
{
    const struct wire_message *message = &action->message;
    uint64_t superstep = message->envelope.superstep;
    struct heard *heard = &world->hosts[host].heard[superstep];

    if (heard->told && !heard->snapshot)
        fail(world, "host %u is told twice", world->hosts[host].id);
    *heard = (struct heard){.told = true,
                            .snapshot = message->release.decision == WIRE_DECISION_SNAPSHOT,
                            .captures = action->captures,
                            .end = message->release.decision == WIRE_DECISION_END,
                            .consult = message->release.consult};
    if (!heard->snapshot)
        note_decided(&world->hosts[host], superstep, heard->consult, heard->end);
}

static void hear_resume(struct world *world, uint32_t host, uint64_t superstep, uint64_t consult)
{
    struct heard *heard = &world->hosts[host].heard[superstep];

    heard->told = heard->resumed = true;
    heard->consult = consult;
    note_decided(&world->hosts[host], superstep, consult, false);
}

/* What this host has not heard of and another one has. */
static void hear_taken_over(struct world *world, uint32_t host, const struct wire_taken_over *taken)
{
    struct host *here = &world->hosts[host];
    uint64_t next = here->next, newest = taken->decided - 1;

    here->waits = false;
    if (host == world->zeros[world->era].host)
        report_to_bsprun(world, host, TOLD_LEADS, 0, 0);
    if (taken->decided > here->decided && here->told_to_run && next < taken->decided &&
        !(taken->ended && next == newest))
        hear_resume(world, host, next, taken->ended ? newest : taken->consult);
    if (taken->decided > here->decided && taken->ended) {
        here->heard[newest] = (struct heard){.told = true, .end = true, .consult = NEVER};
        note_decided(here, newest, NEVER, true);
    }
    for (uint64_t i = 0; i <= world->supersteps; i++)
        if (here->heard[i].snapshot && !here->heard[i].captures && !here->heard[i].resumed)
            here->heard[i] = (struct heard){.told = false}; /* that snapshot is abandoned */
    const struct heard *now = &here->heard[here->superstep];
    if (here->asked && !now->told)
        say_arrived(world, host);
    else if (here->captured && !now->resumed)
        say_captured(world, host);
    say_left(world, host);
    look(world, host);
}

static void hear(struct world *world, uint32_t host, const struct action *action)
{
    struct host *here = &world->hosts[host];
    const struct wire_message *message = &action->message;
    uint64_t superstep = message->envelope.superstep;
    const struct zero *zero = &world->zeros[action->era];

    if (here->dead || here->over || here->era != action->era)
        return;
    here->cut = here->cut || (zero->dead && timeline_chance(&world->time, 40));
    if (here->cut)
        return;
    switch (message->kind) {
    case WIRE_PLACE:
        report_to_bsprun(world, host, TOLD_MARK, 0, 0);
        if (here->count == 0)
            report_to_bsprun(world, host, TOLD_IDLE, 0, 0);
        if (here->first == 0 && here->cell == host && here->count > 0)
            say(world, host,
                (struct wire_message){.kind = WIRE_IMAGE_DURABLE,
                                      .image_durable.facts = {.size = 7}});
        break;
    case WIRE_PERSIST:
        say(world, host,
            (struct wire_message){.kind = WIRE_PERSISTED, .envelope = message->envelope});
        break;
    case WIRE_COMMITTED:
        say(world, host, (struct wire_message){.kind = WIRE_KNOWN, .envelope = message->envelope});
        if (superstep == 0 && here->committed == 0)
            hear_ready(world, host);
        here->committed = superstep + 1;
        break;
    case WIRE_RUN:
        if (here->told_to_run)
            break;
        here->consult = here->next = message->run.consult;
        here->told_to_run = true;
        here->running = here->count > 0;
        if (host == world->zeros[world->era].host)
            report_to_bsprun(world, host, TOLD_LEADS, 0, 0);
        if (here->running)
            compute(world, host);
        break;
    case WIRE_RELEASE:
        hear_release(world, host, action);
        look(world, host);
        break;
    case WIRE_RESUME:
        hear_resume(world, host, superstep, message->resume.consult);
        look(world, host);
        break;
    case WIRE_TAKEN_OVER:
        hear_taken_over(world, host, &message->taken_over);
        break;
    case WIRE_STOP_RANKS:
        world->stopped = true;
        here->waits = here->running = false;
        say(world, host, (struct wire_message){.kind = WIRE_RANKS_STOPPED});
        break;
    case WIRE_END:
        report_to_bsprun(world, host, TOLD_IDLE, 0, 0); /* its agent ends */
        here->over = true;
        break;
    case WIRE_ABANDON:
    case WIRE_RETIRE:
        break;
    default:
        fail(world, "Processor Zero sends %s", wire_kind_name(message->kind));
    }
}

/* From now on it obeys the new one only. */
static void hear_take_over(struct world *world, uint32_t host, uint32_t era)
{
    struct host *here = &world->hosts[host];
    struct wire_message message = {.kind = WIRE_ACCOUNT};
    const struct heard *now = &here->heard[here->superstep];

    if (here->dead || era <= here->era)
        return;
    summary.captured += now->told && now->captures && !now->resumed;
    here->era = era;
    here->waits = true;
    here->cut = false;
    message.account = (struct wire_account){.decided = here->decided,
                                            .ended = here->ended,
                                            .consult = here->told_to_run ? here->next : NEVER,
                                            .runs = here->told_to_run,
                                            .over = here->over};
    if (now->told && now->captures && !now->resumed)
        message.account.captures = here->superstep + 1;
    if (here->committed > 0)
        message.account.committed = (struct bspz_snapshot_name){here->committed - 1, TERM};
    say(world, host, message);
}

/* ---- Processor Zero ----------------------------------------------------------------------- */

static void send_to_all(struct world *world, uint32_t era, const struct wire_message *message)
{
    for (uint32_t i = 0; i < world->host_count; i++) {
        uint32_t id = world->hosts[i].id;
        if (!coord_is_addressed(world->zeros[era].coord, id, message->kind))
            continue;
        if (message->kind == WIRE_PERSIST)
            note(world, "... to host %u", id);
        struct action *action =
            plan(world, DO_TO_HOST, on_link(world, &world->hosts[i].link_free[0]), i);
        action->era = era;
        action->message.kind = message->kind;
        action->message.envelope = message->envelope;
        if (message->kind == WIRE_RUN)
            action->message.run = message->run;
        else if (message->kind == WIRE_RESUME)
            action->message.resume = message->resume;
        else if (message->kind == WIRE_TAKEN_OVER)
            action->message.taken_over = message->taken_over;
        if (message->kind != WIRE_RELEASE)
            continue;
        action->message.release = message->release;
        action->message.release.captures = (struct wire_numbers){0};
        for (uint32_t k = 0; k < message->release.captures.count; k++)
            action->captures = action->captures || message->release.captures.items[k] == id;
    }
}

static void finish(struct world *world, uint32_t era)
{
    struct coord_outcome outcome = coord_outcome(world->zeros[era].coord);

    world->zeros[era].finished = true;
    if (world->zeros[era].unheard)
        return;
    world->finished = true;
    note(world, "the end: %s", wire_cause_text(outcome.cause));
    world->well = outcome.cause == WIRE_CAUSE_NONE && !world->stopped;
    if (outcome.cause == WIRE_CAUSE_NONE)
        summary.well++;
    else if (!world->by_death)
        fail(world, "the term ends by itself: %s", wire_cause_text(outcome.cause));
    else
        summary.back++;
}

/* What bsprun hears. */
static void tell(struct world *world, uint32_t era, const struct wire_message *message)
{
    if (era != world->era || world->zeros[era].unheard)
        return;
    if (message->kind == WIRE_CLOSING)
        plan(world, DO_CLOSED, 1 + timeline_random(&world->time, 20), 0)->number =
            message->closing.whole;
    if (message->kind != WIRE_SAVED)
        return;
    world->commits += !message->saved.known;
    /* Its last words may be lost with it. */
    if (timeline_apart(&world->time, 4) > 0)
        world->committed = message->envelope.superstep + 1;
}

static void carry_out(struct world *world, uint32_t era, const struct coord_effects *effects)
{
    for (uint32_t i = 0; i < effects->count; i++) {
        const struct coord_effect *effect = &effects->items[i];
        switch (effect->kind) {
        case COORD_EFFECT_TELL:
            tell(world, era, &effect->message);
            break;
        case COORD_EFFECT_SEND:
            note(world, "Processor Zero: %s %" PRIu64, wire_kind_name(effect->message.kind),
                 effect->message.envelope.superstep);
            note_said(world, &effect->message, era == world->era);
            send_to_all(world, era, &effect->message);
            break;
        case COORD_EFFECT_SET_TIMER: {
            struct action *action = plan(world, DO_TIMER, effect->milliseconds, effect->timer);
            action->number = ++world->timers[effect->timer];
            action->era = era;
            break;
        }
        case COORD_EFFECT_CANCEL_TIMER:
            world->timers[effect->timer]++;
            break;
        default:
            finish(world, era);
        }
    }
}

static void feed(struct world *world, uint32_t era, uint32_t from,
                 const struct wire_message *message)
{
    struct coord_effects effects;
    struct zero *zero = &world->zeros[era];

    if (world->finished || zero->dead || zero->finished)
        return;
    note(world, "%u says %s %" PRIu64, from, wire_kind_name(message->kind),
         message->envelope.superstep);
    if (coord_step(zero->coord, world->time.now * 1000000u, from, message, &effects) < 0) {
        /* The answer to another one that was asked. */
        if (message->kind == WIRE_CLOSED && era > 0)
            return;
        fail(world, "%s: %s", wire_kind_name(message->kind), effects.complaint);
    }
    carry_out(world, era, &effects);
}

static void order(struct world *world, struct wire_message message)
{
    message.envelope.term = TERM;
    feed(world, world->era, COORD_BSPRUN, &message);
}

static void expire(struct world *world, const struct action *action)
{
    struct coord_effects effects;

    if (world->finished || action->number != world->timers[action->host] ||
        world->zeros[action->era].dead || world->zeros[action->era].finished)
        return;
    coord_expire(world->zeros[action->era].coord, world->time.now * 1000000u,
                 (enum coord_timer)action->host, &effects);
    carry_out(world, action->era, &effects);
}

/* ---- Another Processor Zero ------------------------------------------------------------------ */

static uint32_t choose_zero(struct world *world)
{
    uint32_t at = (uint32_t)timeline_random(&world->time, world->host_count);

    for (uint32_t i = 0; i < world->host_count; i++, at = (at + 1) % world->host_count)
        if (!world->hosts[at].dead && !world->hosts[at].noticed)
            return at;
    return HOSTS;
}

/* As every host knows from PLACE. */
static void list_places(const struct world *world, uint64_t homes[2 * HOSTS],
                        uint64_t leads[2 * HOSTS], struct coord_predecessor *predecessor)
{
    uint32_t pairs = 0;

    for (uint32_t i = 0; i < world->host_count; i++) {
        const struct host *host = &world->hosts[i];
        if (host->cell == HOSTS)
            continue;
        for (uint32_t k = 0; k < host->count; k++)
            homes[host->first + k] = world->hosts[host->cell].id;
        if (host->cell == i)
            continue;
        leads[2 * pairs] = host->id;
        leads[2 * pairs++ + 1] = world->hosts[host->cell].id;
    }
    predecessor->homes = (struct wire_numbers){homes, world->processes};
    predecessor->leads = (struct wire_numbers){leads, 2 * pairs};
}

/* All hosts are lost, or nothing ran yet: the term is over. */
static void give_up(struct world *world)
{
    world->finished = true;
    if (!world->by_death)
        fail(world, "there is no Processor Zero though each process has a living replica");
    summary.back++;
}

static void take_over(struct world *world)
{
    uint64_t homes[2 * HOSTS], leads[2 * HOSTS];
    struct coord_config config = world->config;
    uint32_t host = choose_zero(world);
    bool ran = coord_phase(world->zeros[world->era].coord) != COORD_WAITING &&
               coord_phase(world->zeros[world->era].coord) != COORD_PLACING;

    if (world->finished)
        return;
    if (host == HOSTS || !ran) {
        give_up(world);
        return;
    }
    summary.taken_over++;
    summary.taken_again += world->era > 0;
    list_places(world, homes, leads, &config.predecessor);
    if (world->committed > 0)
        config.predecessor.committed = (struct bspz_snapshot_name){world->committed - 1, TERM};
    struct zero *zero = &world->zeros[++world->era];
    *zero = (struct zero){.coord = coord_new(&config), .host = host};
    if (!zero->coord)
        fail(world, "there is no other Processor Zero");
    note(world, "host %u is Processor Zero now", world->hosts[host].id);
    for (uint32_t i = 0; i < world->host_count; i++) {
        if (world->hosts[i].noticed)
            order(world, (struct wire_message){.kind = WIRE_LINK_LOST,
                                               .link_lost.peer = world->hosts[i].id});
        else
            plan(world, DO_TAKE_OVER, 1 + timeline_random(&world->time, 30), i)->era = world->era;
    }
}

/* bsprun learns of it. */
static void lose(struct world *world, uint32_t host)
{
    struct zero *zero = &world->zeros[world->era];

    if (world->hosts[host].noticed || world->finished)
        return;
    world->hosts[host].noticed = world->hosts[host].dead = true;
    world->hosts[host].cut_off = true;
    show_lost(world, host);
    ask_all(world);
    if (zero->host != host) {
        order(world, (struct wire_message){.kind = WIRE_LINK_LOST,
                                           .link_lost.peer = world->hosts[host].id});
        return;
    }
    zero->unheard = true;
    take_over(world);
}

/* ---- Faults ------------------------------------------------------------------------------- */

/* Before they run, a loss ends the term whatever the host has. */
static void note_loss(struct world *world)
{
    enum coord_phase phase = coord_phase(world->zeros[world->era].coord);

    if (phase == COORD_WAITING || phase == COORD_PLACING || !is_covered(world))
        world->by_death = true;
    else
        summary.lost_beside++;
}

static void kill_host(struct world *world, uint32_t host)
{
    struct host *here = &world->hosts[host];
    struct zero *zero = &world->zeros[world->era];

    if (here->dead)
        return;
    note(world, "host %u dies", here->id);
    here->dead = true;
    world->faults[zero->host == host ? FAULT_ZERO : FAULT_KILLED]++;
    zero->dead = zero->dead || zero->host == host;
    note_loss(world);
    plan(world, DO_LOSS, 1 + timeline_random(&world->time, 30), host);
}

/* It decides on, until bsprun has told the last host to obey another one. */
static void cut_off(struct world *world)
{
    struct zero *zero = &world->zeros[world->era];

    if (world->hosts[zero->host].dead || zero->unheard)
        return;
    note(world, "host %u is cut off from bsprun", world->hosts[zero->host].id);
    zero->unheard = true;
    world->faults[FAULT_CUT]++;
    world->hosts[zero->host].doomed = true;
    note_loss(world);
    plan(world, DO_LOSS, 1 + timeline_random(&world->time, 60), zero->host);
}

static void harm(struct world *world, const struct action *action)
{
    struct host *here = &world->hosts[action->host];

    if (world->finished)
        return;
    switch ((enum fault_kind)action->number) {
    case FAULT_KILLED:
        kill_host(world, action->host);
        return;
    case FAULT_ZERO:
        kill_host(world, world->zeros[world->era].host);
        return;
    case FAULT_CUT:
        cut_off(world);
        return;
    case FAULT_STALLS: {
        uint64_t until = world->time.now + 50 + timeline_random(&world->time, 2000);
        if (until > here->stalled_until)
            here->stalled_until = until;
        break;
    }
    default:
        here->pace *= 10;
    }
    note(world, "host %u: %s", here->id, fault_names[action->number]);
    world->faults[action->number]++;
}

/* ---- The world ---------------------------------------------------------------------------- */

static void begin_host(struct world *world, uint32_t host)
{
    say(world, host,
        (struct wire_message){
            .kind = WIRE_HOST_READY, .host_ready.slots = 2, .host_ready.available = WIRE_NEVER});
    if (host == 0)
        say(world, host, (struct wire_message){.kind = WIRE_REGISTERED});
}

/* Two numbers of replicas, each of processes that follow each other.  The number of processes. */
static uint32_t choose_counts(struct world *world)
{
    uint32_t processes = 2 + (uint32_t)timeline_random(&world->time, 5);
    uint32_t first = 1 + (uint32_t)timeline_random(&world->time, processes - 1);
    uint32_t of_first = 1 + (uint32_t)timeline_random(&world->time, WIRE_REPLICAS_MAX);
    uint32_t of_others =
        1 + (of_first + (uint32_t)timeline_random(&world->time, WIRE_REPLICAS_MAX - 1)) %
                WIRE_REPLICAS_MAX;

    world->counts.runs[0] = (struct replica_run){0, of_first};
    world->counts.runs[1] = (struct replica_run){first, of_others};
    world->counts.count = 2;
    world->replicas = replica_counts_hosts(&world->counts, processes);
    summary.mixed++;
    return processes;
}

static void make_world(struct world *world, const struct seeds_job *job)
{
    *world = (struct world){.replicas = 2};
    timeline_begin(&world->time, sizeof(struct action), job);
    uint32_t processes = 0;
    if (timeline_chance(&world->time, 50))
        world->replicas = 2 + (uint32_t)timeline_random(&world->time, 3);
    else
        processes = choose_counts(world);
    world->host_count =
        world->replicas + (uint32_t)timeline_random(&world->time, HOSTS - world->replicas + 1);
    if (world->host_count > job->hosts && job->hosts >= world->replicas)
        world->host_count = (uint32_t)job->hosts;
    world->supersteps = 1 + timeline_random(&world->time, SUPERSTEPS - 1);
    if (world->supersteps > job->supersteps)
        world->supersteps = job->supersteps;
    world->zeros[0].host = (uint32_t)timeline_random(&world->time, world->host_count);
    for (uint32_t i = 0; i < world->host_count; i++) {
        world->hosts[i].id = (i * 5 + 3) % 17;
        world->hosts[i].cell = HOSTS;
        world->hosts[i].pace = 5 + timeline_random(&world->time, 20);
        world->listed[i] = (struct wire_host){world->hosts[i].id,
                                              1 + (uint32_t)timeline_random(&world->time, 2), "h"};
    }
    world->config = (struct coord_config){
        .term = TERM,
        .host_count = world->host_count,
        .hosts = world->listed,
        .replicas = processes > 0 ? 0 : world->replicas,
        .counts = world->counts,
        .process_limit = processes,
        .abort_at = COORD_NEVER,
        .consult_every = timeline_random(&world->time, 4),
        .snapshots = true,
        .recover = true,
        .rule = {.kind = POLICY_SUPERSTEPS, .every = 1 + timeline_random(&world->time, 12)},
    };
    world->zeros[0].coord = coord_new(&world->config);
    if (!world->zeros[0].coord)
        fail(world, "there is no Processor Zero");
    for (uint32_t i = 0; i < world->host_count; i++)
        plan(world, DO_READY, 1 + timeline_random(&world->time, 10), i);
    unsigned faults = (unsigned)timeline_random(&world->time, 5);
    for (unsigned i = 0; i < faults; i++) {
        uint32_t host = (uint32_t)timeline_random(&world->time, world->host_count);
        uint32_t kind = (uint32_t)timeline_random(&world->time, FAULT_KINDS);
        uint64_t when = timeline_random(&world->time, 60 + 20 * world->supersteps);
        if (seeds_keeps_fault(job, i))
            plan(world, DO_FAULT, when, host)->number = kind;
    }
    shown_begin(&world->time, world->host_count, TERM);
    timeline_take_course(&world->time);
}

/* A host that stalls does nothing, but what is sent to it waits. */
static bool is_put_off(struct world *world, const struct action *action)
{
    const struct host *host = &world->hosts[action->host];

    if (action->kind == DO_TIMER || action->kind == DO_FAULT || action->kind == DO_CLOSED ||
        action->kind == DO_LOSS || action->kind == DO_TO_ZERO || action->kind == DO_TO_BSPRUN ||
        host->stalled_until <= world->time.now || host->dead)
        return false;
    struct action *later = timeline_plan(&world->time, host->stalled_until - world->time.now);
    uint64_t when = later->moment.when;
    *later = *action; /* its order included: links keep theirs */
    later->moment.when = when;
    return true;
}

static void happen(struct world *world, const struct action *action)
{
    if (is_put_off(world, action))
        return;
    switch (action->kind) {
    case DO_READY:
        begin_host(world, action->host);
        break;
    case DO_ARRIVE:
        arrive(world, action->host, action->superstep);
        break;
    case DO_TO_ZERO:
        if (world->hosts[action->host].dead && timeline_chance(&world->time, 30))
            world->hosts[action->host].silent = true;
        if (!world->hosts[action->host].silent)
            feed(world, action->era, world->hosts[action->host].id, &action->message);
        break;
    case DO_TO_HOST:
        hear(world, action->host, action);
        break;
    case DO_DATA:
        take_data(world, action->host, action->number, action->superstep);
        break;
    case DO_TIMER:
        expire(world, action);
        break;
    case DO_CLOSED:
        close_when_written(world, action->number);
        break;
    case DO_TO_BSPRUN:
        bsprun_hears(world, action);
        break;
    case DO_ASK_PASSED:
        ask_passed(world, action);
        break;
    case DO_LOSS:
        lose(world, action->host);
        break;
    case DO_TAKE_OVER:
        hear_take_over(world, action->host, action->era);
        break;
    default:
        harm(world, action);
    }
}

static void run_one(const struct seeds_job *job)
{
    static struct world world;
    static struct action action;

    make_world(&world, job);
    for (unsigned count = 0; timeline_next(&world.time, &action); count++) {
        if (count > ACTIONS_MAX)
            fail(&world, "the job does not come to an end");
        happen(&world, &action);
    }
    if (!world.finished)
        fail(&world, "the job stands still: Processor Zero is in state %s",
             coord_phase_name(coord_phase(world.zeros[world.era].coord)));
    shown_check(world.processes, world.supersteps, world.well);
    shown_end();
    for (unsigned i = 0; i < FAULT_KINDS; i++)
        summary.faults[i] += world.faults[i];
    summary.commits += world.commits;
    for (uint32_t era = 0; era <= world.era; era++)
        coord_free(world.zeros[era].coord);
    timeline_end(&world.time);
}

/* A simulation in which something never happens tests less than it says. */
static int report(uint64_t count)
{
    int missing = 0;

    printf("%" PRIu64 " jobs\n", count);
    for (unsigned i = 0; i < FAULT_KINDS; i++) {
        printf("  fault  %-44s %9" PRIu64 "\n", fault_names[i], summary.faults[i]);
        missing += summary.faults[i] == 0;
    }
    const struct {
        const char *name;
        uint64_t count;
    } numbers[] = {{"ended well", summary.well},
                   {"ended by the loss of a cell", summary.back},
                   {"hosts lost beside a living replica", summary.lost_beside},
                   {"another Processor Zero", summary.taken_over},
                   {"... in the place of one that was another itself", summary.taken_again},
                   {"... at the barrier of a snapshot", summary.captured},
                   {"jobs with different numbers of replicas", summary.mixed},
                   {"snapshots", summary.commits},
                   {"lines shown", shown_count()}};
    for (unsigned i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        printf("  %-51s %9" PRIu64 "\n", numbers[i].name, numbers[i].count);
        missing += numbers[i].count == 0;
    }
    return seeds_verdict("cells", count < 2000 ? 0 : missing);
}

int main(int argc, char **argv)
{
    static const struct seeds_program program = {
        .name = "cells", .count = 20000, .has_supersteps = true, .run = run_one, .report = report};
    return seeds_main(&program, argc, argv);
}
