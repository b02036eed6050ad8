/* advanced.c - a process whose mappings and pages change at random between images, and which knows
 * what each page must be.
 *
 *   advanced SEED IMAGE...   writes a full image and increments upon it; restored from one, it
 *                            checks every page and says which it is.
 *
 * Environment: ADVANCED_BESIDE   it has so many more mappings, twice */
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/ckpt/capture/host.h"

#define PAGE    4096u
#define PAGES   4096u /* of the window */
#define STEPS   40u   /* changes from one image to the next */
#define RUN     300u  /* most pages of one change */
#define NOTHING UINT32_MAX
/* Far from where the kernel puts mappings that may be anywhere. */
#define WINDOW  ((void *)0x100000000000)

static unsigned char *window;
static uint32_t wanted[PAGES]; /* NOTHING: not mapped; 0: zeros; else what its words must be */
static int protection[PAGES];
static uint64_t random_state;
static uint32_t next_value = 1;

static uint32_t draw(uint32_t below)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % below;
}

static void fail(const char *what, uint32_t page)
{
    fprintf(stderr, "page %u: %s\n", page, what);
    exit(1);
}

static void must(int ok, const char *what, uint32_t page)
{
    if (!ok) {
        perror(what);
        fail(what, page);
    }
}

/* ---- Changes --------------------------------------------------------------------------------- */

static void map(uint32_t first, uint32_t count)
{
    void *at = mmap(window + (size_t)first * PAGE, (size_t)count * PAGE, PROT_READ | PROT_WRITE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);

    must(at != MAP_FAILED, "mmap", first);
    for (uint32_t page = first; page < first + count; page++) {
        wanted[page] = 0;
        protection[page] = PROT_READ | PROT_WRITE;
    }
}

static void unmap(uint32_t first, uint32_t count)
{
    must(munmap(window + (size_t)first * PAGE, (size_t)count * PAGE) == 0, "munmap", first);
    for (uint32_t page = first; page < first + count; page++)
        wanted[page] = NOTHING;
}

static void protect(uint32_t first, uint32_t count)
{
    static const int choices[] = {PROT_READ, PROT_READ | PROT_WRITE, PROT_NONE};
    int to = choices[draw(3)];

    for (uint32_t page = first; page < first + count; page++) {
        if (wanted[page] == NOTHING)
            continue;
        must(mprotect(window + (size_t)page * PAGE, PAGE, to) == 0, "mprotect", page);
        protection[page] = to;
    }
}

static void put(uint32_t first, uint32_t count, uint32_t one_in)
{
    for (uint32_t page = first; page < first + count; page++) {
        uint32_t *words = (uint32_t *)(void *)(window + (size_t)page * PAGE);

        if (wanted[page] == NOTHING || !(protection[page] & PROT_WRITE) || draw(one_in) > 0)
            continue;
        wanted[page] = next_value++;
        for (uint32_t i = 0; i < PAGE / sizeof *words; i++)
            words[i] = wanted[page] + i % 7;
    }
}

/* The same by the kernel, past the protection. */
static void have_put(uint32_t first, uint32_t count)
{
    int memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
    uint32_t words[PAGE / sizeof(uint32_t)];

    must(memory >= 0, "/proc/self/mem", first);
    for (uint32_t page = first; page < first + count; page++) {
        if (wanted[page] == NOTHING || draw(4) > 0)
            continue;
        wanted[page] = next_value++;
        for (uint32_t i = 0; i < PAGE / sizeof *words; i++)
            words[i] = wanted[page] + i % 7;
        must(pwrite(memory, words, PAGE, (off_t)(uintptr_t)(window + (size_t)page * PAGE)) == PAGE,
             "pwrite", page);
    }
    close(memory);
}

static void give_back(uint32_t first, uint32_t count)
{
    for (uint32_t page = first; page < first + count; page++) {
        if (wanted[page] == NOTHING)
            continue;
        must(madvise(window + (size_t)page * PAGE, PAGE, MADV_DONTNEED) == 0, "madvise", page);
        wanted[page] = 0;
    }
}

/* Moves pages of one mapping elsewhere in the window. */
static void move(uint32_t first, uint32_t count)
{
    uint32_t to = draw(PAGES - count);

    for (uint32_t i = 0; i < count; i++) {
        if (wanted[first + i] == NOTHING || (first < to + count && to < first + count))
            return;
    }
    if (mremap(window + (size_t)first * PAGE, (size_t)count * PAGE, (size_t)count * PAGE,
               MREMAP_MAYMOVE | MREMAP_FIXED, window + (size_t)to * PAGE) == MAP_FAILED) {
        /* Pages of several mappings; what was at the new place may be gone already. */
        unmap(to, count);
        unmap(first, count);
        return;
    }
    memmove(&wanted[to], &wanted[first], count * sizeof *wanted);
    memmove(&protection[to], &protection[first], count * sizeof *protection);
    for (uint32_t i = 0; i < count; i++)
        wanted[first + i] = NOTHING;
}

static void change(void)
{
    uint32_t count = 1 + draw(RUN), first = draw(PAGES - count);

    switch (draw(10)) {
    case 0:
    case 1:
        map(first, count);
        put(first, count, 1 + draw(4));
        break;
    case 2:
        unmap(first, count);
        break;
    case 3:
        protect(first, count);
        break;
    case 4:
        give_back(first, count);
        break;
    case 5:
        move(first, count);
        break;
    case 6:
        have_put(first, count);
        break;
    default:
        put(first, count, 1 + draw(20));
        break;
    }
}

/* ---- What must be ---------------------------------------------------------------------------- */

static void check_protection(void)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    static int found[PAGES];
    char line[512], how[8];
    uint64_t start, end, base = (uint64_t)(uintptr_t)window;

    memset(found, 0xff, sizeof found);
    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %7s", &start, &end, how) != 3 || start < base)
            continue;
        for (; start < end && start < base + (uint64_t)PAGES * PAGE; start += PAGE)
            found[(start - base) / PAGE] =
                (how[0] == 'r') * PROT_READ | (how[1] == 'w') * PROT_WRITE;
    }
    if (maps)
        fclose(maps);
    for (uint32_t page = 0; page < PAGES; page++)
        if (found[page] != (wanted[page] == NOTHING ? -1 : protection[page]))
            fail("another protection", page);
}

static void check(void)
{
    check_protection();
    for (uint32_t page = 0; page < PAGES; page++) {
        const uint32_t *words = (const uint32_t *)(void *)(window + (size_t)page * PAGE);

        if (wanted[page] == NOTHING)
            continue;
        must(mprotect(window + (size_t)page * PAGE, PAGE, PROT_READ) == 0, "mprotect", page);
        for (uint32_t i = 0; i < PAGE / sizeof *words; i++)
            if (words[i] != (wanted[page] ? wanted[page] + i % 7 : 0))
                fail("other bytes", page);
    }
}

static void map_beside(const char *count)
{
    for (int i = 0; count && i < atoi(count); i++) {
        char *two = mmap(NULL, 2 * PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        must(two != MAP_FAILED && mprotect(two, PAGE, PROT_READ | PROT_WRITE) == 0, "mmap", 0);
    }
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    map_beside(getenv("ADVANCED_BESIDE"));
    random_state = strtoull(argv[1], NULL, 10);
    window = mmap(WINDOW, (size_t)PAGES * PAGE, PROT_NONE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    must(window == WINDOW, "mmap", 0);
    unmap(0, PAGES);
    for (int i = 2; i < argc; i++) {
        char *heap = sbrk((intptr_t)draw(64) * PAGE);

        must(heap != (char *)-1, "sbrk", 0);
        for (uint32_t step = 0; step < STEPS; step++)
            change();
        check_protection();
        if ((i == 2 ? host_snapshot(argv[i]) : host_snapshot_increment(argv[i])) == 1) {
            check();
            printf("image %d\n", i - 2);
            return 0;
        }
    }
    return 10;
}
