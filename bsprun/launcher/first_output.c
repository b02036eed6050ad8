/* first_output.c - see first_output.h. */
#include "bsprun/launcher/first_output.h"

#include <stdlib.h>

#include "lib/base/buffer.h"

/* Bytes written on a stream: streams of a process lie side by side. */
struct written {
    uint64_t *bytes;
    size_t count;
};

/* How often lines were written, by hash; open addressing, at most half full. */
struct counted {
    uint64_t hash; /* 0: free */
    uint64_t times;
};

struct first_output {
    struct written all;    /* by the first of each */
    struct written *hosts; /* by those of each host */
    size_t host_count;
    struct counted *lines; /* by one host, and by the first of all */
    size_t line_count, line_room;
};

static uint64_t *find(struct written *written, size_t at)
{
    return BSPZ_REACH(written->bytes, written->count, at + 1) ? &written->bytes[at] : NULL;
}

static struct written *find_host(struct first_output *first, uint32_t host)
{
    return BSPZ_REACH(first->hosts, first->host_count, host + (size_t)1) ? &first->hosts[host]
                                                                         : NULL;
}

size_t first_output_take(struct first_output **first, uint32_t host, int pid, int stream,
                         size_t size)
{
    size_t at = 2 * (size_t)pid + (stream == 2);
    uint64_t *all, *own;
    struct written *written;

    if (!*first)
        *first = calloc(1, sizeof **first);
    written = *first ? find_host(*first, host) : NULL;
    own = written ? find(written, at) : NULL;
    all = own ? find(&(*first)->all, at) : NULL;
    if (!all)
        return size;
    *own += size;
    if (*own <= *all)
        return 0;
    uint64_t fresh = *own - *all;
    *all = *own;
    return fresh < size ? (size_t)fresh : size;
}

/* ---- Lines of unknown processes ---- */

static struct counted *place_of(struct counted *lines, size_t room, uint64_t hash)
{
    size_t at = (size_t)hash & (room - 1);

    while (lines[at].hash != 0 && lines[at].hash != hash)
        at = (at + 1) & (room - 1);
    return &lines[at];
}

static bool make_room(struct first_output *first)
{
    size_t room = first->line_room ? 2 * first->line_room : 256;
    struct counted *lines;

    if (2 * (first->line_count + 2) <= first->line_room)
        return true;
    lines = calloc(room, sizeof *lines);
    if (!lines)
        return false;
    for (size_t i = 0; i < first->line_room; i++)
        if (first->lines[i].hash != 0)
            *place_of(lines, room, first->lines[i].hash) = first->lines[i];
    free(first->lines);
    first->lines = lines;
    first->line_room = room;
    return true;
}

static uint64_t *times_of(struct first_output *first, uint64_t hash)
{
    struct counted *counted = place_of(first->lines, first->line_room, hash);

    first->line_count += counted->hash == 0;
    counted->hash = hash;
    return &counted->times;
}

/* who: the lead, or the host. */
static uint64_t hash_of(uint64_t who, int stream, const char *line, size_t size)
{
    uint64_t hash = UINT64_C(14695981039346656037) ^ who << 2 ^ (uint64_t)stream;

    hash *= UINT64_C(0x9e3779b97f4a7c15);
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)line[i]) * UINT64_C(1099511628211);
    hash ^= hash >> 32;
    return hash ? hash : 1;
}

bool first_output_line(struct first_output **first, uint32_t lead, uint32_t host, int stream,
                       const char *line, size_t size)
{
    const uint64_t as_lead = UINT64_C(1) << 40;
    uint64_t *all, own;

    if (!*first)
        *first = calloc(1, sizeof **first);
    if (!*first || !make_room(*first))
        return true;
    own = ++*times_of(*first, hash_of(host, stream, line, size));
    all = times_of(*first, hash_of(as_lead | lead, stream, line, size));
    if (own <= *all)
        return false;
    *all = own;
    return true;
}

void first_output_begin(struct first_output **first)
{
    if (!*first)
        return;
    for (uint32_t host = 0; host < (*first)->host_count; host++)
        free((*first)->hosts[host].bytes);
    free((*first)->hosts);
    free((*first)->all.bytes);
    free((*first)->lines);
    free(*first);
    *first = NULL;
}
