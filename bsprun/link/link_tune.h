/* link_tune.h - optimisations of supersteps between hosts.
 */
#ifndef BSPRUN_LINK_TUNE_H
#define BSPRUN_LINK_TUNE_H

/* Tunes a new connection. */
void link_tune(int fd);

/* Tunes the calling thread, which waits for the doorbell: a short time slice lets it run as soon as
 * it is woken (Linux 6.12 and later). */
void link_tune_thread(void);

#endif
