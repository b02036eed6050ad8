/* test_replica_early.c - what comes of replicas that stand where they were told to stop, before a
 * host knows of that stop. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/link/replica_set.h"
#include "tests/unit/suite.h"

#define PIDS  3u
#define BYTES 8u

enum { LOWER, HIGHER, OWN, HOSTS }; /* the first two have processes 0 and 1, this host 2 */

static struct replica_set *set;
static uint64_t known;       /* supersteps whose stops are known, */
static uint64_t known_round; /* of the last one as said in that round */
static char applied[PIDS];   /* the first byte of the last one, */
static uint64_t keys[PIDS];  /* and its key */
static uint64_t made_in;     /* round, what is made */
static bool majority;
static unsigned mismatches, behinds, located, in_vain;
static uint32_t behind_home;

static bool on_ready(void *context, uint32_t pid, uint64_t key)
{
    (void)context, (void)pid, (void)key;
    return true;
}

static int on_apply(void *context, uint32_t pid, uint64_t key, void *bytes, uint64_t size)
{
    (void)context, (void)size;
    applied[pid] = *(const char *)bytes;
    keys[pid] = key;
    return 0;
}

static void on_locate(void *context, const void *first, uint64_t first_size, const void *second,
                      uint64_t second_size, bool made, struct link_place *place)
{
    (void)context, (void)first, (void)first_size, (void)second, (void)second_size, (void)made;
    located++;
    place->what = LINK_PLACE_CHAIN;
}

static void on_mismatch(void *context, const struct replica_mismatch *mismatch)
{
    (void)context;
    mismatches += !mismatch->seen && !mismatch->in_vain;
    in_vain += mismatch->in_vain;
}

static void on_behind(void *context, uint32_t home, uint64_t key)
{
    (void)context, (void)key;
    behinds++;
    behind_home = home;
}

static bool on_knows_stop(void *context, uint64_t superstep, unsigned stop)
{
    (void)context;
    return superstep + 1 < known ||
           (superstep + 1 == known && !replica_stop_is_later(stop, replica_stop(known_round)));
}

static void begin(uint32_t own)
{
    static const struct replica_calls calls = {on_ready,    on_apply,  on_locate,
                                               on_mismatch, on_behind, on_knows_stop};
    static const uint32_t pids[PIDS] = {0, 1, 2};
    const struct replica_home homes[HOSTS] = {{pids, 2}, {pids, 2}, {&pids[2], 1}};
    const struct replica_setup setup = {.nprocs = PIDS,
                                        .home_count = HOSTS,
                                        .own = own,
                                        .homes = homes,
                                        .log_bytes = 1 << 20,
                                        .agree = 1,
                                        .majority = majority};
    int error;

    set = replica_set_new(&setup, &calls, NULL, &error);
    ck_assert_ptr_nonnull(set);
}

static void set_up(void)
{
    set = NULL;
    known = known_round = 0;
    made_in = 0;
    majority = false;
    memset(applied, 0, sizeof applied);
    memset(keys, 0, sizeof keys);
    mismatches = behinds = located = in_vain = 0;
    behind_home = HOSTS;
}

static void tear_down(void)
{
    replica_set_free(set);
}

/* Lower case: at a call. */
static struct replica_digest digest_of(char what)
{
    return (struct replica_digest){{(uint64_t)what, what >= 'a' ? replica_stop(made_in) : 0}};
}

static int sends(uint32_t home, uint32_t pid, uint64_t superstep, char what)
{
    const struct replica_copy_facts facts = {
        .pid = pid, .key = replica_key(superstep, 0), .digest = digest_of(what)};
    char *bytes = malloc(BYTES);

    ck_assert_ptr_nonnull(bytes);
    memset(bytes, what, BYTES);
    return replica_set_take(set, home, &facts, bytes, BYTES);
}

static int tells(uint32_t home, uint32_t pid, uint64_t superstep, char what)
{
    const struct replica_note note = {
        .pid = pid, .about = home, .key = replica_key(superstep, 0), .digest = digest_of(what)};

    return replica_set_note(set, home, &note);
}

static void knows(uint64_t superstep)
{
    known = superstep + 1;
    replica_set_advance(set);
}

static void makes(uint32_t pid, uint64_t superstep, char what)
{
    const struct replica_digest digest = digest_of(what);
    char *bytes = malloc(BYTES);
    bool needed;

    ck_assert_ptr_nonnull(bytes);
    memset(bytes, what, BYTES);
    replica_set_made(set, pid, replica_key(superstep, 0), &digest, bytes, BYTES);
    ck_assert_int_eq(replica_set_put(set, pid, replica_key(superstep, 0), &digest, &needed), 0);
    replica_set_keep(set, needed ? calloc(1, BYTES) : NULL, needed ? BYTES : 0);
}

START_TEST(counts_when_the_stop_is_known)
{
    begin(OWN);
    ck_assert_int_eq(sends(LOWER, 0, 0, 'a'), 0);
    ck_assert_int_eq(sends(LOWER, 1, 0, 'B'), 0); /* at the end of a superstep */
    ck_assert_int_eq(applied[0], 0);
    ck_assert_int_eq(applied[1], 'B');
    knows(0);
    ck_assert_int_eq(applied[0], 'a');
    ck_assert_int_eq(sends(HIGHER, 0, 0, 'a'), 0);
    ck_assert_uint_eq(mismatches, 0);
}
END_TEST

/* What its home had made is not compared then: they stop elsewhere. */
START_TEST(its_home_is_lost)
{
    begin(_i == 0 ? OWN : HIGHER);
    ck_assert_int_eq(_i == 0 ? sends(LOWER, 0, 0, 'a') : tells(LOWER, 0, 0, 'a'), 0);
    replica_set_lost(set, LOWER);
    knows(0);
    ck_assert_int_eq(applied[0], 0);
    if (_i == 0)
        ck_assert_int_eq(sends(HIGHER, 0, 0, 'b'), 0);
    else
        makes(0, 0, 'b');
    ck_assert_int_eq(applied[0], _i == 0 ? 'b' : 0);
    ck_assert_uint_eq(mismatches, 0);
}
END_TEST

/* It is compared when the stop is known. */
START_TEST(they_differ)
{
    begin(HIGHER);
    makes(0, 0, 'b');
    ck_assert_int_eq(tells(LOWER, 0, 0, 'a'), 0);
    ck_assert_uint_eq(mismatches, 0);
    knows(0);
    ck_assert_uint_eq(mismatches, 1);
}
END_TEST

START_TEST(in_order_of_each_process)
{
    begin(OWN);
    ck_assert_int_eq(tells(LOWER, 0, 2, 'c'), 0);
    ck_assert_int_eq(sends(LOWER, 0, 1, 'A'), 0); /* lower ones are not behind it */
    ck_assert_int_eq(applied[0], 'A');
    ck_assert_int_eq(sends(LOWER, 0, 2, 'c'), 0);
    ck_assert_int_eq(sends(LOWER, 0, 3, 'D'), 0);
    ck_assert_int_eq(sends(LOWER, 0, 4, 'e'), 0);
    ck_assert_int_eq(sends(LOWER, 1, 4, 'F'), 0);
    ck_assert_int_eq(applied[0], 'A');
    ck_assert_int_eq(applied[1], 'F');
    knows(2);
    ck_assert_int_eq(applied[0], 'D');
    knows(4);
    ck_assert_int_eq(applied[0], 'e');
    ck_assert_uint_eq(keys[0], replica_key(4, 0));
}
END_TEST

/* What another home has heard of it waits, and so does that it has heard no more. */
START_TEST(what_was_said_waits_too)
{
    const struct replica_note said = {.about = LOWER,
                                      .key = replica_key(0, 0),
                                      .digest = digest_of('a'),
                                      .word = REPLICA_WORD_WAS_MADE};
    const struct replica_note all = {.about = LOWER, .word = REPLICA_WORD_ALL};

    majority = true;
    begin(OWN);
    ck_assert_int_eq(sends(HIGHER, 0, 0, _i == 0 ? 'b' : 'B'), 0);
    replica_set_lost(set, LOWER);
    ck_assert_int_eq(replica_set_note(set, HIGHER, &said), 0);
    ck_assert_int_eq(replica_set_note(set, HIGHER, &all), 0);
    knows(0);
    ck_assert_int_eq(applied[0], 0);
    ck_assert_uint_eq(in_vain, 1);
}
END_TEST

/* Processor Zero has asked again, and said otherwise. */
START_TEST(a_later_round)
{
    begin(OWN);
    knows(0);
    made_in = 1;
    ck_assert_int_eq(sends(LOWER, 0, 0, 'a'), 0);
    ck_assert_int_eq(applied[0], 0);
    known_round = _i == 0 ? 1 : 2;
    knows(0);
    ck_assert_int_eq(applied[0], 'a');
    ck_assert(replica_stop_is_later(replica_stop(255), replica_stop(254)));
    ck_assert(!replica_stop_is_later(replica_stop(254), replica_stop(255)));
}
END_TEST

START_TEST(an_account_waits_too)
{
    struct replica_account account = {.pid = 0, .key = replica_key(0, 0), .bytes = "a", .size = 1};

    begin(HIGHER);
    makes(0, 0, 'b');
    ck_assert_int_eq(tells(LOWER, 0, 0, 'a'), 0);
    ck_assert_int_eq(replica_set_compare(set, LOWER, &account), 0);
    ck_assert_uint_eq(located, 0);
    knows(0);
    ck_assert_uint_eq(located, 1);
}
END_TEST

/* The host does not go on without end while it hears of no stop. */
START_TEST(too_much)
{
    begin(OWN);
    for (uint64_t superstep = 0; behinds == 0 && superstep < 100000; superstep++)
        ck_assert_int_eq(sends(LOWER, 0, superstep, 'a'), 0);
    ck_assert_uint_eq(behinds, 1);
    ck_assert_uint_eq(behind_home, OWN);
}
END_TEST

START_TEST(makes_no_sense)
{
    begin(OWN);
    ck_assert_int_eq(tells(LOWER, PIDS, 0, 'a'), -EPROTO);
    ck_assert_int_eq(sends(LOWER, PIDS, 0, 'a'), -EPROTO);
    /* What can be seen only later gives up the home. */
    ck_assert_int_eq(sends(LOWER, 2, 0, 'a'), 0);
    knows(0);
    ck_assert_uint_eq(behinds, 1);
    ck_assert_uint_eq(behind_home, LOWER);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("replica early");
    TCase *cases = tcase_create("replica early");

    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_test(cases, counts_when_the_stop_is_known);
    tcase_add_loop_test(cases, its_home_is_lost, 0, 2);
    tcase_add_test(cases, they_differ);
    tcase_add_test(cases, in_order_of_each_process);
    tcase_add_loop_test(cases, what_was_said_waits_too, 0, 2);
    tcase_add_loop_test(cases, a_later_round, 0, 2);
    tcase_add_test(cases, an_account_waits_too);
    tcase_add_test(cases, too_much);
    tcase_add_test(cases, makes_no_sense);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
