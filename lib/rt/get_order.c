/* get_order.c - writes the results of this rank's gets in the order of issue; see get_order.h.
 *
 * Requests and replies are read owner by owner if that makes no difference (the results from each
 * owner lie in disjoint parts of memory), else run by run.
 */
#include "lib/rt/get_order.h"

#include <stdlib.h>

#include "lib/rt/drma.h"

#define RUN_WORDS     3u /* at most */

#define FIRST_RUNS    128u /* up to so many need no memory of the outbox */
#define BLOCK_MINIMUM (UINT64_C(4) << 10)
#define BLOCK_MAXIMUM (UINT64_C(256) << 10)

/* Runs in the order of issue.  All blocks but the first lie in the superstep's outbox half. */
struct block {
    struct block *next;
    bspz_run *runs, *end; /* end: of those written */
    uint64_t room;
};

/* The position in one owner's requests and replies. */
struct place {
    const struct bspz_request_record *record, *record_end;
    const char *reply, *reply_end;
    uint64_t done; /* bytes of the record */
    const struct bspz_chunk *chunk, *reply_chunk;
} __attribute__((aligned(64)));

/* The part of memory of the results from one owner: [from, to). */
struct stretch {
    uint64_t from, to;
};

static struct bspz_cursor nobody; /* all zero */
static bspz_run first_runs[FIRST_RUNS];
static struct block first = {.room = FIRST_RUNS, .runs = first_runs, .end = first_runs};
static struct block *last = &first;

#define NOTHING_ISSUED                                                                             \
    {                                                                                              \
        .owner = -1, .cursor = &nobody, .next = first_runs,                                        \
        .limit = first_runs + FIRST_RUNS - RUN_WORDS                                               \
    }
struct bspz_get_order bspz_get_order = NOTHING_ISSUED;

void bspz_get_order_reset(void)
{
    bspz_get_order = (struct bspz_get_order)NOTHING_ISSUED;
    last = &first;
    first.next = NULL;
}

static BSPZ_NOINLINE void new_block(const char *function, int line, const char *file)
{
    uint64_t bytes = last == &first ? BLOCK_MINIMUM : 2 * (last->room * sizeof *last->runs);
    struct block *block;

    if (bytes > BLOCK_MAXIMUM)
        bytes = BLOCK_MAXIMUM;
    block = bspz_outbox_memory(BLOCK_MINIMUM, &bytes, function, line, file);
    *block = (struct block){.room = (bytes - sizeof *block) / sizeof *block->runs,
                            .runs = (bspz_run *)(block + 1)};
    last->end = bspz_get_order.next;
    last->next = block;
    last = block;
    bspz_get_order.next = block->runs;
    bspz_get_order.limit = block->runs + block->room - RUN_WORDS;
}

static void note(int owner, uint64_t bytes, const char *function, int line, const char *file)
{
    struct bspz_get_order *order = &bspz_get_order;

    if (order->next > order->limit)
        new_block(function, line, file);
    if (bytes < BSPZ_LONG_RUN) {
        *order->next++ = (bspz_run)owner | (bspz_run)bytes << BSPZ_RUN_OWNER_BITS;
    } else {
        *order->next++ = (bspz_run)owner | BSPZ_LONG_RUN << BSPZ_RUN_OWNER_BITS;
        memcpy(order->next, &bytes, sizeof bytes);
        order->next += 2;
    }
}

/* The order of earlier gets does not matter: notes one run of each owner. */
static void note_all(const char *function, int line, const char *file)
{
    for (int owner = 0; owner < bspz_rt.nprocs; owner++)
        if (bspz_outbox_first(BSPZ_REQUESTS, owner))
            note(owner, bspz_bytes_asked(&bspz_cursors[BSPZ_REQUESTS][owner]), function, line,
                 file);
    bspz_get_order.noting = true;
}

void bspz_get_note(uint64_t bytes, uint32_t slot_flags, int line, const char *file)
{
    const char *function = bspz_drma_function(slot_flags, true);

    if (bspz_get_order.noting)
        note(bspz_get_order.owner, bytes, function, line, file);
    else
        note_all(function, line, file);
}

/* ---- Does the order matter? --------------------------------------------------------------- */

static int compare_stretches(const void *a, const void *b)
{
    const struct stretch *one = a, *other = b;

    return (one->from > other->from) - (one->from < other->from);
}

/* Whether results from different owners go to disjoint parts of memory. */
static bool are_apart(void)
{
    struct stretch *stretches = malloc((size_t)bspz_rt.nprocs * sizeof *stretches);
    uint64_t count = 0;
    bool apart = true;

    if (!stretches) /* then the order is kept in any case */
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

/* The most frequent case of short runs. */
static inline bool is_one_record(const struct place *place, uint64_t bytes)
{
    return bytes > 0 && place->done == 0 && bytes == bspz_bytes_of(place->record->size);
}

static inline void write_record(struct place *place, uint64_t bytes)
{
    bspz_copy_out((void *)(uintptr_t)place->record->destination, place->reply + 8, bytes);
    next_record(place, bytes);
}

/* Writes the next `left` bytes of the owner's results, which are complete calls. */
static void write_results(struct place *place, uint64_t left)
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
        write_results(&place, bspz_bytes_asked(&bspz_cursors[BSPZ_REQUESTS][owner]));
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
        for (const bspz_run *at = block->runs; at < block->end; at++) {
            uint64_t bytes = *at >> BSPZ_RUN_OWNER_BITS;
            struct place *place = &places[*at & ((1 << BSPZ_RUN_OWNER_BITS) - 1)];

            if (bspz_unlikely(bytes == BSPZ_LONG_RUN)) {
                memcpy(&bytes, at + 1, sizeof bytes);
                at += 2;
            }
            if (bspz_likely(is_one_record(place, bytes)))
                write_record(place, bytes);
            else
                write_results(place, bytes);
        }
}

static void count_bytes(void)
{
    for (int owner = 0; owner < bspz_rt.nprocs; owner++) {
        uint64_t bytes;

        if (!bspz_outbox_first(BSPZ_REQUESTS, owner))
            continue;
        bytes = bspz_bytes_asked(&bspz_cursors[BSPZ_REQUESTS][owner]);
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
    note(order->owner, bspz_bytes_asked(order->cursor) - order->asked_before, "bsp_sync", 0, NULL);
    last->end = order->next;
    collect_by_run();
}
