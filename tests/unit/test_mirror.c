/* test_mirror.c - blocks between the boards of two hosts: what they carry, in which order they are
 * taken, and what becomes of those that lie. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bsprun/link/mirror_inside.h"
#include "tests/unit/boards.h"

#define HALF (UINT64_C(64) << 20)

/* Processes 0, 2 and 3 on host 1; 1 and 4 on host 7; 5 on host 9. */
static const int host_of[] = {1, 7, 1, 1, 7, 9};
#define PROCS 6

static struct board_host one, seven;
static struct mirror *from_one, *from_seven;

static void begin(void)
{
    int error;

    from_one = mirror_new(one.fd, PROCS, &error);
    ck_assert_int_eq(error, 0);
    from_seven = mirror_new(seven.fd, PROCS, &error);
    ck_assert_int_eq(error, 0);
}

static void set_up(void)
{
    board_make(&one, 1, PROCS, host_of, HALF);
    board_make(&seven, 7, PROCS, host_of, HALF);
    begin();
}

static void tear_down(void)
{
    mirror_free(from_one);
    mirror_free(from_seven);
    board_free(&one);
    board_free(&seven);
}

/* All of one's ranks arrive. */
static void all_arrive(uint64_t superstep, uint32_t flags)
{
    board_arrive(&one, 0, superstep, flags);
    board_arrive(&one, 2, superstep, flags);
    board_arrive(&one, 3, superstep, flags);
}

static void stamp_all(struct board_host *at, const int *pids, int count, uint64_t superstep)
{
    bspz_barrier_mirror(at->board, PROCS, pids, count, superstep, BSPZ_STAGE_ARRIVED);
}

/* So that seven has arrived at the barrier itself. */
static void seven_arrives(uint64_t superstep)
{
    static const int here[] = {1, 4};

    stamp_all(&seven, here, 2, superstep);
}

static struct mirror_block collect(uint64_t superstep, enum bspz_stage stage)
{
    struct mirror_block block;
    enum bspz_stage due_stage;
    uint64_t due;

    ck_assert(mirror_due(from_one, &due, &due_stage));
    ck_assert_uint_eq(due, superstep);
    ck_assert_int_eq((int)due_stage, (int)stage);
    ck_assert_int_eq(mirror_collect(from_one, 7, superstep, stage, &block), 0);
    mirror_collected(from_one, superstep, stage);
    return block;
}

/* The data from where they lie to where they belong; both are freed. */
static void copy_data(const struct mirror_block *from, const struct mirror_block *to)
{
    uint64_t piece = 0, done = 0;

    ck_assert_uint_eq(from->data_bytes, to->data_bytes);
    for (uint64_t i = 0; i < from->count; i++) {
        for (uint64_t at = 0; at < from->data[i].iov_len;) {
            uint64_t bytes = to->data[piece].iov_len - done;

            if (bytes > from->data[i].iov_len - at)
                bytes = from->data[i].iov_len - at;
            memcpy((char *)to->data[piece].iov_base + done, (char *)from->data[i].iov_base + at,
                   bytes);
            at += bytes;
            done += bytes;
            if (done == to->data[piece].iov_len) {
                piece++;
                done = 0;
            }
        }
    }
}

/* What mirror_expect, or else mirror_accept says. */
static int take(struct mirror_block *block)
{
    struct mirror_block in;
    unsigned char *head = malloc(block->head_bytes);
    int error;

    memcpy(head, block->head, block->head_bytes);
    error = mirror_expect(from_seven, 1, head, block->head_bytes, &in);
    if (error) {
        free(head);
        return error;
    }
    copy_data(block, &in);
    error = mirror_accept(from_seven, 1, &in);
    mirror_block_free(&in);
    return error;
}

static void pass(uint64_t superstep, enum bspz_stage stage)
{
    struct mirror_block block = collect(superstep, stage);

    ck_assert_int_eq(take(&block), 0);
    mirror_block_free(&block);
}

static uint64_t stamp(int pid, uint64_t superstep)
{
    return atomic_load(&bspz_rank_of(seven.board, pid)->line[superstep & 1].stamp);
}

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
    uint64_t now = mirror_clock_ns() + 100000000000000;
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

/* ---- Peers that lie ---- */

static struct mirror_parts parts_of(struct mirror_block *block)
{
    struct mirror_parts parts = {.head = (struct mirror_head *)block->head};

    parts.lines = (void *)(parts.head + 1);
    parts.names = (void *)(parts.lines + parts.head->lines);
    parts.areas = (void *)(parts.names + parts.head->names);
    parts.entries = (void *)(parts.areas + parts.head->areas);
    parts.ranges = (void *)(parts.entries + parts.head->entries);
    return parts;
}

/* One wrong thing each; the block has 3 lines, 1 name, 1 area, 2 entries with 4 chunks, and calls.
 */
static void lie(unsigned which, struct mirror_parts *p)
{
    struct mirror_range *calls = &p->ranges[0], *chunk = &p->ranges[1];
    uint64_t foreign = bspz_stretch_offset(&seven.board->layout, PROCS, 4, 0, 0);
    uint64_t other_half = bspz_stretch_offset(&seven.board->layout, PROCS, 0, 1, 0);

    switch (which) {
    case 0:
        p->head->magic++;
        break;
    case 1:
        p->head->stage = 3;
        break;
    case 2:
        p->head->stage = BSPZ_STAGE_MATCHED;
        break;
    case 3:
        p->head->stage = BSPZ_STAGE_REPLIED;
        break;
    case 4:
        p->head->superstep = 1;
        break;
    case 5:
        p->head->superstep = UINT64_MAX;
        break;
    case 6:
        p->head->head_bytes--;
        break;
    case 7:
        p->head->data_bytes -= 8;
        break;
    case 8:
        p->head->lines = 2;
        break;
    case 9:
        p->head->lines = UINT32_MAX;
        break;
    case 10:
        p->head->ranges = UINT64_MAX / 16 + 2;
        break;
    case 11:
        p->head->entries = 0;
        break;
    case 12:
        p->names[0].pid = 1;
        break;
    case 13:
        p->names[0].pid = PROCS;
        break;
    case 14:
        p->names[0].index = BSPZ_NAME_COUNT;
        break;
    case 15:
        memset(p->names[0].text, 'x', BSPZ_NAME_BYTES);
        break;
    case 16:
        p->areas[0].pid = 4;
        break;
    case 17:
        p->areas[0].slot = BSPZ_AREAS_MAX;
        break;
    case 18:
        p->entries[0].from = 1;
        break;
    case 19:
        p->entries[0].from = PROCS;
        break;
    case 20:
        p->entries[0].to = 2;
        break;
    case 21:
        p->entries[0].to = UINT32_MAX;
        break;
    case 22:
        p->entries[0].chunks[BSPZ_PUTS]++;
        break;
    case 23:
        p->entries[0].chunks[BSPZ_PUTS] = UINT32_MAX;
        break;
    case 24:
        p->entries[0].first[BSPZ_PUTS] += 8;
        break;
    case 25:
        p->entries[0].first[BSPZ_REPLIES] = p->entries[0].first[BSPZ_PUTS];
        break;
    case 26:
        p->entries[0].first[BSPZ_MESSAGES] = 64;
        break;
    case 27:
        chunk->offset = p->entries[0].first[BSPZ_PUTS] = foreign;
        break;
    case 28:
        chunk->offset = p->entries[0].first[BSPZ_PUTS] = other_half;
        break;
    case 29:
        chunk->offset = p->entries[0].first[BSPZ_PUTS] = 0;
        break;
    case 30:
        chunk->offset = p->entries[0].first[BSPZ_PUTS] = seven.board->layout.total;
        break;
    case 31:
        chunk->offset = p->entries[0].first[BSPZ_PUTS] = UINT64_MAX - 7;
        break;
    case 32:
        chunk->offset++, p->entries[0].first[BSPZ_PUTS]++;
        break;
    case 33:
        p->head->data_bytes += UINT64_MAX - 15 - chunk->bytes, chunk->bytes = UINT64_MAX - 15;
        break;
    case 34:
        p->head->data_bytes += (64u << 10) - chunk->bytes, chunk->bytes = 64u << 10;
        break;
    case 35:
        p->head->data_bytes += 24 - chunk->bytes, chunk->bytes = 24;
        break;
    case 36:
        calls->offset = p->lines[1].sequence = foreign;
        break;
    case 37:
        p->lines[1].sequence += 8;
        break;
    case 38:
        p->lines[1].flags = 0;
        break;
    case 39:
        p->head->data_bytes += 4 - calls->bytes, calls->bytes = 4;
        break;
    /* In the data. */
    case 40:
        ((struct bspz_chunk *)((char *)one.board + chunk[0].offset))->used += 8;
        break;
    case 41:
        ((struct bspz_chunk *)((char *)one.board + chunk[0].offset))->next = 0;
        break;
    case 42:
        ((struct bspz_chunk *)((char *)one.board + chunk[1].offset))->next = chunk[0].offset;
        break;
    case 43:
        ((struct bspz_chunk *)((char *)one.board + chunk[1].offset))->next = foreign;
        break;
    case 44:
        ((struct bspz_calls *)((char *)one.board + calls->offset))->count++;
        break;
    case 45:
        ((struct bspz_calls *)((char *)one.board + calls->offset))->operations[0].slot =
            BSPZ_AREAS_MAX;
        break;
    case 46:
        ((struct bspz_calls *)((char *)one.board + calls->offset))->operations[0].slot =
            BSPZ_SLOT_WILDCARD;
        break;
    default:
        ((struct bspz_calls *)((char *)one.board + calls->offset))->operations[0].kind = 3;
        break;
    }
}
#define LIES 48

/* What belongs to seven's own ranks: all that no block may touch. */
static uint64_t untouchable(void)
{
    return board_sum(&seven, 1) + 31 * board_sum(&seven, 4);
}

START_TEST(lies_are_refused)
{
    struct mirror_block block;
    struct mirror_parts parts;
    uint64_t before;

    mirror_free(from_one);
    mirror_free(from_seven);
    atomic_store(&bspz_rank_of(one.board, 2)->slot_count, 1);
    begin();
    board_name(&one, 0, "name.c");
    board_push(&one, 2, 0, 0, 1);
    board_send(&one, 0, 1, BSPZ_PUTS, 0, 2, 64, 0);
    board_send(&one, 3, 4, BSPZ_MESSAGES, 0, 2, 64, 0);
    board_arrive(&one, 0, 0, BSPZ_HAS_PUT);
    board_arrive(&one, 2, 0, BSPZ_HAS_SEQUENCE);
    board_arrive(&one, 3, 0, BSPZ_HAS_MESSAGE);
    block = collect(0, BSPZ_STAGE_ARRIVED);
    parts = parts_of(&block);
    ck_assert_uint_eq(parts.head->ranges, 5);
    before = untouchable();
    if (_i < LIES)
        lie((unsigned)_i, &parts);
    ck_assert_int_eq(take(&block), _i < LIES ? -EPROTO : 0);
    ck_assert_uint_eq(untouchable(), before);
    ck_assert_uint_eq(stamp(0, 0), _i < LIES ? 0 : 1);
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
    TCase *blocks = tcase_create("blocks"), *lies = tcase_create("lies");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_checked_fixture(blocks, set_up, tear_down);
    tcase_add_checked_fixture(lies, set_up, tear_down);
    tcase_set_timeout(blocks, 60);
    tcase_add_test(blocks, carries_everything);
    tcase_add_test(blocks, stamps_come_last);
    tcase_add_test(blocks, due_when_all_are_there);
    tcase_add_test(blocks, all_stages);
    tcase_add_test(blocks, after_a_restore);
    tcase_add_test(blocks, order);
    tcase_add_loop_test(blocks, clocks, 0, 3);
    tcase_add_test(blocks, memory_comes_back);
    tcase_add_test(blocks, memory_is_sparse);
    tcase_add_loop_test(lies, lies_are_refused, 0, LIES + 1);
    suite_add_tcase(suite, blocks);
    suite_add_tcase(suite, lies);
    srunner_run_all(runner, CK_ENV);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
