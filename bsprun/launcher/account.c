/* account.c - accounts for the time of a job; see account.h.
 *
 * A rollback resets useful_ms to its value at the snapshot; the difference is lost time.
 */
#include "bsprun/launcher/account.h"

#include <stdlib.h>

#include "lib/base/buffer.h"

static uint64_t between(uint64_t from_ms, uint64_t to_ms)
{
    return to_ms > from_ms ? to_ms - from_ms : 0;
}

void account_down(struct account *account, uint64_t now_ms)
{
    account->began = true;
    account->running = false;
    account->since_ms = now_ms;
}

void account_running(struct account *account, uint64_t now_ms)
{
    if (account->running)
        return;
    if (account->began)
        account->down_ms += between(account->since_ms, now_ms);
    account->began = account->running = true;
    account->since_ms = now_ms;
}

void account_stopped(struct account *account, uint64_t now_ms)
{
    if (!account->running)
        return;
    account->running = false;
    account->useful_ms += between(account->since_ms, now_ms);
    account->since_ms = now_ms;
}

void account_saved(struct account *account, struct bspz_snapshot_name name, uint64_t taken_ms)
{
    uint64_t useful =
        account->useful_ms + (account->running ? between(account->since_ms, taken_ms) : 0);

    if (!BSPZ_GROW(account->snapshots, account->count))
        return;
    account->snapshots[account->count++] = (struct account_snapshot){name, useful};
}

void account_back(struct account *account, struct bspz_snapshot_name name)
{
    uint64_t useful = 0;

    /* Newer snapshots are part of the lost time. */
    while (account->count > 0) {
        const struct account_snapshot *newest = &account->snapshots[account->count - 1];

        if (newest->name.superstep <= name.superstep) {
            useful = newest->useful_ms;
            break;
        }
        account->count--;
    }
    account->lost_ms += between(useful, account->useful_ms);
    if (useful < account->useful_ms)
        account->useful_ms = useful;
}

void account_free(struct account *account)
{
    free(account->snapshots);
    *account = (struct account){0};
}
