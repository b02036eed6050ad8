/* verify.h - bspckpt verify for another host. */
#ifndef CKPT_BSPCKPT_VERIFY_H
#define CKPT_BSPCKPT_VERIFY_H

#include "ckpt/store.h"

/* Checks the job, or one snapshot of it (`at`: SUPERSTEP[.TERM]), and prints what it found:
 *
 *   snapshot JOB S.T
 *   whole JOB/S.T/PID.img              an intact image of this host
 *   fault MISSING FIRST END JOB/FILE: TEXT
 *
 * MISSING 1: the image is not on this host, which need not be a fault.  END 0: no range of bytes is
 * known. */
int verify_for_another(struct store *store, const char *job, const char *at);

#endif
