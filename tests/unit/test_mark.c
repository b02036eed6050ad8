/* test_mark.c - what was written before a snapshot is passed on before its MARK, and the snapshot
 * waits until bsprun has both; what the superstep of output is.  The streams are real ones. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/cells.h"
#include "bsprun/agent/core/input.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/output.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/snapshot/inside.h"
#include "tests/unit/suite.h"

#define SUPERSTEP 7
#define INPUT     42
#define SAID_MAX  8

static struct agent agent;
static struct agent_snapshots snapshots;
static unsigned said_count;
static char memory[BSPZ_BOARD_BYTES + BSPZ_RANK_BYTES] __attribute__((aligned(4096)));
static struct {
    uint32_t kind, stream;
    uint64_t superstep, input;
    char text[64];
} said[SAID_MAX];

/* ---- In place of the rest of the agent ---- */

int agent_send(struct agent *at, struct wire_message *message)
{
    ck_assert_ptr_eq(at, &agent);
    ck_assert_uint_lt(said_count, SAID_MAX);
    said[said_count].kind = message->kind;
    said[said_count].superstep = message->envelope.superstep;
    if (message->kind == WIRE_MARK) {
        said[said_count].input = message->mark.input;
    } else if (message->kind == WIRE_OUTPUT) {
        ck_assert_uint_lt(message->output.data.size, sizeof said->text);
        memcpy(said[said_count].text, message->output.data.data, message->output.data.size);
        said[said_count].stream = message->output.stream;
    }
    said_count++;
    return 0;
}

void agent_notice(struct agent *at, const char *format, ...)
{
    (void)at;
    ck_abort_msg("nobody is told: %s", format);
}

bool agent_has_replicas(const struct agent *at)
{
    (void)at;
    return false;
}

uint64_t agent_input_position(const struct agent *at)
{
    return at == &agent ? INPUT : 0;
}

bool agent_is_here(const struct agent *at, int pid)
{
    return at == &agent && pid == 0;
}

/* ---- Fixture ---- */

static void set_up_streams(uint32_t terminals)
{
    const struct wire_start start = {.stdio = WIRE_STDIO_PLAIN, .terminals = terminals};

    snapshots = (struct agent_snapshots){.ticket.name = {SUPERSTEP, 2}};
    agent = (struct agent){.term = 2, .snapshots = &snapshots};
    ck_assert_int_eq(agent_roster_open(&agent), 0);
    ck_assert_int_eq(agent_roster_size(&agent, 1), 0);
    agent_root(&agent)->ospid = getpid();
    memset(&memory, 0, sizeof memory);
    agent.board = (struct bspz_board *)memory;
    ck_assert_int_eq(uv_loop_init(&agent.loop), 0);
    ck_assert_int_eq(agent_relay_open(&agent, &start), 0);
    memset(said, 0, sizeof said);
    said_count = 0;
}

static void set_up(void)
{
    set_up_streams(0);
}

static void tear_down(void)
{
    agent_relay_close(&agent);
    ck_assert_int_eq(uv_run(&agent.loop, UV_RUN_DEFAULT), 0);
    ck_assert_int_eq(uv_loop_close(&agent.loop), 0);
    free(agent.relay);
    agent_roster_free(&agent);
}

/* As the program does. */
static void print(int stream, const char *text)
{
    ssize_t size = (ssize_t)strlen(text);

    ck_assert_int_eq(write(agent_relay_writer(&agent, stream), text, (size_t)size), size);
}

static void expect_output(unsigned number, uint32_t stream, const char *text)
{
    ck_assert_uint_lt(number, said_count);
    ck_assert_uint_eq(said[number].kind, WIRE_OUTPUT);
    ck_assert_uint_eq(said[number].stream, stream);
    ck_assert_str_eq(said[number].text, text);
}

/* ---- Tests ---- */

START_TEST(mark_comes_behind_what_it_covers)
{
    uint64_t counts[2];

    print(2, "a warning\n");
    print(1, "before\n");
    agent_mark(&agent);
    ck_assert_uint_eq(said_count, 3);
    expect_output(0, 1, "before\n");
    expect_output(1, 2, "a warning\n");
    ck_assert_uint_eq(said[2].kind, WIRE_MARK);
    ck_assert_uint_eq(said[2].superstep, SUPERSTEP);
    ck_assert_uint_eq(said[2].input, INPUT);
    agent_relay_counts(&agent, counts);
    ck_assert_uint_eq(counts[0], strlen("before\n"));
    ck_assert_uint_eq(counts[1], strlen("a warning\n"));
    print(1, "behind\n");
    agent_relay_pass_on(&agent);
    ck_assert_uint_eq(said_count, 4);
    expect_output(3, 1, "behind\n");
}
END_TEST

START_TEST(images_wait_until_all_have_recorded)
{
    snapshots.ticket.state = TICKET_CAPTURING;
    ck_assert(!agent_output_is_out(&agent));
    snapshots.ticket.state = TICKET_CAPTURED;
    ck_assert(agent_output_is_out(&agent));
}
END_TEST

START_TEST(images_wait_for_the_echo)
{
    agent.peers = (struct agent_peers *)&snapshots; /* never looked into */
    ck_assert(!agent_output_is_out(&agent));
    ck_assert(!agent_snapshots_echoed(&agent, SUPERSTEP - 1));
    agent.term = 3;
    ck_assert(!agent_snapshots_echoed(&agent, SUPERSTEP)); /* of a term that is over */
    ck_assert(!agent_output_is_out(&agent));
    agent.term = 2;
    ck_assert(agent_snapshots_echoed(&agent, SUPERSTEP));
    ck_assert(agent_output_is_out(&agent));
}
END_TEST

/* It is newer than what processes wrote before, also on hosts that are slower to tell. */
START_TEST(terminal_behind_bsp_end)
{
    tear_down();
    set_up_streams(1u);
    agent.peers = (struct agent_peers *)&snapshots; /* never looked into */
    print(1, "before bsp_begin\n");
    while (said_count == 0) /* the kernel hands it over some time later */
        agent_relay_pass_on(&agent);
    agent_count_here(&agent);
    atomic_store(&bspz_rank_of(agent.board, 0)->line[0].stamp, 3);
    print(1, "behind bsp_end\n");
    while (said_count == 1)
        agent_relay_pass_on(&agent);
    ck_assert_uint_eq(said_count, 2);
    expect_output(0, 1, "before bsp_begin\n");
    expect_output(1, 1, "behind bsp_end\n");
    ck_assert_uint_eq(said[0].superstep, 0);
    ck_assert_uint_eq(said[1].superstep, 3);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("marks");
    TCase *tests = tcase_create("all");

    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, mark_comes_behind_what_it_covers);
    tcase_add_test(tests, images_wait_until_all_have_recorded);
    tcase_add_test(tests, images_wait_for_the_echo);
    tcase_add_test(tests, terminal_behind_bsp_end);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
