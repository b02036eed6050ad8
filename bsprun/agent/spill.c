/* spill.c - see spill.h. */
#include "bsprun/agent/spill.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "lib/base/temporary.h"

#define PAGE UINT64_C(4096)

static uint64_t whole_pages(uint64_t size)
{
    return (size + PAGE - 1) / PAGE * PAGE;
}

/* The first page of each piece says where in the file it is. */
struct head {
    uint64_t offset;
};

static int open_file(void)
{
    char path[PATH_MAX];
    int file = open(bspz_temporary_root(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
    int length = snprintf(path, sizeof path, "%s/bspzero-objects-XXXXXX", bspz_temporary_root());

    if (file >= 0 || length >= (int)sizeof path)
        return file;
    /* Some file systems do not have files without a name. */
    file = mkostemp(path, O_CLOEXEC);
    if (file >= 0)
        unlink(path);
    return file;
}

void *spill_map(struct spill *spill, uint64_t size)
{
    uint64_t all = PAGE + whole_pages(size);
    struct rlimit limit;
    struct head *at;

    if (spill->file < 0)
        spill->file = open_file();
    /* Room is taken now: writing to memory that finds none would be SIGBUS. */
    if (spill->file < 0 || getrlimit(RLIMIT_FSIZE, &limit) != 0 ||
        spill->end + all > limit.rlim_cur ||
        posix_fallocate(spill->file, (off_t)spill->end, (off_t)all) != 0)
        return NULL;
    at = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_SHARED, spill->file, (off_t)spill->end);
    if (at == MAP_FAILED) {
        fallocate(spill->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)spill->end,
                  (off_t)all);
        return NULL;
    }
    madvise(at, all, MADV_DONTDUMP);
    at->offset = spill->end;
    spill->end += all;
    return (char *)at + PAGE;
}

void spill_unmap(struct spill *spill, void *at, uint64_t size)
{
    struct head *head = (struct head *)((char *)at - PAGE);
    uint64_t all = PAGE + whole_pages(size), offset = head->offset;

    munmap(head, all);
    fallocate(spill->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)all);
}

void spill_close(struct spill *spill)
{
    if (spill->file >= 0)
        close(spill->file);
    *spill = SPILL_NONE;
}
