/* One message: a mistake that all processes make is reported once, and it is reported even when the
 * process that was first to report it is stuck in the attempt, or dies of it.
 *
 * STATUS: nonzero
 *
 * CASE: all in the same call
 * ARGS: call
 * ERROR: bsp_put @call ? 1
 * FACT: negative size -1
 *
 * CASE: all in different calls
 * ARGS: mixed
 * ERROR: bsp_put @call ? 1
 * ERROR: bsp_get @get ? 1
 *
 * CASE: the owners find it
 * ARGS: owners
 * ERROR: bsp_put @beyond ? 1
 *
 * CASE: the first one is stuck
 * P: 2 3
 * ARGS: stuck
 * ERROR: bsp_put @call 0 1
 *
 * CASE: the first one is killed
 * P: 2 3
 * ARGS: killed
 * STATUS: failed
 * ERR-RE: pid 1 was killed by signal 9
 * ERR-NOT: bsp_put: pid
 */
#include "../common_count.h"
#include <bsp.h>
#include <sched.h>
#include <signal.h>
#include <string.h>

static void misuse(void)
{
    static char byte;

    bsp_put(0, &byte, &byte, 0, -1); /* @call */
}

/* stderr becomes a full pipe, so that the message is begun and never out. */
static void clog_stderr(void)
{
    static const char filling[4096];
    int ends[2];

    if (pipe(ends) != 0)
        exit(99);
    fcntl(ends[1], F_SETFL, O_NONBLOCK);
    while (write(ends[1], filling, sizeof filling) > 0 || write(ends[1], filling, 1) > 0)
        ;
    fcntl(ends[1], F_SETFL, 0);
    dup2(ends[1], STDERR_FILENO);
}

/* Returns once the process sleeps: in the write of its message. */
static void wait_until_asleep(int process)
{
    char path[64], text[512] = "";
    const char *state;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/stat", process);
    do {
        sched_yield();
        file = fopen(path, "r");
        if (!file || !fgets(text, sizeof text, file))
            exit(98);
        fclose(file);
        state = strrchr(text, ')');
    } while (!state || state[2] != 'S');
}

/* A child of the first speaker sees when it is stuck; process 0 may be on another host. */
static void first_speaker(int stuck, int kill_it)
{
    int self = getpid();

    clog_stderr();
    if (fork() == 0) {
        wait_until_asleep(self);
        if (kill_it)
            kill(self, SIGKILL);
        common_count_raise(stuck);
        _exit(0);
    }
    misuse();
}

static void speak(int first_is_killed)
{
    int stuck = common_count_open();

    if (bsp_pid() == 1)
        first_speaker(stuck, first_is_killed);
    common_count_wait(stuck, 1);
    if (bsp_pid() > 1 || first_is_killed)
        pause();
    misuse();
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    char area[8] = "", more[16] = "";

    bsp_begin(0);
    bsp_push_reg(area, sizeof area);
    bsp_sync();
    if (strcmp(mode, "call") == 0 || (strcmp(mode, "mixed") == 0 && bsp_pid() % 2))
        misuse();
    if (strcmp(mode, "mixed") == 0)
        bsp_get(-1, area, 0, more, 1); /* @get */
    if (strcmp(mode, "owners") == 0)
        for (int to = 0; to < bsp_nprocs(); to++)
            bsp_put(to, more, area, 0, sizeof more); /* @beyond */
    if (strcmp(mode, "stuck") == 0 || strcmp(mode, "killed") == 0)
        speak(strcmp(mode, "killed") == 0);
    bsp_sync();
    bsp_end();
    return 0;
}
