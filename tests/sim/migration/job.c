/* job.c - the ranks of a simulated job, one SimGrid actor each.
 *
 * A superstep: compute, send the halo to the right neighbour, wait for that of the left one, and
 * the barrier: a message of each rank to Processor Zero, which lives with rank 0, and one back.
 * What is measured travels with these messages.  Moves are made at a barrier, while the job stands
 * still; whole images are transferred, at the same time. */
#include "tests/sim/migration/job.h"

#include <simgrid/actor.h>
#include <simgrid/comm.h>
#include <simgrid/engine.h>
#include <simgrid/mailbox.h>
#include <stdio.h>
#include <stdlib.h>

#define ARRIVE_BYTES   64  /* a rank is at the barrier */
#define MEASURED_BYTES 128 /* ... with what was measured of it and of its node */
#define RELEASE_BYTES  64
/* Seconds of the decision for each host whose time is computed: 10 to 30 ns were measured. */
#define EVALUATED      5e-8

const uint32_t job_marks[MARKS] = {10, 50, 100, 200, 500, 1000, 1500, 2000};

enum order { GO_ON, MOVE };

struct rank {
    struct job *job;
    uint32_t pid;
    sg_mailbox_t halo, orders;
    enum order order;
};

struct job {
    const struct options *options;
    const struct node *nodes;
    struct watch *watch;
    sg_mailbox_t zero;
    struct rank ranks[RANKS_MOST];
    uint32_t homes[RANKS_MOST];
    uint32_t sequence[NODES]; /* the user's list of nodes */
    uint32_t superstep;       /* completed */
    uint64_t played;          /* the same, over restarts */
    uint64_t due;             /* the next decision */
    uint32_t gone;            /* the node that left, or NODES */
    bool moving;              /* ranks move at this barrier */
    double begun;             /* the superstep that runs */
    struct result result;
};

/* ---- Placement ----------------------------------------------------------------------------- */

static void put_in_sequence(struct job *job)
{
    for (uint32_t i = 0; i < NODES; i++)
        job->sequence[i] = i;
    for (uint32_t i = NODES - 1; i > 0; i--) {
        uint32_t j = (uint32_t)(chance_of(job->options->seed, UINT64_MAX, i) * (i + 1));
        uint32_t node = job->sequence[i];
        job->sequence[i] = job->sequence[j];
        job->sequence[j] = node;
    }
    if (job->options->placing != PLACE_BEST)
        return;
    for (uint32_t i = 1; i < NODES; i++) /* by insertion: those of one speed stay mixed */
        for (uint32_t j = i;
             j > 0 && job->nodes[job->sequence[j]].speed > job->nodes[job->sequence[j - 1]].speed;
             j--) {
            uint32_t node = job->sequence[j];
            job->sequence[j] = job->sequence[j - 1];
            job->sequence[j - 1] = node;
        }
}

/* The first nodes of the list get a rank each, but for one that has left. */
static void place(struct job *job)
{
    uint32_t next = 0;
    for (uint32_t rank = 0; rank < job->options->ranks; rank++) {
        next += job->sequence[next] == job->gone;
        job->homes[rank] = job->sequence[next++];
    }
}

/* ---- Processor Zero ------------------------------------------------------------------------ */

static void set_available(struct job *job)
{
    for (uint32_t rank = 0; rank < job->options->ranks; rank++) {
        uint32_t node = job->homes[rank];
        platform_set_available(&job->nodes[node],
                               platform_available(job->options, node, job->played));
    }
}

/* Whether this barrier is one of a decision. */
static bool is_due(const struct job *job, uint32_t superstep)
{
    if (job->options->mode == MODE_OFF)
        return false;
    return superstep >= job->due ||
           (superstep == job->options->leave && job->options->mode == MODE_ON);
}

/* Returns the number of ranks that move. */
static uint32_t decide(struct job *job)
{
    const struct balance_answer *answer = watch_decide(job->watch, job->homes, job->superstep);

    job->due = job->superstep + answer->alpha;
    job->result.looks++;
    job->result.deciding += (double)answer->evaluated * EVALUATED;
    sg_actor_sleep_for((double)answer->evaluated * EVALUATED);
    if (job->options->mode != MODE_ON)
        return 0;
    if (answer->stranded > 0) {
        fprintf(stderr, "migration: %u ranks fit nowhere\n", answer->stranded);
        exit(1);
    }
    for (uint32_t i = 0; i < answer->count; i++) {
        job->homes[answer->moves[i].rank] = answer->moves[i].to;
        job->ranks[answer->moves[i].rank].order = MOVE;
    }
    job->result.moves += answer->count;
    return answer->count;
}

/* The node of a rank in the middle leaves.  Without moves the job starts again without it. */
static void take_leave(struct job *job)
{
    job->gone = job->homes[job->options->ranks / 2];
    if (job->options->mode == MODE_ON) {
        watch_leaving(job->watch, job->gone);
        return;
    }
    job->superstep = 0;
    job->due = 0;
    job->result.restarts++;
    place(job);
}

static void note_superstep(struct job *job)
{
    double now = simgrid_get_clock();

    job->superstep++;
    for (uint32_t i = 0; i < MARKS; i++)
        if (job->superstep == job_marks[i])
            job->result.at[i] = now;
    if (job->watch != NULL)
        watch_superstep(job->watch, job->homes, job->played, now - job->begun);
    job->played++;
}

/* Their messages come at the same time, not one after the other. */
static void wait_for_all(struct job *job)
{
    sg_comm_t comms[RANKS_MOST];
    void *from[RANKS_MOST];

    for (uint32_t rank = 1; rank < job->options->ranks; rank++)
        comms[rank - 1] = sg_mailbox_get_async(job->zero, &from[rank - 1]);
    sg_comm_wait_all(comms, job->options->ranks - 1);
}

static void release_all(struct job *job)
{
    sg_comm_t comms[RANKS_MOST];

    for (uint32_t rank = 1; rank < job->options->ranks; rank++)
        comms[rank - 1] = sg_mailbox_put_async(job->ranks[rank].orders, job, RELEASE_BYTES);
    sg_comm_wait_all(comms, job->options->ranks - 1);
}

/* Moves, if the rank was told to. */
static void obey(struct rank *rank)
{
    struct job *job = rank->job;
    sg_host_t to = job->nodes[job->homes[rank->pid]].host;

    if (rank->order == MOVE) {
        sg_host_sendto(sg_host_self(), to, SITES * SITE_BYTES / job->options->ranks);
        sg_actor_sleep_for(MOVE_SECONDS);
        rank->order = GO_ON;
    }
    sg_actor_set_host(sg_actor_self(), to);
}

/* The barrier as Processor Zero sees it. */
static void hold_barrier(struct job *job)
{
    wait_for_all(job);
    bool due = is_due(job, job->superstep + 1);
    note_superstep(job);
    if (job->superstep == job->options->leave && job->gone == NODES)
        take_leave(job);
    job->moving = due && decide(job) > 0;
    set_available(job);
    release_all(job);
    if (job->moving) { /* and again, when all have moved */
        double begun = simgrid_get_clock();
        obey(&job->ranks[0]);
        wait_for_all(job);
        watch_moved(job->watch, simgrid_get_clock() - begun);
        job->result.moving += simgrid_get_clock() - begun;
        release_all(job);
    }
    job->begun = simgrid_get_clock();
}

/* ---- Ranks --------------------------------------------------------------------------------- */

static void come_to_barrier(struct rank *rank)
{
    struct job *job = rank->job;
    bool due = is_due(job, job->superstep + 1);

    sg_mailbox_put(job->zero, rank, due ? MEASURED_BYTES : ARRIVE_BYTES);
    sg_mailbox_get(rank->orders);
    obey(rank);
    if (job->moving) {
        sg_mailbox_put(job->zero, rank, ARRIVE_BYTES);
        sg_mailbox_get(rank->orders);
    }
}

static void run_rank(int count, char **arguments)
{
    struct rank *rank = sg_actor_self_get_data();
    struct job *job = rank->job;
    struct rank *right = &job->ranks[(rank->pid + 1) % job->options->ranks];
    double flops = SITES * SITE_FLOPS / job->options->ranks;

    (void)count;
    (void)arguments;
    while (job->superstep < job->options->supersteps) {
        sg_actor_execute(flops);
        sg_comm_t halo = sg_mailbox_put_async(right->halo, rank, (long)HALO_BYTES);
        sg_mailbox_get(rank->halo);
        sg_comm_wait(halo);
        if (rank->pid == 0)
            hold_barrier(job);
        else
            come_to_barrier(rank);
    }
}

static void start_rank(struct job *job, uint32_t pid)
{
    struct rank *rank = &job->ranks[pid];
    char name[32];

    *rank = (struct rank){.job = job, .pid = pid};
    snprintf(name, sizeof(name), "halo-%u", pid);
    rank->halo = sg_mailbox_by_name(name);
    snprintf(name, sizeof(name), "orders-%u", pid);
    rank->orders = sg_mailbox_by_name(name);
}

struct result job_run(const struct options *options, const struct node *nodes)
{
    struct job *job = calloc(1, sizeof(*job));

    if (job == NULL) {
        fprintf(stderr, "migration: no memory\n");
        exit(1);
    }
    job->options = options;
    job->nodes = nodes;
    job->gone = NODES;
    job->due = options->rule.alpha_least;
    job->zero = sg_mailbox_by_name("zero");
    if (options->mode != MODE_OFF)
        job->watch = watch_begin(options, nodes);
    put_in_sequence(job);
    place(job);
    for (uint32_t pid = 0; pid < options->ranks; pid++)
        start_rank(job, pid);
    set_available(job);
    for (uint32_t pid = 0; pid < options->ranks; pid++) {
        char name[32];
        snprintf(name, sizeof(name), "rank-%u", pid);
        sg_actor_t actor = sg_actor_init(name, nodes[job->homes[pid]].host);
        sg_actor_set_data(actor, &job->ranks[pid]);
        sg_actor_start(actor, run_rank, 0, NULL);
    }
    simgrid_run();
    struct result result = job->result;
    result.seconds = simgrid_get_clock();
    bool done = job->superstep == options->supersteps;
    if (job->watch != NULL)
        watch_free(job->watch);
    free(job);
    if (!done) {
        fprintf(stderr, "migration: the job did not end\n");
        exit(1);
    }
    return result;
}
