/* test_coord_restore.c - Processor Zero: faults after which the job goes back to a snapshot, and
 * how. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/coord_play.h"
#include "tests/unit/suite.h"

START_TEST(a_death_goes_back_to_the_snapshot)
{
    start_with_snapshot_0(SAVING(EVERY(1)));
    killed(0, 1, 9);
    killed(0, 0, 9);
    expect_trace("event RANK_EXITED term 3 host 0 pid 1 signal 9\n"
                 "  RUNNING -> FAILED\n"
                 "  effect STOP_RANKS term 3 again\n"
                 "  effect FINISH term 3\n"
                 "event RANK_EXITED term 3 host 0 pid 0 signal 9\n"
                 "  dropped\n");
    expect_outcome(137, WIRE_CAUSE_RANK_SIGNALLED, 1);
    ck_assert(coord_outcome(coord).again);
}
END_TEST

START_TEST(what_is_never_rolled_back)
{
    /* Before snapshot 0. */
    start(1, SAVING(EVERY(1)));
    host_ready(0, 2);
    registered(0, 2);
    ranks_ready(0, 2);
    killed(0, 1, 9);
    ck_assert_int_eq(coord_phase(coord), COORD_GIVING_UP);
    tear_down();
    /* The program's own end. */
    start_with_snapshot_0(SAVING(EVERY(1)));
    exited(0, 1, 0);
    ck_assert_int_eq(coord_phase(coord), COORD_GIVING_UP);
    ck_assert(!coord_outcome(coord).again);
    tear_down();
    start_with_snapshot_0(SAVING(EVERY(1)));
    abort_job(0, 1, WIRE_CAUSE_ABORT_CALLED, 1);
    ck_assert_int_eq(coord_phase(coord), COORD_GIVING_UP);
    tear_down();
    /* After bsp_end. */
    start_with_snapshot_0(SAVING(EVERY(1)));
    arrived(0, 0, WIRE_BARRIER_END);
    SAY(CLOSED);
    killed(0, 1, 9);
    exited(0, 0, 0);
    ck_assert_int_eq(coord_phase(coord), COORD_ENDED);
    expect_outcome(137, WIRE_CAUSE_KILLED_AFTER_END, 1);
}
END_TEST

/* Until bsprun agrees it may open the next term, which needs all agents as they are. */
START_TEST(cut_short_when_bsprun_agrees)
{
    start(2, SAVING(EVERY(1)));
    host_ready(0, 2);
    lost(7);
    stopped(0); /* killed by bsprun */
    ck_assert(!effects.dropped && effects.count == 0);
    SAY(CLOSED);
    SAY(CLOSED);
    expect_trace("event HOST_READY term 3 host 0 slots 2\n"
                 "event HOST_LOST term 3 host 7\n"
                 "  WAITING -> GIVING_UP\n"
                 "  effect CLOSE term 3\n"
                 "event RANKS_STOPPED term 3 host 0\n"
                 "event CLOSED term 3\n"
                 "  GIVING_UP -> ABORTING\n"
                 "  ABORTING -> ABORTED\n"
                 "  effect END term 3\n"
                 "  effect CANCEL_TIMER term 3\n"
                 "  effect FINISH term 3\n"
                 "event CLOSED term 3\n"
                 "  dropped\n");
    tear_down();
    /* All hosts are lost, which is no answer. */
    start(2, SAVING(EVERY(1)));
    host_ready(0, 2);
    abort_job(0, COORD_NOBODY, WIRE_CAUSE_RANK_ERROR, 1);
    lost(0);
    lost(7);
    ck_assert_int_eq(coord_phase(coord), COORD_GIVING_UP);
    SAY(CLOSED);
    ck_assert_int_eq(coord_phase(coord), COORD_ABORTED);
    expect_outcome(1, WIRE_CAUSE_RANK_ERROR, COORD_NOBODY);
}
END_TEST

START_TEST(a_fault_while_the_manifest_is_written)
{
    start(1, SAVING(EVERY(1)));
    host_ready(0, 2);
    registered(0, 2);
    ranks_ready(0, 2);
    durable(0, 0, 0);
    killed(0, 1, 9); /* it may have been committed: the next term finds out */
    ck_assert_int_eq(coord_phase(coord), COORD_FAILED);
}
END_TEST

START_TEST(restored_on_two_hosts)
{
    static const uint64_t copies[] = {2, 3};
    start(2, SAVING(EVERY(1), .restore = true, .wanted = COORD_NEVER));
    held(7, 4, 1, (struct wire_numbers){0});
    held(7, 6, 2, (struct wire_numbers){copies, 2});
    held(0, 4, 1, (struct wire_numbers){0});
    host_ready(7, 0);
    host_ready(0, 0);
    SAY(TERM_RECORDED);
    ck_assert_uint_eq(host_of(0), 0);
    ck_assert_uint_eq(host_of(2), 7);
    ck_assert_int_eq(said()->kind, WIRE_RESTORE);
    ck_assert_uint_eq(said()->restore.host_of.count, 4);
    ck_assert_uint_eq(said()->restore.host_of.items[2], 7);
    ck_assert_uint_eq(said()->restore.copy.count, 2);
    ck_assert_uint_eq(said()->restore.copy.items[0], 2);
    ck_assert_uint_eq(said()->restore.copy.items[1], 3);
    SAY(STAGED, .staged = {.host = 0, .count = 2});
    expect_broken(SAY(STAGED, .staged = {.host = 7, .count = 1}));
    ck_assert(!has_message(WIRE_PASS));
    SAY(STAGED, .staged = {.host = 7, .count = 2});
    ranks_ready(0, 2);
    ranks_ready(7, 2);
    arrived(0, 6, WIRE_BARRIER_SYNC);
    expect_trace("event HELD term 3 host 7 snapshot 4.1 processes 4 images 4 copies 0\n"
                 "event HELD term 3 host 7 snapshot 6.2 processes 4 images 4 copies 2\n"
                 "event HELD term 3 host 0 snapshot 4.1 processes 4 images 4 copies 0\n"
                 "event HOST_READY term 3 host 7 slots 0\n"
                 "event HOST_READY term 3 host 0 slots 0\n"
                 "  WAITING -> CHOOSING\n"
                 "  effect CHOOSE term 3 snapshot 6.2\n"
                 "event TERM_RECORDED term 3\n"
                 "  CHOOSING -> RESTORING\n"
                 "  effect RESTORE term 3 snapshot 6.2\n"
                 "event STAGED term 3 host 0 count 2\n"
                 "event STAGED term 3 host 7 count 1\n"
                 "  broken: host 7 has staged 1 processes instead of 2\n"
                 "event STAGED term 3 host 7 count 2\n"
                 "  RESTORING -> PASSING\n"
                 "  effect PASS term 3\n"
                 "event RANKS_READY term 3 host 0 count 2\n"
                 "event RANKS_READY term 3 host 7 count 2\n"
                 "  PASSING -> RUNNING\n"
                 "  effect RUN term 3 processes 4 consult 6\n"
                 "event ARRIVED term 3 host 0 superstep 6 bsp_sync\n");
}
END_TEST

/* One host knows of one group, the other one of the other; the snapshot before has none. */
START_TEST(groups_that_hosts_hold)
{
    uint64_t copies[] = {0}, first[] = {0, 0, 2, 3}, second[] = {0, 1, 2, 2};
    uint64_t bad[][4] = {{0, 2, 2, 3}, {0, 0, 1, 3}, {0, 0, 2, UINT64_MAX}};
    const struct wire_message held_of_4 = {
        .kind = WIRE_HELD,
        .envelope.term = 3,
        .held = {.name = {6, 2}, .processes = 4, .manifest = true, .all = true}};

    start(3, SAVING(EVERY(1), .restore = true, .wanted = COORD_NEVER));
    struct wire_message message = held_of_4;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        message.held.together = (struct wire_numbers){bad[i], 4};
        expect_broken(take(message));
    }
    message.held.together = (struct wire_numbers){first, 3};
    expect_broken(take(message));
    message.held.together = (struct wire_numbers){first, 4};
    message.held.copies = (struct wire_numbers){copies, 1};
    ck_assert_int_eq(take(message), 0);
    held(7, 4, 1, (struct wire_numbers){0});
    message = held_of_4;
    message.held.host = 7;
    message.held.together = (struct wire_numbers){second, 4};
    ck_assert_int_eq(take(message), 0);
    host_ready(0, 0);
    host_ready(7, 0);
    host_ready(3, 0);
    SAY(TERM_RECORDED);
    ck_assert_uint_eq(host_of(1), 0);
    ck_assert_uint_eq(host_of(2), 3);
    ck_assert_uint_eq(host_of(3), 3);
}
END_TEST

START_TEST(what_is_not_restored)
{
    struct coord_lineage lineage = {0};
    struct wire_numbers none = {0};
    coord_lineage_add(&lineage, 2, (struct bspz_snapshot_name){5, 1});
    struct coord_config config = SAVING(EVERY(1), .restore = true, .wanted = COORD_NEVER,
                                        .lineage = &lineage, .avoid = {{5, 1}}, .avoid_count = 1);
    start(1, config);
    held(0, 9, 1, none); /* term 2 began before it */
    held(0, 5, 1, none); /* could not be restored */
    held(0, 4, 1, none);
    uint64_t some[] = {0, 1, 3}; /* of four images */
    SAY(HELD,
        .held = {.host = 0, .name = {5, 2}, .processes = 4, .manifest = true, .images = {some, 3}});
    SAY(HELD, .held = {.host = 0, .name = {5, 2}, .processes = 4, .all = false});
    host_ready(0, 2);
    ck_assert_uint_eq(said()->chosen.name.superstep, 4);
    SAY(TERM_RECORDED);
    image_failed(0, 4, 2, WIRE_CAUSE_NOT_RESTORED);
    ck_assert_int_eq(coord_phase(coord), COORD_FAILED);
    ck_assert_uint_eq(coord_outcome(coord).bad.superstep, 4);
    tear_down();

    start(1, config);
    held(0, 9, 1, none);
    host_ready(0, 2);
    expect_outcome(1, WIRE_CAUSE_NOTHING_SAVED, COORD_NOBODY);
    tear_down();

    config.wanted = 3;
    start(1, config);
    held(0, 4, 1, none);
    held(0, 3, 1, none);
    host_ready(0, 2);
    ck_assert_uint_eq(said()->chosen.name.superstep, 3);
}
END_TEST

START_TEST(faults_in_a_restore)
{
    start(2, SAVING(EVERY(1), .restore = true, .wanted = COORD_NEVER));
    held(0, 4, 1, (struct wire_numbers){0});
    lost(7); /* still waiting for everybody */
    ck_assert_int_eq(coord_phase(coord), COORD_FAILED);
    ck_assert(coord_outcome(coord).again);
    tear_down();

    start(1, SAVING(EVERY(1), .restore = true, .wanted = COORD_NEVER));
    held(0, 4, 1, (struct wire_numbers){0});
    host_ready(0, 2);
    SAY(TERM_RECORDED);
    exited(0, 2, 1);
    ck_assert_int_eq(coord_phase(coord), COORD_FAILED);
    expect_outcome(1, WIRE_CAUSE_NOT_RESTORED, 2);
}
END_TEST

/* Hosts 0 and 7; processes 0 and 1 have copies on host 0, the images of 2 and 3 are on both. */
static void with_memory(uint64_t left_on_0, uint64_t left_on_7, struct wire_move_list moves)
{
    static const uint64_t copies[] = {0, 1}, needs[] = {9, 9, 5, 6}, better[] = {0, 0, 4, 0};

    start(2, SAVING(EVERY(1), .restore = true, .wanted = COORD_NEVER, .moves = moves));
    SAY(HELD, .held = {.host = 0,
                       .name = {4, 1},
                       .processes = 4,
                       .manifest = true,
                       .all = true,
                       .copies = {copies, 2},
                       .needs = {needs, 4}});
    /* Bounds from above: the lowest counts. */
    SAY(HELD,
        .held = {.host = 7, .name = {4, 1}, .processes = 4, .all = true, .needs = {better, 4}});
    SAY(HOST_READY, .host_ready = {.host = 0, .slots = 2, .available = left_on_0});
    SAY(HOST_READY, .host_ready = {.host = 7, .slots = 2, .available = left_on_7});
}

START_TEST(what_fits)
{
    static const struct wire_move move = {1, 7};
    struct wire_move_list moves = {&move, 1};

    with_memory(100, 10, (struct wire_move_list){0});
    ck_assert_uint_eq(host_of(2), 7);
    ck_assert_uint_eq(host_of(3), 7);
    ck_assert_uint_eq(said()->chosen.missed.count, 0);
    tear_down();

    with_memory(100, 9, (struct wire_move_list){0});
    ck_assert_uint_eq(host_of(2), 7);
    ck_assert_uint_eq(host_of(3), 0);
    tear_down();

    with_memory(100, 10, moves);
    ck_assert_uint_eq(host_of(1), 7);
    ck_assert_uint_eq(said()->chosen.missed.count, 0);
    tear_down();

    with_memory(100, 8, moves);
    ck_assert_uint_eq(host_of(1), 0);
    ck_assert_uint_eq(said()->chosen.missed.count, 1);
    ck_assert_uint_eq(said()->chosen.missed.items[0].pid, 1);
    ck_assert_uint_eq(said()->chosen.missed.items[0].host, 0);
    ck_assert_ptr_nonnull(strstr(said()->chosen.text, "process 1 needs 9 B of memory; host"));
    tear_down();

    with_memory(5, 4, (struct wire_move_list){0});
    expect_outcome(1, WIRE_CAUSE_NO_MEMORY, 3);
    ck_assert_ptr_nonnull(strstr(coord_outcome(coord).text, "process 3 needs 6 B of memory; host"));
    tear_down();

    uint64_t three[] = {1, 2, 3};
    start(1, SAVING(EVERY(1), .restore = true, .wanted = COORD_NEVER));
    expect_broken(SAY(HELD, .held = {.host = 0,
                                     .name = {4, 1},
                                     .processes = 4,
                                     .manifest = true,
                                     .all = true,
                                     .needs = {three, 3}}));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {restored_on_two_hosts,
                                  what_is_not_restored,
                                  faults_in_a_restore,
                                  what_fits,
                                  a_death_goes_back_to_the_snapshot,
                                  what_is_never_rolled_back,
                                  cut_short_when_bsprun_agrees,
                                  a_fault_while_the_manifest_is_written,
                                  groups_that_hosts_hold};

    return suite_run_tests("coord restore", tests, sizeof tests / sizeof *tests, NULL, tear_down);
}
