/* host.h - what libbsp does for a rank, done for a stand-alone test program: it starts restores
 * from a constructor and writes images to files.
 *
 * Environment: CAPTURE_RESTORE  images to restore from, newest first, separated by ':'
 *              CAPTURE_MORE     newer ones that come later: lists as above, separated by '|'
 *              CAPTURE_HANDOVER a text for the restored process
 *              CAPTURE_UNTRACKED  if set, the kernel does not record what is written to
 *              CAPTURE_GUESS    if set, processes that write by themselves guess flags of mappings
 *              CAPTURE_OTHER    if set, the kernel counts as another one */
#ifndef TESTS_CKPT_CAPTURE_HOST_H
#define TESTS_CKPT_CAPTURE_HOST_H

#ifdef __cplusplus
extern "C" {
#endif

/* Writes the image of this process to a file: 0, or 1 in the restored process, where
 * host_handover() is the text it was given.  Refusals print a line and end the program with status
 * 3. */
int host_snapshot(const char *path);
/* The same by a forked copy; returns when the copy has finished. */
int host_snapshot_forked(const char *path);
/* An increment upon the image written last in this process. */
int host_snapshot_increment(const char *path);

/* How often the last image was written. */
int host_attempts(void);

/* An attempt at such an increment: no byte of it can be written. */
void host_snapshot_fails(const char *path);

/* What the snapshot would be refused for, or NULL. */
const char *host_refusal(void);
void host_rule(const char *rule);

/* Called before each piece of an image is written, in the process that writes it. */
void host_on_write(void (*function)(void));

/* What this process has is what it was given, from now on. */
void host_initial_now(void);

const char *host_handover(void);

#ifdef __cplusplus
}
#endif
#endif
