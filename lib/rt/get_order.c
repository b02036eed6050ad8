/* get_order.c - writes the results of this rank's gets as they were issued; see get_order.h.
 *
 * Requests and replies are read owner by owner where that makes no difference (each owner's results
 * lie in a part of the memory of their own), else run by run.
 */
#include "lib/rt/get_order.h"

#include <stdlib.h>

#include "lib/rt/drma.h"

/* Gets in a row from one owner: its number, and how many bytes they are; those of longer ones
 * follow in the next two words.  Small, as there can be one for each get. */
typedef uint32_t run;
#define OWNER_BITS 12
#define LONG_RUN   (UINT32_MAX >> OWNER_BITS)
#define RUN_WORDS  3u /* at most */
_Static_assert(BSPZ_MAX_PROCS <= 1 << OWNER_BITS, "a run names any process");

#define FIRST_RUNS    128u /* so many need no memory of the outbox */
#define BLOCK_MINIMUM (UINT64_C(4) << 10)
#define BLOCK_MAXIMUM (UINT64_C(256) << 10)

/* Runs in the order of issue.  All blocks but the first lie in the superstep's outbox half. */
struct block {
    struct block *next;
    run *runs, *end; /* end: of those written */
    uint64_t room;
};

/* Where the walk through one owner's requests and replies has come to. */
struct place {
    const struct bspz_request_record *record, *record_end;
    const char *reply, *reply_end;
    uint64_t done; /* bytes of the record */
    const struct bspz_chunk *chunk, *reply_chunk;
} __attribute__((aligned(64)));

/* The part of the memory that the results from one owner lie in: [from, to). */
struct stretch {
    uint64_t from, to;
};

static struct bspz_cursor nobody; /* all zero */
struct bspz_get_order bspz_get_order = {.owner = -1, .cursor = &nobody};

static run first_runs[FIRST_RUNS];
static struct block first = {.room = FIRST_RUNS, .runs = first_runs, .end = first_runs};
static struct block *last = &first;
static run *next_run = first_runs, *runs_limit = first_runs + FIRST_RUNS - RUN_WORDS;
static uint64_t asked_before; /* of the current run's owner, when the run began */

void bspz_get_order_reset(void)
{
    if (bspz_get_order.owner < 0)
        return;
    bspz_get_order = (struct bspz_get_order){.owner = -1, .cursor = &nobody};
    last = &first;
    first.next = NULL;
    next_run = first_runs;
    runs_limit = first_runs + FIRST_RUNS - RUN_WORDS;
}

static BSPZ_NOINLINE void new_block(const char *function, int line, const char *file)
{
    uint64_t bytes = last == &first ? BLOCK_MINIMUM : 2 * (last->room * sizeof *last->runs);
    struct block *block;

    if (bytes > BLOCK_MAXIMUM)
        bytes = BLOCK_MAXIMUM;
    block = bspz_outbox_memory(BLOCK_MINIMUM, &bytes, function, line, file);
    *block = (struct block){.room = (bytes - sizeof *block) / sizeof *block->runs,
                            .runs = (run *)(block + 1)};
    last->end = next_run;
    last->next = block;
    last = block;
    next_run = block->runs;
    runs_limit = block->runs + block->room - RUN_WORDS;
}

/* What was asked of the owner so far; a request that may yet be extended is not in cursor->bytes.
 */
static inline uint64_t bytes_asked(const struct bspz_cursor *cursor)
{
    const struct bspz_request_record *record = cursor->last;

    return cursor->bytes + (record ? bspz_bytes_of(record->size) : 0);
}

static inline void note(int owner, uint64_t bytes, const char *function, int line, const char *file)
{
    if (bspz_unlikely(next_run > runs_limit))
        new_block(function, line, file);
    if (bspz_likely(bytes < LONG_RUN)) {
        *next_run++ = (run)owner | (run)bytes << OWNER_BITS;
    } else {
        *next_run++ = (run)owner | LONG_RUN << OWNER_BITS;
        memcpy(next_run, &bytes, sizeof bytes);
        next_run += 2;
    }
}

/* Of what was issued before, no order can be seen: a run of each owner, in any order. */
static BSPZ_NOINLINE void note_all(const char *function, int line, const char *file)
{
    for (int owner = 0; owner < bspz_rt.nprocs; owner++)
        if (bspz_outbox_first(BSPZ_REQUESTS, owner))
            note(owner, bytes_asked(&bspz_cursors[BSPZ_REQUESTS][owner]), function, line, file);
    bspz_get_order.noting = true;
}

void bspz_get_turn(int owner, const char *function, int line, const char *file)
{
    struct bspz_get_order *order = &bspz_get_order;

    if (bspz_likely(order->noting))
        note(order->owner, bytes_asked(order->cursor) - asked_before, function, line, file);
    else
        note_all(function, line, file);
    order->owner = owner;
    order->cursor = &bspz_cursors[BSPZ_REQUESTS][owner];
    asked_before = bytes_asked(order->cursor);
}

/* ---- Does the order matter? --------------------------------------------------------------- */

static int compare_stretches(const void *a, const void *b)
{
    const struct stretch *one = a, *other = b;

    return (one->from > other->from) - (one->from < other->from);
}

/* Whether what comes from different owners goes to different parts of the memory. */
static bool are_apart(void)
{
    struct stretch *stretches = malloc((size_t)bspz_rt.nprocs * sizeof *stretches);
    uint64_t count = 0;
    bool apart = true;

    if (!stretches) /* then the order is kept, whether it matters or not */
        return false;
    for (int owner = 0; owner < bspz_rt.nprocs; owner++) {
        const struct bspz_cursor *cursor = &bspz_cursors[BSPZ_REQUESTS][owner];

        if (bspz_outbox_first(BSPZ_REQUESTS, owner))
            stretches[count++] =
                (struct stretch){cursor->lowest, cursor->highest > cursor->next_destination
                                                     ? cursor->highest
                                                     : cursor->next_destination};
    }
    qsort(stretches, count, sizeof *stretches, compare_stretches);
    for (uint64_t i = 1; i < count && apart; i++)
        apart = stretches[i].from >= stretches[i - 1].to;
    free(stretches);
    return apart;
}

/* ---- Walking ------------------------------------------------------------------------------ */

static void enter_requests(struct place *place, const struct bspz_chunk *chunk)
{
    place->chunk = chunk;
    place->record = (const void *)(chunk + 1);
    place->record_end = (const void *)((const char *)(chunk + 1) + chunk->used);
}

static void enter_replies(struct place *place, const struct bspz_chunk *chunk)
{
    place->reply_chunk = chunk;
    place->reply = (const char *)(chunk + 1);
    place->reply_end = place->reply + chunk->used;
}

static void begin(struct place *place, int owner)
{
    place->done = 0;
    enter_requests(place, bspz_outbox_first(BSPZ_REQUESTS, owner));
    enter_replies(place, bspz_incoming(owner, bspz_rt.superstep, BSPZ_REPLIES));
}

/* The record's result is written. */
static inline void next_record(struct place *place, uint64_t bytes)
{
    place->done = 0;
    place->reply += 8 + bspz_pad(bytes, 8);
    if (++place->record == place->record_end && bspz_next_chunk(place->chunk))
        enter_requests(place, bspz_next_chunk(place->chunk));
    if (place->reply == place->reply_end && bspz_next_chunk(place->reply_chunk))
        enter_replies(place, bspz_next_chunk(place->reply_chunk));
}

/* Writes the next so many bytes of the owner's results; there are so many, in whole calls. */
static inline void write_results(struct place *place, uint64_t left)
{
    while (left > 0) {
        const uint64_t bytes = bspz_bytes_of(place->record->size);
        const uint64_t rest = bytes - place->done;
        const uint64_t now = rest < left ? rest : left;

        bspz_copy_out((void *)(uintptr_t)(place->record->destination + place->done),
                      place->reply + 8 + place->done, now);
        left -= now;
        if (now < rest)
            place->done += now;
        else
            next_record(place, bytes);
    }
}

static void collect_by_owner(void)
{
    for (int owner = 0; owner < bspz_rt.nprocs; owner++) {
        struct place place;

        if (!bspz_outbox_first(BSPZ_REQUESTS, owner))
            continue;
        begin(&place, owner);
        write_results(&place, bytes_asked(&bspz_cursors[BSPZ_REQUESTS][owner]));
    }
}

static void collect_by_run(void)
{
    static struct place *places;

    if (!places)
        places = aligned_alloc(sizeof *places, (size_t)bspz_rt.nprocs * sizeof *places);
    if (!places)
        bspz_fail("bsp_sync", 0, NULL, "no memory to write the results of gets from %d processes",
                  bspz_rt.nprocs);
    for (int owner = 0; owner < bspz_rt.nprocs; owner++)
        if (bspz_outbox_first(BSPZ_REQUESTS, owner))
            begin(&places[owner], owner);
    for (const struct block *block = &first; block; block = block->next)
        for (const run *at = block->runs; at < block->end; at++) {
            uint64_t bytes = *at >> OWNER_BITS;
            struct place *place = &places[*at & ((1 << OWNER_BITS) - 1)];

            if (bspz_unlikely(bytes == LONG_RUN)) {
                memcpy(&bytes, at + 1, sizeof bytes);
                at += 2;
            }
            write_results(place, bytes);
        }
}

static void count_bytes(void)
{
    for (int owner = 0; owner < bspz_rt.nprocs; owner++) {
        uint64_t bytes;

        if (!bspz_outbox_first(BSPZ_REQUESTS, owner))
            continue;
        bytes = bytes_asked(&bspz_cursors[BSPZ_REQUESTS][owner]);
        bspz_rt.self->counters.bytes_got += bytes;
        if (owner != bspz_rt.pid)
            bspz_rt.received_bytes += bytes;
    }
}

void bspz_collect_gets(void)
{
    struct bspz_get_order *order = &bspz_get_order;

    if (order->owner < 0)
        return;
    count_bytes();
    if (!order->noting || are_apart()) {
        collect_by_owner();
        return;
    }
    note(order->owner, bytes_asked(order->cursor) - asked_before, "bsp_sync", 0, NULL);
    last->end = next_run;
    collect_by_run();
}
