/* shares.h - an agent's descriptors of the open file descriptions that processes of its host share;
 * see ckpt/capture/share.h.
 *
 *   new; offer, and process 0 gives what it has (or, for processes that are all restored, not)
 *   at each restore: take; regroup; open for each image; start the processes, each with pass
 *
 * Processes of different hosts may be restored on one: their descriptions may have equal marks
 * without being the same.  So each belongs to a group of processes, named by the lowest of them;
 * those of process 0 are of group 0.
 */
#ifndef CKPT_SHARES_H
#define CKPT_SHARES_H

#include <stdint.h>

struct shares;

/* NULL: no memory. */
struct shares *shares_new(void);
/* Closes all descriptors; harmless for NULL. */
void shares_free(struct shares *shares);

/* Makes a socket for process 0, close-on-exec, in *end: the caller passes it on and closes it. */
int shares_offer(struct shares *shares, int *end);

/* Receives the descriptors that process 0 has sent so far; does not wait. */
int shares_take(struct shares *shares);

/* Group from[i] has become group to[i].  A group that is not named has no process here any more. */
void shares_regroup(struct shares *shares, const uint32_t *from, const uint32_t *to, int count);

/* Opens the shared files that the image of a process of the group lists and process 0 has not sent.
 * Failures to open are left to the process, which will report them. 0, or a negative errno: the
 * image cannot be read, or no memory. */
int shares_open(struct shares *shares, uint32_t group, int image_fd);

/* Whether the process of the image shares files open for writing, or memory, with others: 1 or 0,
 * or a negative errno. */
int shares_in_image(int image_fd);

/* To be called between fork and exec: lets the program inherit the descriptors of the group. */
void shares_pass(const struct shares *shares, uint32_t group);

#endif
