/* history_wait.c - reads the history with a timeout; see history.h.
 *
 * Happy path: a thread reads the file -> the caller waits for it and takes the result.
 *
 * What can fail: the file system does not answer.  A thread that waits for it cannot be ended, so
 * it is abandoned with its data, which it frees should it ever return.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bsprun/history/history.h"

/* Shared by the caller and the thread. */
struct reading {
    char path[HISTORY_PATH_MAX];
    sem_t done; /* posted when the members below are set */
    struct history history;
    int result;
    char why[512];
    atomic_bool left; /* by one of the two; the other frees it */
};

static void leave(struct reading *reading)
{
    if (!atomic_exchange(&reading->left, true))
        return;
    history_free(&reading->history);
    sem_destroy(&reading->done);
    free(reading);
}

static void *read_history(void *context)
{
    struct reading *reading = context;

    reading->result =
        history_load(reading->path, &reading->history, reading->why, sizeof reading->why);
    sem_post(&reading->done);
    leave(reading);
    return NULL;
}

/* NULL: no memory for a thread. */
static struct reading *start_reading(const char *path)
{
    struct reading *reading = calloc(1, sizeof *reading);
    pthread_t thread;

    if (!reading)
        return NULL;
    snprintf(reading->path, sizeof reading->path, "%s", path);
    sem_init(&reading->done, 0, 0);
    if (pthread_create(&thread, NULL, read_history, reading) != 0) {
        sem_destroy(&reading->done);
        free(reading);
        return NULL;
    }
    pthread_detach(thread);
    return reading;
}

static struct timespec from_now(unsigned milliseconds)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    time.tv_sec += milliseconds / 1000;
    time.tv_nsec += (long)(milliseconds % 1000) * 1000000;
    if (time.tv_nsec >= 1000000000) {
        time.tv_sec++;
        time.tv_nsec -= 1000000000;
    }
    return time;
}

int history_load_within(unsigned milliseconds, const char *path, struct history *history, char *why,
                        size_t size)
{
    struct timespec end = from_now(milliseconds);
    struct reading *reading = start_reading(path);
    int result = -1, error;

    if (!reading)
        return history_load(path, history, why, size);
    do {
        error = sem_clockwait(&reading->done, CLOCK_MONOTONIC, &end) == 0 ? 0 : errno;
    } while (error == EINTR);
    if (error == 0) {
        *history = reading->history;
        reading->history = (struct history){0};
        result = reading->result;
        snprintf(why, size, "%s", reading->why);
    } else {
        *history = (struct history){0};
        snprintf(
            why, size,
            "the history of earlier jobs, %.200s, is not used: its file system does not answer",
            path);
    }
    leave(reading);
    return result;
}
