/* repeats.c - see repeats.h. */
#include "bsprun/agent/core/repeats.h"

#include <stdlib.h>

#include "lib/base/digest.h"

#define STREAMS 2

struct passage {
    uint64_t size, digest;
};

struct written {
    struct passage since;  /* the image */
    struct passage marked; /* ... that is being made */
    struct passage again;  /* what has been repeated of `since`, while that is not all */
    bool repeats;
};

struct repeats {
    uint32_t nprocs;
    struct written written[]; /* by process and stream */
};

static const struct passage nothing = {0, BSPZ_DIGEST_NOTHING};

struct repeats *repeats_new(uint32_t nprocs)
{
    struct repeats *repeats =
        malloc(sizeof *repeats + (size_t)nprocs * STREAMS * sizeof repeats->written[0]);

    if (!repeats)
        return NULL;
    repeats->nprocs = nprocs;
    repeats_clear(repeats);
    return repeats;
}

void repeats_free(struct repeats *repeats)
{
    free(repeats);
}

void repeats_clear(struct repeats *repeats)
{
    for (uint32_t i = 0; repeats && i < repeats->nprocs * STREAMS; i++)
        repeats->written[i] = (struct written){nothing, nothing, nothing, false};
}

static void add(struct passage *passage, const char *data, size_t size)
{
    passage->size += size;
    passage->digest = bspz_digest(passage->digest, data, size);
}

size_t repeats_take(struct repeats *repeats, int pid, int stream, const char *data, size_t size,
                    bool *differs)
{
    struct written *written;
    uint64_t known = 0;

    if (!repeats || pid < 0 || (uint32_t)pid >= repeats->nprocs || stream < 1 || stream > STREAMS)
        return 0;
    written = &repeats->written[pid * STREAMS + stream - 1];
    if (written->repeats) {
        known = written->since.size - written->again.size;
        if (known > size)
            known = size;
        add(&written->again, data, (size_t)known);
        if (written->again.size == written->since.size) {
            written->repeats = false;
            *differs = written->again.digest != written->since.digest;
        }
    }
    add(&written->since, data + known, size - (size_t)known);
    add(&written->marked, data + known, size - (size_t)known);
    return (size_t)known;
}

/* Whoever is saved has caught up. */
void repeats_mark(struct repeats *repeats, int pid)
{
    for (int i = 0; repeats && i < STREAMS; i++) {
        struct written *written = &repeats->written[pid * STREAMS + i];

        written->marked = nothing;
        written->repeats = false;
    }
}

void repeats_forget(struct repeats *repeats, int pid)
{
    for (int i = 0; repeats && i < STREAMS; i++)
        repeats->written[pid * STREAMS + i].since = repeats->written[pid * STREAMS + i].marked;
}

void repeats_begin(struct repeats *repeats, int pid)
{
    for (int i = 0; repeats && i < STREAMS; i++) {
        struct written *written = &repeats->written[pid * STREAMS + i];

        written->again = nothing;
        written->repeats = written->since.size > 0;
    }
}
