/* share.h - files that all processes of a job have open together.
 *
 * What process 0 has open when it becomes p processes is one open file description for all of them:
 * one offset, one set of flags.  It must be one again when some of them are restored from images
 * and others are thawed copies, which still have it.  So the agent of the host keeps a descriptor
 * of each: handed to it by process 0 (here), or opened by itself (ckpt/shares.h).  Processes that
 * it starts for a restore inherit these, and each takes for a descriptor of its image the one of
 * the same file with the same mark. */
#ifndef CKPT_CAPTURE_SHARE_H
#define CKPT_CAPTURE_SHARE_H

#include "ckpt/capture/capture.h"

/* By the process that is about to become several: marks the descriptions of its files and folders
 * and sends them through a socket (one that keeps messages apart) to whoever will start restored
 * processes.  Does not wait.  An error (negative errno) does no harm but that restored processes
 * will each open the files for themselves. */
int bspz_share_give(int socket, const struct bspz_capture_options *options,
                    char why[BSPZ_WHY_SIZE]);

#endif
