/* machine.c - a BSP job on a simulated machine, a SimGrid actor for each process; see machine.h.
 *
 * Process 0 directs: it sets the part that is to be simulated and comes to the gate, where all
 * others wait; all do their share, and meet at the gate again, which takes no simulated time.
 * Where the machine stays as it is, what a part takes is simulated once, and known from then on.
 *
 * What can fail: memory, before the simulation; a route that is missing, and what the source of
 * the work meets, after which process 0 sends all home.  Processes whose host goes down never
 * come to the gate: SimGrid ends the simulation then, and `over` is not set. */
#include "tools/bspsim/machine.h"

#include <simgrid/actor.h>
#include <simgrid/barrier.h>
#include <simgrid/comm.h>
#include <simgrid/engine.h>
#include <simgrid/mailbox.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xbt/dynar.h>

#include "tools/bspsim/known.h"
#include "tools/bspsim/platform.h"

#define BARRIER_BYTES 64
#define PRICE_LITTLE  8       /* bytes that each process sends to learn the price of a byte */
#define PRICE_MUCH    1048576 /* ... and again */

enum part { PART_COMPUTE, PART_EXCHANGE, PART_BARRIER, PART_OVER };

struct rank {
    struct machine *machine;
    uint32_t pid;
    sg_mailbox_t box;
};

struct machine {
    const struct machine_request *request;
    struct machine_facts *facts;
    machine_source *source;
    void *context;
    char *doing, *error;
    struct platform platform;
    uint32_t count; /* of ranks */
    struct rank *ranks;
    sg_bar_t gate;
    enum part part;
    bool over, failed;
    double flops; /* of the part that computes */
    double ended; /* the times at which processes had computed, summed */
    struct traffic *sums;
    struct traffic_message *messages; /* [2 * count], those of the part by sender */
    uint32_t *first_out, *first_in;   /* [count + 1] of a rank, in sends and receives */
    struct traffic_message *unsorted;
    sg_comm_t *sends, *receives; /* [2 * count] */
    void **received;
    unsigned char *routes; /* a bit for each pair of used hosts: there is a route */
    xbt_dynar_t links;
    struct known *known;                             /* of a steady machine */
    double per_flop, waiting_per_flop, barrier_time; /* likewise */
};

bool machine_is_there(void)
{
    return true;
}

/* ---- What each process does ---------------------------------------------------------------- */

static void compute(struct rank *rank)
{
    if (rank->machine->flops > 0)
        sg_actor_execute(rank->machine->flops);
    rank->machine->ended += simgrid_get_clock();
}

static void exchange(struct rank *rank)
{
    struct machine *machine = rank->machine;
    uint32_t out = machine->first_out[rank->pid], outs = machine->first_out[rank->pid + 1] - out;
    uint32_t in = machine->first_in[rank->pid], ins = machine->first_in[rank->pid + 1] - in;

    for (uint32_t i = out; i < out + outs; i++)
        machine->sends[i] = sg_mailbox_put_async(machine->ranks[machine->messages[i].to].box,
                                                 machine, (long)machine->messages[i].bytes);
    for (uint32_t i = in; i < in + ins; i++)
        machine->receives[i] = sg_mailbox_get_async(rank->box, &machine->received[i]);
    if (ins > 0)
        sg_comm_wait_all(&machine->receives[in], ins);
    if (outs > 0)
        sg_comm_wait_all(&machine->sends[out], outs);
}

/* As process 0 sees it: from all, then to all. */
static void hold_barrier(struct machine *machine)
{
    uint32_t others = machine->count - 1;
    for (uint32_t i = 0; i < others; i++)
        machine->receives[i] = sg_mailbox_get_async(machine->ranks[0].box, &machine->received[i]);
    sg_comm_wait_all(machine->receives, others);
    for (uint32_t i = 0; i < others; i++)
        machine->sends[i] = sg_mailbox_put_async(machine->ranks[i + 1].box, machine, BARRIER_BYTES);
    sg_comm_wait_all(machine->sends, others);
}

static void come_to_barrier(struct rank *rank)
{
    sg_mailbox_put(rank->machine->ranks[0].box, rank, BARRIER_BYTES);
    sg_mailbox_get(rank->box);
}

static void do_share(struct rank *rank)
{
    switch (rank->machine->part) {
    case PART_COMPUTE:
        compute(rank);
        break;
    case PART_EXCHANGE:
        exchange(rank);
        break;
    case PART_BARRIER:
        if (rank->pid == 0)
            hold_barrier(rank->machine);
        else
            come_to_barrier(rank);
        break;
    case PART_OVER:
        break;
    }
}

/* ---- Parts, as process 0 directs them ------------------------------------------------------ */

/* Returns the seconds that it takes. */
static double simulate(struct machine *machine, enum part part)
{
    double begun = simgrid_get_clock();
    machine->part = part;
    sg_barrier_wait(machine->gate);
    do_share(&machine->ranks[0]);
    sg_barrier_wait(machine->gate);
    return simgrid_get_clock() - begun;
}

static double simulate_computing(struct machine *machine, double flops, double *waiting)
{
    machine->flops = flops;
    machine->ended = 0;
    double seconds = simulate(machine, PART_COMPUTE);
    *waiting = simgrid_get_clock() - machine->ended / machine->count;
    return seconds;
}

static bool has_route(struct machine *machine, uint32_t from, uint32_t to)
{
    const struct platform *platform = &machine->platform;
    size_t pair = (size_t)platform->homes[from] * machine->facts->hosts_used + platform->homes[to];
    sg_host_t source = platform->hosts[platform->homes[from]],
              target = platform->hosts[platform->homes[to]];
    if (machine->routes[pair / 8] >> pair % 8 & 1)
        return true;
    snprintf(machine->doing, MACHINE_DOING, "%.140s: there is no route from %.70s to %.70s",
             machine->request->platform, sg_host_get_name(source), sg_host_get_name(target));
    xbt_dynar_reset(machine->links);
    sg_host_get_route(source, target, machine->links);
    if (xbt_dynar_is_empty(machine->links) && sg_host_get_route_latency(source, target) <= 0) {
        snprintf(machine->error, MACHINE_ERROR, "%s", machine->doing);
        machine->failed = true;
    }
    machine->doing[0] = '\0';
    machine->routes[pair / 8] |= (unsigned char)(1u << pair % 8);
    return !machine->failed;
}

static bool has_barrier_routes(struct machine *machine)
{
    for (uint32_t rank = 1; rank < machine->count; rank++)
        if (!has_route(machine, rank, 0) || !has_route(machine, 0, rank))
            return false;
    return true;
}

/* Puts the messages in the order of their senders, and counts those of each process. */
static void sort_messages(struct machine *machine, uint32_t count)
{
    uint32_t ranks = machine->count, *out = machine->first_out, *in = machine->first_in;
    memset(out, 0, (ranks + 1) * sizeof(*out));
    memset(in, 0, (ranks + 1) * sizeof(*in));
    for (uint32_t i = 0; i < count; i++) {
        out[machine->unsorted[i].from]++;
        in[machine->unsorted[i].to + 1]++;
    }
    for (uint32_t rank = 0; rank < ranks; rank++) {
        out[rank + 1] += out[rank]; /* where those of the rank end */
        in[rank + 1] += in[rank];
    }
    for (uint32_t i = count; i-- > 0;)
        machine->messages[--out[machine->unsorted[i].from]] = machine->unsorted[i];
    out[ranks] = count;
}

/* Below 0: a route is missing. */
static double simulate_exchange(struct machine *machine, const struct traffic *traffic)
{
    memcpy(machine->sums, traffic, machine->count * sizeof(*traffic));
    uint32_t count = traffic_assign(machine->sums, machine->count, machine->unsorted);
    for (uint32_t i = 0; i < count; i++)
        if (!has_route(machine, machine->unsorted[i].from, machine->unsorted[i].to))
            return -1;
    sort_messages(machine, count);
    return count > 0 ? simulate(machine, PART_EXCHANGE) : 0;
}

/* ---- Supersteps ---------------------------------------------------------------------------- */

static void learn(struct machine *machine)
{
    double flops = machine->facts->speed; /* a second, so that rounding does not matter */
    machine->per_flop = simulate_computing(machine, flops, &machine->waiting_per_flop) / flops;
    machine->waiting_per_flop /= flops;
    machine->barrier_time = machine->count > 1 ? simulate(machine, PART_BARRIER) : 0;
}

static double computing_of(struct machine *machine, double flops, double *waiting)
{
    if (!machine->facts->steady)
        return simulate_computing(machine, flops, waiting);
    *waiting = flops * machine->waiting_per_flop;
    return flops * machine->per_flop;
}

static double communicating_of(struct machine *machine, const struct traffic *traffic)
{
    double seconds;
    if (!machine->facts->steady)
        return simulate_exchange(machine, traffic);
    if (known_find(machine->known, traffic, &seconds))
        return seconds;
    seconds = simulate_exchange(machine, traffic);
    if (seconds >= 0)
        known_store(machine->known, traffic, seconds);
    return seconds;
}

static double synchronising_of(struct machine *machine)
{
    if (machine->facts->steady || machine->count == 1)
        return machine->barrier_time;
    return simulate(machine, PART_BARRIER);
}

/* False: a route is missing. */
static bool do_superstep(struct machine *machine, const struct machine_work *work, bool all,
                         struct machine_parts *parts)
{
    *parts = (struct machine_parts){0};
    parts->computing = computing_of(machine, work->flops, &parts->waiting);
    if (!all)
        return true;
    parts->communicating = communicating_of(machine, work->traffic);
    if (parts->communicating < 0)
        return false;
    parts->synchronising = synchronising_of(machine);
    return true;
}

/* The prices of the cost model.  False: a route is missing. */
static bool find_prices(struct machine *machine, struct traffic *ring)
{
    static const uint64_t bytes[2] = {PRICE_LITTLE, PRICE_MUCH};
    double seconds[2];
    if (machine->count == 1)
        return true;
    for (int i = 0; i < 2; i++) {
        for (uint32_t rank = 0; rank < machine->count; rank++)
            ring[rank] = (struct traffic){bytes[i], bytes[i]};
        seconds[i] = simulate_exchange(machine, ring);
        if (seconds[i] < 0)
            return false;
    }
    machine->facts->g = (seconds[1] - seconds[0]) / (PRICE_MUCH - PRICE_LITTLE);
    machine->facts->l = seconds[0] - machine->facts->g * PRICE_LITTLE + synchronising_of(machine);
    return true;
}

static void direct(struct machine *machine)
{
    struct machine_work work;
    struct machine_parts parts;
    const struct machine_parts *before = NULL;
    struct traffic *ring = calloc(machine->count, sizeof(*ring));
    enum machine_next next;

    if (!ring) {
        snprintf(machine->error, MACHINE_ERROR, "out of memory");
        machine->failed = true;
    }
    if (!machine->failed && has_barrier_routes(machine) && machine->facts->steady)
        learn(machine);
    while (!machine->failed) {
        next = machine->source(machine->context, machine->facts, before, &work);
        if (next == MACHINE_STOP)
            break;
        if (do_superstep(machine, &work, next == MACHINE_GO_ON, &parts))
            before = &parts;
    }
    if (!machine->failed)
        find_prices(machine, ring);
    free(ring);
    machine->over = true;
    machine->part = PART_OVER;
    sg_barrier_wait(machine->gate);
}

static void run_rank(int count, char **arguments)
{
    struct rank *rank = sg_actor_self_get_data();

    (void)count;
    (void)arguments;
    if (rank->pid == 0) {
        direct(rank->machine);
        return;
    }
    for (;;) {
        sg_barrier_wait(rank->machine->gate);
        if (rank->machine->part == PART_OVER)
            return;
        do_share(rank);
        sg_barrier_wait(rank->machine->gate);
    }
}

/* ---- The job ------------------------------------------------------------------------------- */

static bool make_room(struct machine *machine)
{
    size_t ranks = machine->count, hosts = machine->facts->hosts_used;
    machine->ranks = calloc(ranks, sizeof(*machine->ranks));
    machine->sums = calloc(ranks, sizeof(*machine->sums));
    machine->messages = calloc(2 * ranks, sizeof(*machine->messages));
    machine->unsorted = calloc(2 * ranks, sizeof(*machine->unsorted));
    machine->first_out = calloc(ranks + 1, sizeof(*machine->first_out));
    machine->first_in = calloc(ranks + 1, sizeof(*machine->first_in));
    machine->sends = calloc(2 * ranks, sizeof(*machine->sends));
    machine->receives = calloc(2 * ranks, sizeof(*machine->receives));
    machine->received = calloc(2 * ranks, sizeof(*machine->received));
    machine->routes = calloc(hosts * hosts / 8 + 1, 1);
    machine->known = known_new(machine->count);
    if (machine->ranks && machine->sums && machine->messages && machine->unsorted &&
        machine->first_out && machine->first_in && machine->sends && machine->receives &&
        machine->received && machine->routes && machine->known)
        return true;
    snprintf(machine->error, MACHINE_ERROR, "out of memory");
    return false;
}

static void free_room(struct machine *machine)
{
    free(machine->ranks);
    free(machine->sums);
    free(machine->messages);
    free(machine->unsorted);
    free(machine->first_out);
    free(machine->first_in);
    free(machine->sends);
    free(machine->receives);
    free(machine->received);
    free(machine->routes);
    known_free(machine->known);
    platform_free(&machine->platform);
}

static void start_rank(struct machine *machine, uint32_t pid)
{
    struct rank *rank = &machine->ranks[pid];
    char name[32];

    snprintf(name, sizeof(name), "process-%u", pid);
    *rank = (struct rank){machine, pid, sg_mailbox_by_name(name)};
    sg_actor_t actor = sg_actor_init(name, machine->platform.hosts[machine->platform.homes[pid]]);
    sg_actor_set_data(actor, rank);
    sg_actor_start(actor, run_rank, 0, NULL);
}

static bool run_all(struct machine *machine)
{
    machine->gate = sg_barrier_init(machine->count);
    machine->links = xbt_dynar_new(sizeof(void *), NULL);
    for (uint32_t pid = 0; pid < machine->count; pid++)
        start_rank(machine, pid);
    simgrid_run();
    xbt_dynar_free(&machine->links);
    sg_barrier_destroy(machine->gate);
    if (!machine->over)
        snprintf(machine->error, MACHINE_ERROR,
                 "%.200s: the simulated job cannot end: does a host of it go down?",
                 machine->request->platform);
    return machine->over && !machine->failed;
}

bool machine_run(const struct machine_request *request, machine_source *source, void *context,
                 struct machine_facts *facts, char doing[MACHINE_DOING], char error[MACHINE_ERROR])
{
    struct machine machine = {.request = request,
                              .facts = facts,
                              .source = source,
                              .context = context,
                              .doing = doing,
                              .error = error,
                              .count = request->ranks};
    bool good = platform_begin(request, &machine.platform, facts, doing, error) &&
                make_room(&machine) && run_all(&machine);
    free_room(&machine);
    return good;
}
