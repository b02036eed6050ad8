/* test_store_repair.c - the directory of snapshots after files of it were lost: what is noticed,
 * what is put together, and what is not. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/ckpt/store_play.h"
#include "tests/unit/suite.h"

static char told[2048]; /* "FILE FILE ..." */

static void note_file(void *context, const char *file, const char *text)
{
    (void)context;
    ck_assert_str_ne(text, "");
    strcat(told, told[0] ? " " : "");
    strcat(told, file);
}

static void expect_survey(const char *files)
{
    told[0] = '\0';
    /* As anybody else: the lock is this program's. */
    struct store *reader;
    ck_assert_int_eq(store_open(&reader, directory, STORE_READ, NULL, complaint), 0);
    ck_assert_int_eq(store_job_open(reader, NULL, complaint), 0);
    store_survey(reader, note_file, NULL);
    store_close(reader);
    ck_assert_str_eq(told, files);
}

static void expect_repair(const char *files)
{
    told[0] = '\0';
    ck_assert_msg(store_repair(store, note_file, NULL, complaint) == 0, "%s", complaint);
    ck_assert_str_eq(told, files);
    told[0] = '\0';
    ck_assert_int_eq(store_repair(store, note_file, NULL, complaint), 0);
    ck_assert_str_eq(told, "");
}

static void remove_file(const char *name)
{
    ck_assert_int_eq(unlink(path_of(name)), 0);
}

/* Opens the store anew, as the next program does. */
static void reopen(void)
{
    store_close(store);
    ck_assert_msg(store_open(&store, directory, STORE_WRITE, NULL, complaint) == 0, "%s",
                  complaint);
    ck_assert_msg(store_job_open(store, NULL, complaint) == 0, "%s", complaint);
}

/* 1.1 5.1 7.2, and 8.1, which term 2 has retired. */
static void play_two_terms(void)
{
    snapshot(1, 1, true);
    snapshot(5, 1, true);
    snapshot(8, 1, true);
    ck_assert_int_eq(store_term_begin(store, 2, NAME(5, 1), 2, complaint), 0);
    snapshot(7, 2, true);
}

/* ---- Terms ----------------------------------------------------------------------------------- */

START_TEST(one_record_of_terms_is_enough)
{
    static const char *const names[] = {"term", "term.copy"};

    play_two_terms();
    for (size_t i = 0; i < 2; i++) {
        remove_file(names[i]);
        reopen();
        expect_list("1.1 5.1 7.2 8.1r");
        expect_survey(names[i]);
        expect_repair(names[i]);
        change_byte(path_of(names[i]), -1);
        reopen();
        expect_newest(7, 2);
        expect_survey(names[i]);
        expect_repair(names[i]);
        expect_survey("");
    }
}
END_TEST

START_TEST(of_two_records_the_longer_one_is_believed)
{
    char path[512], old[512];

    snapshot(1, 1, true);
    snapshot(2, 1, true);
    strcpy(path, path_of("term.copy"));
    strcpy(old, path_of("old"));
    ck_assert_int_eq(link(path, old), 0);
    ck_assert_int_eq(store_term_begin(store, 2, NAME(1, 1), 2, complaint), 0);
    ck_assert_int_eq(rename(old, path), 0); /* as if the machine had stopped between them */
    reopen();
    expect_list("1.1 2.1r");
    expect_repair("term.copy");
    expect_list("1.1 2.1r");
}
END_TEST

static void lose_records(void)
{
    remove_file("term");
    change_byte(path_of("term.copy"), 40);
    reopen();
}

START_TEST(terms_are_made_again_from_manifests)
{
    struct manifest_terms terms;
    struct store_entry *entries;
    size_t count;

    play_two_terms();
    lose_records();
    ck_assert_int_eq(store_list(store, &entries, &count, complaint), -ENOENT);
    ck_assert_ptr_nonnull(strstr(complaint, "bspckpt repair"));
    ck_assert_int_eq(store_list_all(store, &entries, &count, complaint), 0);
    ck_assert_uint_eq(count, 4);
    ck_assert_int_eq(entries[3].state, STORE_UNKNOWN);
    free(entries);
    expect_survey("term term.copy");
    expect_repair("term");
    expect_list("1.1 5.1 7.2 8.1r");
    expect_newest(7, 2);
    ck_assert_int_eq(store_terms(store, &terms, complaint), 0);
    ck_assert_mem_eq(terms.job.data, store_sample_job, WIRE_JOB_SIZE);
    ck_assert_uint_gt(terms.terms.items[terms.terms.count - 1].term, 100);
    manifest_terms_free(&terms);
}
END_TEST

/* A term that has left nothing but what it retired. */
START_TEST(what_a_term_without_snapshots_retired_stays_so)
{
    snapshot(1, 1, true);
    snapshot(5, 1, true);
    ck_assert_int_eq(store_term_begin(store, 2, NAME(1, 1), 2, complaint), 0);
    lose_records();
    expect_repair("term");
    expect_list("1.1 5.1r");
    expect_newest(1, 1);
}
END_TEST

START_TEST(what_came_too_late_to_count_is_not_believed)
{
    struct store_entry *entries;
    size_t count;

    snapshot(1, 1, true);
    ck_assert_int_eq(store_term_begin(store, 2, NAME(1, 1), 2, complaint), 0);
    snapshot(5, 1, true); /* by a host that was cut off */
    snapshot(3, 2, true);
    expect_list("1.1 3.2 5.1r");
    lose_records();
    expect_repair("term");
    expect_list("1.1 3.2 5.1r");
    ck_assert_int_eq(store_list(store, &entries, &count, complaint), 0);
    free(entries);
}
END_TEST

/* As older versions left them. */
START_TEST(snapshots_of_which_nothing_is_known_are_not_trusted)
{
    snapshot(1, 1, true);
    snapshot(5, 1, true);
    remove_file("1.1/counts");
    remove_file("5.1/counts");
    lose_records();
    ck_assert_int_eq(store_repair(store, note_file, NULL, complaint), -ENOENT);
    ck_assert_ptr_nonnull(strstr(complaint, "for no snapshot is it certain"));
}
END_TEST

/* ---- Manifests ------------------------------------------------------------------------------- */

START_TEST(a_removed_manifest_is_put_back)
{
    size_t removed;

    snapshot(1, 1, true);
    snapshot(2, 1, false);
    snapshot(3, 1, false);
    remove_file("2.1/manifest");
    expect_list("1.1 2.1d 3.1");
    ck_assert_int_eq(store_sweep(store, &removed, complaint), 0);
    ck_assert_uint_eq(removed, 0);
    change_byte(path_of("3.1/manifest"), 50);
    expect_newest(1, 1);
    ck_assert_ptr_nonnull(strstr(note, "bspckpt repair puts it back"));
    expect_repair("2.1/manifest 3.1/manifest");
    expect_newest(3, 1);
    ck_assert_str_eq(note, "");
}
END_TEST

START_TEST(a_manifest_is_not_put_back_over_other_images)
{
    snapshot(1, 1, true);
    snapshot(2, 1, true);
    remove_file("2.1/manifest");
    ck_assert_int_eq(truncate(path_of("2.1/1.img"), 100), 0);
    expect_repair("");
    expect_list("1.1 2.1d");
    remove_file("2.1/1.img");
    expect_repair("");
    expect_newest(1, 1);
}
END_TEST

START_TEST(a_retired_snapshot_whose_manifest_is_put_back_stays_retired)
{
    play_two_terms();
    remove_file("8.1/manifest");
    expect_repair("8.1/manifest");
    expect_list("1.1 5.1 7.2 8.1r");
    expect_newest(7, 2);
}
END_TEST

START_TEST(images_without_a_manifest_are_told_of)
{
    snapshot(1, 1, true);
    snapshot(2, 1, true);
    remove_file("2.1/manifest");
    remove_file("2.1/manifest.copy");
    store_close(store);
    store = NULL;
    expect_survey("2.1");
    ck_assert_int_eq(store_open(&store, directory, STORE_WRITE, NULL, complaint), 0);
    ck_assert_int_eq(store_job_open(store, NULL, complaint), 0);
    expect_survey(""); /* locked: it may be in the making */
    expect_repair("");
    expect_list("1.1 2.1u");
}
END_TEST

START_TEST(removing_leaves_no_copy_behind)
{
    struct stat about;

    snapshot(1, 1, true);
    snapshot(2, 1, true);
    ck_assert_int_eq(stat(path_of("1.1/manifest.copy"), &about), 0);
    ck_assert_int_eq(store_prune(store, 1, NULL, complaint), 0);
    ck_assert_int_ne(stat(path_of("1.1"), &about), 0);
    expect_list("2.1");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store repair");
    TCase *cases = tcase_create("repair");

    store_sample_scratch();
    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_set_timeout(cases, 60);
    tcase_add_test(cases, one_record_of_terms_is_enough);
    tcase_add_test(cases, of_two_records_the_longer_one_is_believed);
    tcase_add_test(cases, terms_are_made_again_from_manifests);
    tcase_add_test(cases, what_a_term_without_snapshots_retired_stays_so);
    tcase_add_test(cases, what_came_too_late_to_count_is_not_believed);
    tcase_add_test(cases, snapshots_of_which_nothing_is_known_are_not_trusted);
    tcase_add_test(cases, a_removed_manifest_is_put_back);
    tcase_add_test(cases, a_manifest_is_not_put_back_over_other_images);
    tcase_add_test(cases, a_retired_snapshot_whose_manifest_is_put_back_stays_retired);
    tcase_add_test(cases, images_without_a_manifest_are_told_of);
    tcase_add_test(cases, removing_leaves_no_copy_behind);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
