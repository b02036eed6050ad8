/* blank.c - makes replicas of a process alike in what no program should use; see outbox.h.
 *
 * Data are padded to whole words, and nobody reads the padding; but where processes have replicas
 * agents compare what these have written.  And a program may send the padding of a structure on its
 * stack, where the library has left other things in each replica: one waited, another did not. */
#include <string.h>

#include "lib/rt/outbox.h"

static void clear(const char *data, uint64_t bytes, uint64_t unit)
{
    memset((char *)data + bytes, 0, bspz_pad(bytes, unit) - bytes);
}

static const char *blank_put(const char *at)
{
    const struct bspz_put_record *record = (const void *)at;
    const char *data = (const char *)(record + 1);
    uint64_t bytes = bspz_bytes_of(record->size);

    if (record->slot_flags & BSPZ_PUT_SCATTER)
        for (uint64_t k = 0; k < bytes; k += 8 + bspz_pad(record->offset, 8))
            clear(data + k + 8, record->offset, 8);
    clear(data, bytes, 8);
    return data + bspz_pad(bytes, 8);
}

static const char *blank_reply(const char *at)
{
    uint64_t bytes;

    memcpy(&bytes, at, 8);
    clear(at + 8, bytes, 8);
    return at + 8 + bspz_pad(bytes, 8);
}

static const char *blank_message(const char *at)
{
    const struct bspz_message_record *message = (const void *)at;
    const char *tag = (const char *)(message + 1);
    const char *payload = tag + bspz_pad(message->tag_bytes, 16);

    clear(tag, message->tag_bytes, 16);
    clear(payload, message->bytes, 16);
    return payload + bspz_pad(message->bytes, 16);
}

static void blank_chain(uint64_t offset, const char *(*blank)(const char *at))
{
    for (const struct bspz_chunk *chunk = bspz_chunk_at(offset); chunk;
         chunk = bspz_next_chunk(chunk)) {
        const char *at = (const char *)(chunk + 1), *end = at + chunk->used;

        while (at < end)
            at = blank(at);
    }
}

void bspz_outbox_blank(uint64_t superstep, bool replies)
{
    for (int to = 0; to < bspz_rt.nprocs; to++) {
        const struct bspz_entry *entry = bspz_entry_of(bspz_rt.pid, to, superstep);

        if (atomic_load_explicit(&entry->stamp, memory_order_relaxed) != superstep + 1)
            continue;
        if (replies) {
            blank_chain(entry->first[BSPZ_REPLIES], blank_reply);
            continue;
        }
        blank_chain(entry->first[BSPZ_PUTS], blank_put);
        blank_chain(entry->first[BSPZ_MESSAGES], blank_message);
    }
}

#define STACK_BYTES 16384u /* more than the calls of the library need */

BSPZ_NOINLINE void bspz_clear_stack(void)
{
    char below[STACK_BYTES];

    memset(below, 0, sizeof below);
    __asm__ volatile("" : : "r"(below) : "memory"); /* it is not optimised away */
}
