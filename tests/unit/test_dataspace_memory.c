/* test_dataspace_memory.c - the memory that objects of the dataspace have together. */
#include <check.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/dataspace/object.h"
#include "tests/unit/suite.h"

static unsigned mapped;
static bool file_is_full;

static void *on_map(void *context, uint64_t size)
{
    (void)context;
    mapped += !file_is_full;
    return file_is_full ? NULL : malloc(size);
}

static void on_unmap(void *context, void *at, uint64_t size)
{
    (void)context, (void)size;
    mapped--;
    free(at);
}

START_TEST(the_oldest_go_to_a_file)
{
    static const struct pool_files files = {on_map, on_unmap};
    struct pool *few = pool_open(100, 10, 0, &files, NULL);
    struct object *small = object_make(few, 9), *first = object_make(few, 40);
    struct object *second = object_make(few, 40), *third, *large;

    memset(small->bytes, 's', 9);
    memset(first->bytes, '1', 40);
    memset(second->bytes, '2', 40);
    ck_assert_uint_eq(mapped, 0);
    third = object_make(few, 50);
    ck_assert_uint_eq(mapped, 1); /* the first; small ones stay */
    ck_assert_uint_eq(pool_in_memory(few), 99);
    ck_assert_uint_eq(pool_in_file(few), 40);
    large = object_make(few, 101);
    ck_assert_uint_eq(mapped, 2);
    ck_assert_uint_eq(pool_in_file(few), 141);
    file_is_full = true;
    ck_assert_ptr_null(object_make(few, 20));
    ck_assert_ptr_null(object_make(few, 200));
    ck_assert_uint_eq(pool_in_memory(few), 99);
    file_is_full = false;
    for (int i = 0; i < 40; i++)
        ck_assert(first->bytes[i] == '1' && second->bytes[i] == '2');
    object_drop(object_share(second));
    object_drop(second);
    ck_assert_uint_eq(pool_in_memory(few), 59);
    object_drop(third);
    third = object_make(few, 91); /* just fits */
    ck_assert_uint_eq(pool_in_memory(few), 100);
    object_drop(small);
    object_drop(first);
    object_drop(third);
    third = object_make(few, 100);
    ck_assert_uint_eq(pool_in_memory(few), 100);
    object_drop(third);
    object_drop(large);
    ck_assert_uint_eq(mapped, 0);
    pool_close(few);
}
END_TEST

START_TEST(what_does_not_fit_beside_small_ones_goes_to_a_file)
{
    static const struct pool_files files = {on_map, on_unmap};
    struct pool *few = pool_open(100, 10, 0, &files, NULL);
    struct object *small = object_make(few, 9), *other = object_make(few, 40);
    struct object *large = object_make(few, 92);

    ck_assert_ptr_nonnull(large);
    ck_assert_uint_eq(pool_in_file(few), 92); /* the other one need not go */
    ck_assert_uint_eq(pool_in_memory(few), 49);
    object_drop(large);
    object_drop(small);
    large = object_make(few, 92);
    ck_assert_uint_eq(pool_in_file(few), 40);
    ck_assert_uint_eq(pool_in_memory(few), 92);
    object_drop(large);
    object_drop(other);
    ck_assert_uint_eq(mapped, 0);
    pool_close(few);
}
END_TEST

START_TEST(small_ones_are_bounded_too)
{
    static const struct pool_files files = {on_map, on_unmap};
    struct pool *few = pool_open(20, 16, 0, &files, NULL);
    struct object *first = object_make(few, 15);

    ck_assert_ptr_nonnull(first);
    ck_assert_ptr_null(object_make(few, 6));
    ck_assert(pool_is_used_up(few, 6));
    ck_assert(!pool_is_used_up(few, 5));
    ck_assert(!pool_is_used_up(few, 16)); /* it may go to the file */
    object_drop(first);
    first = object_make(few, 16);
    file_is_full = true;
    ck_assert_ptr_null(object_make(few, 6));
    ck_assert(!pool_is_used_up(few, 6)); /* the other one could go, with room in the file */
    file_is_full = false;
    object_drop(first);
    pool_close(few);
}
END_TEST

/* As in the agent, where an object of a few bytes takes some 200 with its tag. */
START_TEST(what_is_beside_small_objects_counts)
{
    struct pool *few = pool_open(1000, 16, 40, NULL, NULL);
    struct object *objects[32];
    unsigned count = 0;

    while (count < 32 && (objects[count] = object_make(few, 0)))
        object_tagged(objects[count++], 10);
    ck_assert_uint_eq(count, 11); /* a tag that is behind an object always fits */
    ck_assert_uint_eq(pool_in_memory(few), 0);
    ck_assert_uint_eq(pool_beside(few), 11 * (40 + 40 + 10));
    ck_assert(pool_is_used_up(few, 0));
    object_untagged(objects[0], 10);
    object_drop(objects[0]);
    ck_assert(!pool_is_used_up(few, 15));
    objects[0] = object_make(few, 15);
    ck_assert_ptr_nonnull(objects[0]);
    object_drop(objects[0]);
    while (--count > 0) {
        object_untagged(objects[count], 10);
        object_drop(objects[count]);
    }
    ck_assert_uint_eq(pool_beside(few), 0);
    pool_close(few);
}
END_TEST

START_TEST(what_is_beside_objects_in_files_counts)
{
    static const struct pool_files files = {on_map, on_unmap};
    struct pool *few = pool_open(100, 10, 40, &files, NULL);
    struct object *first = object_make(few, 60), *second = object_make(few, 60);

    ck_assert_ptr_nonnull(second);
    ck_assert_uint_eq(pool_in_file(few), 120); /* neither fits beside what they take */
    ck_assert_uint_eq(pool_beside(few), 80);
    ck_assert_ptr_null(object_make(few, 60));
    ck_assert(pool_is_used_up(few, 60));
    object_drop(second);
    second = object_make(few, 20);
    ck_assert_uint_eq(pool_in_memory(few), 20);
    object_drop(second);
    object_drop(first);
    ck_assert_uint_eq(mapped, 0);
    pool_close(few);
}
END_TEST

START_TEST(memory_of_objects_that_are_gone)
{
    const uint64_t size = 300000;
    struct pool *pool_of = pool_open(2 * size, size, 0, NULL, NULL);
    struct object *object = object_make(pool_of, size), *other;
    const unsigned char *bytes = object->bytes;

    object_drop(object);
    ck_assert_uint_eq(pool_in_memory(pool_of), 0);
    object = object_make(pool_of, size - 1); /* of about that size */
    ck_assert_ptr_eq(object->bytes, bytes);
    other = object_make(pool_of, size);
    ck_assert_ptr_ne(other->bytes, bytes);
    object_drop(object);
    object_drop(other);
    object = object_make(pool_of, 2 * size);
    ck_assert_ptr_nonnull(object); /* and nothing is kept any more */
    object_drop(object);
    pool_close(pool_of);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {the_oldest_go_to_a_file,
                                  what_does_not_fit_beside_small_ones_goes_to_a_file,
                                  small_ones_are_bounded_too,
                                  what_is_beside_small_objects_counts,
                                  what_is_beside_objects_in_files_counts,
                                  memory_of_objects_that_are_gone};

    return suite_run_tests("dataspace memory", tests, sizeof tests / sizeof *tests, NULL, NULL);
}
