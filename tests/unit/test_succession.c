/* test_succession.c - hosts that bsprun names one after the other to be Processor Zero, and what
 * others tell them. */
#include <check.h>
#include <stdlib.h>

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/barrier.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/cells.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/decided.h"
#include "bsprun/agent/core/known.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/agent/core/saved.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/core/to_zero.h"
#include "bsprun/agent/dataspace.h"
#include "bsprun/agent/ranks.h"
#include "bsprun/agent/replica_objects.h"
#include "bsprun/agent/snapshot/alone.h"
#include "bsprun/agent/snapshot/snapshots.h"
#include "bsprun/agent/succession.h"
#include "bsprun/agent/survive.h"
#include "bsprun/agent/zero.h"
#include "coordinator/shell.h"
#include "lib/shm/board.h"
#include "tests/unit/suite.h"

enum { FORMER, OTHER, FIRST, OWN }; /* hosts: Processor Zero and, named first, FIRST are lost */

static struct agent agent;
static struct bspz_board *board;
static unsigned told, lost; /* of what OTHER knows; hosts */

/* ---- In place of the rest of the agent ---- */

int agent_succeed(struct agent *at, struct bspz_snapshot_name committed)
{
    (void)committed;
    at->zero = (struct coord_shell *)(void *)&told;
    return 0;
}

void __wrap_coord_shell_message(struct coord_shell *shell, uint32_t host,
                                const struct wire_message *message);
void __wrap_coord_shell_message(struct coord_shell *shell, uint32_t host,
                                const struct wire_message *message)
{
    ck_assert(shell == agent.zero && host == OTHER && message->kind == WIRE_ACCOUNT);
    told++;
}

void __wrap_coord_shell_host_lost(struct coord_shell *shell, uint32_t host);
void __wrap_coord_shell_host_lost(struct coord_shell *shell, uint32_t host)
{
    ck_assert(shell == agent.zero && (host == FORMER || host == FIRST));
    lost++;
}

bool agent_wants_copies(const struct agent *at)
{
    return at == &agent; /* there may be a successor */
}

const struct coord_outcome *agent_outcome(const struct agent *at)
{
    static const struct coord_outcome none;

    return at == &agent ? &none : NULL;
}

#pragma GCC diagnostic ignored "-Wunused-parameter"
#define GIVES(type, name, value, ...)                                                              \
    type name(__VA_ARGS__)                                                                         \
    {                                                                                              \
        return value;                                                                              \
    }
#define DOES_NOTHING(name, ...)                                                                    \
    void name(__VA_ARGS__)                                                                         \
    {                                                                                              \
    }
#define NEVER(name, ...)                                                                           \
    void name(__VA_ARGS__)                                                                         \
    {                                                                                              \
        ck_abort_msg(#name);                                                                       \
    }
GIVES(bool, agent_awaits_decision, false, const struct agent *at)
GIVES(bool, agent_ended_elsewhere, false, const struct agent *at)
GIVES(bool, agent_store_is_shared, true, const struct agent *at)
GIVES(bool, agent_survive_awaits, false, const struct agent *at)
GIVES(uint64_t, agent_snapshots_captures, 0, const struct agent *at)
GIVES(int, agent_send, 0, struct agent *at, struct wire_message *message)
GIVES(bool, agent_decided_add, true, struct agent *at, const struct decided *decided)
GIVES(struct bspz_snapshot_name, agent_snapshots_right, ((struct bspz_snapshot_name){0, 0}),
      const struct agent *at)
GIVES(struct wire_learned, agent_learned, (struct wire_learned){0}, struct agent *at)
DOES_NOTHING(agent_dataspace_account, const struct agent *at, struct wire_account *account)
DOES_NOTHING(agent_peers_drop, struct agent *at, uint32_t host, const char *complaint)
DOES_NOTHING(agent_peers_succeed, struct agent *at, uint32_t host)
DOES_NOTHING(agent_tell_zero, struct agent *at, struct wire_message *message)
DOES_NOTHING(agent_tells_the_end, struct agent *at)
NEVER(agent_arrive_again, struct agent *at)
NEVER(agent_cannot_go_on, struct agent *at, int pid, const char *why)
NEVER(agent_dataspace_gather, struct agent *at, uint64_t snapshot,
      const struct wire_numbers *keepers)
NEVER(agent_objects_begun, struct agent *at)
NEVER(agent_report_leavers_again, struct agent *at)
NEVER(agent_say_all_ready, struct agent *at)
NEVER(agent_scan, struct agent *at)
NEVER(agent_snapshots_resume, struct agent *at, uint64_t superstep, uint64_t consult)
NEVER(agent_snapshots_say_captured, struct agent *at)
NEVER(agent_snapshots_settle, struct agent *at, struct bspz_snapshot_name committed)
NEVER(agent_survive_again, struct agent *at)
NEVER(agent_tell_running, struct agent *at)

/* ---- Tests ---- */

static void set_up(void)
{
    agent = (struct agent){.host = OWN};
    board = calloc(1, sizeof *board);
    ck_assert_ptr_nonnull(board);
    agent.board = board;
    ck_assert_int_eq(agent_known_open(&agent), 0);
    told = lost = 0;
}

static void tear_down(void)
{
    agent_succession_end(&agent);
    agent_known_free(&agent);
    free(board);
}

static void other_tells(void)
{
    const struct wire_message message = {.kind = WIRE_ACCOUNT, .account.host = OTHER};

    agent_keep_account(&agent, &message);
}

static void named(uint32_t host)
{
    const uint64_t hosts[] = {FORMER, FIRST};
    const struct wire_message message = {
        .kind = WIRE_TAKE_OVER,
        .take_over = {.elected = host, .lost = {hosts, host == OWN ? 2 : 1}}};

    agent_take_over(&agent, &message);
}

/* OTHER has heard that this host is the successor before it hears that itself, maybe even before it
 * hears of the one that was named first. */
START_TEST(tells_early)
{
    if (_i == 0)
        other_tells();
    named(FIRST);
    ck_assert_ptr_null(agent.zero);
    if (_i == 1)
        other_tells();
    ck_assert_uint_eq(told, 0);
    named(OWN);
    ck_assert_ptr_nonnull(agent.zero);
    ck_assert_uint_eq(told, 1);
    ck_assert_uint_eq(lost, 2);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("succession");
    TCase *cases = tcase_create("succession");

    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_loop_test(cases, tells_early, 0, 2);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
