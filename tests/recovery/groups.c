/* groups.c - processes that share open files in groups.
 *
 *   groups DIRECTORY SUPERSTEPS GROUP hosts|files
 *
 * GROUP processes with numbers that follow each other are a group.  Before bsp_begin a file of
 * lines is opened for reading and one for writing, without O_APPEND; in each superstep one process
 * of each group reads the next line and writes it, with what says where and when, at where the one
 * before it stopped.  hosts: all use the same two descriptors, so that a group must live on a host
 * by itself, and goes to its own place in the files first.  files: each group has two of its own.
 */
#include <bsp.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/recovery/outside.h"

#define GROUPS 8
#define LINES  1000 /* of each group */
#define LINE   8

static int given[GROUPS], written[GROUPS], group, files;

static void fail(const char *what)
{
    perror(what);
    exit(99);
}

static int open_here(const char *name, int flags)
{
    char path[3100];
    int fd;

    snprintf(path, sizeof path, "%s/%s", outside_directory, name);
    fd = open(path, flags, 0644);
    if (fd < 0)
        fail(path);
    return fd;
}

static void go_to_place(int own, int file)
{
    if (lseek(given[file], (off_t)own * LINES * LINE, SEEK_SET) < 0 ||
        lseek(written[file], (off_t)own * LINES * 5 * LINE, SEEK_SET) < 0)
        fail("lseek");
}

static void open_files(void)
{
    FILE *lines = fdopen(open_here("lines", O_WRONLY | O_CREAT | O_TRUNC), "w");

    for (int i = 0; lines && i < GROUPS * LINES; i++)
        fprintf(lines, "%*d\n", LINE - 1, i);
    if (!lines || fclose(lines) != 0)
        fail("lines");
    for (int i = 0; i < files; i++) {
        given[i] = open_here("lines", O_RDONLY);
        written[i] = open_here("written", i == 0 ? O_WRONLY | O_CREAT | O_TRUNC : O_WRONLY);
        go_to_place(i, i);
    }
}

static void pass_on(int s, int file)
{
    char line[LINE + 1] = "", text[100];
    int size;

    if (read(given[file], line, LINE) != LINE)
        fail("read");
    size = snprintf(text, sizeof text, "%6d in %6d: %s", bsp_pid(), s, line);
    if (write(written[file], text, (size_t)size) != size)
        fail("write");
}

int main(int argc, char **argv)
{
    int supersteps, own, file;

    if (argc != 5)
        return 2;
    outside_directory = argv[1];
    supersteps = atoi(argv[2]);
    group = atoi(argv[3]);
    files = strcmp(argv[4], "files") == 0 ? GROUPS : 1;
    open_files();
    bsp_begin(bsp_nprocs());
    own = bsp_pid() / group;
    file = files > 1 ? own : 0;
    if (files == 1 && bsp_pid() % group == 0)
        go_to_place(own, 0);
    bsp_sync();
    for (int s = 1; s <= supersteps; s++) {
        outside_superstep(s);
        if (s % group == bsp_pid() % group)
            pass_on(s, file);
        bsp_sync();
    }
    outside_end(supersteps);
    bsp_end();
    return 0;
}
