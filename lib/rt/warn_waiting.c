/* warn_waiting.c - finds communication that a barrier would discard or carry out unexpectedly; see
 * warn.h. */
#include "lib/rt/outbox.h"
#include "lib/rt/warn.h"

#define PLACE_BYTES (BSPZ_NAME_BYTES + 16)

void bspz_warn_unread(const char *function, int line, const char *file)
{
    uint64_t bytes, count = bspz_queue_left(&bytes);

    if (count > 0 && !bspz_rt.inside.call)
        bspz_warn_later(BSPZ_WARN_UNREAD, function, line, file,
                        "%llu message(s) with %llu bytes are discarded unread: they can be read "
                        "only in the superstep after the one in which they were sent",
                        (unsigned long long)count, (unsigned long long)bytes);
}

/* The place of the first pending put or get; false: there is none. */
static bool first_waiting(char *place, size_t size)
{
    for (int to = 0; to < bspz_rt.nprocs; to++) {
        const struct bspz_chunk *puts = bspz_outbox_first(BSPZ_PUTS, to);
        const struct bspz_chunk *gets = bspz_outbox_first(BSPZ_REQUESTS, to);

        if (puts)
            bspz_place(bspz_rt.pid, ((const struct bspz_put_record *)(puts + 1))->position, place,
                       size);
        else if (gets)
            bspz_place(bspz_rt.pid, ((const struct bspz_request_record *)(gets + 1))->position,
                       place, size);
        if (puts || gets)
            return true;
    }
    return false;
}

static bool messages_wait(void)
{
    for (int to = 0; to < bspz_rt.nprocs; to++)
        if (bspz_outbox_first(BSPZ_MESSAGES, to))
            return true;
    return false;
}

void bspz_warn_before_collective(const char *function, int line, const char *file)
{
    uint64_t bytes, count = bspz_queue_left(&bytes);
    char place[PLACE_BYTES];

    if (first_waiting(place, sizeof place))
        bspz_warn_later(BSPZ_WARN_COLLECTIVE, function, line, file,
                        "puts or gets issued before (one at %.150s) are carried out inside this "
                        "collective operation, which contains a bsp_sync",
                        place);
    if (messages_wait())
        bspz_warn_later(BSPZ_WARN_LOST_SENDS, function, line, file,
                        "messages sent before may be lost in this collective operation, which "
                        "contains a bsp_sync or more");
    if (count > 0)
        bspz_warn_later(BSPZ_WARN_LOST_UNREAD, function, line, file,
                        "%llu message(s) with %llu bytes are discarded unread by this collective "
                        "operation, which contains a bsp_sync",
                        (unsigned long long)count, (unsigned long long)bytes);
}
