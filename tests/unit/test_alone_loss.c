/* test_alone_loss.c - which processes are restarted alone, and what of their output is a
 * repetition.
 */
#include <check.h>
#include <string.h>

#include "bsprun/agent/core/repeats.h"
#include "bsprun/agent/snapshot/alone_loss.h"
#include "tests/unit/suite.h"

static const struct alone_facts good = {
    .wanted = true, .suits = true, .runs = true, .has_image = true};

START_TEST(who_is_restarted_alone)
{
    struct alone_facts facts = good;

    ck_assert_int_eq(alone_judge(&facts), ALONE_RESTARTED);
    facts.restarts = ALONE_MOST - 1;
    ck_assert_int_eq(alone_judge(&facts), ALONE_RESTARTED);
    facts.restarts = ALONE_MOST;
    ck_assert_int_eq(alone_judge(&facts), ALONE_TOO_OFTEN);
    facts.shares = true;
    ck_assert_int_eq(alone_judge(&facts), ALONE_SHARES);
    facts.at_barrier = true;
    ck_assert_int_eq(alone_judge(&facts), ALONE_AT_BARRIER);
    facts.has_image = false;
    ck_assert_int_eq(alone_judge(&facts), ALONE_UNSAVED);
}
END_TEST

START_TEST(who_never_is)
{
    struct alone_facts unwanted = good, other = good, stopped = good;

    unwanted.wanted = false;
    other.suits = false;
    stopped.runs = false;
    ck_assert_int_eq(alone_judge(&unwanted), ALONE_UNWANTED);
    ck_assert_int_eq(alone_judge(&other), ALONE_UNWANTED);
    ck_assert_int_eq(alone_judge(&stopped), ALONE_UNWANTED);
}
END_TEST

/* Whoever asks why gets an answer, unless the end of the job gives it. */
START_TEST(reasons)
{
    for (int i = 0; i < ALONE_VERDICTS; i++)
        ck_assert_int_eq(alone_reason((enum alone_verdict)i)[0] != '\0', i >= ALONE_AT_BARRIER);
}
END_TEST

/* What was recorded counts when it is there, unless the process went on from an older one since. */
START_TEST(which_image_counts)
{
    struct alone_images images;
    uint64_t request = 0;

    alone_images_begin(&images, IMAGE_TOGETHER);
    ck_assert_uint_eq(images.newest.request, 1);
    alone_images_recorded(&images, IMAGE_OWN, 5);
    ck_assert(!alone_images_there(&images, IMAGE_TOGETHER, &request)); /* an earlier one, of all */
    ck_assert(!alone_images_there(&images, IMAGE_NONE, &request));
    alone_images_restarted(&images);
    ck_assert_uint_eq(images.newest.request, 1);
    ck_assert_uint_eq(images.restarts, 1);
    ck_assert(!alone_images_there(&images, IMAGE_OWN, &request));
    alone_images_recorded(&images, IMAGE_TOGETHER, 7);
    ck_assert(alone_images_there(&images, IMAGE_TOGETHER, &request));
    ck_assert_uint_eq(request, 7);
    ck_assert_uint_eq(images.restarts, 0);
    ck_assert(!alone_images_there(&images, IMAGE_TOGETHER, &request));
}
END_TEST

/* Else no other process would be saved until it has written it. */
START_TEST(who_writes_no_more)
{
    ck_assert(!alone_writer_is_lost(BSPZ_SNAP_NOBODY, false)); /* it does so itself */
    ck_assert(!alone_writer_is_lost(BSPZ_SNAP_MADE, false));
    ck_assert(!alone_writer_is_lost(BSPZ_SNAP_HELD, true));
    ck_assert(!alone_writer_is_lost(BSPZ_SNAP_ENTERED, true));
    ck_assert(!alone_writer_is_lost(BSPZ_SNAP_WITHDRAWN, false));
    ck_assert(alone_writer_is_lost(BSPZ_SNAP_HELD, false));
    ck_assert(alone_writer_is_lost(BSPZ_SNAP_ENTERED, false));
    ck_assert(alone_writer_is_lost(BSPZ_SNAP_REFUSED, false));
}
END_TEST

static struct repeats *repeats;
static bool differs;

static void set_up(void)
{
    repeats = repeats_new(2);
    ck_assert_ptr_nonnull(repeats);
    differs = false;
}

static void tear_down(void)
{
    repeats_free(repeats);
}

static size_t known(int pid, int stream, const char *text)
{
    return repeats_take(repeats, pid, stream, text, strlen(text), &differs);
}

START_TEST(the_same_again)
{
    ck_assert_uint_eq(known(1, 1, "abc"), 0);
    ck_assert_uint_eq(known(1, 2, "error"), 0);
    ck_assert_uint_eq(known(0, 1, "other"), 0);
    repeats_begin(repeats, 1);
    ck_assert_uint_eq(known(1, 1, "ab"), 2);
    ck_assert_uint_eq(known(1, 1, "cdef"), 1); /* and then it is new */
    ck_assert_uint_eq(known(1, 1, "g"), 0);
    ck_assert_uint_eq(known(1, 2, "error"), 5);
    ck_assert_uint_eq(known(0, 1, "other"), 0);
    repeats_begin(repeats, 1);
    ck_assert_uint_eq(known(1, 1, "abcdefgh"), 7);
    ck_assert(!differs);
    ck_assert_uint_eq(known(-1, 1, "abc"), 0);
    ck_assert_uint_eq(repeats_take(NULL, 1, 1, "abc", 3, &differs), 0);
}
END_TEST

START_TEST(lost_again_while_it_repeats)
{
    known(1, 1, "abcdef");
    repeats_begin(repeats, 1);
    ck_assert_uint_eq(known(1, 1, "abc"), 3);
    repeats_begin(repeats, 1);
    ck_assert_uint_eq(known(1, 1, "abcdefg"), 6);
    ck_assert(!differs);
}
END_TEST

START_TEST(from_an_image)
{
    known(1, 1, "before");
    repeats_mark(repeats, 1);
    known(1, 1, "after");
    repeats_begin(repeats, 1); /* the image was not there in time */
    ck_assert_uint_eq(known(1, 1, "beforeafter"), 11);
    repeats_mark(repeats, 1);
    known(1, 1, "more");
    repeats_forget(repeats, 1);
    known(1, 1, "still more");
    repeats_begin(repeats, 1);
    ck_assert_uint_eq(known(1, 1, "morestill more!"), 14);
    ck_assert(!differs);
    repeats_clear(repeats);
    repeats_begin(repeats, 1);
    ck_assert_uint_eq(known(1, 1, "more"), 0);
}
END_TEST

START_TEST(something_else)
{
    known(1, 1, "abcdef");
    repeats_begin(repeats, 1);
    ck_assert_uint_eq(known(1, 1, "abX"), 3);
    ck_assert(!differs); /* it is known when all of it is there */
    ck_assert_uint_eq(known(1, 1, "def"), 3);
    ck_assert(differs);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {
        who_is_restarted_alone, who_never_is,  which_image_counts, who_writes_no_more,
        reasons,                the_same_again, lost_again_while_it_repeats, from_an_image,
        something_else};

    return suite_run_tests("alone loss", tests, sizeof tests / sizeof *tests, set_up, tear_down);
}
