/* figures.c - what a snapshot costs a process.
 *
 *   figures MIB IMAGE [hard]   a process with so many MiB of its own, of numbers that compress or,
 *                              with "hard", do not: milliseconds that each way of saving stops it.
 *
 * Restored, it prints how long the restore took since the time in the handover. */
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/ckpt/capture/host.h"
#include "tests/ckpt/capture/host_copy.h"

#define ROUNDS 5

static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e3 + (double)time.tv_nsec * 1e-6;
}

static uint64_t *fill(size_t bytes, int hard)
{
    uint64_t *words = malloc(bytes), seed = 88172645463325252u;

    for (size_t i = 0; i < bytes / 8; i++) {
        double smooth = (double)i * 0.001;

        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        memcpy(&words[i], hard ? (void *)&seed : (void *)&smooth, 8);
    }
    return words;
}

static double freeze_once(struct host_agent *agent)
{
    struct bspz_freeze_plan plan = {0};
    double start = now();

    host_options(&plan.options);
    host_agent_hooks(agent, &plan.hooks);
    if (bspz_copy_freeze(&plan) != 0) {
        fprintf(stderr, "%s\n", plan.why);
        exit(1);
    }
    start = now() - start;
    host_agent_end(agent);
    return start;
}

/* A frozen copy that has the image written. */
static double do_both_once(const char *path, struct host_agent *agent, struct host_agent *other)
{
    struct bspz_freeze_plan plan = {0};
    struct bspz_copy_hooks writer;
    double start;

    unlink(path);
    start = now();
    host_agent_hooks(agent, &plan.hooks);
    host_agent_hooks(other, &writer);
    if (host_freeze_and_snapshot(path, &plan, &writer) != 0)
        exit(1);
    start = now() - start;
    host_agent_discard(agent);
    host_agent_wait(agent);
    host_agent_wait(other);
    return start;
}

static double thaw_once(struct host_agent *agent, uint64_t *words)
{
    struct bspz_freeze_plan plan = {0};
    _Atomic uint64_t *time =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    struct bspz_range apart = {(uint64_t)(uintptr_t)time, (uint64_t)(uintptr_t)time + 4096};
    double start, end;

    host_options(&plan.options);
    plan.options.excluded = &apart;
    plan.options.excluded_count = 1;
    host_agent_hooks(agent, &plan.hooks);
    if (bspz_copy_freeze(&plan) == 1) {
        words[0]++;
        end = now();
        memcpy((void *)time, &end, 8);
        _exit(0);
    }
    start = now();
    host_agent_thaw(agent);
    host_agent_wait(agent);
    memcpy(&end, (void *)time, 8);
    munmap((void *)time, 4096);
    return end - start;
}

/* One page in a hundred has been written to since the image before. */
static double increment_once(const char *path, uint64_t *words, size_t bytes, size_t turn)
{
    size_t page_words = 4096 / sizeof *words;
    char name[4096];
    double start;

    for (size_t page = turn % 100; page < bytes / 4096; page += 100)
        words[page * page_words]++;
    snprintf(name, sizeof name, "%s.increment", path);
    unlink(name);
    start = now();
    if (host_snapshot_increment(name) == 1)
        exit(0);
    start = now() - start;
    unlink(name);
    return start;
}

int main(int argc, char **argv)
{
    size_t bytes = argc > 1 ? (size_t)atol(argv[1]) << 20 : 0;
    struct host_agent *agent, *other;
    uint64_t *words;

    if (argc < 3)
        return 2;
    words = fill(bytes + 8, argc > 3);
    agent = host_agent_start();
    other = host_agent_other(agent);
    printf("forked  ");
    for (int i = 0; i < ROUNDS; i++) {
        double start;

        unlink(argv[2]);
        start = now();
        host_snapshot_forked_start(argv[2], agent);
        printf(" %7.2f", now() - start);
        host_agent_wait(agent);
    }
    printf("\nfrozen  ");
    for (int i = 0; i < ROUNDS; i++)
        printf(" %7.2f", freeze_once(agent));
    printf("\nboth    ");
    for (int i = 0; i < ROUNDS; i++)
        printf(" %7.2f", do_both_once(argv[2], agent, other));
    printf("\nthawed  ");
    for (int i = 0; i < ROUNDS; i++)
        printf(" %7.2f", thaw_once(agent, words));
    printf("\nwritten ");
    for (int i = 0; i < ROUNDS; i++) {
        double start;

        unlink(argv[2]);
        start = now();
        if (host_snapshot(argv[2]) == 1) {
            printf("restored %.2f\n", now() - atof(host_handover()));
            return 0;
        }
        printf(" %7.2f", now() - start);
        if (i == 0) /* the image that is restored has nothing of this in its buffer */
            fflush(stdout);
    }
    printf("\nincrement");
    for (int i = 0; i < ROUNDS; i++)
        printf(" %7.2f", increment_once(argv[2], words, bytes, (size_t)i));
    printf("\n");
    return 0;
}
