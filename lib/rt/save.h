/* save.h - snapshots and their restore, as a rank sees them.
 *
 * The state in shared memory is not part of an image or a frozen copy: it is copied to private
 * memory before, and restored to an empty board after.
 */
#ifndef BSPZ_RT_SAVE_H
#define BSPZ_RT_SAVE_H

#include "lib/rt/rt.h"

#pragma GCC visibility push(hidden)

/* In bsp_sync, at a barrier that was answered with SNAPSHOT, after the superstep's communication
 * and the switch of the outbox, before `applied` is published: saves the state of this process as
 * the agent ordered, and returns when all ranks have come this far.  Also returns in a restored
 * process. */
void bspz_save_superstep(void);

/* In bsp_begin of process 0, before there are others: writes snapshot 0.  Returns false, or true in
 * a process restored from it, which is rank bspz_rt.pid of the job. */
bool bspz_save_start(void);

/* In a process restored by bspz_save_start, when it is a rank: sets the remaining attributes of
 * process 0, which would have hindered the restore. */
void bspz_save_complete(void);

/* Before main: becomes the process that the value of BSPZ_ENV_RESTORE describes.  The board's first
 * page is mapped. */
BSPZ_NORETURN void bspz_restore(const char *value);

/* Records the descriptors with which this process was started; to be called before the program
 * runs. */
void bspz_inherited_note(int but);
/* The same for stdin, which has been replaced by another one that the job gives. */
void bspz_inherited_stdin(void);
/* Lists those of them that have not changed; without 0 to 2 if inherited_only.  Returns their
 * number. */
#define BSPZ_INHERITED_MAX 32
int bspz_inherited_list(int fds[BSPZ_INHERITED_MAX], bool inherited_only);

/* ---- save_state.c: what lies in shared memory ---- */

/* Copies the state in shared memory to private memory; 0 or an errno value. */
int bspz_state_keep(void);
/* Measures the time to change a page, which is long when a copy of this process shares it.
 * Overwrites what was kept: only when that is no longer needed. */
uint64_t bspz_state_probe_ns(void);
/* Frees the copy of the state. */
void bspz_state_drop(void);
/* Restores the state to an empty board, in a restored process; 0 or an errno value. */
int bspz_state_put_back(void);
/* In a restored process: maps the board at its former address; 0 or an errno value. */
int bspz_state_attach(int board_fd);
/* Records the layout of the board; needed once, before snapshot 0. */
void bspz_state_note_layout(void);

/* ---- save_copies.c: what copies of a rank do in their first moments ---- */

struct bspz_copy_hooks;
/* Hooks for a writer, or for a frozen copy. */
void bspz_writer_hooks(struct bspz_copy_hooks *hooks);
void bspz_frozen_hooks(struct bspz_copy_hooks *hooks);

/* ---- save_stay.c: a rank that is its own frozen copy ---- */

/* Whether it may be: the agent wants that, is the parent, and there are no children. */
bool bspz_may_stay(void);
/* Has the agent hold this process as its frozen copy; false: it does not. */
bool bspz_stay_begin(void);
enum bspz_stayed {
    BSPZ_STAYED,         /* it is a rank of the next term */
    BSPZ_STAYED_IN_TERM, /* it goes on in this one, as every other rank */
    BSPZ_STAYED_IN_VAIN, /* the job is over */
};
enum bspz_stayed bspz_stay_wait(void);

/* This rank's record. */
struct bspz_snap *bspz_own_snap(void);

#pragma GCC visibility pop

#endif
