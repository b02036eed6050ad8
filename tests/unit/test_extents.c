/* test_extents.c - places for many objects in few files (extents.h), where the files are memory
 * that counts what is taken of it.  test_extents [--seed N] repeats a run. */
#include <check.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "bsprun/dataspace/extents.h"
#include "bsprun/dataspace/object.h"
#include "tests/unit/suite.h"

#define PAGE     ((uint64_t)EXTENT_PAGE)
#define FILES    (PLACES + 1)
#define PAGES    100u /* of an extent, but for the first test: not a multiple of 64 */
#define PLACES   200u
#define ROUNDS   20000u
#define NO_LIMIT UINT64_MAX
#define LARGE    (UINT64_C(256) << 20)

static uint64_t seed;

static struct {
    unsigned char *at; /* NULL: closed */
    uint64_t size;
    bool taken[PAGES];
} files[FILES];
static int open_count, most_open;
static uint64_t room, taken; /* pages */
static uint64_t size_most;   /* of a file */
static bool no_files;

static void *on_open(void *context, uint64_t *size, int *file)
{
    ck_assert_ptr_eq(context, files);
    if (no_files)
        return NULL;
    *file = 0;
    while (files[*file].at)
        (*file)++;
    if (*size > size_most)
        *size = size_most;
    /* Address space: the first test writes nothing there. */
    files[*file].at = mmap(NULL, *size, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    ck_assert_ptr_ne(files[*file].at, MAP_FAILED);
    files[*file].size = *size;
    if (++open_count > most_open)
        most_open = open_count;
    return files[*file].at;
}

/* Room of a stretch is taken or given back page by page, each only once. */
static void change(int file, uint64_t offset, uint64_t size, bool take)
{
    ck_assert(offset % PAGE == 0 && size % PAGE == 0 && offset + size <= files[file].size);
    for (uint64_t page = offset / PAGE; page < (offset + size) / PAGE && page < PAGES; page++) {
        ck_assert(files[file].taken[page] != take);
        files[file].taken[page] = take;
    }
    taken = take ? taken + size / PAGE : taken - size / PAGE;
}

static void on_close(void *context, int file, void *at, uint64_t size)
{
    (void)context;
    ck_assert(files[file].at == at && files[file].size == size);
    for (unsigned page = 0; page < PAGES; page++)
        if (files[file].taken[page])
            change(file, page * PAGE, PAGE, false);
    munmap(at, size);
    files[file].at = NULL;
    open_count--;
}

static bool on_take(void *context, int file, uint64_t offset, uint64_t size)
{
    (void)context;
    if (taken + size / PAGE > room)
        return false;
    change(file, offset, size, true);
    return true;
}

static void on_give(void *context, int file, uint64_t offset, uint64_t size)
{
    (void)context;
    change(file, offset, size, false);
}

static const struct extent_files calls = {on_open, on_close, on_take, on_give};

static void set_up(void)
{
    memset(files, 0, sizeof files);
    open_count = most_open = 0;
    taken = 0;
    room = size_most = NO_LIMIT;
    no_files = false;
}

/* ---- As files of a pool ---- */

static void *on_map(void *context, uint64_t size)
{
    return extents_take(context, size);
}

static void on_unmap(void *context, void *at, uint64_t size)
{
    ck_assert(extents_give(context, at, size));
}

START_TEST(more_objects_than_a_process_may_have_mappings)
{
    enum { OBJECTS = 70000, SIZE = 16384 };
    static struct object *objects[OBJECTS];
    static const struct pool_files of_pool = {on_map, on_unmap};
    struct extents *extents = extents_open(LARGE, &calls, files);
    struct pool *pool = pool_open(4 * SIZE, SIZE, 0, &of_pool, extents);

    for (unsigned i = 0; i < OBJECTS; i++) {
        objects[i] = object_make(pool, SIZE);
        ck_assert_ptr_nonnull(objects[i]);
    }
    ck_assert_uint_eq(pool_in_file(pool), (uint64_t)(OBJECTS - 4) * SIZE);
    ck_assert_int_eq(most_open, 5);
    for (unsigned i = 0; i < OBJECTS; i++)
        object_drop(objects[i]);
    ck_assert_int_eq(open_count, 0);
    pool_close(pool);
    extents_close(extents);
}
END_TEST

/* ---- Places ---- */

START_TEST(the_first_free_place_is_taken)
{
    struct extents *extents = extents_open(PAGES * PAGE, &calls, files);
    unsigned char *a = extents_take(extents, 1), *b = extents_take(extents, 3 * PAGE);
    unsigned char *c = extents_take(extents, PAGE + 1), *large;

    ck_assert_ptr_eq(b, a + PAGE);
    ck_assert_ptr_eq(c, b + 3 * PAGE);
    ck_assert(extents_give(extents, b, 3 * PAGE));
    ck_assert_uint_eq(taken, 3);
    ck_assert_ptr_eq(extents_take(extents, PAGE), b);
    ck_assert_ptr_eq(extents_take(extents, 3 * PAGE), c + 2 * PAGE); /* not two pages behind b */
    ck_assert_ptr_eq(extents_take(extents, 2 * PAGE), b + PAGE);
    large = extents_take(extents, PAGES * PAGE); /* in a file of its own, then */
    ck_assert_int_eq(open_count, 2);
    ck_assert(extents_give(extents, a, 1));
    ck_assert_ptr_eq(extents_take(extents, 7), a);
    ck_assert(extents_give(extents, large, PAGES * PAGE));
    ck_assert_int_eq(open_count, 1); /* nothing is left there */
    ck_assert(!extents_give(extents, files, PAGE));
    ck_assert(extents_give(extents, a, 7) && extents_give(extents, b, PAGE));
    ck_assert(extents_give(extents, b + PAGE, 2 * PAGE) && extents_give(extents, c, PAGE + 1));
    ck_assert(extents_give(extents, c + 2 * PAGE, 3 * PAGE));
    ck_assert_int_eq(open_count, 0);
    ck_assert_uint_eq(taken, 0);
    extents_close(extents);
}
END_TEST

START_TEST(there_is_no_room)
{
    struct extents *extents = extents_open(PAGES * PAGE, &calls, files);
    unsigned char *place;

    room = 5;
    ck_assert_ptr_null(extents_take(extents, 6 * PAGE));
    ck_assert_int_eq(open_count, 0); /* no empty file is kept */
    place = extents_take(extents, 3 * PAGE);
    ck_assert_ptr_null(extents_take(extents, 3 * PAGE));
    ck_assert_uint_eq(taken, 3);
    ck_assert(extents_give(extents, place, 3 * PAGE));
    place = extents_take(extents, 5 * PAGE);
    ck_assert_ptr_nonnull(place);
    ck_assert(extents_give(extents, place, 5 * PAGE));
    ck_assert_ptr_null(extents_take(extents, PAGES * PAGE + 1)); /* larger than an extent */
    no_files = true;
    ck_assert_ptr_null(extents_take(extents, 1));
    no_files = false;
    size_most = 4 * PAGE + 1; /* the files are smaller than wanted */
    ck_assert_ptr_null(extents_take(extents, 5 * PAGE));
    ck_assert_int_eq(open_count, 0);
    place = extents_take(extents, 4 * PAGE);
    ck_assert_ptr_nonnull(place);
    ck_assert(extents_give(extents, place, 4 * PAGE));
    ck_assert_int_eq(open_count, 0);
    extents_close(extents);
}
END_TEST

/* ---- Any order ---- */

static uint64_t chance(uint64_t below)
{
    static uint64_t state;

    if (state == 0)
        state = seed;
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (state >> 33) % below;
}

struct place {
    unsigned char *at; /* NULL: none */
    uint64_t size;
    unsigned char byte;
};

static uint64_t pages_of(uint64_t size)
{
    return (size + PAGE - 1) / PAGE;
}

/* Whether some file has so many free pages, one behind the other. */
static bool fits(uint64_t pages)
{
    for (unsigned i = 0; i < FILES; i++) {
        uint64_t run = 0;

        for (unsigned page = 0; files[i].at && page < PAGES; page++) {
            run = files[i].taken[page] ? 0 : run + 1;
            if (run == pages)
                return true;
        }
    }
    return false;
}

/* The bytes of a place are nobody else's. */
static void check_place(const struct place *place)
{
    for (uint64_t i = 0; i < place->size; i += PAGE)
        ck_assert_msg(place->at[i] == place->byte, "seed %" PRIu64, seed);
    ck_assert_msg(place->at[place->size - 1] == place->byte, "seed %" PRIu64, seed);
}

START_TEST(any_order)
{
    static struct place places[PLACES];
    struct extents *extents = extents_open(PAGES * PAGE, &calls, files);
    uint64_t wanted = 0, failed = 0;

    room = 12 * PAGES;
    for (unsigned round = 0; round < ROUNDS; round++) {
        struct place *place = &places[chance(PLACES)];
        /* Phases in which there are many, and few. */
        bool fill = round / 1000 % 2 == 0 ? chance(4) > 0 : chance(4) == 0;

        if (place->at && !fill) {
            check_place(place);
            ck_assert(extents_give(extents, place->at, place->size));
            wanted -= pages_of(place->size);
            place->at = NULL;
        } else if (!place->at && fill) {
            bool fitted;
            int before = open_count;

            place->size = 1 + chance(chance(8) == 0 ? PAGES * PAGE : 6 * PAGE);
            fitted = fits(pages_of(place->size));
            place->at = extents_take(extents, place->size);
            failed += !place->at;
            if (!place->at) {
                ck_assert_msg(taken + pages_of(place->size) > room, "seed %" PRIu64, seed);
                continue;
            }
            ck_assert_msg((open_count == before) == fitted, "seed %" PRIu64, seed);
            wanted += pages_of(place->size);
            place->byte = (unsigned char)round;
            memset(place->at, place->byte, place->size);
        }
        ck_assert_msg(taken == wanted, "seed %" PRIu64, seed);
        ck_assert_msg((open_count == 0) == (wanted == 0), "seed %" PRIu64, seed);
    }
    ck_assert_uint_gt(failed, 0);
    for (unsigned i = 0; i < PLACES; i++)
        if (places[i].at) {
            check_place(&places[i]);
            ck_assert(extents_give(extents, places[i].at, places[i].size));
        }
    ck_assert_uint_eq(taken, 0);
    ck_assert_int_eq(open_count, 0);
    extents_close(extents);
}
END_TEST

int main(int argc, char **argv)
{
    const TTest *const tests[] = {more_objects_than_a_process_may_have_mappings,
                                  the_first_free_place_is_taken, there_is_no_room, any_order};

    seed = argc > 2 && strcmp(argv[1], "--seed") == 0 ? strtoull(argv[2], NULL, 10)
                                                      : (uint64_t)time(NULL);
    printf("seed %" PRIu64 "\n", seed);
    fflush(stdout);
    return suite_run_tests("extents", tests, sizeof tests / sizeof *tests, set_up, NULL);
}
