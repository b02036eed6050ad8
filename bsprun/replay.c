/* replay.c - output is shown once; see replay.h.
 *
 * What a stream has shown since the newest committed snapshot lies in blocks, in memory or in the
 * file.  All blocks have one size, so that those of the file can be used again.
 */
#include "bsprun/replay.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK 4096u

struct block {
    struct block *next;
    char *memory; /* NULL: it is in the file */
    uint64_t place;
};

struct stream {
    int pid, number;
    uint64_t at;         /* position of the present execution */
    uint64_t shown;      /* up to which everything was shown, never less than at */
    uint64_t base;       /* of the first byte in the blocks */
    uint64_t kept_from;  /* what is before is forgotten, and not in the blocks or not of interest */
    struct block *first; /* holds bytes from base on, base being a multiple of BLOCK */
    struct block *last;
};

struct mark {
    struct coord_name name;
    bool committed;
    uint32_t count; /* streams that existed then */
    uint64_t *positions;
};

struct replay {
    size_t memory; /* that may still be taken */
    replay_show *show;
    replay_file *open_file;
    void *context;
    struct stream *streams;
    uint32_t stream_count;
    struct mark marks[REPLAY_MARKS_MAX];
    uint32_t mark_count;
    int file; /* -1: none yet */
    uint64_t file_end;
    struct block *unused; /* of the file */
    bool differed;
    int differed_pid, differed_stream;
};

struct replay *replay_new(size_t memory, replay_show *show, replay_file *file, void *context)
{
    struct replay *replay = calloc(1, sizeof *replay);

    if (!replay)
        return NULL;
    replay->memory = memory;
    replay->show = show;
    replay->open_file = file;
    replay->context = context;
    replay->file = -1;
    return replay;
}

/* ---- Blocks ---- */

/* Room in the file, or in memory after all where there is no file. */
static int place_outside(struct replay *replay, struct block *block)
{
    if (replay->file < 0)
        replay->file = replay->open_file(replay->context);
    if (replay->file >= 0) {
        block->place = replay->file_end;
        replay->file_end += BLOCK;
        return 0;
    }
    block->memory = malloc(BLOCK);
    return block->memory ? 0 : -ENOMEM;
}

static struct block *take_block(struct replay *replay)
{
    struct block *block = NULL;

    if (replay->memory < BLOCK && replay->unused) {
        block = replay->unused;
        replay->unused = block->next;
        block->next = NULL;
        return block;
    }
    block = calloc(1, sizeof *block);
    if (!block)
        return NULL;
    if (replay->memory >= BLOCK && (block->memory = malloc(BLOCK))) {
        replay->memory -= BLOCK;
    } else if (place_outside(replay, block) < 0) {
        free(block);
        return NULL;
    }
    return block;
}

static void drop_first(struct replay *replay, struct stream *stream)
{
    struct block *block = stream->first;

    stream->first = block->next;
    if (!stream->first)
        stream->last = NULL;
    stream->base += BLOCK;
    if (block->memory) {
        replay->memory += BLOCK;
        free(block->memory);
        free(block);
    } else {
        block->next = replay->unused;
        replay->unused = block;
    }
}

static int write_block(const struct replay *replay, const struct block *block, size_t from,
                       const char *data, size_t size)
{
    if (block->memory) {
        memcpy(block->memory + from, data, size);
        return 0;
    }
    while (size > 0) {
        ssize_t put = pwrite(replay->file, data, size, (off_t)(block->place + from));

        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return put < 0 ? -errno : -EIO;
        from += (size_t)put;
        data += put;
        size -= (size_t)put;
    }
    return 0;
}

static int read_block(const struct replay *replay, const struct block *block, size_t from,
                      char *data, size_t size)
{
    if (block->memory) {
        memcpy(data, block->memory + from, size);
        return 0;
    }
    while (size > 0) {
        ssize_t got = pread(replay->file, data, size, (off_t)(block->place + from));

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got < 0 ? -errno : -EIO;
        from += (size_t)got;
        data += got;
        size -= (size_t)got;
    }
    return 0;
}

/* ---- Streams ---- */

static void forget_all(struct replay *replay, struct stream *stream)
{
    while (stream->first)
        drop_first(replay, stream);
    stream->base = stream->kept_from = stream->shown;
}

void replay_free(struct replay *replay)
{
    if (!replay)
        return;
    for (uint32_t i = 0; i < replay->stream_count; i++)
        forget_all(replay, &replay->streams[i]);
    while (replay->unused) {
        struct block *next = replay->unused->next;

        free(replay->unused);
        replay->unused = next;
    }
    for (uint32_t i = 0; i < replay->mark_count; i++)
        free(replay->marks[i].positions);
    if (replay->file >= 0)
        close(replay->file);
    free(replay->streams);
    free(replay);
}

static struct stream *stream_of(struct replay *replay, int pid, int number)
{
    for (uint32_t i = 0; i < replay->stream_count; i++)
        if (replay->streams[i].pid == pid && replay->streams[i].number == number)
            return &replay->streams[i];
    struct stream *more =
        realloc(replay->streams, (replay->stream_count + 1) * sizeof *replay->streams);
    if (!more)
        return NULL;
    replay->streams = more;
    more[replay->stream_count] = (struct stream){.pid = pid, .number = number};
    return &more[replay->stream_count++];
}

/* Adds what is being shown to what is remembered. */
static int remember(struct replay *replay, struct stream *stream, const char *data, size_t size)
{
    int error = 0;

    if (!stream->first)
        stream->base = stream->shown - stream->shown % BLOCK;
    while (size > 0 && !error) {
        size_t from = (size_t)(stream->shown % BLOCK);
        size_t piece = size < BLOCK - from ? size : BLOCK - from;

        if (from == 0 || !stream->last) {
            struct block *block = take_block(replay);

            if (!block)
                return -ENOMEM;
            if (stream->last)
                stream->last->next = block;
            else
                stream->first = block;
            stream->last = block;
        }
        error = write_block(replay, stream->last, from, data, piece);
        stream->shown += piece;
        data += piece;
        size -= piece;
    }
    return error;
}

/* Reads remembered bytes from `position` on, within one block; how many it were, or -errno. */
static int recall(const struct replay *replay, const struct stream *stream, uint64_t position,
                  char data[BLOCK])
{
    const struct block *block = stream->first;
    uint64_t begin = stream->base;

    while (block && begin + BLOCK <= position) {
        block = block->next;
        begin += BLOCK;
    }
    if (!block || position < begin)
        return -ENODATA;
    uint64_t end = begin + BLOCK < stream->shown ? begin + BLOCK : stream->shown;
    int error =
        read_block(replay, block, (size_t)(position - begin), data, (size_t)(end - position));
    return error ? error : (int)(end - position);
}

/* ---- Output ---- */

static int show_new(struct replay *replay, struct stream *stream, const char *data, size_t size)
{
    uint64_t end = stream->at + size;
    int pid = stream->pid, number = stream->number;
    int unkept = remember(replay, stream, data, size);

    if (unkept) {
        stream->shown = end;
        forget_all(replay, stream);
    }
    stream->at = end;
    int error = replay->show(replay->context, pid, number, data, size);
    return error ? error : unkept;
}

/* Everything from `position` on is forgotten: it was of another execution. */
static void cut(struct replay *replay, struct stream *stream, uint64_t position)
{
    uint64_t begin = stream->base;
    struct block **next = &stream->first;

    stream->last = NULL;
    while (*next && begin < position) {
        stream->last = *next;
        next = &(*next)->next;
        begin += BLOCK;
    }
    /* The rest of the chain is dropped as if it were a stream of its own. */
    struct stream rest = {.first = *next, .last = *next};
    *next = NULL;
    while (rest.first)
        drop_first(replay, &rest);
    stream->shown = position;
}

/* Where the line that `position` is in begins, as far back as is remembered. */
static uint64_t line_begin(const struct replay *replay, const struct stream *stream,
                           uint64_t position)
{
    char data[BLOCK];

    while (position > stream->kept_from) {
        uint64_t from = (position - 1) - (position - 1) % BLOCK;

        from = from < stream->kept_from ? stream->kept_from : from;
        if (recall(replay, stream, from, data) < 0)
            break;
        const char *found = memrchr(data, '\n', (size_t)(position - from));
        if (found)
            return from + (uint64_t)(found - data) + 1;
        position = from;
    }
    return position;
}

/* The executions differ from here on: this one counts, and is shown from the beginning of its line
 * on, in a line of its own. */
static int differ(struct replay *replay, struct stream *stream)
{
    char data[BLOCK];
    uint64_t begin = line_begin(replay, stream, stream->at);
    int pid = stream->pid, number = stream->number;
    bool in_line = stream->shown > stream->kept_from &&
                   (recall(replay, stream, stream->shown - 1, data) != 1 || data[0] != '\n');
    int error = in_line ? replay->show(replay->context, pid, number, "\n", 1) : 0;

    replay->differed = true;
    replay->differed_pid = pid;
    replay->differed_stream = number;
    while (begin < stream->at && !error) {
        int got = recall(replay, stream, begin, data);

        if (got <= 0)
            break;
        size_t piece =
            (uint64_t)got < stream->at - begin ? (size_t)got : (size_t)(stream->at - begin);
        error = replay->show(replay->context, pid, number, data, piece);
        begin += piece;
    }
    cut(replay, stream, stream->at);
    return error;
}

/* How many of the bytes are those that were shown at this position; `same`: no other one follows.
 */
static size_t compare(const struct replay *replay, const struct stream *stream, const char *data,
                      size_t size, bool *same)
{
    char known[BLOCK];
    size_t done = 0;
    uint64_t left = stream->shown - stream->at;

    *same = true;
    if (size > left)
        size = (size_t)left;
    while (done < size) {
        uint64_t position = stream->at + done;
        size_t piece = size - done;

        if (position < stream->kept_from) { /* only known how much it was */
            if (piece > stream->kept_from - position)
                piece = (size_t)(stream->kept_from - position);
            done += piece;
            continue;
        }
        int got = recall(replay, stream, position, known);
        if (got <= 0)
            return size; /* cannot be read: believed to be the same */
        if (piece > (size_t)got)
            piece = (size_t)got;
        for (size_t i = 0; i < piece; i++)
            if (known[i] != data[done + i]) {
                *same = false;
                return done + i;
            }
        done += piece;
    }
    return done;
}

int replay_piece(struct replay *replay, int pid, int stream_number, const char *data, size_t size)
{
    struct stream *stream = stream_of(replay, pid, stream_number);
    bool same;

    if (!stream) {
        int error = replay->show(replay->context, pid, stream_number, data, size);

        return error ? error : -ENOMEM;
    }
    if (stream->at < stream->shown) {
        size_t known = compare(replay, stream, data, size, &same);

        stream->at += known;
        data += known;
        size -= known;
        int error = same ? 0 : differ(replay, stream);
        if (error)
            return error;
    }
    return size > 0 ? show_new(replay, stream, data, size) : 0;
}

/* ---- Marks ---- */

static struct mark *find(struct replay *replay, struct coord_name name)
{
    for (uint32_t i = 0; i < replay->mark_count; i++)
        if (coord_name_same(replay->marks[i].name, name))
            return &replay->marks[i];
    return NULL;
}

static void remove_mark(struct replay *replay, uint32_t index)
{
    free(replay->marks[index].positions);
    replay->mark_count--;
    memmove(&replay->marks[index], &replay->marks[index + 1],
            (replay->mark_count - index) * sizeof *replay->marks);
}

/* One that did not become a snapshot, else the oldest. */
static void make_room(struct replay *replay)
{
    uint32_t index = 0;

    for (uint32_t i = 0; i < replay->mark_count && index == 0; i++)
        if (!replay->marks[i].committed)
            index = i;
    remove_mark(replay, index);
}

int replay_mark(struct replay *replay, struct coord_name name)
{
    struct mark *old = find(replay, name);
    uint64_t *positions = calloc(replay->stream_count + 1, sizeof *positions);

    if (!positions)
        return -ENOMEM;
    for (uint32_t i = 0; i < replay->stream_count; i++)
        positions[i] = replay->streams[i].at;
    if (old)
        remove_mark(replay, (uint32_t)(old - replay->marks));
    if (replay->mark_count == REPLAY_MARKS_MAX)
        make_room(replay);
    replay->marks[replay->mark_count++] =
        (struct mark){.name = name, .count = replay->stream_count, .positions = positions};
    return 0;
}

int replay_begin(struct replay *replay, struct coord_name name)
{
    int error = replay_mark(replay, name);

    if (!error)
        replay_commit(replay, name);
    return error;
}

void replay_commit(struct replay *replay, struct coord_name name)
{
    struct mark *mark = find(replay, name);

    if (!mark)
        return;
    mark->committed = true;
    for (uint32_t i = 0; i < mark->count; i++) {
        struct stream *stream = &replay->streams[i];

        if (stream->kept_from < mark->positions[i])
            stream->kept_from = mark->positions[i];
        while (stream->first && stream->base + BLOCK <= stream->kept_from)
            drop_first(replay, stream);
    }
}

bool replay_back(struct replay *replay, struct coord_name name)
{
    const struct mark *mark = find(replay, name);

    for (uint32_t i = 0; i < replay->stream_count; i++) {
        struct stream *stream = &replay->streams[i];

        if (!mark) {
            stream->at = stream->shown;
            forget_all(replay, stream);
        } else {
            stream->at = i < mark->count ? mark->positions[i] : 0;
        }
    }
    return mark != NULL;
}

bool replay_differed(struct replay *replay, int *pid, int *stream)
{
    bool differed = replay->differed;

    if (differed) {
        *pid = replay->differed_pid;
        *stream = replay->differed_stream;
    }
    replay->differed = false;
    return differed;
}

bool replay_behind(const struct replay *replay, int *pid, int *stream)
{
    for (uint32_t i = 0; i < replay->stream_count; i++)
        if (replay->streams[i].at < replay->streams[i].shown) {
            *pid = replay->streams[i].pid;
            *stream = replay->streams[i].number;
            return true;
        }
    return false;
}
