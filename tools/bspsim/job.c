/* job.c - a simulated job; see job.h.
 *
 * Events are: the next barrier about which Processor Zero is consulted, the commit of the snapshot
 * that is being written, the first failure, the end.  While the job computes, work is a linear
 * function of time, through `from_ns` and `from_work`.
 */
#include "tools/bspsim/job.h"

#include <math.h>

#define NEVER UINT64_MAX

struct job {
    const struct job_setup *setup;
    struct lives *lives;
    struct job_result *result;
    struct observed observed;
    struct policy_facts facts;
    uint64_t now_ns;
    uint64_t from_ns, from_work; /* when the processes went on, and the work done until then */
    double slowness;             /* time per work: all hosts divided by used hosts */
    uint64_t barrier;            /* the last one passed, in supersteps */
    uint64_t saved_work;         /* of the newest committed snapshot */
    uint64_t written_work, commit_at_ns; /* of the one that is being written; NEVER: none */
    uint64_t failure_ns;                 /* the first of a used host ... */
    uint32_t failing;                    /* ... which is this one */
};

static uint64_t plus(uint64_t a, uint64_t b)
{
    return a < NEVER - b ? a + b : NEVER;
}

/* ---- Hosts -------------------------------------------------------------------------------- */

static bool is_given_up(const struct job *job)
{
    return job->now_ns >= job->setup->limit_ns || job->result->failures >= JOB_FAILURES_MOST;
}

static void find_failure(struct job *job)
{
    const struct lives *lives = job->lives;
    job->failure_ns = NEVER;
    for (uint32_t i = 0; i < lives->count; i++)
        if (lives->hosts[i].used && lives->hosts[i].down_ns < job->failure_ns) {
            job->failure_ns = lives->hosts[i].down_ns;
            job->failing = i;
        }
}

/* Uses the hosts that are up; if none is, waits for one.  False: none will ever be. */
static bool recruit(struct job *job)
{
    struct lives *lives = job->lives;
    uint32_t used = 0;
    for (;;) {
        uint64_t first_ns = NEVER;
        for (uint32_t i = 0; i < lives->count; i++) {
            struct lives_host *host = &lives->hosts[i];
            while (host->up_ns != LIVES_FOR_EVER && host->down_ns <= job->now_ns)
                lives_next(lives, i);
            host->used = host->up_ns <= job->now_ns;
            used += host->used;
            if (host->up_ns < first_ns)
                first_ns = host->up_ns;
        }
        if (used > 0)
            break;
        if (first_ns >= job->setup->limit_ns) {
            job->now_ns = job->setup->limit_ns;
            return false;
        }
        job->result->waiting_ns += first_ns - job->now_ns;
        job->now_ns = first_ns;
    }
    job->slowness = (double)lives->count / used;
    observed_hosts(&job->observed, used, job->now_ns);
    find_failure(job);
    return true;
}

/* A used host fails now. */
static void lose_host(struct job *job)
{
    job->now_ns = job->failure_ns;
    job->result->failures++;
    observed_failure(&job->observed, job->now_ns);
    lives_next(job->lives, job->failing);
}

/* ---- The time of a term ------------------------------------------------------------------- */

static uint64_t time_of(const struct job *job, uint64_t work)
{
    uint64_t left = work - job->from_work;
    return plus(job->from_ns,
                job->slowness == 1 ? left : (uint64_t)ceil((double)left * job->slowness));
}

static uint64_t work_at(const struct job *job, uint64_t when_ns)
{
    uint64_t passed = when_ns - job->from_ns;
    return job->from_work +
           (job->slowness == 1 ? passed : (uint64_t)((double)passed / job->slowness));
}

static void go_on(struct job *job, uint64_t work)
{
    job->from_ns = job->facts.last_ns = job->now_ns;
    job->from_work = work;
    job->barrier = work / job->setup->superstep_ns;
}

static void begin_term(struct job *job)
{
    job->facts = (struct policy_facts){
        .begun_ns = job->now_ns,
        .restored = job->saved_work > 0,
        .superstep_ns = (uint64_t)((double)job->setup->superstep_ns * job->slowness)};
    observed_term(&job->observed);
    go_on(job, job->saved_work);
}

/* Restores the processes; false: the job is abandoned. */
static bool restore(struct job *job)
{
    job->commit_at_ns = NEVER;
    for (;;) {
        if (!recruit(job))
            return false;
        uint64_t begun_ns = job->now_ns, done_ns = plus(begun_ns, job->setup->restore_ns);
        bool again = job->failure_ns < done_ns && !job->setup->calm_restores;
        job->result->restores++;
        while (job->failure_ns < done_ns) { /* without effect if restores are calm */
            lose_host(job);
            if (again)
                break;
            find_failure(job);
        }
        if (!again)
            job->now_ns = done_ns;
        job->result->down_ns += job->now_ns - begun_ns;
        if (is_given_up(job))
            return false;
        if (!again) {
            observed_restore(&job->observed, job->now_ns - begun_ns);
            begin_term(job);
            return true;
        }
    }
}

static bool fall_back(struct job *job)
{
    lose_host(job);
    return restore(job);
}

/* ---- Snapshots ---------------------------------------------------------------------------- */

static void commit(struct job *job)
{
    job->saved_work = job->written_work;
    if (job->now_ns <= job->setup->limit_ns) /* a job is given up at the next event after it */
        job->result->useful_ns = job->saved_work;
    job->commit_at_ns = NEVER;
    job->facts.writing = false;
    observed_commit(&job->observed, job->setup->commit_ns);
}

/* The job pauses at a barrier; false: a host fails meanwhile. */
static bool stand(struct job *job, uint64_t until_ns)
{
    if (job->failure_ns < until_ns)
        return false;
    job->now_ns = until_ns;
    return true;
}

static bool save(struct job *job, uint64_t work)
{
    uint64_t begun_ns = job->now_ns;
    bool stood = stand(job, plus(begun_ns, job->setup->snapshot_ns));
    job->result->saving_ns += (stood ? job->now_ns : job->failure_ns) - begun_ns;
    if (!stood)
        return false;
    job->result->snapshots++;
    observed_pause(&job->observed, job->setup->snapshot_ns);
    go_on(job, work);
    job->facts.taken = job->facts.writing = true;
    job->written_work = work;
    job->commit_at_ns = plus(job->now_ns, job->setup->commit_ns);
    if (job->setup->commit_ns == 0)
        commit(job);
    return true;
}

/* Other rules do not use the estimates. */
static bool is_auto(const struct job *job)
{
    return job->setup->rule.kind == POLICY_AUTO;
}

static void compare(struct job *job)
{
    double used = (double)job->lives->count / job->slowness;
    observed_compare(&job->observed, &job->facts, used * lives_rate(job->lives->law, job->now_ns));
}

/* At a barrier; false: a host fails before the job goes on. */
static bool decide(struct job *job, uint64_t work)
{
    for (;;) {
        job->facts.now_ns = job->now_ns;
        job->facts.superstep = job->barrier;
        if (is_auto(job))
            observed_facts(&job->observed, &job->facts);
        switch (policy_decide(&job->setup->rule, &job->facts)) {
        case POLICY_GO:
            return true;
        case POLICY_SNAPSHOT:
            if (is_auto(job))
                compare(job);
            return save(job, work);
        case POLICY_WAIT:
            if (!stand(job, job->commit_at_ns))
                return false;
            commit(job);
            job->from_ns = job->now_ns;
            job->from_work = work;
        }
    }
}

/* The next barrier to decide about, in supersteps; NEVER: none before another event. */
static uint64_t next_barrier(struct job *job)
{
    const struct policy_rule *rule = &job->setup->rule;
    uint64_t wanted = policy_next(rule, job->barrier + 1);
    job->facts.now_ns = job->now_ns;
    if (is_auto(job))
        observed_facts(&job->observed, &job->facts);
    uint64_t due_ns = policy_due_ns(rule, &job->facts);
    if (due_ns == POLICY_NEVER || plus(job->now_ns, due_ns) >= job->setup->limit_ns)
        return wanted;
    /* The first one after that time, since Processor Zero consults after its timer. */
    uint64_t step = job->setup->superstep_ns;
    uint64_t at = (work_at(job, job->now_ns + due_ns) + step - 1) / step;
    if (at <= job->barrier)
        at = job->barrier + 1;
    return at < wanted ? at : wanted;
}

/* ---- From event to event ------------------------------------------------------------------ */

enum went { WENT_ON, WENT_DOWN, WENT_TO_END };

static enum went compute(struct job *job)
{
    uint64_t step = job->setup->superstep_ns, wanted = next_barrier(job);
    uint64_t work = wanted < job->setup->work_ns / step + 1 ? wanted * step : job->setup->work_ns;
    if (work > job->setup->work_ns)
        work = job->setup->work_ns;
    uint64_t there_ns = time_of(job, work);
    if (job->failure_ns < there_ns && job->failure_ns < job->commit_at_ns)
        return WENT_DOWN;
    if (job->commit_at_ns <= there_ns) { /* the commit may have changed what is due */
        job->now_ns = job->commit_at_ns;
        job->barrier = work_at(job, job->now_ns) / step;
        commit(job);
        return WENT_ON;
    }
    job->now_ns = there_ns;
    if (work == job->setup->work_ns)
        return WENT_TO_END;
    job->barrier = wanted;
    return decide(job, work) ? WENT_ON : WENT_DOWN;
}

void job_run(const struct job_setup *setup, struct lives *lives, uint64_t seed, uint64_t number,
             struct job_result *result)
{
    struct job job = {.setup = setup, .lives = lives, .result = result, .commit_at_ns = NEVER};
    *result = (struct job_result){0};
    lives_begin(lives, seed, number);
    observed_begin(&job.observed, &setup->prior);
    bool runs = recruit(&job);
    if (runs)
        begin_term(&job);
    while (runs && !result->finished && !is_given_up(&job)) {
        enum went went = compute(&job);
        result->finished = went == WENT_TO_END;
        if (went == WENT_DOWN)
            runs = fall_back(&job);
    }
    result->finished = result->finished && job.now_ns <= setup->limit_ns;
    if (result->finished)
        result->useful_ns = setup->work_ns;
    result->total_ns = job.now_ns < setup->limit_ns ? job.now_ns : setup->limit_ns;
    result->error = job.observed.error;
}
