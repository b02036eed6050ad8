/* test_coord_fewer.c - Processor Zero: a term that begins from a snapshot with fewer replicas than
 * were asked for, and why. */
#include <check.h>
#include <string.h>

#include "tests/unit/coord_play.h"
#include "tests/unit/suite.h"

static struct replica_counts counts_of(const char *text)
{
    struct replica_counts counts;
    char why[REPLICA_WHY];

    ck_assert(replica_counts_parse(&counts, text, why));
    return counts;
}

/* A snapshot of four processes, each of which needs 10 bytes, on hosts that have so much left. */
static void restore_with_memory(struct coord_config config, struct wire_numbers together,
                                uint32_t host_count, uint64_t left)
{
    static const uint64_t needs[] = {10, 10, 10, 10};

    config.restore = config.recover = true;
    config.wanted = COORD_NEVER;
    start(host_count, config);
    SAY(HELD, .held = {.host = 0,
                       .name = {7, 1},
                       .processes = 4,
                       .manifest = true,
                       .all = true,
                       .together = together,
                       .needs = {needs, 4}});
    for (uint32_t i = 0; i < host_count; i++)
        SAY(HOST_READY,
            .host_ready = {.host = (uint32_t[]){0, 7, 3, 5}[i], .slots = 2, .available = left});
}

static const char *why_fewer(void)
{
    const char *text = said()->chosen.text;

    return text ? text : "";
}

/* Three hosts are one cell with all processes: that is more than each had when they were four.  It
 * goes on with fewer replicas, if need be with one, and not at all if that does not fit either. */
START_TEST(restored_with_little_memory)
{
    restore_with_memory(SAVING(EVERY(100), .replicas = 2), (struct wire_numbers){0}, 3, 40);
    ck_assert_int_eq(coord_phase(coord), COORD_CHOOSING);
    ck_assert_uint_eq(coord_replicas_of(coord, 0, NULL), 2);
    ck_assert_str_eq(why_fewer(), "");
    tear_down();

    restore_with_memory(SAVING(EVERY(100), .replicas = 2), (struct wire_numbers){0}, 3, 20);
    ck_assert_int_eq(coord_phase(coord), COORD_CHOOSING);
    ck_assert_uint_eq(coord_replicas_of(coord, 0, NULL), 1);
    ck_assert_uint_eq(coord_leads(coord).count, 0);
    for (uint32_t i = 0; i < 3; i++)
        ck_assert_uint_le(coord->hosts[i].count, 2);
    ck_assert_ptr_nonnull(strstr(why_fewer(), "there is too little memory: process "));
    ck_assert_ptr_nonnull(strstr(why_fewer(), " needs 10 B of memory; host"));
    ck_assert_uint_eq(said()->chosen.missed.count, 0);
    tear_down();

    /* Of three replicas two are left, and of a list those with the most have fewer. */
    restore_with_memory(SAVING(EVERY(100), .replicas = 3), (struct wire_numbers){0}, 4, 20);
    ck_assert_uint_eq(coord_replicas_of(coord, 0, NULL), 2);
    ck_assert_uint_eq(coord_leads(coord).count, 4);
    tear_down();
    restore_with_memory(SAVING(EVERY(100), .counts = counts_of("0-2=2")), (struct wire_numbers){0},
                        4, 20);
    ck_assert_uint_eq(coord_replicas_of(coord, 0, NULL), 1);
    tear_down();

    restore_with_memory(SAVING(EVERY(100), .replicas = 2), (struct wire_numbers){0}, 3, 9);
    expect_outcome(1, WIRE_CAUSE_NO_MEMORY, coord_outcome(coord).pid);
    ck_assert_ptr_nonnull(strstr(coord_outcome(coord).text, "needs 10 B of memory; host"));
}
END_TEST

/* Those that share files are together, with as many replicas as the lowest of them. */
START_TEST(restored_with_shared_files)
{
    static const uint64_t groups[] = {0, 0, 2, 2};
    struct wire_numbers together = {groups, 4};

    restore_with_memory(SAVING(EVERY(100), .counts = counts_of("1=2")), together, 4, 90);
    ck_assert_int_eq(coord_phase(coord), COORD_CHOOSING);
    ck_assert_uint_eq(coord_leads(coord).count, 0);
    ck_assert_str_eq(why_fewer(), "process 1 shares open files with process 0, and has as "
                                  "many replicas: give both the same number");
    tear_down();
    restore_with_memory(SAVING(EVERY(100), .counts = counts_of("0-1=2")), together, 4, 90);
    ck_assert_str_eq(why_fewer(), "");
    tear_down();
    restore_with_memory(SAVING(EVERY(100), .counts = counts_of("0=2")), together, 4, 90);
    ck_assert_str_eq(why_fewer(), ""); /* process 1 has more than was asked for */
    tear_down();
    restore_with_memory(SAVING(EVERY(100), .replicas = 2), together, 4, 90);
    ck_assert_str_eq(why_fewer(), "");
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {restored_with_little_memory, restored_with_shared_files};

    return suite_run_tests("coord_fewer", tests, sizeof tests / sizeof *tests, NULL, tear_down);
}
