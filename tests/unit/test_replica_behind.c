/* test_replica_behind.c - who is given up when no more can be kept or applied: a host that trails,
 * this one if it is that one, and none that keeps up. */
#include <check.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/link/replica_set.h"
#include "tests/unit/suite.h"

#define HOMES_MOST 5u
#define PIDS       5u
#define BYTES      400u
#define NOBODY     UINT32_MAX

static struct replica_set *set;
static uint32_t own, behind_home; /* the last one */
static unsigned behinds, applied;
static uint64_t behind_key, come; /* the ranks here may take contents up to that key */
static int apply_error;

static bool on_ready(void *context, uint32_t pid, uint64_t key)
{
    (void)context, (void)pid;
    return key <= come;
}

static int on_apply(void *context, uint32_t pid, uint64_t key, void *bytes, uint64_t size)
{
    (void)context, (void)pid, (void)key, (void)bytes, (void)size;
    applied += apply_error == 0;
    return apply_error;
}

static void on_locate(void *context, const void *first, uint64_t first_size, const void *second,
                      uint64_t second_size, bool made, struct link_place *place)
{
    (void)context, (void)first, (void)first_size, (void)second, (void)second_size, (void)made;
    place->what = LINK_PLACE_NONE;
}

static void on_mismatch(void *context, const struct replica_mismatch *mismatch)
{
    (void)context, (void)mismatch;
    ck_abort();
}

static void on_behind(void *context, uint32_t home, uint64_t key)
{
    (void)context;
    behinds++;
    behind_home = home;
    behind_key = key;
}

static void set_up(void)
{
    set = NULL;
    behinds = applied = 0;
    behind_home = NOBODY;
    behind_key = come = 0;
    apply_error = 0;
}

static void tear_down(void)
{
    replica_set_free(set);
}

/* The first `homes` hosts have processes 0 to 3, the two behind them process 4. */
static void begin(uint32_t host, uint32_t homes, uint32_t agree, bool majority, uint64_t bytes)
{
    static const struct replica_calls calls = {on_ready, on_apply, on_locate, on_mismatch,
                                               on_behind};
    static const uint32_t pids[PIDS] = {0, 1, 2, 3, 4};
    struct replica_home list[HOMES_MOST];
    const struct replica_setup setup = {.nprocs = PIDS,
                                        .home_count = homes + 2,
                                        .own = host,
                                        .homes = list,
                                        .log_bytes = bytes,
                                        .agree = agree,
                                        .majority = majority};
    int error;

    own = host;
    for (uint32_t home = 0; home < homes + 2; home++)
        list[home] = home < homes ? (struct replica_home){pids, PIDS - 1}
                                  : (struct replica_home){&pids[PIDS - 1], 1};
    set = replica_set_new(&setup, &calls, NULL, &error);
    ck_assert_ptr_nonnull(set);
}

static struct replica_digest digest_of(uint32_t pid, uint64_t key)
{
    return (struct replica_digest){{pid, key}};
}

static void tells(uint32_t home, uint32_t pid, uint64_t key)
{
    const struct replica_note note = {
        .pid = pid, .about = home, .key = key, .digest = digest_of(pid, key)};

    ck_assert_int_eq(replica_set_note(set, home, &note), 0);
}

static void sends(uint32_t home, uint32_t pid, uint64_t key)
{
    const struct replica_copy_facts facts = {.pid = pid, .key = key, .digest = digest_of(pid, key)};
    void *bytes = calloc(1, BYTES);

    ck_assert_ptr_nonnull(bytes);
    ck_assert_int_eq(replica_set_take(set, home, &facts, bytes, BYTES), 0);
}

static void makes(uint32_t pid, uint64_t key)
{
    const struct replica_digest digest = digest_of(pid, key);
    bool needed;

    ck_assert_int_eq(replica_set_put(set, pid, key, &digest, &needed), 0);
    replica_set_keep(set, needed ? calloc(1, BYTES) : NULL, needed ? BYTES : 0);
}

/* Is sent all that there is for it. */
static void reads(uint32_t home)
{
    struct replica_order order;

    while (replica_set_next(set, home, &order))
        if (order.copy)
            replica_set_sent(set, home, order.copy);
}

/* ---- Digests that are remembered ------------------------------------------------------------ */

/* All homes have come far, and this host has not. */
START_TEST(trails_behind_all)
{
    uint32_t homes = _i == 0 ? 3 : 2;
    uint64_t key = 1;

    begin(homes, homes, _i == 0 ? 2 : 1, _i == 1, 4096);
    come = 7;
    for (; key <= come; key++)
        for (uint32_t home = 0; home < homes; home++)
            sends(home, 0, key);
    for (; behinds == 0 && key < 100000; key++)
        for (uint32_t home = 0; home < homes; home++)
            tells(home, 0, key);
    ck_assert_uint_eq(behinds, 1);
    ck_assert_uint_eq(behind_home, own);
    ck_assert_uint_eq(behind_key, come);
}
END_TEST

/* One home has not come as far as this host. */
START_TEST(another_trails_more)
{
    uint64_t key = 1;

    begin(3, 3, 2, false, 4096);
    come = UINT64_MAX;
    sends(2, 0, key);
    for (; behinds == 0 && key < 100000; key++) {
        for (uint32_t home = 0; home < 2; home++) {
            sends(home, 0, key);
            reads(home);
        }
        reads(2);
    }
    ck_assert_uint_eq(behinds, 1);
    ck_assert_uint_eq(behind_home, 2);
    ck_assert_int_eq(replica_set_error(set, 2), 0);
    ck_assert_uint_eq(behind_key, 1);
}
END_TEST

/* What is on its way of a process whose homes keep up is not what there is too much of. */
START_TEST(another_process_has_a_home_that_trails)
{
    const uint32_t twin = 4;
    uint64_t key = 1;

    begin(3, 3, 2, false, 4096);
    come = UINT64_MAX;
    for (; behinds == 0 && key < 100000; key++) {
        makes(PIDS - 1, key);
        for (uint32_t home = 0; home < 3; home++) {
            sends(home, 0, key);
            reads(home);
        }
        reads(twin);
    }
    ck_assert_uint_eq(behind_home, twin);
    ck_assert_uint_eq(behinds, 1);
}
END_TEST

/* ---- What cannot be applied ----------------------------------------------------------------- */

/* Whoever sent it, this host cannot go on without it; nobody else is to be blamed. */
START_TEST(not_applied)
{
    enum { TAKEN, TOLD, COME, LOST } when = (unsigned)_i;
    bool both = when == TOLD || when == LOST;

    begin(2, 2, 1, both, 1 << 20);
    apply_error = -ENOMEM;
    come = when == COME ? 0 : 1;
    sends(0, 0, 1);
    if (when == TOLD)
        tells(1, 0, 1);
    if (when == LOST) {
        const struct replica_note note = {.about = 1, .word = REPLICA_WORD_ALL};

        replica_set_lost(set, 1);
        ck_assert_int_eq(replica_set_note(set, 0, &note), 0);
        ck_assert_int_eq(replica_set_note(set, 3, &note), 0);
    }
    come = 1;
    replica_set_advance(set);
    ck_assert_uint_eq(behinds, 1);
    ck_assert_uint_eq(behind_home, own);
    ck_assert_int_eq(replica_set_error(set, own), -ENOMEM);
    ck_assert_uint_eq(behind_key, 1);
    apply_error = 0;
    come = 2;
    if (when != LOST)
        sends(1, 0, 1);
    sends(0, 0, 2);
    ck_assert_uint_eq(applied, 0);
    ck_assert_uint_eq(behinds, 1);
}
END_TEST

/* ---- Contents that are kept ----------------------------------------------------------------- */

static void makes_all(uint64_t superstep)
{
    for (uint32_t pid = 0; pid + 1 < PIDS; pid++)
        makes(pid, replica_key(superstep, 0));
}

/* What one superstep makes does not fit, and there is no file. */
START_TEST(a_superstep_is_too_large_to_be_sent)
{
    begin(0, 1, 1, false, 1000);
    makes_all(0);
    ck_assert_uint_eq(behinds, 0);
    ck_assert_uint_eq(replica_set_held(set).copies, (PIDS - 1) * BYTES);
    for (uint32_t home = 1; home < 3; home++)
        reads(home);
    ck_assert_uint_eq(replica_set_held(set).copies, 0);
    makes_all(1);
    ck_assert_uint_eq(behinds, 0);
}
END_TEST

/* Who has come to the barrier before need not have read what this host has made there.  A host that
 * has not read what was made before that is given up, and only that one. */
START_TEST(one_has_not_read_the_superstep_before)
{
    begin(0, 1, 1, false, 1000);
    makes_all(0);
    makes_all(1);
    ck_assert_uint_eq(behinds, 0);
    reads(1);
    makes_all(2);
    ck_assert_uint_eq(behinds, 1);
    ck_assert_uint_eq(behind_home, 2);
    ck_assert_uint_eq(behind_key, replica_key(0, 0));
    ck_assert_uint_eq(replica_set_held(set).copies, (PIDS - 1) * BYTES);
}
END_TEST

static void sends_all(uint64_t superstep)
{
    for (uint32_t pid = 0; pid + 1 < PIDS; pid++)
        sends(0, pid, replica_key(superstep, 0));
}

/* The ranks here are about to come to that superstep. */
START_TEST(a_superstep_is_too_large_to_be_logged)
{
    begin(1, 1, 1, false, 1000);
    sends_all(0);
    ck_assert_uint_eq(behinds, 0);
    ck_assert_uint_eq(replica_set_held(set).logged, (PIDS - 1) * BYTES);
    come = replica_key(0, 0);
    replica_set_advance(set);
    ck_assert_uint_eq(applied, PIDS - 1);
    sends_all(1);
    ck_assert_uint_eq(behinds, 0);
    sends_all(2);
    ck_assert_uint_eq(behinds, 1);
    ck_assert_uint_eq(behind_home, own);
    ck_assert_uint_eq(behind_key, replica_key(2, 0));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("replica_behind");
    TCase *cases = tcase_create("replica_behind");

    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_add_loop_test(cases, trails_behind_all, 0, 2);
    tcase_add_test(cases, another_trails_more);
    tcase_add_test(cases, another_process_has_a_home_that_trails);
    tcase_add_loop_test(cases, not_applied, 0, 4);
    tcase_add_test(cases, a_superstep_is_too_large_to_be_sent);
    tcase_add_test(cases, one_has_not_read_the_superstep_before);
    tcase_add_test(cases, a_superstep_is_too_large_to_be_logged);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
