/* fuzz_mirror.c - blocks from another host: whatever they say, what belongs to the ranks here stays
 * as it was, and every chain that is shown lies in its sender's half and ends.
 *
 * The input is a head and the data behind it.  Few random heads add up, so each input is also tried
 * with its sizes put right. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/link/mirror_inside.h"
#include "tests/unit/boards.h"

#define PROCS     4
#define HALF      (UINT64_C(2) << 20)
#define CHAIN_MAX 100000

static const int host_of[PROCS] = {0, 1, 1, 0};
static struct board_host at;
static uint64_t untouched; /* board_sum of the ranks here, which nothing may change */

size_t fuzz_seed(unsigned number, uint8_t *bytes)
{
    struct board_host from;
    struct mirror_block block;
    struct mirror *mirror;
    size_t used = 0;
    int error;

    if (number > 2)
        return 0;
    board_make(&from, 1, PROCS, host_of, HALF);
    mirror = mirror_new(from.fd, PROCS, &error);
    FUZZ_CHECK(mirror);
    if (number > 0) {
        board_name(&from, 1, "a.c");
        board_push(&from, 2, 0, 0, 2);
        board_send(&from, 1, 0, BSPZ_PUTS, 0, 2, 48, 0);
    }
    if (number > 1)
        board_send(&from, 2, 3, BSPZ_MESSAGES, 0, 3, 16, 70000);
    board_arrive(&from, 1, 0, number > 0 ? BSPZ_HAS_PUT : 0);
    board_arrive(&from, 2, 0, number > 0 ? BSPZ_HAS_SEQUENCE | BSPZ_HAS_MESSAGE : 0);
    FUZZ_CHECK(mirror_collect(mirror, 0, 0, BSPZ_STAGE_ARRIVED, &block) == 0);
    FUZZ_CHECK(block.head_bytes + block.data_bytes <= FUZZ_SEED_MAX);
    memcpy(bytes, block.head, block.head_bytes);
    used = block.head_bytes;
    for (uint64_t i = 0; i < block.count; i++) {
        memcpy(bytes + used, block.data[i].iov_base, block.data[i].iov_len);
        used += block.data[i].iov_len;
    }
    mirror_block_free(&block);
    mirror_free(mirror);
    board_free(&from);
    return used;
}

/* As ranks here follow it. */
static void follow(const struct mirror *mirror, int from, uint64_t offset)
{
    for (unsigned steps = 0; offset; steps++) {
        const struct bspz_chunk *chunk = (const void *)((const char *)at.board + offset);
        struct mirror_range range = {offset, sizeof *chunk};

        FUZZ_CHECK(steps < CHAIN_MAX && mirror_in_half(mirror, from, 0, &range));
        range.bytes += chunk->used;
        FUZZ_CHECK(range.bytes >= sizeof *chunk && mirror_in_half(mirror, from, 0, &range));
        offset = chunk->next;
    }
}

static void follow_all(const struct mirror *mirror)
{
    for (int from = 1; from <= 2; from++) {
        for (int to = 0; to < PROCS; to += 3) {
            const struct bspz_entry *entry = bspz_entry_at(at.board, PROCS, from, to, 0);

            for (int kind = 0; kind < BSPZ_KINDS && entry->stamp == 1; kind++)
                follow(mirror, from, entry->first[kind]);
        }
    }
}

static void receive(const uint8_t *head, uint64_t head_bytes, const uint8_t *data, size_t size)
{
    struct mirror_block block;
    struct mirror *mirror;
    unsigned char *copy;
    int error;

    mirror = mirror_new(at.fd, PROCS, &error);
    copy = malloc(head_bytes);
    FUZZ_CHECK(mirror && copy);
    memcpy(copy, head, head_bytes);
    error = mirror_expect(mirror, 1, copy, head_bytes, &block);
    if (error)
        free(copy);
    for (uint64_t i = 0; i < block.count && !error; i++) {
        size_t some = block.data[i].iov_len < size ? block.data[i].iov_len : size;

        memcpy(block.data[i].iov_base, data, some);
        data += some;
        size -= some;
    }
    if (!error)
        error = mirror_accept(mirror, 1, &block);
    if (!error)
        follow_all(mirror);
    FUZZ_CHECK((atomic_load(&bspz_rank_of(at.board, 1)->line[0].stamp) == 1) == !error);
    FUZZ_CHECK(board_sum(&at) == untouched);
    mirror_block_free(&block);
    mirror_free(mirror);
}

/* The sizes that the counts mean, as far as the input reaches. */
static uint64_t put_right(uint8_t *bytes, size_t size)
{
    struct mirror_head head;
    struct mirror_range range;
    uint64_t end;

    memcpy(&head, bytes, sizeof head);
    head.magic = MIRROR_MAGIC;
    head.superstep = 0;
    head.stage = BSPZ_STAGE_ARRIVED;
    head.lines = 2;
    head.names %= 4;
    head.areas %= 4;
    head.entries %= 8;
    head.ranges %= 16;
    end = sizeof head + head.lines * sizeof(struct mirror_line) +
          head.names * sizeof(struct mirror_name) + head.areas * sizeof(struct mirror_area) +
          head.entries * sizeof(struct mirror_entry);
    head.head_bytes = end + head.ranges * sizeof range;
    if (head.head_bytes > size)
        return 0;
    head.data_bytes = 0;
    for (uint64_t i = 0; i < head.ranges; i++) {
        memcpy(&range, bytes + end + i * sizeof range, sizeof range);
        head.data_bytes += range.bytes;
    }
    memcpy(bytes, &head, sizeof head);
    return head.head_bytes;
}

static void try(const uint8_t *bytes, uint64_t head_bytes, size_t size)
{
    if (at.kept) {
        board_restore(&at);
    } else {
        board_make(&at, 0, PROCS, host_of, HALF);
        board_keep(&at);
        untouched = board_sum(&at);
    }
    receive(bytes, head_bytes, bytes + head_bytes, size - head_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct mirror_head head;
    uint8_t *copy;
    uint64_t head_bytes;

    if (size < sizeof head)
        return 0;
    copy = malloc(size);
    FUZZ_CHECK(copy);
    memcpy(copy, bytes, size); /* aligned, as what the links receive */
    memcpy(&head, copy, sizeof head);
    try(copy, head.head_bytes <= size && head.head_bytes >= sizeof head ? head.head_bytes : size,
        size);
    head_bytes = put_right(copy, size);
    if (head_bytes > 0)
        try(copy, head_bytes, size);
    free(copy);
    return 0;
}
