/* input.c - the input of process 0; see input.h. */
#include "bsprun/launcher/input.h"

#include <errno.h>
#include <string.h>

#include "lib/base/digest.h"

bool input_init(struct input *input, uint32_t keep, size_t memory, spool_file *file, void *context)
{
    memset(input, 0, offsetof(struct input, piece));
    input->keep = keep;
    input->spool = spool_new(memory, file, context);
    return input->spool != NULL;
}

void input_free(struct input *input)
{
    if (input->spool)
        spool_clear(input->spool, &input->log, 0);
    spool_free(input->spool);
    input->spool = NULL;
}

/* ---- Readers ---- */

bool input_is_open(const struct input *input)
{
    for (unsigned i = 0; i < WIRE_REPLICAS_MAX; i++)
        if (input->readers[i].open)
            return true;
    return false;
}

/* The position up to which the first of them has taken it. */
static uint64_t taken_by_first(const struct input *input)
{
    uint64_t taken = 0;

    for (unsigned i = 0; i < WIRE_REPLICAS_MAX; i++)
        if (input->readers[i].open && input->readers[i].taken > taken)
            taken = input->readers[i].taken;
    return taken;
}

/* Bytes before are needed by none of them. */
static uint64_t sent_to_last(const struct input *input)
{
    uint64_t sent = UINT64_MAX;

    for (unsigned i = 0; i < WIRE_REPLICAS_MAX; i++)
        if (input->readers[i].open && input->readers[i].sent < sent)
            sent = input->readers[i].sent;
    return sent;
}

/* ---- What was read ---- */

size_t input_room(const struct input *input)
{
    uint64_t limit = taken_by_first(input) + INPUT_AHEAD;

    if (!input_is_open(input) || input->ended)
        return 0;
    if (input->skip > 0)
        return input->skip < INPUT_AHEAD ? (size_t)input->skip : INPUT_AHEAD;
    return limit > input->log.end ? (size_t)(limit - input->log.end) : 0;
}

static bool is_expected(const struct input *input)
{
    return input->expected == BSPZ_DIGEST_UNKNOWN || input->skipped == input->expected;
}

int input_add(struct input *input, const char *data, size_t size)
{
    if (input->skip > 0) {
        size_t skipped = size < input->skip ? size : (size_t)input->skip;

        input->skip -= skipped;
        input->skipped = bspz_digest(input->skipped, data, skipped);
        if (input->skip == 0 && !is_expected(input))
            return -EILSEQ;
        data += skipped;
        size -= skipped;
    }
    int error = spool_append(input->spool, &input->log, data, size);
    if (error)
        input->kept_from = input->log.end;
    return error;
}

bool input_end(struct input *input)
{
    bool enough = input->skip == 0;

    input->ended = true;
    input->skip = 0;
    return enough;
}

void input_expect(struct input *input, uint64_t digest)
{
    input->expected = digest;
}

void input_continue(struct input *input)
{
    input->skip = 0;
}

bool input_next(struct input *input, unsigned index, struct wire_input *piece)
{
    struct input_reader *reader = &input->readers[index];
    uint64_t end = input->log.end, limit = reader->taken + INPUT_AHEAD;
    uint32_t size = 0;

    if (!reader->open || input->skip > 0 || reader->end_sent)
        return false;
    if (end > limit)
        end = limit;
    while (reader->sent + size < end && size < WIRE_CHUNK_MAX) {
        uint64_t left = end - reader->sent - size;
        size_t room = left < WIRE_CHUNK_MAX - size ? (size_t)left : WIRE_CHUNK_MAX - size;
        int got =
            spool_read(input->spool, &input->log, reader->sent + size, input->piece + size, room);

        if (got <= 0)
            break;
        size += (uint32_t)got;
    }
    bool last = input->ended && reader->sent + size == input->log.end;
    if (size == 0 && !last)
        return false;
    *piece =
        (struct wire_input){.position = reader->sent, .end = last, .data = {input->piece, size}};
    reader->sent += size;
    reader->end_sent = last;
    return true;
}

void input_close(struct input *input)
{
    for (unsigned i = 0; i < WIRE_REPLICAS_MAX; i++)
        input->readers[i].open = false;
}

void input_leave(struct input *input, unsigned index)
{
    input->readers[index].open = false;
}

bool input_taken(struct input *input, unsigned index, uint64_t position)
{
    struct input_reader *reader = &input->readers[index];

    if (reader->open) {
        if (position > reader->taken && position <= reader->sent)
            reader->taken = position;
        return true;
    }
    if (position < input->kept_from)
        return false;
    if (position > input->log.end) { /* bsprun was restarted, with new input */
        /* There is no digest of input that was sent before. */
        input->skipped = input->log.end == 0 ? BSPZ_DIGEST_NOTHING : BSPZ_DIGEST_UNKNOWN;
        input->expected = input->log.end == 0 ? input->expected : BSPZ_DIGEST_UNKNOWN;
        input->skip += position - input->log.end;
        spool_clear(input->spool, &input->log, position);
        input->kept_from = position;
    }
    *reader = (struct input_reader){.open = true, .sent = position, .taken = position};
    return true;
}

static void forget_before(struct input *input, uint64_t position)
{
    uint64_t needed = sent_to_last(input);

    if (position > needed)
        position = needed;
    if (position > input->kept_from)
        input->kept_from = position;
    spool_forget(input->spool, &input->log, input->kept_from);
}

void input_forget_taken(struct input *input)
{
    forget_before(input, taken_by_first(input));
}

/* ---- Snapshots ---- */

static void drop_mark(struct input *input, uint32_t index)
{
    input->mark_count--;
    memmove(&input->marks[index], &input->marks[index + 1],
            (input->mark_count - index) * sizeof *input->marks);
}

static bool is_spared(const struct input *input, uint32_t index)
{
    return input->spared.term > 0 && bspz_snapshot_same(input->marks[index].name, input->spared);
}

/* Drops that of a failed snapshot, or the oldest. */
static void make_room(struct input *input)
{
    uint32_t index = 0;

    while (index < input->mark_count && (input->marks[index].committed || is_spared(input, index)))
        index++;
    if (index == input->mark_count)
        index = is_spared(input, 0) ? 1 : 0;
    drop_mark(input, index);
}

void input_mark(struct input *input, struct bspz_snapshot_name name, uint64_t position)
{
    for (uint32_t i = 0; i < input->mark_count; i++)
        if (bspz_snapshot_same(input->marks[i].name, name)) {
            if (position < input->marks[i].position)
                input->marks[i].position = position;
            return;
        }
    if (input->mark_count == INPUT_MARKS_MAX)
        make_room(input);
    input->marks[input->mark_count++] = (struct input_mark){name, position, false};
}

/* Whether the input is kept for one that was marked before this bsprun began. */
static bool is_older_spared(const struct input *input)
{
    for (uint32_t i = 0; i < input->mark_count; i++)
        if (is_spared(input, i))
            return false;
    return input->spared.term > 0;
}

/* Drops the marks before that one, but for the spared one. */
static void forget_older(struct input *input, uint32_t index)
{
    while (index > 0) {
        if (is_spared(input, --index))
            continue;
        drop_mark(input, index);
    }
    forget_before(input, input->marks[0].position);
}

/* If more snapshots are retained than there are marks, nothing is dropped. */
void input_commit(struct input *input, struct bspz_snapshot_name name)
{
    uint32_t newer = 0;

    for (uint32_t i = 0; i < input->mark_count; i++)
        if (bspz_snapshot_same(input->marks[i].name, name))
            input->marks[i].committed = true;
    for (uint32_t i = input->mark_count; i-- > 0;) {
        if (!input->marks[i].committed || ++newer != input->keep)
            continue;
        if (!is_older_spared(input))
            forget_older(input, i);
        return;
    }
}

void input_begin_at(struct input *input, struct bspz_snapshot_name name)
{
    for (uint32_t i = input->mark_count; i-- > 0;)
        if (bspz_snapshot_newer(input->marks[i].name, name))
            drop_mark(input, i);
}

void input_spare(struct input *input, struct bspz_snapshot_name name)
{
    input->spared = name;
}
