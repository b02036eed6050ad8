/* test_replica_turns.c - two homes of a process, of which only one sends a small content to each
 * host. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/link/replica_set.h"
#include "tests/unit/replica_twins.h"
#include "tests/unit/suite.h"

/* This host and its twin have process 1; to FIRST the twin sends, to SECOND this host does. */
enum { FIRST = 0, TWIN = 1, SECOND = 2, OWN = 3 };

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

static struct replica_digest digest_of(uint64_t superstep, bool flipped)
{
    return (struct replica_digest){{superstep << 1 | flipped, 0}};
}

static void make(uint64_t superstep)
{
    const struct replica_digest digest = digest_of(superstep, false);
    void *bytes = calloc(1, 8);
    bool needed;

    ck_assert_ptr_nonnull(bytes);
    ck_assert_int_eq(replica_set_put(set, 1, replica_key(superstep, 0), &digest, &needed), 0);
    ck_assert(needed);
    replica_set_keep(set, bytes, 8);
}

static void twin_makes(uint64_t superstep, bool flipped)
{
    const struct replica_note note = {.pid = 1,
                                      .about = TWIN,
                                      .key = replica_key(superstep, 0),
                                      .digest = digest_of(superstep, flipped)};

    ck_assert_int_eq(replica_set_note(set, TWIN, &note), 0);
}

/* SECOND sends its content, and says how far its twin, FIRST, is. */
static void second_makes(uint64_t superstep, uint64_t twin)
{
    const struct replica_copy_facts facts = {.pid = 0,
                                             .key = replica_key(superstep, 0),
                                             .digest = digest_of(superstep, false),
                                             .twin = replica_key(twin, 0)};
    void *bytes = calloc(1, 8);

    ck_assert_ptr_nonnull(bytes);
    ck_assert_int_eq(replica_set_take(set, SECOND, &facts, bytes, 8), 0);
}

/* What that host is sent now: contents, and notes. */
static unsigned sends(uint32_t home, size_t *notes)
{
    struct replica_order order;
    unsigned copies = 0;

    *notes = 0;
    while (replica_set_next(set, home, &order)) {
        *notes += order.note_count;
        copies += order.copy != NULL;
        if (order.copy)
            replica_set_sent(set, home, order.copy);
    }
    return copies;
}

static unsigned copies_for(uint32_t home)
{
    size_t notes;

    return sends(home, &notes);
}

/* Both homes make the contents of so many supersteps. */
static void run(uint64_t supersteps)
{
    for (uint64_t superstep = 0; superstep < supersteps; superstep++) {
        make(superstep);
        twin_makes(superstep, false);
        ck_assert_uint_eq(copies_for(SECOND), 1);
        ck_assert_uint_eq(copies_for(FIRST), 0);
        second_makes(superstep, superstep);
    }
}

START_TEST(each_is_sent_by_one)
{
    unsigned messages = 0;
    size_t notes;

    begin(false);
    replica_set_even(set, TWIN, true);
    for (uint64_t superstep = 0; superstep < 100; superstep++) {
        make(superstep);
        twin_makes(superstep, false);
        ck_assert_uint_eq(copies_for(SECOND), 1);
        ck_assert(!replica_set_is_urgent(set, FIRST));
        ck_assert_uint_eq(sends(FIRST, &notes), 0);
        messages += notes > 0;
        second_makes(superstep, superstep);
    }
    /* What is to be said to it is said in few messages, and not much is kept for it. */
    ck_assert_uint_ge(messages, 1);
    ck_assert_uint_le(messages, 10);
    ck_assert_uint_le(replica_set_held(set).copies, 3 * 8);
}
END_TEST

/* Who is not even, or trails, or is lost, is not waited for. */
START_TEST(all_is_sent_where_the_twin_is_late)
{
    begin(false);
    make(0);
    ck_assert_uint_eq(copies_for(FIRST), 1);
    replica_set_even(set, TWIN, true);
    make(1);
    ck_assert_uint_eq(copies_for(FIRST), 0);
    ck_assert(!replica_set_is_urgent(set, FIRST));
    if (_i == 0)
        replica_set_even(set, TWIN, false);
    else if (_i == 1)
        replica_set_lost(set, TWIN);
    else
        make(2);
    ck_assert(replica_set_is_urgent(set, FIRST));
    ck_assert_uint_eq(copies_for(FIRST), _i < 2 ? 1 : 2);
}
END_TEST

/* The twin has made its content, but it does not come. */
START_TEST(it_is_sent_after_all)
{
    struct replica_order order;

    begin(false);
    replica_set_even(set, TWIN, true);
    run(5);
    ck_assert(!replica_set_next(set, FIRST, &order));
    ck_assert(order.wait.key == replica_key(4, 0) && order.wait.made && order.wait.small);
    replica_set_release(set, FIRST);
    ck_assert_uint_eq(copies_for(FIRST), 1);
}
END_TEST

/* What has come to the first host is known from how far it is. */
START_TEST(who_has_come_further_has_it)
{
    begin(false);
    replica_set_even(set, TWIN, true);
    for (uint64_t superstep = 0; superstep < 6; superstep++) {
        make(superstep);
        twin_makes(superstep, false);
    }
    second_makes(0, 3); /* so it has passed the barrier of superstep 2 */
    replica_set_lost(set, TWIN);
    ck_assert_uint_eq(copies_for(FIRST), 3);
}
END_TEST

/* It is sent to who has the other one, so that it is seen where they differ. */
START_TEST(what_differs_is_sent)
{
    begin(false);
    replica_set_even(set, TWIN, true);
    make(0);
    ck_assert_uint_eq(copies_for(FIRST), 0);
    twin_makes(0, true);
    ck_assert(replica_set_is_urgent(set, FIRST));
    ck_assert(replica_set_owes(set));
    ck_assert_uint_eq(copies_for(FIRST), 1);
}
END_TEST

/* Contents of a process that are kept as they were made, at least, with one process. */
enum { KEPT = 256 };

/* Until it is the turn of the account, a host may make much more. */
START_TEST(what_differs_is_kept)
{
    char *bytes = malloc(8);
    const struct replica_digest digest = digest_of(0, false);
    struct replica_order order;

    begin(false);
    ck_assert_ptr_nonnull(bytes);
    memcpy(bytes, "differs", 8);
    replica_set_made(set, 1, replica_key(0, 0), &digest, bytes, 8);
    make(0);
    twin_makes(0, true);
    for (uint64_t superstep = 1; superstep <= KEPT; superstep++) {
        const struct replica_digest later = digest_of(superstep, false);

        replica_set_made(set, 1, replica_key(superstep, 0), &later, calloc(1, 8), 8);
    }
    do
        ck_assert(replica_set_next(set, TWIN, &order));
    while (!order.account.bytes);
    ck_assert_uint_eq(order.account.key, replica_key(0, 0));
    ck_assert_str_eq(order.account.bytes, "differs");
}
END_TEST

/* Where both must agree all wait for what both have made. */
START_TEST(all_send_where_both_must_agree)
{
    begin(true);
    replica_set_even(set, TWIN, true);
    make(0);
    ck_assert_uint_eq(copies_for(FIRST), 1);
    ck_assert_uint_eq(copies_for(SECOND), 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("replica_turns");
    TCase *cases = tcase_create("replica_turns");

    tcase_add_checked_fixture(cases, NULL, tear_down);
    tcase_add_test(cases, each_is_sent_by_one);
    tcase_add_loop_test(cases, all_is_sent_where_the_twin_is_late, 0, 3);
    tcase_add_test(cases, it_is_sent_after_all);
    tcase_add_test(cases, who_has_come_further_has_it);
    tcase_add_test(cases, what_differs_is_sent);
    tcase_add_test(cases, what_differs_is_kept);
    tcase_add_test(cases, all_send_where_both_must_agree);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
