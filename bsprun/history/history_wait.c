/* history_wait.c - reads the history with a timeout, and appends to it meanwhile; see history.h.
 *
 * Happy path: a thread reads or appends -> the caller waits for it and takes the result.
 *
 * What can fail: the file system does not answer.  A thread that waits for it cannot be ended, so
 * it is abandoned with its data, which it frees should it ever return.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bsprun/history/history.h"

static void explain_silence(const char *path, char *why, size_t size)
{
    snprintf(why, size,
             "the history of earlier jobs, %.200s, is not used: its file system does not answer",
             path);
}

/* ---- Reading ---- */

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
        explain_silence(path, why, size);
    }
    leave(reading);
    return result;
}

/* ---- Writing ---- */

/* As above. */
struct history_writing {
    char path[HISTORY_PATH_MAX];
    size_t length;
    int end; /* of the pipe: closed when the members below are set */
    int result;
    char why[512];
    atomic_bool done, left;
    char lines[HISTORY_APPEND_MAX];
};

static void leave_writing(struct history_writing *writing)
{
    if (atomic_exchange(&writing->left, true))
        free(writing);
}

static void *append(void *context)
{
    struct history_writing *writing = context;

    writing->result = history_append(writing->path, writing->lines, writing->length, writing->why,
                                     sizeof writing->why);
    atomic_store(&writing->done, true);
    close(writing->end);
    leave_writing(writing);
    return NULL;
}

/* Signals are for the thread that knows what to do about them.  0 or an error number. */
static int start_appending(struct history_writing *writing)
{
    sigset_t all, before;
    pthread_t thread;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int error = pthread_create(&thread, NULL, append, writing);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (error == 0)
        pthread_detach(thread);
    return error;
}

struct history_writing *history_append_begin(const char *path, const char *lines, size_t length,
                                             int *done)
{
    struct history_writing *writing = malloc(sizeof *writing);
    int ends[2];

    if (!writing || length > HISTORY_APPEND_MAX || pipe2(ends, O_CLOEXEC) != 0) {
        free(writing);
        return NULL;
    }
    snprintf(writing->path, sizeof writing->path, "%s", path);
    memcpy(writing->lines, lines, length);
    writing->length = length;
    writing->end = ends[1];
    atomic_init(&writing->done, false);
    atomic_init(&writing->left, false);
    if (start_appending(writing) != 0) {
        close(ends[0]);
        close(ends[1]);
        free(writing);
        return NULL;
    }
    *done = ends[0];
    return writing;
}

int history_append_end(struct history_writing *writing, char *why, size_t size)
{
    int result = -1;

    if (atomic_load(&writing->done)) {
        result = writing->result;
        snprintf(why, size, "%s", writing->why);
    } else {
        explain_silence(writing->path, why, size);
    }
    leave_writing(writing);
    return result;
}
