/* share.h - open file descriptions that processes of a job share.
 *
 * A file that process 0 has open when it becomes p processes is one open file description for all
 * of them: one offset, one set of flags.  It must be shared again when some of them are restored
 * from images and others are thawed copies, which still have it.  So the host's agent keeps a
 * descriptor of each: received from process 0 (here), or opened by itself (ckpt/shares.h).
 * Processes that it starts for a restore inherit these, and use for a descriptor of the image the
 * one of the same file with the same mark. */
#ifndef CKPT_CAPTURE_SHARE_H
#define CKPT_CAPTURE_SHARE_H

#include "ckpt/capture/capture.h"

/* To be called by process 0 before it forks the others: marks the descriptions of its files and
 * directories and sends them through a socket (with message boundaries) to the starter of restored
 * processes.  Does not wait.  After an error (negative errno) restored processes will each open the
 * files by themselves. */
int bspz_share_give(int socket, const struct bspz_capture_options *options,
                    char why[BSPZ_WHY_SIZE]);

#endif
