/* outbox.c - chaining chunks and entering them in the directory; see outbox.h. */
#include "lib/rt/outbox.h"
#include "lib/rt/half.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>

#define FIRST_ROOM       UINT64_C(1024) /* of a chain's first chunk, with its header */
#define FIRST_ROOM_LEAST UINT64_C(64)   /* for a message of 16 bytes with a tag */
#define ROOM_MAXIMUM     (UINT64_C(256) << 10)

struct bspz_cursor *bspz_cursors[BSPZ_KINDS];

static struct bspz_half halves[2]; /* this rank's two; [superstep & 1] */
static struct bspz_half *current;
static uint64_t first_room; /* so that small data for all ranks fit the first stretch */
static int *dirty;          /* destinations written to in this superstep */
static int dirty_count;
static bool *is_dirty;

static BSPZ_NORETURN void out_of_memory(uint64_t bytes, int error, const char *function, int line,
                                        const char *file)
{
    if (error == EBADF)
        bspz_fail(function, line, file, BSPZ_DESCRIPTOR_CLOSED);
    bspz_fail(function, line, file,
              "no memory for %llu more bytes of communication in this superstep (%llu are in use; "
              "%s): send less per superstep or raise the memory limit",
              (unsigned long long)bytes, (unsigned long long)current->top, strerror(error));
}

/* Pages of unused cursors must stay unbacked: no memset, no huge pages. */
static bool make_cursors(void)
{
    size_t count = (size_t)bspz_rt.nprocs;
    size_t bytes = BSPZ_KINDS * count * sizeof(struct bspz_cursor);
    struct bspz_cursor *cursors =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (cursors == MAP_FAILED)
        return false;
    madvise(cursors, bytes, MADV_NOHUGEPAGE);
    for (size_t kind = 0; kind < BSPZ_KINDS; kind++)
        bspz_cursors[kind] = cursors + kind * count;
    return true;
}

int bspz_outbox_begin_again(uint64_t superstep)
{
    uint64_t row = 2 * (uint64_t)bspz_rt.nprocs * bspz_rt.board->layout.entry_bytes;
    int error = bspz_half_begin(&halves[0], 0);

    if (!error)
        error = bspz_half_begin(&halves[1], 1);
    current = &halves[superstep & 1];
    /* The entries in which others announce what they wrote for this rank. */
    return error ? error : bspz_commit(bspz_entry_of(0, bspz_rt.pid, 0), row);
}

void bspz_outbox_begin(void)
{
    const struct bspz_layout *layout = &bspz_rt.board->layout;
    uint64_t nprocs = (uint64_t)bspz_rt.nprocs;
    int error;

    dirty = calloc(nprocs, sizeof *dirty);
    is_dirty = calloc(nprocs, sizeof *is_dirty);
    if (!dirty || !is_dirty || !make_cursors())
        bspz_fail("bsp_begin", BSPZ_AT_BEGIN, "no memory for the outbox of %d processes",
                  bspz_rt.nprocs);
    dirty_count = 0;
    first_room = bspz_stretch_bytes(layout, 0) / nprocs & ~UINT64_C(15);
    if (first_room > FIRST_ROOM)
        first_room = FIRST_ROOM;
    if (first_room < FIRST_ROOM_LEAST)
        first_room = FIRST_ROOM_LEAST;
    first_room -= sizeof(struct bspz_chunk);
    error = bspz_outbox_begin_again(bspz_rt.superstep);
    if (error)
        out_of_memory(2 * nprocs * layout->entry_bytes, error, "bsp_begin", BSPZ_AT_BEGIN);
}

static void touch(int to)
{
    if (!is_dirty[to]) {
        is_dirty[to] = true;
        dirty[dirty_count++] = to;
    }
}

void *bspz_outbox_memory(uint64_t least, uint64_t *bytes, const char *function, int line,
                         const char *file)
{
    int error = 0;
    void *taken = bspz_half_take(current, least, bytes, &error);

    if (!taken)
        out_of_memory(least, error, function, line, file);
    return taken;
}

/* Extends the chunk, if it is at the end of the used part. */
static bool extend_in_place(struct bspz_cursor *cursor, uint64_t least, uint64_t most)
{
    uint64_t bytes = cursor->chunk ? bspz_half_extend(current, cursor->limit, least, most) : 0;

    cursor->limit += bytes;
    return bytes > 0;
}

/* Makes a chunk with room after its header for `least` and, if available, `most` bytes. */
static void new_chunk(struct bspz_cursor *cursor, uint64_t least, uint64_t most,
                      const char *function, int line, const char *file)
{
    uint64_t bytes = sizeof(struct bspz_chunk) + most;
    struct bspz_chunk *chunk =
        bspz_outbox_memory(sizeof(struct bspz_chunk) + least, &bytes, function, line, file);

    chunk->next = 0;
    chunk->used = 0;
    if (cursor->chunk) {
        cursor->chunk->used = (uint64_t)(cursor->tail - (char *)(cursor->chunk + 1));
        cursor->chunk->next = bspz_offset_of(chunk);
    } else {
        cursor->first = bspz_offset_of(chunk);
    }
    cursor->chunk = chunk;
    cursor->tail = (char *)(chunk + 1);
    cursor->limit = (char *)chunk + bytes;
    cursor->last = NULL;
}

/* Writes the size of the open put record, if there is one. */
static void close_record(struct bspz_cursor *cursor)
{
    struct bspz_put_record *record = cursor->last;
    uint32_t element = cursor->element;
    uint64_t bytes;

    if (!record)
        return;
    bytes = (uint64_t)(cursor->tail - (char *)(record + 1));
    if (bspz_is_scatter(element)) {
        record->size = bytes;
        cursor->bytes += bytes / (8 + bspz_pad(element, 8)) * element;
    } else {
        record->size = bspz_size(bytes, element == 0 ? 8 : element & 0x7fffffffu);
        cursor->bytes += bytes;
    }
    cursor->last = NULL;
    cursor->file = NULL;
}

void bspz_outbox_forget_statements(void)
{
    for (int i = 0; i < dirty_count; i++)
        bspz_cursors[BSPZ_PUTS][dirty[i]].file = NULL;
}

char *bspz_outbox_room(enum bspz_kind kind, int to, uint64_t bytes, const char *function, int line,
                       const char *file)
{
    struct bspz_cursor *cursor = &bspz_cursors[kind][to];
    const uint64_t unit = kind == BSPZ_MESSAGES ? 16 : 8;
    uint64_t most;

    if (kind == BSPZ_PUTS)
        close_record(cursor);
    if (cursor->chunk) {
        cursor->tail = (char *)bspz_pad((uint64_t)(uintptr_t)cursor->tail, unit);
        if (bytes <= (uint64_t)(cursor->limit - cursor->tail) && cursor->tail <= cursor->limit)
            return cursor->tail;
    } else {
        touch(to);
        cursor->next_room = first_room;
    }
    if (bytes > bspz_rt.board->layout.half_bytes)
        out_of_memory(bytes, ENOMEM, function, line, file);
    bytes = bspz_pad(bytes, 16);
    most = bytes > cursor->next_room ? bytes : cursor->next_room;
    if (!extend_in_place(cursor, bytes, most))
        new_chunk(cursor, bytes, most, function, line, file);
    if (cursor->next_room < ROOM_MAXIMUM)
        cursor->next_room = 2 * cursor->next_room + sizeof(struct bspz_chunk);
    return cursor->tail;
}

/* Closes the chain and stores its start; returns the flag if the chain is not empty. */
static BSPZ_INLINED uint32_t seal_chain(const struct bspz_cursor *cursor, uint64_t *first,
                                        uint32_t flag)
{
    struct bspz_chunk *head;

    *first = cursor->first;
    if (!cursor->chunk)
        return 0;
    cursor->chunk->used = (uint64_t)(cursor->tail - (char *)(cursor->chunk + 1));
    head = bspz_chunk_at(cursor->first);
    head->count = cursor->count;
    head->bytes = cursor->bytes;
    return flag;
}

uint32_t bspz_outbox_seal(uint64_t superstep)
{
    uint32_t flags = 0;

    for (int i = 0; i < dirty_count; i++) {
        int to = dirty[i];
        struct bspz_entry *entry = bspz_entry_of(bspz_rt.pid, to, superstep);

        close_record(&bspz_cursors[BSPZ_PUTS][to]);
        flags |= seal_chain(&bspz_cursors[BSPZ_PUTS][to], &entry->first[BSPZ_PUTS], BSPZ_HAS_PUT);
        flags |= seal_chain(&bspz_cursors[BSPZ_REQUESTS][to], &entry->first[BSPZ_REQUESTS],
                            BSPZ_HAS_GET);
        flags |= seal_chain(&bspz_cursors[BSPZ_MESSAGES][to], &entry->first[BSPZ_MESSAGES],
                            BSPZ_HAS_MESSAGE);
        entry->first[BSPZ_REPLIES] = 0;
        atomic_store_explicit(&entry->stamp, superstep + 1, memory_order_release);
    }
    return flags;
}

void bspz_outbox_seal_replies(uint64_t superstep)
{
    for (int i = 0; i < dirty_count; i++) {
        int to = dirty[i];
        struct bspz_entry *entry = bspz_entry_of(bspz_rt.pid, to, superstep);

        if (!bspz_cursors[BSPZ_REPLIES][to].chunk)
            continue;
        /* The reader may be reading the entry for requests now. */
        if (atomic_load_explicit(&entry->stamp, memory_order_relaxed) != superstep + 1)
            memset(entry->first, 0, sizeof entry->first);
        seal_chain(&bspz_cursors[BSPZ_REPLIES][to], &entry->first[BSPZ_REPLIES], 0);
        atomic_store_explicit(&entry->stamp, superstep + 1, memory_order_release);
    }
}

const struct bspz_chunk *bspz_outbox_first(enum bspz_kind kind, int to)
{
    const struct bspz_cursor *cursor = &bspz_cursors[kind][to];

    return is_dirty[to] && cursor->chunk ? bspz_chunk_at(cursor->first) : NULL;
}

uint64_t bspz_outbox_bytes_out(void)
{
    uint64_t bytes = 0;

    for (int i = 0; i < dirty_count; i++)
        if (dirty[i] != bspz_rt.pid)
            bytes += bspz_cursors[BSPZ_PUTS][dirty[i]].bytes +
                     bspz_cursors[BSPZ_REPLIES][dirty[i]].bytes +
                     bspz_cursors[BSPZ_MESSAGES][dirty[i]].bytes;
    return bytes;
}

void bspz_outbox_count(struct bspz_counters *counters)
{
    for (int i = 0; i < dirty_count; i++) {
        counters->bytes_put += bspz_cursors[BSPZ_PUTS][dirty[i]].bytes;
        counters->bytes_sent += bspz_cursors[BSPZ_MESSAGES][dirty[i]].bytes;
    }
}

void bspz_outbox_flip(uint64_t next_superstep)
{
    for (int i = 0; i < dirty_count; i++) {
        for (int kind = 0; kind < BSPZ_KINDS; kind++)
            if (bspz_cursors[kind][dirty[i]].chunk)
                bspz_cursors[kind][dirty[i]] = (struct bspz_cursor){0};
        is_dirty[dirty[i]] = false;
    }
    dirty_count = 0;
    current = &halves[next_superstep & 1];
    bspz_half_reset(current);
}
