/* test_status_directory.c - the sockets of running jobs, while others look for jobs. */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bsprun/status/status_directory.h"
#include "tests/unit/suite.h"

#define LOOKERS 3
#define JOBS    3000

static char directory[64];
static pid_t lookers[LOOKERS];

static void forget(void *context, int fd, pid_t os_pid)
{
    (void)context, (void)os_pid;
    close(fd);
}

static void look_for_ever(void)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a test that fails ends at once */
    for (;;)
        status_directory_jobs(forget, NULL);
}

static void set_up(void)
{
    char path[80];

    snprintf(directory, sizeof directory, "/tmp/bspzero-status-XXXXXX"); /* $TMPDIR may be long */
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/status", directory);
    setenv("BSPZERO_STATUS_DIR", path, 1);
    for (int i = 0; i < LOOKERS; i++) {
        lookers[i] = fork();
        ck_assert_int_ge(lookers[i], 0);
        if (lookers[i] == 0)
            look_for_ever();
    }
}

static void tear_down(void)
{
    for (int i = 0; i < LOOKERS; i++) {
        kill(lookers[i], SIGKILL);
        waitpid(lookers[i], NULL, 0);
    }
    rmdir(getenv("BSPZERO_STATUS_DIR"));
    ck_assert_int_eq(rmdir(directory), 0);
}

/* Who looks removes what killed jobs have left, but nothing under the hands of a job that begins.
 */
START_TEST(jobs_begin_while_others_look)
{
    for (int i = 0; i < JOBS; i++) {
        char path[STATUS_PATH_MAX];
        int fd = status_directory_listen(path);

        ck_assert_msg(fd >= 0, "job %d: %s", i, strerror(-fd));
        ck_assert_msg(access(path, F_OK) == 0, "job %d: its socket was removed", i);
        status_directory_leave(path);
        close(fd);
    }
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {jobs_begin_while_others_look};

    return suite_run_tests("status directory", tests, 1, set_up, tear_down);
}
