/* common_count.h - a number that all processes of a job read and raise, on whatever hosts they are:
 * the length of a file in the working directory. */
#ifndef CONFORM_COMMON_COUNT_H
#define CONFORM_COMMON_COUNT_H

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* Each process opens the file for itself: a description that all inherit would not be the same one
 * on another host. */
static inline int common_count_open(void)
{
    int file = open("common_count", O_WRONLY | O_CREAT | O_APPEND, 0600);

    if (file < 0) {
        perror("common_count");
        exit(97);
    }
    return file;
}

static inline void common_count_raise(int file)
{
    if (write(file, "+", 1) != 1)
        exit(97);
}

static inline void common_count_wait(int file, long value)
{
    struct stat now;

    while (fstat(file, &now) == 0 && now.st_size < value)
        usleep(100);
}

#endif
