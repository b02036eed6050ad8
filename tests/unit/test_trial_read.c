/* test_trial_read.c - how fast a file can be read: how much of it is, and that nobody has to wait.
 */
#include <check.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/agent/snapshot/trial_read.h"
#include "tests/unit/suite.h"

#define TRIES 3000 /* of 10 ms */

static int file_of(uint64_t size)
{
    char name[] = "/tmp/trial-XXXXXX";
    int fd = mkstemp(name);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(unlink(name), 0);
    ck_assert_int_eq(posix_fallocate(fd, 0, (off_t)size), 0);
    return fd;
}

static uint64_t read_of(uint64_t size)
{
    struct trial_read *trial = trial_read_begin(file_of(size));
    uint64_t bytes = 0, ns = 0;

    ck_assert_ptr_nonnull(trial);
    for (int i = 0; i < TRIES && !trial_read_result(trial, &bytes, &ns); i++)
        usleep(10000);
    ck_assert_uint_gt(ns, 0);
    ck_assert_uint_lt(ns, 20 * TRIAL_READ_NS); /* it stops between two reads */
    trial_read_free(trial);
    return bytes;
}

START_TEST(the_whole_of_a_small_file)
{
    ck_assert_uint_eq(read_of((3u << 20) + 4097), (3u << 20) + 4097);
}
END_TEST

START_TEST(the_beginning_of_a_large_one)
{
    uint64_t bytes = read_of(2 * TRIAL_READ_BYTES);

    ck_assert_uint_gt(bytes, 0);
    ck_assert_uint_le(bytes, TRIAL_READ_BYTES);
}
END_TEST

START_TEST(nobody_waits_for_it)
{
    uint64_t bytes = 7, ns = 7;

    ck_assert(!trial_read_result(NULL, &bytes, &ns));
    trial_read_free(NULL);
    for (int i = 0; i < 50; i++)
        trial_read_free(trial_read_begin(file_of(1 << 20)));
    ck_assert_uint_eq(bytes, 7);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("trial read");
    TCase *tests = tcase_create("trial read");

    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, the_whole_of_a_small_file);
    tcase_add_test(tests, the_beginning_of_a_large_one);
    tcase_add_test(tests, nobody_waits_for_it);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
