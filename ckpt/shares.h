/* shares.h - an agent's descriptors of the files that all processes of its host have open together;
 * see ckpt/capture/share.h.
 *
 *   new; offer, and process 0 gives what it has (or, for processes that are all restored, not)
 *   at each restore: take; open for each image; start the processes, each with pass
 */
#ifndef CKPT_SHARES_H
#define CKPT_SHARES_H

struct shares;

/* NULL: no memory. */
struct shares *shares_new(void);
/* Closes all; harmless for NULL. */
void shares_free(struct shares *shares);

/* A socket for process 0, close-on-exec, at *end: the caller's to pass on and to close. */
int shares_offer(struct shares *shares, int *end);

/* Receives what process 0 has given so far; does not wait. */
int shares_take(struct shares *shares);

/* Opens what the image (at its open descriptor) says to be shared and nobody has given.  What
 * cannot be opened is left to the process: it will say so.  0, or a negative errno: the image
 * cannot be read, or no memory. */
int shares_open(struct shares *shares, int image_fd);

/* Between fork and exec: the program that is executed inherits all of them. */
void shares_pass(const struct shares *shares);

#endif
