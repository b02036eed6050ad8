/* line_buffer.c - assembles lines from pieces; see line_buffer.h. */
#include "bsprun/launcher/line_buffer.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/buffer.h"

/* An incomplete line. */
struct partial_line {
    struct partial_line *next;
    uint32_t host;
    int pid, stream;
    uint64_t superstep, since_ms; /* of the newest piece */
    uint64_t begun_ms;
    bool cut; /* by the agent: the rest follows */
    struct bspz_buffer text;
};

/* ---- Parts ---- */

static struct partial_line **find(struct line_buffer *buffer, uint32_t host, int pid, int stream)
{
    struct partial_line **at = &buffer->first;

    while (*at && ((*at)->host != host || (*at)->pid != pid || (*at)->stream != stream))
        at = &(*at)->next;
    return at;
}

static void forget(struct line_buffer *buffer, struct partial_line **at)
{
    struct partial_line *part = *at;

    *at = part->next;
    buffer->waiting -= part->text.size;
    bspz_buffer_free(&part->text);
    free(part);
}

static void pass_on(struct line_buffer *buffer, struct partial_line **at)
{
    const struct partial_line *part = *at;

    buffer->pass(buffer->context, part->host, part->superstep, part->pid, part->stream,
                 (const char *)part->text.data, part->text.size);
    forget(buffer, at);
}

static bool append(struct line_buffer *buffer, struct partial_line *part, const char *data,
                   size_t size)
{
    if (!bspz_buffer_add(&part->text, data, size))
        return false;
    buffer->waiting += size;
    return true;
}

/* ---- Pieces ---- */

/* Passes on the end of a line, after its waiting beginning.  Without memory it is passed on in
 * pieces. */
static void end_line(struct line_buffer *buffer, struct partial_line **at, uint32_t host,
                     uint64_t superstep, int pid, int stream, const char *data, size_t size)
{
    if (*at && append(buffer, *at, data, size)) {
        pass_on(buffer, at);
        return;
    }
    if (*at)
        pass_on(buffer, at);
    buffer->pass(buffer->context, host, superstep, pid, stream, data, size);
}

static bool keep(struct line_buffer *buffer, struct partial_line **at,
                 const struct partial_line *like, const char *data, size_t size)
{
    if (!*at) {
        *at = calloc(1, sizeof **at);
        if (!*at)
            return false;
        **at = *like;
    }
    (*at)->since_ms = like->since_ms;
    (*at)->cut = like->cut;
    return append(buffer, *at, data, size);
}

/* Adds to an incomplete line. */
static void begin_line(struct line_buffer *buffer, struct partial_line **at,
                       const struct partial_line *like, const char *data, size_t size)
{
    bool kept = keep(buffer, at, like, data, size);

    if (kept && (*at)->text.size < LINE_BUFFER_LINE && buffer->waiting <= LINE_BUFFER_MEMORY)
        return;
    if (*at && (*at)->text.size > 0)
        pass_on(buffer, at);
    else if (*at)
        forget(buffer, at);
    if (!kept)
        buffer->pass(buffer->context, like->host, like->superstep, like->pid, like->stream, data,
                     size);
}

void line_buffer_piece(struct line_buffer *buffer, uint64_t now_ms, uint32_t host,
                       uint64_t superstep, int pid, int stream, const char *data, size_t size)
{
    const char *end = memrchr(data, '\n', size);
    size_t lines = end ? (size_t)(end - data) + 1 : 0;
    const struct partial_line like = {.host = host,
                                      .pid = pid,
                                      .stream = stream,
                                      .superstep = superstep,
                                      .since_ms = now_ms,
                                      .begun_ms = now_ms,
                                      .cut = size >= WIRE_CHUNK_MAX};

    if (buffer->dropped[host])
        return;
    line_buffer_come(buffer, host, superstep);
    struct partial_line **at = find(buffer, host, pid, stream);

    if (lines > 0)
        end_line(buffer, at, host, superstep, pid, stream, data, lines);
    if (lines < size)
        begin_line(buffer, find(buffer, host, pid, stream), &like, data + lines, size - lines);
}

/* ---- Without the rest ---- */

void line_buffer_come(struct line_buffer *buffer, uint32_t host, uint64_t superstep)
{
    for (struct partial_line **at = &buffer->first; *at;)
        if ((*at)->host == host && ((*at)->superstep < superstep || superstep == UINT64_MAX))
            pass_on(buffer, at);
        else
            at = &(*at)->next;
}

void line_buffer_release(struct line_buffer *buffer, uint64_t now_ms)
{
    for (struct partial_line **at = &buffer->first; *at;) {
        bool prompt = (*at)->text.size < LINE_BUFFER_PROMPT && !(*at)->cut;

        if (prompt ? now_ms - (*at)->begun_ms >= LINE_BUFFER_PROMPT_MS
                   : now_ms - (*at)->since_ms >= LINE_BUFFER_LATE_MS)
            pass_on(buffer, at);
        else
            at = &(*at)->next;
    }
}

void line_buffer_excuse(struct line_buffer *buffer, uint64_t now_ms)
{
    for (struct partial_line *part = buffer->first; part; part = part->next)
        part->since_ms = part->begun_ms = now_ms;
}

void line_buffer_flush(struct line_buffer *buffer)
{
    while (buffer->first)
        pass_on(buffer, &buffer->first);
}

void line_buffer_drop(struct line_buffer *buffer, uint32_t host)
{
    buffer->dropped[host] = true;
    for (struct partial_line **at = &buffer->first; *at;)
        if ((*at)->host == host)
            forget(buffer, at);
        else
            at = &(*at)->next;
}

void line_buffer_forget(struct line_buffer *buffer)
{
    while (buffer->first)
        forget(buffer, &buffer->first);
}

void line_buffer_begin(struct line_buffer *buffer)
{
    memset(buffer->dropped, 0, sizeof buffer->dropped);
}
