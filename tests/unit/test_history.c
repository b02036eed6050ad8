/* test_history.c - the history of earlier jobs: its lines, what they say together, its file. */
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
#include "tests/unit/suite.h"

static struct history_record life(const char *site, double seconds, bool ended)
{
    struct history_record record = {.kind = HISTORY_LIFE,
                                    .time = 1000,
                                    .seconds = seconds,
                                    .ended = ended,
                                    .fault = HISTORY_HOST};

    snprintf(record.site, sizeof record.site, "%s", site);
    snprintf(record.name, sizeof record.name, "h");
    return record;
}

static struct history_record cost(const char *site, double seconds, uint64_t count)
{
    struct history_record record = {.kind = HISTORY_COST,
                                    .time = 1000,
                                    .seconds = seconds,
                                    .what = HISTORY_SNAPSHOT,
                                    .count = count,
                                    .bytes = 77};

    snprintf(record.site, sizeof record.site, "%s", site);
    return record;
}

/* ---- Lines ---- */

START_TEST(a_line_comes_back)
{
    struct history_record record = {.time = 1763836400, .fault = HISTORY_SPLIT}, back;
    char line[HISTORY_LINE_MAX];

    for (int kind = 0; kind < HISTORY_KIND_COUNT; kind++)
        for (int ended = 0; ended < 2; ended++) {
            record.kind = (enum history_kind)kind;
            record.ended = ended;
            record.what = HISTORY_RESTORE;
            record.seconds = 12.5;
            record.events = 3;
            record.count = 7;
            record.bytes = UINT64_MAX;
            record.share = 0.25;
            record.spread = 0.125;
            snprintf(record.site, sizeof record.site, "slurm:alps");
            snprintf(record.name, sizeof record.name, "node7");
            size_t length = history_print(&record, line);
            ck_assert_uint_eq(length, strlen(line));
            ck_assert_int_eq(line[length - 1], '\n');
            ck_assert(history_parse(line, length - 1, &back));
            ck_assert_int_eq(back.kind, record.kind);
            ck_assert_int_eq(back.time, record.time);
            ck_assert_str_eq(back.site, record.site);
            if (kind == HISTORY_LIFE || kind == HISTORY_SHARE)
                ck_assert_str_eq(back.name, "node7");
            if (kind == HISTORY_SHARE)
                ck_assert(back.share == 0.25 && back.spread == 0.125);
            if (kind == HISTORY_LIFE) {
                ck_assert_int_eq(back.ended, ended);
            }
            if (kind != HISTORY_JOB)
                ck_assert(back.seconds == 12.5);
            if (kind == HISTORY_COST)
                ck_assert(back.bytes == UINT64_MAX && back.what == HISTORY_RESTORE);
            if (kind == HISTORY_SEEN || kind == HISTORY_JOB)
                ck_assert(back.events == 3 && back.count == 7);
        }
}
END_TEST

START_TEST(every_cut_and_every_changed_byte_is_noticed)
{
    struct history_record record = life("local:here", 7200.25, true), back;
    char line[HISTORY_LINE_MAX];
    size_t length = history_print(&record, line) - 1;

    for (size_t i = 0; i < length; i++) {
        ck_assert(!history_parse(line, i, &back));
        for (int bit = 0; bit < 8; bit++) {
            line[i] = (char)(line[i] ^ 1 << bit);
            ck_assert_msg(!history_parse(line, length, &back), "byte %zu, bit %d", i, bit);
            line[i] = (char)(line[i] ^ 1 << bit);
        }
    }
    ck_assert(history_parse(line, length, &back));
}
END_TEST

START_TEST(names_are_one_word_of_limited_length)
{
    struct history_record record = life("a b\n\x1b[31m\xff", -1, true), back;
    char line[HISTORY_LINE_MAX];

    memset(record.name, 'n', sizeof record.name - 1);
    record.name[sizeof record.name - 1] = '\0';
    size_t length = history_print(&record, line);
    ck_assert(history_parse(line, length - 1, &back));
    ck_assert_str_eq(back.site, "a_b__[31m_");
    ck_assert(back.seconds == 0);
    ck_assert_uint_eq(strlen(back.name), HISTORY_NAME_MAX);
}
END_TEST

START_TEST(what_is_damaged_is_left_out_and_counted)
{
    struct history_record record = life("s", 10, true);
    struct history history;
    char text[2048], line[HISTORY_LINE_MAX];
    size_t size = history_head(text), length = history_print(&record, line);

    memcpy(text + size, line, length);
    size += length;
    memcpy(text + size, line, length - 3); /* killed in the middle ... */
    size += length - 3;
    text[size++] = '\n'; /* ... which the next writer closes */
    memcpy(text + size, line, length);
    size += length;
    size += history_head(text + size); /* two jobs have made it */
    memcpy(text + size, line, length);
    size += length;
    memcpy(text + size, line, 20);
    size += 20;
    ck_assert_int_eq(history_read(text, size, &history), HISTORY_GOOD);
    ck_assert_uint_eq(history.count, 3);
    ck_assert_uint_eq(history.bad, 2);
    history_free(&history);
}
END_TEST

START_TEST(other_files_are_not_taken_for_one)
{
    static const struct {
        const char *text;
        int state;
    } cases[] = {{"", HISTORY_EMPTY},
                 {"bspzero-history 1", HISTORY_STRANGE},
                 {"bspzero-history 2\n", HISTORY_OTHER_VERSION},
                 {"bspzero-history 10\n", HISTORY_OTHER_VERSION},
                 {"root:x:0:0::/:/bin/sh\n", HISTORY_STRANGE},
                 {"\n", HISTORY_STRANGE}};
    struct history history;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_int_eq(history_read(cases[i].text, strlen(cases[i].text), &history),
                         cases[i].state);
        ck_assert_uint_eq(history.count, 0);
        history_free(&history);
    }
}
END_TEST

/* ---- What they say ---- */

static void add(struct history *history, struct history_record record)
{
    history->records = realloc(history->records, (history->count + 1) * sizeof record);
    history->records[history->count++] = record;
}

START_TEST(living_hosts_count_as_time)
{
    struct history history = {0};
    struct history_site site;

    add(&history, life("s", 100, true));
    add(&history, life("other", 5, true));
    add(&history, life("s", 300, false));
    history_look(&history, "s", &site);
    ck_assert(site.rates[HISTORY_HOST].events == 1);
    ck_assert(site.rates[HISTORY_HOST].seconds == 400);
    ck_assert_uint_eq(site.rates[HISTORY_HOST].lives, 1);
    history_free(&history);
}
END_TEST

START_TEST(old_observations_count_less)
{
    struct history history = {0};
    struct history_site site;

    for (int i = 0; i < 40; i++)
        add(&history, life("s", 1000, true));
    for (int i = 0; i < 16; i++)
        add(&history, life("s", 10, true));
    history_look(&history, "s", &site);
    double rate = site.rates[HISTORY_HOST].events / site.rates[HISTORY_HOST].seconds;
    ck_assert(site.rates[HISTORY_HOST].all_events == 56);
    ck_assert(site.rates[HISTORY_HOST].events < 13);
    ck_assert(1 / rate < 400); /* all alike: 717 */
    history_free(&history);
}
END_TEST

START_TEST(costs_are_means)
{
    struct history history = {0};
    struct history_site site;

    add(&history, cost("s", 4, 2));
    add(&history, cost("s", 2, 2));
    history_look(&history, "s", &site);
    ck_assert(site.snapshot.seconds > 2 && site.snapshot.seconds < 3); /* the newer counts more */
    ck_assert_uint_eq(site.snapshot.count, 4);
    ck_assert_uint_eq(site.snapshot.bytes, 77);
    ck_assert(site.commit.weight == 0);
    history_free(&history);
}
END_TEST

static struct history_record share(const char *site, const char *name, double share, double seconds)
{
    struct history_record record = {
        .kind = HISTORY_SHARE, .time = 1000, .share = share, .spread = 0.1, .seconds = seconds};

    snprintf(record.site, sizeof record.site, "%s", site);
    snprintf(record.name, sizeof record.name, "%s", name);
    return record;
}

static void look_at_shares(const struct history *history)
{
    size_t count;
    struct history_share *shares = history_shares(history, "s", &count);
    const struct history_share *busy = history_share_of(shares, count, "busy");

    ck_assert_uint_eq(count, 2);
    ck_assert_ptr_null(history_share_of(shares, count, "x"));
    ck_assert_ptr_nonnull(busy);
    /* A day at 0.6 that is a day older counts by half. */
    ck_assert_double_eq_tol(busy->sum / busy->seconds, (0.3 + 0.5 * 0.6) / 1.5, 1e-3);
    ck_assert_double_eq_tol(busy->squares / busy->seconds,
                            (0.09 + 0.01 + 0.5 * (0.36 + 0.01)) / 1.5, 1e-3);
    ck_assert_double_eq_tol(history_share_of(shares, count, "a_b")->sum, 600, 1);
    free(shares);
}

START_TEST(hosts_have_shares)
{
    struct history history = {0}, smaller;
    struct history_site site;
    size_t size;

    add(&history, share("s", "busy", 0.6, 86400));
    add(&history, share("s", "busy", 0.3, 86400));
    add(&history, share("s", "a_b", 1, 600));
    add(&history, share("t", "x", 1, 86400));
    add(&history, share("s", "x", 1, 0));
    look_at_shares(&history);
    history_look(&history, "s", &site);
    ck_assert(site.jobs == 0 && site.rates[HISTORY_HOST].seconds == 0);
    for (int i = 0; i < 1000; i++)
        add(&history, life("s", 50, false));
    char *text = history_compact(&history, 8192, &size);
    ck_assert_ptr_nonnull(text);
    ck_assert_int_eq(history_read(text, size, &smaller), HISTORY_GOOD);
    look_at_shares(&smaller);
    history_free(&smaller);
    free(text);
    for (int i = 0; i < 5000; i++) { /* the site stays, and its newest hosts */
        char name[32];
        snprintf(name, sizeof name, "h%d", i);
        add(&history, share("s", name, 1, 60));
    }
    for (int i = 0; i < 5000; i++)
        add(&history, life("s", 50, false));
    text = history_compact(&history, HISTORY_FILE_MAX / 2, &size);
    ck_assert_int_eq(history_read(text, size, &smaller), HISTORY_GOOD);
    history_look(&smaller, "s", &site);
    ck_assert(site.rates[HISTORY_HOST].all_seconds > 200000);
    struct history_share *shares = history_shares(&smaller, "s", &size);
    ck_assert_uint_eq(size, HISTORY_HOSTS_MAX);
    ck_assert_ptr_nonnull(history_share_of(shares, size, "h4999"));
    free(shares);
    history_free(&smaller);
    history_free(&history);
    free(text);
}
END_TEST

START_TEST(what_is_made_smaller_says_the_same)
{
    struct history history = {0}, smaller;
    struct history_site before, after;
    size_t size;

    for (int i = 0; i < 3000; i++) {
        add(&history, life(i % 3 ? "s" : "t", 50 + i % 7, i % 2));
        if (i % 100 == 0)
            add(&history, cost("s", 1, 3));
    }
    add(&history,
        (struct history_record){.kind = HISTORY_JOB, .site = "s", .events = 4, .count = 1});
    char *text = history_compact(&history, 32768, &size);
    ck_assert_ptr_nonnull(text);
    ck_assert_uint_le(size, 32768);
    ck_assert_int_eq(history_read(text, size, &smaller), HISTORY_GOOD);
    ck_assert_uint_eq(smaller.bad, 0);
    history_look(&history, "s", &before);
    history_look(&smaller, "s", &after);
    double first = before.rates[HISTORY_HOST].seconds / before.rates[HISTORY_HOST].events;
    double second = after.rates[HISTORY_HOST].seconds / after.rates[HISTORY_HOST].events;
    ck_assert(second > 0.95 * first && second < 1.05 * first);
    ck_assert_uint_eq(after.jobs, 1);
    ck_assert_uint_eq(after.hosts, 4);
    ck_assert(after.snapshot.weight > 0 && after.snapshot.seconds == 1);
    history_free(&history);
    history_free(&smaller);
    free(text);
}
END_TEST

START_TEST(of_too_many_sites_the_newest_stay)
{
    struct history history = {0}, smaller;
    const char *names[HISTORY_SITES_MAX];
    struct history_site site;
    size_t size;

    for (int i = 0; i < 2000; i++) {
        char name[32];

        snprintf(name, sizeof name, "site-%d", i);
        add(&history, life(name, 50, true));
    }
    char *text = history_compact(&history, 16384, &size);
    ck_assert_uint_le(size, 16384);
    ck_assert_int_eq(history_read(text, size, &smaller), HISTORY_GOOD);
    history_look(&smaller, "site-1999", &site);
    ck_assert(site.rates[HISTORY_HOST].events == 1);
    ck_assert_uint_gt(history_sites(&smaller, names, HISTORY_SITES_MAX), 50);
    ck_assert_str_eq(names[0], "site-1999");
    history_free(&history);
    history_free(&smaller);
    free(text);
}
END_TEST

START_TEST(sites_have_names)
{
    const char *of_domain[] = {"a.x.org", "b.X.org"}, *mixed[] = {"a.x.org", "b.y.org"},
               *numbers[] = {"10.0.0.1", "10.0.0.2"};
    char name[HISTORY_NAME_MAX + 1];

    history_site_name("alps", "me", mixed, 2, name);
    ck_assert_str_eq(name, "slurm:alps");
    history_site_name("", "me", of_domain, 2, name);
    ck_assert_str_eq(name, "domain:x.org");
    history_site_name(NULL, "me", mixed, 2, name);
    ck_assert_str_eq(name, "hosts-of:me");
    history_site_name(NULL, "me", numbers, 2, name);
    ck_assert_str_eq(name, "hosts-of:me");
    history_site_name(NULL, "me", of_domain, 1, name);
    ck_assert_str_eq(name, "local:me");
}
END_TEST

/* ---- The file ---- */

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
    Suite *suite = suite_create("history");
    TCase *pure = tcase_create("lines"), *files = tcase_create("file");

    tcase_add_test(pure, a_line_comes_back);
    tcase_add_test(pure, every_cut_and_every_changed_byte_is_noticed);
    tcase_add_test(pure, names_are_one_word_of_limited_length);
    tcase_add_test(pure, what_is_damaged_is_left_out_and_counted);
    tcase_add_test(pure, other_files_are_not_taken_for_one);
    tcase_add_test(pure, living_hosts_count_as_time);
    tcase_add_test(pure, old_observations_count_less);
    tcase_add_test(pure, costs_are_means);
    tcase_add_test(pure, hosts_have_shares);
    tcase_add_test(pure, what_is_made_smaller_says_the_same);
    tcase_add_test(pure, of_too_many_sites_the_newest_stay);
    tcase_add_test(pure, sites_have_names);
    tcase_add_test(pure, the_file_has_its_place);
    tcase_add_checked_fixture(files, make_directory, remove_directory);
    tcase_set_timeout(files, 120);
    tcase_add_test(files, what_is_appended_is_read);
    tcase_add_test(files, a_cut_line_spoils_no_other);
    tcase_add_test(files, files_that_are_none_are_left_alone);
    tcase_add_test(files, a_full_disk_cuts_a_line);
    tcase_add_test(files, the_lock_is_waited_for);
    tcase_add_test(files, a_user_mask_takes_nothing_from_the_owner);
    tcase_add_test(files, a_file_system_without_modes);
    tcase_add_test(files, a_file_system_that_does_not_answer);
    tcase_add_test(files, a_line_for_a_file_system_that_does_not_answer);
    tcase_add_test(files, no_home_is_made);
    tcase_add_test(files, many_write_at_once_and_nothing_is_lost);
    tcase_add_test(files, kill_of_writers_costs_a_line_each_at_most);
    suite_add_tcase(suite, pure);
    suite_add_tcase(suite, files);
    return suite_run(suite);
}
