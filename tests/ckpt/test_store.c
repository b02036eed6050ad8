/* test_store.c - the directory of snapshots: what is found there, what is refused, what is removed.
 */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/ckpt/store_sample.h"

static char directory[256], error[MANIFEST_ERROR_SIZE], note[MANIFEST_ERROR_SIZE];
static struct store *store;
static struct store_sample sample;

static void set_up(void)
{
    store_sample_directory(directory);
    store_sample_make(&sample);
    ck_assert_msg(store_open(&store, directory, STORE_CREATE, NULL, error) == 0, "%s", error);
    ck_assert_msg(store_job_create(store, store_sample_job, 1000, error) == 0, "%s", error);
}

static void tear_down(void)
{
    store_close(store);
    store_sample_free(&sample);
    store_sample_remove(directory);
}

static void snapshot(uint64_t superstep, uint32_t term, bool full)
{
    ck_assert_msg(store_sample_snapshot(&sample, store, superstep, term, full, true, error) == 0,
                  "%s", error);
}

/* DIR/JOB/name */
static const char *path_of(const char *name)
{
    static char path[512];

    snprintf(path, sizeof(path), "%s/%s/%s", directory, store_job_name(store), name);
    return path;
}

static int newest(uint64_t *superstep, uint32_t *term)
{
    struct manifest manifest;

    int status = store_newest(store, WIRE_NEVER, WIRE_NEVER, &manifest, note, error);
    if (status < 0)
        return status;
    *superstep = manifest.superstep;
    *term = manifest.term;
    manifest_free(&manifest);
    return 0;
}

static void expect_newest(uint64_t superstep, uint32_t term)
{
    uint64_t found;
    uint32_t found_term;

    ck_assert_msg(newest(&found, &found_term) == 0, "%s", error);
    ck_assert_uint_eq(found, superstep);
    ck_assert_uint_eq(found_term, term);
}

static void change_byte(const char *path, off_t offset)
{
    int file = open(path, O_RDWR);
    unsigned char byte;

    ck_assert_int_ge(file, 0);
    offset = offset < 0 ? lseek(file, offset, SEEK_END) : offset;
    ck_assert_int_eq(pread(file, &byte, 1, offset), 1);
    byte ^= 0x10;
    ck_assert_int_eq(pwrite(file, &byte, 1, offset), 1);
    close(file);
}

static size_t list_names(char text[512])
{
    struct store_entry *entries;
    size_t count;

    ck_assert_msg(store_list(store, &entries, &count, error) == 0, "%s", error);
    text[0] = '\0';
    for (size_t i = 0; i < count; i++)
        sprintf(text + strlen(text), "%s%d.%u%s", i ? " " : "", (int)entries[i].superstep,
                entries[i].term,
                entries[i].state == STORE_COMMITTED ? ""
                : entries[i].state == STORE_RETIRED ? "r"
                : entries[i].state == STORE_DAMAGED ? "d"
                                                    : "u");
    free(entries);
    return count;
}

static void expect_list(const char *expected)
{
    char text[512];

    list_names(text);
    ck_assert_str_eq(text, expected);
}

/* ---- The directory --------------------------------------------------------------------------- */

START_TEST(only_one_may_write)
{
    struct store *other;

    ck_assert_int_eq(store_open(&other, directory, STORE_CREATE, NULL, error), -EBUSY);
    ck_assert_ptr_nonnull(strstr(error, "in use by process "));
    ck_assert_int_eq(store_open(&other, directory, STORE_WRITE, NULL, error), -EBUSY);
    ck_assert_int_eq(store_open(&other, directory, STORE_READ, NULL, error), 0);
    store_close(other);
    store_close(store);
    ck_assert_int_eq(store_open(&store, directory, STORE_WRITE, NULL, error), 0);
}
END_TEST

START_TEST(a_missing_directory_is_made_only_when_asked)
{
    struct store *other;
    char path[300];
    struct stat about;

    snprintf(path, sizeof(path), "%s/deeper", directory);
    ck_assert_int_eq(store_open(&other, path, STORE_WRITE, NULL, error), -ENOENT);
    ck_assert_int_eq(store_open(&other, path, STORE_CREATE, NULL, error), 0);
    ck_assert_int_eq(stat(path, &about), 0);
    ck_assert_uint_eq(about.st_mode & 0777, 0700);
    store_close(other);
}
END_TEST

START_TEST(a_directory_that_others_may_write_to_is_refused)
{
    struct store *other;
    char file[300];

    ck_assert_int_eq(chmod(directory, 0720), 0);
    ck_assert_int_eq(store_open(&other, directory, STORE_READ, NULL, error), -EPERM);
    ck_assert_ptr_nonnull(strstr(error, "it is not yours, or others may write to it"));
    ck_assert_int_eq(chmod(directory, 0702), 0);
    ck_assert_int_eq(store_open(&other, directory, STORE_CREATE, NULL, error), -EPERM);
    ck_assert_int_eq(chmod(directory, 0700), 0);
    snprintf(file, sizeof(file), "%s/lock", directory);
    ck_assert_int_eq(store_open(&other, file, STORE_READ, NULL, error), -ENOTDIR);
    ck_assert_int_eq(store_open(&other, "", STORE_READ, NULL, error), -ENOENT);
}
END_TEST

START_TEST(a_job_is_chosen_by_name_or_age)
{
    static const uint8_t second[WIRE_JOB_SIZE] = {0xab, 0xcd};
    struct store_job *jobs;
    struct store *other;
    char path[300], first_name[STORE_NAME_MAX + 1];
    size_t count;

    strcpy(first_name, store_job_name(store));
    ck_assert_int_eq(store_job_create(store, second, 2000, error), 0);
    ck_assert_str_eq(store_job_name(store), "abcd00000000");
    ck_assert_int_eq(store_job_create(store, second, 2000, error), -EEXIST);
    ck_assert_int_eq(store_jobs(store, &jobs, &count, error), 0);
    ck_assert_uint_eq(count, 2);
    ck_assert_str_eq(jobs[0].name, first_name);
    ck_assert_uint_eq(jobs[1].started, 2000);
    free(jobs);
    ck_assert_int_eq(store_job_open(store, NULL, error), 0);
    ck_assert_str_eq(store_job_name(store), "abcd00000000");
    ck_assert_int_eq(store_job_open(store, first_name, error), 0);
    /* The first goes on: it is the newest now. */
    ck_assert_int_eq(store_term_begin(store, 2, 0, 0, 3000, error), 0);
    ck_assert_int_eq(store_job_open(store, NULL, error), 0);
    ck_assert_str_eq(store_job_name(store), first_name);
    ck_assert_int_eq(store_job_open(store, "nobody", error), -ENOENT);
    ck_assert_int_eq(store_job_open(store, "../x", error), -ENOENT);
    ck_assert_int_eq(store_job_open(store, "", error), -ENOENT);
    snprintf(path, sizeof(path), "%s//abcd00000000/", directory);
    ck_assert_int_eq(store_open(&other, path, STORE_READ, NULL, error), 0);
    ck_assert_int_eq(store_job_open(other, NULL, error), 0);
    ck_assert_str_eq(store_job_name(other), "abcd00000000");
    store_close(other);
}
END_TEST

START_TEST(an_empty_directory_has_no_job)
{
    struct store *other;
    char path[300];

    snprintf(path, sizeof(path), "%s/empty", directory);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    ck_assert_int_eq(store_open(&other, path, STORE_READ, NULL, error), 0);
    ck_assert_int_eq(store_job_open(other, NULL, error), -ENOENT);
    ck_assert_ptr_nonnull(strstr(error, "no job has snapshots here"));
    store_close(other);
}
END_TEST

/* ---- Snapshots ------------------------------------------------------------------------------- */

START_TEST(the_newest_is_found)
{
    struct manifest manifest;
    uint64_t superstep;
    uint32_t term;

    ck_assert_int_eq(newest(&superstep, &term), -ENOENT);
    ck_assert_ptr_nonnull(strstr(error, "has no snapshot"));
    snapshot(0, 1, true);
    expect_newest(0, 1);
    snapshot(2, 1, false);
    snapshot(9, 1, false);
    snapshot(10, 1, true);
    expect_newest(10, 1);
    ck_assert_str_eq(note, "");
    expect_list("0.1 2.1 9.1 10.1");
    ck_assert_int_eq(store_newest(store, 2, WIRE_NEVER, &manifest, note, error), 0);
    ck_assert_uint_eq(manifest.superstep, 2);
    ck_assert_uint_eq(manifest.images.items[1].generation, 1);
    ck_assert_int_eq(store_check(store, &manifest, true, NULL, NULL), 0);
    manifest_free(&manifest);
    ck_assert_int_eq(store_newest(store, WIRE_NEVER, 10, &manifest, note, error), 0);
    ck_assert_uint_eq(manifest.superstep, 9);
    manifest_free(&manifest);
    ck_assert_int_eq(store_newest(store, 3, WIRE_NEVER, &manifest, note, error), -ENOENT);
    ck_assert_ptr_nonnull(strstr(error, "has no snapshot of superstep 3"));
    ck_assert_int_eq(store_sample_snapshot(&sample, store, 10, 1, true, true, error), -EEXIST);
}
END_TEST

/* Whatever happens to the newest, the one before is used and the reason is told. */
static const char *spoil(int which)
{
    switch (which) {
    case 0:
        change_byte(path_of("6.1/manifest"), 60);
        return "manifest damaged: wrong checksum";
    case 1:
        ck_assert_int_eq(truncate(path_of("6.1/1.img"), 1000), 0);
        return "the image of process 1 in snapshot 6.1: the end is damaged or missing";
    case 2:
        ck_assert_int_eq(unlink(path_of("6.1/0.img")), 0);
        return "the image of process 0 in snapshot 6.1: No such file or directory";
    case 3:
        change_byte(path_of("6.1/0.img"), 100);
        return "the image of process 0 in snapshot 6.1: damaged header";
    case 4:
        change_byte(path_of("6.1/0.img"), -5);
        return "the image of process 0 in snapshot 6.1: the end is damaged or missing";
    case 5: {
        char other[512];
        strcpy(other, path_of("6.1/0.img"));
        ck_assert_int_eq(rename(path_of("6.1/1.img"), other), 0);
        return "the image of process 0 in snapshot 6.1: it is the image of another process";
    }
    case 6: {
        char other[512];
        strcpy(other, path_of("6.1/0.img"));
        ck_assert_int_eq(unlink(other), 0);
        ck_assert_int_eq(link(path_of("3.1/0.img"), other), 0);
        return "the image of process 0 in snapshot 6.1: it is of another superstep";
    }
    case 7:
        ck_assert_int_eq(chmod(path_of("6.1/1.img"), 0660), 0);
        return "the image of process 1 in snapshot 6.1: it is not yours, or others may write to it";
    case 8:
        ck_assert_int_eq(chmod(path_of("6.1"), 0770), 0);
        return "it is not yours, or others may write to it";
    case 9: {
        char other[512];
        strcpy(other, path_of("6.1/1.img"));
        ck_assert_int_eq(unlink(other), 0);
        ck_assert_int_eq(symlink("../3.1/1.img", other), 0);
        return "the image of process 1 in snapshot 6.1: it is not yours, or others may write to it";
    }
    case 10: {
        char other[512];
        strcpy(other, path_of("6.1/manifest"));
        ck_assert_int_eq(unlink(other), 0);
        ck_assert_int_eq(link(path_of("3.1/manifest"), other), 0);
        return "manifest: it belongs to another snapshot";
    }
    case 11: {
        char name[512];
        strcpy(name, path_of("6.1/1.img"));
        ck_assert_int_eq(unlink(name), 0);
        ck_assert_int_eq(mkfifo(name, 0600), 0);
        return "the image of process 1 in snapshot 6.1: it is not yours, or others may write to it";
    }
    default:
        ck_assert_int_eq(unlink(path_of("4.1/1.img")), 0);
        return "the image of process 1 in snapshot 4.1: No such file or directory";
    }
}
#define SPOILED 13

START_TEST(an_older_one_is_used_when_the_newest_is_damaged)
{
    char expected[MANIFEST_ERROR_SIZE];

    snapshot(3, 1, true);
    snapshot(4, 1, true);
    snapshot(6, 1, false);
    const char *why = spoil(_i);
    bool base_gone = _i == SPOILED - 1;
    if (base_gone) {
        expect_newest(3, 1);
        snprintf(expected, sizeof(expected),
                 "snapshot 6.1 cannot be used: %s; snapshot 4.1 cannot be used: %s", why, why);
    } else {
        expect_newest(4, 1);
        snprintf(expected, sizeof(expected), "snapshot 6.1 cannot be used: %s", why);
    }
    ck_assert_str_eq(note, expected);
}
END_TEST

static struct store_fault told;
static void tell(void *context, const struct store_fault *fault)
{
    if ((*(int *)context)++ == 0)
        told = *fault;
}

START_TEST(a_deep_check_finds_what_a_look_does_not)
{
    struct manifest manifest;
    int count = 0;

    snapshot(3, 1, true);
    change_byte(path_of("3.1/1.img"), 5000);
    expect_newest(3, 1);
    ck_assert_int_eq(store_manifest(store, 3, 1, &manifest, error), 0);
    ck_assert_int_eq(store_check(store, &manifest, true, tell, &count), -EBADMSG);
    ck_assert_int_eq(count, 1);
    ck_assert_int_eq(told.pid, 1);
    ck_assert_uint_le(told.fault.first, 5000);
    ck_assert_uint_gt(told.fault.end, 5000);
    manifest_free(&manifest);
}
END_TEST

START_TEST(a_manifest_must_fit_its_images)
{
    struct store_snapshot *unfinished;
    struct manifest manifest;

    snapshot(3, 1, true);
    ck_assert_int_eq(store_manifest(store, 3, 1, &manifest, error), 0);
    ck_assert_int_eq(store_snapshot_begin(store, 4, 1, &unfinished, error), 0);
    ck_assert_int_eq(store_snapshot_commit(unfinished, &manifest, error), -EINVAL);
    manifest.superstep = 4;
    ck_assert_int_eq(store_snapshot_commit(unfinished, &manifest, error), -ENOENT);
    int file = store_image_create(unfinished, 0, error);
    ck_assert_int_eq(write(file, "short", 5), 5);
    ck_assert_int_eq(store_image_finish(unfinished, 0, file, error), 0);
    ck_assert_int_eq(store_snapshot_commit(unfinished, &manifest, error), -EINVAL);
    ck_assert_ptr_nonnull(strstr(error, "0.img has 5 bytes, and the manifest says"));
    expect_list("3.1 4.1u");
    store_snapshot_abandon(unfinished);
    store_snapshot_abandon(NULL);
    expect_list("3.1");
    manifest_free(&manifest);
}
END_TEST

/* An agent beside the bsprun that has the lock, and a process that writes its image by itself. */
START_TEST(others_may_write_for_the_one_with_the_lock)
{
    struct store_snapshot *ours;
    struct store *agent;
    struct stat about;
    char path[4096], short_path[20];

    ck_assert_int_eq(store_open(&agent, directory, STORE_JOIN, NULL, error), 0);
    ck_assert_int_eq(store_job_open(agent, NULL, error), 0);
    ck_assert_int_eq(store_snapshot_begin(agent, 4, 1, &ours, error), 0);
    ck_assert_int_eq(store_image_path(ours, 1, short_path, sizeof(short_path), error),
                     -ENAMETOOLONG);
    ck_assert_int_eq(store_image_finish(ours, 1, -1, error), -ENOENT);
    ck_assert_int_eq(store_image_path(ours, 1, path, sizeof(path), error), 0);
    ck_assert_int_eq(path[0], '/');
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    ck_assert_int_eq(write(file, "image", 5), 5);
    close(file);
    ck_assert_int_eq(store_image_finish(ours, 1, -1, error), 0);
    ck_assert_int_eq(stat(path_of("4.1/1.img"), &about), 0);
    ck_assert_int_eq(about.st_size, 5);
    ck_assert_int_eq(access(path, F_OK), -1);
    /* Somebody's file of that name is not taken for the image. */
    ck_assert_int_eq(store_image_path(ours, 0, path, sizeof(path), error), 0);
    ck_assert_int_eq(symlink("1.img", path), 0);
    ck_assert_int_eq(store_image_finish(ours, 0, -1, error), -EPERM);
    store_snapshot_abandon(ours);
    store_close(agent);
}
END_TEST

/* ---- Terms ----------------------------------------------------------------------------------- */

START_TEST(what_is_newer_than_a_later_term_counts_no_more)
{
    snapshot(1, 1, true);
    snapshot(5, 1, true);
    snapshot(8, 1, true);
    ck_assert_int_eq(store_term_begin(store, 2, 5, 1, 2, error), 0);
    expect_newest(5, 1);
    expect_list("1.1 5.1 8.1r");
    snapshot(7, 2, true);
    expect_newest(7, 2);
    /* By name back to the beginning, over both. */
    ck_assert_int_eq(store_term_begin(store, 4, 1, 1, 3, error), 0);
    expect_newest(1, 1);
    expect_list("1.1 5.1r 7.2r 8.1r");
    snapshot(2, 4, true);
    expect_newest(2, 4);
    ck_assert_int_eq(store_term_begin(store, 5, 0, 0, 3, error), 0);
    expect_list("1.1r 2.4r 5.1r 7.2r 8.1r");
    ck_assert_int_eq(store_term_begin(store, 5, 0, 0, 3, error), -EINVAL);
    ck_assert_int_eq(store_term_begin(store, 3, 0, 0, 3, error), -EINVAL);
}
END_TEST

START_TEST(a_retired_snapshot_stays_so_in_later_terms)
{
    snapshot(5, 1, true);
    snapshot(6, 1, true);
    ck_assert_int_eq(store_term_begin(store, 2, 5, 1, 2, error), 0);
    snapshot(7, 2, true);
    ck_assert_int_eq(store_term_begin(store, 3, 7, 2, 3, error), 0);
    expect_list("5.1 6.1r 7.2");
    expect_newest(7, 2);
}
END_TEST

START_TEST(without_the_record_of_terms_nothing_is_believed)
{
    uint64_t superstep;
    uint32_t term;

    snapshot(1, 1, true);
    change_byte(path_of("term"), 30);
    ck_assert_int_eq(newest(&superstep, &term), -EBADMSG);
    ck_assert_ptr_nonnull(strstr(error, "record of terms damaged: wrong checksum"));
}
END_TEST

START_TEST(the_end_of_a_job_is_kept)
{
    struct manifest_finish finish = {
        .job = {store_sample_job, WIRE_JOB_SIZE}, .superstep = 8, .term = 1, .status = 3};

    ck_assert_int_eq(store_finished(store, &finish, error), -ENOENT);
    ck_assert_int_eq(store_finish(store, &finish, error), 0);
    finish.status = 0;
    ck_assert_int_eq(store_finished(store, &finish, error), 0);
    ck_assert_int_eq(finish.status, 3);
    manifest_finish_free(&finish);
    ck_assert_int_eq(store_unfinish(store, error), 0);
    ck_assert_int_eq(store_unfinish(store, error), 0);
    ck_assert_int_eq(store_finished(store, &finish, error), -ENOENT);
}
END_TEST

/* ---- Tidying --------------------------------------------------------------------------------- */

START_TEST(pruning_keeps_the_newest_and_their_bases)
{
    size_t removed;

    snapshot(0, 1, true);
    snapshot(1, 1, true);
    for (uint64_t superstep = 2; superstep < 7; superstep++)
        snapshot(superstep, 1, superstep == 4);
    ck_assert_int_eq(store_prune(store, 0, &removed, error), -EINVAL);
    ck_assert_int_eq(store_prune(store, 7, &removed, error), 0);
    ck_assert_uint_eq(removed, 0);
    /* 6 and 5 need 4; 3 needs 2 and 1. */
    ck_assert_int_eq(store_prune(store, 4, &removed, error), 0);
    expect_list("1.1 2.1 3.1 4.1 5.1 6.1");
    ck_assert_int_eq(store_prune(store, 1, &removed, error), 0);
    ck_assert_uint_eq(removed, 3);
    expect_list("4.1 5.1 6.1");
    expect_newest(6, 1);
    snapshot(7, 1, true);
    snapshot(8, 1, true);
    ck_assert_int_eq(store_prune(store, 1, &removed, error), 0);
    expect_list("8.1");
}
END_TEST

START_TEST(pruning_removes_what_is_retired_and_leaves_the_rest)
{
    struct store_snapshot *unfinished;
    size_t removed;

    snapshot(1, 1, true);
    snapshot(2, 1, true);
    snapshot(5, 1, true);
    ck_assert_int_eq(store_term_begin(store, 2, 2, 1, 2, error), 0);
    snapshot(3, 2, true);
    snapshot(4, 2, true);
    change_byte(path_of("1.1/manifest"), 40);
    change_byte(path_of("2.1/manifest"), 8); /* another version */
    ck_assert_int_eq(store_snapshot_begin(store, 6, 2, &unfinished, error), 0);
    expect_list("1.1d 2.1d 3.2 4.2 5.1r 6.2u");
    ck_assert_int_eq(store_prune(store, 1, &removed, error), 0);
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
    ck_assert_int_eq(store_term_begin(store, 2, 2, 1, 2, error), 0);
    snapshot(3, 2, false);
    ck_assert_int_eq(store_prune(store, 1, &removed, error), 0);
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
    ck_assert_int_eq(store_sweep(store, &removed, error), 0);
    ck_assert_uint_eq(removed, 4);
    for (size_t i = 0; i < sizeof(left) / sizeof(left[0]); i++)
        ck_assert_int_eq(access(path_of(left[i]), F_OK), -1);
    ck_assert_int_eq(access(path_of("notes"), F_OK), 0);
    expect_list("3.1");
    expect_newest(3, 1);
    ck_assert_int_eq(store_sweep(store, &removed, error), 0);
    ck_assert_uint_eq(removed, 0);
}
END_TEST

START_TEST(names_that_are_nearly_snapshots_are_left_alone)
{
    static const char *const names[] = {"03.1", "3.01", "+3.1", "3.1x",
                                        "3",    "3.",   ".1",   "3.4294967296"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        ck_assert_int_eq(mkdir(path_of(names[i]), 0700), 0);
    expect_list("");
    ck_assert_int_eq(store_sweep(store, NULL, error), 0);
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
    Suite *suite = suite_create("store");
    TCase *tests = tcase_create("store");

    store_sample_scratch();
    tcase_add_checked_fixture(tests, set_up, tear_down);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, only_one_may_write);
    tcase_add_test(tests, a_missing_directory_is_made_only_when_asked);
    tcase_add_test(tests, a_directory_that_others_may_write_to_is_refused);
    tcase_add_test(tests, a_job_is_chosen_by_name_or_age);
    tcase_add_test(tests, an_empty_directory_has_no_job);
    tcase_add_test(tests, the_newest_is_found);
    tcase_add_loop_test(tests, an_older_one_is_used_when_the_newest_is_damaged, 0, SPOILED);
    tcase_add_test(tests, a_deep_check_finds_what_a_look_does_not);
    tcase_add_test(tests, a_manifest_must_fit_its_images);
    tcase_add_test(tests, others_may_write_for_the_one_with_the_lock);
    tcase_add_test(tests, what_is_newer_than_a_later_term_counts_no_more);
    tcase_add_test(tests, a_retired_snapshot_stays_so_in_later_terms);
    tcase_add_test(tests, without_the_record_of_terms_nothing_is_believed);
    tcase_add_test(tests, the_end_of_a_job_is_kept);
    tcase_add_test(tests, pruning_keeps_the_newest_and_their_bases);
    tcase_add_test(tests, pruning_removes_what_is_retired_and_leaves_the_rest);
    tcase_add_test(tests, a_base_of_another_term_is_kept_too);
    tcase_add_test(tests, leftovers_are_swept);
    tcase_add_test(tests, names_that_are_nearly_snapshots_are_left_alone);
    tcase_add_test(tests, an_interrupted_snapshot_may_be_taken_again);
    suite_add_tcase(suite, tests);

    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
