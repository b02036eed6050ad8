/* large.c - memory that huge pages could hold, and memory with gaps that they must not fill.
 *
 *   large IMAGE   writes the image and ends with status 10; restored, it checks every page, and
 * that no more is in memory than there was. */
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/ckpt/capture/host.h"
#include "tests/ckpt/capture/state.h"

#define PAGE  4096
#define HUGE  ((size_t)2 << 20)
#define BYTES (8 * HUGE)

/* Every other page of the third two MiB, and one of the sixth, was never touched. */
static int is_gap(size_t at)
{
    return (at / HUGE == 2 && at / PAGE % 2) || at == 5 * HUGE + 3 * PAGE;
}

static uint64_t word_at(size_t at)
{
    return (at + 1) * 0x9e3779b97f4a7c15u;
}

static size_t resident(const void *of)
{
    char line[512];
    size_t start = 0, kib = 0;
    FILE *maps = fopen("/proc/self/smaps", "r");

    CHECK(maps);
    while (fgets(line, sizeof line, maps)) {
        size_t address;

        if (sscanf(line, "%zx-", &address) == 1 && strchr(line, '-'))
            start = address;
        if (start == (size_t)of && sscanf(line, "Rss: %zu", &kib) == 1)
            break;
    }
    fclose(maps);
    return kib * 1024;
}

int main(int argc, char **argv)
{
    size_t before;
    /* At the beginning of no page of any other kind, nor next to another of its kind. */
    char *space =
        mmap(NULL, BYTES + 2 * HUGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    char *at = (char *)(((uintptr_t)space + 2 * HUGE - 1) & ~(HUGE - 1));

    CHECK(argc == 2 && space != MAP_FAILED);
    CHECK(mprotect(at, BYTES, PROT_READ | PROT_WRITE) == 0);
    for (size_t page = 0; page < BYTES; page += PAGE)
        for (size_t i = 0; i < PAGE && !is_gap(page); i += 8)
            *(uint64_t *)(void *)(at + page + i) = word_at(page + i);
    before = resident(at);
    if (host_snapshot(argv[1]) == 0)
        _exit(10);
    CHECK(resident(at) > 0 && resident(at) <= before);
    for (size_t page = 0; page < BYTES; page += PAGE)
        for (size_t i = 0; i < PAGE; i += 8)
            CHECK(*(uint64_t *)(void *)(at + page + i) == (is_gap(page) ? 0 : word_at(page + i)));
    return 0;
}
