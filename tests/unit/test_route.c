/* test_route.c - what is done with messages of other hosts when Processor Zero is another one. */
#include <check.h>
#include <string.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/cells.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/fetch.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/output.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/core/zero_here.h"
#include "bsprun/agent/dataspace.h"
#include "bsprun/agent/differs.h"
#include "bsprun/agent/mail.h"
#include "bsprun/agent/over.h"
#include "bsprun/agent/route.h"
#include "bsprun/agent/snapshot/alone.h"
#include "bsprun/agent/snapshot/replicas.h"
#include "bsprun/agent/succession.h"
#include "bsprun/agent/survive.h"
#include "bsprun/agent/terms.h"
#include "tests/unit/suite.h"

static struct agent agent;
static bool copies; /* the job can outlive the loss of a host without replicas */
static unsigned accounts, dropped;

/* ---- In place of the rest of the agent ---- */

void agent_keep_account(struct agent *at, const struct wire_message *message)
{
    accounts += at == &agent && message->kind == WIRE_ACCOUNT;
}

void agent_peers_drop(struct agent *at, uint32_t host, const char *complaint)
{
    ck_assert(at == &agent && host == 1 && complaint);
    dropped++;
}

bool agent_wants_copies(const struct agent *at)
{
    return at == &agent && copies;
}

static bool is_none(const struct agent *at)
{
    ck_assert_ptr_eq(at, &agent);
    return false;
}

bool agent_peers_is_zero(const struct agent *at, uint32_t host)
{
    return host == 2 && !is_none(at);
}

bool agent_peers_is_lost(const struct agent *at, uint32_t host)
{
    return host > 2 || is_none(at);
}

bool agent_awaits_successor(const struct agent *at)
{
    return is_none(at);
}

bool agent_relay_passed(struct agent *at, uint64_t superstep)
{
    return superstep > 0 && is_none(at);
}

#define NOTHING(name, ...)                                                                         \
    void name(__VA_ARGS__)                                                                         \
    {                                                                                              \
        ck_abort_msg(#name);                                                                       \
    }
#pragma GCC diagnostic ignored "-Wunused-parameter"
NOTHING(agent_add_to_table, struct agent *at, const char *rows)
NOTHING(agent_check_over, struct agent *at)
NOTHING(agent_dataspace_message, struct agent *at, uint32_t host,
        const struct wire_message *message)
NOTHING(agent_fetch_lost, struct agent *at, uint32_t host)
NOTHING(agent_fetch_message, struct agent *at, uint32_t host, const struct wire_message *message)
NOTHING(agent_mail_message, struct agent *at, uint32_t host, const struct wire_message *message)
NOTHING(agent_peers_give_up_zero, struct agent *at)
NOTHING(agent_peers_leave, struct agent *at, const char *why)
NOTHING(agent_peers_note_lost, struct agent *at, uint32_t host)
NOTHING(agent_replicas_given_up, struct agent *at, const char *why)
NOTHING(agent_replicas_lost, struct agent *at, uint32_t host)
NOTHING(agent_replicas_take, struct agent *at, uint32_t host, const struct wire_message *message)
NOTHING(agent_rewind, struct agent *at)
NOTHING(agent_survive_meet, struct agent *at, const struct wire_message *message)
NOTHING(agent_tell_link_lost, struct agent *at, uint32_t host, const char *text, bool behind)

/* ---- Tests ---- */

static void set_up(void)
{
    agent = (struct agent){.term = 0};
    accounts = dropped = 0;
    copies = false;
}

static void tear_down(void)
{
    agent_cells_free(&agent);
}

static void say(enum wire_kind kind)
{
    struct wire_message message = {.kind = kind, .envelope.term = agent_term(&agent)};

    memcpy(message.envelope.job, agent_job_id(&agent), WIRE_JOB_SIZE);
    *wire_sender(&message) = 1;
    agent_route_message(&agent, 1, &message);
}

/* bsprun has told host 1 that this one is the successor, but not this one yet. */
static void say_early(void)
{
    say(WIRE_ACCOUNT);
    ck_assert_uint_eq(accounts, 1);
    say(WIRE_IMAGE_DURABLE);
    say(WIRE_IMAGE_FAILED);
}

START_TEST(the_successor_does_not_know_yet)
{
    copies = true;
    say_early();
    ck_assert_uint_eq(dropped, 0);
    say(WIRE_CAPTURED); /* it would have waited for the answer */
    ck_assert_uint_eq(dropped, 1);
}
END_TEST

START_TEST(there_is_no_successor)
{
    say_early();
    ck_assert_uint_eq(dropped, 2);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {the_successor_does_not_know_yet, there_is_no_successor};

    return suite_run_tests("route", tests, sizeof tests / sizeof *tests, set_up, tear_down);
}
