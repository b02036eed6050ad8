/* test_mirror_contents.c - what a process does at one stage, in one piece: its digest, its parts,
 * and contents of others that lie. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bsprun/link/mirror_inside.h"
#include "tests/unit/boards.h"
#include "tests/unit/suite.h"

#define PROCS 4
#define HALF  (UINT64_C(16) << 20)

static const int host_of[PROCS] = {0, 0, 1, 1};
static const int others[] = {2, 3};
static struct board_host from, twin, to;
static struct mirror *sends, *also, *takes;

static struct mirror *mirror_of(const struct board_host *at)
{
    int error;
    struct mirror *mirror = mirror_new_apart(at->fd, PROCS, &error);

    ck_assert_int_eq(error, 0);
    return mirror;
}

static void set_up(void)
{
    board_make(&from, 0, PROCS, host_of, HALF);
    board_make(&twin, 0, PROCS, host_of, HALF);
    board_make(&to, 1, PROCS, host_of, HALF);
    sends = mirror_of(&from);
    also = mirror_of(&twin);
    takes = mirror_of(&to);
}

static void tear_down(void)
{
    mirror_free(sends);
    mirror_free(also);
    mirror_free(takes);
    board_free(&from);
    board_free(&twin);
    board_free(&to);
}

/* Process 0 does this on either board. */
static void do_it(struct board_host *at)
{
    board_push(at, 0, 0, 3, 2);
    for (int pid = 0; pid < PROCS; pid++) {
        board_send(at, 0, pid, BSPZ_PUTS, 0, 3, 200, 0);
        board_send(at, 0, pid, BSPZ_REQUESTS, 0, 1, 4 * BSPZ_REQUEST_BYTES, 0);
    }
    board_arrive(at, 0, 0, BSPZ_HAS_PUT | BSPZ_HAS_GET | BSPZ_HAS_SEQUENCE);
}

static void digest_of(struct mirror *mirror, uint64_t digest[2])
{
    ck_assert_int_eq(mirror_digest(mirror, 0, 0, BSPZ_STAGE_ARRIVED, digest, NULL), 0);
}

static bool same_digest(void)
{
    uint64_t one[2], two[2];

    digest_of(sends, one);
    digest_of(also, two);
    return memcmp(one, two, sizeof one) == 0;
}

static struct bspz_chunk *chunk_of(struct board_host *at, int pid, enum bspz_kind kind)
{
    return (void *)((char *)at->board + bspz_entry_at(at->board, PROCS, 0, pid, 0)->first[kind]);
}

/* Of a copy for the processes of the other host. */
static unsigned char *copy(struct mirror *mirror, uint64_t *size)
{
    void *bytes;

    ck_assert_int_eq(mirror_copy(mirror, 0, 0, BSPZ_STAGE_ARRIVED, others, 2, &bytes, size), 0);
    return bytes;
}

/* What is for one process only, in one piece again. */
static unsigned char *part(const void *whole, int pid, uint64_t *size)
{
    bool wanted[PROCS] = {false};
    struct mirror_block block;
    unsigned char *bytes, *at;

    wanted[pid] = true;
    ck_assert_int_eq(mirror_part(whole, wanted, 16, &block), 0);
    *size = block.head_bytes + block.data_bytes;
    bytes = at = malloc(*size);
    memcpy(at, block.head + 16, block.head_bytes);
    at += block.head_bytes;
    for (uint64_t i = 0; i < block.count; i++) {
        memcpy(at, block.data[i].iov_base, block.data[i].iov_len);
        at += block.data[i].iov_len;
    }
    mirror_block_free(&block);
    return bytes;
}

START_TEST(parts)
{
    unsigned char *whole, *some;
    uint64_t size;

    do_it(&from);
    whole = copy(sends, &size);
    ck_assert(mirror_is_head(whole, ((struct mirror_head *)(void *)whole)->head_bytes,
                             ((struct mirror_head *)(void *)whole)->data_bytes));
    some = part(whole, 3, &size);
    ck_assert_int_eq(mirror_apply(takes, 0, some, size), 0);
    ck_assert(board_has(&to, 0, 3, BSPZ_PUTS, 0, 3, 200));
    ck_assert(board_has(&to, 0, 3, BSPZ_REQUESTS, 0, 1, 4 * BSPZ_REQUEST_BYTES));
    ck_assert(!board_has(&to, 0, 2, BSPZ_PUTS, 0, 3, 200));
    ck_assert_uint_eq(bspz_areas_at(to.board, 0)[4].base, 4097);
    free(whole);
    free(some);
}
END_TEST

/* Addresses, times, decisions and places on the board are each replica's own. */
START_TEST(alike)
{
    struct bspz_line *line = &bspz_rank_of(twin.board, 0)->line[0];
    struct bspz_calls *calls;
    unsigned char *requests;

    board_take(&twin, 0, 0, 0, 640);
    do_it(&from);
    do_it(&twin);
    ck_assert(same_digest());
    calls = (void *)((char *)twin.board + line->sequence);
    calls->operations[1].value ^= 4096;
    line->decision = BSPZ_DECIDE_CONSULT;
    line->trace.entered_ns = 77;
    line->flags |= BSPZ_HAS_WARNING;
    requests = (unsigned char *)(chunk_of(&twin, 2, BSPZ_REQUESTS) + 1);
    for (unsigned i = 0; i < 4; i++)
        requests[i * BSPZ_REQUEST_BYTES + BSPZ_REQUEST_SHARED + i] ^= 1;
    ck_assert(same_digest());
    line->position++;
    ck_assert(!same_digest());
}
END_TEST

/* So are the chunks that records are in: only the first one has totals, and what the others have
 * there was never written. */
START_TEST(alike_in_other_chunks)
{
    struct bspz_chunk *puts, *one, *two;

    do_it(&from);
    do_it(&twin);
    puts = chunk_of(&twin, 1, BSPZ_PUTS);
    two = (void *)((char *)twin.board + puts->next);
    two->count = 0x7f0000001000;
    two->bytes = 0x7ffc00000008;
    ck_assert(same_digest());
    board_send(&from, 0, 3, BSPZ_MESSAGES, 0, 1, 400, 0);
    board_send(&twin, 0, 3, BSPZ_MESSAGES, 0, 2, 200, 0);
    one = chunk_of(&from, 3, BSPZ_MESSAGES);
    two = chunk_of(&twin, 3, BSPZ_MESSAGES);
    memcpy(two + 1, one + 1, 200);
    memcpy((struct bspz_chunk *)(void *)((char *)twin.board + two->next) + 1,
           (char *)(one + 1) + 200, 200);
    ck_assert(same_digest());
    two->bytes++;
    ck_assert(!same_digest());
}
END_TEST

/* Any bit of what is sent to anybody. */
START_TEST(flipped)
{
    do_it(&from);
    do_it(&twin);
    for (int pid = 0; pid < PROCS; pid++) {
        unsigned char *puts = (unsigned char *)(chunk_of(&twin, pid, BSPZ_PUTS) + 1);
        unsigned char *requests = (unsigned char *)(chunk_of(&twin, pid, BSPZ_REQUESTS) + 1);

        for (unsigned bit = 0; bit < 8 * 200; bit++) {
            puts[bit / 8] ^= (unsigned char)(1u << bit % 8);
            ck_assert(!same_digest());
            puts[bit / 8] ^= (unsigned char)(1u << bit % 8);
        }
        for (unsigned bit = 0; bit < 8 * BSPZ_REQUEST_SHARED; bit++) {
            requests[bit / 8] ^= (unsigned char)(1u << bit % 8);
            ck_assert(!same_digest());
            requests[bit / 8] ^= (unsigned char)(1u << bit % 8);
        }
    }
    ck_assert(same_digest());
}
END_TEST

START_TEST(located)
{
    unsigned char *one, *two;
    uint64_t one_size, two_size;
    struct link_place place;

    do_it(&from);
    do_it(&twin);
    /* In the second chunk of the chain. */
    ((unsigned char *)chunk_of(
        &twin, 3,
        BSPZ_PUTS))[sizeof(struct bspz_chunk) + 200 + 8 + sizeof(struct bspz_chunk) + 5] ^= 4;
    one = copy(sends, &one_size);
    two = copy(also, &two_size);
    ck_assert(!mirror_locate(one, one_size, one, one_size, false, &place));
    ck_assert(mirror_locate(one, one_size, two, two_size, false, &place));
    ck_assert_uint_eq(place.kind, BSPZ_PUTS);
    ck_assert_uint_eq(place.to, 3);
    ck_assert_uint_eq(place.at, 205);
    free(one);
    free(two);
}
END_TEST

static uint64_t state;

static uint64_t draw(uint64_t below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 33) % below;
}

static void spoil(unsigned char *bytes, uint64_t size)
{
    uint64_t head = ((struct mirror_head *)(void *)bytes)->head_bytes;

    for (uint64_t count = 1 + draw(3); count > 0; count--) {
        uint64_t at = draw(draw(4) ? head : size);

        if (draw(2))
            bytes[at] = (unsigned char)draw(256);
        else
            memset(bytes + at, draw(2) ? 0xff : 0, size - at < 8 ? size - at : 8);
    }
}

/* What lies is refused, or does no harm to the ranks here. */
START_TEST(lies)
{
    struct timespec now;
    unsigned char *good, *bad, *other;
    uint64_t size, sum;
    unsigned refused = 0;

    clock_gettime(CLOCK_REALTIME, &now);
    state = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    printf("lies: %lu\n", (unsigned long)state);
    do_it(&from);
    good = copy(sends, &size);
    bad = malloc(size);
    other = malloc(size);
    board_keep(&to);
    sum = board_sum(&to);
    for (unsigned i = 0; i < 3000; i++) {
        struct mirror_head *head = (void *)bad;
        struct link_place place;

        memcpy(bad, good, size);
        memcpy(other, good, size);
        spoil(bad, size);
        mirror_locate(other, size, bad, size, i % 2, &place);
        if (head->head_bytes > size ||
            !mirror_is_head(bad, head->head_bytes, size - head->head_bytes) ||
            mirror_apply(takes, 0, bad, size) != 0) {
            refused++;
            continue;
        }
        ck_assert_uint_eq(board_sum(&to), sum);
        mirror_free(takes);
        board_restore(&to);
        takes = mirror_of(&to);
    }
    ck_assert_uint_gt(refused, 500);
    ck_assert_uint_eq(board_sum(&to), sum);
    free(good);
    free(bad);
    free(other);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {parts, alike, alike_in_other_chunks, flipped, located, lies};

    return suite_run_tests("mirror contents", tests, sizeof tests / sizeof *tests, set_up,
                           tear_down);
}
