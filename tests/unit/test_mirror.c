/* test_mirror.c - blocks between the boards of two hosts: what they carry, in which order they are
 * taken, and whose memory they use. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/clock.h"
#include "lib/wire/wire.h"
#include "tests/unit/mirror_play.h"
#include "tests/unit/suite.h"

/* Everything that a rank may read of another. */
START_TEST(carries_everything)
{
    const struct bspz_line *line = &bspz_rank_of(seven.board, 2)->line[0];

    board_name(&one, 0, "first.c");
    board_name(&one, 0, "second.c");
    board_push(&one, 2, 0, 0, 3);
    board_send(&one, 0, 1, BSPZ_PUTS, 0, 3, 1000, 0);
    board_send(&one, 0, 1, BSPZ_MESSAGES, 0, 1, 24, 0);
    board_send(&one, 0, 2, BSPZ_PUTS, 0, 2, 800, 0);
    board_send(&one, 0, 4, BSPZ_REQUESTS, 0, 2, 40, 0);
    board_send(&one, 3, 4, BSPZ_PUTS, 0, 2, 100000, 0);
    board_send(&one, 3, 4, BSPZ_MESSAGES, 0, 2, 5000000, 0);
    board_send(&one, 3, 1, BSPZ_PUTS, 0, 1, 8, 0);
    board_arrive(&one, 0, 0, BSPZ_HAS_PUT | BSPZ_HAS_MESSAGE | BSPZ_HAS_GET);
    board_arrive(&one, 2, 0, BSPZ_HAS_SEQUENCE);
    board_arrive(&one, 3, 0, BSPZ_HAS_PUT | BSPZ_HAS_MESSAGE);
    pass(0, BSPZ_STAGE_ARRIVED);

    ck_assert(board_has(&seven, 0, 1, BSPZ_PUTS, 0, 3, 1000));
    ck_assert(board_has(&seven, 0, 1, BSPZ_MESSAGES, 0, 1, 24));
    ck_assert(board_has(&seven, 0, 4, BSPZ_REQUESTS, 0, 2, 40));
    ck_assert(board_has(&seven, 3, 4, BSPZ_PUTS, 0, 2, 100000));
    ck_assert(board_has(&seven, 3, 4, BSPZ_MESSAGES, 0, 2, 5000000));
    ck_assert(board_has(&seven, 3, 1, BSPZ_PUTS, 0, 1, 8));
    ck_assert_msg(board_has(&seven, 0, 2, BSPZ_PUTS, 0, 0, 0), "not for ranks of that host");
    ck_assert_uint_eq(atomic_load(&bspz_rank_of(seven.board, 0)->file_count), 2);
    ck_assert_str_eq(bspz_name_of(seven.board, PROCS, 0, 1), "second.c");
    ck_assert_uint_eq(line->flags, BSPZ_HAS_SEQUENCE);
    ck_assert_uint_eq(line->position, BSPZ_POSITION(0, 102));
    ck_assert_mem_eq((char *)seven.board + line->sequence, (char *)one.board + line->sequence,
                     sizeof(struct bspz_calls) + 3 * sizeof(struct bspz_operation));
    ck_assert_uint_eq(bspz_areas_at(seven.board, 2)[2].base, 4096 * 3 + 2);
    ck_assert_uint_eq(stamp(0, 0), 1);
    ck_assert_uint_eq(stamp(3, 0), 1);
    ck_assert_uint_eq(stamp(5, 0), 0);
}
END_TEST

/* Nobody may see a stamp while data are still coming. */
START_TEST(stamps_come_last)
{
    struct mirror_block block, in;
    unsigned char *head;

    board_send(&one, 0, 1, BSPZ_PUTS, 0, 1, 64, 0);
    all_arrive(0, BSPZ_HAS_PUT);
    block = collect(0, BSPZ_STAGE_ARRIVED);
    head = malloc(block.head_bytes);
    memcpy(head, block.head, block.head_bytes);
    ck_assert_int_eq(mirror_expect(from_seven, 1, head, block.head_bytes, &in), 0);
    ck_assert_uint_eq(stamp(0, 0) + stamp(2, 0) + stamp(3, 0), 0);
    copy_data(&block, &in);
    ck_assert_uint_eq(stamp(0, 0) + stamp(2, 0) + stamp(3, 0), 0);
    ck_assert_int_eq(mirror_accept(from_seven, 1, &in), 0);
    ck_assert_uint_eq(stamp(0, 0) + stamp(2, 0) + stamp(3, 0), 3);
    mirror_block_free(&in);
    mirror_block_free(&block);
}
END_TEST

START_TEST(due_when_all_are_there)
{
    enum bspz_stage stage;
    uint64_t superstep;

    ck_assert(!mirror_due(from_one, &superstep, &stage));
    board_arrive(&one, 0, 0, 0);
    board_arrive(&one, 3, 0, 0);
    ck_assert(!mirror_due(from_one, &superstep, &stage));
    board_arrive(&one, 2, 0, 0);
    pass(0, BSPZ_STAGE_ARRIVED);
    ck_assert_msg(!mirror_due(from_one, &superstep, &stage), "once is enough");
    ck_assert(!mirror_has(from_one, 1));
    ck_assert(!mirror_has(from_one, 8));
    ck_assert(mirror_has(from_one, 9));
}
END_TEST

/* Stages between two barriers, and replies beside requests. */
START_TEST(all_stages)
{
    static const int mine[] = {0, 2, 3};
    struct bspz_entry *entry = bspz_entry_at(seven.board, PROCS, 2, 4, 0);

    board_send(&one, 0, 1, BSPZ_REQUESTS, 0, 1, 40, 0);
    all_arrive(0, BSPZ_HAS_GET);
    pass(0, BSPZ_STAGE_ARRIVED);
    seven_arrives(0);
    /* What lay there two supersteps ago is not to be seen beside the replies. */
    entry->first[BSPZ_PUTS] = 8;
    board_send(&one, 0, 1, BSPZ_REPLIES, 0, 1, 16, 0);
    board_send(&one, 2, 4, BSPZ_REPLIES, 0, 2, 500, 0);
    bspz_barrier_mirror(one.board, PROCS, mine, 3, 0, BSPZ_STAGE_MATCHED);
    bspz_barrier_mirror(one.board, PROCS, mine, 3, 0, BSPZ_STAGE_REPLIED);
    pass(0, BSPZ_STAGE_MATCHED);
    ck_assert_uint_eq(bspz_rank_of(seven.board, 2)->line[0].matched, 1);
    ck_assert_uint_eq(bspz_rank_of(seven.board, 2)->line[0].replied, 0);
    pass(0, BSPZ_STAGE_REPLIED);
    ck_assert_uint_eq(bspz_rank_of(seven.board, 2)->line[0].replied, 1);
    ck_assert(board_has(&seven, 0, 1, BSPZ_REPLIES, 0, 1, 16));
    ck_assert(board_has(&seven, 0, 1, BSPZ_REQUESTS, 0, 1, 40));
    ck_assert(board_has(&seven, 2, 4, BSPZ_REPLIES, 0, 2, 500));
    ck_assert_uint_eq(entry->first[BSPZ_PUTS], 0);
    all_arrive(1, 0);
    pass(1, BSPZ_STAGE_ARRIVED);
}
END_TEST

static uint64_t bytes_of(const struct wire_traffic *pairs, uint32_t count, uint32_t from,
                         uint32_t to)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < count; i++)
        if (pairs[i].from == from && pairs[i].to == to)
            bytes += pairs[i].bytes;
    return bytes;
}

/* Puts and messages of this superstep and replies of the one before, to any host; neither what is
 * older nor what other ranks have sent. */
START_TEST(traffic)
{
    struct wire_traffic pairs[64];

    ck_assert_uint_eq(mirror_traffic_most(from_one), 3 * WIRE_TRAFFIC_EACH);
    ck_assert_uint_eq(mirror_traffic(from_one, 0, pairs), 0);
    board_send(&one, 0, 1, BSPZ_PUTS, 0, 3, 1000, 0);
    board_send(&one, 0, 1, BSPZ_MESSAGES, 0, 1, 24, 0);
    board_send(&one, 0, 2, BSPZ_PUTS, 0, 2, 800, 0);
    board_send(&one, 0, 4, BSPZ_REQUESTS, 0, 2, 40, 0);
    board_send(&one, 1, 0, BSPZ_PUTS, 0, 1, 8, 0);
    board_send(&one, 3, 3, BSPZ_PUTS, 0, 1, 8, 0);
    uint32_t count = mirror_traffic(from_one, 0, pairs);
    ck_assert_uint_eq(count, 2);
    ck_assert_uint_eq(bytes_of(pairs, count, 0, 1), 3024);
    ck_assert_uint_eq(bytes_of(pairs, count, 0, 2), 1600);
    board_send(&one, 2, 4, BSPZ_REPLIES, 0, 2, 512, 0);
    board_send(&one, 2, 4, BSPZ_MESSAGES, 1, 1, 8, 0);
    count = mirror_traffic(from_one, 1, pairs);
    ck_assert_uint_eq(count, 1);
    ck_assert_uint_eq(bytes_of(pairs, count, 2, 4), 1032);
    ck_assert_uint_eq(mirror_traffic(from_one, 2, pairs), 0);
    /* A chain that is nowhere. */
    board_send(&one, 0, 1, BSPZ_PUTS, 3, 1, 8, 0);
    bspz_entry_at(one.board, PROCS, 0, 1, 3)->first[BSPZ_PUTS] = one.board->layout.total - 8;
    ck_assert_uint_eq(mirror_traffic(from_one, 3, pairs), 0);
}
END_TEST

/* Names go once, registrations of before the beginning with the first block. */
START_TEST(after_a_restore)
{
    struct mirror_block block;

    mirror_free(from_one);
    mirror_free(from_seven);
    for (int pid = 0; pid < PROCS; pid++) {
        atomic_store(&bspz_rank_of(one.board, pid)->superstep, 12);
        atomic_store(&bspz_rank_of(seven.board, pid)->superstep, 12);
    }
    atomic_store(&bspz_rank_of(one.board, 2)->slot_count, 5000);
    bspz_areas_at(one.board, 2)[4999].base = 0x1234;
    bspz_areas_at(one.board, 2)[4999].position = 7;
    board_name(&one, 3, "old.c");
    begin();
    all_arrive(12, 0);
    pass(12, BSPZ_STAGE_ARRIVED);
    ck_assert_uint_eq(bspz_areas_at(seven.board, 2)[4999].base, 0x1234);
    ck_assert_uint_eq(bspz_areas_at(seven.board, 2)[4999].position, 7);
    ck_assert_str_eq(bspz_name_of(seven.board, PROCS, 3, 0), "old.c");
    seven_arrives(12);
    all_arrive(13, 0);
    block = collect(13, BSPZ_STAGE_ARRIVED);
    ck_assert_uint_eq(block.head_bytes,
                      sizeof(struct mirror_head) + 3 * sizeof(struct mirror_line));
    ck_assert_int_eq(take(&block), 0);
    mirror_block_free(&block);
}
END_TEST

/* A slot that was popped in the superstep that a snapshot ended may be pushed again in the next
 * one: the first block has both, and what the call says is newer. */
START_TEST(a_slot_pushed_again_after_a_restore)
{
    mirror_free(from_one);
    mirror_free(from_seven);
    for (int pid = 0; pid < PROCS; pid++) {
        atomic_store(&bspz_rank_of(one.board, pid)->superstep, 12);
        atomic_store(&bspz_rank_of(seven.board, pid)->superstep, 12);
    }
    atomic_store(&bspz_rank_of(one.board, 2)->slot_count, 2);
    for (uint32_t slot = 0; slot < 2; slot++) {
        bspz_areas_at(one.board, 2)[slot].base = 0x1234;
        bspz_areas_at(one.board, 2)[slot].position = 7;
    }
    begin();
    board_push(&one, 2, 12, 1, 1);
    board_arrive(&one, 0, 12, 0);
    board_arrive(&one, 2, 12, BSPZ_HAS_SEQUENCE);
    board_arrive(&one, 3, 12, 0);
    pass(12, BSPZ_STAGE_ARRIVED);
    ck_assert_uint_eq(bspz_areas_at(seven.board, 2)[0].base, 0x1234);
    ck_assert_uint_eq(bspz_areas_at(seven.board, 2)[0].position, 7);
    ck_assert_uint_eq(bspz_areas_at(seven.board, 2)[1].base, 4096 * 3);
    ck_assert_uint_eq(bspz_areas_at(seven.board, 2)[1].position, BSPZ_POSITION(0, 0));
}
END_TEST

/* Blocks come once, in order, and not before the ranks here can have let the sender go on. */
START_TEST(order)
{
    struct mirror_block first, second;

    all_arrive(0, 0);
    first = collect(0, BSPZ_STAGE_ARRIVED);
    all_arrive(1, 0);
    second = collect(1, BSPZ_STAGE_ARRIVED);
    ck_assert_int_eq(take(&second), -EPROTO);
    ck_assert_int_eq(take(&first), 0);
    ck_assert_int_eq(take(&first), -EPROTO);
    ck_assert_msg(take(&second) == -EPROTO, "no rank here has arrived at the barrier before");
    ck_assert_uint_eq(stamp(0, 1), 0);
    seven_arrives(0);
    ck_assert_int_eq(take(&second), 0);
    ck_assert_int_eq(take(&second), -EPROTO);
    mirror_block_free(&first);
    mirror_block_free(&second);
}
END_TEST

/* Times in profiles are of the clock of whoever reads them. */
START_TEST(clocks)
{
    const int64_t behind = _i == 0 ? 5000000000000 : -5000000000000; /* seven's, of one's */
    struct bspz_trace *trace = &bspz_rank_of(one.board, 0)->line[0].trace;
    const struct bspz_trace *shown = &bspz_rank_of(seven.board, 0)->line[0].trace;
    uint64_t now = bspz_now_ns() + 100000000000000;
    struct mirror_block block;
    struct mirror_head *head;

    trace->began_ns = now;
    trace->left_ns = now + 7;
    atomic_store(&trace->stamp, 1);
    all_arrive(0, 0);
    block = collect(0, BSPZ_STAGE_ARRIVED);
    head = (struct mirror_head *)block.head;
    head->clock_ns += (uint64_t)behind;
    if (_i > 1)
        head->ahead_ns = behind + 30000000000; /* a slow way back */
    ck_assert_int_eq(take(&block), 0);
    /* Half of the slow way back is taken for a difference. */
    ck_assert_int_le(llabs((int64_t)(shown->began_ns - now) + behind + (_i > 1 ? 15000000000 : 0)),
                     5000000000);
    ck_assert_uint_eq(shown->left_ns - shown->began_ns, 7);
    mirror_block_free(&block);
}
END_TEST

/* ---- Memory ---- */

static uint64_t bytes_held(void)
{
    struct stat status;

    ck_assert_int_eq(fstat(seven.fd, &status), 0);
    return (uint64_t)status.st_blocks * 512;
}

/* A half that was large once gives its memory back when it stays small, and works afterwards. */
START_TEST(memory_comes_back)
{
    uint64_t small, large = 0;

    for (uint64_t superstep = 0; superstep < 100; superstep++) {
        uint64_t bytes = superstep < 2 ? 20u << 20 : 800;

        board_empty(&one, 0, superstep);
        board_send(&one, 0, 1, BSPZ_PUTS, superstep, 2, bytes, 0);
        all_arrive(superstep, BSPZ_HAS_PUT);
        pass(superstep, BSPZ_STAGE_ARRIVED);
        ck_assert(board_has(&seven, 0, 1, BSPZ_PUTS, superstep, 2, bytes));
        if (superstep > 2) /* what is read in this superstep is still there */
            ck_assert(board_has(&seven, 0, 1, BSPZ_PUTS, superstep - 1, 2, bytes));
        seven_arrives(superstep);
        if (superstep == 1)
            large = bytes_held();
    }
    small = bytes_held();
    ck_assert_uint_ge(large, 80u << 20);
    ck_assert_uint_le(small, 8u << 20);
}
END_TEST

/* Only what is used is backed, wherever in a half it lies. */
START_TEST(memory_is_sparse)
{
    uint64_t before = bytes_held();

    board_send(&one, 0, 1, BSPZ_PUTS, 0, 1, 800, 0);
    board_send(&one, 0, 1, BSPZ_MESSAGES, 0, 1, 800, 40u << 20);
    all_arrive(0, BSPZ_HAS_PUT);
    pass(0, BSPZ_STAGE_ARRIVED);
    ck_assert(board_has(&seven, 0, 1, BSPZ_MESSAGES, 0, 1, 800));
    ck_assert_uint_le(bytes_held() - before, 1u << 20);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mirror");
    TCase *blocks = tcase_create("blocks");

    tcase_add_checked_fixture(blocks, mirror_set_up, mirror_tear_down);
    tcase_set_timeout(blocks, 60);
    tcase_add_test(blocks, carries_everything);
    tcase_add_test(blocks, stamps_come_last);
    tcase_add_test(blocks, due_when_all_are_there);
    tcase_add_test(blocks, all_stages);
    tcase_add_test(blocks, traffic);
    tcase_add_test(blocks, after_a_restore);
    tcase_add_test(blocks, a_slot_pushed_again_after_a_restore);
    tcase_add_test(blocks, order);
    tcase_add_loop_test(blocks, clocks, 0, 3);
    tcase_add_test(blocks, memory_comes_back);
    tcase_add_test(blocks, memory_is_sparse);
    suite_add_tcase(suite, blocks);
    return suite_run(suite);
}
