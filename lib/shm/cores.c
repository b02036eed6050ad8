/* cores.c - the number of processes, and of cores for them. */
#include <sched.h>
#include <stdio.h>
#include <string.h>

#include "lib/shm/board.h"

int bspz_decide_nprocs(int wanted, int limit, int slots)
{
    if (wanted == 0)
        return limit > 0 ? limit : slots;
    return limit > 0 && wanted > limit ? limit : wanted;
}

/* Processors that the quota of one cgroup v2 directory allows, rounded up; 0 = no quota. */
static int quota_of(const char *directory)
{
    char path[4200];
    long long quota, period;
    int cores = 0;
    FILE *file;

    snprintf(path, sizeof path, "/sys/fs/cgroup%s/cpu.max", directory);
    file = fopen(path, "re");
    if (!file)
        return 0;
    if (fscanf(file, "%lld %lld", &quota, &period) == 2 && quota > 0 && period > 0)
        cores = (int)((quota + period - 1) / period);
    fclose(file);
    return cores;
}

/* The tightest quota from this process's cgroup up to the root. */
static int cgroup_cores(void)
{
    char line[4096] = "";
    int tightest = 0;
    FILE *file = fopen("/proc/self/cgroup", "re");

    if (!file)
        return 0;
    while (fgets(line, sizeof line, file) && strncmp(line, "0::", 3) != 0)
        line[0] = '\0';
    fclose(file);
    if (line[0] == '\0')
        return 0;
    line[strcspn(line, "\n")] = '\0';
    for (char *directory = line + 3; *directory; *strrchr(directory, '/') = '\0') {
        int cores = quota_of(strcmp(directory, "/") == 0 ? "" : directory);

        if (cores > 0 && (tightest == 0 || cores < tightest))
            tightest = cores;
    }
    return tightest;
}

int bspz_usable_cores(void)
{
    cpu_set_t *set;
    size_t bytes;
    int cores = 1;
    int quota = cgroup_cores();

    /* The kernel's mask may be larger than the fixed cpu_set_t. */
    for (int processors = 1024; processors <= 1 << 18; processors *= 2) {
        set = CPU_ALLOC((size_t)processors);
        bytes = CPU_ALLOC_SIZE((size_t)processors);
        if (!set)
            break;
        if (sched_getaffinity(0, bytes, set) == 0) {
            cores = CPU_COUNT_S(bytes, set);
            CPU_FREE(set);
            break;
        }
        CPU_FREE(set);
    }
    return quota > 0 && quota < cores ? quota : cores;
}
