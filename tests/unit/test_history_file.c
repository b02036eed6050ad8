/* test_history_file.c - the history of earlier jobs: its file, which several write at once. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bsprun/history/history.h"
#include "tests/unit/history_life.h"
#include "tests/unit/suite.h"

static char directory[64], path[128];

static void make_directory(void)
{
    snprintf(directory, sizeof directory, "/tmp/history-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/state/bspzero/history", directory);
}

static void remove_directory(void)
{
    char command[128];

    snprintf(command, sizeof command, "rm -rf %s", directory);
    ck_assert_int_eq(system(command), 0);
}

static const char *home, *state, *chosen;

static const char *lookup(const char *name)
{
    return strcmp(name, "HOME") == 0              ? home
           : strcmp(name, "XDG_STATE_HOME") == 0  ? state
           : strcmp(name, "BSPZERO_HISTORY") == 0 ? chosen
                                                  : NULL;
}

START_TEST(the_file_has_its_place)
{
    char found[HISTORY_PATH_MAX], why[512];

    home = "/home/u";
    ck_assert(history_path(lookup, found, why, sizeof why));
    ck_assert_str_eq(found, "/home/u/.local/state/bspzero/history");
    state = "relative";
    ck_assert(history_path(lookup, found, why, sizeof why));
    ck_assert_str_eq(found, "/home/u/.local/state/bspzero/history");
    state = "/s";
    ck_assert(history_path(lookup, found, why, sizeof why));
    ck_assert_str_eq(found, "/s/bspzero/history");
    chosen = "x/y";
    ck_assert(history_path(lookup, found, why, sizeof why));
    ck_assert_str_eq(found, "x/y");
    chosen = "off";
    ck_assert(!history_path(lookup, found, why, sizeof why));
    ck_assert_str_eq(why, "");
    chosen = state = home = NULL;
    ck_assert(!history_path(lookup, found, why, sizeof why));
    ck_assert_ptr_nonnull(strstr(why, "HOME"));
}
END_TEST

static int append_one(const struct history_record *record, char why[512])
{
    char line[HISTORY_LINE_MAX];
    size_t length = history_print(record, line);

    return history_append(path, line, length, why, 512);
}

START_TEST(what_is_appended_is_read)
{
    struct history_record record = life("s", 5, true);
    struct history history;
    struct stat status;
    char why[512];

    ck_assert_int_eq(history_load(path, &history, why, sizeof why), 0);
    ck_assert_uint_eq(history.count, 0);
    for (int i = 0; i < 3; i++)
        ck_assert_msg(append_one(&record, why) == 0, "%s", why);
    ck_assert_int_eq(history_load(path, &history, why, sizeof why), 0);
    ck_assert_uint_eq(history.count, 3);
    ck_assert_uint_eq(history.bad, 0);
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_int_eq(status.st_mode & 0777, 0600);
    history_free(&history);
}
END_TEST

START_TEST(a_cut_line_spoils_no_other)
{
    struct history_record record = life("s", 5, true);
    struct history history;
    struct stat status;
    char why[512];

    ck_assert_int_eq(append_one(&record, why), 0);
    ck_assert_int_eq(append_one(&record, why), 0);
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_int_eq(truncate(path, status.st_size - 7), 0);
    ck_assert_int_eq(append_one(&record, why), 0);
    ck_assert_int_eq(history_load(path, &history, why, sizeof why), 0);
    ck_assert_uint_eq(history.count, 2);
    ck_assert_uint_eq(history.bad, 1);
    history_free(&history);
}
END_TEST

static void expect_refusal(const char *text)
{
    struct history_record record = life("s", 5, true);
    struct history history;
    struct stat before, after;
    char why[512];
    bool there = stat(path, &before) == 0;

    ck_assert_int_eq(history_load(path, &history, why, sizeof why), -1);
    ck_assert_msg(strstr(why, text) != NULL, "%s", why);
    ck_assert_int_eq(append_one(&record, why), -1);
    ck_assert_msg(strstr(why, text) != NULL, "%s", why);
    if (there) {
        ck_assert_int_eq(stat(path, &after), 0);
        ck_assert_int_eq(before.st_size, after.st_size);
    }
}

static void write_file(const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

START_TEST(files_that_are_none_are_left_alone)
{
    struct history_record record = life("s", 5, true);
    char why[512], other[160];

    ck_assert_int_eq(append_one(&record, why), 0);
    ck_assert_int_eq(chmod(path, 0622), 0);
    expect_refusal("writable by others");
    ck_assert_int_eq(chmod(path, 0600), 0);
    write_file("bspzero-history 2\nwhat will be\n");
    expect_refusal("another version");
    write_file("something else\n");
    expect_refusal("not a history file");
    ck_assert_int_eq(truncate(path, HISTORY_READ_MAX + 1), 0);
    expect_refusal("too large");
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(symlink("/dev/null", path), 0);
    expect_refusal("symbolic link");
    ck_assert_int_eq(unlink(path), 0);
    ck_assert_int_eq(mkfifo(path, 0600), 0);
    expect_refusal("not a regular file");
    ck_assert_int_eq(unlink(path), 0);
    if (geteuid() == 0) {
        write_file("bspzero-history 1\n");
        ck_assert_int_eq(chown(path, 65534, 65534), 0);
        expect_refusal("another user");
        ck_assert_int_eq(unlink(path), 0);
    }
    /* A file where a directory should be. */
    snprintf(other, sizeof other, "%s/history", path);
    write_file("bspzero-history 1\n");
    snprintf(path, sizeof path, "%.120s", other);
    expect_refusal("Not a directory");
}
END_TEST

/* Without a disk that could be filled: the shell's limit on files has the same effect. */
START_TEST(a_full_disk_cuts_a_line)
{
    struct history_record record = life("s", 5, true);
    struct history history;
    struct stat status;
    char why[512];
    int how;

    ck_assert_int_eq(append_one(&record, why), 0);
    ck_assert_int_eq(stat(path, &status), 0);
    pid_t child = fork(); /* what tests write themselves is limited, too */
    ck_assert_int_ge(child, 0);
    if (child == 0) {
        struct rlimit small = {(rlim_t)status.st_size + 20, RLIM_INFINITY};
        bool good = setrlimit(RLIMIT_FSIZE, &small) == 0 && append_one(&record, why) == -1 &&
                    (strstr(why, "No space") || strstr(why, "too large"));

        /* Not a byte more: this brings the signal of the limit. */
        _exit(good && append_one(&record, why) == -1 && strstr(why, "too large") ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(child, &how, 0), child);
    ck_assert_int_eq(how, 0);
    ck_assert_int_eq(append_one(&record, why), 0);
    ck_assert_int_eq(history_load(path, &history, why, sizeof why), 0);
    ck_assert_uint_eq(history.count, 2);
    ck_assert_uint_eq(history.bad, 1);
    history_free(&history);
}
END_TEST

START_TEST(no_home_is_made)
{
    struct history_record record = life("s", 5, true);
    char why[512];

    snprintf(path, sizeof path, "%s/nobody/.local/state/bspzero/history", directory);
    ck_assert_int_eq(append_one(&record, why), -1);
    ck_assert_msg(strstr(why, "No such file") != NULL, "%s", why);
    snprintf(path, sizeof path, "%s/nobody", directory);
    ck_assert_int_ne(access(path, F_OK), 0);
}
END_TEST

#define WRITERS 8
#define EACH    900

/* More than the file may hold, so that it is made smaller again and again meanwhile. */
START_TEST(many_write_at_once_and_nothing_is_lost)
{
    struct history history;
    struct history_site site;
    struct stat status;
    char why[512];

    for (int i = 0; i < WRITERS; i++) {
        pid_t child = fork();

        ck_assert_int_ge(child, 0);
        if (child == 0) {
            struct history_record record = life("s", 5, false);
            int failed = 0;

            snprintf(record.name, sizeof record.name, "%050d", i);
            for (int k = 0; k < EACH && failed < 100; k++)
                if (append_one(&record, why) != 0) {
                    k--;
                    failed++;
                }
            _exit(failed < 100 ? 0 : 1);
        }
    }
    for (int i = 0; i < WRITERS; i++) {
        int how;

        ck_assert_int_gt(wait(&how), 0);
        ck_assert_int_eq(how, 0);
    }
    ck_assert_int_eq(stat(path, &status), 0);
    ck_assert_int_le(status.st_size, (int)(HISTORY_FILE_MAX + HISTORY_LINE_MAX * WRITERS));
    ck_assert_int_eq(history_load(path, &history, why, sizeof why), 0);
    ck_assert_uint_eq(history.bad, 0);
    history_look(&history, "s", &site);
    ck_assert(site.rates[HISTORY_HOST].all_seconds == 5.0 * WRITERS * EACH);
    history_free(&history);
}
END_TEST

/* What a writer leaves that is killed at any moment. */
START_TEST(kill_of_writers_costs_a_line_each_at_most)
{
    struct history history;
    char why[512];

    for (int i = 0; i < 30; i++) {
        int begun[2];
        char byte;

        ck_assert_int_eq(pipe(begun), 0);
        pid_t child = fork();

        ck_assert_int_ge(child, 0);
        if (child == 0) {
            struct history_record record = life("s", 5, false);

            append_one(&record, why);
            if (write(begun[1], "", 1) != 1)
                _exit(1);
            for (;;)
                append_one(&record, why);
        }
        ck_assert_int_eq(read(begun[0], &byte, 1), 1); /* its first line is there */
        close(begun[0]);
        close(begun[1]);
        usleep((useconds_t)(500 + 397 * i));
        kill(child, SIGKILL);
        ck_assert_int_eq(waitpid(child, NULL, 0), child);
    }
    ck_assert_int_eq(history_load(path, &history, why, sizeof why), 0);
    ck_assert_uint_gt(history.count, 0); /* a history that grows long is made shorter */
    ck_assert_uint_le(history.bad, 30);
    history_free(&history);
}
END_TEST

/* In place of another job that holds the lock: so often it is held. */
static unsigned held;

int __real_flock(int fd, int operation);
int __wrap_flock(int fd, int operation);
int __wrap_flock(int fd, int operation)
{
    if (held > 0 && (operation & LOCK_SH)) {
        held--;
        errno = EWOULDBLOCK;
        return -1;
    }
    return __real_flock(fd, operation);
}

/* It may be another job that condenses the file on a slow server, for more than a second. */
START_TEST(the_lock_is_waited_for)
{
    struct history_record record = life("s", 5, true);
    char why[512];

    held = 600;
    ck_assert_msg(append_one(&record, why) == 0, "%s", why);
    held = UINT_MAX;
    ck_assert_int_eq(append_one(&record, why), -1);
    ck_assert_ptr_nonnull(strstr(why, "another job holds its lock"));
}
END_TEST

/* What was made is made accessible before anything is asserted, which may leave it. */
static mode_t mode_of(const char *name)
{
    struct stat status;
    bool there = stat(name, &status) == 0;

    if (there)
        chmod(name, S_ISDIR(status.st_mode) ? 0700 : 0600);
    return there ? status.st_mode & 0777 : 0;
}

static int append_unmasked(const struct history_record *record, char why[512])
{
    mode_t before = umask(0777);
    int result = append_one(record, why);

    umask(before);
    return result;
}

/* Others use these directories, too. */
START_TEST(a_user_mask_takes_nothing_from_the_owner)
{
    struct history_record record = life("s", 5, true);
    char why[512], names[3][sizeof path];
    mode_t modes[3];

    for (int i = 0; i < 3; i++)
        snprintf(names[i], sizeof names[i], "%s/local%s%s", directory, i > 0 ? "/state" : "",
                 i > 1 ? "/history" : "");
    snprintf(path, sizeof path, "%s", names[2]);
    int result = append_unmasked(&record, why);
    for (int i = 0; i < 3; i++)
        modes[i] = mode_of(names[i]);
    ck_assert_msg(result == 0, "%s", why);
    ck_assert_uint_eq(modes[0], 0700);
    ck_assert_uint_eq(modes[1], 0700);
    ck_assert_uint_eq(modes[2], 0600);
    ck_assert_int_eq(truncate(path, HISTORY_FILE_MAX + 1), 0);
    ck_assert_int_eq(append_unmasked(&record, why), 0);
    struct stat smaller;
    ck_assert_int_eq(stat(path, &smaller), 0);
    ck_assert_int_lt(smaller.st_size, HISTORY_FILE_MAX);
    ck_assert_uint_eq(mode_of(path), 0600);
}
END_TEST

/* In place of a file system without modes, as vfat and some in user space are. */
static bool no_modes;

int __real_fchmod(int fd, mode_t mode);
int __wrap_fchmod(int fd, mode_t mode);
int __wrap_fchmod(int fd, mode_t mode)
{
    if (no_modes) {
        errno = EPERM;
        return -1;
    }
    return __real_fchmod(fd, mode);
}

START_TEST(a_file_system_without_modes)
{
    struct history_record record = life("s", 5, true);
    struct stat smaller;
    char why[512];

    no_modes = true;
    ck_assert_msg(append_one(&record, why) == 0, "%s", why);
    ck_assert_int_eq(truncate(path, HISTORY_FILE_MAX + 1), 0);
    ck_assert_msg(append_one(&record, why) == 0, "%s", why);
    ck_assert_int_eq(stat(path, &smaller), 0);
    ck_assert_int_lt(smaller.st_size, HISTORY_FILE_MAX);
}
END_TEST

/* In place of a server that does not answer: whoever opens a file of that name gets no further
 * before `answer` is closed. */
#define MUTE "does-not-answer"
static int answer[2] = {-1, -1};

int __real_open64(const char *path, int flags, mode_t mode);
int __wrap_open64(const char *path, int flags, mode_t mode);
int __wrap_open64(const char *path, int flags, mode_t mode)
{
    char byte;

    if (strstr(path, MUTE))
        while (read(answer[0], &byte, 1) < 0 && errno == EINTR)
            ;
    return __real_open64(path, flags, mode);
}

START_TEST(a_file_system_that_does_not_answer)
{
    char line[HISTORY_LINE_MAX], mute[128], why[512];
    struct history_record record = life("site", 60, true);
    struct history history;

    ck_assert_int_eq(pipe(answer), 0);
    snprintf(mute, sizeof mute, "%s/" MUTE, directory);
    ck_assert_int_eq(history_load_within(50, mute, &history, why, sizeof why), -1);
    ck_assert_ptr_nonnull(strstr(why, "does not answer"));
    ck_assert_uint_eq(history.count, 0);
    close(answer[1]); /* the thread that was left behind ends, with what it has */
    size_t length = history_print(&record, line);
    ck_assert_int_eq(history_append(mute, line, length, why, sizeof why), 0);
    ck_assert_int_eq(history_load_within(60000, mute, &history, why, sizeof why), 0);
    ck_assert_uint_eq(history.count, 1);
    history_free(&history);
    snprintf(path, sizeof path, "%s/link", directory);
    ck_assert_int_eq(symlink(mute, path), 0); /* the reason is handed on */
    ck_assert_int_eq(history_load_within(60000, path, &history, why, sizeof why), -1);
    ck_assert_ptr_nonnull(strstr(why, "symbolic link"));
}
END_TEST

START_TEST(a_line_for_a_file_system_that_does_not_answer)
{
    char line[HISTORY_LINE_MAX], mute[128], why[512] = "";
    struct history_record record = life("site", 60, true);
    size_t length = history_print(&record, line);
    struct pollfd done = {.events = POLLIN};
    struct history history;

    ck_assert_int_eq(pipe(answer), 0);
    snprintf(mute, sizeof mute, "%s/" MUTE, directory);
    struct history_writing *first = history_append_begin(mute, line, length, &done.fd);
    ck_assert_ptr_nonnull(first);
    ck_assert_int_eq(poll(&done, 1, 50), 0);
    ck_assert_int_eq(history_append_end(first, why, sizeof why), -1);
    ck_assert_ptr_nonnull(strstr(why, "does not answer"));
    close(answer[1]); /* what was left behind is written after all, and says so to nobody */
    ck_assert_int_eq(poll(&done, 1, -1), 1);
    close(done.fd);
    struct history_writing *second = history_append_begin(mute, line, length, &done.fd);
    ck_assert_ptr_nonnull(second);
    ck_assert_int_eq(poll(&done, 1, -1), 1);
    close(done.fd);
    ck_assert_int_eq(history_append_end(second, why, sizeof why), 0);
    ck_assert_int_eq(history_load(mute, &history, why, sizeof why), 0);
    ck_assert_uint_eq(history.count, 2);
    history_free(&history);
    struct history_writing *bad = history_append_begin("/", line, length, &done.fd);
    ck_assert_ptr_nonnull(bad);
    ck_assert_int_eq(poll(&done, 1, -1), 1);
    close(done.fd);
    ck_assert_int_eq(history_append_end(bad, why, sizeof why), -1);
    ck_assert_ptr_nonnull(strstr(why, ", /, is not used: Is a directory"));
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("history file");
    TCase *tests = tcase_create("file");

    tcase_add_checked_fixture(tests, make_directory, remove_directory);
    tcase_set_timeout(tests, 120);
    tcase_add_test(tests, the_file_has_its_place);
    tcase_add_test(tests, what_is_appended_is_read);
    tcase_add_test(tests, a_cut_line_spoils_no_other);
    tcase_add_test(tests, files_that_are_none_are_left_alone);
    tcase_add_test(tests, a_full_disk_cuts_a_line);
    tcase_add_test(tests, the_lock_is_waited_for);
    tcase_add_test(tests, a_user_mask_takes_nothing_from_the_owner);
    tcase_add_test(tests, a_file_system_without_modes);
    tcase_add_test(tests, a_file_system_that_does_not_answer);
    tcase_add_test(tests, a_line_for_a_file_system_that_does_not_answer);
    tcase_add_test(tests, no_home_is_made);
    tcase_add_test(tests, many_write_at_once_and_nothing_is_lost);
    tcase_add_test(tests, kill_of_writers_costs_a_line_each_at_most);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
