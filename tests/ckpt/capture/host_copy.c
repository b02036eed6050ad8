/* host_copy.c - a test process that adopts its own copies. */
#include "tests/ckpt/capture/host_copy.h"

#include <errno.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 10000

struct host_agent {
    int self;
    _Atomic int copy;
    _Atomic uint32_t word;
};

static int announce(void *context, int32_t ospid)
{
    struct host_agent *agent = context;

    atomic_store(&agent->copy, ospid);
    return 0;
}

int host_copy_adopted(int parent)
{
    const struct timespec moment = {0, 1000000};

    for (int waited = 0; getppid() != parent; waited++) {
        if (waited == PATIENCE_MS)
            return ESRCH;
        nanosleep(&moment, NULL);
    }
    return prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent ? 0 : ESRCH;
}

static int enter(void *context)
{
    const struct host_agent *agent = context;

    return host_copy_adopted(agent->self);
}

/* A thawed copy makes no copy of its own here. */
static _Atomic uint32_t *word(void *context)
{
    struct host_agent *agent = context;

    if (atomic_load(&agent->word) == BSPZ_COPY_THAW)
        return NULL;
    return &agent->word;
}

struct host_agent *host_agent_start(void)
{
    struct host_agent *agent =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (agent == MAP_FAILED || prctl(PR_SET_CHILD_SUBREAPER, 1) != 0)
        exit(4);
    host_adopts();
    agent->self = getpid();
    host_exclude(agent, 4096);
    return agent;
}

struct host_agent *host_agent_other(struct host_agent *agent)
{
    agent[1].self = agent->self;
    return agent + 1;
}

void host_agent_hooks(struct host_agent *agent, struct bspz_copy_hooks *hooks)
{
    *hooks = (struct bspz_copy_hooks){
        .context = agent, .announce = announce, .enter = enter, .word = word};
}

int host_agent_wait(struct host_agent *agent)
{
    int status = 0;

    if (waitpid(atomic_load(&agent->copy), &status, __WALL) < 0)
        return 255;
    atomic_store(&agent->word, BSPZ_COPY_FROZEN);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void host_agent_end(struct host_agent *agent)
{
    kill(atomic_load(&agent->copy), SIGKILL);
    host_agent_wait(agent);
}

static void say(struct host_agent *agent, uint32_t word)
{
    atomic_store(&agent->word, word);
    syscall(SYS_futex, &agent->word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

void host_agent_thaw(struct host_agent *agent)
{
    say(agent, BSPZ_COPY_THAW);
}

/* The copy made last ends by itself. */
void host_agent_discard(struct host_agent *agent)
{
    say(agent, BSPZ_COPY_DISCARD);
}
