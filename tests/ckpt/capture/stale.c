/* stale.c - between two snapshots the program changes what forks do to a mapping, which no list of
 * mappings shows: the copy that is made then is given up, and the next one is right again.
 *
 *   stale IMAGE   writes the image and ends with status 10; restored, it checks what it kept. */
#include <string.h>
#include <sys/mman.h>
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

int main(int argc, char **argv)
{
    char *forkless = page_of('f'), *wiped = page_of('w'), *plain, *lost, *again;
    struct host_agent *agent = host_agent_start();

    CHECK(argc == 2);
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
    if (save(argv[1], agent) == 0)
        _exit(10);
    CHECK(plain[LARGE / 2] == 'p' && lost[LARGE / 2] == 'l' && again[LARGE - 1] == 'a');
    CHECK(forkless[0] == 'f' && forkless[PAGE - 1] == 'f' && wiped[0] == 'w');
    return 0;
}
