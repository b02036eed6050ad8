/* worker.c - a program of which every cost is an argument, for jobs whose time to solution is
 * measured under failures.
 *
 *   worker SUPERSTEPS MILLISECONDS STATE SHARE [DISK]
 *
 * Each process has STATE bytes (a number, K, M or G behind it) of state that compression does not
 * make smaller.  A superstep takes MILLISECONDS, in which the process sleeps, so that many jobs
 * share a machine without making each other slower; it changes SHARE percent of the pages of the
 * state, goes on with the next ones in the next superstep, and gives its neighbour a digest of what
 * it has.  With DISK, an image becomes durable at so many bytes per second, again without work for
 * a processor: the library that is linked here calls the fsync of this program.
 *
 * Process 0 prints "begun P" once all are there, and in the end a digest of the states of all,
 * which depends on every superstep of every process: a run that lost or repeated one prints another
 * digest.
 */
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bsp.h>

#define PAGE_WORDS 512u /* of 8 bytes */

static struct {
    unsigned long supersteps, milliseconds;
    uint64_t pages;
    double share, disk;
} wanted;

static _Noreturn void usage(void)
{
    fprintf(stderr, "usage: worker SUPERSTEPS MILLISECONDS STATE[K|M|G] SHARE "
                    "[DISK[K|M|G]], where SHARE is from 0 to 100 percent of the state per "
                    "superstep and DISK in bytes per second\n");
    exit(2);
}

static double number(const char *text, const char *units, double most)
{
    char *end;
    double value = strtod(text, &end);
    const char *unit = *end ? strchr(units, *end) : NULL;

    for (long i = unit ? unit - units + 1 : 0; i > 0; i--)
        value *= 1024;
    if (end == text || (*end && (!unit || end[1])) || !(value >= 0 && value <= most))
        usage();
    return value;
}

/* A step of splitmix64. */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static void fill(uint64_t *page, uint64_t seed)
{
    for (unsigned i = 0; i < PAGE_WORDS; i++)
        page[i] = mix(seed + i);
}

static void rest(double seconds)
{
    struct timespec left = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};

    while (nanosleep(&left, &left) != 0 && errno == EINTR)
        continue;
}

/* The disk: images are all that a process of this program makes durable. */
int fsync(int fd)
{
    struct stat status;

    if (wanted.disk > 0 && fstat(fd, &status) == 0)
        rest((double)status.st_size / wanted.disk);
    return (int)syscall(SYS_fsync, fd);
}

/* The next pages get contents that depend on what they had, on what the neighbour has sent and on
 * the superstep.  Returns a digest of what was written. */
static uint64_t change(uint64_t *state, uint64_t *at, uint64_t from_neighbour, unsigned long step)
{
    uint64_t count = (uint64_t)((double)wanted.pages * wanted.share), digest = from_neighbour;

    for (uint64_t i = 0; i < count; i++) {
        uint64_t *page = state + *at * PAGE_WORDS;
        digest = mix(digest ^ page[0] ^ page[PAGE_WORDS - 1] ^ step);
        fill(page, digest);
        *at = *at + 1 == wanted.pages ? 0 : *at + 1;
    }
    return mix(digest ^ step);
}

static uint64_t digest_of(const uint64_t *state)
{
    uint64_t digest = 0;

    for (uint64_t page = 0; page < wanted.pages; page++)
        for (unsigned i = 0; i < PAGE_WORDS; i += PAGE_WORDS - 1)
            digest = mix(digest ^ state[page * PAGE_WORDS + i]);
    return digest;
}

static void spmd(void)
{
    bsp_begin(bsp_nprocs());
    int p = bsp_nprocs(), pid = bsp_pid();
    uint64_t *state = malloc(wanted.pages * PAGE_WORDS * sizeof(*state)), at = 0, mine;
    uint64_t *all = calloc((size_t)p, sizeof(*all)), incoming = 0;

    if (!state || !all)
        bsp_abort("worker: out of memory\n");
    for (uint64_t page = 0; page < wanted.pages; page++)
        fill(state + page * PAGE_WORDS, mix(mix((uint64_t)pid) + page));
    bsp_push_reg(&incoming, sizeof(incoming));
    bsp_push_reg(all, p * (int)sizeof(*all));
    bsp_sync();
    if (pid == 0) {
        printf("begun %d\n", p);
        fflush(stdout);
    }
    for (unsigned long step = 0; step < wanted.supersteps; step++) {
        rest((double)wanted.milliseconds / 1e3);
        mine = change(state, &at, incoming, step);
        bsp_put((pid + 1) % p, &mine, &incoming, 0, sizeof(mine));
        bsp_sync();
    }
    mine = mix(digest_of(state) ^ incoming);
    bsp_put(0, &mine, all, pid * (int)sizeof(mine), sizeof(mine));
    bsp_sync();
    if (pid == 0) {
        for (int i = 1; i < p; i++)
            all[0] = mix(all[0] ^ all[i]);
        printf("digest %016llx after %lu supersteps of %d processes\n", (unsigned long long)all[0],
               wanted.supersteps, p);
        fflush(stdout);
    }
    bsp_end();
}

int main(int argc, char **argv)
{
    bsp_init(spmd, argc, argv);
    if (argc != 5 && argc != 6)
        usage();
    wanted.supersteps = (unsigned long)number(argv[1], "", 1e9);
    wanted.milliseconds = (unsigned long)number(argv[2], "", 1e6);
    wanted.pages = (uint64_t)(number(argv[3], "KMG", 1e11) / (PAGE_WORDS * 8)) + 1;
    wanted.share = number(argv[4], "", 100) / 100;
    wanted.disk = argc == 6 ? number(argv[5], "KMG", 1e12) : 0;
    spmd();
    return 0;
}
