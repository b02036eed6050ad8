/* safe_point.h - snapshots of programs that communicate without supersteps: how a process offers a
 * moment at which it may be saved.
 *
 * A plane is a way to communicate beside supersteps: the dataspace (lib/rt/volpex) is one.  Its
 * calls are safe points: Processor Zero asks for a snapshot, every process stops at its next call,
 * or inside the one in which it waits, and all meet there at a barrier like that of a superstep
 * without communication.  It has the next number of a superstep, so images, output, input and
 * Processor Zero's decisions are those of any snapshot: what a process has written before the call
 * is part of it, what it writes after is not.
 *
 * How a plane uses it:
 *
 *   1. Before bsp_begin_cpp: bspz_safe_points_begin().  From then on the program's calls are safe
 *      points in a job that recovers from failures (--ckpt); elsewhere nothing changes.  A program
 *      that begins with bsp_begin instead is saved at its bsp_sync, as ever, and calls nothing here
 *      but bspz_plane_use.  In a program with safe points bsp_sync is an error if the job recovers:
 *      a process cannot be at the end of a superstep and at a safe point at once.
 *   2. At the beginning of each call:
 *          while (bspz_safe_point_is_wanted())
 *              bspz_safe_point(line, file);
 *      At that moment the process has no request that is not answered.
 *   3. A call that waits for others also looks at bspz_safe_point_is_wanted() whenever it wakes.
 *      When it is wanted, Processor Zero's wish comes to the host, the agent changes the futex word
 *      bspz_rt.self->nudge of each of its processes and wakes who sleeps there; whoever has
 *      something for the process may change it, too.  So: read the word, look whether there is
 *      something to take, look whether a safe point is wanted, sleep on the value that was read.
 *      The call takes back what it waits for (nothing may come for it while it is saved), calls
 *      bspz_safe_point, and begins anew: the process may be another one now, restored, with another
 *      agent, on another host, and all shared memory is empty.
 *   4. bspz_plane_use(&plane), once per process before anything is sent, say by a constructor in
 *      a file that programs of this plane are sure to link (a static library drops others).  At
 * every snapshot `keep` copies what the plane has in shared memory or at the agent to private
 *      memory, `drop` gives that up, and in a process that comes from a snapshot `put_back`
 * restores it instead.  When `keep` runs, all processes of the job have arrived at the barrier, so
 * no call is in progress.  Whatever they have sent before must be where `keep` finds it, or be kept
 * by its sender.  While put_back runs, all agents of the job serve requests, and no process returns
 * from bspz_safe_point before put_back has returned in all of them.
 *
 * What can fail: keep returns an errno value: there is no such snapshot, and the job goes on.
 * put_back returns one: the restore fails.
 */
#ifndef BSPZ_RT_SAFE_POINT_H
#define BSPZ_RT_SAFE_POINT_H

#include "lib/rt/rt.h"

#pragma GCC visibility push(hidden)

struct bspz_plane {
    int (*keep)(void);
    void (*drop)(void);
    int (*put_back)(void);
    struct bspz_plane *next; /* private */
};

/* The plane takes part in snapshots from now on; a second call has no effect. */
void bspz_plane_use(struct bspz_plane *plane);

/* The calls of this program are safe points; before bsp_begin. */
void bspz_safe_points_begin(void);

/* The call with which the program has begun, or begins: others make the processes by bsp_begin. */
static inline enum bspz_call bspz_call_of_begin(void)
{
    return bspz_rt.has_mail     ? BSPZ_CALL_MPI_Init
           : bspz_rt.safe_calls ? BSPZ_CALL_VOLPEX_INIT
                                : BSPZ_CALL_BEGIN;
}

/* The one with which it ends. */
static inline enum bspz_call bspz_call_of_end(void)
{
    return bspz_rt.has_mail     ? BSPZ_CALL_MPI_Finalize
           : bspz_rt.safe_calls ? BSPZ_CALL_VOLPEX_FINALIZE
                                : BSPZ_CALL_END;
}

/* Whether calls are safe points in this job: then a request that waits can be taken back. */
static inline bool bspz_has_safe_points(void)
{
    return bspz_rt.safe_calls && bspz_rt.board->flags & BSPZ_BOARD_CALLS;
}

/* A process that is restarted alone makes calls again whose effects the others have seen: until it
 * has caught up with them it cannot be saved.  Replicas of a process are at different calls, and
 * stop all at the same one. */
static inline bool bspz_has_caught_up(void)
{
    if (bspz_rt.board->flags & BSPZ_BOARD_REPLICAS &&
        atomic_load(&bspz_rt.self->request.halts_in) != bspz_rt.superstep + 1)
        return false;
    return bspz_rt.self->request.finished >= bspz_rt.self->request.behind;
}

/* Whether Processor Zero wants this process to stop at a safe point. */
static inline bool bspz_safe_point_is_wanted(void)
{
    return bspz_unlikely(bspz_rt.safe_calls) &&
           bspz_unlikely(atomic_load_explicit(&bspz_rt.board->consult_from, memory_order_relaxed) <=
                         bspz_rt.superstep) &&
           bspz_has_safe_points() && bspz_has_caught_up();
}

/* Whether an image of this process alone is wanted. */
static inline bool bspz_own_is_wanted(void)
{
    return bspz_unlikely(atomic_load_explicit(&bspz_rt.self->own, memory_order_relaxed) ==
                         BSPZ_OWN_WANTED) &&
           bspz_has_caught_up();
}

/* Meets all other processes; returns when the snapshot is taken, if there is one after all, in the
 * saved process and in one that is restored from it.  Leaves when the job is stopped. */
void bspz_safe_point(int line, const char *file);

/* An image of this process alone, without the others: returns when it is recorded, also in a
 * process that is restored from it.  Leaves when the job is stopped. */
void bspz_save_own(void);

/* Whether this process, at the end of bsp_begin, may later be restarted alone: its program
 * communicates through a dataspace and by no other means, as far as the library can see. */
bool bspz_can_be_alone(void);

/* ---- For save.c ---- */

/* The hooks of all planes; keep and put_back return the first error, or 0. */
int bspz_planes_keep(void);
void bspz_planes_drop(void);
int bspz_planes_put_back(void);

#pragma GCC visibility pop

#endif
