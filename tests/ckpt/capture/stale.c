/* stale.c - between two snapshots the program changes what forks do to a mapping, which no list of
 * mappings shows: the copy that is made then is given up, and the next one is right again.  Whether
 * a mapping is locked no copy can see, and the image says it all the same.
 *
 *   stale LOCKED IMAGE   writes both images and ends with status 10; restored, it checks what it
 *                        kept. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/ckpt/capture/host.h"
#include "tests/ckpt/capture/host_copy.h"
#include "tests/ckpt/capture/state.h"

#define PAGE  4096
#define LARGE (40 << 20)

/* Apart from each other, and from anything that could become one mapping with them. */
static char *apart(char fill, size_t bytes, int advice)
{
    char *space = mmap(NULL, bytes + 2 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    CHECK(space != MAP_FAILED && mprotect(space + PAGE, bytes, PROT_READ | PROT_WRITE) == 0);
    CHECK(madvise(space + PAGE, bytes, advice) == 0);
    memset(space + PAGE, fill, bytes);
    return space + PAGE;
}

static char *page_of(char fill)
{
    return apart(fill, PAGE, MADV_NORMAL);
}

static int save(const char *image, struct host_agent *agent)
{
    unlink(image);
    if (host_snapshot_forked_start(image, agent) == 1)
        return -1;
    return host_agent_wait(agent);
}

static int freeze(struct host_agent *agent)
{
    struct bspz_freeze_plan plan = {0};
    int status;

    host_options(&plan.options);
    host_agent_hooks(agent, &plan.hooks);
    CHECK(bspz_copy_freeze(&plan) == 0);
    host_agent_discard(agent);
    status = host_agent_wait(agent);
    return status;
}

/* New memory, so much that what forks do to it is guessed and not looked up. */
static char *large(char fill, int advice)
{
    return apart(fill, LARGE, advice);
}

static long locked_kib(void)
{
    FILE *status = fopen("/proc/self/status", "re");
    char line[256];
    long kib = -1;

    while (status && kib < 0 && fgets(line, sizeof line, status))
        sscanf(line, "VmLck: %ld", &kib);
    if (status)
        fclose(status);
    return kib;
}

/* Whether a child has the memory: it ends by SIGSEGV otherwise. */
static bool is_in_children(const char *at)
{
    pid_t child = fork();
    int status;

    CHECK(child >= 0);
    if (child == 0)
        _exit(*(const volatile char *)at == 0);
    CHECK(waitpid(child, &status, 0) == child);
    return status == 0;
}

/* Restored from the image of when the second page was locked, and from a later one. */
static int check_locked(char *locked, bool is_locked)
{
    CHECK(locked_kib() == (is_locked ? PAGE / 1024 : 0));
    CHECK(munlock(locked, PAGE) == 0 && locked_kib() == 0 && locked[0] == 'k');
    return 0;
}

int main(int argc, char **argv)
{
    char *forkless = page_of('f'), *wiped = page_of('w'), *plain, *lost, *again,
         *locked = page_of('k');
    struct host_agent *agent = host_agent_start();

    CHECK(argc == 3);
    CHECK(save(argv[1], agent) == 0 && save(argv[1], agent) == 0);
    plain = large('p', MADV_NORMAL);
    CHECK(save(argv[1], agent) == 0);
    /* A wrong guess costs a copy, and there is no other. */
    lost = large('l', MADV_WIPEONFORK);
    CHECK(save(argv[1], agent) == 1 && save(argv[1], agent) == 0);
    again = large('a', MADV_WIPEONFORK);
    CHECK(save(argv[1], agent) == 0);
    CHECK(madvise(forkless, PAGE, MADV_DONTFORK) == 0);
    CHECK(save(argv[1], agent) == 1);
    CHECK(save(argv[1], agent) == 0);
    CHECK(madvise(wiped, PAGE, MADV_WIPEONFORK) == 0);
    CHECK(freeze(agent) == 1);
    CHECK(freeze(agent) == 0);
    CHECK(madvise(forkless, PAGE, MADV_DOFORK) == 0);
    CHECK(save(argv[1], agent) == 1 && save(argv[1], agent) == 0);
    CHECK(mlock(locked, PAGE) == 0);
    if (save(argv[1], agent) != 0)
        return check_locked(locked, true);
    CHECK(munlock(locked, PAGE) == 0);
    if (save(argv[2], agent) == 0)
        _exit(10);
    CHECK(plain[LARGE / 2] == 'p' && lost[LARGE / 2] == 'l' && again[LARGE - 1] == 'a');
    CHECK(forkless[0] == 'f' && forkless[PAGE - 1] == 'f' && wiped[0] == 'w');
    CHECK(is_in_children(forkless));
    return check_locked(locked, false);
}
