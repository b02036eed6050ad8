/* history_wait.c - reads the history with a timeout; see history.h.
 *
 * Happy path: a thread reads the file -> the caller waits for it and takes the result.
 *
 * What can fail: the file system does not answer.  A thread that waits for it cannot be ended, so
 * it is abandoned with its data, which it frees should it ever return.
 */
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bsprun/history/history.h"

enum wait_state { WAIT_READS, WAIT_READ, WAIT_GIVEN_UP };

/* Shared by the caller and the thread; freed by the last to use it. */
struct wait {
    pthread_mutex_t mutex;
    pthread_cond_t changed;
    enum wait_state state;
    char path[HISTORY_PATH_MAX];
    struct history history;
    int result;
    char why[512];
};

static struct wait *wait_new(const char *path)
{
    struct wait *wait = calloc(1, sizeof *wait);
    pthread_condattr_t attributes;

    if (!wait)
        return NULL;
    snprintf(wait->path, sizeof wait->path, "%s", path);
    pthread_mutex_init(&wait->mutex, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&wait->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return wait;
}

static void wait_free(struct wait *wait)
{
    pthread_cond_destroy(&wait->changed);
    pthread_mutex_destroy(&wait->mutex);
    free(wait);
}

static void *reader(void *context)
{
    struct wait *wait = context;
    struct history history;
    char why[sizeof wait->why];
    int result = history_load(wait->path, &history, why, sizeof why);

    pthread_mutex_lock(&wait->mutex);
    bool given_up = wait->state == WAIT_GIVEN_UP;
    if (!given_up) {
        wait->state = WAIT_READ;
        wait->history = history;
        wait->result = result;
        memcpy(wait->why, why, sizeof why);
        pthread_cond_signal(&wait->changed);
    }
    pthread_mutex_unlock(&wait->mutex);
    if (given_up) {
        history_free(&history);
        wait_free(wait);
    }
    return NULL;
}

/* 0 or an error number. */
static int start_reader(struct wait *wait)
{
    pthread_attr_t attributes;
    pthread_t thread;
    int error;

    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    error = pthread_create(&thread, &attributes, reader, wait);
    pthread_attr_destroy(&attributes);
    return error;
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
    struct wait *wait = wait_new(path);
    int error = 0, result;

    if (!wait || start_reader(wait) != 0) {
        if (wait)
            wait_free(wait);
        return history_load(path, history, why, size); /* no memory for a thread */
    }
    pthread_mutex_lock(&wait->mutex);
    while (wait->state == WAIT_READS && error != ETIMEDOUT)
        error = pthread_cond_timedwait(&wait->changed, &wait->mutex, &end);
    if (wait->state == WAIT_READS) {
        wait->state = WAIT_GIVEN_UP;
        pthread_mutex_unlock(&wait->mutex);
        *history = (struct history){0};
        snprintf(
            why, size,
            "the history of earlier jobs, %.200s, is not used: its file system does not answer",
            path);
        return -1;
    }
    pthread_mutex_unlock(&wait->mutex);
    *history = wait->history;
    result = wait->result;
    snprintf(why, size, "%s", wait->why);
    wait_free(wait);
    return result;
}
