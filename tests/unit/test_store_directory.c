/* test_store_directory.c - where a host keeps the images of a job whose directory it cannot have;
 * see store_directory.c. */
#include <check.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/snapshot/inside.h"
#include "tests/unit/suite.h"

#define JOB "010101010101" /* the job id in hexadecimal, the first digits */

static struct agent agent;
static struct agent_snapshots snapshots;
static char root[64], why[AGENT_WHY];

/* ---- In place of the rest of the agent ---- */

const struct coord_outcome *agent_outcome(const struct agent *at)
{
    static const struct coord_outcome good = {.cause = WIRE_CAUSE_NONE};

    (void)at;
    return &good;
}

void agent_notice(struct agent *at, const char *format, ...)
{
    (void)at;
    ck_abort_msg("notice: %s", format);
}

static void make_root(void)
{
    strcpy(root, "/tmp/bspzero-directory-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(root));
    setenv("TMPDIR", root, 1);
}

static void remove_root(void)
{
    char command[96];

    snprintf(command, sizeof command, "rm -rf %s", root);
    ck_assert_int_eq(system(command), 0);
}

/* A host of a job of several hosts, which does not share bsprun's directory. */
static void open_at(uint32_t host, const char *path)
{
    snapshots = (struct agent_snapshots){.recover = true};
    agent = (struct agent){.host = host, .snapshots = &snapshots, .peers = (void *)root};
    memset(agent.job_id, 1, sizeof agent.job_id);
    int error = agent_store_open(&agent, path, "", why);
    ck_assert_msg(error == 0, "%s", why);
    ck_assert(!snapshots.shared);
}

/* It cannot have /proc/nowhere. */
static void open_hidden_at(uint32_t host)
{
    open_at(host, "/proc/nowhere/" JOB);
    ck_assert(snapshots.hidden);
}

static void open_hidden(void)
{
    open_hidden_at(7);
}

static void close_hidden(void)
{
    store_close(agent.store);
    free(snapshots.path);
}

static const char *name_at(uint32_t host, const char *suffix)
{
    static char text[PATH_MAX];

    snprintf(text, sizeof text, "%s/bspzero-store-%u-%u%s", root, (unsigned)geteuid(), host,
             suffix);
    return text;
}

static const char *name(const char *suffix)
{
    return name_at(7, suffix);
}

static bool exists(const char *path)
{
    struct stat about;

    return lstat(path, &about) == 0;
}

static void make_job_at(uint32_t host, mode_t mode)
{
    struct store *store;

    ck_assert_int_eq(store_open(&store, name_at(host, ""), STORE_CREATE, NULL, why), 0);
    store_close(store);
    ck_assert(store_locked_here(name_at(host, "")));
    ck_assert_int_eq(mkdir(name_at(host, "/" JOB), 0700), 0);
    ck_assert_int_eq(chmod(name_at(host, ""), mode), 0);
}

static void expect(const char *suffix)
{
    open_hidden();
    ck_assert_str_eq(snapshots.path, name(suffix));
    close_hidden();
}

START_TEST(a_name_that_is_taken_is_passed_over)
{
    int file = open(name(""), O_CREAT | O_WRONLY, 0600);

    ck_assert_int_ge(file, 0);
    close(file);
    expect("-2/" JOB);
    ck_assert_int_eq(mkdir(name("-3"), 0700), 0);
    ck_assert_int_eq(chmod(name("-2"), 0777), 0);
    expect("-3/" JOB);
}
END_TEST

START_TEST(a_job_stays_where_it_is)
{
    int file = open(name(""), O_CREAT | O_WRONLY, 0600);

    ck_assert_int_ge(file, 0);
    close(file);
    expect("-2/" JOB);
    ck_assert_int_eq(unlink(name("")), 0);
    expect("-2/" JOB);
}
END_TEST

/* Where the host is in the list of hosts may change with each restart. */
START_TEST(it_is_found_under_another_number)
{
    open_hidden();
    close_hidden();
    open_hidden_at(3);
    ck_assert_str_eq(snapshots.path, name("/" JOB));
    ck_assert(!exists(name_at(3, "")));
    agent.finished = true;
    agent_store_remove(&agent);
    close_hidden();
    ck_assert(!exists(name("")));
}
END_TEST

START_TEST(its_own_number_comes_first)
{
    open_hidden_at(3);
    struct store *other = agent.store;
    free(snapshots.path);
    open_hidden(); /* what another agent here has is locked */
    ck_assert_str_eq(snapshots.path, name("/" JOB));
    store_close(other);
    close_hidden();
    open_hidden();
    ck_assert_str_eq(snapshots.path, name("/" JOB));
    close_hidden();
}
END_TEST

/* Hosts may share $TMPDIR. */
START_TEST(what_another_host_has_is_its_own)
{
    char path[PATH_MAX];

    open_hidden();
    close_hidden();
    FILE *lock = fopen(name("/lock"), "w");
    ck_assert_ptr_nonnull(lock);
    fputs("process 1 on another-host\n", lock);
    fclose(lock);
    open_hidden_at(3);
    ck_assert_str_eq(snapshots.path, name_at(3, "/" JOB));
    agent.finished = true;
    agent_store_remove(&agent);
    close_hidden();
    snprintf(path, sizeof path, "%s/own/" JOB, root);
    open_at(7, path); /* the other host had this number */
    ck_assert_str_eq(snapshots.path, path);
    close_hidden();
}
END_TEST

START_TEST(what_others_may_have_made_is_not_used)
{
    char target[PATH_MAX];

    open_hidden();
    close_hidden();
    snprintf(target, sizeof target, "%s/elsewhere", root);
    ck_assert_int_eq(rename(name(""), target), 0);
    ck_assert_int_eq(symlink(target, name_at(1, "")), 0);
    make_job_at(2, 0777);
    snprintf(target, sizeof target, "%s/elsewhere/" JOB, root);
    make_job_at(4, 0700);
    ck_assert_int_eq(rmdir(name_at(4, "/" JOB)), 0);
    ck_assert_int_eq(symlink(target, name_at(4, "/" JOB)), 0);
    make_job_at(5, 0700); /* without records: another job, perhaps */
    open_hidden_at(3);
    ck_assert_str_eq(snapshots.path, name_at(3, "/" JOB));
    close_hidden();
}
END_TEST

/* The user's directory was another job's, or could not be made, when the job began. */
START_TEST(it_is_found_when_the_directory_is_free_again)
{
    char directory[PATH_MAX], path[PATH_MAX + sizeof JOB];

    snprintf(directory, sizeof directory, "%s/own", root);
    snprintf(path, sizeof path, "%s/" JOB, directory);
    int file = open(directory, O_CREAT | O_WRONLY, 0600);
    ck_assert_int_ge(file, 0);
    close(file);
    open_at(7, path);
    ck_assert_str_eq(snapshots.path, name("/" JOB));
    close_hidden();
    ck_assert_int_eq(unlink(directory), 0);
    open_at(7, path);
    ck_assert_str_eq(snapshots.path, name("/" JOB));
    ck_assert(snapshots.hidden);
    ck_assert(!exists(directory));
    agent.finished = true;
    agent_store_remove(&agent);
    close_hidden();
    ck_assert(!exists(name("")));
    open_at(7, path);
    ck_assert_str_eq(snapshots.path, path);
    ck_assert(!snapshots.hidden);
    close_hidden();
    open_hidden();
    close_hidden();
    open_at(7, path); /* the user's has it, too, and comes first */
    ck_assert_str_eq(snapshots.path, path);
    ck_assert(!snapshots.hidden);
    close_hidden();
}
END_TEST

START_TEST(a_good_end_removes_it)
{
    open_hidden();
    agent.finished = true;
    agent_store_remove(&agent);
    close_hidden();
    ck_assert_int_ne(access(name(""), F_OK), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store directory");
    TCase *hidden = tcase_create("hidden");

    tcase_add_checked_fixture(hidden, make_root, remove_root);
    tcase_add_test(hidden, a_name_that_is_taken_is_passed_over);
    tcase_add_test(hidden, a_job_stays_where_it_is);
    tcase_add_test(hidden, it_is_found_under_another_number);
    tcase_add_test(hidden, its_own_number_comes_first);
    tcase_add_test(hidden, what_another_host_has_is_its_own);
    tcase_add_test(hidden, what_others_may_have_made_is_not_used);
    tcase_add_test(hidden, it_is_found_when_the_directory_is_free_again);
    tcase_add_test(hidden, a_good_end_removes_it);
    suite_add_tcase(suite, hidden);
    return suite_run(suite);
}
