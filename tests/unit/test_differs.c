/* test_differs.c - a host whose replicas cannot go on: it leaves, or ends the term if that needs
 * it. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/cells.h"
#include "bsprun/agent/core/clock.h"
#include "bsprun/agent/core/known.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/differs.h"
#include "bsprun/verdict.h"
#include "coordinator/core/coord.h"
#include "coordinator/shell.h"
#include "tests/unit/suite.h"

enum { OWN = 1, OTHER = 2 };

static struct agent agent;
static char zero;    /* stands for Processor Zero, and for what it knows */
static bool covered; /* the job goes on without this host */
static unsigned killed, aborted;
static char said[600];

/* ---- In place of the rest of the agent ---- */

bool agent_has_replicas(const struct agent *at)
{
    return at == &agent;
}

const struct coord *coord_shell_state(const struct coord_shell *shell)
{
    ck_assert_ptr_eq(shell, &zero);
    return (const struct coord *)(const void *)&zero;
}

bool coord_can_lose(const struct coord *state, uint32_t host)
{
    ck_assert_ptr_eq(state, &zero);
    ck_assert_uint_eq(host, OWN);
    return covered;
}

void agent_kill_members(struct agent *at, bool (*spare)(const void *agent, pid_t ospid))
{
    ck_assert(at == &agent && !spare);
    killed++;
}

void agent_notice_leaving(struct agent *at, int status, const char *why)
{
    ck_assert(at == &agent && status == 0);
    snprintf(said, sizeof said, "%s", why);
}

void agent_abort(struct agent *at, int pid, const struct verdict *verdict)
{
    ck_assert(at == &agent && pid == COORD_NOBODY && verdict->cause == WIRE_CAUSE_HOST_LOST);
    snprintf(said, sizeof said, "%s", verdict->text);
    aborted++;
}

/* Of what is not called here. */
#define NOTHING(type, name, ...)                                                                   \
    type name(__VA_ARGS__)                                                                         \
    {                                                                                              \
        ck_abort_msg(#name);                                                                       \
    }
#pragma GCC diagnostic ignored "-Wunused-parameter"
NOTHING(bool, agent_ended_elsewhere, const struct agent *at)
NOTHING(bool, agent_is_here, const struct agent *at, int pid)
NOTHING(bool, agent_peers_in_vain, const struct agent *at, uint32_t *pid)
NOTHING(bool, agent_peers_is_lost, const struct agent *at, uint32_t host)
NOTHING(bool, agent_peers_owe, const struct agent *at)
NOTHING(const struct wire_host *, agent_peers_find, const struct agent *at, uint32_t host)
NOTHING(const struct wire_host *, agent_peers_hosts, const struct agent *at, uint32_t *count)
NOTHING(struct known, agent_known, const struct agent *at)
NOTHING(uint32_t, agent_cells_lead, const struct agent *at, uint32_t host)
NOTHING(uint64_t, agent_now_ns, void)
NOTHING(void, coord_shell_free, struct coord_shell *shell)
NOTHING(void, agent_notice, struct agent *at, const char *format, ...)
NOTHING(void, agent_notice_once, struct agent *at, uint64_t once, const char *format, ...)

/* ---- Tests ---- */

static void set_up(void)
{
    agent = (struct agent){.host = OWN, .host_name = "here", .job = JOB_RUNNING};
    covered = true;
    killed = aborted = 0;
    said[0] = '\0';
}

static void zero_is_here(void)
{
    agent.zero = (struct coord_shell *)(void *)&zero;
}

static void check_left(void)
{
    ck_assert_str_eq(said, "it is too far behind, in superstep 7 (--replica-log)");
    ck_assert_uint_eq(killed, 1);
    ck_assert_uint_eq(agent.news, AGENT_LEAVE);
    ck_assert_uint_eq(aborted, 0);
}

START_TEST(another_host_is_behind)
{
    agent_replicas_behind(&agent, OTHER, 7, 0);
    zero_is_here();
    covered = false;
    agent_replicas_behind(&agent, OTHER, 7, 0);
    ck_assert_uint_eq(killed + aborted + agent.news, 0);
}
END_TEST

START_TEST(this_one_is_behind)
{
    agent_replicas_behind(&agent, OWN, 7, 0);
    check_left();
    agent_replicas_behind(&agent, OWN, 8, 0); /* it has said so */
    check_left();
}
END_TEST

START_TEST(this_one_has_no_memory)
{
    agent_replicas_behind(&agent, OWN, 7, -ENOMEM);
    ck_assert_str_eq(said, "it cannot go on with what other hosts communicate in superstep 7: "
                           "Cannot allocate memory");
    ck_assert_uint_eq(killed, 1);
    ck_assert_uint_eq(agent.news, AGENT_LEAVE);
}
END_TEST

START_TEST(processor_zero_is_behind)
{
    zero_is_here();
    agent_replicas_behind(&agent, OWN, 7, 0);
    check_left();
}
END_TEST

/* All others wait for its processes, and for Processor Zero. */
START_TEST(processor_zero_cannot_leave)
{
    zero_is_here();
    covered = false;
    agent_replicas_behind(&agent, OWN, 7, 0);
    ck_assert_uint_eq(aborted, 1);
    ck_assert_str_eq(said, "host here: it is too far behind, in superstep 7 (--replica-log)");
    ck_assert_uint_eq(killed + agent.news, 0);
}
END_TEST

/* The term is over already. */
START_TEST(nothing_runs_any_more)
{
    agent.job = JOB_ENDING;
    agent_replicas_behind(&agent, OWN, 7, 0);
    zero_is_here();
    agent_replicas_behind(&agent, OWN, 7, 0);
    ck_assert_uint_eq(killed + aborted + agent.news, 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {another_host_is_behind,      this_one_is_behind,
                                  this_one_has_no_memory,      processor_zero_is_behind,
                                  processor_zero_cannot_leave, nothing_runs_any_more};

    return suite_run_tests("differs", tests, sizeof tests / sizeof *tests, set_up, NULL);
}
