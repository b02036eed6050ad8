/* test_agent_state.c - what an agent knows of its processes (roster.h), and of the term that is to
 * begin (election.h). */
#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/roster.h"
#include "tests/unit/suite.h"

#define PROCESSES 4

static struct agent agent;

static void set_up(void)
{
    agent = (struct agent){.host = 0};
    agent_set_host(&agent, 3);
    ck_assert_int_eq(agent_roster_open(&agent), 0);
}

static void tear_down(void)
{
    agent_roster_free(&agent);
}

/* ---- Processes ---- */

static void place(const uint32_t homes[PROCESSES])
{
    ck_assert_int_eq(agent_roster_size(&agent, PROCESSES), 0);
    for (int pid = 0; pid < PROCESSES; pid++)
        agent_set_home(&agent, pid, homes[pid]);
    agent_count_here(&agent);
}

START_TEST(none_before_they_are_placed)
{
    ck_assert_int_eq(agent_nprocs(&agent), 0);
    ck_assert_int_eq(agent_here(&agent), 0);
    ck_assert_int_eq(agent_root(&agent)->pidfd, -1);
    ck_assert_int_eq(agent_root(&agent)->state, WATCH_NONE);
}
END_TEST

START_TEST(those_here_are_counted)
{
    place((const uint32_t[]){1, 3, 2, 3});
    ck_assert_int_eq(agent_nprocs(&agent), PROCESSES);
    ck_assert_int_eq(agent_here(&agent), 2);
    ck_assert_int_eq(agent_first_here(&agent), 1);
    ck_assert(!agent_count_ready(&agent));
    ck_assert(agent_count_ready(&agent));
    ck_assert(!agent_count_ended(&agent));
    ck_assert(agent_count_ended(&agent));
}
END_TEST

START_TEST(a_process_moves)
{
    place((const uint32_t[]){1, 3, 2, 3});
    ck_assert(!agent_set_home(&agent, 0, 1));
    ck_assert(agent_set_home(&agent, 0, 3));
    ck_assert(agent_set_home(&agent, 3, 2));
    agent_count_here(&agent);
    ck_assert_int_eq(agent_here(&agent), 2);
    ck_assert_int_eq(agent_first_here(&agent), 0);
    ck_assert_uint_eq(agent_home(&agent, 3), 2);
}
END_TEST

/* The next term counts anew, in the places that processes have. */
START_TEST(a_term_is_over)
{
    place((const uint32_t[]){3, 3, 2, 2});
    agent_member_move(&agent, 0, MEMBER_KNOWN);
    agent_member_seen(&agent, 0, BSPZ_RANK_RUNNING);
    agent_count_ready(&agent);
    agent_roster_clear(&agent);
    ck_assert_int_eq(agent_member(&agent, 0)->state, MEMBER_UNKNOWN);
    ck_assert_int_eq(agent_member(&agent, 0)->seen, BSPZ_RANK_EMPTY);
    ck_assert_int_eq(agent_process(&agent, 0)->pidfd, -1);
    ck_assert_int_eq(agent_here(&agent), 2);
    ck_assert(!agent_count_ready(&agent));
    ck_assert(agent_count_ready(&agent));
}
END_TEST

/* A process that is restarted alone goes on where the lost one was. */
START_TEST(a_process_is_replaced)
{
    place((const uint32_t[]){3, 3, 2, 2});
    agent_member_move(&agent, 1, MEMBER_KNOWN);
    agent_member_move(&agent, 1, MEMBER_REPORTED);
    agent_member_anew(&agent, 1, BSPZ_RANK_RUNNING);
    ck_assert_int_eq(agent_member(&agent, 1)->state, MEMBER_UNKNOWN);
    ck_assert_int_eq(agent_member(&agent, 1)->seen, BSPZ_RANK_RUNNING);
}
END_TEST

/* ---- The next term ---- */

static void elect(uint32_t term, bool first_of_run, uint32_t recovers)
{
    struct wire_message message = {.kind = WIRE_ELECT, .envelope.term = term};

    message.elect.restore = true;
    message.elect.first_of_run = first_of_run;
    message.elect.recovers = recovers;
    agent_election_take(&agent, &message);
}

START_TEST(nothing_is_kept_for_a_term_that_runs)
{
    struct wire_save save = {.stop = true};

    ck_assert(!agent_election_save(&agent, &save));
    elect(2, false, 0);
    ck_assert(agent_election(&agent)->pending);
    ck_assert_uint_eq(agent_election(&agent)->term, 2);
    agent_election_begin(&agent);
    ck_assert(!agent_election_save(&agent, &save));
    ck_assert(!agent_election_saved(&agent, &save));
}
END_TEST

/* A stop is stronger than a move, and this one than a snapshot; of two the later one counts only if
 * it is stronger. */
START_TEST(the_strongest_request_is_kept)
{
    struct wire_save save;

    elect(2, false, 0);
    ck_assert(agent_election_save(&agent, &(struct wire_save){.signal = 1}));
    ck_assert(agent_election_save(&agent, &(struct wire_save){.move = true, .signal = 2}));
    ck_assert(agent_election_save(&agent, &(struct wire_save){.signal = 3}));
    ck_assert(agent_election_save(&agent, &(struct wire_save){.move = true, .signal = 4}));
    ck_assert(agent_election_saved(&agent, &save));
    ck_assert(save.move && save.signal == 2);
    ck_assert(agent_election_save(&agent, &(struct wire_save){.stop = true, .signal = 5}));
    ck_assert(agent_election_save(&agent, &(struct wire_save){.move = true, .signal = 6}));
    ck_assert(agent_election_saved(&agent, &save));
    ck_assert(save.stop && save.signal == 5);
    ck_assert(!agent_election_saved(&agent, &save)); /* once */
}
END_TEST

START_TEST(an_election_forgets_the_request_of_the_one_before)
{
    struct wire_save save = {.stop = true};

    elect(2, false, 0);
    ck_assert(agent_election_save(&agent, &save));
    elect(3, false, 0);
    ck_assert(!agent_election_saved(&agent, &save));
}
END_TEST

/* A term that never ran leaves its reason to the next one, but for a failure. */
START_TEST(why_a_term_begins)
{
    elect(1, true, 0);
    ck_assert_uint_eq(agent_election(&agent)->because, BSPZ_BOARD_RESTARTED);
    elect(2, false, 0);
    ck_assert_uint_eq(agent_election(&agent)->because, BSPZ_BOARD_RESTARTED);
    agent_election_ran(&agent);
    elect(3, false, 0);
    ck_assert_uint_eq(agent_election(&agent)->because, BSPZ_BOARD_MOVED);
    elect(4, false, 1);
    ck_assert_uint_eq(agent_election(&agent)->because, 0);
    ck_assert(agent_election(&agent)->recovery.any);
}
END_TEST

/* Processor Zero's own moves are judged by all the time of the job. */
START_TEST(what_moves_have_cost_of_which_time)
{
    struct wire_message message = {.kind = WIRE_ELECT, .envelope.term = 2};

    message.elect.moving_seconds = 60;
    message.elect.passed_seconds = 400;
    agent_election_take(&agent, &message);
    ck_assert_double_eq(agent_election(&agent)->moving_seconds, 60);
    ck_assert_double_eq(agent_election(&agent)->passed_seconds, 400);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {none_before_they_are_placed,
                                  those_here_are_counted,
                                  a_process_moves,
                                  a_term_is_over,
                                  a_process_is_replaced,
                                  nothing_is_kept_for_a_term_that_runs,
                                  the_strongest_request_is_kept,
                                  an_election_forgets_the_request_of_the_one_before,
                                  why_a_term_begins,
                                  what_moves_have_cost_of_which_time};

    return suite_run_tests("agent state", tests, sizeof tests / sizeof *tests, set_up, tear_down);
}
