/* overdue.c - a program some replicas of which come to the end late, or never, as a test wants it.
 *
 *   overdue DIRECTORY BYTES [FILE]
 *
 * In its last superstep each process of the second half puts so many bytes to the one of the first
 * half with its place there.  Where there is DIRECTORY/hold.HOST processes wait at the beginning of
 * that superstep until it is gone; where there is DIRECTORY/after.HOST process 0 waits after
 * bsp_end.  DIRECTORY/in.HOST.PROCESS says that one is in that superstep, DIRECTORY/past.HOST that
 * process 0 is past bsp_end.  Before that it writes FILE, slowly, as DIRECTORY/writes.HOST.0 says.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bsp.h>

#include "tests/hosts/host_name.h"

static const char *directory, *result;
static char host[256];
static size_t bytes;

static void note(const char *what, int number)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s.%s.%d", directory, what, host, number);
    file = fopen(path, "w");
    if (!file || fclose(file) != 0)
        bsp_abort("overdue: cannot write %s\n", path);
}

static void wait_while(const char *what)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s.%s", directory, what, host);
    while (access(path, F_OK) == 0)
        usleep(5000);
}

static void write_result(void)
{
    FILE *file = fopen(result, "w");

    for (int line = 0; file && line < 100; line++) {
        if (fprintf(file, "line %d\n", line) < 0 || fflush(file) != 0)
            break;
        if (line == 10)
            note("writes", 0);
        usleep(5000);
    }
    if (!file || fclose(file) != 0)
        bsp_abort("overdue: cannot write %s\n", result);
}

static void spmd(void)
{
    bsp_begin(bsp_nprocs());
    int half = bsp_nprocs() / 2, pid = bsp_pid();
    unsigned char *from = malloc(bytes), *to = calloc(1, bytes);
    unsigned long sum = 0;

    bsp_push_reg(to, (int)bytes);
    bsp_sync();
    find_host(host, sizeof host);
    memset(from, 'a' + pid, bytes);
    note("in", pid);
    wait_while("hold");
    if (pid >= half)
        bsp_put(pid - half, from, to, 0, (int)bytes);
    bsp_sync();
    for (size_t i = 0; i < bytes; i++)
        sum += to[i];
    printf("process %d: %lu\n", pid, sum);
    fflush(stdout);
    if (pid == 0 && result)
        write_result();
    bsp_end();
    if (pid > 0)
        return;
    note("past", pid);
    wait_while("after");
    printf("the last line\n");
}

int main(int argc, char **argv)
{
    bsp_init(spmd, argc, argv);
    if (argc != 3 && argc != 4)
        return 2;
    result = argv[3];
    directory = argv[1];
    bytes = strtoul(argv[2], NULL, 10);
    spmd();
    return 0;
}
