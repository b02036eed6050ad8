/* test_store_upkeep.c - the directory of snapshots over time: later terms, the end of the job, what
 * is removed. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/ckpt/store_play.h"
#include "tests/unit/suite.h"

/* ---- Terms ----------------------------------------------------------------------------------- */

START_TEST(what_is_newer_than_a_later_term_counts_no_more)
{
    snapshot(1, 1, true);
    snapshot(5, 1, true);
    snapshot(8, 1, true);
    ck_assert_int_eq(store_term_begin(store, 2, NAME(5, 1), 2, complaint), 0);
    expect_newest(5, 1);
    expect_list("1.1 5.1 8.1r");
    snapshot(7, 2, true);
    expect_newest(7, 2);
    /* By name back to the beginning, over both. */
    ck_assert_int_eq(store_term_begin(store, 4, NAME(1, 1), 3, complaint), 0);
    expect_newest(1, 1);
    expect_list("1.1 5.1r 7.2r 8.1r");
    snapshot(2, 4, true);
    expect_newest(2, 4);
    ck_assert_int_eq(store_term_begin(store, 5, NAME(0, 0), 3, complaint), 0);
    expect_list("1.1r 2.4r 5.1r 7.2r 8.1r");
    ck_assert_int_eq(store_term_begin(store, 5, NAME(1, 1), 3, complaint), -EINVAL);
    ck_assert_int_eq(store_term_begin(store, 3, NAME(0, 0), 3, complaint), -EINVAL);
}
END_TEST

START_TEST(a_retired_snapshot_stays_so_in_later_terms)
{
    snapshot(5, 1, true);
    snapshot(6, 1, true);
    ck_assert_int_eq(store_term_begin(store, 2, NAME(5, 1), 2, complaint), 0);
    snapshot(7, 2, true);
    ck_assert_int_eq(store_term_begin(store, 3, NAME(7, 2), 3, complaint), 0);
    expect_list("5.1 6.1r 7.2");
    expect_newest(7, 2);
}
END_TEST

/* A host that was not there when term 2 began has the snapshot that term 3 goes on from. */
START_TEST(a_term_is_put_on_record_that_this_host_has_missed)
{
    struct manifest_terms terms;

    snapshot(4, 1, true);
    ck_assert_int_eq(store_term_begin(store, 3, NAME(7, 2), 3, complaint), 0);
    snapshot(7, 2, true);
    snapshot(8, 2, true);
    snapshot(9, 3, true);
    ck_assert_int_eq(access(path_of("7.2/counts"), F_OK), 0);
    ck_assert_int_ne(access(path_of("8.2/counts"), F_OK), 0);
    /* From which snapshot term 2 began is not known here. */
    expect_list("4.1r 7.2 8.2r 9.3");
    expect_newest(9, 3);
    ck_assert_int_eq(store_terms(store, &terms, complaint), 0);
    ck_assert_uint_eq(terms.terms.count, 3);
    ck_assert_uint_eq(terms.terms.items[1].term, 2);
    ck_assert_uint_eq(terms.terms.items[1].from.term, 0);
    manifest_terms_free(&terms);
    /* More than one that it has missed, and one it had. */
    ck_assert_int_eq(store_term_begin(store, 7, NAME(10, 5), 4, complaint), 0);
    ck_assert_int_eq(store_term_begin(store, 8, NAME(9, 3), 5, complaint), 0);
    expect_list("4.1r 7.2 8.2r 9.3");
    snapshot(10, 8, true);
    expect_newest(10, 8);
}
END_TEST

/* Noting it has failed between the two files. */
START_TEST(a_term_is_noted_again)
{
    snapshot(5, 1, true);
    ck_assert_int_eq(mkdir(path_of("term.copy.tmp"), 0700), 0);
    ck_assert_int_lt(store_term_begin(store, 2, NAME(5, 1), 2, complaint), 0);
    ck_assert_int_eq(rmdir(path_of("term.copy.tmp")), 0);
    ck_assert_int_eq(store_term_begin(store, 2, NAME(5, 1), 3, complaint), 0);
    snapshot(7, 2, true);
    change_byte(path_of("term"), 30);
    expect_newest(7, 2);
}
END_TEST

START_TEST(without_the_records_of_terms_nothing_is_believed)
{
    uint64_t superstep;
    uint32_t term;

    snapshot(1, 1, true);
    change_byte(path_of("term"), 30);
    expect_newest(1, 1);
    change_byte(path_of("term.copy"), 30);
    ck_assert_int_eq(newest(&superstep, &term), -EBADMSG);
    ck_assert_ptr_nonnull(strstr(complaint, "record of terms damaged: wrong checksum"));
}
END_TEST

START_TEST(the_end_of_a_job_is_kept)
{
    struct manifest_finish finish = {
        .job = {store_sample_job, WIRE_JOB_SIZE}, .superstep = 8, .term = 1, .status = 3};

    ck_assert_int_eq(store_finished(store, &finish, complaint), -ENOENT);
    ck_assert_int_eq(store_finish(store, &finish, complaint), 0);
    finish.status = 0;
    ck_assert_int_eq(store_finished(store, &finish, complaint), 0);
    ck_assert_int_eq(finish.status, 3);
    manifest_finish_free(&finish);
}
END_TEST

/* ---- Tidying --------------------------------------------------------------------------------- */

START_TEST(pruning_but_for_one)
{
    size_t removed;

    for (uint64_t superstep = 0; superstep < 7; superstep++)
        snapshot(superstep, 1, superstep % 2 == 0);
    ck_assert_int_eq(
        store_prune_but(store, 1, (struct bspz_snapshot_name){3, 1}, &removed, complaint), 0);
    expect_list("2.1 3.1 6.1"); /* 3 needs 2 */
    ck_assert_int_eq(
        store_prune_but(store, 1, (struct bspz_snapshot_name){9, 1}, &removed, complaint), 0);
    expect_list("6.1");
}
END_TEST

START_TEST(pruning_keeps_the_newest_and_their_bases)
{
    size_t removed;

    snapshot(0, 1, true);
    snapshot(1, 1, true);
    for (uint64_t superstep = 2; superstep < 7; superstep++)
        snapshot(superstep, 1, superstep == 4);
    ck_assert_int_eq(store_prune(store, 0, &removed, complaint), -EINVAL);
    ck_assert_int_eq(store_prune(store, 7, &removed, complaint), 0);
    ck_assert_uint_eq(removed, 0);
    /* 6 and 5 need 4; 3 needs 2 and 1. */
    ck_assert_int_eq(store_prune(store, 4, &removed, complaint), 0);
    expect_list("1.1 2.1 3.1 4.1 5.1 6.1");
    ck_assert_int_eq(store_prune(store, 1, &removed, complaint), 0);
    ck_assert_uint_eq(removed, 3);
    expect_list("4.1 5.1 6.1");
    expect_newest(6, 1);
    snapshot(7, 1, true);
    snapshot(8, 1, true);
    ck_assert_int_eq(store_prune(store, 1, &removed, complaint), 0);
    expect_list("8.1");
}
END_TEST

/* One damaged image shall not take all that is kept with it. */
START_TEST(pruning_keeps_a_second_chain)
{
    static const enum store_role expected[] = {STORE_BASE,   STORE_BASE,  STORE_BASE,
                                               STORE_SECOND, STORE_BASE,  STORE_NEWEST,
                                               STORE_NEWEST, STORE_NEWEST};
    struct store_entry *entries;
    enum store_role roles[8];
    size_t removed, count;

    snapshot(1, 1, true);
    for (uint64_t superstep = 2; superstep < 12; superstep++)
        snapshot(superstep, 1, superstep % 4 == 0);
    ck_assert_int_eq(store_prune(store, 3, &removed, complaint), 0);
    /* 11 to 9 need 8; 7 is the newest that does not, and needs 6 to 4. */
    expect_list("4.1 5.1 6.1 7.1 8.1 9.1 10.1 11.1");
    snapshot(12, 1, true);
    ck_assert_int_eq(store_prune(store, 2, &removed, complaint), 0);
    expect_list("8.1 9.1 10.1 11.1 12.1");
    snapshot(13, 1, false);
    ck_assert_int_eq(store_prune(store, 2, &removed, complaint), 0);
    expect_list("8.1 9.1 10.1 11.1 12.1 13.1");
    snapshot(14, 1, false);
    snapshot(15, 1, false);
    ck_assert_int_eq(store_prune(store, 1, &removed, complaint), 0);
    expect_list("12.1 13.1 14.1 15.1");
    for (uint64_t superstep = 16; superstep < 20; superstep++)
        snapshot(superstep, 1, superstep == 16);
    ck_assert_int_eq(store_list(store, &entries, &count, complaint), 0);
    ck_assert_uint_eq(count, 8);
    ck_assert_int_eq(store_roles(store, entries, count, 3, roles, complaint), 0);
    ck_assert_mem_eq(roles, expected, sizeof(expected));
    free(entries);
}
END_TEST

/* Where one process begins its chain anew by itself, what the others build on is kept, and a base
 * is itself a snapshot to go on from. */
START_TEST(pruning_leaves_every_snapshot_whole)
{
    size_t removed;

    snapshot(1, 1, true);
    snapshot(2, 1, false);
    snapshot_of(3, 1, 1);
    snapshot(4, 1, false);
    snapshot(5, 1, true);
    snapshot(6, 1, false);
    snapshot(7, 1, false);
    /* 7 and 6 need 5; 4 needs 3 of the first process and 1 of the second. */
    ck_assert_int_eq(store_prune(store, 2, &removed, complaint), 0);
    expect_list("1.1 2.1 3.1 4.1 5.1 6.1 7.1");
    ck_assert_int_eq(store_prune(store, 1, &removed, complaint), 0);
    expect_list("5.1 6.1 7.1");
}
END_TEST

static void open_again(const struct store_io *io)
{
    store_close(store);
    ck_assert_int_eq(store_open(&store, directory, STORE_WRITE, io, complaint), 0);
    ck_assert_int_eq(store_job_open(store, NULL, complaint), 0);
}

static const char *unopened; /* this directory cannot be opened once; NULL: all can */

static int open_unless(void *context, int at, const char *name, int flags, mode_t mode)
{
    if (unopened && strcmp(name, unopened) == 0) {
        unopened = NULL;
        return -EIO;
    }
    return store_io_system.open(context, at, name, flags, mode);
}

/* What a manifest that cannot be read is based on is unknown, and may be needed once it can be. */
START_TEST(pruning_keeps_all_behind_a_base_that_cannot_be_read)
{
    struct store_io io = store_io_system;
    uint32_t keep = 1 + (uint32_t)_i / 3;
    size_t removed;

    io.open = open_unless;
    for (uint64_t superstep = 0; superstep < 6; superstep++)
        snapshot(superstep, 1, superstep < 2);
    open_again(&io);
    unopened = _i % 3 == 0 ? "3.1" : NULL;
    if (_i % 3 == 1)
        change_byte(path_of("3.1/manifest"), 40);
    if (_i % 3 == 2)
        ck_assert_int_eq(unlink(path_of("3.1/manifest")), 0);
    ck_assert_msg(store_prune(store, keep, &removed, complaint) == 0, "%s", complaint);
    ck_assert_ptr_null(unopened);
    ck_assert_uint_eq(removed, 0);
    ck_assert_msg(store_repair(store, NULL, NULL, complaint) == 0, "%s", complaint);
    expect_list("0.1 1.1 2.1 3.1 4.1 5.1");
    expect_newest(5, 1);
}
END_TEST

/* The same of the one that is to stay beside the newest. */
START_TEST(pruning_but_for_one_that_cannot_be_read)
{
    struct store_io io = store_io_system;
    size_t removed;

    io.open = open_unless;
    for (uint64_t superstep = 1; superstep < 6; superstep++)
        snapshot(superstep, 1, superstep == 1 || superstep > 3);
    open_again(&io);
    unopened = "3.1";
    ck_assert_msg(store_prune_but(store, 1, NAME(3, 1), &removed, complaint) == 0, "%s", complaint);
    ck_assert_ptr_null(unopened);
    expect_list("1.1 2.1 3.1 5.1");
    ck_assert_int_eq(store_prune_but(store, 1, NAME(0, 0), &removed, complaint), 0);
    expect_list("5.1");
}
END_TEST

/* What is lost for good does not keep the rest for ever. */
START_TEST(pruning_goes_on_when_a_damaged_base_is_not_needed)
{
    size_t removed;

    for (uint64_t superstep = 0; superstep < 6; superstep++)
        snapshot(superstep, 1, superstep < 2);
    change_byte(path_of("3.1/manifest"), 40);
    change_byte(path_of("3.1/manifest.copy"), 40);
    ck_assert_int_eq(store_prune(store, 2, &removed, complaint), 0);
    expect_list("0.1 1.1 2.1 3.1d 4.1 5.1");
    snapshot(6, 1, true);
    snapshot(7, 1, false);
    ck_assert_int_eq(store_prune(store, 1, &removed, complaint), 0);
    expect_list("6.1 7.1");
}
END_TEST

START_TEST(pruning_removes_what_is_retired_and_leaves_the_rest)
{
    struct store_snapshot *unfinished;
    size_t removed;

    snapshot(1, 1, true);
    snapshot(2, 1, true);
    snapshot(5, 1, true);
    ck_assert_int_eq(store_term_begin(store, 2, NAME(2, 1), 2, complaint), 0);
    snapshot(3, 2, true);
    snapshot(4, 2, true);
    change_byte(path_of("1.1/manifest"), 40);
    change_byte(path_of("2.1/manifest"), 8); /* another version */
    ck_assert_int_eq(store_snapshot_begin(store, NAME(6, 2), &unfinished, complaint), 0);
    expect_list("1.1d 2.1d 3.2 4.2 5.1r 6.2u");
    ck_assert_int_eq(store_prune(store, 1, &removed, complaint), 0);
    expect_list("2.1d 4.2 6.2u");
    ck_assert_uint_eq(removed, 3);
    store_snapshot_abandon(unfinished);
}
END_TEST

START_TEST(a_base_of_another_term_is_kept_too)
{
    size_t removed;

    snapshot(1, 1, true);
    snapshot(2, 1, false);
    ck_assert_int_eq(store_term_begin(store, 2, NAME(2, 1), 2, complaint), 0);
    snapshot(3, 2, false);
    ck_assert_int_eq(store_prune(store, 1, &removed, complaint), 0);
    expect_list("1.1 2.1 3.2");
}
END_TEST

START_TEST(leftovers_are_swept)
{
    static const char *const left[] = {"4.1/0.img.tmp", "4.1/1.img", "3.1/manifest.tmp",
                                       "3.1/7.img.tmp", "term.tmp"};
    size_t removed;

    snapshot(3, 1, true);
    ck_assert_int_eq(mkdir(path_of("4.1"), 0700), 0);
    ck_assert_int_eq(mkdir(path_of("notes"), 0700), 0);
    for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
        close(open(path_of(left[i]), O_WRONLY | O_CREAT, 0600));
    ck_assert_int_eq(store_sweep(store, &removed, complaint), 0);
    ck_assert_uint_eq(removed, 4);
    for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
        ck_assert_int_eq(access(path_of(left[i]), F_OK), -1);
    ck_assert_int_eq(access(path_of("notes"), F_OK), 0);
    expect_list("3.1");
    expect_newest(3, 1);
    ck_assert_int_eq(store_sweep(store, &removed, complaint), 0);
    ck_assert_uint_eq(removed, 0);
}
END_TEST

/* Somebody else removes each file just before. */
static int too_late(void *context, int at, const char *name, int flags)
{
    ck_assert_int_eq(unlinkat(at, name, flags), 0);
    return store_io_system.unlink(context, at, name, flags);
}

START_TEST(leftovers_that_others_sweep_too)
{
    static const char *const left[] = {"4.1/0.img.tmp", "3.1/manifest.tmp", "3.1/7.img.tmp",
                                       "term.tmp"};
    struct store_io io = store_io_system;
    size_t removed;

    io.unlink = too_late;
    snapshot(3, 1, true);
    ck_assert_int_eq(mkdir(path_of("4.1"), 0700), 0);
    for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
        close(open(path_of(left[i]), O_WRONLY | O_CREAT, 0600));
    open_again(&io);
    ck_assert_msg(store_sweep(store, &removed, complaint) == 0, "%s", complaint);
    ck_assert_uint_eq(removed, 0);
    for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
        ck_assert_int_eq(access(path_of(left[i]), F_OK), -1);
    expect_newest(3, 1);
}
END_TEST

START_TEST(snapshots_that_others_remove_too)
{
    struct store_io io = store_io_system;
    size_t removed;

    io.unlink = too_late;
    for (uint64_t superstep = 1; superstep < 5; superstep++)
        snapshot(superstep, 1, true);
    open_again(&io);
    ck_assert_msg(store_prune(store, 1, &removed, complaint) == 0, "%s", complaint);
    ck_assert_uint_eq(removed, 0);
    expect_list("4.1");
    ck_assert_int_eq(store_job_remove(store, complaint), 0);
    ck_assert_int_ne(access(path_of("."), F_OK), 0);
}
END_TEST

static unsigned manifests; /* that can still be opened */

static int open_few(void *context, int at, const char *name, int flags, mode_t mode)
{
    if (strcmp(name, "manifest") == 0 && manifests-- == 0)
        return -ENOENT;
    return store_io_system.open(context, at, name, flags, mode);
}

/* What the list says is out of date then: whoever removes it knows what is to be kept. */
START_TEST(snapshots_that_others_remove_first)
{
    struct store_io io = store_io_system;
    size_t removed;

    io.open = open_few;
    for (uint64_t superstep = 1; superstep < 4; superstep++)
        snapshot(superstep, 1, true);
    open_again(&io);
    manifests = 3; /* those that are listed */
    ck_assert_msg(store_prune(store, 1, &removed, complaint) == 0, "%s", complaint);
    ck_assert_uint_eq(removed, 0);
    manifests = 3;
    expect_list("1.1 2.1 3.1");
}
END_TEST

static unsigned too_early; /* so often the manifest is not there yet */

static int open_too_early(void *context, int at, const char *name, int flags, mode_t mode)
{
    if (strcmp(name, "manifest") == 0 && too_early > 0 && too_early-- == 1)
        return -ENOENT;
    return store_io_system.open(context, at, name, flags, mode);
}

/* It is committed between the looks for the manifest and for its copy. */
START_TEST(a_snapshot_that_is_committed_meanwhile_is_kept)
{
    struct store_io io = store_io_system;
    size_t removed;

    io.open = open_too_early;
    for (uint64_t superstep = 1; superstep < 4; superstep++)
        snapshot(superstep, 1, true);
    open_again(&io);
    too_early = 3;
    ck_assert_msg(store_prune(store, 1, &removed, complaint) == 0, "%s", complaint);
    expect_list("3.1");
    ck_assert_uint_eq(removed, 2);
    expect_newest(3, 1);
    ck_assert_int_eq(unlink(path_of("3.1/manifest")), 0);
    expect_list("3.1d");
}
END_TEST

static int open_all_but_one(void *context, int at, const char *name, int flags, mode_t mode)
{
    return strcmp(name, "2.1") == 0 ? -ENOENT
                                    : store_io_system.open(context, at, name, flags, mode);
}

START_TEST(what_is_removed_meanwhile_is_not_listed)
{
    struct store_io io = store_io_system;

    io.open = open_all_but_one;
    for (uint64_t superstep = 1; superstep < 4; superstep++)
        snapshot(superstep, 1, true);
    ck_assert(!store_is_removed(store, NAME(2, 1)));
    open_again(&io);
    expect_list("1.1 3.1");
    ck_assert(store_is_removed(store, NAME(2, 1)));
    ck_assert(!store_is_removed(store, NAME(3, 1)));
}
END_TEST

START_TEST(a_job_without_snapshots_can_be_discarded)
{
    ck_assert_str_eq(store_path(store), directory);
    ck_assert_int_ge(store_lock(store), 0);
    snapshot(3, 1, true);
    ck_assert_int_eq(store_job_discard(store, complaint), 0);
    ck_assert_int_eq(access(path_of("term"), F_OK), 0); /* it has one */
    ck_assert_int_eq(unlink(path_of("3.1/manifest")), 0);
    ck_assert_int_eq(unlink(path_of("3.1/manifest.copy")), 0);
    ck_assert_int_eq(store_job_discard(store, complaint), 0);
    ck_assert_int_ne(access(path_of("."), F_OK), 0);
    ck_assert_int_eq(store_job_open(store, NULL, complaint), -ENOENT);
}
END_TEST

/* Whoever put a directory there is told, before anything is lost. */
START_TEST(nothing_is_removed_around_what_is_not_of_the_job)
{
    static const char *const foreign[] = {"new", "2.1/new", "2.1/3.1"};

    snapshot(1, 1, true);
    snapshot(2, 1, true);
    snapshot(3, 1, true);
    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
        char *path = strdup(path_of(foreign[i]));

        ck_assert_int_eq(mkdir(path, 0700), 0);
        ck_assert_int_eq(store_job_remove(store, complaint), -ENOTEMPTY);
        ck_assert_ptr_nonnull(strstr(complaint, foreign[i]));
        ck_assert_ptr_nonnull(strstr(complaint, "move it away"));
        expect_list("1.1 2.1 3.1");
        if (foreign[i][0] == '2') {
            ck_assert_int_lt(store_prune(store, 1, NULL, complaint), 0);
            ck_assert_ptr_nonnull(strstr(complaint, "snapshot 2.1 cannot be removed"));
            ck_assert_ptr_nonnull(strstr(complaint, foreign[i] + strlen("2.1/")));
            expect_list("1.1 2.1 3.1");
        }
        ck_assert_int_eq(rmdir(path), 0);
        free(path);
    }
    ck_assert_int_eq(store_job_remove(store, complaint), 0);
    ck_assert_int_eq(access(path_of("."), F_OK), -1);
}
END_TEST

START_TEST(names_that_are_nearly_snapshots_are_left_alone)
{
    static const char *const names[] = {"03.1", "3.01", "+3.1", "3.1x",
                                        "3",    "3.",   ".1",   "3.4294967296"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        ck_assert_int_eq(mkdir(path_of(names[i]), 0700), 0);
    expect_list("");
    ck_assert_int_eq(store_sweep(store, NULL, complaint), 0);
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        ck_assert_int_eq(access(path_of(names[i]), F_OK), 0);
}
END_TEST

START_TEST(an_interrupted_snapshot_may_be_taken_again)
{
    ck_assert_int_eq(mkdir(path_of("4.1"), 0700), 0);
    close(open(path_of("4.1/0.img.tmp"), O_WRONLY | O_CREAT, 0600));
    close(open(path_of("4.1/9.img"), O_WRONLY | O_CREAT, 0600));
    snapshot(4, 1, true);
    expect_newest(4, 1);
    ck_assert_int_eq(access(path_of("4.1/9.img"), F_OK), -1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store upkeep");
    TCase *tests = tcase_create("store upkeep");

    store_sample_scratch();
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, what_is_newer_than_a_later_term_counts_no_more);
    tcase_add_test(tests, a_retired_snapshot_stays_so_in_later_terms);
    tcase_add_test(tests, a_term_is_put_on_record_that_this_host_has_missed);
    tcase_add_test(tests, a_term_is_noted_again);
    tcase_add_test(tests, without_the_records_of_terms_nothing_is_believed);
    tcase_add_test(tests, the_end_of_a_job_is_kept);
    tcase_add_test(tests, pruning_but_for_one);
    tcase_add_test(tests, pruning_keeps_the_newest_and_their_bases);
    tcase_add_test(tests, pruning_keeps_a_second_chain);
    tcase_add_test(tests, pruning_leaves_every_snapshot_whole);
    tcase_add_loop_test(tests, pruning_keeps_all_behind_a_base_that_cannot_be_read, 0, 6);
    tcase_add_test(tests, pruning_but_for_one_that_cannot_be_read);
    tcase_add_test(tests, pruning_goes_on_when_a_damaged_base_is_not_needed);
    tcase_add_test(tests, pruning_removes_what_is_retired_and_leaves_the_rest);
    tcase_add_test(tests, a_base_of_another_term_is_kept_too);
    tcase_add_test(tests, leftovers_are_swept);
    tcase_add_test(tests, leftovers_that_others_sweep_too);
    tcase_add_test(tests, snapshots_that_others_remove_too);
    tcase_add_test(tests, snapshots_that_others_remove_first);
    tcase_add_test(tests, what_is_removed_meanwhile_is_not_listed);
    tcase_add_test(tests, a_snapshot_that_is_committed_meanwhile_is_kept);
    tcase_add_test(tests, a_job_without_snapshots_can_be_discarded);
    tcase_add_test(tests, nothing_is_removed_around_what_is_not_of_the_job);
    tcase_add_test(tests, names_that_are_nearly_snapshots_are_left_alone);
    tcase_add_test(tests, an_interrupted_snapshot_may_be_taken_again);
    suite_add_tcase(suite, tests);

    return suite_run(suite);
}
