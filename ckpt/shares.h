/* shares.h - an agent's descriptors of the files that processes of its host have open together; see
 * ckpt/capture/share.h.
 *
 *   new; offer, and process 0 gives what it has (or, for processes that are all restored, not)
 *   at each restore: take; regroup; open for each image; start the processes, each with pass
 *
 * Processes that were on different hosts may come to one: their descriptions have the same marks,
 * and are not the same.  So each is of a group of processes, which have the number of their lowest
 * one; what process 0 gives is of group 0.
 */
#ifndef CKPT_SHARES_H
#define CKPT_SHARES_H

#include <stdint.h>

struct shares;

/* NULL: no memory. */
struct shares *shares_new(void);
/* Closes all; harmless for NULL. */
void shares_free(struct shares *shares);

/* A socket for process 0, close-on-exec, at *end: the caller's to pass on and to close. */
int shares_offer(struct shares *shares, int *end);

/* Receives what process 0 has given so far; does not wait. */
int shares_take(struct shares *shares);

/* Group from[i] has become group to[i].  A group that is not named has nobody here any more. */
void shares_regroup(struct shares *shares, const uint32_t *from, const uint32_t *to, int count);

/* Opens what the image (at its open descriptor) of a process of the group says to be shared and
 * nobody has given.  What cannot be opened is left to the process: it will say so.  0, or a
 * negative errno: the image cannot be read, or no memory. */
int shares_open(struct shares *shares, uint32_t group, int image_fd);

/* Whether the process of the image has files open for writing that others have open, too, or memory
 * that others have mapped, too: 1 or 0, or a negative errno. */
int shares_in_image(int image_fd);

/* Between fork and exec: the program that is executed inherits those of the group. */
void shares_pass(const struct shares *shares, uint32_t group);

#endif
