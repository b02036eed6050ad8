/* ahead.h - how an agent and a process that it restores ahead communicate.
 *
 * Before a rank moves, the agent of the host to which it is expected to go starts a process with
 * BSPZ_ENV_RESTORE and BSPZ_ENV_AHEAD.  The process stages its memory as of a snapshot while the
 * rank goes on elsewhere, and answers.  Then each order brings the increments since, and it answers
 * again, until an order says that the rank goes on here: from then on it is a rank that is restored
 * as any other (snap.h).  Until then it reads the board but writes nothing there, and it ends when
 * the agent closes its end of the socket.
 *
 * Both ends belong to the same user and the same version of bspzero (the board's version). */
#ifndef BSPZ_SHM_AHEAD_H
#define BSPZ_SHM_AHEAD_H

#include <stdint.h>

#include "lib/base/snapshot.h"

/* The number of the process's end of a SOCK_SEQPACKET pair. */
#define BSPZ_ENV_AHEAD "BSPZERO_AHEAD"

/* Agent to process.  Descriptors come with it: if it goes on, those that become its 0, 1 and 2;
 * then those of the newer images, newest first. */
struct bspz_ahead_order {
    uint32_t images; /* how many; the oldest has the newest of before as its base */
    uint32_t goes_on;
    struct bspz_image_name name; /* of the newest image, if there are any */
};

/* Process to agent: it is staged as ordered (error 0), or will exit.  None for the last order. */
struct bspz_ahead_answer {
    int32_t error; /* errno value */
    char why[512]; /* one line, with an error */
};

#endif
