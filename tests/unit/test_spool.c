/* test_spool.c - logs that share memory and a file: what is appended is read again at its position,
 * wherever it lies. */
#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "bsprun/launcher/spool.h"
#include "tests/unit/suite.h"

#define MEMORY (2 * SPOOL_BLOCK)

static struct spool *spool;
static struct spool_log one, other;
static FILE *file;
static int files;

static int new_file(void *context)
{
    (void)context;
    files++;
    file = tmpfile();
    return file ? fileno(file) : -errno;
}

static int no_file(void *context)
{
    (void)context;
    files++;
    return -ENOSPC;
}

static void make(spool_file *open_file)
{
    spool = spool_new(MEMORY, open_file, NULL);
    ck_assert_ptr_nonnull(spool);
    one = other = (struct spool_log){0};
    files = 0;
}

static void set_up(void)
{
    make(new_file);
}

static void tear_down(void)
{
    spool_clear(spool, &one, 0);
    spool_clear(spool, &other, 0);
    spool_free(spool);
}

/* The byte that a log has at a position: another one in each log, and never the same for long. */
static char byte(const struct spool_log *log, uint64_t position)
{
    return (char)(position * 7 + position / SPOOL_BLOCK + (log == &one ? 0 : 101));
}

static void append(struct spool_log *log, size_t size)
{
    char *data = malloc(size);

    ck_assert_ptr_nonnull(data);
    for (size_t i = 0; i < size; i++)
        data[i] = byte(log, log->end + i);
    ck_assert_int_eq(spool_append(spool, log, data, size), 0);
    free(data);
}

static void check_from(const struct spool_log *log, uint64_t position)
{
    char data[1000];

    while (position < log->end) {
        int got = spool_read(spool, log, position, data, sizeof data);

        ck_assert_int_ge(got, 1);
        for (int i = 0; i < got; i++)
            ck_assert_int_eq(data[i], byte(log, position + (uint64_t)i));
        position += (uint64_t)got;
    }
}

static size_t file_size(void)
{
    struct stat status;

    ck_assert_int_eq(fstat(fileno(file), &status), 0);
    return (size_t)status.st_size;
}

START_TEST(positions)
{
    char data[8];

    ck_assert_int_eq(spool_read(spool, &one, 0, data, sizeof data), -ENODATA);
    append(&one, 10);
    append(&one, SPOOL_BLOCK);
    ck_assert_uint_eq(one.end, SPOOL_BLOCK + 10);
    check_from(&one, 0);
    ck_assert_int_eq(spool_read(spool, &one, one.end - 3, data, sizeof data), 3);
    ck_assert_int_eq(spool_read(spool, &one, one.end, data, sizeof data), -ENODATA);
    spool_clear(spool, &one, 5000); /* it continues from there */
    append(&one, 100);
    ck_assert_uint_eq(one.end, 5100);
    check_from(&one, 5000);
    ck_assert_int_eq(files, 0);
}
END_TEST

START_TEST(what_is_too_much_goes_to_a_file)
{
    append(&one, SPOOL_BLOCK);
    append(&other,
           3 * SPOOL_BLOCK + 1); /* of which the first block fits, beside the one of `one` */
    append(&one, 2 * SPOOL_BLOCK);
    ck_assert_int_eq(files, 1);
    check_from(&one, 0);
    check_from(&other, 0);
}
END_TEST

START_TEST(blocks_are_used_again)
{
    append(&one, 8 * SPOOL_BLOCK);
    size_t once = file_size();

    ck_assert_uint_eq(once, 6 * SPOOL_BLOCK);
    for (int turn = 0; turn < 20; turn++) {
        append(&one, SPOOL_BLOCK);
        spool_forget(spool, &one, one.end - 4 * SPOOL_BLOCK);
        check_from(&one, one.end - 4 * SPOOL_BLOCK);
    }
    ck_assert_uint_le(file_size(), once + SPOOL_BLOCK);
    spool_clear(spool, &one, 0);
    append(&other, MEMORY);
    check_from(&other, 0); /* memory again, for what was in it has gone */
}
END_TEST

START_TEST(forgotten_and_cut)
{
    char data[8];

    append(&one, 5 * SPOOL_BLOCK + 5);
    spool_forget(spool, &one, 2 * SPOOL_BLOCK + 1);
    ck_assert_int_eq(spool_read(spool, &one, 2 * SPOOL_BLOCK - 1, data, 1), -ENODATA);
    check_from(&one, 2 * SPOOL_BLOCK);
    spool_cut(spool, &one,
              3 * SPOOL_BLOCK + 7); /* a rollback after which it differs from there on */
    ck_assert_uint_eq(one.end, 3 * SPOOL_BLOCK + 7);
    check_from(&one, 2 * SPOOL_BLOCK);
    append(&one, SPOOL_BLOCK);
    check_from(&one, 2 * SPOOL_BLOCK);
    spool_cut(spool, &one, one.base);
    append(&one, 3);
    check_from(&one, one.base);
}
END_TEST

/* Without a file memory has to do. */
START_TEST(no_room)
{
    tear_down();
    make(no_file);
    append(&one, 6 * SPOOL_BLOCK);
    ck_assert_int_ge(files, 1);
    check_from(&one, 0);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {positions, what_is_too_much_goes_to_a_file, blocks_are_used_again,
                                  forgotten_and_cut, no_room};

    return suite_run_tests("spool", tests, sizeof tests / sizeof *tests, set_up, tear_down);
}
