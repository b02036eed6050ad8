/* bare - what the kernel alone takes for what snapshots are made of.
 *
 *   bare MIB DIR   a process with so many MiB: median milliseconds of a fork, of the end of such a
 *                  copy, and of making a file of one page in DIR durable. */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS 15
#define PAGE   4096

static double now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

static int compare(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;

    return left < right ? -1 : left > right;
}

static double median(double *values)
{
    qsort(values, ROUNDS, sizeof *values, compare);
    return values[ROUNDS / 2];
}

static void fork_and_end(double *fork_ms, double *end_ms)
{
    double start = now_ms();
    pid_t child = fork();

    if (child < 0)
        exit(1);
    if (child == 0)
        for (;;)
            pause();
    *fork_ms = now_ms() - start;
    start = now_ms();
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    *end_ms = now_ms() - start;
}

static double sync_file(const char *path)
{
    static const char page[PAGE];
    double start = now_ms();
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

    if (file < 0 || write(file, page, PAGE) != PAGE || fsync(file) != 0 || close(file) != 0) {
        perror(path);
        exit(1);
    }
    start = now_ms() - start;
    unlink(path);
    return start;
}

int main(int argc, char **argv)
{
    double forks[ROUNDS], ends[ROUNDS], syncs[ROUNDS];
    char path[4096];
    size_t bytes;
    char *memory;

    if (argc != 3)
        return 2;
    bytes = strtoull(argv[1], NULL, 10) << 20;
    memory = malloc(bytes);
    if (!memory)
        return 1;
    for (size_t at = 0; at < bytes; at += PAGE)
        memory[at] = 1;
    snprintf(path, sizeof path, "%s/bare.%d", argv[2], (int)getpid());
    for (int i = 0; i < ROUNDS; i++) {
        fork_and_end(&forks[i], &ends[i]);
        syncs[i] = sync_file(path);
    }
    printf("fork %.2f end %.2f fsync %.2f\n", median(forks), median(ends), median(syncs));
    free(memory);
    return 0;
}
