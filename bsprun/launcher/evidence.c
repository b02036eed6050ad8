/* evidence.c - bsprun's observations of failures; see evidence.h. */
#include "bsprun/launcher/evidence.h"

#define SLEPT_MS 1000u /* tolerance for drift, and for clocks read one after the other */

static uint64_t between(uint64_t from_ms, uint64_t to_ms)
{
    return to_ms > from_ms ? to_ms - from_ms : 0;
}

void evidence_begin(struct evidence *evidence, const struct estimate *prior,
                    struct evidence_time now)
{
    *evidence = (struct evidence){
        .estimate = *prior, .watched = now, .interval_ns = WIRE_NEVER, .why = WIRE_WHY_OFF};
}

void evidence_watch(struct evidence *evidence, double hosts, double processes,
                    struct evidence_time now)
{
    uint64_t passed = between(evidence->watched.monotonic_ms, now.monotonic_ms);
    uint64_t with_sleep = between(evidence->watched.boot_ms, now.boot_ms);

    evidence->seen.host_seconds += hosts * (double)passed / 1e3;
    evidence->seen.process_seconds += processes * (double)passed / 1e3;
    if (with_sleep > passed && with_sleep - passed > SLEPT_MS)
        evidence->woke_ms = now.monotonic_ms > 0 ? now.monotonic_ms : 1;
    if (now.monotonic_ms > evidence->watched.monotonic_ms)
        evidence->watched.monotonic_ms = now.monotonic_ms;
    if (now.boot_ms > evidence->watched.boot_ms)
        evidence->watched.boot_ms = now.boot_ms;
}

enum estimate_kind evidence_kind(const struct evidence *evidence, enum evidence_loss how,
                                 uint64_t silence_ms, uint64_t bound_ms, struct evidence_time now)
{
    bool slept =
        evidence->woke_ms > 0 && between(evidence->woke_ms, now.monotonic_ms) <= 2 * bound_ms;

    switch (how) {
    case EVIDENCE_RANK_DIED:
        return ESTIMATE_PROCESS;
    case EVIDENCE_LINK:
        return ESTIMATE_SPLIT;
    case EVIDENCE_AGENT_ENDED:
        if (bound_ms == 0)
            return ESTIMATE_PROCESS; /* on this host, which is alive */
        if (slept)
            return ESTIMATE_SPLIT;
        /* A late answer of the kernel means that the host was rebooted. */
        return 2 * silence_ms < bound_ms ? ESTIMATE_PROCESS : ESTIMATE_HOST;
    default:
        return slept ? ESTIMATE_SPLIT : ESTIMATE_HOST;
    }
}

bool evidence_fault(struct evidence *evidence, enum estimate_kind kind, uint64_t silence_ms,
                    uint64_t together_ms, struct evidence_time now)
{
    uint64_t last = evidence->counted_ms[kind];
    bool again = last > 0 && between(last, now.monotonic_ms) <= together_ms && evidence->recovering;

    evidence->kind = kind;
    if (!evidence->recovering)
        evidence->ceased_ms = now.monotonic_ms - (silence_ms < now.monotonic_ms ? silence_ms : 0);
    evidence->recovering = true;
    if (again)
        return false;
    evidence->counted_ms[kind] = now.monotonic_ms > 0 ? now.monotonic_ms : 1;
    evidence->seen.failures[kind]++;
    return true;
}

uint32_t evidence_new(const struct evidence *evidence, enum estimate_kind kind)
{
    return evidence->seen.failures[kind] - evidence->handed[kind];
}

bool evidence_change(struct evidence *evidence, enum estimate_kind from, enum estimate_kind to)
{
    if (evidence_new(evidence, from) == 0)
        return false;
    evidence->seen.failures[from]--;
    evidence->seen.failures[to]++;
    evidence->counted_ms[to] = evidence->counted_ms[from];
    if (evidence->kind == from)
        evidence->kind = to;
    return true;
}

void evidence_running(struct evidence *evidence)
{
    evidence->recovering = false;
}

void evidence_elect(struct evidence *evidence, uint32_t term, struct evidence_time now,
                    struct evidence_room *room, struct wire_elect *elect)
{
    double numbers[ESTIMATE_NUMBERS];

    estimate_to_numbers(&evidence->estimate, numbers);
    for (uint32_t i = 0; i < ESTIMATE_NUMBERS; i++)
        room->numbers[i].value = numbers[i];
    for (uint32_t i = 0; i < ESTIMATE_KINDS; i++)
        room->failures[i] = evidence->handed[i] = evidence->seen.failures[i];
    evidence->handed_term = term;
    elect->estimate = (struct wire_real_list){room->numbers, ESTIMATE_NUMBERS};
    elect->failures = (struct wire_numbers){room->failures, ESTIMATE_KINDS};
    elect->watched_hosts = evidence->seen.host_seconds;
    elect->watched_processes = evidence->seen.process_seconds;
    elect->recovers = evidence->recovering ? (uint32_t)evidence->kind + 1 : 0;
    elect->down =
        evidence->recovering ? (double)between(evidence->ceased_ms, now.monotonic_ms) / 1e3 : 0;
}

bool evidence_take(struct evidence *evidence, uint32_t term, const struct wire_learned *learned)
{
    double values[ESTIMATE_NUMBERS];
    uint32_t count = learned->estimate.count;
    struct estimate told;

    if (count > ESTIMATE_NUMBERS)
        count = ESTIMATE_NUMBERS;
    for (uint32_t i = 0; i < count; i++)
        values[i] = learned->estimate.items[i].value;
    if (term != evidence->handed_term || learned->why >= WIRE_WHY_COUNT ||
        estimate_from_numbers(&told, values, count) != 0)
        return false;
    evidence->estimate = told;
    evidence->interval_ns = learned->interval_ns;
    evidence->why = learned->why;
    evidence->told = true;
    /* The estimate includes what was passed with the election, and the time up to now, but not
     * failures observed since: those go to the next Processor Zero. */
    for (uint32_t i = 0; i < ESTIMATE_KINDS; i++) {
        evidence->seen.failures[i] -= evidence->handed[i];
        evidence->handed[i] = 0;
    }
    evidence->seen.host_seconds = evidence->seen.process_seconds = 0;
    return true;
}

struct estimate evidence_estimate(const struct evidence *evidence)
{
    struct estimate estimate = evidence->estimate;

    coord_add_seen(&estimate, &evidence->seen);
    return estimate;
}
