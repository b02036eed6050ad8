/* fault.c - fault points for tests; see fault.h. */
#include "bsprun/fault.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Parses "name:number" at *at and advances *at. */
static bool take(const char **at, const char *name, uint64_t *value)
{
    size_t length = strlen(name);
    unsigned long long number;
    char *end;

    if (strncmp(*at, name, length) != 0 || (*at)[length] != ':' || (*at)[length + 1] == '-')
        return false;
    errno = 0;
    number = strtoull(*at + length + 1, &end, 10);
    if (errno || end == *at + length + 1 || (*end && *end != ','))
        return false;
    *value = number;
    *at = *end ? end + 1 : end;
    return true;
}

bool faults_parse(const char *text, struct faults *faults)
{
    faults->consult_every = 0;
    faults->abort_at = UINT64_MAX;
    if (!text)
        return true;
    while (*text)
        if (!take(&text, "consult", &faults->consult_every) &&
            !take(&text, "abort-at", &faults->abort_at))
            return false;
    return true;
}
