/* test_coord_survive.c - Processor Zero: a host is lost, and its processes are restarted alone on
 * others, in a program of the dataspace.
 *
 * Hosts 0, 7, 3 and 5 have 2, 2, 4 and 2 slots; the processes 0 to 5 go to the first three of them,
 * 0 and 1, 2 and 3, 4 and 5. */
#include <check.h>
#include <string.h>

#include "tests/unit/coord_play.h"
#include "tests/unit/suite.h"

static void start_on(uint32_t count, struct coord_config config)
{
    static const uint32_t hosts[] = {0, 7, 3, 5};

    config.survives = true;
    config.copies = config.copies > 0 ? config.copies : 2;
    start(count, config);
    for (uint32_t i = 0; i < count; i++)
        host_ready(hosts[i], hosts[i] == 3 ? 4 : 2);
    registered(0, 6);
    ck_assert_int_eq(durable(0, 0, 0), 0);
    ck_assert_int_eq(durable(7, 0, 0), 0);
    for (uint32_t i = 0; i < count; i++)
        persisted(hosts[i], 0, 0);
    for (uint32_t i = 0; i < count; i++) {
        ck_assert_int_eq(known(hosts[i], 0), 0);
        ck_assert_int_eq(ranks_ready(hosts[i], coord->hosts[i].count), 0);
    }
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    ck_assert_int_eq(coord_ticket(coord, NULL), COORD_TICKET_NONE);
}

static int bears(uint32_t host, bool whether)
{
    return SAY(BEARS, .bears = {.host = host, .bears = whether});
}

static void all_bear(void)
{
    bears(0, true);
    bears(7, true);
    bears(3, true);
}

static void start_bearing(uint32_t count)
{
    start_on(count, SAVING(EVERY(100)));
    all_bear();
    trace_used = 0;
}

static int arrived_knowing(uint32_t host, uint64_t superstep, enum wire_barrier barrier,
                           uint32_t survived)
{
    return SAY(ARRIVE, .envelope.superstep = superstep,
               .arrive = {.host = host, .barrier = barrier, .survived = survived});
}

START_TEST(its_processes_go_on_elsewhere)
{
    const struct wire_survived *survived;

    start_bearing(3);
    ck_assert(coord_can_outlive(coord, 7));
    ck_assert_int_eq(lost(7), 0);
    expect_trace("event HOST_LOST term 3 host 7\n"
                 "  effect SURVIVED term 3 lost 7 processes 2 snapshot 0.3\n");
    survived = &message_of(WIRE_SURVIVED)->survived;
    ck_assert_uint_eq(message_of(WIRE_SURVIVED)->envelope.superstep, 0);
    ck_assert_uint_eq(survived->number, 1);
    for (uint32_t i = 0; i < 2; i++) { /* host 3 has two slots left */
        ck_assert_uint_eq(survived->moves.items[i].pid, 2 + i);
        ck_assert_uint_eq(survived->moves.items[i].host, 3);
        ck_assert_uint_eq(host_of(2 + i), 3);
    }
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    ck_assert(!coord_host_alive(coord, 7));
    ck_assert_int_eq(lost(7), 0); /* once more */
    ck_assert(effects.dropped);
    ck_assert_uint_eq(coord->hosts[2].count, 4);
    ck_assert_uint_eq(coord->hosts[2].first, 2);
}
END_TEST

/* ... where all must arrive, and the next snapshot has its processes where they are. */
START_TEST(the_next_snapshot_has_the_new_homes)
{
    start_bearing(3);
    lost(7);
    save_now(false);
    ck_assert(has_message(WIRE_CONSULT));
    arrived_knowing(0, 0, WIRE_BARRIER_CALL, 1);
    ck_assert(!has_message(WIRE_RELEASE));
    arrived_knowing(3, 0, WIRE_BARRIER_CALL, 1);
    ck_assert_int_eq(message_of(WIRE_RELEASE)->release.decision, WIRE_DECISION_SNAPSHOT);
    captured(0, 0);
    captured(3, 0);
    ck_assert(has_message(WIRE_RESUME));
    for (uint32_t pid = 0; pid < 6; pid++) { /* on both hosts that are left */
        ck_assert_int_eq(durable(0, 1, pid), 0);
        ck_assert_int_eq(durable(3, 1, pid), 0);
    }
    ck_assert(has_message(WIRE_PERSIST));
    persisted(0, 1, 0);
    persisted(3, 1, 0);
    known(0, 1);
    known(3, 1);
    ck_assert(has_message(WIRE_RETIRE));
    killed(3, 2, 9); /* of the one where it is now */
    ck_assert_int_eq(coord_outcome(coord).pid, 2);
}
END_TEST

/* Process 0, and who reads the input, are as any other. */
START_TEST(the_first_process_goes_elsewhere)
{
    start_on(3, SAVING(EVERY(100), .own = 3, .stdin_pid = 1));
    all_bear();
    ck_assert(coord_can_outlive(coord, 0));
    ck_assert_int_eq(lost(0), 0);
    ck_assert_uint_eq(message_of(WIRE_SURVIVED)->survived.moves.count, 2);
    ck_assert_uint_eq(host_of(0), 3);
    ck_assert_uint_eq(host_of(1), 3);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    save_now(false);
    arrived_knowing(7, 0, WIRE_BARRIER_CALL, 1);
    arrived_knowing(3, 0, WIRE_BARRIER_CALL, 1);
    captured(7, 0);
    SAY(CAPTURED, .captured = {.host = 3, .input = 11, .input_digest = 5});
    ck_assert_uint_eq(coord->ticket.input, 11); /* as its new host says */
    ck_assert_uint_eq(coord->ticket.input_digest, 5);
}
END_TEST

START_TEST(one_after_the_other)
{
    const struct wire_survived *survived;

    start_on(4, SAVING(EVERY(100), .by_node = true)); /* 0: 0 4; 7: 1 5; 3: 2; 5: 3 */
    all_bear();
    bears(5, true);
    lost(7);
    ck_assert_uint_eq(message_of(WIRE_SURVIVED)->survived.moves.count, 2);
    ck_assert_uint_eq(host_of(1), 3);
    ck_assert_uint_eq(host_of(5), 3);
    lost(3);
    survived = &message_of(WIRE_SURVIVED)->survived;
    ck_assert_uint_eq(survived->number, 2);
    ck_assert_uint_eq(survived->moves.count, 3);
    ck_assert_uint_eq(host_of(1), 5);
    ck_assert_uint_eq(host_of(2), 0);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
}
END_TEST

static void expect_end_by_loss_of(uint32_t host)
{
    ck_assert(!coord_can_outlive(coord, host));
    lost(host);
    ck_assert(!has_message(WIRE_SURVIVED));
    ck_assert_int_eq(coord_phase(coord), COORD_FAILED);
    ck_assert_int_eq(coord_outcome(coord).cause, WIRE_CAUSE_HOST_LOST);
    tear_down();
}

START_TEST(all_go_back_where_it_cannot_be)
{
    start_bearing(3);
    expect_end_by_loss_of(0); /* Processor Zero */
    start_on(3, SAVING(EVERY(100)));
    bears(3, true);
    expect_end_by_loss_of(7); /* it has not said so */
    start_bearing(3);
    bears(7, false); /* or takes it back */
    expect_end_by_loss_of(7);
    start_on(3, SAVING(EVERY(100), .own = 7));
    all_bear();
    expect_end_by_loss_of(7); /* Processor Zero's own */
    start_bearing(3);
    ck_assert_int_eq(arrived(7, 0, WIRE_BARRIER_END), 0);
    expect_end_by_loss_of(7); /* all its processes are at the barrier */
    start_bearing(3);
    ck_assert_int_eq(arrived(0, 0, WIRE_BARRIER_END), 0);
    ck_assert_int_eq(arrived(3, 0, WIRE_BARRIER_END), 0);
    expect_end_by_loss_of(7); /* nobody can take them */
    start_bearing(3);
    coord->config.survives = false; /* there is one copy */
    expect_end_by_loss_of(7);
    start(1, CONFIG());
}
END_TEST

START_TEST(bsprun_knows_whom_to_ask_about)
{
    start_on(3, SAVING(EVERY(100)));
    bears(0, true);
    ck_assert_uint_eq(message_of(WIRE_BEARABLE)->bearable.of, 0); /* its own, for a successor */
    bears(7, true);
    ck_assert_uint_eq(effects.items[0].kind, COORD_EFFECT_TELL);
    ck_assert_uint_eq(message_of(WIRE_BEARABLE)->bearable.of, 7);
    ck_assert(message_of(WIRE_BEARABLE)->bearable.bears);
    bears(7, true);
    ck_assert_uint_eq(effects.count, 0);
    bears(7, false);
    ck_assert(!message_of(WIRE_BEARABLE)->bearable.bears);
}
END_TEST

/* The snapshot that was being written cannot be completed; the one before it counts. */
START_TEST(an_open_snapshot_is_abandoned)
{
    start_bearing(3);
    save_now(false);
    arrived(0, 0, WIRE_BARRIER_CALL);
    arrived(7, 0, WIRE_BARRIER_CALL);
    arrived(3, 0, WIRE_BARRIER_CALL);
    lost(7);
    ck_assert_int_eq(coord_phase(coord), COORD_FAILED); /* while all wait to be captured */
    tear_down();

    start_bearing(3);
    save_now(false);
    arrived(0, 0, WIRE_BARRIER_CALL);
    arrived(7, 0, WIRE_BARRIER_CALL);
    arrived(3, 0, WIRE_BARRIER_CALL);
    captured(0, 0);
    captured(7, 0);
    captured(3, 0);
    lost(7);
    ck_assert(has_message(WIRE_ABANDON));
    ck_assert_uint_eq(message_of(WIRE_SURVIVED)->envelope.superstep, 1);
    ck_assert_uint_eq(message_of(WIRE_SURVIVED)->survived.name.superstep, 0);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
}
END_TEST

/* Who was at the barrier before stays there; but what arrives by what was true before is told from
 * what arrives now. */
START_TEST(barriers_across_a_loss)
{
    start_bearing(3);
    arrived(0, 0, WIRE_BARRIER_END);
    lost(7);
    ck_assert(has_message(WIRE_SURVIVED));
    arrived_knowing(3, 0, WIRE_BARRIER_END, 1);
    ck_assert(has_message(WIRE_CLOSING));
    tear_down();

    start_bearing(3);
    lost(7);
    arrived_knowing(3, 0, WIRE_BARRIER_END, 0); /* without its new processes */
    ck_assert_int_eq(coord_phase(coord), COORD_FAILED);
    tear_down();

    start_bearing(3);
    arrived(0, 0, WIRE_BARRIER_END); /* as the lost ones had said */
    lost(7);
    save_now(false);
    arrived_knowing(3, 0, WIRE_BARRIER_CALL, 1); /* as they say now */
    ck_assert_int_eq(coord_phase(coord), COORD_FAILED);
    ck_assert_int_eq(coord_outcome(coord).cause, WIRE_CAUSE_HOST_LOST);
}
END_TEST

/* What a lost host has sent and received does not count for those that wait for ever. */
START_TEST(who_waits_is_asked_anew)
{
    start_bearing(3);
    SAY(QUIET, .quiet = {.host = 0, .quiet = true, .sent = 4, .received = 1, .waits = ""});
    ck_assert_uint_eq(message_of(WIRE_ASK_QUIET)->ask_quiet.round, 1);
    SAY(QUIET, .quiet = {.host = 7, .round = 1, .quiet = true, .received = 3, .waits = ""});
    lost(7);
    SAY(QUIET, .quiet = {.host = 0, .round = 1, .quiet = true, .sent = 1, .waits = ""});
    SAY(QUIET, .quiet = {.host = 3, .round = 1, .quiet = true, .received = 1, .waits = ""});
    ck_assert(!has_message(WIRE_ASK_QUIET));
    SAY(QUIET, .quiet = {.host = 0, .quiet = true, .sent = 1, .waits = ""});
    ck_assert_uint_eq(message_of(WIRE_ASK_QUIET)->ask_quiet.round, 2);
    for (uint32_t round = 2; round < 4; round++) {
        SAY(QUIET, .quiet = {.host = 0, .round = round, .quiet = true, .sent = 1, .waits = "\n a"});
        SAY(QUIET, .quiet = {.host = 3,
                             .round = round,
                             .quiet = true,
                             .received = 1,
                             .held = WIRE_NEVER,
                             .waits = "\n b"});
    }
    ck_assert_int_eq(coord_outcome(coord).cause, WIRE_CAUSE_RANKS_STUCK);
}
END_TEST

/* ---- In the place of Processor Zero ---- */

/* Host 7 in the place of host 0, which is lost with the processes 0 and 1. */
static void succeed(uint32_t hosts)
{
    static const uint64_t homes[] = {0, 0, 7, 7, 3, 3};

    start(hosts, SAVING(EVERY(100), .own = 7, .survives = true, .copies = 2,
                        .predecessor = {{homes, 6}, {NULL, 0}, {2, 3}}));
    ck_assert_int_eq(coord_phase(coord), COORD_TAKING_OVER);
    ck_assert_int_eq(lost(0), 0);
    ck_assert_int_eq(coord_phase(coord), COORD_TAKING_OVER);
}

#define KNOWING(from, ...)                                                                         \
    SAY(ACCOUNT,                                                                                   \
        .account = {.host = from, .consult = COORD_NEVER, .committed = {2, 3}, __VA_ARGS__})
#define ACCOUNT(from, ...)                                                                         \
    KNOWING(from, .decided = 2, .ready = true, .runs = true, .survived = 0, __VA_ARGS__)

START_TEST(another_processor_zero)
{
    const struct wire_survived *survived;

    succeed(3);
    KNOWING(7, .decided = 2, .runs = true, .survived = 1);
    ck_assert_uint_eq(effects.count, 0);
    KNOWING(3, .decided = 2, .runs = true, .survived = 1);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    ck_assert_uint_eq(message_of(WIRE_TAKEN_OVER)->taken_over.decided, 2);
    ck_assert_uint_eq(message_of(WIRE_COMMITTED)->envelope.superstep, 2);
    ck_assert(!has_message(WIRE_CONSULT));
    survived = &message_of(WIRE_SURVIVED)->survived;
    ck_assert_uint_eq(survived->lost, 0);
    ck_assert_uint_eq(survived->number, 2);
    ck_assert_uint_eq(survived->moves.count, 2);
    ck_assert_uint_eq(survived->name.superstep, 2);
    ck_assert_uint_eq(message_of(WIRE_SURVIVED)->envelope.superstep, 2);
    ck_assert_uint_eq(host_of(0), 3);
    ck_assert_uint_eq(host_of(1), 3);
    known(7, 2);
    known(3, 2);
    ck_assert_int_eq(coord->ticket.state, COORD_TICKET_NONE);
    SAY(AHEAD_READY, .ahead_ready = {.host = 3, .name = {2, 3}}); /* the former one had asked */
    ck_assert(effects.dropped);
    save_now(false);
    arrived_knowing(7, 2, WIRE_BARRIER_CALL, 2);
    arrived_knowing(3, 2, WIRE_BARRIER_CALL, 2);
    ck_assert_int_eq(message_of(WIRE_RELEASE)->release.decision, WIRE_DECISION_SNAPSHOT);
}
END_TEST

/* ... which, too, may be lost, or lose others. */
START_TEST(it_outlives_others)
{
    succeed(3);
    ACCOUNT(7, .arrived = false);
    ACCOUNT(3, .arrived = false);
    known(7, 2);
    known(3, 2);
    bears(3, true);
    ck_assert(message_of(WIRE_BEARABLE)->bearable.bears);
    lost(3);
    ck_assert_uint_eq(message_of(WIRE_SURVIVED)->survived.number, 2);
    for (uint32_t pid = 0; pid < 6; pid++)
        ck_assert_uint_eq(host_of(pid), 7);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
}
END_TEST

/* Who waits at a barrier says so again, and takes no processes; who was asked for one, and who was
 * not, is asked. */
START_TEST(what_was_asked_is_asked_again)
{
    succeed(3);
    ACCOUNT(7, .arrived = true, .asked = true);
    ACCOUNT(3, .arrived = false);
    ck_assert_uint_eq(host_of(0), 3);
    ck_assert_uint_eq(host_of(1), 3);
    ck_assert(has_message(WIRE_CONSULT));
    ck_assert_int_eq(arrived_knowing(7, 2, WIRE_BARRIER_CALL, 0), 0);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    ck_assert_int_eq(arrived_knowing(3, 2, WIRE_BARRIER_CALL, 1), 0);
    ck_assert(has_message(WIRE_RELEASE));
    tear_down();

    succeed(3); /* a request that bsprun makes again meanwhile */
    save_now(false);
    ACCOUNT(7, .arrived = false);
    ACCOUNT(3, .arrived = false);
    ck_assert(has_message(WIRE_CONSULT));
}
END_TEST

static void expect_that_all_go_back(void)
{
    ck_assert(!has_message(WIRE_SURVIVED));
    ck_assert_int_eq(coord_phase(coord), COORD_FAILED);
    ck_assert_int_eq(coord_outcome(coord).cause, WIRE_CAUSE_HOST_LOST);
    ck_assert(coord_outcome(coord).again);
    tear_down();
}

START_TEST(all_go_back_if_not_all_know_the_same)
{
    succeed(3); /* a loss */
    KNOWING(7, .decided = 2, .runs = true, .survived = 1);
    ACCOUNT(3, .arrived = false);
    expect_that_all_go_back();
    succeed(3); /* a barrier */
    KNOWING(7, .decided = 3, .runs = true);
    ACCOUNT(3, .arrived = false);
    expect_that_all_go_back();
    succeed(3); /* a snapshot is being taken */
    ACCOUNT(7, .arrived = false);
    ACCOUNT(3, .captures = 3);
    expect_that_all_go_back();
    succeed(3); /* one has given up the former one */
    ACCOUNT(7, .arrived = false);
    ACCOUNT(3, .stopped = true);
    expect_that_all_go_back();
    succeed(3); /* not all run */
    ACCOUNT(7, .arrived = false);
    KNOWING(3, .decided = 2, .ready = true);
    expect_that_all_go_back();
    succeed(3); /* nobody can take the processes */
    ACCOUNT(7, .arrived = true);
    ACCOUNT(3, .arrived = true);
    expect_that_all_go_back();
    succeed(3); /* another one is lost */
    ACCOUNT(7, .arrived = false);
    lost(3);
    expect_that_all_go_back();
    start(1, CONFIG());
}
END_TEST

/* A host that has no processes is not missed, but says what it knows. */
START_TEST(an_idle_host_has_a_say)
{
    succeed(4);
    ACCOUNT(7, .arrived = false);
    ACCOUNT(3, .arrived = false);
    ck_assert_int_eq(coord_phase(coord), COORD_TAKING_OVER);
    ACCOUNT(5, .arrived = false);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    tear_down();

    succeed(4);
    ACCOUNT(7, .arrived = false);
    lost(5);
    ACCOUNT(3, .arrived = false);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {its_processes_go_on_elsewhere,
                                  the_next_snapshot_has_the_new_homes,
                                  the_first_process_goes_elsewhere,
                                  one_after_the_other,
                                  all_go_back_where_it_cannot_be,
                                  bsprun_knows_whom_to_ask_about,
                                  an_open_snapshot_is_abandoned,
                                  barriers_across_a_loss,
                                  who_waits_is_asked_anew,
                                  another_processor_zero,
                                  it_outlives_others,
                                  what_was_asked_is_asked_again,
                                  all_go_back_if_not_all_know_the_same,
                                  an_idle_host_has_a_say};

    return suite_run_tests("coord_survive", tests, sizeof tests / sizeof *tests, NULL, tear_down);
}
