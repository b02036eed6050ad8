/* account.h - what became of the time of a job: useful, lost by rollbacks, down.
 *
 * All processes go back together, to a barrier: so each of them loses the same.  No clock: times
 * are given, in milliseconds of one clock. */
#ifndef BSPRUN_ACCOUNT_H
#define BSPRUN_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/core/lineage.h"

struct account_snapshot {
    struct coord_name name;
    uint64_t useful_ms; /* until it was taken */
};

struct account {
    bool running, began;
    uint64_t since_ms; /* when the processes began, or ceased, to compute */
    uint64_t useful_ms, lost_ms, down_ms;
    struct account_snapshot *snapshots;
    size_t count, capacity;
};

/* Zeros are an account that has not begun; time before the processes first compute is nobody's, but
 * in a job that is restarted it is down time: from account_down on. */
void account_down(struct account *account, uint64_t now_ms);
void account_running(struct account *account, uint64_t now_ms);
/* They do not compute any more: a fault, or the end.  Twice is once. */
void account_stopped(struct account *account, uint64_t now_ms);
/* A snapshot whose barrier was at taken_ms is committed; without memory for it, a rollback to it
 * counts as one to the snapshot before it. */
void account_saved(struct account *account, struct coord_name name, uint64_t taken_ms);
/* After account_stopped: what was computed since that snapshot will be computed again.  One that is
 * not known is where this bsprun began. */
void account_back(struct account *account, struct coord_name name);
void account_free(struct account *account);

#endif
