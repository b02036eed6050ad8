/* test_replay.c - output is shown once, whatever is rolled back. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bsprun/launcher/replay.h"
#include "tests/unit/suite.h"

#define NAME(superstep, term) ((struct bspz_snapshot_name){superstep, term})
#define MEMORY                65536u

static struct spool *spool;
static struct replay *replay;
static char *shown[3]; /* by stream */
static size_t sizes[3];
static int files;

static int show(void *context, int pid, int stream, const char *data, size_t size)
{
    (void)context;
    (void)pid;
    shown[stream] = realloc(shown[stream], sizes[stream] + size + 1);
    ck_assert_ptr_nonnull(shown[stream]);
    memcpy(shown[stream] + sizes[stream], data, size);
    sizes[stream] += size;
    shown[stream][sizes[stream]] = '\0';
    return 0;
}

static int new_file(void *context)
{
    FILE *file = tmpfile();

    (void)context;
    files++;
    return file ? fileno(file) : -1;
}

static int no_file(void *context)
{
    (void)context;
    files++;
    return -28;
}

static void make(spool_file *file)
{
    spool = spool_new(MEMORY, file, NULL);
    ck_assert_ptr_nonnull(spool);
    replay = replay_new(spool, show, NULL);
    ck_assert_ptr_nonnull(replay);
    files = 0;
}

static void set_up(void)
{
    make(new_file);
}

static void tear_down(void)
{
    replay_free(replay);
    spool_free(spool);
    for (int i = 0; i < 3; i++) {
        free(shown[i]);
        shown[i] = NULL;
        sizes[i] = 0;
    }
}

static void piece(int pid, int stream, const char *text)
{
    ck_assert_int_eq(replay_piece(replay, pid, stream, text, strlen(text)), 0);
}

static bool differed(void)
{
    int pid, stream;

    return replay_differed(replay, &pid, &stream);
}

START_TEST(shown_once)
{
    piece(0, 1, "before\n");
    ck_assert_int_eq(replay_mark(replay, NAME(0, 1)), 0);
    piece(0, 1, "one\ntw");
    piece(1, 1, "other\n");
    piece(0, 2, "error\n");
    replay_commit(replay, NAME(0, 1));
    ck_assert(replay_back(replay, NAME(0, 1)));
    piece(1, 1, "oth"); /* in other pieces, in another order */
    piece(0, 2, "error\n");
    piece(0, 1, "one\n");
    piece(1, 1, "er\nmore\n");
    piece(0, 1, "two\n");
    ck_assert_str_eq(shown[1], "before\none\ntwother\nmore\no\n");
    ck_assert_str_eq(shown[2], "error\n");
    ck_assert(!differed());
}
END_TEST

/* The others go on. */
START_TEST(one_goes_back_alone)
{
    piece(0, 1, "a");
    piece(1, 1, "b\n");
    ck_assert_int_eq(replay_mark(replay, NAME(3, 1)), 0);
    replay_commit(replay, NAME(3, 1));
    piece(0, 1, "c\n");
    piece(1, 1, "d\n");
    piece(1, 2, "e\n"); /* its first there */
    ck_assert(replay_back_alone(replay, NAME(3, 1), 1));
    piece(0, 1, "f\n");
    piece(1, 1, "d\ng\n");
    piece(1, 2, "e\n");
    ck_assert_str_eq(shown[1], "ab\nc\nd\nf\ng\n");
    ck_assert_str_eq(shown[2], "e\n");
    ck_assert(!differed());
    ck_assert(!replay_back_alone(replay, NAME(9, 9), 0));
    piece(0, 1, "h\n");
    ck_assert_str_eq(shown[1], "ab\nc\nd\nf\ng\nh\n");
}
END_TEST

START_TEST(again_and_again)
{
    ck_assert_int_eq(replay_begin(replay, NAME(4, 2)), 0);
    piece(0, 1, "5\n6\n");
    ck_assert(replay_back(replay, NAME(4, 2)));
    piece(0, 1, "5\n"); /* dies earlier this time */
    ck_assert(replay_back(replay, NAME(4, 2)));
    piece(0, 1, "5\n");
    ck_assert_int_eq(replay_mark(replay, NAME(5, 4)), 0);
    replay_commit(replay, NAME(5, 4)); /* behind what was shown */
    ck_assert(replay_back(replay, NAME(5, 4)));
    piece(0, 1, "6\n7\n");
    ck_assert_str_eq(shown[1], "5\n6\n7\n");
    ck_assert(!differed());
}
END_TEST

START_TEST(abandoned_snapshots)
{
    piece(0, 1, "a\n");
    replay_mark(replay, NAME(1, 1));
    replay_commit(replay, NAME(1, 1));
    piece(0, 1, "b\n");
    replay_mark(replay, NAME(2, 1)); /* never committed */
    piece(0, 1, "c\n");
    replay_back(replay, NAME(1, 1));
    piece(0, 1, "b\n");
    replay_mark(replay, NAME(2, 2));
    replay_commit(replay, NAME(2, 2));
    replay_back(replay, NAME(2, 2));
    piece(0, 1, "c\nd\n");
    ck_assert_str_eq(shown[1], "a\nb\nc\nd\n");
    for (uint64_t i = 0; i < 3 * REPLAY_MARKS_MAX; i++)
        ck_assert_int_eq(replay_mark(replay, NAME(10 + i, 2)), 0);
    ck_assert(replay_back(replay, NAME(2, 2))); /* those before it made room */
    piece(0, 1, "c\nd\n");
    ck_assert_str_eq(shown[1], "a\nb\nc\nd\n");
}
END_TEST

/* Its agent was lost when it was a snapshot, but had not yet said that all know. */
START_TEST(unheard_of_snapshot)
{
    for (uint64_t i = 0; i < 2 * REPLAY_MARKS_MAX; i++) {
        replay_mark(replay, NAME(i, 1));
        replay_commit(replay, NAME(i, 1));
    }
    piece(0, 1, "a\n");
    replay_mark(replay, NAME(100, 1));
    piece(0, 1, "b\n");
    for (uint32_t term = 2; term < 2 * REPLAY_MARKS_MAX; term++) {
        ck_assert(replay_back(replay, NAME(100, 1)));
        piece(0, 1, "b\n");
        replay_mark(replay, NAME(101, term));
    }
    ck_assert_str_eq(shown[1], "a\nb\n");
}
END_TEST

/* That it is one is heard of only when the next one is being taken. */
START_TEST(heard_of_late)
{
    for (uint64_t i = 0; i < 2 * REPLAY_MARKS_MAX; i++) {
        char line[32];

        ck_assert_int_eq(replay_mark(replay, NAME(i, 1)), 0);
        snprintf(line, sizeof line, "%d\n", (int)i);
        piece(0, 1, line);
        ck_assert_int_eq(replay_mark(replay, NAME(i + 1, 1)), 0);
        replay_commit(replay, NAME(i, 1));
        size_t once = sizes[1];
        ck_assert(replay_back(replay, NAME(i, 1)));
        piece(0, 1, line);
        ck_assert_uint_eq(sizes[1], once);
    }
}
END_TEST

/* Replicas differ: the newest snapshot that is right may be older than any number of others. */
START_TEST(the_one_that_is_right)
{
    for (uint64_t i = 0; i < 3 * REPLAY_MARKS_MAX; i++) {
        ck_assert_int_eq(replay_mark(replay, NAME(i, 1)), 0);
        replay_commit(replay, NAME(i, 1));
        replay_spare(replay, NAME(i < 5 ? i : 5, 1));
        piece(0, 1, "a\n");
    }
    size_t once = sizes[1];
    ck_assert(replay_back(replay, NAME(5, 1)));
    for (uint64_t i = 5; i < 3 * REPLAY_MARKS_MAX; i++)
        piece(0, 1, "a\n");
    ck_assert_uint_eq(sizes[1], once);
}
END_TEST

START_TEST(an_older_snapshot)
{
    piece(0, 1, "a\n");
    replay_mark(replay, NAME(1, 1));
    replay_commit(replay, NAME(1, 1));
    piece(0, 1, "b\n");
    replay_mark(replay, NAME(2, 1));
    replay_commit(replay, NAME(2, 1));
    piece(0, 1, "c\n");
    ck_assert(replay_back(replay, NAME(1, 1))); /* the newer one is damaged */
    piece(0, 1, "b\nc");
    piece(0, 1, "\nd\n");
    ck_assert_str_eq(shown[1], "a\nb\nc\nd\n");
    ck_assert(!replay_back(replay, NAME(7, 1))); /* of which nothing is known */
    piece(0, 1, "e\n");
    ck_assert_str_eq(shown[1], "a\nb\nc\nd\ne\n");
}
END_TEST

START_TEST(what_differs)
{
    int pid = -1, stream = -1;

    replay_begin(replay, NAME(0, 1));
    piece(3, 2, "same\ntime 1.23 seconds");
    replay_back(replay, NAME(0, 1));
    piece(3, 2, "same\ntime 1.");
    ck_assert(!differed());
    piece(3, 2, "47 seconds\nend\n");
    ck_assert_str_eq(shown[2], "same\ntime 1.23 seconds\ntime 1.47 seconds\nend\n");
    ck_assert(replay_differed(replay, &pid, &stream));
    ck_assert(pid == 3 && stream == 2);
    ck_assert(!differed()); /* said once */
    replay_back(replay, NAME(0, 1));
    piece(3, 2, "same\ntime 1.47 seconds\nend\n"); /* the second execution is remembered now */
    ck_assert(!differed());
    replay_back(replay, NAME(0, 1));
    piece(3, 2, "same\n");
    ck_assert(replay_behind(replay, &pid, &stream) && pid == 3);
    piece(3, 2, "time 1.47 seconds\nend\n");
    ck_assert(!replay_behind(replay, &pid, &stream));
}
END_TEST

/* Numbered lines, more than fit into memory. */
static void write_lines(int from, int to)
{
    char line[64];

    for (int i = from; i < to; i++) {
        snprintf(line, sizeof line, "this is line number %d\n", i);
        piece(0, 1, line);
    }
}

START_TEST(more_than_memory)
{
    enum { LINES = 20000 };
    char *once;

    files = 0;
    write_lines(0, 100);
    replay_mark(replay, NAME(1, 1));
    replay_commit(replay, NAME(1, 1));
    write_lines(100, LINES);
    ck_assert_int_eq(files, 1);
    once = strdup(shown[1]);
    replay_back(replay, NAME(1, 1));
    write_lines(100, LINES);
    ck_assert_str_eq(shown[1], once);
    replay_mark(replay, NAME(2, 2));
    write_lines(LINES, 2 * LINES);
    replay_commit(replay, NAME(2, 2)); /* long after it was taken */
    replay_back(replay, NAME(2, 2));
    write_lines(LINES, 2 * LINES + 1);
    ck_assert_int_eq(files, 1);
    ck_assert(!differed());
    ck_assert_uint_gt(sizes[1], 2 * strlen(once));
    free(once);
    replay_back(replay, NAME(2, 2));
    piece(0, 1, "this is another line\n");
    ck_assert(differed()); /* all that is behind the mark is still known */
}
END_TEST

/* A file that cannot grow beyond 40 KiB. */
static int full_file(void *context)
{
    int file = memfd_create("full", MFD_ALLOW_SEALING | MFD_CLOEXEC);

    (void)context;
    ck_assert_int_ge(file, 0);
    ck_assert_int_eq(ftruncate(file, 40960), 0);
    ck_assert_int_eq(fcntl(file, F_ADD_SEALS, F_SEAL_GROW), 0);
    files++;
    return file;
}

START_TEST(a_full_disk)
{
    tear_down();
    make(full_file);
    replay_begin(replay, NAME(1, 1));
    write_lines(0, 20000);
    ck_assert_int_eq(files, 1);
    size_t once = sizes[1];
    replay_back(replay, NAME(1, 1));
    write_lines(0, 20000);
    ck_assert_uint_eq(sizes[1], once);
    ck_assert(!differed());
}
END_TEST

START_TEST(no_file_either)
{
    tear_down();
    make(no_file);
    replay_begin(replay, NAME(1, 1));
    write_lines(0, 10000);
    ck_assert_int_gt(files, 0);
    size_t once = sizes[1];
    replay_back(replay, NAME(1, 1));
    write_lines(0, 10000);
    ck_assert_uint_eq(sizes[1], once);
}
END_TEST

/* Who wrote it is known in one execution and not in the other, and what is not has no order. */
START_TEST(writers_that_are_gone)
{
    replay_mark(replay, NAME(1, 1));
    piece(0, 1, "own 0\n");
    piece(-1, 1, "a\nb\n");
    piece(-1, 2, "b\n");
    piece(1, 1, "child of 1\nown 1\n");
    piece(-1, 1, "twice\n");
    piece(-1, 1, "twice\n");
    replay_commit(replay, NAME(1, 1));
    for (int turn = 0; turn < 2; turn++) {
        int pid, stream;

        ck_assert(replay_back(replay, NAME(1, 1)));
        piece(-1, 1, "child of 1\n");
        piece(-1, 1, "twice\nb\ntwice\n");
        piece(0, 1, "own 0\na\n");
        ck_assert(replay_behind(replay, &pid, &stream));
        piece(-1, 2, "b\n");
        ck_assert(replay_behind(replay, &pid, &stream));
        ck_assert_int_eq(pid, 1);
        piece(1, 1, "own 1\n");
        ck_assert(!replay_behind(replay, &pid, &stream));
    }
    ck_assert_str_eq(shown[1], "own 0\na\nb\nchild of 1\nown 1\ntwice\ntwice\n");
    ck_assert_str_eq(shown[2], "b\n");
    piece(-1, 1, "twice\n"); /* once more is new */
    ck_assert_str_eq(shown[1], "own 0\na\nb\nchild of 1\nown 1\ntwice\ntwice\ntwice\n");
    ck_assert(!differed());
}
END_TEST

/* Back to an older snapshot than the newest, and on to it again. */
START_TEST(writers_that_are_gone_for_long)
{
    int pid, stream;

    replay_mark(replay, NAME(1, 1));
    replay_commit(replay, NAME(1, 1));
    piece(-1, 1, "a\n");
    replay_mark(replay, NAME(2, 1));
    replay_commit(replay, NAME(2, 1));
    piece(-1, 1, "b\n");
    ck_assert(replay_back(replay, NAME(1, 1)));
    piece(-1, 1, "a\n");
    replay_mark(replay, NAME(2, 2));
    replay_commit(replay, NAME(2, 2));
    piece(-1, 1, "b\n");
    ck_assert(!replay_behind(replay, &pid, &stream));
    ck_assert(replay_back(replay, NAME(2, 2)));
    ck_assert(replay_behind(replay, &pid, &stream));
    piece(-1, 1, "b\nc\n");
    ck_assert_str_eq(shown[1], "a\nb\nc\n");
    ck_assert(!replay_back(replay, NAME(7, 7)));
    ck_assert(!replay_behind(replay, &pid, &stream));
}
END_TEST

/* ---- Records for the next bsprun ---- */

/* In place of the former one: nothing has been shown. */
static void another_bsprun(void)
{
    tear_down();
    set_up();
}

static FILE *record_of(struct bspz_snapshot_name name)
{
    FILE *file = tmpfile();

    ck_assert_ptr_nonnull(file);
    ck_assert_int_eq(replay_save(replay, name, file), 0);
    return file;
}

START_TEST(known_to_the_next)
{
    ck_assert_int_eq(replay_begin(replay, NAME(4, 1)), 0);
    ck_assert(!replay_exceeds(replay, NAME(4, 1)));
    piece(0, 1, "one\ntwo\nthree\n");
    piece(1, 2, "error\nnot all\n");
    ck_assert(replay_exceeds(replay, NAME(4, 1)));
    ck_assert(replay_back(replay, NAME(4, 1)));
    piece(0, 1, "one\n");
    ck_assert_int_eq(replay_mark(replay, NAME(5, 2)), 0);
    FILE *file = record_of(NAME(5, 2));
    another_bsprun();
    ck_assert_int_eq(replay_load(replay, NAME(5, 2), file), 0);
    fclose(file);
    piece(1, 2, "err");
    piece(0, 1, "two\nth");
    ck_assert(replay_back(replay, NAME(5, 2))); /* as in any bsprun */
    piece(0, 1, "two\n");
    ck_assert_int_eq(replay_mark(replay, NAME(6, 3)), 0);
    file = record_of(NAME(6, 3));
    another_bsprun();
    ck_assert_int_eq(replay_load(replay, NAME(6, 3), file), 0);
    fclose(file);
    piece(0, 1, "three\nfour\n");
    piece(1, 2, "error\nother\n");
    ck_assert_str_eq(shown[1], "four\n");
    ck_assert_str_eq(shown[2], "other\n"); /* it differs from the beginning of its line */
    ck_assert(differed());
}
END_TEST

/* Only lengths are known of what lies before the newest snapshot. */
START_TEST(known_in_part)
{
    char line[3000];

    memset(line, 'x', sizeof line);
    line[sizeof line - 2] = '\n';
    line[sizeof line - 1] = '\0';
    ck_assert_int_eq(replay_begin(replay, NAME(1, 1)), 0);
    for (int i = 0; i < 10; i++)
        piece(0, 1, line);
    ck_assert_int_eq(replay_mark(replay, NAME(2, 1)), 0);
    replay_commit(replay, NAME(2, 1));
    piece(0, 1, "last\n");
    FILE *file = record_of(NAME(1, 1));
    another_bsprun();
    ck_assert_int_eq(replay_load(replay, NAME(1, 1), file), 0);
    fclose(file);
    for (int i = 0; i < 10; i++)
        piece(0, 1, line);
    piece(0, 1, "last\nnew\n");
    ck_assert_str_eq(shown[1], "new\n");
    ck_assert(!differed());
}
END_TEST

START_TEST(known_without_writer)
{
    int pid, stream;

    ck_assert_int_eq(replay_begin(replay, NAME(1, 1)), 0);
    piece(-1, 1, "a\nb\n");
    piece(-1, 2, "b\n");
    ck_assert_int_eq(replay_mark(replay, NAME(2, 1)), 0);
    piece(-1, 1, "c\n");
    replay_commit(replay, NAME(2, 1)); /* of the first three only the number is known */
    ck_assert(replay_back(replay, NAME(1, 1)));
    FILE *file = record_of(NAME(1, 1));
    another_bsprun();
    ck_assert_int_eq(replay_load(replay, NAME(1, 1), file), 0);
    fclose(file);
    piece(-1, 1, "c\na\nb\n");
    ck_assert(replay_behind(replay, &pid, &stream));
    piece(-1, 2, "b\n");
    ck_assert(!replay_behind(replay, &pid, &stream));
    piece(-1, 1, "d\n");
    ck_assert_str_eq(shown[1], "d\n");
}
END_TEST

/* With any byte changed, or cut off anywhere. */
START_TEST(damaged_records)
{
    char bytes[200];

    ck_assert_int_eq(replay_begin(replay, NAME(3, 1)), 0);
    piece(0, 1, "some\n");
    piece(-1, 1, "line\n");
    FILE *whole = record_of(NAME(3, 1));
    rewind(whole);
    size_t size = fread(bytes, 1, sizeof bytes, whole);
    ck_assert(size > 60 && size < sizeof bytes);
    fclose(whole);
    for (size_t i = 0; i < 2 * size; i++) {
        size_t cut = i < size ? size : i - size;
        FILE *file = tmpfile();

        ck_assert_ptr_nonnull(file);
        bytes[i % size] ^= i < size;
        ck_assert_uint_eq(fwrite(bytes, 1, cut, file), cut);
        bytes[i % size] ^= i < size;
        another_bsprun();
        ck_assert_int_eq(replay_load(replay, NAME(3, 1), file), -EBADMSG);
        fclose(file);
        piece(0, 1, "some\n");
        ck_assert_str_eq(shown[1], "some\n");
    }
}
END_TEST

START_TEST(records_of_others)
{
    ck_assert_int_eq(replay_begin(replay, NAME(3, 1)), 0);
    piece(0, 1, "some\n");
    FILE *file = record_of(NAME(3, 1));
    ck_assert_int_eq(replay_save(replay, NAME(3, 2), file), -ENOENT);
    another_bsprun();
    ck_assert_int_eq(replay_load(replay, NAME(3, 2), file), -EBADMSG);
    ck_assert_int_eq(replay_load(replay, NAME(3, 1), file), 0);
    fclose(file);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {shown_once,
                                  one_goes_back_alone,
                                  again_and_again,
                                  abandoned_snapshots,
                                  the_one_that_is_right,
                                  an_older_snapshot,
                                  what_differs,
                                  more_than_memory,
                                  a_full_disk,
                                  no_file_either,
                                  unheard_of_snapshot,
                                  heard_of_late,
                                  writers_that_are_gone,
                                  writers_that_are_gone_for_long,
                                  known_to_the_next,
                                  known_in_part,
                                  known_without_writer,
                                  damaged_records,
                                  records_of_others};

    return suite_run_tests("replay", tests, sizeof tests / sizeof *tests, set_up, tear_down);
}
