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
#include <bsp.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static volatile int *clogged; /* the os pid of the process whose stderr takes nothing any more */

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
    *clogged = getpid();
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

static void second_speaker(int kill_the_first)
{
    if (bsp_pid() == 1)
        clog_stderr();
    if (bsp_pid() > 0) {
        if (bsp_pid() > 1)
            pause();
        misuse();
    }
    while (*clogged == 0)
        sched_yield();
    wait_until_asleep(*clogged);
    if (kill_the_first) {
        kill(*clogged, SIGKILL);
        pause();
    }
    misuse();
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";
    char area[8] = "", more[16] = "";

    clogged = mmap(NULL, sizeof *clogged, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
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
        second_speaker(strcmp(mode, "killed") == 0);
    bsp_sync();
    bsp_end();
    return 0;
}
