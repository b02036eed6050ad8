/* input.c - when there was input on this host; see parts.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utmp.h>

#include "bsprun/agent/owner/activity.h"
#include "bsprun/agent/owner/parts.h"
#include "lib/base/clock.h"

#define DEVICES "/dev/"

/* ---- Terminals ---- */

/* Whether the line of a session, "pts/3", is a terminal of the process. */
static bool is_terminal_of(const char *root, pid_t pid, const char *line)
{
    char path[OWNER_PATH], target[PATH_MAX];

    for (int fd = STDIN_FILENO; pid > 0 && fd <= STDERR_FILENO; fd++) {
        snprintf(path, sizeof path, "%s/proc/%d/fd/%d", root, (int)pid, fd);
        ssize_t length = readlink(path, target, sizeof target - 1);

        if (length < (ssize_t)strlen(DEVICES))
            continue;
        target[length] = '\0';
        if (strncmp(target, DEVICES, strlen(DEVICES)) == 0 &&
            strcmp(target + strlen(DEVICES), line) == 0)
            return true;
    }
    return false;
}

static uint64_t age_ms(const char *root, const char *line)
{
    char path[OWNER_PATH];
    struct stat status;
    uint64_t now = bspz_wall_ns(), accessed;

    snprintf(path, sizeof path, "%s" DEVICES "%s", root, line);
    if (stat(path, &status) != 0)
        return OWNER_NEVER;
    accessed = (uint64_t)status.st_atim.tv_sec * BSPZ_NS_PER_S + (uint64_t)status.st_atim.tv_nsec;
    return accessed < now ? (now - accessed) / BSPZ_NS_PER_MS : 0;
}

uint64_t owner_terminals_age_ms(const char *root, pid_t bsprun)
{
    char path[OWNER_PATH], line[UT_LINESIZE + 1];
    uint64_t least = OWNER_NEVER;
    struct utmp entry;
    FILE *file;

    snprintf(path, sizeof path, "%s" _PATH_UTMP, root);
    file = fopen(path, "re");
    if (!file)
        return OWNER_NEVER;
    while (fread(&entry, sizeof entry, 1, file) == 1) {
        snprintf(line, sizeof line, "%.*s", UT_LINESIZE, entry.ut_line);
        /* ":0" is a screen, which is no device. */
        if (entry.ut_type != USER_PROCESS || !line[0] || line[0] == ':' || strstr(line, "..") ||
            is_terminal_of(root, bsprun, line))
            continue;
        uint64_t age = age_ms(root, line);

        if (age < least)
            least = age;
    }
    fclose(file);
    return least;
}

/* ---- Interrupts ---- */

/* The sum of the numbers of a line "1: 33 6784 IO-APIC 1-edge i8042". */
static uint64_t sum_of(const char *line)
{
    const char *at = strchr(line, ':');
    uint64_t sum = 0;
    char *end;

    for (at = at ? at + 1 : ""; *at; at = end) {
        unsigned long long number = strtoull(at, &end, 10);

        if (end == at || (*end != ' ' && *end != '\t'))
            break;
        sum += number;
    }
    return sum;
}

static bool count_interrupts(const char *root, uint64_t *count)
{
    char path[OWNER_PATH], *line = NULL;
    size_t size = 0;
    FILE *file;
    bool found = false;

    snprintf(path, sizeof path, "%s/proc/interrupts", root);
    file = fopen(path, "re");
    *count = 0;
    while (file && getline(&line, &size, file) > 0)
        if (strstr(line, "i8042")) {
            *count += sum_of(line);
            found = true;
        }
    free(line);
    if (file)
        fclose(file);
    return found;
}

uint64_t owner_interrupts_age_ms(const char *root, struct owner_interrupts *interrupts,
                                 uint64_t now_ms)
{
    uint64_t count;

    if (count_interrupts(root, &count)) {
        if (interrupts->known && count != interrupts->count)
            interrupts->changed_ms = now_ms;
        interrupts->known = true;
        interrupts->count = count;
    }
    return interrupts->changed_ms > 0 ? now_ms - interrupts->changed_ms : OWNER_NEVER;
}
