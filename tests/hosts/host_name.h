/* host_name.h - which host of its job a program is on. */
#ifndef HOSTS_HOST_NAME_H
#define HOSTS_HOST_NAME_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Hosts may all be this machine: the node agent, whose child this is, knows its name.  Nothing
 * changes where that cannot be read. */
static inline void find_host(char *host, size_t size)
{
    static const char name[] = "BSPZERO_HOST_NAME=";
    char path[64], *line = NULL;
    size_t room = 0;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%ld/environ", (long)getppid());
    file = fopen(path, "r");
    while (file && getdelim(&line, &room, '\0', file) > 0)
        if (strncmp(line, name, sizeof name - 1) == 0)
            snprintf(host, size, "%s", line + sizeof name - 1);
    free(line);
    if (file)
        fclose(file);
}

#endif
