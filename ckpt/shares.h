/* shares.h - an agent's descriptors of the files that all processes of its host have open together;
 * see ckpt/capture/share.h.
 *
 *   new; offer, and process 0 gives what it has (or, for processes that are all restored, not)
 *   at each restore: take; open for each image; start the processes, each with pass
 */
#ifndef CKPT_SHARES_H
#define CKPT_SHARES_H

#include <stdbool.h>
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

/* Opens what the image (at its open descriptor) says to be shared and nobody has given.  What
 * cannot be opened is left to the process: it will say so.  0, or a negative errno: the image
 * cannot be read, or no memory. */
int shares_open(struct shares *shares, int image_fd);

/* Tells of each file that is open for writing in the image and is shorter now than it was: a
 * restore makes it as long again.  0, or a negative errno: the image cannot be read, or no memory.
 */
struct shares_shorter {
    void (*tell)(void *context, const char *path, uint64_t was, uint64_t is);
    void *context;
    bool shared; /* also of those that all processes have open together */
};
int shares_shorter(int image_fd, const struct shares_shorter *shorter);

/* Between fork and exec: the program that is executed inherits all of them. */
void shares_pass(const struct shares *shares);

#endif
