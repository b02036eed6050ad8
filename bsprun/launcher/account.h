/* account.h - accounts for the time of a job: useful, lost by rollbacks, down.
 *
 * All processes roll back together to a barrier, so each loses the same time.  No clock: times are
 * arguments, in milliseconds of one clock. */
#ifndef BSPRUN_ACCOUNT_H
#define BSPRUN_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/snapshot.h"

struct account_snapshot {
    struct bspz_snapshot_name name;
    uint64_t useful_ms; /* until it was taken */
};

struct account {
    bool running, began;
    uint64_t since_ms; /* when the processes began or stopped computing */
    uint64_t useful_ms, lost_ms, down_ms;
    struct account_snapshot *snapshots;
    size_t count;
};

/* All zeros: not begun.  Time before the processes first compute is not counted, except in a
 * restarted job: there it is down time, from account_down on. */
void account_down(struct account *account, uint64_t now_ms);
void account_running(struct account *account, uint64_t now_ms);
/* The processes have stopped computing: a fault, or the end.  Idempotent. */
void account_stopped(struct account *account, uint64_t now_ms);
/* A snapshot whose barrier was at taken_ms is committed; if there is no memory for it, a rollback
 * to it counts as one to the previous snapshot. */
void account_saved(struct account *account, struct bspz_snapshot_name name, uint64_t taken_ms);
/* After account_stopped: the work since that snapshot is lost.  An unknown snapshot is the one with
 * which this bsprun began. */
void account_back(struct account *account, struct bspz_snapshot_name name);
void account_free(struct account *account);

#endif
