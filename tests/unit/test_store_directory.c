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

static unsigned notices;
static bool may_notice;

void agent_notice(struct agent *at, const char *format, ...)
{
    (void)at;
    notices++;
    ck_assert_msg(may_notice, "notice: %s", format);
}

static char end[AGENT_WHY];

void agent_cannot_go_on(struct agent *at, int pid, const char *text)
{
    ck_assert(at == &agent && pid == COORD_NOBODY);
    snprintf(end, sizeof end, "%s", text);
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

/* ---- The record of terms ---- */

static void expect_terms(uint32_t count, uint32_t last)
{
    struct manifest_terms terms;

    ck_assert_int_eq(store_terms(agent.store, &terms, why), 0);
    ck_assert_uint_eq(terms.terms.count, count);
    ck_assert_uint_eq(terms.terms.items[count - 1].term, last);
    manifest_terms_free(&terms);
}

static void note(uint32_t term, uint64_t superstep, uint32_t from)
{
    agent.term = term;
    agent_note_term(&agent, (struct bspz_snapshot_name){superstep, from});
}

static void expect_began(uint32_t index, uint32_t term, uint64_t superstep, uint32_t from)
{
    struct manifest_terms terms;

    ck_assert_int_eq(store_terms(agent.store, &terms, why), 0);
    ck_assert_uint_gt(terms.terms.count, index);
    const struct manifest_term *began = &terms.terms.items[index];
    ck_assert_uint_eq(began->term, term);
    ck_assert_uint_eq(began->from.superstep, superstep);
    ck_assert_uint_eq(began->from.term, from);
    manifest_terms_free(&terms);
}

/* It comes in term 5: of 2 and 4 bsprun has said how they began, of 3 nothing has remained. */
START_TEST(terms_that_this_host_has_missed_are_noted)
{
    struct coord_lineage *lineage = &agent.election.lineage;

    open_hidden();
    coord_lineage_add(lineage, 2, (struct bspz_snapshot_name){4, 1});
    coord_lineage_add(lineage, 3, (struct bspz_snapshot_name){8, 2});
    coord_lineage_add(lineage, 4, (struct bspz_snapshot_name){7, 2});
    coord_lineage_add(lineage, 5, (struct bspz_snapshot_name){9, 4}); /* at most from there */
    note(5, 9, 4);
    expect_terms(4, 5);
    expect_began(1, 2, 4, 1);
    expect_began(2, 4, 7, 2);
    expect_began(3, 5, 9, 4);
    /* What it has got already is not said again. */
    coord_lineage_add(lineage, 6, (struct bspz_snapshot_name){12, 5});
    note(7, 14, 6);
    expect_terms(6, 7);
    expect_began(4, 6, 12, 5);
    close_hidden();
}
END_TEST

/* A directory is where the record is written, so that nobody can write it. */
START_TEST(a_term_that_was_not_noted_is_noted_later)
{
    char blocked[PATH_MAX + 16];

    open_hidden();
    ck_assert_int_eq(agent_note_term_again(&agent, why), 0); /* a new job has its first one */
    snprintf(blocked, sizeof blocked, "%s/term.tmp", snapshots.path);
    ck_assert_int_eq(mkdir(blocked, 0700), 0);
    may_notice = true;
    note(2, 5, 1);
    ck_assert_uint_eq(notices, 1);
    may_notice = false;
    ck_assert_int_lt(agent_note_term_again(&agent, why), 0);
    ck_assert_ptr_nonnull(strstr(why, "cannot note the term"));
    expect_terms(1, 1);
    ck_assert_int_eq(rmdir(blocked), 0);
    ck_assert_int_eq(agent_note_term_again(&agent, why), 0);
    expect_terms(2, 2);
    ck_assert_int_eq(agent_note_term_again(&agent, why), 0);
    expect_terms(2, 2);
    close_hidden();
}
END_TEST

START_TEST(what_bsprun_has_never_heard_of_ends_the_job)
{
    open_hidden();
    strcpy(agent.host_name, "there");
    agent.term = 2;
    ck_assert(!agent_snapshots_outran(&agent));
    note(2, 5, 1);
    note(3, 7, 2);
    agent.term = 4;
    ck_assert(!agent_snapshots_outran(&agent));
    ck_assert_str_eq(end, "");
    /* From a record that ends with term 1, and from one that ends with term 2. */
    for (agent.term = 2; agent.term <= 3; agent.term++) {
        ck_assert(agent_snapshots_outran(&agent));
        ck_assert_ptr_eq(strstr(end, "host there has later terms of this job (term 3) in "), end);
        end[0] = '\0';
    }
    agent.term = 3;
    snapshots.shared = true; /* the record is bsprun's */
    ck_assert(!agent_snapshots_outran(&agent));
    close_hidden();
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
    tcase_add_test(hidden, terms_that_this_host_has_missed_are_noted);
    tcase_add_test(hidden, a_term_that_was_not_noted_is_noted_later);
    tcase_add_test(hidden, what_bsprun_has_never_heard_of_ends_the_job);
    suite_add_tcase(suite, hidden);
    return suite_run(suite);
}
