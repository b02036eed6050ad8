/* mirror_play.c - see mirror_play.h. */
#include "tests/unit/mirror_play.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#define HALF (UINT64_C(64) << 20)

/* Processes 0, 2 and 3 on host 1; 1 and 4 on host 7; 5 on host 9. */
static const int host_of[] = {1, 7, 1, 1, 7, 9};

struct board_host one, seven;
struct mirror *from_one, *from_seven;

void begin(void)
{
    int error;

    from_one = mirror_new(one.fd, PROCS, &error);
    ck_assert_int_eq(error, 0);
    from_seven = mirror_new(seven.fd, PROCS, &error);
    ck_assert_int_eq(error, 0);
}

void mirror_set_up(void)
{
    board_make(&one, 1, PROCS, host_of, HALF);
    board_make(&seven, 7, PROCS, host_of, HALF);
    begin();
}

void mirror_tear_down(void)
{
    mirror_free(from_one);
    mirror_free(from_seven);
    board_free(&one);
    board_free(&seven);
}

/* All of one's ranks arrive. */
void all_arrive(uint64_t superstep, uint32_t flags)
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
void seven_arrives(uint64_t superstep)
{
    static const int here[] = {1, 4};

    stamp_all(&seven, here, 2, superstep);
}

struct mirror_block collect(uint64_t superstep, enum bspz_stage stage)
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
void copy_data(const struct mirror_block *from, const struct mirror_block *to)
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
int take(struct mirror_block *block)
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

void pass(uint64_t superstep, enum bspz_stage stage)
{
    struct mirror_block block = collect(superstep, stage);

    ck_assert_int_eq(take(&block), 0);
    mirror_block_free(&block);
}

uint64_t stamp(int pid, uint64_t superstep)
{
    return atomic_load(&bspz_rank_of(seven.board, pid)->line[superstep & 1].stamp);
}
