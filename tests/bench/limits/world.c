/* world.c - start, binding and barriers of the programs that measure the machine. */
#include "tests/bench/limits/world.h"

#include <limits.h>
#include <linux/futex.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <signal.h>

struct limits_shared *limits_shared;

static struct bench_world self;

void limits_sleep(atomic_uint *word, unsigned value)
{
    syscall(SYS_futex, word, FUTEX_WAIT, value, NULL, NULL, 0);
}

void limits_wake(atomic_uint *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* Counts this process in.  The last one opens the next generation and returns true; *generation is
 * the one that the others have to see end. */
static bool arrive(const struct bench_world *world, unsigned *generation)
{
    *generation = atomic_load(&limits_shared->generation.value);
    unsigned before = atomic_fetch_add(&limits_shared->arrived.value, 1);
    if (before + 1 < (unsigned)world->nprocs)
        return false;
    atomic_store(&limits_shared->arrived.value, 0);
    atomic_store(&limits_shared->generation.value, *generation + 1);
    return true;
}

void limits_barrier_futex(const struct bench_world *world)
{
    unsigned generation;
    if (arrive(world, &generation)) {
        limits_wake(&limits_shared->generation.value);
        return;
    }
    while (atomic_load(&limits_shared->generation.value) == generation)
        limits_sleep(&limits_shared->generation.value, generation);
}

void limits_barrier_yield(const struct bench_world *world)
{
    unsigned generation;
    if (arrive(world, &generation))
        return;
    while (atomic_load(&limits_shared->generation.value) == generation)
        sched_yield();
}

/* One flag per process, nothing counted: each sees every other's flag arrive. */
void limits_barrier_spin(const struct bench_world *world)
{
    atomic_uint *own = &limits_shared->flags[world->pid].value;
    unsigned next = atomic_load_explicit(own, memory_order_relaxed) + 1;
    atomic_store_explicit(own, next, memory_order_release);
    for (int i = 0; i < world->nprocs; i++) {
        atomic_uint *flag = &limits_shared->flags[i].value;
        while ((int)(atomic_load_explicit(flag, memory_order_acquire) - next) < 0)
            __builtin_ia32_pause();
    }
}

static long from_zero(long value)
{
    if (self.pid == 0)
        atomic_store(&limits_shared->broadcast, value);
    limits_barrier_yield(&self);
    value = atomic_load(&limits_shared->broadcast);
    limits_barrier_yield(&self);
    return value;
}

/* The cores this program was given: looked up once, before it binds itself to one of them. */
static const cpu_set_t *usable_cores(void)
{
    static cpu_set_t usable;
    static bool known;
    if (!known && sched_getaffinity(0, sizeof(usable), &usable) != 0) {
        perror("sched_getaffinity");
        exit(3);
    }
    known = true;
    return &usable;
}

int limits_cores(void)
{
    return CPU_COUNT(usable_cores());
}

static void bind_to(int index)
{
    cpu_set_t one;
    int wanted = index % limits_cores();
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET(cpu, usable_cores()) && wanted-- == 0)
            CPU_SET(cpu, &one);
    }
    sched_setaffinity(0, sizeof(one), &one);
}

struct bench_world limits_begin(int procs, bool one_core)
{
    limits_shared = mmap(NULL, sizeof(*limits_shared), PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (limits_shared == MAP_FAILED) {
        perror("mmap");
        exit(3);
    }
    usable_cores();
    self = (struct bench_world){.pid = 0, .nprocs = procs, .from_zero = from_zero};
    for (int i = 1; i < procs; i++) {
        pid_t child = fork();
        if (child < 0) {
            perror("fork");
            kill(0, SIGKILL);
        }
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            self.pid = i;
            break;
        }
    }
    bind_to(one_core ? 0 : self.pid);
    return self;
}

void limits_end(const struct bench_world *world)
{
    if (world->pid != 0)
        exit(0);
    while (wait(NULL) > 0)
        continue;
    munmap(limits_shared, sizeof(*limits_shared));
}
