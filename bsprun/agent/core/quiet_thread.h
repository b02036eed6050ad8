/* quiet_thread.h - threads for work of the agent's that takes long. */
#ifndef BSPRUN_AGENT_QUIET_THREAD_H
#define BSPRUN_AGENT_QUIET_THREAD_H

#include <pthread.h>
#include <signal.h>

/* Begins work(argument) in a thread for which no signal is: those are the loop's.  0 or
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
