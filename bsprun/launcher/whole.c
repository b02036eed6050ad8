/* whole.c - lines that come in pieces; see whole.h. */
#include "bsprun/launcher/whole.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/buffer.h"
#include "lib/wire/wire.h"

/* The beginning of a line. */
struct whole_part {
    struct whole_part *next;
    uint32_t host;
    int pid, stream;
    uint64_t superstep, since_ms; /* of the newest piece */
    uint64_t begun_ms;
    bool cut; /* by the agent: the rest is on its way */
    struct bspz_buffer text;
};

/* ---- Parts ---- */

static struct whole_part **find(struct whole *whole, uint32_t host, int pid, int stream)
{
    struct whole_part **at = &whole->first;

    while (*at && ((*at)->host != host || (*at)->pid != pid || (*at)->stream != stream))
        at = &(*at)->next;
    return at;
}

static void forget(struct whole *whole, struct whole_part **at)
{
    struct whole_part *part = *at;

    *at = part->next;
    whole->waiting -= part->text.size;
    bspz_buffer_free(&part->text);
    free(part);
}

static void pass_on(struct whole *whole, struct whole_part **at)
{
    const struct whole_part *part = *at;

    whole->pass(whole->context, part->host, part->superstep, part->pid, part->stream,
                (const char *)part->text.data, part->text.size);
    forget(whole, at);
}

static bool append(struct whole *whole, struct whole_part *part, const char *data, size_t size)
{
    if (!bspz_buffer_add(&part->text, data, size))
        return false;
    whole->waiting += size;
    return true;
}

/* ---- Pieces ---- */

/* The end of a line, behind its beginning if that waits.  What there is no memory for is passed on
 * in pieces. */
static void end_line(struct whole *whole, struct whole_part **at, uint32_t host, uint64_t superstep,
                     int pid, int stream, const char *data, size_t size)
{
    if (*at && append(whole, *at, data, size)) {
        pass_on(whole, at);
        return;
    }
    if (*at)
        pass_on(whole, at);
    whole->pass(whole->context, host, superstep, pid, stream, data, size);
}

static bool keep(struct whole *whole, struct whole_part **at, const struct whole_part *like,
                 const char *data, size_t size)
{
    if (!*at) {
        *at = calloc(1, sizeof **at);
        if (!*at)
            return false;
        **at = *like;
    }
    (*at)->since_ms = like->since_ms;
    (*at)->cut = like->cut;
    return append(whole, *at, data, size);
}

/* The beginning of a line, or more of it. */
static void begin_line(struct whole *whole, struct whole_part **at, const struct whole_part *like,
                       const char *data, size_t size)
{
    bool kept = keep(whole, at, like, data, size);

    if (kept && (*at)->text.size < WHOLE_LINE && whole->waiting <= WHOLE_MEMORY)
        return;
    if (*at && (*at)->text.size > 0)
        pass_on(whole, at);
    else if (*at)
        forget(whole, at);
    if (!kept)
        whole->pass(whole->context, like->host, like->superstep, like->pid, like->stream, data,
                    size);
}

void whole_piece(struct whole *whole, uint64_t now_ms, uint32_t host, uint64_t superstep, int pid,
                 int stream, const char *data, size_t size)
{
    const char *end = memrchr(data, '\n', size);
    size_t lines = end ? (size_t)(end - data) + 1 : 0;
    const struct whole_part like = {.host = host,
                                    .pid = pid,
                                    .stream = stream,
                                    .superstep = superstep,
                                    .since_ms = now_ms,
                                    .begun_ms = now_ms,
                                    .cut = size >= WIRE_CHUNK_MAX};

    whole_come(whole, host, superstep);
    struct whole_part **at = find(whole, host, pid, stream);

    if (lines > 0)
        end_line(whole, at, host, superstep, pid, stream, data, lines);
    if (lines < size)
        begin_line(whole, find(whole, host, pid, stream), &like, data + lines, size - lines);
}

/* ---- Without the rest ---- */

void whole_come(struct whole *whole, uint32_t host, uint64_t superstep)
{
    for (struct whole_part **at = &whole->first; *at;)
        if ((*at)->host == host && ((*at)->superstep < superstep || superstep == UINT64_MAX))
            pass_on(whole, at);
        else
            at = &(*at)->next;
}

void whole_release(struct whole *whole, uint64_t now_ms)
{
    for (struct whole_part **at = &whole->first; *at;) {
        bool prompt = (*at)->text.size < WHOLE_PROMPT && !(*at)->cut;

        if (prompt ? now_ms - (*at)->begun_ms >= WHOLE_PROMPT_MS
                   : now_ms - (*at)->since_ms >= WHOLE_LATE_MS)
            pass_on(whole, at);
        else
            at = &(*at)->next;
    }
}

void whole_excuse(struct whole *whole, uint64_t now_ms)
{
    for (struct whole_part *part = whole->first; part; part = part->next)
        part->since_ms = part->begun_ms = now_ms;
}

void whole_flush(struct whole *whole)
{
    while (whole->first)
        pass_on(whole, &whole->first);
}

void whole_forget(struct whole *whole)
{
    while (whole->first)
        forget(whole, &whole->first);
}
