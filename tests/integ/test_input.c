/* test_input.c - process 0 is given its input, and again after a rollback. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/launcher/input.h"
#include "tests/unit/suite.h"

#define NAME(superstep, term) ((struct bspz_snapshot_name){superstep, term})

static struct input input;

static int new_file(void *context)
{
    FILE *file = tmpfile();

    (void)context;
    return file ? fileno(file) : -1;
}

static void set_up(void)
{
    ck_assert(input_init(&input, 2, 65536, new_file, NULL));
}

static void tear_down(void)
{
    input_free(&input);
}

static void add(const char *text)
{
    ck_assert_int_eq(input_add(&input, text, strlen(text)), 0);
}

static void expect(uint64_t position, const char *text, bool end)
{
    struct wire_input piece;

    ck_assert(input_next(&input, 0, &piece));
    ck_assert_uint_eq(piece.position, position);
    ck_assert_uint_eq(piece.data.size, strlen(text));
    ck_assert_mem_eq(piece.data.data, text, strlen(text));
    ck_assert(piece.end == end);
}

static void expect_nothing(void)
{
    struct wire_input piece;

    ck_assert(!input_next(&input, 0, &piece));
}

START_TEST(read_when_asked_for)
{
    static char much[INPUT_AHEAD];

    ck_assert_uint_eq(input_room(&input), 0); /* nobody has said that he takes any */
    ck_assert(input_taken(&input, 0, 0));
    ck_assert_uint_eq(input_room(&input), INPUT_AHEAD);
    add("hello ");
    expect(0, "hello ", false);
    expect_nothing();
    ck_assert_uint_eq(input_room(&input), INPUT_AHEAD - 6);
    ck_assert_int_eq(input_add(&input, much, sizeof much - 6), 0);
    ck_assert_uint_eq(input_room(&input), 0);
    struct wire_input piece;
    ck_assert(input_next(&input, 0, &piece));
    ck_assert_uint_eq(piece.data.size, INPUT_AHEAD - 6);
    ck_assert(input_taken(&input, 0, 6));
    ck_assert_uint_eq(input_room(&input), 6);
    input_end(&input);
    ck_assert_uint_eq(input_room(&input), 0);
    expect(INPUT_AHEAD, "", true);
    expect_nothing();
}
END_TEST

START_TEST(given_again)
{
    input_taken(&input, 0, 0);
    add("one two three");
    expect(0, "one two three", false);
    input_mark(&input, NAME(1, 1), 4);
    input_commit(&input, NAME(1, 1));
    input_mark(&input, NAME(2, 1), 8); /* which fails */
    input_end(&input);
    expect(13, "", true);
    input_close(&input);
    expect_nothing();
    ck_assert(input_taken(&input, 0, 4));
    expect(4, "two three", true);
    input_mark(&input, NAME(2, 2), 8);
    input_commit(&input, NAME(2, 2));
    input_close(&input);
    ck_assert(input_taken(&input, 0, 4)); /* the newest is damaged */
    expect(4, "two three", true);
}
END_TEST

START_TEST(kept_as_long_as_snapshots)
{
    static char much[1 << 20]; /* more than fits into its memory */
    struct wire_input piece;
    uint64_t sent = 0;

    for (size_t i = 0; i < sizeof much; i++)
        much[i] = (char)(i * i >> 7);
    input_taken(&input, 0, 0);
    ck_assert_int_eq(input_add(&input, much, sizeof much), 0);
    while (input_next(&input, 0, &piece)) {
        ck_assert_mem_eq(piece.data.data, much + sent, piece.data.size);
        sent += piece.data.size;
        input_taken(&input, 0, sent);
    }
    ck_assert_uint_eq(sent, sizeof much);
    for (uint32_t i = 1; i <= 40; i++) {
        input_mark(&input, NAME(i, 1), i * 10000);
        if (i % 5 != 0) /* the others fail */
            input_commit(&input, NAME(i, 1));
    }
    input_close(&input);
    ck_assert(!input_taken(&input, 0, 370000));
    ck_assert(input_taken(&input, 0, 380000)); /* the last but one */
    ck_assert(input_next(&input, 0, &piece));
    ck_assert_uint_eq(piece.position, 380000);
    ck_assert_mem_eq(piece.data.data, much + 380000, piece.data.size);
}
END_TEST

/* Each tells where it was. */
START_TEST(replicas_of_the_reader)
{
    input_taken(&input, 0, 0);
    add("one two three");
    expect(0, "one two three", false);
    for (uint32_t i = 1; i <= 2; i++) {
        for (int replica = 0; replica < 3; replica++)
            input_mark(&input, NAME(i, 1), 4 * i);
        input_commit(&input, NAME(i, 1));
        input_mark(&input, NAME(i, 1), 4 * i);
    }
    input_close(&input);
    ck_assert(input_taken(&input, 0, 4)); /* the last but one */
    expect(4, "two three", false);
}
END_TEST

/* One that is slow has not confirmed newer snapshots yet. */
START_TEST(an_older_one_that_is_right)
{
    input_taken(&input, 0, 0);
    add("as many bytes as there will be snapshots now");
    expect(0, "as many bytes as there will be snapshots now", false);
    for (uint32_t i = 1; i <= 40; i++) {
        input_mark(&input, NAME(i, 1), i);
        if (i >= 3)
            input_spare(&input, NAME(3, 1));
        if (i != 20)
            input_commit(&input, NAME(i, 1));
    }
    input_close(&input);
    ck_assert(!input_taken(&input, 0, 2));
    ck_assert(input_taken(&input, 0, 3));
    expect(3, "many bytes as there will be snapshots now", false);
    input_spare(&input, NAME(39, 1));
    input_mark(&input, NAME(41, 1), 41);
    input_commit(&input, NAME(41, 1));
    input_close(&input);
    ck_assert(!input_taken(&input, 0, 3));
    ck_assert(input_taken(&input, 0, 39));
}
END_TEST

/* ... and the job goes back to it: those that it would have gone on to do not count any more. */
START_TEST(back_to_an_older_one)
{
    input_taken(&input, 0, 0);
    add("as many bytes as there will be snapshots now");
    expect(0, "as many bytes as there will be snapshots now", false);
    for (uint32_t i = 1; i <= 40; i++) {
        input_mark(&input, NAME(i, 1), i);
        input_spare(&input, NAME(3, 1));
        input_commit(&input, NAME(i, 1));
    }
    input_close(&input);
    input_begin_at(&input, NAME(3, 1));
    ck_assert(input_taken(&input, 0, 3));
    expect(3, "many bytes as there will be snapshots now", false);
    input_mark(&input, NAME(4, 2), 4);
    input_spare(&input, NAME(4, 2));
    input_commit(&input, NAME(4, 2));
    input_close(&input);
    ck_assert(input_taken(&input, 0, 3));
}
END_TEST

/* A restarted job has no mark of the snapshot that it went on from. */
START_TEST(one_before_the_first_mark)
{
    input_taken(&input, 0, 0);
    add("input");
    expect(0, "input", false);
    for (uint32_t i = 8; i <= 12; i++) {
        input_mark(&input, NAME(i, 2), i - 7);
        input_spare(&input, NAME(7, 1));
        input_commit(&input, NAME(i, 2));
    }
    input_close(&input);
    ck_assert(input_taken(&input, 0, 0));
    expect(0, "input", false);
}
END_TEST

START_TEST(all_snapshots_are_kept)
{
    input_free(&input);
    ck_assert(input_init(&input, 0, 65536, new_file, NULL));
    input_taken(&input, 0, 0);
    add("all");
    expect(0, "all", false);
    for (uint32_t i = 1; i <= 40; i++) {
        input_mark(&input, NAME(i, 1), 3);
        input_commit(&input, NAME(i, 1));
    }
    input_close(&input);
    ck_assert(input_taken(&input, 0, 0));
    expect(0, "all", false);
}
END_TEST

START_TEST(restarted_with_its_own)
{
    ck_assert(input_taken(&input, 0, 9));
    ck_assert_uint_eq(input_room(&input), 9);
    add("one t");
    expect_nothing();
    ck_assert_uint_eq(input_room(&input), 4);
    add("wo three");
    expect(9, "hree", false);
    input_close(&input);
    ck_assert(input_taken(&input, 0, 9));
    expect(9, "hree", false);
    ck_assert_uint_eq(input_room(&input), INPUT_AHEAD - 4);
}
END_TEST

START_TEST(much_at_once)
{
    char *much = calloc(3, WIRE_CHUNK_MAX);
    struct wire_input piece;
    uint64_t position = 0;

    input_taken(&input, 0, 0);
    ck_assert_int_eq(input_add(&input, much, 3 * WIRE_CHUNK_MAX), 0);
    input_end(&input);
    while (input_next(&input, 0, &piece)) {
        ck_assert_uint_eq(piece.position, position);
        position += piece.data.size;
        ck_assert(piece.end == (position == 3 * WIRE_CHUNK_MAX));
        ck_assert(input_taken(&input, 0, position));
    }
    ck_assert_uint_eq(position, 3 * WIRE_CHUNK_MAX);
    free(much);
}
END_TEST

static void expect_of(unsigned reader, uint64_t position, const char *text)
{
    struct wire_input piece;

    ck_assert(input_next(&input, reader, &piece));
    ck_assert_uint_eq(piece.position, position);
    ck_assert_uint_eq(piece.data.size, strlen(text));
    ck_assert_mem_eq(piece.data.data, text, strlen(text));
}

/* Each gets all of it, whatever the others have got; one that is lost is not waited for. */
START_TEST(several_readers)
{
    struct wire_input piece;

    input_taken(&input, 0, 0);
    input_taken(&input, 2, 0);
    add("one ");
    expect_of(0, 0, "one ");
    input_taken(&input, 0, 4);
    add("two ");
    expect_of(0, 4, "two ");
    input_taken(&input, 0, 8);
    input_mark(&input, NAME(5, 1), 8);
    input_commit(&input, NAME(5, 1));
    input_mark(&input, NAME(6, 1), 8);
    input_commit(&input, NAME(6, 1));
    expect_of(2, 0, "one two "); /* both snapshots are past it, but this reader is not */
    ck_assert(!input_next(&input, 2, &piece));
    ck_assert_uint_eq(input_room(&input), INPUT_AHEAD); /* after what the first has taken */
    input_leave(&input, 0);
    ck_assert(input_is_open(&input));
    ck_assert_uint_eq(input_room(&input), INPUT_AHEAD - 8);
    input_end(&input);
    ck_assert(input_next(&input, 2, &piece) && piece.end && piece.data.size == 0);
    input_close(&input);
    ck_assert(!input_is_open(&input));
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {read_when_asked_for,
                                  given_again,
                                  kept_as_long_as_snapshots,
                                  replicas_of_the_reader,
                                  an_older_one_that_is_right,
                                  back_to_an_older_one,
                                  one_before_the_first_mark,
                                  all_snapshots_are_kept,
                                  restarted_with_its_own,
                                  much_at_once,
                                  several_readers};

    return suite_run_tests("input", tests, sizeof tests / sizeof *tests, set_up, tear_down);
}
