/* liar.c - a program of which one replica communicates something wrong once, when a test wants it.
 *
 *   liar put|get|far|register DIRECTORY SUPERSTEPS AT
 *
 * In each superstep each process puts a word to the other one of its pair, gets a word from that
 * one and puts one to the next process; all of what it gets goes into all that follows.  Process 3
 * of the host for which DIRECTORY/lie.HOST exists has, in superstep AT, one bit wrong in what it
 * puts to process 2, or what that one gets from it, or (far) puts to process 0, or has another size
 * of an area that it registers; once, as it removes the file.  Where there is
 * DIRECTORY/hold.HOST.SUPERSTEP the processes wait at the beginning of that superstep until it is
 * gone; for SUPERSTEPS itself, after bsp_end, where process 0 writes as many lines more as
 * DIRECTORY/more says.  DIRECTORY/in.HOST.PROCESS has the superstep in which one is, and its ospid.
 * Supersteps are counted as the runtime does. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bsp.h>

#include "tests/hosts/host_name.h"

enum { LIAR = 3 };

static const char *directory, *kind;
static char host[256];
static long supersteps, at;
static struct {
    uint64_t pair, neighbour, served;
} area;

static uint64_t registered[4];

static void note(long s)
{
    char path[4096], again[4200];
    FILE *file;

    snprintf(path, sizeof path, "%s/in.%s.%d", directory, host, bsp_pid());
    snprintf(again, sizeof again, "%s.new", path);
    file = fopen(again, "w");
    if (!file || fprintf(file, "%ld %ld\n", s, (long)getpid()) < 0 || fclose(file) != 0 ||
        rename(again, path) != 0)
        bsp_abort("liar: cannot write %s\n", path);
}

static void hold(long s)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/hold.%s.%ld", directory, host, s);
    while (access(path, F_OK) == 0)
        usleep(5000);
}

static bool lies(long s)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/lie.%s", directory, host);
    return s == at && bsp_pid() == LIAR && unlink(path) == 0;
}

static uint64_t mix(uint64_t sum, uint64_t word)
{
    return (sum ^ word) * UINT64_C(1099511628211) + (sum >> 31);
}

static uint64_t communicate(uint64_t sum, long s)
{
    int pair = bsp_pid() ^ 1, next = (bsp_pid() + 1) % bsp_nprocs();
    uint64_t word = sum, got = 0, wrong = lies(s) ? UINT64_C(1) << 17 : 0;
    uint64_t neighbour = sum ^ (strcmp(kind, "far") == 0 ? wrong : 0);

    if (strcmp(kind, "register") == 0)
        bsp_push_reg(registered, wrong > 0 ? sizeof registered / 2 : sizeof registered);
    area.served = mix(sum, 7) ^ (strcmp(kind, "get") == 0 ? wrong : 0);
    word ^= strcmp(kind, "put") == 0 ? wrong : 0;
    bsp_put(pair, &word, &area, offsetof(__typeof__(area), pair), sizeof word);
    bsp_put(next, &neighbour, &area, offsetof(__typeof__(area), neighbour), sizeof neighbour);
    bsp_get(pair, &area, offsetof(__typeof__(area), served), &got, sizeof got);
    bsp_sync();
    return mix(mix(mix(sum, area.pair), area.neighbour), got);
}

static void write_more(void)
{
    char path[4096];
    long lines = 0;

    snprintf(path, sizeof path, "%s/more", directory);
    FILE *file = fopen(path, "r");
    if (file && fscanf(file, "%ld", &lines) != 1)
        lines = 0;
    if (file)
        fclose(file);
    for (long i = 0; i < lines; i++)
        printf("process %d at its end, line %ld\n", bsp_pid(), i);
}

static void spmd(void)
{
    bsp_begin(bsp_nprocs());
    uint64_t sum = 1 + (uint64_t)bsp_pid();
    bsp_push_reg(&area, sizeof area);
    bsp_sync();
    for (long s = 1; s < supersteps; s++) {
        find_host(host, sizeof host); /* a process may have been made on another one */
        hold(s);
        usleep(10000);
        note(s);
        sum = communicate(sum, s);
    }
    printf("process %d: %016" PRIx64 "\n", bsp_pid(), sum);
    bsp_end();
    note(supersteps);
    hold(supersteps);
    write_more();
}

int main(int argc, char **argv)
{
    bsp_init(spmd, argc, argv);
    if (argc != 5)
        return 2;
    kind = argv[1];
    directory = argv[2];
    supersteps = atol(argv[3]);
    at = atol(argv[4]);
    spmd();
    return 0;
}
