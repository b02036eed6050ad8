/* host_copy.h - a child subreaper as the agent of a test program: copies are adopted by it. */
#ifndef TESTS_CKPT_CAPTURE_HOST_COPY_H
#define TESTS_CKPT_CAPTURE_HOST_COPY_H

#include "ckpt/capture/capture.h"

struct host_agent;

/* The test process is its own agent: a child subreaper. */
struct host_agent *host_agent_start(void);
/* In a copy: waits until this process is its parent, and shares its end.  An errno value if it has
 * ended already. */
int host_copy_adopted(int parent);

/* For a second copy at the same time. */
struct host_agent *host_agent_other(struct host_agent *agent);
void host_agent_hooks(struct host_agent *agent, struct bspz_copy_hooks *hooks);
/* Waits for the copy made last; its exit status, or 128 and its signal. */
int host_agent_wait(struct host_agent *agent);

/* The copy made last ends, or goes on. */
void host_agent_end(struct host_agent *agent);
void host_agent_thaw(struct host_agent *agent);
void host_agent_discard(struct host_agent *agent);

/* Returns when the copy has been made. */
int host_snapshot_forked_start(const char *path, struct host_agent *agent);

/* A frozen copy that has the image written: as bspz_copy_freeze. */
int host_freeze_and_snapshot(const char *path, struct bspz_freeze_plan *freeze,
                             const struct bspz_copy_hooks *writer);

/* One more range that is no part of the process. */
void host_exclude(const void *at, size_t bytes);

/* Who calls this adopts orphans as an agent does, not as a program. */
void host_adopts(void);

void host_options(struct bspz_capture_options *options);

#endif
