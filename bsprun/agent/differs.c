/* differs.c - see differs.h. */
#include "bsprun/agent/differs.h"

#include <stdio.h>
#include <string.h>

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/cells.h"
#include "bsprun/agent/core/clock.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/known.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/order.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/saved.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/core/timers.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/core/zero_here.h"
#include "bsprun/link/link.h"
#include "bsprun/process.h"
#include "bsprun/verdict.h"
#include "lib/base/clock.h"
#include "lib/shm/board.h"
#include "lib/shm/exchange.h"

#define PARTING_MS      300 /* what is slower on the way is not waited for */
#define PARTING_LOOK_MS 5

static void leave_silently(struct agent *agent)
{
    agent_kill_members(agent, NULL);
    agent_post(agent, AGENT_LEAVE);
}

static void leave(struct agent *agent, int status, const char *why)
{
    if (agent_is_leaving(agent))
        return; /* as it has said */
    agent_notice_leaving(agent, status, why);
    leave_silently(agent);
}

/* Its processes run, or are made of snapshot 0, as those of other hosts are. */
static bool may_leave(const struct agent *agent)
{
    bool made = agent_job(agent) == JOB_FORMING && agent_committed(agent).term == agent_term(agent);

    return agent_has_replicas(agent) && (agent_job(agent) == JOB_RUNNING || made) &&
           (!agent_zero(agent) ||
            coord_can_lose(coord_shell_state(agent_zero(agent)), agent_host(agent)));
}

bool agent_leaves_replicas(struct agent *agent, int pid, const struct verdict *verdict)
{
    enum bspz_rank_state mark =
        (enum bspz_rank_state)atomic_load(&bspz_rank_of(agent_board(agent), pid)->state);

    if (!may_leave(agent) || agent_process(agent, pid)->death.signal == 0 ||
        mark > BSPZ_RANK_RUNNING)
        return false;
    leave(agent, verdict->status, verdict->text);
    return true;
}

/* ---- Those that cannot come to the end ---- */

/* One that died while Processor Zero could not do without. */
static bool has_lost_any(const struct agent *agent)
{
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (agent_is_here(agent, pid) && agent_process(agent, pid)->state == WATCH_GONE &&
            agent_process(agent, pid)->death.signal != 0 &&
            agent_member(agent, pid)->seen < BSPZ_RANK_ENDED)
            return true;
    return false;
}

void agent_replicas_look_to_end(struct agent *agent)
{
    uint32_t pid;

    if (!agent_has_replicas(agent) || agent_job(agent) != JOB_RUNNING ||
        agent_ended_elsewhere(agent) || !agent_known(agent).ended || agent_is_leaving(agent))
        return;
    if (agent_peers_in_vain(agent, &pid))
        agent_notice(agent,
                     "what process %u has communicated is lost with its hosts: the processes of "
                     "host %s cannot end",
                     pid, agent_host_name(agent));
    else if (!has_lost_any(agent))
        return;
    leave_silently(agent);
}

void agent_replicas_given_up(struct agent *agent, const char *why)
{
    struct verdict verdict = {.cause = WIRE_CAUSE_HOST_LOST, .status = 1};

    if (may_leave(agent)) {
        leave(agent, 0, why);
        return;
    }
    if (!agent_has_replicas(agent) || agent_job(agent) != JOB_RUNNING)
        return;
    snprintf(verdict.text, sizeof verdict.text, "host %s: %s", agent_host_name(agent), why);
    agent_abort(agent, COORD_NOBODY, &verdict);
}

/* ---- Those that differ ---- */

static const char *name_of(const struct agent *agent, uint32_t host)
{
    const struct wire_host *found = agent_peers_find(agent, host);

    return found ? found->name : "?";
}

static void describe(const struct agent *agent, const struct links_mismatch *mismatch, char *text,
                     size_t size)
{
    snprintf(text, size,
             "the replicas of process %u on host %.80s and host %.80s differ in what they "
             "communicate in superstep %llu",
             mismatch->pid, name_of(agent, mismatch->hosts[0]), name_of(agent, mismatch->hosts[1]),
             (unsigned long long)mismatch->superstep);
}

/* Both hosts notice it, and which of them is the first one each has heard of is not the same on
 * both. */
static uint32_t speaker_of(const struct links_mismatch *mismatch)
{
    return mismatch->hosts[0] > mismatch->hosts[1] ? mismatch->hosts[0] : mismatch->hosts[1];
}

static bool has_processes(const struct agent *agent, uint32_t host)
{
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (agent_cells_lead(agent, agent_homes(agent)[pid]) == agent_cells_lead(agent, host))
            return true;
    return false;
}

/* Those that differ compare what they have made.  Of the hosts that get it, each of which may have
 * got both, the first one that is left need say so: bsprun shows the first that comes. */
static bool says_where(const struct agent *agent, const struct links_mismatch *mismatch)
{
    uint32_t count, lead = agent_cells_lead(agent, agent_homes(agent)[mismatch->pid]);
    const struct wire_host *hosts = agent_peers_hosts(agent, &count);

    if (!mismatch->seen || agent_cells_lead(agent, agent_host(agent)) == lead)
        return true;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t host = hosts[i].host;

        if (!agent_peers_is_lost(agent, host) && agent_cells_lead(agent, host) != lead &&
            has_processes(agent, host))
            return host == agent_host(agent);
    }
    return false;
}

static void say_where(struct agent *agent, const struct links_mismatch *mismatch,
                      const struct verdict *verdict)
{
    char where[512];

    if (mismatch->place.what == LINK_PLACE_NONE || !says_where(agent, mismatch))
        return;
    link_place_text(agent_board(agent), agent_nprocs(agent), (int)mismatch->pid, &mismatch->place,
                    where, sizeof where);
    agent_notice_once(agent, mismatch->superstep * BSPZ_MAX_PROCS + mismatch->pid + 1,
                      "%s: first in %s, as host %s has seen", verdict->text, where,
                      agent_host_name(agent));
    agent->place.said_in = agent_term(agent);
}

static void on_said(uv_timer_t *timer)
{
    struct agent *agent = timer->data;

    if (agent->place.said_in != agent_term(agent) && agent_now_ns() < agent->place.until_ns)
        return;
    uv_timer_stop(timer);
    agent->place.end(agent);
}

void agent_replicas_say_first(struct agent *agent, uint32_t cause, void (*end)(struct agent *))
{
    if (!agent_has_replicas(agent) || cause != WIRE_CAUSE_MISMATCH ||
        agent->place.said_in == agent_term(agent)) {
        end(agent);
        return;
    }
    agent->place.until_ns = agent_now_ns() + PARTING_MS * BSPZ_NS_PER_MS;
    agent->place.end = end;
    uv_timer_start(agent_timer(agent, AGENT_TIMER_PLACE), on_said, PARTING_LOOK_MS,
                   PARTING_LOOK_MS);
}

void agent_replicas_say_no_more(struct agent *agent)
{
    uv_timer_stop(agent_timer(agent, AGENT_TIMER_PLACE));
}

/* Whether that is all there is to say. */
static bool is_supplement(struct agent *agent, const struct links_mismatch *mismatch,
                          struct verdict *verdict)
{
    size_t used = strlen(verdict->text);

    say_where(agent, mismatch, verdict);
    if (!mismatch->in_vain)
        return mismatch->seen;
    snprintf(verdict->text + used, sizeof verdict->text - used,
             "; the hosts that were right are lost");
    agent_abort(agent, (int)mismatch->pid, verdict);
    return true;
}

/* ---- One that does not count ---- */

static struct verdict verdict_on(const struct agent *agent, const struct links_mismatch *mismatch)
{
    struct verdict verdict = {
        .cause = WIRE_CAUSE_MISMATCH, .status = 1, .since = mismatch->superstep + 1};

    describe(agent, mismatch, verdict.text, sizeof verdict.text);
    return verdict;
}

static void part(struct agent *agent, const struct links_mismatch *mismatch)
{
    struct verdict verdict = verdict_on(agent, mismatch);

    if (may_leave(agent))
        leave(agent, 0, verdict.text);
    else
        agent_abort(agent, (int)mismatch->pid, &verdict); /* its processes do not go on */
}

static void on_parting(uv_timer_t *timer)
{
    struct agent *agent = timer->data;
    const struct agent_parting *parting = &agent->parting;
    bool present = parting->term == agent_term(agent);

    if (present && agent_now_ns() < parting->until_ns && agent_peers_owe(agent))
        return;
    uv_timer_stop(timer);
    if (present)
        part(agent, &parting->mismatch);
}

/* Its processes do not get past what differs.  Others are to see where that is. */
static void part_soon(struct agent *agent, const struct links_mismatch *mismatch)
{
    uv_timer_t *timer = agent_timer(agent, AGENT_TIMER_PARTING);

    if (uv_is_active((uv_handle_t *)timer))
        return;
    if (!agent_peers_owe(agent)) {
        part(agent, mismatch);
        return;
    }
    agent->parting = (struct agent_parting){*mismatch, agent_now_ns() + PARTING_MS * BSPZ_NS_PER_MS,
                                            agent_term(agent)};
    uv_timer_start(timer, on_parting, PARTING_LOOK_MS, PARTING_LOOK_MS);
}

void agent_replicas_differ(void *context, const struct links_mismatch *mismatch)
{
    struct agent *agent = context;
    struct verdict verdict = verdict_on(agent, mismatch);
    int alone = mismatch->alike[0] < mismatch->alike[1]   ? 0
                : mismatch->alike[1] < mismatch->alike[0] ? 1
                                                          : -1;

    if (is_supplement(agent, mismatch, &verdict))
        return;
    if (mismatch->open) {
        if (speaker_of(mismatch) == agent_host(agent))
            agent_notice(agent, "%s; another replica decides", verdict.text);
        return;
    }
    if (agent_order(agent)->on_mismatch == WIRE_MISMATCH_CONTINUE || alone >= 0) {
        uint32_t speaks = alone >= 0 ? mismatch->hosts[alone] : speaker_of(mismatch);

        if (speaks == agent_host(agent) && alone >= 0)
            part_soon(agent, mismatch);
        else if (speaks == agent_host(agent))
            agent_notice(agent, "%s", verdict.text);
        return;
    }
    agent_abort(agent, (int)mismatch->pid, &verdict);
}

void agent_replicas_behind(void *context, uint32_t host, uint64_t superstep, int error)
{
    struct agent *agent = context;
    char why[160];

    if (host != agent_host(agent))
        return; /* its link is dropped, and it is lost */
    if (error)
        snprintf(why, sizeof why,
                 "it cannot go on with what other hosts communicate in superstep %llu: %.60s",
                 (unsigned long long)superstep, strerror(-error));
    else
        snprintf(why, sizeof why, "it is too far behind, in superstep %llu (--replica-log)",
                 (unsigned long long)superstep);
    agent_replicas_given_up(agent, why);
}
