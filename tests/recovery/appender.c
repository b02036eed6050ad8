/* appender.c - process 1 opens a file in a superstep and writes a line to it in each one from then
 * on:
 *
 *   appender DIRECTORY SUPERSTEPS FILE OPENS WRITES MODE [CLOSES REOPENS]
 *
 * MODE as for fopen; "close": it is opened to append, and closed again, in each superstep.  It is
 * written from superstep WRITES on, but not from CLOSES to before REOPENS, when it is closed.
 *
 *   appender DIRECTORY SUPERSTEPS FILE OPENS WRITES rename|unlink
 *
 * Process 1 opens it to append in superstep OPENS, if it comes before WRITES, and renames it to
 * FILE.new, or removes it, in superstep WRITES. */
#include <bsp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/recovery/outside.h"

static FILE *open_file(const char *name, const char *mode)
{
    FILE *file = fopen(name, mode);

    if (!file)
        bsp_abort("%s cannot be opened\n", name);
    return file;
}

/* True: the program is one of those that do this. */
static int moves(const char *mode, const char *name, int now)
{
    char new_name[4096];

    snprintf(new_name, sizeof new_name, "%s.new", name);
    if (strcmp(mode, "rename") != 0 && strcmp(mode, "unlink") != 0)
        return 0;
    if (now && (mode[0] == 'r' ? rename(name, new_name) : unlink(name)) != 0)
        bsp_abort("%s cannot be moved\n", name);
    return 1;
}

int main(int argc, char **argv)
{
    FILE *file = NULL;

    bsp_begin(2);
    if (argc != 7 && argc != 9)
        bsp_abort("usage: appender DIRECTORY SUPERSTEPS FILE OPENS WRITES MODE [CLOSES REOPENS]\n");
    outside_directory = argv[1];
    const char *name = argv[3], *mode = argv[6];
    int supersteps = atoi(argv[2]), opens = atoi(argv[4]), writes = atoi(argv[5]);
    int closes = argc > 7 ? atoi(argv[7]) : -1, reopens = argc > 7 ? atoi(argv[8]) : -1;
    int each_time = strcmp(mode, "close") == 0;

    for (int s = 1; s <= supersteps; s++) {
        if (bsp_pid() == 1 && moves(mode, name, s == writes)) {
            if (s == opens && s < writes)
                file = open_file(name, "a");
        } else if (bsp_pid() == 1 && s >= opens && (s < closes || s >= reopens)) {
            if (!file)
                file = open_file(name, each_time ? "a" : mode);
            if (s >= writes)
                fprintf(file, "line %d\n", s);
            fflush(file);
        }
        if (file && (each_time || s == closes)) {
            fclose(file);
            file = NULL;
        }
        outside_superstep(s);
        bsp_sync();
    }
    if (file)
        fclose(file);
    outside_end(supersteps);
    bsp_end();
    return 0;
}
