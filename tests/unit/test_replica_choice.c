/* test_replica_choice.c - which content a host uses where several must agree, and homes that have
 * told a digest are lost before their content has come. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/link/replica_set.h"
#include "tests/unit/suite.h"

#define KEY 1

static struct replica_set *set;
static char applied; /* the first byte of what was applied; 0: nothing */
static unsigned mismatches, in_vain;
static struct replica_mismatch last;

static bool on_ready(void *context, uint32_t pid, uint64_t key)
{
    (void)context, (void)pid;
    return key == KEY;
}

static int on_apply(void *context, uint32_t pid, uint64_t key, void *bytes, uint64_t size)
{
    (void)context, (void)key, (void)size;
    ck_assert_uint_eq(pid, 0);
    ck_assert_int_eq(applied, 0);
    applied = *(char *)bytes;
    return 0;
}

static void on_locate(void *context, const void *first, uint64_t first_size, const void *second,
                      uint64_t second_size, bool made, struct link_place *place)
{
    (void)context, (void)first_size, (void)second_size, (void)made;
    if (*(const char *)first != *(const char *)second)
        *place = (struct link_place){.what = LINK_PLACE_CHAIN, .at = 7};
}

static void on_mismatch(void *context, const struct replica_mismatch *mismatch)
{
    (void)context;
    mismatches++;
    in_vain += mismatch->in_vain;
    last = *mismatch;
}

static void on_behind(void *context, uint32_t home, uint64_t key)
{
    (void)context, (void)home, (void)key;
    ck_abort();
}

static void set_up(void)
{
    set = NULL;
    applied = 0;
    mismatches = in_vain = 0;
}

static void tear_down(void)
{
    replica_set_free(set);
}

/* Process 0 has that many homes, from 0 on; this host is behind them and has process 1. */
static void begin_as(uint32_t own, uint32_t homes, uint32_t agree, bool majority)
{
    static const struct replica_calls calls = {on_ready, on_apply, on_locate, on_mismatch,
                                               on_behind};
    static const uint32_t there = 0, here = 1;
    struct replica_home list[REPLICA_MOST + 1];
    const struct replica_setup setup = {.nprocs = 2,
                                        .home_count = homes + 1,
                                        .own = own,
                                        .homes = list,
                                        .log_bytes = 1 << 20,
                                        .spill_bytes = 1 << 20,
                                        .agree = agree,
                                        .majority = majority};
    int error;

    for (uint32_t i = 0; i < homes; i++)
        list[i] = (struct replica_home){&there, 1};
    list[homes] = (struct replica_home){&here, 1};
    set = replica_set_new(&setup, &calls, NULL, &error);
    ck_assert_ptr_nonnull(set);
}

static void begin(uint32_t homes, uint32_t agree, bool majority)
{
    begin_as(homes, homes, agree, majority);
}

static struct replica_digest digest_of(char what)
{
    return (struct replica_digest){{(uint64_t)what, 1}};
}

/* The home says what it has made, */
static void tells(uint32_t home, char what)
{
    const struct replica_note note = {.about = home, .key = KEY, .digest = digest_of(what)};

    ck_assert_int_eq(replica_set_note(set, home, &note), 0);
}

/* and sends it. */
static void sends(uint32_t home, char what)
{
    const struct replica_copy_facts facts = {.key = KEY, .digest = digest_of(what)};
    char *bytes = malloc(8);

    ck_assert_ptr_nonnull(bytes);
    memset(bytes, what, 8);
    ck_assert_int_eq(replica_set_take(set, home, &facts, bytes, 8), 0);
}

static void loses(uint32_t home)
{
    replica_set_lost(set, home);
}

/* It has heard that, from a home that is lost. */
static void tells_of(uint32_t home, uint32_t about, char what)
{
    const struct replica_note note = {
        .about = about, .key = KEY, .digest = digest_of(what), .word = REPLICA_WORD_WAS_MADE};

    ck_assert_int_eq(replica_set_note(set, home, &note), 0);
}

/* It has heard nothing more. */
static void tells_all(uint32_t home, uint32_t about)
{
    const struct replica_note note = {.about = about, .word = REPLICA_WORD_ALL};

    ck_assert_int_eq(replica_set_note(set, home, &note), 0);
}

/* The lower one of two is not there any more, and nobody has heard that it has made anything. */
START_TEST(lower_of_two_is_lost)
{
    begin(2, 1, true);
    sends(1, 'b');
    if (_i == 0)
        tells_all(1, 0);
    loses(0);
    ck_assert_int_eq(applied, _i == 0 ? 'b' : 0);
    tells_all(1, 0);
    ck_assert_int_eq(applied, 'b');
    ck_assert_uint_eq(mismatches, 0);
}
END_TEST

/* This host, or another one, has heard what it has made: that counts, and somebody may have it. */
START_TEST(lower_of_two_is_lost_and_counts)
{
    begin(2, 1, true);
    if (_i == 0)
        tells(0, 'a');
    sends(1, 'b');
    loses(0);
    ck_assert_uint_eq(in_vain, 0);
    if (_i > 0)
        tells_of(1, 0, 'a');
    tells_all(1, 0);
    ck_assert_int_eq(applied, 0);
    ck_assert_uint_eq(in_vain, 1);
}
END_TEST

/* What has come of it counts. */
START_TEST(lower_of_two_has_come)
{
    begin(2, 1, true);
    sends(0, 'a');
    loses(0);
    tells(1, 'b');
    ck_assert_int_eq(applied, 0);
    tells_all(1, 0);
    ck_assert_int_eq(applied, 'a');
    ck_assert_uint_eq(mismatches, 1);
    ck_assert(!last.seen);
    sends(1, 'b');
    ck_assert_uint_eq(mismatches, 2);
    ck_assert(last.seen && last.place.what == LINK_PLACE_CHAIN);
    ck_assert_uint_eq(last.homes[0], 0);
    ck_assert_uint_eq(last.homes[1], 1);
}
END_TEST

/* Two agree, which one host alone has heard of. */
START_TEST(one_of_three_is_lost)
{
    begin(3, 1, true);
    sends(1, 'b');
    sends(2, 'a');
    loses(0);
    tells_all(1, 0);
    ck_assert_int_eq(applied, 0);
    if (_i == 0)
        tells_of(2, 0, 'a');
    tells_all(2, 0);
    ck_assert_int_eq(applied, _i == 0 ? 'a' : 'b');
}
END_TEST

/* The one that was to tell is lost as well. */
START_TEST(two_are_lost_one_after_the_other)
{
    begin(3, 1, true);
    sends(2, 'a');
    loses(0);
    tells_all(2, 0);
    ck_assert_int_eq(applied, 0);
    loses(1);
    ck_assert_int_eq(applied, 0);
    tells_all(2, 1);
    ck_assert_int_eq(applied, 'a');
}
END_TEST

/* What this host has heard is told to others, as long as one may lack it. */
START_TEST(is_told)
{
    struct replica_order order;

    begin(2, 1, true);
    sends(0, 'a');
    tells(1, 'b');
    ck_assert_int_eq(applied, 'a');
    while (replica_set_next(set, 1, &order))
        ;
    loses(0);
    ck_assert(replica_set_next(set, 1, &order));
    ck_assert_uint_eq(order.note_count, 2);
    ck_assert_uint_eq(order.notes[0].word, REPLICA_WORD_WAS_MADE);
    ck_assert_uint_eq(order.notes[0].about, 0);
    ck_assert_uint_eq(order.notes[0].key, KEY);
    ck_assert_uint_eq(order.notes[0].digest.words[0], 'a');
    ck_assert_uint_eq(order.notes[1].word, REPLICA_WORD_ALL);
    ck_assert_uint_eq(order.notes[1].about, 0);
    loses(0);
    ck_assert(!replica_set_next(set, 1, &order));
}
END_TEST

/* A snapshot is not sure either while others may have heard more. */
START_TEST(sure_of_a_snapshot)
{
    const struct replica_digest digest = digest_of('a');
    bool needed;

    begin_as(0, 3, 1, true);
    replica_set_put(set, 0, KEY, &digest, &needed);
    replica_set_keep(set, needed ? calloc(1, 8) : NULL, needed ? 8 : 0);
    replica_set_pass_ahead(set, KEY);
    loses(2);
    tells(1, 'b');
    ck_assert(!replica_set_is_sure(set));
    tells_of(1, 2, 'b');
    tells_all(1, 2);
    tells_all(3, 2);
    ck_assert(!replica_set_is_sure(set)); /* outvoted */
}
END_TEST

START_TEST(makes_no_sense)
{
    const struct replica_note notes[] = {
        {.about = 9, .word = REPLICA_WORD_ALL},
        {.pid = 9, .about = 0, .key = KEY, .word = REPLICA_WORD_WAS_MADE},
        {.about = 2, .key = KEY, .word = REPLICA_WORD_WAS_MADE},
        {.about = 0, .word = REPLICA_WORD_WAS_MADE},
        {.about = 0, .key = KEY, .word = REPLICA_WORD_ALL + 1}};

    begin(2, 1, true);
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++)
        ck_assert_int_eq(replica_set_note(set, 1, &notes[i]), -EPROTO);
}
END_TEST

START_TEST(two_of_three_are_lost)
{
    begin(3, 2, false);
    tells(0, 'a');
    loses(0);
    loses(1);
    ck_assert_int_eq(applied, 0);
    sends(2, 'b');
    ck_assert_int_eq(applied, 'b');
    ck_assert_uint_eq(mismatches, 1);
}
END_TEST

START_TEST(half_of_four_are_lost)
{
    begin(4, 1, true);
    tells(0, 'a');
    tells(1, 'a');
    sends(3, 'b');
    tells(2, 'b');
    ck_assert_int_eq(applied, 0);
    loses(1);
    ck_assert_int_eq(applied, 0); /* the other one sends it */
    loses(0);
    for (uint32_t home = 2; home < 4; home++)
        for (uint32_t about = 0; about < 2; about++)
            tells_all(home, about);
    ck_assert_int_eq(applied, 0);
    ck_assert_uint_eq(in_vain, 1);
}
END_TEST

/* The one that is left has made what does not count: nobody can go on with that. */
START_TEST(right_ones_are_lost)
{
    begin(3, 2, false);
    tells(0, 'a');
    if (_i == 0)
        sends(2, 'b');
    tells(1, 'a');
    ck_assert_uint_eq(in_vain, 0);
    loses(1);
    loses(0);
    if (_i > 0)
        sends(2, 'b');
    ck_assert_int_eq(applied, 0);
    ck_assert_uint_eq(in_vain, 1);
    ck_assert_uint_eq(last.alike[0], 2);
    ck_assert_uint_eq(last.alike[1], 1);
    ck_assert_uint_eq(last.homes[1], 2);
    replica_set_advance(set);
    ck_assert_uint_eq(in_vain, 1); /* once is enough */
}
END_TEST

START_TEST(right_ones_are_lost_but_one_has_come)
{
    begin(3, 2, false);
    sends(0, 'a');
    loses(0);
    ck_assert_int_eq(applied, 0);
    tells(1, 'a');
    ck_assert_int_eq(applied, 'a');
    loses(1);
    sends(2, 'b');
    ck_assert_uint_eq(in_vain, 0);
    ck_assert_uint_eq(mismatches, 2);
    ck_assert(last.seen);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("replica choice");
    TCase *cases = tcase_create("replica choice");

    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_loop_test(cases, lower_of_two_is_lost, 0, 2);
    tcase_add_loop_test(cases, lower_of_two_is_lost_and_counts, 0, 2);
    tcase_add_test(cases, lower_of_two_has_come);
    tcase_add_loop_test(cases, one_of_three_is_lost, 0, 2);
    tcase_add_test(cases, two_are_lost_one_after_the_other);
    tcase_add_test(cases, is_told);
    tcase_add_test(cases, sure_of_a_snapshot);
    tcase_add_test(cases, makes_no_sense);
    tcase_add_test(cases, two_of_three_are_lost);
    tcase_add_test(cases, half_of_four_are_lost);
    tcase_add_loop_test(cases, right_ones_are_lost, 0, 2);
    tcase_add_test(cases, right_ones_are_lost_but_one_has_come);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
