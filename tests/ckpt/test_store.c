/* test_store.c - the directory of snapshots: what is found there, what is refused. */
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

/* ---- The directory --------------------------------------------------------------------------- */

START_TEST(only_one_may_write)
{
    struct store *other;

    ck_assert_int_eq(store_open(&other, directory, STORE_CREATE, NULL, complaint), -EBUSY);
    ck_assert_ptr_nonnull(strstr(complaint, "in use by process "));
    ck_assert_int_eq(store_open(&other, directory, STORE_WRITE, NULL, complaint), -EBUSY);
    ck_assert_int_eq(store_open(&other, directory, STORE_READ, NULL, complaint), 0);
    store_close(other);
    store_close(store);
    ck_assert_int_eq(store_open(&store, directory, STORE_WRITE, NULL, complaint), 0);
}
END_TEST

START_TEST(a_missing_directory_is_made_only_when_asked)
{
    struct store *other;
    char path[300];
    struct stat about;

    snprintf(path, sizeof(path), "%s/deeper", directory);
    ck_assert_int_eq(store_open(&other, path, STORE_WRITE, NULL, complaint), -ENOENT);
    ck_assert_int_eq(store_open(&other, path, STORE_CREATE, NULL, complaint), 0);
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
    ck_assert_int_eq(store_open(&other, directory, STORE_READ, NULL, complaint), -EPERM);
    ck_assert_ptr_nonnull(strstr(complaint, "it is not yours, or it is writable by others"));
    ck_assert_int_eq(chmod(directory, 0702), 0);
    ck_assert_int_eq(store_open(&other, directory, STORE_CREATE, NULL, complaint), -EPERM);
    ck_assert_int_eq(chmod(directory, 0700), 0);
    snprintf(file, sizeof(file), "%s/lock", directory);
    ck_assert_int_eq(store_open(&other, file, STORE_READ, NULL, complaint), -ENOTDIR);
    ck_assert_int_eq(store_open(&other, "", STORE_READ, NULL, complaint), -ENOENT);
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
    ck_assert_int_eq(store_job_create(store, second, 2000, complaint), 0);
    ck_assert_str_eq(store_job_name(store), "abcd00000000");
    ck_assert_int_eq(store_job_create(store, second, 2000, complaint), -EEXIST);
    ck_assert_int_eq(store_jobs(store, &jobs, &count, complaint), 0);
    ck_assert_uint_eq(count, 2);
    ck_assert_str_eq(jobs[0].name, first_name);
    ck_assert_uint_eq(jobs[1].started, 2000);
    free(jobs);
    ck_assert_int_eq(store_job_open(store, NULL, complaint), 0);
    ck_assert_str_eq(store_job_name(store), "abcd00000000");
    ck_assert_int_eq(store_job_open(store, first_name, complaint), 0);
    /* The first goes on: it is the newest now. */
    ck_assert_int_eq(store_term_begin(store, 2, NAME(0, 0), 3000, complaint), 0);
    ck_assert_int_eq(store_job_open(store, NULL, complaint), 0);
    ck_assert_str_eq(store_job_name(store), first_name);
    ck_assert_int_eq(store_job_open(store, "nobody", complaint), -ENOENT);
    ck_assert_int_eq(store_job_open(store, "../x", complaint), -ENOENT);
    ck_assert_int_eq(store_job_open(store, "", complaint), -ENOENT);
    snprintf(path, sizeof(path), "%s//abcd00000000/", directory);
    ck_assert_int_eq(store_open(&other, path, STORE_READ, NULL, complaint), 0);
    ck_assert_int_eq(store_job_open(other, NULL, complaint), 0);
    ck_assert_str_eq(store_job_name(other), "abcd00000000");
    store_close(other);
}
END_TEST

/* A job in a job would never be listed, and --restart of its path would go on with the outer one;
 * in a snapshot it would be lost when that is pruned. */
START_TEST(jobs_are_not_made_in_jobs)
{
    static const char *const places[] = {"", "/", "/new", "/1.1", "/1.1/", "/1.1/new"};
    struct store *other;
    char job[STORE_NAME_MAX + 1], own[300], path[400], expected[600], file[420];

    snapshot(1, 1, true);
    strcpy(job, store_job_name(store));
    ck_assert_ptr_nonnull(realpath(directory, own));
    snprintf(expected, sizeof(expected),
             "%s: %s is a job in this directory; give the directory alone", own, job);
    store_close(store); /* the lock */
    store = NULL;
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        bool there = !strstr(places[i], "new");

        snprintf(path, sizeof(path), "%s/%s%s", directory, job, places[i]);
        ck_assert_msg(store_open(&other, path, STORE_CREATE, NULL, complaint) == -EEXIST, "%s",
                      path);
        ck_assert_str_eq(complaint, expected);
        ck_assert_int_eq(access(path, F_OK), there ? 0 : -1);
        snprintf(file, sizeof(file), "%s/lock", path);
        ck_assert_int_eq(access(file, F_OK), -1);
    }
}
END_TEST

static void make_file(const char *path, const char *content)
{
    FILE *file = fopen(path, "w");

    ck_assert_ptr_nonnull(file);
    ck_assert_int_ge(fputs(content, file), 0);
    ck_assert_int_eq(fclose(file), 0);
}

/* A program may be called "term", and another one's output look like snapshots: jobs can be made
 * there, and found again. */
START_TEST(a_directory_may_look_like_a_job)
{
    char path[300], inside[340], name[400], job[STORE_NAME_MAX + 1];
    struct store *other;

    snprintf(path, sizeof(path), "%s/work", directory);
    snprintf(inside, sizeof(inside), "%s/1.0", path);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    ck_assert_int_eq(mkdir(inside, 0700), 0);
    snprintf(name, sizeof(name), "%s/manifest", inside);
    make_file(name, "of an archive\n");
    snprintf(name, sizeof(name), "%s/term", path);
    make_file(name, "#!/bin/sh\n");
    snprintf(name, sizeof(name), "%s/store", path);
    ck_assert_msg(store_open(&other, name, STORE_CREATE, NULL, complaint) == 0, "%s", complaint);
    store_close(other);
    ck_assert_msg(store_open(&other, path, STORE_CREATE, NULL, complaint) == 0, "%s", complaint);
    ck_assert_msg(store_job_create(other, store_sample_job, 1000, complaint) == 0, "%s", complaint);
    strcpy(job, store_job_name(other));
    store_close(other);
    ck_assert_msg(store_open(&other, path, STORE_WRITE, NULL, complaint) == 0, "%s", complaint);
    ck_assert(!store_names_job(other));
    ck_assert_msg(store_job_open(other, NULL, complaint) == 0, "%s", complaint);
    ck_assert_str_eq(store_job_name(other), job);
    store_close(other);
}
END_TEST

/* By its name, or by what it has. */
START_TEST(a_job_is_known_in_pieces)
{
    char renamed[300];
    struct store *other;

    snapshot(1, 1, true);
    ck_assert_int_eq(truncate(path_of("term"), 5), 0);
    ck_assert_int_eq(truncate(path_of("term.copy"), 5), 0);
    ck_assert_int_eq(truncate(path_of("1.1/manifest"), 5), 0);
    ck_assert_int_eq(store_open(&other, path_of(""), STORE_READ, NULL, complaint), 0);
    ck_assert(store_names_job(other));
    store_close(other);
    snprintf(renamed, sizeof(renamed), "%s/renamed", directory);
    ck_assert_int_eq(rename(path_of(""), renamed), 0);
    ck_assert_int_eq(store_open(&other, renamed, STORE_READ, NULL, complaint), 0);
    ck_assert(store_names_job(other)); /* by the copy of the manifest */
    store_close(other);
    snprintf(renamed, sizeof(renamed), "%s/renamed/1.1/manifest.copy", directory);
    ck_assert_int_eq(truncate(renamed, 5), 0);
    *strstr(renamed, "/1.1") = '\0';
    ck_assert_int_eq(store_open(&other, renamed, STORE_READ, NULL, complaint), 0);
    ck_assert(!store_names_job(other));
    store_close(other);
}
END_TEST

START_TEST(the_clock_may_go_back)
{
    static const uint8_t second[WIRE_JOB_SIZE] = {0xab, 0xcd};
    struct store_job *jobs;
    char first_name[STORE_NAME_MAX + 1];
    size_t count;

    strcpy(first_name, store_job_name(store));
    ck_assert_int_eq(store_job_create(store, second, 500, complaint), 0);
    ck_assert_int_eq(store_job_open(store, NULL, complaint), 0);
    ck_assert_str_eq(store_job_name(store), "abcd00000000");
    ck_assert_int_eq(store_job_open(store, first_name, complaint), 0);
    ck_assert_int_eq(store_term_begin(store, 2, NAME(0, 0), 600, complaint), 0);
    ck_assert_int_eq(store_job_open(store, NULL, complaint), 0);
    ck_assert_str_eq(store_job_name(store), first_name);
    ck_assert_int_eq(store_term_begin(store, 3, NAME(0, 0), 600, complaint), 0);
    ck_assert_int_eq(store_jobs(store, &jobs, &count, complaint), 0);
    ck_assert_uint_eq(jobs[0].started, 1001);
    ck_assert_uint_eq(jobs[1].started, 1003);
    free(jobs);
}
END_TEST

/* It may be the newest.  Whoever names a job need not know. */
START_TEST(a_job_that_cannot_be_read_is_not_passed_over)
{
    static const uint8_t second[WIRE_JOB_SIZE] = {0xab, 0xcd};
    char first_name[STORE_NAME_MAX + 1];

    strcpy(first_name, store_job_name(store));
    ck_assert_int_eq(store_job_create(store, second, 2000, complaint), 0);
    snapshot(1, 1, true);
    change_byte(path_of("term"), -1);
    ck_assert_int_eq(store_job_open(store, NULL, complaint), 0);
    change_byte(path_of("term.copy"), -1);
    ck_assert_int_eq(store_job_open(store, NULL, complaint), -EBADMSG);
    ck_assert_ptr_nonnull(strstr(complaint, "job abcd00000000 may be the newest"));
    ck_assert_ptr_nonnull(strstr(complaint, "bspckpt repair"));
    ck_assert_int_eq(unlink(path_of("term")), 0);
    ck_assert_int_eq(unlink(path_of("term.copy")), 0);
    ck_assert_int_eq(store_job_open(store, NULL, complaint), -ENOENT);
    ck_assert_ptr_nonnull(strstr(complaint, "job abcd00000000 may be the newest"));
    ck_assert_int_eq(store_job_open(store, first_name, complaint), 0);
    ck_assert_int_eq(store_job_open(store, "abcd00000000", complaint), 0);
    ck_assert_int_eq(store_repair(store, NULL, NULL, complaint), 0);
    ck_assert_int_eq(store_job_open(store, NULL, complaint), 0);
}
END_TEST

static int open_failure; /* of the second job's directory */

static int open_with_failure(void *context, int at, const char *name, int flags, mode_t mode)
{
    return strcmp(name, "abcd00000000") == 0 ? open_failure
                                             : store_io_system.open(context, at, name, flags, mode);
}

/* The same if not even its directory can be opened; but what is gone, or no directory, is no job.
 */
START_TEST(a_job_that_cannot_be_opened_is_not_passed_over)
{
    static const uint8_t second[WIRE_JOB_SIZE] = {0xab, 0xcd};
    struct store_io io = store_io_system;
    char first_name[STORE_NAME_MAX + 1], path[300];

    strcpy(first_name, store_job_name(store));
    snprintf(path, sizeof(path), "%s/0123456789ab", directory);
    close(open(path, O_WRONLY | O_CREAT, 0600));
    snprintf(path, sizeof(path), "%s/0123456789ac", directory);
    ck_assert_int_eq(symlink(directory, path), 0);
    ck_assert_int_eq(store_job_create(store, second, 2000, complaint), 0);
    ck_assert_int_eq(chmod(path_of("."), 0770), 0);
    ck_assert_int_eq(store_job_open(store, NULL, complaint), -EPERM);
    ck_assert_ptr_nonnull(strstr(complaint, "job abcd00000000 may be the newest"));
    ck_assert_ptr_nonnull(strstr(complaint, "writable by others"));
    ck_assert_ptr_nonnull(strstr(complaint, "DIR/JOB"));
    ck_assert_int_eq(store_job_open(store, first_name, complaint), 0);
    ck_assert_int_eq(store_job_open(store, "abcd00000000", complaint), -EPERM);
    io.open = open_with_failure;
    store_close(store);
    ck_assert_int_eq(store_open(&store, directory, STORE_WRITE, &io, complaint), 0);
    open_failure = -EMFILE;
    ck_assert_int_eq(store_job_open(store, NULL, complaint), -EMFILE);
    open_failure = -ENOENT;
    ck_assert_int_eq(store_job_open(store, NULL, complaint), 0);
    ck_assert_str_eq(store_job_name(store), first_name);
}
END_TEST

static int record_failure; /* of both records of terms */

static int open_without_records(void *context, int at, const char *name, int flags, mode_t mode)
{
    return strncmp(name, "term", 4) == 0 ? record_failure
                                         : store_io_system.open(context, at, name, flags, mode);
}

/* Nor if what is in it may not be read, which no repair mends. */
START_TEST(a_job_that_may_not_be_looked_into_is_not_passed_over)
{
    static const uint8_t second[WIRE_JOB_SIZE] = {0xab, 0xcd};
    static const int failures[] = {-EACCES, -ELOOP}; /* -ELOOP: of another user, as -EPERM is */
    struct store_io io = store_io_system;

    ck_assert_int_eq(store_job_create(store, second, 2000, complaint), 0);
    io.open = open_without_records;
    store_close(store);
    ck_assert_int_eq(store_open(&store, directory, STORE_READ, &io, complaint), 0);
    for (size_t i = 0; i < sizeof(failures) / sizeof(failures[0]); i++) {
        record_failure = failures[i];
        ck_assert_int_lt(store_job_open(store, NULL, complaint), 0);
        ck_assert_ptr_nonnull(strstr(complaint, "may be the newest, but cannot be opened: "));
        ck_assert_ptr_nonnull(strstr(complaint, "mend that"));
        ck_assert_ptr_null(strstr(complaint, "repair"));
    }
}
END_TEST

/* It is listed, so that whoever asks for all jobs hears of it. */
START_TEST(a_job_that_cannot_be_opened_is_listed)
{
    struct store_job *jobs;
    size_t count;

    ck_assert_int_eq(chmod(path_of("."), 0770), 0);
    ck_assert_int_eq(store_jobs(store, &jobs, &count, complaint), 0);
    ck_assert_uint_eq(count, 1);
    ck_assert_str_eq(jobs[0].name, store_job_name(store));
    ck_assert_uint_eq(jobs[0].started, 0);
    free(jobs);
    ck_assert_int_eq(store_job_open(store, NULL, complaint), -EPERM);
    ck_assert_ptr_nonnull(strstr(complaint, "writable by others"));
}
END_TEST

START_TEST(an_empty_directory_has_no_job)
{
    struct store *other;
    char path[300];

    snprintf(path, sizeof(path), "%s/empty", directory);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    ck_assert_int_eq(store_open(&other, path, STORE_READ, NULL, complaint), 0);
    ck_assert_int_eq(store_job_open(other, NULL, complaint), -ENOENT);
    ck_assert_ptr_nonnull(strstr(complaint, "no job has snapshots here"));
    store_close(other);
}
END_TEST

/* ---- Snapshots ------------------------------------------------------------------------------- */

/* In the newest snapshot, which has just been written, each process needs what its image and the
 * bases of that have saved; of an increment that is known from above, in blocks at worst. */
static void expect_needs(void)
{
    struct manifest manifest;
    uint64_t needs[STORE_SAMPLE_PROCS] = {0};

    ck_assert_int_eq(store_newest(store, WIRE_NEVER, WIRE_NEVER, &manifest, note, complaint), 0);
    ck_assert_int_eq(store_check_needs(store, &manifest, NULL, NULL, needs), 0);
    for (uint32_t pid = 0; pid < STORE_SAMPLE_PROCS; pid++) {
        const struct bspz_image_written *written = &sample.written[pid];

        ck_assert_uint_gt(written->units, 0);
        ck_assert_uint_ge(needs[pid], written->units * 4096);
        ck_assert_uint_le(needs[pid], written->blocks * 65536);
        if (manifest.images.items[pid].facts.generation == 0)
            ck_assert_uint_eq(needs[pid], written->units * 4096);
    }
    manifest_free(&manifest);
}

START_TEST(the_newest_is_found)
{
    struct manifest manifest;
    uint64_t superstep;
    uint32_t term;

    ck_assert_int_eq(newest(&superstep, &term), -ENOENT);
    ck_assert_ptr_nonnull(strstr(complaint, "has no snapshot"));
    snapshot(0, 1, true);
    expect_newest(0, 1);
    expect_needs();
    snapshot(2, 1, false);
    snapshot(9, 1, false);
    expect_needs();
    snapshot(10, 1, true);
    expect_newest(10, 1);
    expect_needs();
    ck_assert_str_eq(note, "");
    expect_list("0.1 2.1 9.1 10.1");
    ck_assert_int_eq(store_newest(store, 2, WIRE_NEVER, &manifest, note, complaint), 0);
    ck_assert_uint_eq(manifest.name.superstep, 2);
    ck_assert_uint_eq(manifest.images.items[1].facts.generation, 1);
    ck_assert_int_eq(store_check(store, &manifest, true, NULL, NULL), 0);
    manifest_free(&manifest);
    ck_assert_int_eq(store_newest(store, WIRE_NEVER, 10, &manifest, note, complaint), 0);
    ck_assert_uint_eq(manifest.name.superstep, 9);
    manifest_free(&manifest);
    ck_assert_int_eq(store_newest(store, 3, WIRE_NEVER, &manifest, note, complaint), -ENOENT);
    ck_assert_ptr_nonnull(strstr(complaint, "has no snapshot of superstep 3"));
    ck_assert_int_eq(
        store_sample_snapshot(&sample, store, 10, 1, STORE_SAMPLE_ALL, true, complaint), -EEXIST);
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
        return "the image of process 1 in snapshot 6.1: it is not yours, or it is writable by "
               "others";
    case 8:
        ck_assert_int_eq(chmod(path_of("6.1"), 0770), 0);
        return "it is not yours, or it is writable by others";
    case 9: {
        char other[512];
        strcpy(other, path_of("6.1/1.img"));
        ck_assert_int_eq(unlink(other), 0);
        ck_assert_int_eq(symlink("../3.1/1.img", other), 0);
        return "the image of process 1 in snapshot 6.1: it is not yours, or it is writable by "
               "others";
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
        return "the image of process 1 in snapshot 6.1: it is not yours, or it is writable by "
               "others";
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

/* Hosts that share no directory have images twice: what is damaged here may be whole elsewhere.
 * Where there is another snapshot that one is enough to begin with, as the hosts agree on the
 * newest. */
START_TEST(the_only_one_may_be_whole_on_another_host)
{
    char expected[MANIFEST_ERROR_SIZE];

    sample.two_hosts = true;
    if (_i % 2 == 1)
        snapshot(4, 1, true);
    snapshot(6, 1, true);
    const char *why = spoil(1 + _i / 2);
    bool missing = 1 + _i / 2 == 2;
    snprintf(expected, sizeof(expected),
             "snapshot 6.1 cannot be used unless another host has it whole: %s", why);
    expect_newest(_i % 2 == 1 && !missing ? 4 : 6, 1);
    ck_assert_str_eq(note, missing ? "" : expected);
}
END_TEST

START_TEST(one_that_no_host_can_have_whole)
{
    uint64_t superstep;
    uint32_t term;

    sample.two_hosts = true;
    snapshot(6, 1, true);
    spoil(_i == 0 ? 0 : 7);
    ck_assert_int_eq(newest(&superstep, &term), -ENOENT);
    ck_assert_ptr_nonnull(
        strstr(complaint, "no snapshot can be used: snapshot 6.1 cannot be used: "));
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
    ck_assert_int_eq(store_manifest(store, NAME(3, 1), &manifest, complaint), 0);
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
    ck_assert_int_eq(store_manifest(store, NAME(3, 1), &manifest, complaint), 0);
    ck_assert_int_eq(store_snapshot_begin(store, NAME(4, 1), &unfinished, complaint), 0);
    ck_assert_int_eq(store_snapshot_commit(unfinished, &manifest, complaint), -EINVAL);
    manifest.name.superstep = 4;
    ck_assert_int_eq(store_snapshot_commit(unfinished, &manifest, complaint), -ENOENT);
    int file = store_image_create(unfinished, 0, complaint);
    ck_assert_int_eq(write(file, "short", 5), 5);
    ck_assert_int_eq(store_image_finish(unfinished, 0, file, complaint), 0);
    ck_assert_int_eq(store_snapshot_commit(unfinished, &manifest, complaint), -EINVAL);
    ck_assert_ptr_nonnull(strstr(complaint, "0.img has 5 bytes, and the manifest says"));
    expect_list("3.1 4.1u");
    store_snapshot_abandon(unfinished);
    store_snapshot_abandon(NULL);
    expect_list("3.1");
    manifest_free(&manifest);
}
END_TEST

/* Users remove what is older, when the disk is full. */
START_TEST(all_bases_must_be_there)
{
    snapshot(1, 1, true);
    snapshot(2, 1, false);
    snapshot(3, 1, false);
    ck_assert_int_eq(unlink(path_of("1.1/manifest")), 0);
    ck_assert_int_eq(store_sample_snapshot(&sample, store, 4, 1, 0, true, complaint), -ESTALE);
    ck_assert_ptr_nonnull(strstr(complaint, "snapshot 4.1: its base 1.1 is not there any more"));
    snapshot(5, 1, true);
    expect_newest(5, 1);
}
END_TEST

/* An agent beside the bsprun that has the lock, and a process that writes its image by itself. */
START_TEST(others_may_write_for_the_one_with_the_lock)
{
    struct store_snapshot *ours;
    struct store *agent;
    struct stat about;
    char path[4096], short_path[20];

    ck_assert_int_eq(store_open(&agent, directory, STORE_JOIN, NULL, complaint), 0);
    ck_assert_int_eq(store_job_open(agent, NULL, complaint), 0);
    ck_assert_int_eq(store_snapshot_begin(agent, NAME(4, 1), &ours, complaint), 0);
    ck_assert_int_eq(store_image_path(ours, 1, short_path, sizeof(short_path), complaint),
                     -ENAMETOOLONG);
    ck_assert_int_eq(store_image_finish(ours, 1, -1, complaint), -ENOENT);
    ck_assert_int_eq(store_image_path(ours, 1, path, sizeof(path), complaint), 0);
    ck_assert_int_eq(path[0], '/');
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    ck_assert_int_eq(write(file, "image", 5), 5);
    close(file);
    ck_assert_int_eq(store_image_finish(ours, 1, -1, complaint), 0);
    ck_assert_int_eq(stat(path_of("4.1/1.img"), &about), 0);
    ck_assert_int_eq(about.st_size, 5);
    ck_assert_int_eq(access(path, F_OK), -1);
    /* Somebody's file of that name is not taken for the image. */
    ck_assert_int_eq(store_image_path(ours, 0, path, sizeof(path), complaint), 0);
    ck_assert_int_eq(symlink("1.img", path), 0);
    ck_assert_int_eq(store_image_finish(ours, 0, -1, complaint), -EPERM);
    store_snapshot_abandon(ours);
    store_close(agent);
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
    tcase_add_test(tests, jobs_are_not_made_in_jobs);
    tcase_add_test(tests, a_directory_may_look_like_a_job);
    tcase_add_test(tests, a_job_is_known_in_pieces);
    tcase_add_test(tests, the_clock_may_go_back);
    tcase_add_test(tests, a_job_that_cannot_be_read_is_not_passed_over);
    tcase_add_test(tests, a_job_that_cannot_be_opened_is_not_passed_over);
    tcase_add_test(tests, a_job_that_may_not_be_looked_into_is_not_passed_over);
    tcase_add_test(tests, a_job_that_cannot_be_opened_is_listed);
    tcase_add_test(tests, an_empty_directory_has_no_job);
    tcase_add_test(tests, the_newest_is_found);
    tcase_add_loop_test(tests, an_older_one_is_used_when_the_newest_is_damaged, 0, SPOILED);
    tcase_add_loop_test(tests, the_only_one_may_be_whole_on_another_host, 0, 10);
    tcase_add_loop_test(tests, one_that_no_host_can_have_whole, 0, 2);
    tcase_add_test(tests, a_deep_check_finds_what_a_look_does_not);
    tcase_add_test(tests, a_manifest_must_fit_its_images);
    tcase_add_test(tests, all_bases_must_be_there);
    tcase_add_test(tests, others_may_write_for_the_one_with_the_lock);
    suite_add_tcase(suite, tests);

    return suite_run(suite);
}
