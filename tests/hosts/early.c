/* early.c - a program that waits in the middle of its beginning until a test lets it go on.
 *
 *   EARLY=DIRECTORY early DIRECTORY SUPERSTEPS
 *
 * Process 0 writes "before", makes DIRECTORY/waits and goes on to bsp_begin when there is
 * DIRECTORY/begin.  Each process makes DIRECTORY/ran.PROCESS.OSPID when bsp_begin has returned.
 * Then process 0 writes a line in each superstep.
 *
 * On a host for which there is DIRECTORY/late.HOST a process that is made waits before anything
 * else, libbsp's restoring included, until that is gone. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bsp.h>

#include "tests/hosts/host_name.h"

static const char *directory;
static long supersteps;

static void make(const char *name)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof path, "%s/%s", directory, name);
    file = fopen(path, "w");
    if (!file || fclose(file) != 0)
        exit(3);
}

static void wait_for(const char *name)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", directory, name);
    while (access(path, F_OK) != 0)
        usleep(5000);
}

static void be_late(int argc, char **argv, char **environment)
{
    static const char name[] = "EARLY=";
    char host[256] = "", path[4096] = "";

    (void)argc;
    (void)argv;
    find_host(host, sizeof host);
    for (char **at = environment; *at; at++)
        if (strncmp(*at, name, sizeof name - 1) == 0)
            snprintf(path, sizeof path, "%s/late.%s", *at + sizeof name - 1, host);
    while (path[0] && access(path, F_OK) == 0)
        usleep(5000);
}

/* Before the constructors of libraries. */
__attribute__((section(".preinit_array"), used)) static void (*const late)(int, char **,
                                                                           char **) = be_late;

static void spmd(void)
{
    char name[64];
    int sum = 0;

    bsp_begin(bsp_nprocs());
    snprintf(name, sizeof name, "ran.%d.%ld", bsp_pid(), (long)getpid());
    make(name);
    bsp_push_reg(&sum, sizeof sum);
    bsp_sync();
    for (long s = 1; s <= supersteps; s++) {
        int next = sum + bsp_pid() + (int)s;

        bsp_put((bsp_pid() + 1) % bsp_nprocs(), &next, &sum, 0, sizeof next);
        bsp_sync();
        if (bsp_pid() == 0)
            printf("superstep %ld: %d\n", s, sum);
    }
    bsp_end();
}

int main(int argc, char **argv)
{
    bsp_init(spmd, argc, argv);
    if (argc != 3)
        return 2;
    directory = argv[1];
    supersteps = atol(argv[2]);
    printf("before\n");
    fflush(stdout);
    make("waits");
    wait_for("begin");
    spmd();
    return 0;
}
