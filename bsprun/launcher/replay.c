/* replay.c - suppresses repeated output; see replay.h.
 *
 * Each stream has a log (spool.h) of the output shown since the newest committed snapshot; its end
 * is the total shown so far.  Unattributed output has no order (unattributed.h); and its writer may
 * be known in one execution and not in the other.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/launcher/replay_inside.h"
#include "lib/base/buffer.h"

#define PIECE 4096u

struct replay *replay_new(struct spool *spool, replay_show *show, void *context)
{
    struct replay *replay = calloc(1, sizeof *replay);

    if (replay)
        *replay = (struct replay){.spool = spool, .show = show, .context = context};
    return replay;
}

/* ---- Streams ---- */

static void forget_all(struct replay *replay, struct stream *stream)
{
    spool_clear(replay->spool, &stream->log, stream->log.end);
    stream->kept_from = stream->log.end;
}

void replay_free(struct replay *replay)
{
    if (!replay)
        return;
    for (uint32_t i = 0; i < replay->stream_count; i++)
        forget_all(replay, &replay->streams[i]);
    for (uint32_t i = 0; i < replay->mark_count; i++)
        free(replay->marks[i].positions);
    unattributed_free(&replay->unattributed);
    free(replay->streams);
    free(replay);
}

struct stream *replay_stream(struct replay *replay, int pid, int number)
{
    for (uint32_t i = 0; i < replay->stream_count; i++)
        if (replay->streams[i].pid == pid && replay->streams[i].number == number)
            return &replay->streams[i];
    if (!BSPZ_GROW(replay->streams, replay->stream_count))
        return NULL;
    replay->streams[replay->stream_count] = (struct stream){.pid = pid, .number = number};
    return &replay->streams[replay->stream_count++];
}

static int recall(const struct replay *replay, const struct stream *stream, uint64_t position,
                  char data[PIECE])
{
    return spool_read(replay->spool, &stream->log, position, data, PIECE);
}

/* ---- Output ---- */

static int show_new(struct replay *replay, struct stream *stream, const char *data, size_t size)
{
    int pid = stream->pid, number = stream->number;
    int unkept = spool_append(replay->spool, &stream->log, data, size);

    if (unkept)
        stream->kept_from = stream->log.end;
    stream->at = stream->log.end;
    int error = replay->show(replay->context, pid, number, data, size);
    return error ? error : unkept;
}

/* The beginning of the line that contains `position`, as far as the log reaches back. */
static uint64_t line_begin(const struct replay *replay, const struct stream *stream,
                           uint64_t position)
{
    char data[PIECE];

    while (position > stream->kept_from) {
        uint64_t from = (position - 1) - (position - 1) % PIECE;

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

/* The executions differ from here on: the present one is shown from the beginning of its line, on a
 * new line. */
static int differ(struct replay *replay, struct stream *stream)
{
    char data[PIECE];
    uint64_t begin = line_begin(replay, stream, stream->at);
    int pid = stream->pid, number = stream->number;
    bool in_line = stream->log.end > stream->kept_from &&
                   (recall(replay, stream, stream->log.end - 1, data) != 1 || data[0] != '\n');
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
    spool_cut(replay->spool, &stream->log, stream->at);
    return error;
}

/* The number of bytes equal to those shown at this position; `same`: no different byte follows. */
static size_t compare(const struct replay *replay, const struct stream *stream, const char *data,
                      size_t size, bool *same)
{
    char known[PIECE];
    size_t done = 0;
    uint64_t left = stream->log.end - stream->at;

    *same = true;
    if (size > left)
        size = (size_t)left;
    while (done < size) {
        uint64_t position = stream->at + done;
        size_t piece = size - done;

        if (position < stream->kept_from) { /* dropped: only its length is known */
            if (piece > stream->kept_from - position)
                piece = (size_t)(stream->kept_from - position);
            done += piece;
            continue;
        }
        int got = recall(replay, stream, position, known);
        if (got <= 0)
            return size; /* cannot be read: assumed to be equal */
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

/* Attributed output. */
static int ordered_piece(struct replay *replay, int pid, int stream_number, const char *data,
                         size_t size)
{
    struct stream *stream = replay_stream(replay, pid, stream_number);
    bool same;

    if (!stream) {
        int error = replay->show(replay->context, pid, stream_number, data, size);

        return error ? error : -ENOMEM;
    }
    if (stream->at < stream->log.end) {
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

/* Whether the line is the next expected one of the stream. */
static bool is_next(const struct replay *replay, const struct stream *stream, const char *line,
                    size_t size)
{
    bool same;

    return stream->at < stream->log.end && compare(replay, stream, line, size, &same) > 0 && same;
}

/* The line may have been attributed before the rollback. */
static bool is_next_of_any(struct replay *replay, int number, const char *line, size_t size)
{
    for (uint32_t i = 0; i < replay->stream_count; i++) {
        struct stream *stream = &replay->streams[i];

        if (stream->number == number && stream->log.end - stream->at >= size &&
            is_next(replay, stream, line, size)) {
            stream->at += size;
            return true;
        }
    }
    return false;
}

static int unattributed_line(struct replay *replay, int number, const char *line, size_t size)
{
    if (unattributed_take(&replay->unattributed, number, line, size) ||
        is_next_of_any(replay, number, line, size))
        return 0;
    int unkept = unattributed_add(&replay->unattributed, number, line, size);
    int error = replay->show(replay->context, -1, number, line, size);
    return error ? error : unkept;
}

/* An attributed line, while unattributed ones are expected. */
static int mixed_line(struct replay *replay, int pid, int number, const char *line, size_t size)
{
    const struct stream *stream = replay_stream(replay, pid, number);

    if (stream && !is_next(replay, stream, line, size) &&
        unattributed_take(&replay->unattributed, number, line, size))
        return 0;
    return ordered_piece(replay, pid, number, line, size);
}

int replay_piece(struct replay *replay, int pid, int stream_number, const char *data, size_t size)
{
    int first = 0;

    if (pid >= 0 && !unattributed_expects(&replay->unattributed))
        return ordered_piece(replay, pid, stream_number, data, size);
    while (size > 0) {
        const char *end = memchr(data, '\n', size);
        size_t line = end ? (size_t)(end - data) + 1 : size;
        int error = pid < 0 ? unattributed_line(replay, stream_number, data, line)
                            : mixed_line(replay, pid, stream_number, data, line);

        first = first ? first : error;
        data += line;
        size -= line;
    }
    return first;
}

/* ---- Marks ---- */

struct mark *replay_find(struct replay *replay, struct bspz_snapshot_name name)
{
    for (uint32_t i = 0; i < replay->mark_count; i++)
        if (bspz_snapshot_same(replay->marks[i].name, name))
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

static bool is_spared(const struct replay *replay, uint32_t index)
{
    return replay->spared.term > 0 && bspz_snapshot_same(replay->marks[index].name, replay->spared);
}

/* Only one snapshot is in progress at a time: older uncommitted ones never will be committed.  The
 * commit of the newest may be unknown yet. */
static void make_room(struct replay *replay)
{
    uint32_t index = 0, last = replay->mark_count - 1;

    if (replay->mark_count < REPLAY_MARKS_MAX)
        return;
    while (index < last && (replay->marks[index].committed || is_spared(replay, index)))
        index++;
    if (index == last)
        index = is_spared(replay, 0) ? 1 : 0;
    remove_mark(replay, index);
}

int replay_mark(struct replay *replay, struct bspz_snapshot_name name)
{
    uint64_t *positions = calloc(replay->stream_count + 1, sizeof *positions);

    if (!positions)
        return -ENOMEM;
    for (uint32_t i = 0; i < replay->stream_count; i++)
        positions[i] = replay->streams[i].at;
    struct mark *old = replay_find(replay, name);
    if (old)
        remove_mark(replay, (uint32_t)(old - replay->marks));
    make_room(replay);
    replay->marks[replay->mark_count++] =
        (struct mark){.name = name,
                      .count = replay->stream_count,
                      .positions = positions,
                      .unattributed = replay->unattributed.at - replay->unattributed.skip};
    return 0;
}

int replay_begin(struct replay *replay, struct bspz_snapshot_name name)
{
    int error = replay_mark(replay, name);

    if (!error)
        replay_commit(replay, name);
    return error;
}

void replay_commit(struct replay *replay, struct bspz_snapshot_name name)
{
    struct mark *mark = replay_find(replay, name);

    if (!mark)
        return;
    mark->committed = true;
    unattributed_forget(&replay->unattributed, mark->unattributed);
    for (uint32_t i = 0; i < mark->count; i++) {
        struct stream *stream = &replay->streams[i];

        if (stream->kept_from < mark->positions[i])
            stream->kept_from = mark->positions[i];
        spool_forget(replay->spool, &stream->log, stream->kept_from);
    }
}

void replay_spare(struct replay *replay, struct bspz_snapshot_name name)
{
    replay->spared = name;
}

/* The stream goes back to the mark; NULL: what it writes again will not be recognised. */
static void go_back(struct replay *replay, const struct mark *mark, uint32_t i)
{
    struct stream *stream = &replay->streams[i];

    if (mark) {
        stream->at = i < mark->count ? mark->positions[i] : 0;
        return;
    }
    stream->at = stream->log.end;
    forget_all(replay, stream);
}

bool replay_back(struct replay *replay, struct bspz_snapshot_name name)
{
    struct mark *mark = replay_find(replay, name);

    if (mark) {
        mark->committed = true; /* even if its commit was never reported */
        unattributed_back(&replay->unattributed, mark->unattributed);
    } else {
        unattributed_clear(&replay->unattributed);
    }
    for (uint32_t i = 0; i < replay->stream_count; i++)
        go_back(replay, mark, i);
    return mark != NULL;
}

bool replay_back_alone(struct replay *replay, struct bspz_snapshot_name name, int pid)
{
    const struct mark *mark = replay_find(replay, name);

    for (uint32_t i = 0; i < replay->stream_count; i++)
        if (replay->streams[i].pid == pid)
            go_back(replay, mark, i);
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
        if (replay->streams[i].at < replay->streams[i].log.end) {
            *pid = replay->streams[i].pid;
            *stream = replay->streams[i].number;
            return true;
        }
    *pid = -1;
    *stream = 0; /* any */
    return unattributed_expects(&replay->unattributed);
}
