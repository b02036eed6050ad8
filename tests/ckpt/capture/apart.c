/* apart.c - address space that is no part of the process is free when the process goes on, also the
 * largest piece there is, and whatever the restore needed for itself.
 *
 *   apart IMAGE   writes the image and ends with status 10; host.c looks when it is restored. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/ckpt/capture/host.h"
#include "tests/ckpt/capture/host_copy.h"
#include "tests/ckpt/capture/state.h"

#define LOWEST ((size_t)1 << 20)

/* The lower part of the widest hole: where a restore would put things together. */
static void *reserve(size_t *bytes)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    size_t last = LOWEST, best = 0, start, end;

    CHECK(maps);
    *bytes = 0;
    while (fscanf(maps, "%zx-%zx%*[^\n]", &start, &end) == 2) {
        if (start > last && start >> 47 == 0 && start - last > *bytes) {
            best = last;
            *bytes = start - last;
        }
        last = end;
    }
    fclose(maps);
    *bytes = *bytes / 4 * 3 & ~(size_t)4095;
    return mmap((void *)best, *bytes, PROT_NONE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
}

int main(int argc, char **argv)
{
    size_t bytes;
    void *at = reserve(&bytes);

    CHECK(argc == 2 && at != MAP_FAILED);
    host_exclude(at, bytes);
    if (host_snapshot(argv[1]) == 0)
        _exit(10);
    return 0;
}
