/* process_stat.c - see process_stat.h. */
#include "lib/base/process_stat.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/io.h"

bool bspz_stat_read(pid_t pid, char line[BSPZ_STAT_LINE])
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    return bspz_read_text(path, line, BSPZ_STAT_LINE);
}

const char *bspz_stat_field(const char *line, int field)
{
    const char *at = strrchr(line, ')');

    for (int number = 2; at && number < field; number++)
        if ((at = strchr(at, ' ')))
            at++;
    return at && *at ? at : NULL;
}

uint64_t bspz_stat_number(const char *line, int field)
{
    const char *at = bspz_stat_field(line, field);
    uint64_t number = 0;

    for (; at && *at >= '0' && *at <= '9'; at++)
        number = number * 10 + (uint64_t)(*at - '0');
    return number;
}

bool bspz_stat_is_stopped(const char *line)
{
    const char *state = bspz_stat_field(line, BSPZ_STAT_STATE);

    return state && (*state == 'T' || *state == 't');
}

bool bspz_stat_is_dead(const char *line)
{
    const char *state = bspz_stat_field(line, BSPZ_STAT_STATE);

    return state && (*state == 'Z' || *state == 'X');
}

bool bspz_process_appends(pid_t pid, int descriptor)
{
    char path[64], text[256];
    const char *flags;

    snprintf(path, sizeof path, "/proc/%d/fdinfo/%d", (int)pid, descriptor);
    if (!bspz_read_text(path, text, sizeof text))
        return false;
    flags = strstr(text, "flags:");
    return flags && (strtoul(flags + strlen("flags:"), NULL, 8) & O_APPEND);
}
