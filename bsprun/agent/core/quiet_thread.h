/* quiet_thread.h - threads for long work of the agent. */
#ifndef BSPRUN_AGENT_QUIET_THREAD_H
#define BSPRUN_AGENT_QUIET_THREAD_H

#include <pthread.h>
#include <signal.h>

/* Starts work(argument) in a thread with all signals blocked, as the loop handles them. 0 or
 * -errno. */
static inline int quiet_thread_begin(pthread_t *thread, void *(*work)(void *), void *argument)
{
    sigset_t all, before;
    int error;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    error = pthread_create(thread, NULL, work, argument);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return -error;
}

#endif
