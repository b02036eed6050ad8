/* spill.c - see spill.h. */
#include "bsprun/agent/spill.h"

#include <fcntl.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/base/temporary.h"

/* Room is taken at once: writing to memory that finds none would be SIGBUS; as a larger file than
 * permitted would be SIGXFSZ. */
static bool take_room(int file, uint64_t size)
{
    struct rlimit limit;

    return getrlimit(RLIMIT_FSIZE, &limit) == 0 && size <= limit.rlim_cur &&
           posix_fallocate(file, 0, (off_t)size) == 0;
}

void *spill_map(uint64_t size)
{
    int file = bspz_temporary_file();
    void *at = MAP_FAILED;

    if (file < 0)
        return NULL;
    if (take_room(file, size))
        at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
    if (at == MAP_FAILED)
        return NULL;
    madvise(at, size, MADV_DONTDUMP);
    return at;
}

void spill_unmap(void *at, uint64_t size)
{
    munmap(at, size);
}
