/* talker.c - a program of pairs that talk: talker SUPERSTEPS KIBIBYTES [get]
 *
 * In each superstep each process gives its partner, half of all processes away, so many KiB, or
 * with `get` takes them from there.  Process 0 prints a digest that depends on every superstep of
 * every process, and on stderr the names of the hosts on which the processes are in the end.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bsp.h>

#define NAME 64

static uint64_t mix(const uint64_t *words, size_t count, uint64_t digest)
{
    for (size_t i = 0; i < count; i++)
        digest = (digest ^ words[i]) * UINT64_C(0x9e3779b97f4a7c15) + (digest >> 29);
    return digest;
}

static void talk(uint64_t *own, uint64_t *heard, size_t words, int partner, bool gets)
{
    if (gets)
        bsp_get(partner, own, 0, heard, (int)(words * sizeof *own));
    else
        bsp_put(partner, own, heard, 0, (int)(words * sizeof *own));
    bsp_sync();
}

static void tell_hosts(int p, int pid)
{
    char *names = calloc((size_t)p, NAME), name[NAME] = "";

    if (!names)
        bsp_abort("no memory");
    bsp_push_reg(names, pid == 0 ? p * NAME : 0);
    bsp_sync();
    gethostname(name, sizeof name - 1);
    bsp_put(0, name, names, pid * NAME, NAME);
    bsp_sync();
    if (pid == 0) {
        fputs("hosts:", stderr);
        for (int i = 0; i < p; i++)
            fprintf(stderr, " %s", names + (size_t)i * NAME);
        fputs("\n", stderr);
    }
}

int main(int argc, char **argv)
{
    unsigned long supersteps = argc > 2 ? strtoul(argv[1], NULL, 10) : 0;
    size_t words = (argc > 2 ? strtoul(argv[2], NULL, 10) : 1) * 1024 / sizeof(uint64_t);
    bool gets = argc > 3 && strcmp(argv[3], "get") == 0;

    bsp_begin(bsp_nprocs());
    int p = bsp_nprocs(), pid = bsp_pid();
    uint64_t *own = calloc(words, sizeof *own), *heard = calloc(words, sizeof *heard);
    uint64_t digest = (uint64_t)pid + 1, all = 0;

    if (!own || !heard)
        bsp_abort("no memory");
    bsp_push_reg(own, (int)(words * sizeof *own));
    bsp_push_reg(heard, (int)(words * sizeof *heard));
    bsp_push_reg(&all, sizeof all);
    bsp_sync();
    for (unsigned long i = 0; i < supersteps; i++) {
        for (size_t j = 0; j < words; j++)
            own[j] = digest + j * i;
        talk(own, heard, words, (pid + p / 2) % p, gets);
        digest = mix(heard, words, digest);
    }
    for (int i = 0; i < p; i++) { /* one after the other */
        uint64_t sum = all ^ (digest * (uint64_t)(pid + 1));

        if (pid == i)
            bsp_put((i + 1) % p, &sum, &all, 0, sizeof sum);
        bsp_sync();
    }
    if (pid == 0)
        printf("%016llx\n", (unsigned long long)all);
    tell_hosts(p, pid);
    bsp_end();
    return 0;
}
