/* link_tune.h - what makes supersteps between hosts quick and is not needed for them to be right.
 */
#ifndef BSPRUN_LINK_TUNE_H
#define BSPRUN_LINK_TUNE_H

/* A connection that was just made. */
void link_tune(int fd);

/* The calling thread, which waits for the doorbell: it is told that it runs for short times only,
 * so that it runs as soon as it is woken, where the kernel (from Linux 6.12 on) knows such things.
 */
void link_tune_thread(void);

#endif
