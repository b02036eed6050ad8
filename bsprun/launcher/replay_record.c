/* replay_record.c - what was shown beyond a mark, written to a file and read from it; see replay.h
 * and doc/formats.md.
 *
 * What can fail: the file is damaged, or of another snapshot, and is not used.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/launcher/replay_inside.h"
#include "lib/base/buffer.h"
#include "lib/base/digest.h"

#define PIECE    4096u
#define LINE     128u
#define END_SIZE 21u /* "end ", 16 digits, a newline */

/* ---- Beyond a mark ---- */

static uint64_t position_of(const struct mark *mark, uint32_t stream)
{
    return stream < mark->count ? mark->positions[stream] : 0;
}

/* The number of unattributed lines beyond it. */
static uint64_t lines_beyond(const struct replay *replay, const struct mark *mark)
{
    return replay->unattributed.base + replay->unattributed.count - mark->unattributed;
}

bool replay_exceeds(struct replay *replay, struct bspz_snapshot_name name)
{
    const struct mark *mark = replay_find(replay, name);

    if (!mark)
        return false;
    for (uint32_t i = 0; i < replay->stream_count; i++)
        if (replay->streams[i].log.end > position_of(mark, i))
            return true;
    return lines_beyond(replay, mark) > 0;
}

/* ---- Writing ---- */

struct record {
    FILE *file;
    uint64_t digest;
};

static int put(struct record *record, const void *bytes, size_t size)
{
    record->digest = bspz_digest(record->digest, bytes, size);
    return fwrite(bytes, 1, size, record->file) == size ? 0 : -EIO;
}

__attribute__((format(printf, 2, 3))) static int put_line(struct record *record, const char *form,
                                                          ...)
{
    char line[LINE];
    va_list values;
    int size;

    va_start(values, form);
    size = vsnprintf(line, sizeof line, form, values);
    va_end(values);
    return put(record, line, (size_t)size);
}

/* Of what is no longer kept only the length is written. */
static int put_stream(const struct replay *replay, const struct stream *stream, uint64_t position,
                      struct record *record)
{
    uint64_t from = position < stream->kept_from ? stream->kept_from : position;
    char data[PIECE];
    int error;

    if (stream->log.end == position)
        return 0;
    error = put_line(record, "stream %d %d %" PRIu64 " %" PRIu64 "\n", stream->pid, stream->number,
                     from - position, stream->log.end - from);
    while (!error && from < stream->log.end) {
        int got = spool_read(replay->spool, &stream->log, from, data, sizeof data);

        error = got < 0 ? got : put(record, data, (size_t)got);
        from += got < 0 ? 0 : (uint64_t)got;
    }
    return error ? error : put_line(record, "\n");
}

static int put_unattributed(const struct replay *replay, const struct mark *mark,
                            struct record *record)
{
    const struct unattributed *lines = &replay->unattributed;
    uint64_t from = mark->unattributed < lines->base ? lines->base : mark->unattributed;
    uint64_t count = lines->base + lines->count - from;
    int error;

    if (lines_beyond(replay, mark) == 0)
        return 0;
    error = put_line(record, "lines %" PRIu64 " %" PRIu64 "\n", from - mark->unattributed, count);
    for (uint64_t i = 0; i < count && !error; i++)
        error = put_line(record, "%016" PRIx64 "\n", lines->hashes[from - lines->base + i]);
    return error;
}

int replay_save(struct replay *replay, struct bspz_snapshot_name name, FILE *file)
{
    const struct mark *mark = replay_find(replay, name);
    struct record record = {file, BSPZ_DIGEST_NOTHING};

    if (!mark)
        return -ENOENT;
    int error =
        put_line(&record, "bspzero-shown 1 %" PRIu64 " %" PRIu32 "\n", name.superstep, name.term);
    for (uint32_t i = 0; i < replay->stream_count && !error; i++)
        error = put_stream(replay, &replay->streams[i], position_of(mark, i), &record);
    if (!error)
        error = put_unattributed(replay, mark, &record);
    return error ? error : put_line(&record, "end %016" PRIx64 "\n", record.digest);
}

/* ---- Reading ---- */

/* Whether the last line of the file has the digest of all before it; then the file is at its
 * beginning. */
static bool is_whole(FILE *file)
{
    uint64_t digest = BSPZ_DIGEST_NOTHING;
    char data[PIECE], line[END_SIZE], right[END_SIZE + 1];
    long size = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;

    if (size < (long)END_SIZE)
        return false;
    rewind(file);
    for (size_t left = (size_t)size - END_SIZE; left > 0;) {
        size_t got = fread(data, 1, left < sizeof data ? left : sizeof data, file);

        if (got == 0)
            return false;
        digest = bspz_digest(digest, data, got);
        left -= got;
    }
    snprintf(right, sizeof right, "end %016" PRIx64 "\n", digest);
    if (fread(line, 1, END_SIZE, file) != END_SIZE || memcmp(line, right, END_SIZE) != 0)
        return false;
    rewind(file);
    return true;
}

static int get_stream(struct replay *replay, const char *line, FILE *file)
{
    uint64_t dropped, left;
    struct stream *stream;
    char data[PIECE];
    int pid, number;

    if (sscanf(line, "stream %d %d %" SCNu64 " %" SCNu64, &pid, &number, &dropped, &left) != 4)
        return -EBADMSG;
    stream = replay_stream(replay, pid, number);
    if (!stream)
        return -ENOMEM;
    spool_clear(replay->spool, &stream->log, dropped);
    stream->kept_from = dropped;
    while (left > 0) {
        size_t got = fread(data, 1, left < sizeof data ? (size_t)left : sizeof data, file);

        if (got == 0)
            return -EBADMSG;
        if (spool_append(replay->spool, &stream->log, data, got) != 0)
            stream->kept_from = stream->log.end; /* only its length is known */
        left -= got;
    }
    return fgetc(file) == '\n' ? 0 : -EBADMSG;
}

static int get_unattributed(struct replay *replay, const char *line, FILE *file)
{
    struct unattributed *lines = &replay->unattributed;
    uint64_t unknown, count;
    char text[LINE];

    if (sscanf(line, "lines %" SCNu64 " %" SCNu64, &unknown, &count) != 2 ||
        count > UNATTRIBUTED_MOST)
        return -EBADMSG;
    lines->base = lines->at = lines->skip = unknown;
    while (lines->count < count) {
        if (!BSPZ_GROW(lines->hashes, lines->count))
            return -ENOMEM;
        if (!fgets(text, sizeof text, file) ||
            sscanf(text, "%16" SCNx64, &lines->hashes[lines->count]) != 1)
            return -EBADMSG;
        lines->count++;
    }
    return 0;
}

int replay_load(struct replay *replay, struct bspz_snapshot_name name, FILE *file)
{
    struct bspz_snapshot_name of;
    char line[LINE];
    int error = 0;

    if (!is_whole(file) || !fgets(line, sizeof line, file) ||
        sscanf(line, "bspzero-shown 1 %" SCNu64 " %" SCNu32, &of.superstep, &of.term) != 2 ||
        !bspz_snapshot_same(of, name))
        return -EBADMSG;
    while (!error) {
        if (!fgets(line, sizeof line, file))
            return -EBADMSG;
        if (strncmp(line, "end ", 4) == 0)
            return replay_begin(replay, name);
        error = strncmp(line, "stream ", 7) == 0 ? get_stream(replay, line, file)
                                                 : get_unattributed(replay, line, file);
    }
    return error;
}
