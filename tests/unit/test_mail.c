/* test_mail.c - which message a receive gets (lib/rt/mpi/match.h), and rings (lib/shm/mail.h), each
 * against a simple model.  test_mail [--seed N] repeats a run. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/rt/mpi/match.h"
#include "lib/shm/mail.h"

static uint64_t seed;

static uint32_t chance(uint64_t *state, uint32_t below)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 33) % below;
}

/* Without the cost of ck_assert, for millions of checks. */
static void must(bool truth)
{
    if (!truth)
        ck_abort_msg("seed %llu", (unsigned long long)seed);
}

/* ---- Matching -------------------------------------------------------------------------------- */

struct item {
    struct match_entry entry; /* the first member */
    int number;
};

static struct item message(uint32_t context, int source, int tag, int number)
{
    return (struct item){.entry.key = {context, source, tag}, .number = number};
}

START_TEST(messages_of_one_process_keep_their_order)
{
    struct match match;
    struct item first = message(0, 3, 7, 1), second = message(0, 3, 7, 2);
    struct item any = message(0, MATCH_ANY, MATCH_ANY, 0), exact = message(0, 3, 7, 0);

    bspz_match_begin(&match);
    ck_assert_ptr_null(bspz_match_arrived(&match, &first.entry.key));
    bspz_match_keep(&match, &first.entry);
    ck_assert_ptr_null(bspz_match_arrived(&match, &second.entry.key));
    bspz_match_keep(&match, &second.entry);
    ck_assert_ptr_eq(bspz_match_post(&match, &exact.entry), &first.entry);
    ck_assert_ptr_eq(bspz_match_post(&match, &any.entry), &second.entry);
    ck_assert_ptr_null(bspz_match_post(&match, &any.entry));
}
END_TEST

START_TEST(receives_are_served_in_order)
{
    struct match match;
    struct item other = message(0, 1, 9, 0), any = message(0, MATCH_ANY, 5, 0),
                exact = message(0, 1, 5, 0);
    struct match_key came = {0, 1, 5};

    bspz_match_begin(&match);
    ck_assert_ptr_null(bspz_match_post(&match, &other.entry));
    ck_assert_ptr_null(bspz_match_post(&match, &any.entry));
    ck_assert_ptr_null(bspz_match_post(&match, &exact.entry));
    ck_assert_ptr_eq(bspz_match_arrived(&match, &came), &any.entry);
    ck_assert_ptr_eq(bspz_match_arrived(&match, &came), &exact.entry);
    ck_assert_ptr_null(bspz_match_arrived(&match, &came));
}
END_TEST

START_TEST(contexts_do_not_meet)
{
    struct match match;
    struct item internal = message(1, 0, 4, 0), any = message(0, MATCH_ANY, MATCH_ANY, 0);

    bspz_match_begin(&match);
    bspz_match_keep(&match, &internal.entry);
    ck_assert_ptr_null(bspz_match_probe(&match, &any.entry.key));
    ck_assert_ptr_null(bspz_match_post(&match, &any.entry));
    any.entry.key.context = 1;
    ck_assert_ptr_eq(bspz_match_probe(&match, &any.entry.key), &internal.entry);
}
END_TEST

/* The model: everything that has happened, in an array; what waits is looked for from its
 * beginning. */
#define EVENTS 400
struct model {
    struct item items[EVENTS];
    bool is_receive[EVENTS], waits[EVENTS];
    int count;
};

static bool model_fits(const struct match_key *receive, const struct match_key *with)
{
    return receive->context == with->context &&
           (receive->source < 0 || receive->source == with->source) &&
           (receive->tag < 0 || receive->tag == with->tag);
}

/* The number of the one that the newest item meets, or -1. */
static int model_meet(struct model *model)
{
    int self = model->count - 1;

    for (int i = 0; i < self; i++) {
        const struct match_key *own = &model->items[self].entry.key,
                               *other = &model->items[i].entry.key;

        if (!model->waits[i] || model->is_receive[i] == model->is_receive[self])
            continue;
        if (model->is_receive[i] ? model_fits(other, own) : model_fits(own, other))
            return i;
    }
    return -1;
}

static void one_step(struct match *match, struct model *model, uint64_t *state)
{
    struct item *item = &model->items[model->count];
    bool is_receive = chance(state, 2);
    struct match_entry *got;
    int met;

    *item = message(chance(state, 2), (int)chance(state, 3), (int)chance(state, 3), model->count);
    if (is_receive && chance(state, 3) == 0)
        item->entry.key.source = MATCH_ANY;
    if (is_receive && chance(state, 3) == 0)
        item->entry.key.tag = MATCH_ANY;
    model->is_receive[model->count] = is_receive;
    model->waits[model->count++] = true;
    met = model_meet(model);
    if (is_receive) {
        const struct match_entry *seen = bspz_match_probe(match, &item->entry.key);

        got = bspz_match_post(match, &item->entry);
        must(seen == got);
    } else {
        got = bspz_match_arrived(match, &item->entry.key);
        if (!got)
            bspz_match_keep(match, &item->entry);
    }
    must((got ? ((struct item *)got)->number : -1) == met);
    if (met >= 0)
        model->waits[met] = model->waits[model->count - 1] = false;
}

START_TEST(as_the_model_says)
{
    static struct model model;
    uint64_t state = seed;

    for (int run = 0; run < 2000; run++) {
        struct match match;

        bspz_match_begin(&match);
        model.count = 0;
        while (model.count < EVENTS)
            one_step(&match, &model, &state);
    }
}
END_TEST

/* ---- Rings ----------------------------------------------------------------------------------- */

#define SIZE 8192
#define MOST 1000

static struct bspz_record record_of(uint64_t size, int tag)
{
    return (struct bspz_record){.kind = BSPZ_RECORD_MESSAGE, .tag = tag, .size = size};
}

START_TEST(a_ring_is_a_queue)
{
    char *memory = aligned_alloc(4096, BSPZ_RING_HEAD + SIZE);
    struct bspz_ring *ring = (struct bspz_ring *)memory;
    struct bspz_ring_end in, out;
    unsigned char content[MOST], seen[MOST];
    int written = 0, read = 0, looked = 0;
    uint64_t state = seed, sizes[64];

    memset(memory, 0, BSPZ_RING_HEAD + SIZE);
    bspz_ring_open(&in, ring, SIZE, true);
    bspz_ring_open(&out, ring, SIZE, false);
    while (read < 500000) {
        uint64_t size = chance(&state, MOST + 1);
        struct bspz_record record = record_of(size, written);
        const struct bspz_record *next;

        if (chance(&state, 2) && written - read < 64 &&
            bspz_ring_room(&in) >= bspz_record_bytes(size)) {
            memset(content, written % 251, size);
            bspz_ring_write(&in, &record, content);
            sizes[written++ % 64] = size;
            continue;
        }
        if (chance(&state, 2)) {
            bspz_ring_look(&out);
            looked = written;
        }
        next = bspz_ring_peek(&out);
        must(!next == (read == looked));
        if (!next)
            continue;
        size = next->size;
        must(next->tag == read && size == sizes[read % 64]);
        bspz_ring_copy(&out, size, seen);
        memset(content, read % 251, size);
        must(memcmp(seen, content, size) == 0);
        must(!bspz_ring_next(&out, size));
        read++;
    }
    free(memory);
}
END_TEST

START_TEST(a_full_ring_asks_for_room)
{
    char *memory = aligned_alloc(4096, BSPZ_RING_HEAD + SIZE);
    struct bspz_ring_end in, out;
    struct bspz_record record = record_of(SIZE - BSPZ_RECORD_UNIT, 0);
    char *content = calloc(1, SIZE);

    memset(memory, 0, BSPZ_RING_HEAD + SIZE);
    bspz_ring_open(&in, (struct bspz_ring *)memory, SIZE, true);
    bspz_ring_open(&out, (struct bspz_ring *)memory, SIZE, false);
    ck_assert_uint_eq(bspz_ring_room(&in), SIZE);
    bspz_ring_write(&in, &record, content);
    ck_assert_uint_eq(bspz_ring_room(&in), 0);
    ck_assert_uint_eq(bspz_ring_want_room(&in), 0);
    bspz_ring_look(&out);
    ck_assert_ptr_nonnull(bspz_ring_peek(&out));
    ck_assert(bspz_ring_next(&out, record.size));
    ck_assert_uint_eq(bspz_ring_room(&in), SIZE);
    free(content);
    free(memory);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("mail");
    TCase *matching = tcase_create("matching"), *rings = tcase_create("rings");
    SRunner *runner;
    int failed;

    seed = argc > 2 && strcmp(argv[1], "--seed") == 0 ? strtoull(argv[2], NULL, 10)
                                                      : (uint64_t)time(NULL);
    printf("seed %llu\n", (unsigned long long)seed);
    tcase_add_test(matching, messages_of_one_process_keep_their_order);
    tcase_add_test(matching, receives_are_served_in_order);
    tcase_add_test(matching, contexts_do_not_meet);
    tcase_add_test(matching, as_the_model_says);
    tcase_add_test(rings, a_ring_is_a_queue);
    tcase_add_test(rings, a_full_ring_asks_for_room);
    tcase_set_timeout(matching, 60);
    tcase_set_timeout(rings, 60);
    suite_add_tcase(suite, matching);
    suite_add_tcase(suite, rings);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed > 0;
}
