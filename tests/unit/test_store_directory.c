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

/* Host 7 of a job of several hosts, which cannot have /proc/nowhere. */
static void open_hidden(void)
{
    snapshots = (struct agent_snapshots){.recover = true};
    agent = (struct agent){.host = 7, .snapshots = &snapshots, .peers = (void *)root};
    memset(agent.job_id, 1, sizeof agent.job_id);
    int error = agent_store_open(&agent, "/proc/nowhere/" JOB, "", why);
    ck_assert_msg(error == 0, "%s", why);
    ck_assert(snapshots.hidden && !snapshots.shared);
}

static void close_hidden(void)
{
    store_close(agent.store);
    free(snapshots.path);
}

static const char *name(const char *suffix)
{
    static char text[PATH_MAX];

    snprintf(text, sizeof text, "%s/bspzero-store-%u-7%s", root, (unsigned)geteuid(), suffix);
    return text;
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
    tcase_add_test(hidden, a_good_end_removes_it);
    suite_add_tcase(suite, hidden);
    return suite_run(suite);
}
