/* balance.c - which ranks should move to which hosts.
 *
 * The plan is made move by move, each off one of the hosts that delay the job most, to the host of
 * the candidates with the greatest potential that leaves the shortest superstep.  Where several
 * hosts are equally slow only the last of their moves shortens the superstep, so the plan goes on
 * as long as nothing gets longer, and is then cut where gain minus cost is greatest. */
#include "coordinator/core/balance.h"
#include "coordinator/core/balance_model.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define TARGETS  4    /* candidates for which the whole superstep is computed */
#define ROUNDING 1e-9 /* relative: times that differ by less are equal */
#define GROWN    1.1  /* an imbalance that nothing could be done about is looked at again then */
#define LONGER   1.1  /* than the links explain */
#define BOLD     4.0  /* bound of measured by expected superstep */

struct traffic_sums {
    double out, in;  /* seconds of images that leave a host, and that come to it */
    double promised; /* bytes of images that come */
    bool tried;      /* as a source of moves, in vain */
};

struct balance {
    uint32_t rank_most, host_most;
    size_t traffic_most;
    uint32_t alpha; /* 0 before the first decision */
    double spent;   /* highest cost of all planned moves, those off leaving hosts aside */
    double passed;  /* seconds of the supersteps up to `counted`, and of what was before */
    uint64_t counted;
    double fruitless;          /* the imbalance about which nothing could be done */
    uint64_t *rests_until;     /* per rank: superstep */
    struct traffic_sums *sums; /* per host */
    bool *planned;             /* per rank */
    uint32_t *order;           /* of ranks to be moved off leaving hosts */
    struct balance_move *moves;
    struct model model;
};

/* One decision. */
struct plan {
    struct balance *balance;
    const struct balance_rule *rule;
    const struct balance_facts *facts;
    double horizon; /* supersteps */
    double bytes;   /* of planned moves */
    uint32_t count;
};

struct candidate {
    struct balance_move move;
    double superstep;
};

/* ---- Memory -------------------------------------------------------------------------------- */

void balance_free(struct balance *balance)
{
    if (balance == NULL)
        return;
    free(balance->rests_until);
    free(balance->sums);
    free(balance->planned);
    free(balance->order);
    free(balance->moves);
    free(balance->model.hosts);
    free(balance->model.ranks);
    free(balance->model.offsets);
    free(balance->model.edges);
    free(balance);
}

struct balance *balance_new(uint32_t ranks, uint32_t hosts, size_t traffic)
{
    struct balance *balance = NULL;

    if (ranks > 0 && hosts > 0 && traffic <= UINT32_MAX / 2)
        balance = calloc(1, sizeof(*balance));
    if (balance == NULL)
        return NULL;
    *balance = (struct balance){
        .rank_most = ranks,
        .host_most = hosts,
        .traffic_most = traffic,
        .rests_until = calloc(ranks, sizeof(*balance->rests_until)),
        .sums = calloc(hosts, sizeof(*balance->sums)),
        .planned = calloc(ranks, sizeof(*balance->planned)),
        .order = calloc(ranks, sizeof(*balance->order)),
        .moves = calloc(ranks, sizeof(*balance->moves)),
        .model.hosts = calloc(hosts, sizeof(*balance->model.hosts)),
        .model.ranks = calloc(ranks, sizeof(*balance->model.ranks)),
        .model.offsets = calloc((size_t)ranks + 1, sizeof(*balance->model.offsets)),
        .model.edges = calloc(2 * traffic + 1, sizeof(*balance->model.edges)),
    };
    if (balance->rests_until == NULL || balance->sums == NULL || balance->planned == NULL ||
        balance->order == NULL || balance->moves == NULL || balance->model.hosts == NULL ||
        balance->model.ranks == NULL || balance->model.offsets == NULL ||
        balance->model.edges == NULL) {
        balance_free(balance);
        return NULL;
    }
    return balance;
}

double balance_spent(const struct balance *balance)
{
    return balance->spent;
}

void balance_go_on(struct balance *balance, double spent, double passed)
{
    balance->spent += model_clean(spent);
    balance->passed += model_clean(passed);
}

/* ---- Arguments ----------------------------------------------------------------------------- */

static bool is_sensible(const struct balance_rule *rule)
{
    return rule->margin >= 0 && isfinite(rule->margin) && rule->budget >= 0 &&
           rule->imbalance >= 0 && rule->alpha_least > 0 && rule->alpha_most >= rule->alpha_least;
}

static bool is_complete(const struct balance *balance, const struct balance_facts *facts)
{
    if (facts->rank_count > balance->rank_most || facts->host_count > balance->host_most ||
        facts->traffic_count > balance->traffic_most || facts->host_count == 0)
        return false;
    for (uint32_t i = 0; i < facts->rank_count; i++)
        if (facts->ranks[i].home >= facts->host_count)
            return false;
    for (size_t i = 0; i < facts->traffic_count; i++)
        if (facts->traffic[i].from >= facts->rank_count ||
            facts->traffic[i].to >= facts->rank_count)
            return false;
    return true;
}

/* ---- One move ------------------------------------------------------------------------------ */

/* Memory counts as taken as soon as an image is sent, and as free only after the moves. */
static bool fits(const struct plan *plan, uint32_t rank, uint32_t to)
{
    double image = model_clean(plan->facts->ranks[rank].image);
    return model_clean(plan->facts->hosts[to].free) >= plan->balance->sums[to].promised + image;
}

static struct balance_move potential(const struct plan *plan, uint32_t rank, uint32_t to)
{
    struct model *model = &plan->balance->model;
    uint32_t from = model->ranks[rank].home;
    struct model_times now = model_times_at(model, rank, from);
    struct model_times then = model_times_at(model, rank, to);
    struct balance_move move = {.rank = rank, .from = from, .to = to};

    model->evaluated += 2;
    move.comp = plan->horizon * (now.comp - then.comp);
    move.comm = plan->horizon * (now.comm - then.comm);
    move.mem = model_transfer(model, rank, from, to);
    if (plan->count == 0) /* those that follow the first move go with it */
        move.mem += model_clean(plan->facts->move_seconds);
    move.pm = move.comp + move.comm - move.mem;
    return move;
}

/* Keeps the TARGETS candidates of greatest potential, the greatest first; of equal ones those that
 * came first.  Returns their number. */
static uint32_t keep_best(struct candidate best[TARGETS], uint32_t count,
                          const struct balance_move *move)
{
    uint32_t at = count;

    while (at > 0 && best[at - 1].move.pm < move->pm)
        at--;
    if (at == TARGETS)
        return count;
    uint32_t kept = count < TARGETS ? count : TARGETS - 1;
    memmove(&best[at + 1], &best[at], (kept - at) * sizeof(*best));
    best[at] = (struct candidate){*move, 0};
    return kept + 1;
}

/* Of the candidates the one that leaves the shortest superstep, and the host it goes to quicker
 * than `slow`; NULL: none. */
static const struct candidate *shortest(struct plan *plan, struct candidate *best, uint32_t count,
                                        double slow)
{
    struct model *model = &plan->balance->model;
    const struct candidate *chosen = NULL;

    for (uint32_t i = 0; i < count; i++) {
        uint32_t from = best[i].move.from;
        model_put(model, best[i].move.rank, best[i].move.to);
        best[i].superstep = model_superstep(model);
        bool quicker = model_slow(model, best[i].move.to) < slow * (1 - ROUNDING);
        model_put(model, best[i].move.rank, from);
        if (!quicker)
            continue;
        if (chosen == NULL || best[i].superstep < chosen->superstep * (1 - ROUNDING))
            chosen = &best[i];
    }
    return chosen;
}

static void make(struct plan *plan, const struct balance_move *move)
{
    struct balance *balance = plan->balance;
    double seconds = model_transfer(&balance->model, move->rank, move->from, move->to);

    balance->sums[move->from].out += seconds;
    balance->sums[move->to].in += seconds;
    balance->sums[move->to].promised += model_clean(plan->facts->ranks[move->rank].image);
    plan->bytes += model_clean(plan->facts->ranks[move->rank].image);
    balance->planned[move->rank] = true;
    balance->moves[plan->count++] = *move;
    model_put(&balance->model, move->rank, move->to);
}

/* The time of all transfers as the links of their hosts explain it: at the same time, but those of
 * one host one after the other.  `all`: one after the other altogether. */
static double links_take(const struct plan *plan, double *all)
{
    double longest = 0;

    *all = 0;
    for (uint32_t i = 0; i < plan->facts->host_count; i++) {
        longest = fmax(longest, fmax(plan->balance->sums[i].out, plan->balance->sums[i].in));
        *all += plan->balance->sums[i].out;
    }
    return longest;
}

/* Expected cost of the planned moves; most: the highest that measurements allow. */
static double cost_of(const struct plan *plan, bool most)
{
    double shared = model_clean(plan->facts->move_bandwidth), all;
    double longest = links_take(plan, &all);

    if (plan->count == 0)
        return 0;
    if (shared > 0)
        longest = fmax(longest, plan->bytes / shared);
    else
        longest = most ? all : sqrt(longest * all);
    return model_clean(plan->facts->move_seconds) + longest;
}

double balance_shared(const struct balance_facts *facts, const struct balance_answer *answer,
                      double seconds)
{
    double known = model_clean(facts->move_bandwidth);
    double transfers = model_clean(seconds) - model_clean(facts->move_seconds);

    if (answer->bytes <= 0 || transfers <= 0)
        return known;
    double reached = answer->bytes / transfers;
    if (transfers > LONGER * answer->transfer)
        return reached;
    return fmax(known, 2 * reached);
}

/* ---- Leaving hosts ------------------------------------------------------------------------- */

/* The greatest image first: what is small fits in what is left. */
static int compare_images(const void *one, const void *other, void *of)
{
    const struct balance_rank *ranks = of;
    uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;
    double image_a = model_clean(ranks[a].image), image_b = model_clean(ranks[b].image);

    if (image_a != image_b)
        return image_a > image_b ? -1 : 1;
    return a < b ? -1 : a > b;
}

/* Plans the moves off all leaving hosts; returns how many ranks cannot be moved, and how many of
 * them for want of memory only. */
static uint32_t empty_leaving(struct plan *plan, uint32_t *waiting)
{
    const struct balance_facts *facts = plan->facts;
    struct balance *balance = plan->balance;
    uint32_t count = 0, stranded = 0;

    for (uint32_t rank = 0; rank < facts->rank_count; rank++)
        if (facts->hosts[facts->ranks[rank].home].leaving)
            balance->order[count++] = rank;
    qsort_r(balance->order, count, sizeof(*balance->order), compare_images,
            (void *)(uintptr_t)facts->ranks);
    for (uint32_t i = 0; i < count; i++) {
        struct candidate best[TARGETS];
        uint32_t rank = balance->order[i], found = 0;
        for (uint32_t to = 0; to < facts->host_count && !facts->ranks[rank].pinned; to++)
            if (balance->model.hosts[to].usable && fits(plan, rank, to)) {
                struct balance_move move = potential(plan, rank, to);
                move.forced = true;
                found = keep_best(best, found, &move);
            }
        if (found > 0)
            make(plan, &shortest(plan, best, found, INFINITY)->move);
        else {
            stranded++;
            *waiting += !facts->ranks[rank].pinned;
        }
    }
    return stranded;
}

/* ---- What is worth moving ------------------------------------------------------------------ */

static bool may_move(const struct plan *plan, uint32_t rank)
{
    uint64_t until = plan->balance->rests_until[rank], now = plan->facts->superstep;

    if (plan->facts->ranks[rank].pinned || plan->balance->planned[rank])
        return false;
    /* A rest longer than any is of a time that the job fell back behind. */
    return until <= now || until - now > plan->rule->rest;
}

/* The host that delays the others most and was not tried yet. */
static uint32_t slowest(const struct plan *plan)
{
    const struct model *model = &plan->balance->model;
    uint32_t found = MODEL_NONE;
    double most = 0;

    for (uint32_t i = 0; i < plan->facts->host_count; i++) {
        if (model->hosts[i].count == 0 || plan->balance->sums[i].tried)
            continue;
        double slow = model_slow(model, i);
        if (slow > most) {
            most = slow;
            found = i;
        }
    }
    return found;
}

/* The best move off that host that makes nothing worse.  False: there is none. */
static bool find_move(struct plan *plan, uint32_t source, double superstep, struct candidate *found)
{
    struct model *model = &plan->balance->model;
    double slow = model_slow(model, source);
    struct candidate best[TARGETS];
    uint32_t count = 0;

    for (uint32_t rank = model->hosts[source].first; rank != MODEL_NONE;
         rank = model->ranks[rank].next) {
        if (!may_move(plan, rank))
            continue;
        for (uint32_t to = 0; to < plan->facts->host_count; to++) {
            if (to == source || !model->hosts[to].usable || !fits(plan, rank, to) ||
                model_slow_with(model, to, rank) >= slow * (1 - ROUNDING))
                continue;
            struct balance_move move = potential(plan, rank, to);
            if (move.pm > plan->rule->margin * move.mem && move.pm > 0)
                count = keep_best(best, count, &move);
        }
    }
    const struct candidate *chosen = shortest(plan, best, count, slow);
    if (chosen == NULL)
        return false;
    *found = *chosen;
    return found->superstep <= superstep * (1 + ROUNDING);
}

/* The next move of the plan, off the slowest host that can be relieved.  One that could not be is
 * not looked at again in this decision: what is planned later leaves it no more.  False: there is
 * none. */
static bool next_move(struct plan *plan, double superstep, struct candidate *found)
{
    for (;;) {
        uint32_t source = slowest(plan);
        if (source == MODEL_NONE)
            return false;
        if (find_move(plan, source, superstep, found))
            return true;
        plan->balance->sums[source].tried = true;
    }
}

/* Plans moves while some host can be relieved, and keeps as many of the first as are worth most
 * together.  Returns the expected superstep after them. */
static double improve(struct plan *plan, double before)
{
    struct balance *balance = plan->balance;
    double measured = model_clean(plan->facts->superstep_seconds);
    /* What the model saves is saved in proportion to what was measured. */
    double truth = measured > 0 && before > 0 ? fmin(fmax(measured / before, 1 / BOLD), BOLD) : 1;
    double superstep = before, after = before, most = 0, spent = 0;
    uint32_t worth = plan->count, limit = plan->rule->moves;
    struct candidate next;

    while (plan->count < limit && next_move(plan, superstep, &next)) {
        make(plan, &next.move);
        superstep = next.superstep;
        double dearest = cost_of(plan, true);
        if (balance->spent + dearest > plan->rule->budget * balance->passed)
            break;
        double net = plan->horizon * truth * (before - superstep) -
                     (1 + plan->rule->margin) * cost_of(plan, false);
        if (net > most * (1 + ROUNDING)) {
            most = net;
            spent = dearest;
            worth = plan->count;
            after = superstep;
        }
    }
    balance->spent += spent;
    while (plan->count > worth) {
        struct balance_move *move = &balance->moves[--plan->count];
        double seconds = model_transfer(&balance->model, move->rank, move->from, move->to);
        balance->sums[move->from].out -= seconds;
        balance->sums[move->to].in -= seconds;
        plan->bytes -= model_clean(plan->facts->ranks[move->rank].image);
        model_put(&balance->model, move->rank, move->from);
    }
    return after;
}

/* ---- The decision -------------------------------------------------------------------------- */

/* Supersteps until the next decision; see balance.h. */
static uint32_t next_alpha(struct balance *balance, const struct balance_rule *rule, bool moved,
                           double imbalance)
{
    uint32_t alpha = balance->alpha > 0 ? balance->alpha : rule->alpha_least;
    bool worse = imbalance > rule->imbalance && imbalance > GROWN * balance->fruitless;

    if (moved)
        alpha = rule->alpha_least;
    else if (worse && balance->alpha > 0)
        alpha = alpha / 2;
    else
        alpha = alpha > rule->alpha_most / 2 ? rule->alpha_most : 2 * alpha;
    balance->fruitless = moved ? 0 : imbalance;
    if (alpha > rule->alpha_most)
        alpha = rule->alpha_most;
    return alpha > rule->alpha_least ? alpha : rule->alpha_least;
}

/* Supersteps that are done again after a rollback are not counted again. */
static void count_time(struct balance *balance, const struct balance_facts *facts, double expected)
{
    double measured = model_clean(facts->superstep_seconds);
    double passed = model_clean(facts->passed_seconds);

    if (facts->superstep <= balance->counted)
        return;
    if (passed <= 0)
        passed =
            (double)(facts->superstep - balance->counted) * (measured > 0 ? measured : expected);
    balance->passed += passed;
    balance->counted = facts->superstep;
}

static void begin(struct balance *balance, const struct balance_facts *facts)
{
    memset(balance->sums, 0, facts->host_count * sizeof(*balance->sums));
    memset(balance->planned, 0, facts->rank_count * sizeof(*balance->planned));
    model_fill(&balance->model, facts);
}

/* Those that move stay where they go for a while. */
static void let_rest(struct plan *plan)
{
    double least = plan->rule->alpha_least;
    double rest = fmin(fmax(plan->horizon, least), plan->rule->rest);

    for (uint32_t i = 0; i < plan->count; i++)
        plan->balance->rests_until[plan->balance->moves[i].rank] =
            plan->facts->superstep + (uint64_t)rest;
}

int balance_decide(struct balance *balance, const struct balance_rule *rule,
                   const struct balance_facts *facts, struct balance_answer *answer)
{
    if (!is_sensible(rule) || !is_complete(balance, facts))
        return -EINVAL;
    struct plan plan = {
        .balance = balance, .rule = rule, .facts = facts, .horizon = (double)facts->superstep / 2};
    begin(balance, facts);
    struct balance_answer made = {.moves = balance->moves,
                                  .imbalance = model_imbalance(&balance->model),
                                  .before = model_superstep(&balance->model)};
    uint32_t waiting = 0;
    count_time(balance, facts, made.before);
    made.stranded = empty_leaving(&plan, &waiting);
    /* Off leaving hosts at once, without what would delay that. */
    if (plan.count > 0)
        made.after = model_superstep(&balance->model);
    else
        made.after = improve(&plan, made.before);
    made.count = plan.count;
    made.cost = cost_of(&plan, false);
    made.bytes = plan.bytes;
    double all;
    made.transfer = links_take(&plan, &all);
    made.alpha = next_alpha(balance, rule, plan.count > 0 || waiting > 0, made.imbalance);
    made.evaluated = balance->model.evaluated;
    balance->alpha = made.alpha;
    let_rest(&plan);
    *answer = made;
    return 0;
}
