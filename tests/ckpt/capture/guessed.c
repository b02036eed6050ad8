/* guessed.c - a process that writes an image by itself takes the flags of mappings from the
 * snapshot before, and looks at them when it has written.
 *
 *   guessed CASE FULL INCREMENT   writes both, and prints how often the second was written;
 *                                 restored, checks that its memory has the flags it had.
 *
 * Cases: same; changed, the flags of a mapping are others since, which no list of mappings shows;
 * new, there is another mapping. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/ckpt/capture/host.h"

#define PAGE  4096u
#define BYTES ((size_t)1 << 20)

/* Apart from anything that could become one mapping with it. */
static char *apart(void)
{
    char *space = mmap(NULL, BYTES + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (space == MAP_FAILED || mprotect(space + PAGE, BYTES, PROT_READ | PROT_WRITE) != 0)
        return NULL;
    memset(space + PAGE, 'x', BYTES);
    return space + PAGE;
}

static int is_dumped(const char *at)
{
    FILE *maps = fopen("/proc/self/smaps", "re");
    uint64_t start, end, own = (uint64_t)(uintptr_t)at;
    int here = 0, dumped = -1;
    char line[512];

    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " ", &start, &end) == 2)
            here = start <= own && own < end;
        else if (here && strncmp(line, "VmFlags:", 8) == 0)
            dumped = strstr(line, " dd") == NULL;
    }
    if (maps)
        fclose(maps);
    return dumped;
}

int main(int argc, char **argv)
{
    char *memory = apart(), *more = NULL;
    int changed = argc > 1 && strcmp(argv[1], "changed") == 0;

    if (argc < 4 || !memory)
        return 2;
    if (host_snapshot(argv[2]) == 1)
        return 1;
    if (changed && madvise(memory, BYTES, MADV_DONTDUMP) != 0)
        return 2;
    if (strcmp(argv[1], "new") == 0 && !(more = apart()))
        return 2;
    if (host_snapshot_increment(argv[3]) == 1) {
        if (is_dumped(memory) != !changed || memory[BYTES - 1] != 'x' || (more && *more != 'x'))
            return 1;
        return 0;
    }
    printf("%d\n", host_attempts());
    return 10;
}
