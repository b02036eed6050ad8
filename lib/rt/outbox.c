/* outbox.c - committing memory of a half, chaining chunks, publishing channels. */
#include "lib/rt/outbox.h"
#include "lib/rt/registration.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define FIRST_COMMIT (UINT64_C(64) << 10)
#define COMMIT_STEP_MAXIMUM (UINT64_C(64) << 20)
#define FIRST_ROOM UINT64_C(1008) /* with the header 1 KiB */
#define ROOM_MAXIMUM (UINT64_C(256) << 10)
#define CALM_SUPERSTEPS 64 /* a half that stays below a quarter so long gives memory back */

/* This rank's two halves; [superstep & 1]. */
struct half_state {
    struct bspz_half *at;
    uint64_t top;       /* first free byte */
    uint64_t committed; /* bytes backed by memory */
    uint64_t peak;      /* largest top since `calm` began */
    unsigned calm;      /* supersteps since top was above a quarter of committed */
};

struct bspz_cursor *bspz_cursors[BSPZ_KINDS];

static struct half_state halves[2];
static struct half_state *current;
static int *dirty; /* destinations written to in this superstep */
static int dirty_count;
static bool *is_dirty;

static uint64_t directory_bytes(void)
{
    return bspz_pad(sizeof(struct bspz_half) +
                        (uint64_t)bspz_rt.nprocs * sizeof(struct bspz_channels),
                    4096);
}

/* Backs the half with memory up to `end`.  0 or an errno. */
static int commit(struct half_state *half, uint64_t end)
{
    uint64_t offset = (uint64_t)((char *)half->at - (char *)bspz_rt.board);
    uint64_t step = half->committed < COMMIT_STEP_MAXIMUM ? half->committed : COMMIT_STEP_MAXIMUM;
    uint64_t target = half->committed + (step > FIRST_COMMIT ? step : FIRST_COMMIT);
    int error;

    if (end > bspz_rt.board->layout.half_bytes)
        return ENOMEM;
    if (target < end)
        target = bspz_pad(end, 4096);
    if (target > bspz_rt.board->layout.half_bytes)
        target = bspz_rt.board->layout.half_bytes;
    do {
        error = fallocate(bspz_rt.board_fd, 0, (off_t)(offset + half->committed),
                          (off_t)(target - half->committed)) == 0
                    ? 0
                    : errno;
    } while (error == EINTR);
    if (error && target > bspz_pad(end, 4096)) {
        target = bspz_pad(end, 4096);
        error = fallocate(bspz_rt.board_fd, 0, (off_t)(offset + half->committed),
                          (off_t)(target - half->committed)) == 0
                    ? 0
                    : errno;
    }
    if (error)
        return error;
#ifdef MADV_POPULATE_WRITE
    /* One call is cheaper than a fault per page; where the kernel lacks it, faults do. */
    madvise((char *)half->at + half->committed, target - half->committed, MADV_POPULATE_WRITE);
#endif
    half->committed = target;
    return 0;
}

static BSPZ_NORETURN void out_of_memory(uint64_t bytes, int error, const char *function, int line,
                                        const char *file)
{
    bspz_fail(function, line, file,
              "no memory for %llu more bytes of communication in this superstep (%llu are in use; "
              "%s): send less per superstep or raise the memory limit",
              (unsigned long long)bytes, (unsigned long long)current->top, strerror(error));
}

static struct bspz_cursor *new_cursors(void)
{
    size_t bytes = (size_t)bspz_rt.nprocs * sizeof(struct bspz_cursor);
    struct bspz_cursor *cursors = aligned_alloc(64, bytes);

    return cursors ? memset(cursors, 0, bytes) : NULL;
}

void bspz_outbox_begin(void)
{
    for (int kind = 0; kind < BSPZ_KINDS; kind++)
        bspz_cursors[kind] = new_cursors();
    dirty = calloc((size_t)bspz_rt.nprocs, sizeof *dirty);
    is_dirty = calloc((size_t)bspz_rt.nprocs, sizeof *is_dirty);
    for (int kind = 0; kind < BSPZ_KINDS; kind++)
        if (!bspz_cursors[kind] || !dirty || !is_dirty)
            bspz_fail("bsp_begin", BSPZ_AT_BEGIN, "no memory for the outbox of %d processes",
                      bspz_rt.nprocs);
    dirty_count = 0;
    for (int parity = 0; parity < 2; parity++) {
        struct half_state *half = &halves[parity];
        int error;

        *half = (struct half_state){.at = bspz_half_of(bspz_rt.pid, (uint64_t)parity)};
        current = half;
        half->top = directory_bytes();
        error = commit(half, half->top);
        if (error)
            out_of_memory(half->top, error, "bsp_begin", BSPZ_AT_BEGIN);
    }
    current = &halves[0];
}

static void touch(int to)
{
    if (!is_dirty[to]) {
        is_dirty[to] = true;
        dirty[dirty_count++] = to;
    }
}

/* The chunk at the end of the used part can simply become longer. */
static bool extend_in_place(struct bspz_cursor *cursor, uint64_t bytes)
{
    char *top = (char *)current->at + current->top;

    if (!cursor->chunk || cursor->limit != top)
        return false;
    if (current->top + bytes > current->committed && commit(current, current->top + bytes) != 0)
        return false;
    cursor->limit += bytes;
    current->top += bytes;
    return true;
}

static void new_chunk(struct bspz_cursor *cursor, uint64_t room, const char *function, int line,
                      const char *file)
{
    uint64_t at = current->top;
    uint64_t end = at + sizeof(struct bspz_chunk) + room;
    struct bspz_chunk *chunk;

    if (end > current->committed) {
        int error = commit(current, end);

        if (error)
            out_of_memory(room, error, function, line, file);
    }
    current->top = end;
    chunk = (struct bspz_chunk *)((char *)current->at + at);
    chunk->next = 0;
    chunk->used = 0;
    if (cursor->chunk) {
        cursor->chunk->used = (uint64_t)(cursor->tail - (char *)(cursor->chunk + 1));
        cursor->chunk->next = at;
    } else {
        cursor->first = at;
    }
    cursor->chunk = chunk;
    cursor->tail = (char *)(chunk + 1);
    cursor->limit = (char *)current->at + end;
    cursor->last = NULL;
}

void bspz_outbox_close(struct bspz_cursor *cursor)
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

char *bspz_outbox_room(enum bspz_kind kind, int to, uint64_t bytes, const char *function,
                       int line, const char *file)
{
    struct bspz_cursor *cursor = &bspz_cursors[kind][to];
    const uint64_t unit = kind == BSPZ_MESSAGES ? 16 : 8;

    if (kind == BSPZ_PUTS)
        bspz_outbox_close(cursor);
    if (cursor->chunk) {
        cursor->tail = (char *)bspz_pad((uint64_t)(uintptr_t)cursor->tail, unit);
        if (bytes <= (uint64_t)(cursor->limit - cursor->tail) && cursor->tail <= cursor->limit)
            return cursor->tail;
    } else {
        touch(to);
        cursor->next_room = FIRST_ROOM;
    }
    if (bytes > bspz_rt.board->layout.half_bytes)
        out_of_memory(bytes, ENOMEM, function, line, file);
    bytes = bspz_pad(bytes, 16);
    if (extend_in_place(cursor, bytes > cursor->next_room ? bytes : cursor->next_room) ||
        extend_in_place(cursor, bytes)) {
        if (cursor->next_room < ROOM_MAXIMUM)
            cursor->next_room = 2 * cursor->next_room + sizeof(struct bspz_chunk);
        return cursor->tail;
    }
    new_chunk(cursor, bytes > cursor->next_room ? bytes : cursor->next_room, function, line, file);
    if (cursor->next_room < ROOM_MAXIMUM)
        cursor->next_room = 2 * cursor->next_room + sizeof(struct bspz_chunk);
    return cursor->tail;
}

static uint32_t seal_channel(struct bspz_cursor *cursor, struct bspz_channel *channel,
                             uint64_t stamp, uint32_t flag)
{
    if (!cursor->chunk)
        return 0;
    cursor->chunk->used = (uint64_t)(cursor->tail - (char *)(cursor->chunk + 1));
    channel->first = cursor->first;
    channel->count = cursor->count;
    channel->bytes = cursor->bytes;
    channel->stamp = stamp;
    return flag;
}

/* Copies the superstep's pushes, pops and tag sizes to where the others can compare them. */
static uint32_t seal_sequence(uint64_t superstep, int line, const char *file)
{
    const struct bspz_sequence *sequence = &bspz_sequence;
    uint64_t bytes = sequence->count * sizeof *sequence->operations;
    uint64_t at = current->top;

    if (sequence->count == 0)
        return 0;
    if (at + bytes > current->committed) {
        int error = commit(current, at + bytes);

        if (error)
            out_of_memory(bytes, error, "bsp_sync", line, file);
    }
    memcpy((char *)current->at + at, sequence->operations, bytes);
    current->top = bspz_pad(at + bytes, 16);
    current->at->sequence_offset = at;
    current->at->sequence_count = sequence->count;
    current->at->sequence_stamp = superstep + 1;
    return BSPZ_HAS_SEQUENCE | (sequence->null_pop ? BSPZ_HAS_NULL_POP : 0);
}

uint32_t bspz_outbox_seal(uint64_t superstep, int line, const char *file)
{
    uint32_t flags = seal_sequence(superstep, line, file);

    for (int i = 0; i < dirty_count; i++) {
        struct bspz_channel *channels = current->at->to[dirty[i]].channel;
        int to = dirty[i];

        bspz_outbox_close(&bspz_cursors[BSPZ_PUTS][to]);
        flags |= seal_channel(&bspz_cursors[BSPZ_PUTS][to], &channels[BSPZ_PUTS], superstep + 1,
                              BSPZ_HAS_PUT);
        flags |= seal_channel(&bspz_cursors[BSPZ_REQUESTS][to], &channels[BSPZ_REQUESTS],
                              superstep + 1, BSPZ_HAS_GET);
        flags |= seal_channel(&bspz_cursors[BSPZ_MESSAGES][to], &channels[BSPZ_MESSAGES],
                              superstep + 1, BSPZ_HAS_MESSAGE);
    }
    return flags;
}

void bspz_outbox_seal_replies(uint64_t superstep)
{
    for (int i = 0; i < dirty_count; i++)
        seal_channel(&bspz_cursors[BSPZ_REPLIES][dirty[i]],
                     &current->at->to[dirty[i]].channel[BSPZ_REPLIES], superstep + 1, 0);
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

/* Memory of an unusually large superstep goes back to the system once it was not needed for
 * CALM_SUPERSTEPS.  Nobody reads this half now: its content is two supersteps old. */
static void give_back(struct half_state *half)
{
    uint64_t offset = (uint64_t)((char *)half->at - (char *)bspz_rt.board);
    uint64_t keep;

    if (half->top > half->peak)
        half->peak = half->top;
    if (half->top >= half->committed / 4 || half->committed <= 4 * FIRST_COMMIT) {
        half->calm = 0;
        half->peak = 0;
        return;
    }
    if (++half->calm < CALM_SUPERSTEPS / 2) /* each half sees every second superstep */
        return;
    keep = bspz_pad(half->peak > FIRST_COMMIT ? half->peak : FIRST_COMMIT, 4096);
    if (keep < half->committed &&
        fallocate(bspz_rt.board_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                  (off_t)(offset + keep), (off_t)(half->committed - keep)) == 0)
        half->committed = keep;
    half->calm = 0;
    half->peak = 0;
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
    if (current->committed > 4 * FIRST_COMMIT)
        give_back(current);
    current->top = directory_bytes();
}
