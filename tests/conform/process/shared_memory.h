/* shared_memory.h - how much of the shared memory this process has touched. */
#ifndef CONFORM_SHARED_MEMORY_H
#define CONFORM_SHARED_MEMORY_H

#include <stdio.h>

/* Kilobytes of shared memory in use by this process. */
static long shared_kilobytes(void)
{
    FILE *status = fopen("/proc/self/status", "r");
    char line[200];
    long number, result = -1;

    while (status && fgets(line, sizeof line, status))
        if (sscanf(line, "RssShmem: %ld", &number) == 1)
            result = number;
    fclose(status);
    return result;
}

#endif
