/* replica_twins.c - see replica_twins.h. */
#include "tests/unit/replica_twins.h"

#include <check.h>

unsigned twins_mismatches;

static bool on_ready(void *context, uint32_t pid, uint64_t key)
{
    (void)context, (void)pid, (void)key;
    return true;
}

static int on_apply(void *context, uint32_t pid, uint64_t key, void *bytes, uint64_t size)
{
    (void)context, (void)pid, (void)key, (void)bytes, (void)size;
    return 0;
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
    twins_mismatches++;
}

static void on_behind(void *context, uint32_t home, uint64_t key)
{
    (void)context;
    ck_abort_msg("host %u is behind at %lu", home, (unsigned long)key);
}

struct replica_set *twins_open(uint32_t own, bool majority)
{
    static const uint32_t pids[TWINS_PROCESSES] = {0, 1};
    static const struct replica_home homes[TWINS_HOMES] = {
        {&pids[0], 1}, {&pids[1], 1}, {&pids[0], 1}, {&pids[1], 1}};
    const struct replica_setup setup = {.nprocs = TWINS_PROCESSES,
                                        .home_count = TWINS_HOMES,
                                        .own = own,
                                        .homes = homes,
                                        .log_bytes = 1 << 20,
                                        .spill_bytes = 1 << 20,
                                        .majority = majority};
    const struct replica_calls calls = {on_ready, on_apply, on_locate, on_mismatch, on_behind};
    struct replica_set *set;
    int error;

    set = replica_set_new(&setup, &calls, NULL, &error);
    ck_assert_ptr_nonnull(set);
    twins_mismatches = 0;
    return set;
}
