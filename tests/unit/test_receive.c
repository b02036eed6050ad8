/* test_receive.c - the slot of a process that comes from a lost host: ranks that are late at a
 * barrier still read there what its former life has said.
 */
#include <check.h>
#include <stdlib.h>

#include "lib/shm/board.h"
#include "tests/unit/suite.h"

#define PROCS 3

static struct bspz_board *board;

static void set_up(void)
{
    board = aligned_alloc(BSPZ_LINE, BSPZ_BOARD_BYTES + PROCS * BSPZ_RANK_BYTES);
    ck_assert_ptr_nonnull(board);
    for (size_t i = 0; i < BSPZ_BOARD_BYTES + PROCS * BSPZ_RANK_BYTES; i++)
        ((unsigned char *)board)[i] = 0;
}

static void tear_down(void)
{
    free(board);
}

static void arrive(int pid, uint64_t superstep, uint32_t flags)
{
    struct bspz_line *line = &bspz_rank_of(board, pid)->line[superstep & 1];

    line->flags = flags;
    line->digest = superstep;
    atomic_store(&line->stamp, superstep + 1);
}

START_TEST(what_it_has_said_stays)
{
    struct bspz_rank *rank = bspz_rank_of(board, 1);

    arrive(1, 6, BSPZ_HAS_CALL);
    arrive(1, 7, BSPZ_HAS_END);
    bspz_board_receive(board, 1, 2, 7);
    ck_assert_uint_eq(atomic_load(&rank->line[0].stamp), 7);
    ck_assert_uint_eq(rank->line[0].flags, BSPZ_HAS_CALL);
    ck_assert_uint_eq(rank->line[0].digest, 6);
    ck_assert_uint_eq(atomic_load(&rank->line[1].stamp), 0); /* it comes there again */
    ck_assert_uint_eq(rank->line[1].flags, BSPZ_HAS_END);
    ck_assert_uint_eq(rank->line[1].digest, 7);
}
END_TEST

START_TEST(all_else_begins)
{
    struct bspz_rank *rank = bspz_rank_of(board, 1);

    atomic_store(&rank->state, BSPZ_RANK_RUNNING);
    atomic_store(&rank->in_barrier, 1);
    atomic_store(&rank->file_count, 3);
    rank->request.number = 5;
    atomic_store(&rank->dozing, 1);
    atomic_store(&bspz_rank_of(board, 0)->in_barrier, 1);
    atomic_store(&bspz_rank_of(board, 2)->line[0].stamp, 9);
    bspz_board_receive(board, 1, 2, 7);
    ck_assert_uint_eq(atomic_load(&rank->state), BSPZ_RANK_EMPTY);
    ck_assert_uint_eq(atomic_load(&rank->in_barrier), 0);
    ck_assert_uint_eq(atomic_load(&rank->file_count), 3); /* the names are there */
    ck_assert_uint_eq(rank->request.number, 0);
    ck_assert_uint_eq(atomic_load(&rank->dozing), 0);
    ck_assert_uint_eq(atomic_load(&rank->host), 2);
    ck_assert_uint_eq(atomic_load(&rank->superstep), 7);
    ck_assert_uint_eq(atomic_load(&rank->applied), 7);
    ck_assert_int_eq(atomic_load(&rank->core), -1);
    ck_assert_uint_eq(atomic_load(&bspz_rank_of(board, 0)->in_barrier), 1);
    ck_assert_uint_eq(atomic_load(&bspz_rank_of(board, 2)->line[0].stamp), 9);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {what_it_has_said_stays, all_else_begins};

    return suite_run_tests("receive", tests, sizeof tests / sizeof *tests, set_up, tear_down);
}
