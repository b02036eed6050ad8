/* save.h - snapshots and their restore, as a rank sees them.
 *
 * What lies in shared memory is not part of an image or a frozen copy: it is copied into the
 * process's own memory before, and put back into a board that is empty after.
 */
#ifndef BSPZ_RT_SAVE_H
#define BSPZ_RT_SAVE_H

#include "lib/rt/rt.h"

#pragma GCC visibility push(hidden)

/* In bsp_sync, at a barrier that was answered with SNAPSHOT, when the superstep's communication is
 * done and the outbox turned, but nothing shown to the others (`applied`): has the state of this
 * process saved as the agent ordered, and returns when all ranks have got so far.  Also returns in a
 * process that was put back to this point. */
void bspz_save_superstep(void);

/* In bsp_begin of process 0, before there are others: has snapshot 0 written.  False; or true in a
 * process that is made of it, which is rank bspz_rt.pid of the job. */
bool bspz_save_start(void);

/* After bspz_save_start in a process that is made of it, when it is a rank: gives it the attributes
 * that process 0 had set and that would have been in the way. */
void bspz_save_complete(void);

/* Before main: becomes the process that the value of BSPZ_ENV_RESTORE describes.  The board's first
 * page is mapped. */
BSPZ_NORETURN void bspz_restore(const char *value);

/* Notes with which descriptors this process was started; before anything of the program. */
void bspz_given_note(void);
/* Those of them that are still what they were; without 0 to 2 if inherited_only.  How many. */
#define BSPZ_GIVEN_MAX 32
int bspz_given_list(int fds[BSPZ_GIVEN_MAX], bool inherited_only);

/* ---- save_state.c: what lies in shared memory ---- */

/* Copies it into memory of this process; 0 or an errno value. */
int bspz_state_keep(void);
/* How long it takes to change a page of memory, which is long when a copy of this process shares
 * it.  Changes what was kept: only where it is not needed any more. */
uint64_t bspz_state_probe_ns(void);
/* The copy is not needed here any more. */
void bspz_state_drop(void);
/* Puts it back, in a process that goes on from there; the board is empty.  0 or an errno value. */
int bspz_state_put_back(void);
/* In a restored process: the board of its job at the address where it was; 0 or an errno value. */
int bspz_state_attach(int board_fd);
/* Notes how the board is laid out; needed once, before snapshot 0. */
void bspz_state_note_layout(void);

/* ---- save_copies.c: what copies of a rank do in their first moments ---- */

struct bspz_copy_hooks;
/* Hooks for a writer, or for a frozen copy. */
void bspz_writer_hooks(struct bspz_copy_hooks *hooks);
void bspz_frozen_hooks(struct bspz_copy_hooks *hooks);

/* This rank's record. */
struct bspz_snap *bspz_own_snap(void);

#pragma GCC visibility pop

#endif
