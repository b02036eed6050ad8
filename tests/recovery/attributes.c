/* attributes.c - processes that have set something for themselves, and go on.
 *
 *   attributes DIRECTORY SUPERSTEPS [SET...]   see outside.h
 *
 * Each process gives itself what the words say, in bsp_begin's next superstep; in the end it prints
 * all of it, whatever it was:
 *   nice N, files N (its soft limit), slack N, pin (to one processor), small (its address space is
 * all that it has), child (one that lives, which it waits for in the end), reaper (adopts orphans)
 * In every superstep errno is what it was before bsp_sync, and bsp_time goes on. */
#include <bsp.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/recovery/outside.h"

static pid_t child;

static void must(int truth, const char *what)
{
    if (!truth) {
        fprintf(stderr, "process %d: %s: %s\n", bsp_pid(), what, strerror(errno));
        exit(97);
    }
}

static void pin(void)
{
    cpu_set_t all, one;
    int last = 0;

    must(sched_getaffinity(0, sizeof all, &all) == 0, "sched_getaffinity");
    CPU_ZERO(&all);
    for (int i = 0; i < CPU_SETSIZE; i++) {
        CPU_ZERO(&one);
        CPU_SET(i, &one);
        if (sched_setaffinity(0, sizeof one, &one) == 0)
            last = i;
    }
    CPU_ZERO(&one);
    CPU_SET(last, &one);
    must(sched_setaffinity(0, sizeof one, &one) == 0, "sched_setaffinity");
}

static void small(void)
{
    struct rlimit limit;
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");

    must(file && fscanf(file, "%lu", &pages) == 1, "statm");
    fclose(file);
    /* Room for the tables of a snapshot, and not for much more. */
    limit.rlim_cur = limit.rlim_max = (rlim_t)pages * 4096 + ((rlim_t)128 << 20);
    must(setrlimit(RLIMIT_AS, &limit) == 0, "RLIMIT_AS");
}

static void beget(void)
{
    child = fork();
    must(child >= 0, "fork");
    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
}

static int set(char **words)
{
    struct rlimit limit;
    int number = words[1] ? atoi(words[1]) : 0;

    if (strcmp(words[0], "nice") == 0) {
        must(setpriority(PRIO_PROCESS, 0, number) == 0, "nice");
        return 2;
    }
    if (strcmp(words[0], "files") == 0) {
        must(getrlimit(RLIMIT_NOFILE, &limit) == 0, "files");
        limit.rlim_cur = (rlim_t)number;
        must(setrlimit(RLIMIT_NOFILE, &limit) == 0, "files");
        return 2;
    }
    if (strcmp(words[0], "slack") == 0) {
        must(prctl(PR_SET_TIMERSLACK, number) == 0, "slack");
        return 2;
    }
    if (strcmp(words[0], "pin") == 0)
        pin();
    else if (strcmp(words[0], "small") == 0)
        small();
    else if (strcmp(words[0], "child") == 0)
        beget();
    else if (strcmp(words[0], "reaper") == 0)
        must(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0, "reaper");
    else
        must(0, words[0]);
    return 1;
}

static const char *wait_for_child(void)
{
    if (child == 0)
        return "none";
    kill(child, SIGKILL);
    return waitpid(child, NULL, 0) == child ? "waited for" : errno == ECHILD ? "lost" : "wrong";
}

static void report(void)
{
    struct rlimit files, signals, space;
    cpu_set_t processors;
    int reaper = 0;

    getrlimit(RLIMIT_NOFILE, &files);
    getrlimit(RLIMIT_SIGPENDING, &signals);
    getrlimit(RLIMIT_AS, &space);
    CPU_ZERO(&processors);
    sched_getaffinity(0, sizeof processors, &processors);
    prctl(PR_GET_CHILD_SUBREAPER, &reaper);
    printf("process %d: nice %d files %lu signals %lu slack %d processors %d space %s child %s "
           "reaper %d\n",
           bsp_pid(), getpriority(PRIO_PROCESS, 0), (unsigned long)files.rlim_cur,
           (unsigned long)signals.rlim_cur, prctl(PR_GET_TIMERSLACK), CPU_COUNT(&processors),
           space.rlim_cur == RLIM_INFINITY ? "all" : "small", wait_for_child(), reaper);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    int supersteps;
    double before = 0;

    outside_directory = argv[1];
    supersteps = atoi(argv[2]);
    errno = EXDEV;
    bsp_begin(0);
    must(errno == EXDEV, "errno is another one after bsp_begin");
    for (int i = 3; i < argc;)
        i += set(&argv[i]);
    for (int s = 1; s <= supersteps; s++) {
        outside_superstep(s);
        errno = EXDEV;
        bsp_sync();
        must(errno == EXDEV, "errno is another one after bsp_sync");
        must(bsp_time() > before, "bsp_time has gone back");
        before = bsp_time();
    }
    for (int turn = 0; turn < bsp_nprocs(); turn++) {
        if (turn == bsp_pid())
            report();
        bsp_sync();
    }
    outside_end(supersteps);
    bsp_end();
    return 0;
}
