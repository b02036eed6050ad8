/* balancing.c - Processor Zero moves processes by itself: measurements at barriers, the decision of
 * balance.h about them, and when the next one is due.
 *
 * Happy path: a look is due, because it is time for one or because supersteps have become longer
 * (coord_glance) -> RUN, RELEASE, RESUME or CONSULT asks for measurements -> ARRIVE of
 * every host brings them -> the decision: none, and the next look is later; or some moves, and the
 * term ends at a snapshot taken at this barrier (cause MOVED).  bsprun hands the moves to the next.
 *
 * Measurements of before and after a change are not mixed: a look that comes after one, or finds
 * one, only begins new measurements.  The next look, soon, confirms it: what it measures of a host
 * that has become slower or quicker replaces all that was known of the host, by earlier jobs, too.
 *
 * What can fail: a host measures nothing (the next look is later and later); the snapshot fails,
 * and another one is tried, as for all moves.
 */
#include "coordinator/core/state.h"

#include <math.h>
#include <stdlib.h>

#define SECOND_NS      1e9
#define LOOK_NS        UINT64_C(250000000)  /* from one look to the next, at least ... */
#define LOOK_MOST_NS   UINT64_C(8000000000) /* ... and at most, between short supersteps */
#define LOOKS_LEAST    3u       /* the first of them measures nothing: counters begin anywhere */
#define MISSES_MOST    6u       /* doublings of the time after looks in vain */
#define RESTS          10.0     /* after a move none is made for so many times what it took */
#define MOVE_SECONDS   1.0      /* what a move takes as long as that is not known ... */
#define RESTORE_LEAST  0.1      /* ... and its second half at least */
#define SPREAD         0.1      /* of availability, by the mean, as long as it is not known */
#define SHIFT          0.25     /* by the mean: what counts as a change of a host ... */
#define SHIFT_SPREADS  3.0      /* ... and by the standard deviation */
#define CONFIRM        1.5      /* supersteps from a change to the look that confirms it */
#define HINDERED       0.2      /* shares of time that count as waiting, or as sleeping */
#define SHORT_NS       200000.0 /* of a superstep, on a host */
#define UNSEEN_SECONDS 50e-6    /* of computing in a superstep, which libbsp does not measure */
#define TALK_SECONDS   1e-3     /* of a superstep in which messages count */
#define SMALL_BYTES    (16 * 1048576.0) /* of all processes of a host, written within 50 ms */
#define ENOUGH         1e15             /* bytes; of a host that says nothing of its memory */

static const struct balance_rule usual = BALANCE_RULE;

static void begin_past_of_earlier(struct coord_past *past, const struct share_sums *earlier)
{
    struct share prior = share_prior(earlier);

    past->looks = (uint32_t)ceil(prior.looks);
    past->recent = prior.mean;
    past->sum = past->looks * prior.mean;
    past->squares = past->looks * (prior.mean * prior.mean + prior.spread * prior.spread);
}

bool coord_balancing_begin(struct coord *state, const struct share_sums *earlier)
{
    struct coord_balancing *balancing = &state->balancing;
    uint32_t processes = state->config.processes_max, hosts = state->host_count;

    if (!state->config.balance || !state->config.recover || hosts < 2)
        return true;
    size_t pairs = (size_t)processes * WIRE_TRAFFIC_EACH;
    balancing->balance = balance_new(processes, hosts, pairs);
    balancing->ranks = calloc(processes, sizeof(*balancing->ranks));
    balancing->last = calloc(processes, sizeof(*balancing->last));
    balancing->moves = calloc(processes, sizeof(*balancing->moves));
    balancing->hosts = calloc(hosts, sizeof(*balancing->hosts));
    balancing->pasts = calloc(hosts, sizeof(*balancing->pasts));
    balancing->shares = calloc(hosts, sizeof(*balancing->shares));
    if (!balancing->balance || !balancing->ranks || !balancing->last || !balancing->moves ||
        !balancing->hosts || !balancing->pasts || !balancing->shares ||
        traffic_begin(&balancing->traffic, pairs) < 0 || ways_begin(&balancing->ways, hosts) < 0)
        return false;
    if (!state->config.balance_rule)
        state->config.balance_rule = &usual;
    if (state->config.look_ns == 0)
        state->config.look_ns = LOOK_NS;
    balance_go_on(balancing->balance, state->config.moving_seconds, state->config.passed_seconds);
    for (uint32_t i = 0; earlier && i < hosts; i++)
        begin_past_of_earlier(&balancing->pasts[i], &earlier[i]);
    return true;
}

void coord_balancing_free(struct coord *state)
{
    balance_free(state->balancing.balance);
    free(state->balancing.ranks);
    free(state->balancing.last);
    free(state->balancing.moves);
    free(state->balancing.hosts);
    free(state->balancing.pasts);
    free(state->balancing.shares);
    traffic_end(&state->balancing.traffic);
    ways_end(&state->balancing.ways);
}

struct wire_share_list coord_balancing_shares(const struct coord *state)
{
    const struct coord_balancing *balancing = &state->balancing;
    uint32_t count = 0;

    for (uint32_t i = 0; balancing->balance && i < state->host_count; i++) {
        const struct share_sums *shares = &balancing->pasts[i].shares;
        if (shares->seconds > 0)
            balancing->shares[count++] = (struct wire_share){state->hosts[i].id, shares->seconds,
                                                             shares->sum, shares->squares};
    }
    return (struct wire_share_list){balancing->shares, count};
}

/* ---- When ---- */

static double since(uint64_t now_ns, uint64_t then_ns)
{
    return now_ns > then_ns ? (double)(now_ns - then_ns) : 0;
}

/* What a move takes: a snapshot from its barrier to its commit, and a restore. */
static double move_seconds(const struct coord *state)
{
    const struct policy_costs *costs = &state->facts.costs;

    if (costs->commit_ns == 0)
        return MOVE_SECONDS;
    return ((double)costs->pause_ns + (double)costs->commit_ns) / SECOND_NS +
           fmax((double)costs->restore_ns / SECOND_NS, RESTORE_LEAST);
}

void coord_balancing_run(struct coord *state)
{
    double rest = state->config.moving_seconds > 0 ? RESTS * move_seconds(state) * SECOND_NS : 0;

    state->balancing.due_ns =
        state->now_ns + (uint64_t)fmin(fmax(rest, (double)state->config.look_ns), 1e18);
    /* Hosts without processes measure nothing. */
    for (uint32_t i = 0; state->balancing.balance && i < state->host_count; i++)
        state->balancing.pasts[i].available = state->hosts[i].available;
}

double coord_balancing_passed(const struct coord *state)
{
    bool ran = state->balancing.due_ns > 0; /* coord_balancing_run was called */

    return state->config.passed_seconds +
           (ran ? since(state->now_ns, state->facts.begun_ns) / SECOND_NS : 0);
}

/* Supersteps are compared while processes run, also beside the writers of a snapshot, which take
 * processors that nobody else wants.  A barrier that is to be decided already comes before the
 * look.
 */
bool coord_balancing_glance(struct coord *state, uint64_t superstep)
{
    struct coord_balancing *balancing = &state->balancing;

    if (!balancing->balance || state->saved_at_calls)
        return false;
    if (state->phase != COORD_RUNNING || state->wish != COORD_WISH_NONE ||
        superstep == COORD_NEVER || balancing->confirming) {
        pace_skip(&balancing->pace);
        return false;
    }
    if (!pace_glance(&balancing->pace, state->now_ns, superstep))
        return false;
    balancing->noticed = true;
    if (!state->asked)
        balancing->due_ns = state->now_ns;
    return !state->asked;
}

void coord_balancing_timer(struct coord *state, struct coord_effects *effects)
{
    if (state->balancing.balance && !state->saved_at_calls)
        coord_set_timer(state, effects, COORD_TIMER_GLANCE, state->config.look_ns / 1000000u + 1);
}

uint64_t coord_balancing_due_ns(const struct coord *state)
{
    const struct coord_balancing *balancing = &state->balancing;

    if (!balancing->balance || state->saved_at_calls || state->wish != COORD_WISH_NONE)
        return POLICY_NEVER;
    return balancing->due_ns > state->now_ns ? balancing->due_ns - state->now_ns : 0;
}

bool coord_balancing_asks(const struct coord *state)
{
    return coord_balancing_due_ns(state) == 0;
}

/* ---- Measurements ---- */

bool coord_balancing_understands(const struct coord *state, const struct coord_host *host,
                                 const struct wire_arrive *arrive)
{
    const struct wire_measure_list *list = &arrive->measures;
    const struct wire_traffic_list *traffic = &arrive->traffic;

    for (uint32_t i = 0; i < traffic->count; i++)
        if (traffic->items[i].from >= state->processes || traffic->items[i].to >= state->processes)
            return false;
    for (uint32_t i = 0; i < list->count; i++)
        if (list->items[i].pid >= state->processes ||
            &state->hosts[state->home[list->items[i].pid]] != host ||
            (i > 0 && list->items[i].pid <= list->items[i - 1].pid))
            return false;
    return list->count == 0 || list->count == host->count;
}

bool coord_balancing_is_small(const struct coord *state)
{
    const struct coord_balancing *balancing = &state->balancing;

    if (!balancing->balance || balancing->looks == 0)
        return false;
    for (uint32_t host = 0; host < state->host_count; host++) {
        double bytes = 0;

        for (uint32_t pid = 0; pid < state->processes; pid++)
            bytes += balancing->ranks[pid].home == host ? balancing->ranks[pid].image : 0;
        if (bytes > SMALL_BYTES)
            return false;
    }
    return true;
}

static bool is_leaving(const struct coord *state, uint32_t host)
{
    return state->hosts[host].drained && !state->all_drained;
}

/* A process that neither computes nor waits for a processor sleeps: no other host would wake it
 * earlier.  Those of a leaving host were left there when the term began, as their images fit
 * nowhere else: what they hold in memory is less than that, and whoever moved them by it would see
 * them put back. */
static void add_process(struct coord *state, uint32_t host, const struct wire_measure *measure,
                        double steps)
{
    struct coord_balancing *balancing = &state->balancing;
    struct coord_measured *last = &balancing->last[measure->pid];
    struct coord_past *past = &balancing->pasts[host];
    double work = since(measure->work_ns, last->work_ns);
    double waited = since(measure->waited_ns, last->waited_ns);

    balancing->ranks[measure->pid] =
        (struct balance_rank){.compute = work / SECOND_NS / steps,
                              .image = (double)measure->bytes,
                              .home = host,
                              .pinned = measure->bound || is_leaving(state, host)};
    past->work += work;
    past->heaviest = fmax(past->heaviest, work);
    past->ran += since(measure->ran_ns, last->ran_ns);
    past->waited += waited;
    past->slept = fmax(past->slept, since(measure->compute_ns, last->compute_ns) - work - waited);
    *last = (struct coord_measured){measure->compute_ns, measure->work_ns, measure->ran_ns,
                                    measure->waited_ns};
}

static void note_messages(struct coord *state, uint32_t host, const struct wire_arrive *arrive)
{
    for (uint32_t i = 0; i < arrive->traffic.count; i++) {
        const struct wire_traffic *pair = &arrive->traffic.items[i];
        traffic_see(&state->balancing.traffic, pair->from, pair->to, (double)pair->bytes);
    }
    for (uint32_t i = 0; i < arrive->ways.count; i++)
        for (uint32_t from = 0; from < state->host_count; from++)
            if (state->hosts[from].id == arrive->ways.items[i].host)
                ways_measure(&state->balancing.ways, from, host,
                             (double)arrive->ways.items[i].bandwidth);
}

void coord_balancing_note(struct coord *state, const struct coord_host *host,
                          const struct wire_arrive *arrive)
{
    struct coord_balancing *balancing = &state->balancing;
    uint32_t index = (uint32_t)(host - state->hosts);
    double steps = (double)(state->superstep + 1 - balancing->look_superstep);

    if (!balancing->balance || arrive->measures.count == 0)
        return;
    struct coord_past *past = &balancing->pasts[index];
    past->work = past->heaviest = past->ran = past->waited = past->slept = past->busy = 0;
    past->available = arrive->available;
    past->stale = arrive->busy_steps == past->busy_steps;
    if (arrive->busy_steps > past->busy_steps && arrive->busy_ns > past->busy_ns)
        past->busy = since(arrive->busy_ns, past->busy_ns) /
                     (double)(arrive->busy_steps - past->busy_steps) * steps;
    past->busy_ns = arrive->busy_ns;
    past->busy_steps = arrive->busy_steps;
    for (uint32_t i = 0; i < arrive->measures.count; i++)
        add_process(state, index, &arrive->measures.items[i], steps);
    note_messages(state, index, arrive);
    balancing->measured += arrive->measures.count;
}

/* ---- The decision ---- */

/* The availability with which the model of balance_model.h takes as long for the work of a host as
 * was measured.  A host whose processes did not wait for processors, or whose supersteps are short,
 * so that it is messages that take the time, is taken to be free. */
static double availability(const struct coord_past *past, const struct coord_host *host,
                           double steps)
{
    double cores = fmax(host->cores, 1);

    if (past->busy < SHORT_NS * steps || past->waited < HINDERED * past->busy ||
        past->busy < (1 + HINDERED) * fmax(past->heaviest, past->work / cores))
        return 1;
    if (past->slept < HINDERED * past->busy)
        return fmin(past->work / past->busy / cores, 1);
    /* What they had of what they wanted, were they all to want it at the same time. */
    return fmin(past->ran / (past->ran + past->waited) * fmax(host->count / cores, 1), 1);
}

static double spread_of(const struct coord_past *past)
{
    double mean = past->looks > 0 ? past->sum / past->looks : 0;

    return past->looks > 0 ? sqrt(fmax(past->squares / past->looks - mean * mean, 0)) : 0;
}

/* Whether the recent availability differs from that of the past by so much that it is another one:
 * not a little, and not by what the past has seen. */
static bool has_shifted(const struct coord_past *past)
{
    double mean = past->looks > 0 ? past->sum / past->looks : 0;
    double chance = fmax(spread_of(past), SPREAD * mean) * sqrt(1 + 1 / fmax(past->looks, 1));

    return past->looks > 0 &&
           fabs(past->recent - mean) > fmax(SHIFT * mean, SHIFT_SPREADS * chance);
}

/* The past begins with this measurement, and with the spread of what was before. */
static void begin_past(struct coord_past *past)
{
    double mean = past->looks > 0 ? past->sum / past->looks : 0;
    double spread = mean > 0 ? fmax(spread_of(past) / mean, SPREAD) : SPREAD;

    past->looks = 1;
    past->sum = past->recent;
    past->squares = past->recent * past->recent * (1 + spread * spread);
}

static void note_availability(struct coord_past *past)
{
    if (past->looks == 0 || has_shifted(past)) {
        begin_past(past);
        return;
    }
    past->sum += past->recent;
    past->squares += past->recent * past->recent;
    past->looks++;
}

/* Measures the availability of all hosts with processes.  True: it has changed somewhere.  Where
 * supersteps are short nothing was measured that later jobs could want to know. */
static bool measure(struct coord *state, double elapsed_ns, double steps)
{
    bool shifted = false;

    for (uint32_t i = 0; i < state->host_count; i++) {
        struct coord_past *past = &state->balancing.pasts[i];
        if (state->hosts[i].count == 0)
            continue;
        past->recent = availability(past, &state->hosts[i], steps);
        shifted = shifted || has_shifted(past);
        if (past->busy >= SHORT_NS * steps)
            share_add(&past->shares, past->recent, elapsed_ns / SECOND_NS);
    }
    return shifted;
}

static void describe_host(const struct coord *state, uint32_t index)
{
    const struct coord_host *host = &state->hosts[index];
    const struct coord_past *past = &state->balancing.pasts[index];
    double looks = past->looks, mean = looks > 0 ? past->sum / looks : 0;

    state->balancing.hosts[index] = (struct balance_host){
        .speed = host->speed,
        .cores = fmax(host->cores, 1),
        .recent = past->recent,
        .recent_samples = looks > 0 && host->count > 0,
        .history = mean,
        .samples = looks,
        .spread = spread_of(past),
        .free = past->available != PLACEMENT_UNKNOWN ? (double)past->available : ENOUGH,
        .leaving = is_leaving(state, index),
    };
}

static void move(struct coord *state, const struct balance_answer *answer)
{
    struct coord_balancing *balancing = &state->balancing;

    for (uint32_t i = 0; i < answer->count; i++)
        balancing->moves[i] =
            (struct wire_move){answer->moves[i].rank, state->hosts[answer->moves[i].to].id};
    balancing->move_count = answer->count;
    state->wish = COORD_WISH_MOVE;
}

/* The next look confirms what this one is taken to be in the middle of.  A change that does not
 * last as long as a move takes is not worth one. */
static void look_again(struct coord *state, double elapsed_ns, double steps)
{
    double next = fmax(CONFIRM * elapsed_ns / steps, (double)state->config.look_ns);

    next = fmax(next, move_seconds(state) * SECOND_NS);
    state->balancing.confirming = true;
    state->balancing.passed_ns += elapsed_ns;
    state->balancing.due_ns = state->now_ns + (uint64_t)fmin(next, (double)LOOK_MOST_NS);
}

static void look(struct coord *state, double elapsed_ns, double steps)
{
    struct coord_balancing *balancing = &state->balancing;
    struct balance_answer answer = {.alpha = 1};
    struct balance_facts facts = {.superstep = state->superstep + 1,
                                  .ranks = balancing->ranks,
                                  .rank_count = state->processes,
                                  .hosts = balancing->hosts,
                                  .host_count = state->host_count,
                                  .superstep_seconds = elapsed_ns / SECOND_NS / steps,
                                  .passed_seconds = (elapsed_ns + balancing->passed_ns) / SECOND_NS,
                                  .move_seconds = move_seconds(state)};

    if (facts.superstep_seconds >= fmax(TALK_SECONDS, UNSEEN_SECONDS * state->processes)) {
        facts.traffic = balancing->traffic.pairs;
        facts.traffic_count = balancing->traffic.count;
        facts.links = ways_expect(&balancing->ways);
    }
    bool shifted = measure(state, elapsed_ns, steps), noticed = balancing->noticed;
    balancing->noticed = false;
    if ((shifted || noticed) && !balancing->confirming) {
        look_again(state, elapsed_ns, steps);
        return;
    }
    balancing->confirming = false;
    balancing->passed_ns = 0;
    for (uint32_t i = 0; i < state->host_count; i++) {
        if (state->hosts[i].count > 0)
            note_availability(&balancing->pasts[i]);
        describe_host(state, i);
    }
    if (balancing->looks >= LOOKS_LEAST &&
        balance_decide(balancing->balance, state->config.balance_rule, &facts, &answer) == 0 &&
        answer.count > 0)
        move(state, &answer);
    double next = answer.alpha * elapsed_ns / steps;
    balancing->due_ns = state->now_ns + (uint64_t)fmin(fmax(next, (double)state->config.look_ns),
                                                       (double)LOOK_MOST_NS);
}

/* A superstep after a barrier that was decided is not timed. */
static bool is_stale(const struct coord *state)
{
    for (uint32_t i = 0; i < state->host_count; i++)
        if (state->hosts[i].count > 0 && state->balancing.pasts[i].stale)
            return true;
    return false;
}

/* Later, and later each time. */
static void miss(struct coord *state, double elapsed_ns, double steps)
{
    struct coord_balancing *balancing = &state->balancing;
    uint64_t next = state->config.look_ns << balancing->misses;

    balancing->due_ns = state->now_ns + (uint64_t)fmax((double)next, CONFIRM * elapsed_ns / steps);
    balancing->misses += balancing->misses < MISSES_MOST;
}

void coord_balancing_decide(struct coord *state)
{
    struct coord_balancing *balancing = &state->balancing;
    bool complete = balancing->measured == state->processes;
    double elapsed_ns = since(state->now_ns, balancing->look_ns);

    balancing->measured = 0;
    if (!balancing->balance)
        return;
    if (!coord_balancing_asks(state)) {
        if (balancing->noticed)
            balancing->due_ns = state->now_ns;
        return;
    }
    double steps = (double)(state->superstep + 1 - balancing->look_superstep);
    if (!complete) {
        traffic_drop(&balancing->traffic);
        miss(state, 0, steps);
        if (balancing->noticed) /* it had been decided before that, and nobody was asked */
            balancing->due_ns = state->now_ns;
        balancing->noticed = false;
        return;
    }
    traffic_look(&balancing->traffic);
    if (balancing->looks > 0 && is_stale(state)) {
        balancing->passed_ns += elapsed_ns;
        miss(state, elapsed_ns, steps);
    } else {
        balancing->misses = 0;
        if (balancing->looks++ > 0)
            look(state, elapsed_ns, steps);
        else
            balancing->due_ns = state->now_ns + state->config.look_ns;
    }
    balancing->look_ns = state->now_ns;
    balancing->look_superstep = state->superstep + 1;
}
