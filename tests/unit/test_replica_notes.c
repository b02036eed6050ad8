/* test_replica_notes.c - what a host tells the homes of a process of the contents that it has. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/link/replica_set.h"
#include "tests/unit/replica_twins.h"
#include "tests/unit/suite.h"

enum { OWN = 1, FIRST = 0, SECOND = 2 };

static struct replica_set *set;

static void begin(bool majority)
{
    set = twins_open(OWN, majority);
}

static void tear_down(void)
{
    replica_set_free(set);
    set = NULL;
}

static void take(uint32_t home, uint64_t superstep, uint64_t digest)
{
    const struct replica_copy_facts facts = {
        .pid = 0, .key = replica_key(superstep, 0), .digest = {{digest, digest}}};
    void *bytes = malloc(8);

    ck_assert_ptr_nonnull(bytes);
    memset(bytes, 7, 8);
    ck_assert_int_eq(replica_set_take(set, home, &facts, bytes, 8), 0);
}

/* How many notes that home gets now; they are of the supersteps from that one on. */
static size_t notes_for(uint32_t home, uint64_t superstep)
{
    struct replica_order order;

    if (!replica_set_next(set, home, &order))
        return 0;
    for (size_t i = 0; i < order.note_count; i++) {
        ck_assert_uint_eq(order.notes[i].key, replica_key(superstep + i, 0));
        ck_assert_uint_eq(order.notes[i].word, REPLICA_WORD_HAS);
        ck_assert_uint_eq(order.notes[i].about, FIRST);
    }
    return order.note_count;
}

/* A home that trails hears of it, and then sends no more than a digest. */
START_TEST(who_has_not_sent_it_is_told)
{
    begin(false);
    take(FIRST, 0, 5);
    take(FIRST, 1, 6);
    ck_assert_uint_eq(notes_for(SECOND, 0), 2);
    ck_assert_uint_eq(notes_for(SECOND, 0), 0);
    ck_assert_uint_eq(notes_for(FIRST, 0), 0);
    take(SECOND, 0, 5); /* on its way meanwhile */
    ck_assert_uint_eq(notes_for(SECOND, 0), 0);
}
END_TEST

/* One that keeps up has sent it before this host says anything, as it does with its own. */
START_TEST(who_has_sent_it_is_not)
{
    begin(false);
    for (uint64_t superstep = 0; superstep < 3; superstep++)
        take(FIRST, superstep, superstep);
    take(SECOND, 0, 0);
    take(SECOND, 1, 1);
    ck_assert_uint_eq(notes_for(SECOND, 2), 1);
    take(SECOND, 2, 2);
    ck_assert_uint_eq(notes_for(SECOND, 0), 0);
    ck_assert_uint_eq(replica_set_held(set).told, 0);
    ck_assert_uint_eq(twins_mismatches, 0);
}
END_TEST

/* It must hear what this host has, to compare it. */
START_TEST(who_has_sent_something_else_is_told)
{
    begin(false);
    take(FIRST, 0, 5);
    take(SECOND, 0, 6);
    ck_assert_uint_eq(twins_mismatches, 1);
    ck_assert_uint_eq(notes_for(SECOND, 0), 1);
}
END_TEST

/* Where several must agree, all are to know what each other has made, also if one is lost. */
START_TEST(where_several_must_agree_all_are_told)
{
    begin(true);
    take(FIRST, 0, 5);
    take(SECOND, 0, 5);
    ck_assert_uint_eq(notes_for(SECOND, 0), 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("replica_notes");
    TCase *cases = tcase_create("replica_notes");

    tcase_add_checked_fixture(cases, NULL, tear_down);
    tcase_add_test(cases, who_has_not_sent_it_is_told);
    tcase_add_test(cases, who_has_sent_it_is_not);
    tcase_add_test(cases, who_has_sent_something_else_is_told);
    tcase_add_test(cases, where_several_must_agree_all_are_told);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
