/* memory.c - free memory of the machine and of the cgroups, versions 1 and 2; see memory.h.
 *
 * The limit may be set in the cgroup or any of its ancestors, so all are read. */
#include "bsprun/agent/snapshot/memory.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/io.h"

#define TEXT_BYTES 8192
#define PART_BYTES 4096 /* of a file whose first lines are needed only */
#define LINE_BYTES 64   /* a number, or "max" */
#define UNKNOWN    UINT64_MAX

/* Differences between the versions. */
struct version {
    const char *mount, *limit, *use, *inactive, *active;
};
static const struct version version_1 = {"/sys/fs/cgroup/memory", "memory.limit_in_bytes",
                                         "memory.usage_in_bytes", "total_inactive_file",
                                         "total_active_file"};
static const struct version version_2 = {"/sys/fs/cgroup", "memory.max", "memory.current",
                                         "inactive_file", "active_file"};

uint64_t memory_number(const char *text, const char *word)
{
    size_t length = strlen(word);

    for (const char *line = text; line; line = strchr(line, '\n') ? strchr(line, '\n') + 1 : NULL)
        if (strncmp(line, word, length) == 0 && (line[length] == ' ' || line[length] == '\t'))
            return strtoull(line + length, NULL, 10);
    return UNKNOWN;
}

static uint64_t known_or_0(uint64_t number)
{
    return number == UNKNOWN ? 0 : number;
}

uint64_t memory_headroom(const char *limit, const char *use, uint64_t files)
{
    char *end;
    uint64_t most = strtoull(limit, &end, 10), used = strtoull(use, NULL, 10);

    if (end == limit)
        return UNKNOWN; /* "max" */
    used -= files < used ? files : used;
    return used < most ? most - used : 0;
}

static uint64_t headroom_of(const struct version *version, const char *group)
{
    char path[PATH_MAX + 64], limit[LINE_BYTES], use[LINE_BYTES], statistics[PART_BYTES];

    snprintf(path, sizeof path, "%s%s/%s", version->mount, group, version->limit);
    if (!bspz_read_text(path, limit, LINE_BYTES))
        return UNKNOWN;
    snprintf(path, sizeof path, "%s%s/%s", version->mount, group, version->use);
    if (!bspz_read_text(path, use, LINE_BYTES))
        return UNKNOWN;
    snprintf(path, sizeof path, "%s%s/memory.stat", version->mount, group);
    if (!bspz_read_text(path, statistics, PART_BYTES))
        statistics[0] = '\0';
    return memory_headroom(limit, use,
                           known_or_0(memory_number(statistics, version->inactive)) +
                               known_or_0(memory_number(statistics, version->active)));
}

/* The least headroom of the group and its ancestors. */
static uint64_t headroom_up(const struct version *version, char *group)
{
    uint64_t least = UNKNOWN;

    for (;;) {
        uint64_t here = headroom_of(version, group);
        char *slash = strrchr(group, '/');

        if (here < least)
            least = here;
        if (!slash)
            return least;
        *slash = '\0';
    }
}

/* Lines of /proc/self/cgroup: "0::/group" of version 2, "7:memory:/group" of version 1. */
static uint64_t cgroup_headroom(void)
{
    char text[TEXT_BYTES], *rest = text, *line;
    uint64_t least = UNKNOWN;

    if (!bspz_read_text("/proc/self/cgroup", text, TEXT_BYTES))
        return UNKNOWN;
    while ((line = strsep(&rest, "\n"))) {
        const char *controllers = strchr(line, ':');
        char *group = controllers ? strchr(controllers + 1, ':') : NULL;
        const struct version *version = NULL;
        uint64_t here;

        if (!group)
            continue;
        *group++ = '\0';
        if (controllers[1] == '\0')
            version = &version_2;
        else if (strcmp(controllers + 1, "memory") == 0)
            version = &version_1;
        here = version ? headroom_up(version, group) : UNKNOWN;
        if (here < least)
            least = here;
    }
    return least;
}

uint64_t memory_available(void)
{
    char text[PART_BYTES];
    uint64_t machine = UNKNOWN, group = cgroup_headroom();

    if (bspz_read_text("/proc/meminfo", text, PART_BYTES))
        machine = memory_number(text, "MemAvailable:");
    if (machine != UNKNOWN)
        machine *= 1024;
    return machine < group ? machine : group;
}

uint64_t memory_of_process(pid_t ospid)
{
    char path[64], text[PART_BYTES];
    unsigned long long size, resident, shared;

    snprintf(path, sizeof path, "/proc/%d/statm", (int)ospid);
    if (!bspz_read_text(path, text, PART_BYTES) ||
        sscanf(text, "%llu %llu %llu", &size, &resident, &shared) != 3 || resident < shared)
        return 0;
    return (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}
