/* options_play.c - see options_play.h. */
#include "tests/integ/options_play.h"

#include <string.h>

const char *procs, *faults;
const char *settings[8][2]; /* other variables */

const char *lookup(const char *name)
{
    if (strcmp(name, "BSP_PROCS") == 0)
        return procs;
    if (strcmp(name, FAULT_VARIABLE) == 0)
        return faults;
    for (size_t i = 0; i < 8 && settings[i][0]; i++)
        if (strcmp(name, settings[i][0]) == 0)
            return settings[i][1];
    return strcmp(name, "HOME") == 0 ? "/home/me" : NULL;
}

void set(int index, const char *name, const char *value)
{
    settings[index][0] = name;
    settings[index][1] = value;
}

void forget_settings(void)
{
    memset(settings, 0, sizeof settings);
}
