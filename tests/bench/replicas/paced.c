/* paced.c - what a parallel program does between its computations, which are replaced by sleeping,
 * so that many hosts on one machine do not take each other's cores.
 *
 *   paced PATTERN SUPERSTEPS MICROSECONDS BYTES DIRECTORY
 *
 * In each superstep each process sleeps, ten times as long on a host for which DIRECTORY/slow.HOST
 * exists, and then, by PATTERN:
 *
 *   sieve    one process, another one each time, puts BYTES to all others: the next block of primes
 *   sort     each process puts BYTES to each other one: samples, and then keys
 *   exchange each process puts an energy of 8 bytes to all others, as apps/replica does
 *   put      process 0 puts BYTES to process 1
 *   get      process 1 gets BYTES from process 0
 *
 * What arrives is checked.  DIRECTORY/quarter is made after a quarter of the supersteps; before
 * that, the job learns how long they take.  Process 0 prints the seconds from then on.  Of put and
 * get, process 1 prints those from the second superstep on: who only puts may be a superstep ahead
 * of the data, but not where Processor Zero decides the barrier. */
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bsp.h>

enum pattern { SIEVE, SORT, EXCHANGE, PUT, GET, PATTERNS };
static const char *const names[PATTERNS] = {"sieve", "sort", "exchange", "put", "get"};

static enum pattern pattern;
static long supersteps, microseconds;
static size_t bytes;
static const char *directory;
static char *out, *in; /* in: a place for each process */

static void fill(char *at, int from, long s)
{
    memset(at, (int)(s * 7 + from) & 0xff, bytes);
}

static void check(const char *at, int from, long s)
{
    const char wanted = (char)((s * 7 + from) & 0xff);

    if (at[0] != wanted || at[bytes / 2] != wanted || at[bytes - 1] != wanted)
        bsp_abort("paced: superstep %ld: not what process %d has sent\n", s, from);
}

/* Whether that process has something for `to` in the superstep. */
static bool sends(int from, int to, long s)
{
    switch (pattern) {
    case SIEVE:
        return from == s % bsp_nprocs() && from != to;
    case PUT:
    case GET:
        return from == 0 && to == 1;
    default:
        return from != to;
    }
}

static void rest(void)
{
    char host[64] = "", path[4096];

    gethostname(host, sizeof host - 1);
    snprintf(path, sizeof path, "%s/slow.%s", directory, host);
    if (microseconds > 0)
        usleep((useconds_t)(microseconds * (access(path, F_OK) == 0 ? 10 : 1)));
}

static void communicate(long s)
{
    int me = bsp_pid(), p = bsp_nprocs();

    fill(out, me, s);
    for (int pid = 0; pid < p && pattern != GET; pid++)
        if (sends(me, pid, s))
            bsp_put(pid, out, in, (ptrdiff_t)((size_t)me * bytes), (ptrdiff_t)bytes);
    if (pattern == GET && sends(0, me, s))
        bsp_get(0, out, 0, in, (ptrdiff_t)bytes);
    bsp_sync();
    for (int pid = 0; pid < p; pid++)
        if (sends(pid, me, s))
            check(in + (size_t)pid * bytes, pid, s);
}

static void tell_quarter(void)
{
    char path[4096];
    int file;

    snprintf(path, sizeof path, "%s/quarter", directory);
    file = open(path, O_WRONLY | O_CREAT, 0600);
    if (file >= 0)
        close(file);
}

static void spmd(void)
{
    bool one_way = pattern == PUT || pattern == GET;
    long first = one_way || supersteps < 4 ? 1 : supersteps / 4;
    double began = 0;

    bsp_begin(bsp_nprocs());
    out = malloc(bytes);
    in = malloc(bytes * (size_t)bsp_nprocs());
    if (!out || !in)
        bsp_abort("paced: no memory\n");
    memset(in, 0, bytes * (size_t)bsp_nprocs());
    bsp_push_reg(in, (ptrdiff_t)(bytes * (size_t)bsp_nprocs()));
    bsp_push_reg(out, (ptrdiff_t)bytes);
    bsp_sync();
    for (long s = 0; s <= supersteps; s++) {
        if (s == supersteps / 4 && bsp_pid() == 0)
            tell_quarter();
        if (s == first)
            began = bsp_time();
        rest();
        communicate(s);
    }
    if (bsp_pid() == one_way)
        printf("seconds %12.4f\n", bsp_time() - began);
    bsp_end();
}

int main(int argc, char **argv)
{
    int number = 0;

    bsp_init(spmd, argc, argv);
    if (argc != 6)
        return 2;
    while (number < PATTERNS && strcmp(argv[1], names[number]) != 0)
        number++;
    pattern = (enum pattern)number;
    supersteps = atol(argv[2]);
    microseconds = atol(argv[3]);
    bytes = (size_t)atol(argv[4]);
    directory = argv[5];
    if (number == PATTERNS || supersteps < 1 || bytes < 1)
        return 2;
    spmd();
    return 0;
}
