/* test_mirror_locate.c - which record, or which call, two replicas of a process have made
 * otherwise, and how that is said. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/link/mirror_inside.h"
#include "lib/shm/records.h"
#include "tests/unit/boards.h"
#include "tests/unit/suite.h"

#define PROCS 3
#define HALF  (UINT64_C(16) << 20)
#define LINE  41u

static const int host_of[PROCS] = {0, 0, 1};
static struct board_host hosts[2];
static struct mirror *mirrors[2];
static struct link_place place;

/* What is to be found. */
struct put {
    struct bspz_put_record record;
    uint64_t data[8];
};

static void set_up(void)
{
    for (int i = 0; i < 2; i++) {
        int error;

        board_make(&hosts[i], 0, PROCS, host_of, HALF);
        board_name(&hosts[i], 0, "heat.c");
        mirrors[i] = mirror_new_apart(hosts[i].fd, PROCS, &error);
        ck_assert_int_eq(error, 0);
    }
}

static void tear_down(void)
{
    for (int i = 0; i < 2; i++) {
        mirror_free(mirrors[i]);
        board_free(&hosts[i]);
    }
}

/* A chain of one chunk with these bytes, from process 0. */
static void send(int host, int to, enum bspz_kind kind, const void *bytes, uint64_t size)
{
    struct board_host *at = &hosts[host];

    board_send(at, 0, to, kind, 0, 1, size, 0);
    memcpy((char *)at->board + bspz_entry_at(at->board, PROCS, 0, to, 0)->first[kind] +
               sizeof(struct bspz_chunk),
           bytes, size);
}

static void arrive(int host, uint32_t flags)
{
    board_arrive(&hosts[host], 0, 0, flags);
}

/* Whether what the two have made differs, and how it is said. */
static bool locate(char *text, size_t size)
{
    struct mirror_made made[2];
    uint64_t digests[2][2];
    bool found;

    for (int i = 0; i < 2; i++) {
        made[i] = (struct mirror_made){.most = 100000};
        ck_assert_int_eq(mirror_digest(mirrors[i], 0, 0, BSPZ_STAGE_ARRIVED, digests[i], &made[i]),
                         0);
        ck_assert_ptr_nonnull(made[i].bytes);
    }
    found = mirror_locate(made[0].bytes, made[0].size, made[1].bytes, made[1].size, true, &place);
    ck_assert_int_eq(found, memcmp(digests[0], digests[1], sizeof digests[0]) != 0);
    text[0] = '\0';
    if (found)
        link_place_text(hosts[0].board, PROCS, 0, &place, text, size);
    for (int i = 0; i < 2; i++)
        free(made[i].bytes);
    return found;
}

static void says(const char *expected)
{
    char text[512];

    ck_assert(locate(text, sizeof text));
    ck_assert_str_eq(text, expected);
}

static bool differs(void)
{
    char text[512];

    return locate(text, sizeof text);
}

/* Three puts, the second of which is several that continue each other. */
static void fill_puts(struct put puts[3])
{
    memset(puts, 0, 3 * sizeof *puts);
    for (uint64_t i = 0; i < 3; i++) {
        puts[i].record = (struct bspz_put_record){.slot_flags = (uint32_t)i + 4,
                                                  .position = BSPZ_POSITION(0, LINE + i),
                                                  .offset = 100 * i,
                                                  .size = bspz_size(64, i == 1 ? 8 : 64)};
        for (uint64_t k = 0; k < 8; k++)
            puts[i].data[k] = k;
    }
}

START_TEST(a_put)
{
    struct put puts[3];

    fill_puts(puts);
    for (int i = 0; i < 2; i++) {
        send(i, 2, BSPZ_PUTS, puts, sizeof puts);
        arrive(i, BSPZ_HAS_PUT);
        if (i == 0)
            puts[1].data[3] ^= 1;
    }
    says("puts for process 2, at byte 136 (slot 5, offset 124, 8 bytes, at heat.c:42)");
}
END_TEST

/* In its record, and one that only the second replica has made. */
START_TEST(a_put_more)
{
    struct put puts[3];

    fill_puts(puts);
    for (int i = 0; i < 2; i++) {
        if (_i == 0)
            puts[2].record.offset += (uint64_t)i;
        send(i, 1, BSPZ_PUTS, puts, _i == 0 || i == 1 ? sizeof puts : 2 * sizeof *puts);
        arrive(i, BSPZ_HAS_PUT);
    }
    says(_i == 0 ? "puts for process 1, at byte 184 (slot 6, offset 200, 64 bytes, at heat.c:43)"
                 : "puts for process 1, at byte 176 (slot 6, offset 200, 64 bytes, at heat.c:43)");
}
END_TEST

/* Pairs of an offset and an element. */
START_TEST(scattered)
{
    struct put put = {.record = {.slot_flags = 7 | BSPZ_PUT_SCATTER,
                                 .position = BSPZ_POSITION(0, LINE),
                                 .offset = 4,
                                 .size = 64},
                      .data = {40, 1, 12, 2, 96, 3, 8, 4}};

    for (int i = 0; i < 2; i++) {
        put.data[5] += (uint64_t)i;
        send(i, 2, BSPZ_PUTS, &put, sizeof put);
        arrive(i, BSPZ_HAS_PUT);
    }
    says("puts for process 2, at byte 64 (slot 7, offset 96, 4 bytes, at heat.c:41)");
}
END_TEST

/* The address of the result is each replica's own. */
START_TEST(a_get)
{
    struct bspz_request_record gets[2] = {{.slot_flags = 1, .size = 8},
                                          {.slot_flags = 2,
                                           .position = BSPZ_POSITION(0, LINE),
                                           .offset = 16,
                                           .size = 24,
                                           .destination = 4096}};

    for (int i = 0; i < 2; i++) {
        gets[1].destination += 8;
        send(i, 1, BSPZ_REQUESTS, gets, sizeof gets);
        arrive(i, BSPZ_HAS_GET);
    }
    ck_assert(!differs());
    gets[1].offset++;
    send(1, 1, BSPZ_REQUESTS, gets, sizeof gets);
    says("gets for process 1, at byte 40 (slot 2, offset 16, 24 bytes, at heat.c:41)");
}
END_TEST

START_TEST(a_message)
{
    struct {
        struct bspz_message_record record;
        char tag[16], payload[32];
    } messages[2] = {{.record = {20, 8}}, {.record = {30, 4}}};

    for (int i = 0; i < 2; i++) {
        messages[1].tag[2] = (char)i;
        send(i, 2, BSPZ_MESSAGES, messages, sizeof messages);
        arrive(i, BSPZ_HAS_MESSAGE);
    }
    says("messages for process 2, at byte 82 (30 bytes with a tag of 4)");
}
END_TEST

static struct bspz_operation *call(int host, unsigned i)
{
    struct board_host *at = &hosts[host];
    struct bspz_calls *calls =
        (void *)((char *)at->board + bspz_rank_of(at->board, 0)->line[0].sequence);

    return &calls->operations[i];
}

static void register_three(void)
{
    for (int i = 0; i < 2; i++) {
        board_push(&hosts[i], 0, 0, 3, 3);
        for (uint32_t k = 0; k < 3; k++)
            bspz_areas_at(hosts[i].board, 0)[3 + k].bytes = 800;
        for (unsigned k = 0; k < 3; k++)
            call(i, k)->value += 64 * i; /* addresses are each replica's own */
        call(i, 1)->position = BSPZ_POSITION(0, LINE);
        arrive(i, BSPZ_HAS_SEQUENCE);
    }
}

START_TEST(a_registration)
{
    register_three();
    ck_assert(!differs());
    bspz_areas_at(hosts[0].board, 0)[4].bytes = 808;
    says("registrations and tag sizes, at call 2 (bsp_push_reg, slot 4, 808 bytes, at heat.c:41)");
}
END_TEST

START_TEST(other_calls)
{
    register_three();
    for (int i = 0; i < 2; i++)
        call(i, 1)->kind = _i == 0 ? BSPZ_OP_POP : BSPZ_OP_TAG_SIZE;
    call(0, 1)->value = call(1, 1)->value;
    ck_assert(!differs());
    if (_i == 0) {
        call(1, 1)->slot = 5;
        says("registrations and tag sizes, at call 2 (bsp_pop_reg, slot 4, at heat.c:41)");
    } else {
        call(0, 1)->value = 16;
        says("registrations and tag sizes, at call 2 (bsp_set_tagsize, 16 bytes, at heat.c:41)");
    }
}
END_TEST

/* One has registered one area more. */
START_TEST(a_call_more)
{
    register_three();
    ((uint64_t *)(void *)call(0, 0))[-1] = 2;
    call(1, 2)->position = BSPZ_POSITION(0, LINE + 9);
    says("registrations and tag sizes, at call 3 (bsp_push_reg, slot 5, 800 bytes, at heat.c:50)");
}
END_TEST

START_TEST(an_end)
{
    for (int i = 0; i < 2; i++) {
        arrive(i, 0);
        bspz_rank_of(hosts[i].board, 0)->line[0].position = BSPZ_POSITION(0, LINE + (unsigned)i);
    }
    says("how the superstep ends (bsp_sync or bsp_end, at heat.c:41)");
}
END_TEST

/* Records that lie about their sizes are not described. */
START_TEST(no_record)
{
    struct put puts[3];

    fill_puts(puts);
    for (int i = 0; i < 2; i++) {
        puts[1].data[7] ^= (uint64_t)i;
        puts[0].record.size = UINT64_C(1) << 40;
        send(i, 2, BSPZ_PUTS, puts, sizeof puts);
        arrive(i, BSPZ_HAS_PUT);
    }
    says("puts for process 2, at byte 168");
}
END_TEST

START_TEST(too_much)
{
    struct mirror_made made = {.most = 100};
    uint64_t digest[2];

    arrive(0, 0);
    ck_assert_int_eq(mirror_digest(mirrors[0], 0, 0, BSPZ_STAGE_ARRIVED, digest, &made), 0);
    ck_assert_ptr_null(made.bytes);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mirror locate");
    TCase *cases = tcase_create("places");

    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, a_put);
    tcase_add_loop_test(cases, a_put_more, 0, 2);
    tcase_add_test(cases, scattered);
    tcase_add_test(cases, a_get);
    tcase_add_test(cases, a_message);
    tcase_add_test(cases, a_registration);
    tcase_add_loop_test(cases, other_calls, 0, 2);
    tcase_add_test(cases, a_call_more);
    tcase_add_test(cases, an_end);
    tcase_add_test(cases, no_record);
    tcase_add_test(cases, too_much);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
