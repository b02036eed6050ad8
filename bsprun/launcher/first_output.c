/* first_output.c - see first_output.h. */
#include "bsprun/launcher/first_output.h"

#include <stdlib.h>
#include <string.h>

/* Bytes written on a stream: streams of a process lie side by side, those of processes unknown
 * first. */
struct written {
    uint64_t *bytes;
    size_t count;
};

struct first_output {
    struct written all;    /* by the first of each */
    struct written *hosts; /* by those of each host */
    uint32_t host_count;
};

static uint64_t *find(struct written *written, size_t at)
{
    if (at >= written->count) {
        size_t count = 2 * at + 4;
        uint64_t *more = realloc(written->bytes, count * sizeof *more);

        if (!more)
            return NULL;
        memset(more + written->count, 0, (count - written->count) * sizeof *more);
        written->bytes = more;
        written->count = count;
    }
    return &written->bytes[at];
}

static struct written *find_host(struct first_output *first, uint32_t host)
{
    if (host >= first->host_count) {
        struct written *more = realloc(first->hosts, (host + 1) * sizeof *more);

        if (!more)
            return NULL;
        memset(more + first->host_count, 0, (host + 1 - first->host_count) * sizeof *more);
        first->hosts = more;
        first->host_count = host + 1;
    }
    return &first->hosts[host];
}

size_t first_output_take(struct first_output **first, uint32_t host, int pid, int stream,
                         size_t size)
{
    size_t at = 2 * (size_t)(pid + 1) + (stream == 2);
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

void first_output_begin(struct first_output **first)
{
    if (!*first)
        return;
    for (uint32_t host = 0; host < (*first)->host_count; host++)
        free((*first)->hosts[host].bytes);
    free((*first)->hosts);
    free((*first)->all.bytes);
    free(*first);
    *first = NULL;
}
