/* test_opened.c - files that a rank has opened since the snapshot: this process is the rank. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "bsprun/agent/snapshot/opened.h"
#include "tests/unit/suite.h"

#define BEFORE "before\n"

static const struct bspz_snapshot_name first = {4, 1}, second = {8, 1};
static char directory[64], path[128], said[4 * OPENED_TEXT];
static struct opened *opened;
static int outside_number; /* a descriptor that is none of the program's; -1: none */

/* What the agent would say of descriptors that were open before bsprun. */
bool outside_has(const struct outside *outside, int fd, const struct stat *status)
{
    (void)outside;
    (void)status;
    return fd == outside_number;
}

static void tell(void *context, const char *text)
{
    (void)context;
    snprintf(said + strlen(said), sizeof said - strlen(said), "%s\n", text);
}

/* Until the clock of file systems shows another time than that of all that was done before. */
static void tick(void)
{
    struct timespec before, now;

    clock_gettime(CLOCK_REALTIME_COARSE, &before);
    do
        clock_gettime(CLOCK_REALTIME_COARSE, &now);
    while (now.tv_sec == before.tv_sec && now.tv_nsec == before.tv_nsec);
}

static void append(int file, const char *text)
{
    ck_assert_int_eq(write(file, text, strlen(text)), (ssize_t)strlen(text));
}

static int open_log(int flags)
{
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0600);

    ck_assert_int_ge(file, 0);
    return file;
}

/* A file that was there long before. */
static void make_log(void)
{
    int file = open_log(O_EXCL);

    append(file, BEFORE);
    close(file);
    tick();
}

static void look(int times)
{
    while (times-- > 0)
        opened_look(opened, 0, getpid());
}

static void take(struct bspz_snapshot_name name)
{
    tick();
    opened_snapshot(opened, name);
    tick();
}

static void back(struct bspz_snapshot_name name)
{
    said[0] = '\0';
    opened_back(opened, name, tell, NULL);
}

static void check_log(const char *wanted)
{
    char text[256] = "";
    int file = open(path, O_RDONLY | O_CLOEXEC);

    ck_assert_int_ge(file, 0);
    ck_assert_int_ge(read(file, text, sizeof text - 1), 0);
    close(file);
    ck_assert_str_eq(text, wanted);
}

static void set_up(void)
{
    snprintf(directory, sizeof directory, "/tmp/opened-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/log", directory);
    outside_number = -1;
    opened = opened_new(NULL);
    ck_assert_ptr_nonnull(opened);
}

static void tear_down(void)
{
    opened_free(opened);
    unlink(path);
    ck_assert_int_eq(rmdir(directory), 0);
}

START_TEST(known_since_before)
{
    make_log();
    int file = open_log(O_APPEND);

    look(1);
    append(file, "one\n");
    take(first);
    append(file, "two\n");
    look(2);
    back(first);
    check_log(BEFORE "one\n");
    ck_assert_str_eq(said, "");
    close(file);
}
END_TEST

START_TEST(known_as_not_changed)
{
    make_log();
    take(first);
    int file = open_log(O_APPEND);

    look(1);
    append(file, "one\n");
    look(1);
    back(first);
    check_log(BEFORE);
    ck_assert_str_eq(said, "");
    close(file);
}
END_TEST

START_TEST(known_as_made_since)
{
    struct statx now;

    take(first);
    int file = open_log(O_APPEND);

    append(file, "one\n");
    look(2);
    back(first);
    ck_assert_int_eq(statx(AT_FDCWD, path, 0, STATX_BTIME, &now), 0);
    if (now.stx_mask & STATX_BTIME) {
        check_log("");
        ck_assert_str_eq(said, "");
    } else {
        check_log("one\n");
        ck_assert_ptr_nonnull(strstr(said, "is not known"));
    }
    close(file);
}
END_TEST

START_TEST(not_known)
{
    make_log();
    take(first);
    int file = open_log(O_APPEND);

    append(file, "one\n");
    look(2);
    back(first);
    check_log(BEFORE "one\n");
    ck_assert_ptr_nonnull(strstr(said, path));
    ck_assert_ptr_nonnull(strstr(said, "opened after superstep 4, and its length then"));
    ck_assert_ptr_eq(strchr(said, '\n'), said + strlen(said) - 1);
    close(file);
}
END_TEST

START_TEST(not_known_and_not_appended)
{
    make_log();
    take(first);
    int file = open_log(0);

    append(file, "over the old");
    look(2);
    back(first);
    check_log("over the old");
    ck_assert_str_eq(said, "");
    close(file);
}
END_TEST

START_TEST(seen_once)
{
    make_log();
    take(first);
    int file = open_log(O_APPEND);

    look(1);
    append(file, "one\n");
    back(first);
    check_log(BEFORE "one\n");
    ck_assert_str_eq(said, "");
    close(file);
}
END_TEST

START_TEST(closed_again)
{
    make_log();
    take(first);
    int file = open_log(O_APPEND);

    look(2);
    append(file, "one\n");
    close(file);
    look(1);
    back(first);
    check_log(BEFORE "one\n");
    ck_assert_str_eq(said, "");
}
END_TEST

START_TEST(of_the_right_snapshot)
{
    make_log();
    int file = open_log(O_APPEND);

    look(1);
    take(first);
    append(file, "one\n");
    take(second);
    append(file, "two\n");
    look(2);
    back(second);
    check_log(BEFORE "one\n");
    append(file, "two\n");
    look(2);
    back(first);
    check_log(BEFORE);
    ck_assert_str_eq(said, "");
    close(file);
}
END_TEST

START_TEST(of_a_snapshot_too_old)
{
    make_log();
    int file = open_log(O_APPEND);

    look(1);
    take(first);
    for (uint64_t i = 0; i < 8; i++)
        take((struct bspz_snapshot_name){10 + i, 1});
    append(file, "one\n");
    look(2);
    back(first);
    check_log(BEFORE "one\n");
    ck_assert_ptr_nonnull(strstr(said, "is not known"));
    close(file);
}
END_TEST

/* What has the name now is another file. */
START_TEST(another_of_that_name)
{
    char other[160];

    make_log();
    int file = open_log(O_APPEND);

    look(2);
    take(first);
    append(file, "one\n");
    look(1);
    snprintf(other, sizeof other, "%s.new", path);
    int new_file = open(other, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    ck_assert_int_ge(new_file, 0);
    append(new_file, "longer than the first one was\n");
    close(new_file);
    ck_assert_int_eq(rename(other, path), 0);
    back(first);
    check_log("longer than the first one was\n");
    close(file);
}
END_TEST

START_TEST(gone)
{
    make_log();
    int file = open_log(O_APPEND);

    look(2);
    take(first);
    look(1);
    unlink(path);
    back(first);
    ck_assert_str_eq(said, "");
    close(file);
}
END_TEST

START_TEST(cannot_be_cut)
{
    make_log();
    int file = open_log(O_APPEND);

    look(2);
    take(first);
    look(1);
    unlink(path);
    ck_assert_int_eq(symlink("nothing", path), 0); /* not followed, whoever made it */
    back(first);
    ck_assert_ptr_nonnull(strstr(said, "cannot be restored to the length"));
    ck_assert_ptr_nonnull(strstr(said, strerror(ELOOP)));
    close(file);
}
END_TEST

START_TEST(not_looked_at)
{
    make_log();
    take(first);
    int reading = open(path, O_RDONLY | O_CLOEXEC), outside = open_log(O_APPEND);

    outside_number = outside;
    look(1);
    append(outside, "one\n");
    look(1);
    back(first);
    check_log(BEFORE "one\n");
    ck_assert_str_eq(said, "");
    close(reading);
    close(outside);
}
END_TEST

/* What was seen last of a process that has ended stays. */
START_TEST(of_a_dead_process)
{
    int stop[2], ready[2], status;
    char byte = 0;

    make_log();
    take(first);
    ck_assert_int_eq(pipe2(stop, O_CLOEXEC) | pipe2(ready, O_CLOEXEC), 0);
    pid_t child = fork();
    if (child == 0) {
        close(stop[1]);
        open_log(O_APPEND);
        _exit(write(ready[1], &byte, 1) == 1 && read(stop[0], &byte, 1) == 0 ? 0 : 1);
    }
    ck_assert_int_eq(read(ready[0], &byte, 1), 1);
    for (int i = 0; i < 2; i++)
        opened_look(opened, 1, child);
    int file = open_log(O_APPEND);
    append(file, "one\n");
    close(file);
    close(stop[0]);
    close(stop[1]);
    close(ready[0]);
    close(ready[1]);
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    opened_look(opened, 1, child);
    back(first);
    check_log(BEFORE);
    ck_assert_str_eq(said, "");
}
END_TEST

/* More files than are known: the newest count, and none is taken for another one. */
START_TEST(too_many)
{
    char name[160];

    make_log();
    int file = open_log(O_APPEND);

    look(2);
    take(first);
    append(file, "one\n");
    for (unsigned i = 0; i < OPENED_FILES_MAX; i++) {
        snprintf(name, sizeof name, "%s/%u", directory, i);
        int other = open(name, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
        ck_assert_int_ge(other, 0);
        opened_look(opened, 1, getpid());
        close(other);
    }
    for (unsigned i = 0; i < OPENED_FILES_MAX; i++) {
        snprintf(name, sizeof name, "%s/%u", directory, i);
        unlink(name);
    }
    look(2);
    back(first);
    check_log(BEFORE "one\n");
    ck_assert_ptr_nonnull(strstr(said, "is not known"));
    close(file);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {known_since_before,
                                  known_as_not_changed,
                                  known_as_made_since,
                                  not_known,
                                  not_known_and_not_appended,
                                  seen_once,
                                  closed_again,
                                  of_the_right_snapshot,
                                  of_a_snapshot_too_old,
                                  another_of_that_name,
                                  gone,
                                  cannot_be_cut,
                                  not_looked_at,
                                  of_a_dead_process,
                                  too_many};

    return suite_run_tests("opened", tests, sizeof tests / sizeof *tests, set_up, tear_down);
}
