/* test_mirror_lies.c - blocks between the boards of two hosts that lie: each is refused, and
 * touches nothing. */
#include <check.h>
#include <errno.h>
#include <string.h>

#include "tests/unit/mirror_play.h"
#include "tests/unit/suite.h"

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
    return board_sum(&seven);
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

int main(void)
{
    Suite *suite = suite_create("mirror lies");
    TCase *tests = tcase_create("lies");

    tcase_add_checked_fixture(tests, mirror_set_up, mirror_tear_down);
    tcase_add_loop_test(tests, lies_are_refused, 0, LIES + 1);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
