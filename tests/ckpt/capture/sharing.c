/* sharing.c - why pages that are still shared with a frozen copy are not taken to be as in the base.
 *
 * /proc/self/pagemap says of a page whether another process maps it, too, and, without privileges,
 * not which page it is.  Shows, with a copy that lives and touches nothing: a page that was not
 * written to is shared, and one that was is not; but a page that was moved there is shared and
 * another one, and so is one that was written to before the program forked.  So if a kernel says
 * otherwise, doc/migration.md has to be changed.
 *
 * Exit status 77: pagemap cannot be read. */
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PAGE          4096u
#define PAGES         8u
#define SKIPPED       77
#define ENTRY_PRESENT (UINT64_C(1) << 63)
#define ENTRY_ALONE   (UINT64_C(1) << 56) /* no other process maps the page */
#define ENTRY_FRAME   ((UINT64_C(1) << 55) - 1)

static int pagemap;

static uint64_t entry_of(const unsigned char *page)
{
    uint64_t entry = 0;

    if (pread(pagemap, &entry, sizeof entry, (off_t)((uintptr_t)page / PAGE * sizeof entry)) !=
        (ssize_t)sizeof entry) {
        fprintf(stderr, "/proc/self/pagemap cannot be read\n");
        exit(SKIPPED);
    }
    return entry;
}

static bool is_shared(const unsigned char *page)
{
    return (entry_of(page) & (ENTRY_PRESENT | ENTRY_ALONE)) == ENTRY_PRESENT;
}

static unsigned char *filled(unsigned char with)
{
    unsigned char *at =
        mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED)
        exit(1);
    madvise(at, PAGES * PAGE, MADV_NOHUGEPAGE);
    memset(at, with, PAGES * PAGE);
    return at;
}

/* A process that has all pages as they are now, and ends with this one. */
static pid_t copy(void)
{
    pid_t child = fork();

    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    if (child < 0)
        exit(1);
    return child;
}

static void end(pid_t child)
{
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

static int expect(bool as_said, const char *what)
{
    printf("%s: %s\n", as_said ? "ok" : "NOT SO", what);
    return as_said ? 0 : 1;
}

int main(void)
{
    unsigned char *one = filled('1'), *other = filled('2');
    pid_t frozen, child;
    int wrong = 0;

    pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    frozen = copy();

    wrong += expect(is_shared(one), "a page that was not written to is shared with the copy");
    one[1 * PAGE] = 'x';
    wrong += expect(!is_shared(one + 1 * PAGE), "one that was written to is not");

    if (mremap(one + 2 * PAGE, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, other + 2 * PAGE) !=
        other + 2 * PAGE)
        return 1;
    wrong += expect(is_shared(other + 2 * PAGE) && other[2 * PAGE] == '1',
                    "one that was moved there is shared, and not what the copy has there");

    other[3 * PAGE] = 'x';
    child = copy();
    wrong += expect(is_shared(other + 3 * PAGE),
                    "one that was written to before the program forked is shared");
    end(child);
    if (geteuid() != 0)
        wrong += expect((entry_of(one) & ENTRY_FRAME) == 0, "which page it is is not said");
    end(frozen);
    return wrong > 0;
}
