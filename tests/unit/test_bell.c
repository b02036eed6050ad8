/* test_bell.c - for whom the bell was rung, while processes are late, stopped or killed between the
 * words by which they say so.
 */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "lib/shm/barrier.h"
#include "lib/shm/board.h"
#include "tests/unit/suite.h"

static struct bspz_board *board;
static struct bspz_heard heard;

static void set_up(void)
{
    board = aligned_alloc(BSPZ_LINE, BSPZ_BOARD_BYTES + BSPZ_RANK_BYTES);
    ck_assert_ptr_nonnull(board);
    memset((void *)board, 0, BSPZ_BOARD_BYTES + BSPZ_RANK_BYTES);
    heard = (struct bspz_heard){0};
}

static void tear_down(void)
{
    free(board);
}

START_TEST(each_ring_is_heard_once)
{
    ck_assert_uint_eq(bspz_board_heard(board, &heard), 0);
    bspz_board_ring(board);
    bspz_board_ring(board);
    ck_assert_uint_eq(bspz_board_heard(board, &heard), BSPZ_HEARD_LOOP);
    ck_assert_uint_eq(bspz_board_heard(board, &heard), 0);
    bspz_board_ring_objects(board);
    ck_assert_uint_eq(bspz_board_heard(board, &heard), BSPZ_HEARD_OBJECTS);
    bspz_board_ring_objects(board);
    bspz_board_ring(board);
    ck_assert_uint_eq(bspz_board_heard(board, &heard), BSPZ_HEARD_OBJECTS | BSPZ_HEARD_LOOP);
    ck_assert_uint_eq(bspz_board_heard(board, &heard), 0);
}
END_TEST

START_TEST(rings_for_the_links_wake_the_thread_only)
{
    uint32_t rung = atomic_load(&board->doorbell);

    bspz_board_ring_links(board);
    bspz_board_ring_awake(board);
    ck_assert_uint_eq(atomic_load(&board->doorbell), rung + 2);
    ck_assert_uint_eq(bspz_board_heard(board, &heard), 0);
}
END_TEST

/* The last rank of a host at a barrier rings for the links. */
START_TEST(an_arrival_is_for_the_links)
{
    board->flags = BSPZ_BOARD_HOSTS;
    board->here = 1;
    bspz_barrier_arrive(board, 1, 0, 4, BSPZ_STAGE_ARRIVED);
    ck_assert_uint_eq(atomic_load(&board->doorbell), 1);
    ck_assert_uint_eq(bspz_board_heard(board, &heard), 0);
}
END_TEST

/* One that is killed, or stopped, between its count and its ring hides no ring of another one. */
START_TEST(who_counts_and_does_not_ring_hides_nobody)
{
    atomic_fetch_add(&board->rung_for_objects, 1);
    bspz_board_ring(board);
    ck_assert_uint_eq(bspz_board_heard(board, &heard), BSPZ_HEARD_OBJECTS | BSPZ_HEARD_LOOP);
    bspz_board_ring(board);
    ck_assert_uint_eq(bspz_board_heard(board, &heard), BSPZ_HEARD_LOOP);
    atomic_fetch_add(&board->rung_for_loop, 1);
    bspz_board_ring_objects(board);
    ck_assert_uint_eq(bspz_board_heard(board, &heard), BSPZ_HEARD_OBJECTS | BSPZ_HEARD_LOOP);
    atomic_fetch_add(&board->doorbell, 1); /* the one of the late count */
    bspz_board_ring(board);
    ck_assert_uint_eq(bspz_board_heard(board, &heard), BSPZ_HEARD_LOOP);
}
END_TEST

/* Also who is heard before its ring is not missed, if it writes before it counts. */
START_TEST(a_count_is_heard_before_its_ring)
{
    bspz_board_ring_links(board);
    atomic_fetch_add(&board->rung_for_loop, 1);
    ck_assert_uint_eq(bspz_board_heard(board, &heard), BSPZ_HEARD_LOOP);
    atomic_fetch_add(&board->doorbell, 1);
    ck_assert_uint_eq(bspz_board_heard(board, &heard), 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {each_ring_is_heard_once, rings_for_the_links_wake_the_thread_only,
                                  an_arrival_is_for_the_links,
                                  who_counts_and_does_not_ring_hides_nobody,
                                  a_count_is_heard_before_its_ring};

    return suite_run_tests("bell", tests, sizeof tests / sizeof *tests, set_up, tear_down);
}
