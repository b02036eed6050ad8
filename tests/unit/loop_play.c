/* loop_play.c - see loop_play.h. */
#include "tests/unit/loop_play.h"

#include <check.h>
#include <dirent.h>
#include <signal.h>
#include <sys/prctl.h>

uv_loop_t loop;
static int open_before;

static int count_descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    int count = 0;
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

void loop_set_up(void)
{
    signal(SIGPIPE, SIG_IGN);
    prctl(PR_SET_PDEATHSIG, SIGKILL); /* a hanging one does not outlive the runner */
    /* The first loop of a process makes two descriptors that stay. */
    ck_assert_int_eq(uv_loop_init(&loop), 0);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
    open_before = count_descriptors();
    ck_assert_int_eq(uv_loop_init(&loop), 0);
}

void loop_tear_down(void)
{
    run();
    ck_assert_int_eq(uv_loop_close(&loop), 0);
    ck_assert_int_eq(count_descriptors(), open_before);
}

void turn(void)
{
    uv_run(&loop, UV_RUN_ONCE);
}

void run(void)
{
    ck_assert_int_eq(uv_run(&loop, UV_RUN_DEFAULT), 0);
}
