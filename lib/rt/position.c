/* position.c - source positions as 32-bit numbers that any rank can convert to text. */
#include <stdio.h>
#include <string.h>

#include "lib/rt/rt.h"

#define KNOWN_POINTERS 64

struct bspz_position_cache bspz_last_file;

/* Pointers seen so far; several may name the same file (one literal per object file). */
static struct bspz_position_cache known[KNOWN_POINTERS];
static unsigned known_count;

void bspz_position_reset(void)
{
    known_count = 0;
    bspz_last_file.file = NULL;
}

const char *bspz_shown_name(const char *file)
{
    size_t length = strlen(file);

    return length < BSPZ_NAME_BYTES ? file : file + length - (BSPZ_NAME_BYTES - 1);
}

/* The index of the name in this rank's list, added if new; the last index means "others". */
static unsigned intern(const char *path)
{
    struct bspz_rank *self = bspz_rt.self;
    unsigned count = atomic_load_explicit(&self->file_count, memory_order_relaxed);
    const char *file = bspz_shown_name(path);
    char *name;

    for (unsigned index = 0; index < count; index++)
        if (strcmp(bspz_name_of(bspz_rt.board, bspz_rt.nprocs, bspz_rt.pid, index), file) == 0)
            return index;
    if (count == BSPZ_NAME_COUNT)
        return BSPZ_NAME_COUNT - 1;
    name = bspz_name_of(bspz_rt.board, bspz_rt.nprocs, bspz_rt.pid, count);
    snprintf(name, BSPZ_NAME_BYTES, "%s", count == BSPZ_NAME_COUNT - 1 ? "(other files)" : file);
    atomic_store(&self->file_count, count + 1);
    return count;
}

bspz_position bspz_position_slow(const char *file, int line)
{
    struct bspz_position_cache *entry = NULL;

    if (!file)
        file = "unprofiled";
    for (unsigned i = 0; i < known_count && !entry; i++)
        if (known[i].file == file)
            entry = &known[i];
    if (!entry) {
        entry = &known[known_count < KNOWN_POINTERS ? known_count++ : KNOWN_POINTERS - 1];
        entry->file = file;
        entry->shifted_index = (uint32_t)intern(file) << 24;
    }
    bspz_last_file = *entry;
    return entry->shifted_index | ((uint32_t)line & 0xffffffu);
}

const char *bspz_place(int pid, bspz_position position, char *buffer, size_t size)
{
    unsigned index = position >> 24;

    if (pid < 0 || pid >= bspz_rt.nprocs ||
        index >= atomic_load(&bspz_rank_of(bspz_rt.board, pid)->file_count))
        snprintf(buffer, size, "unknown:%u", position & 0xffffffu);
    else
        snprintf(buffer, size, "%.*s:%u", (int)BSPZ_NAME_BYTES - 1,
                 bspz_name_of(bspz_rt.board, bspz_rt.nprocs, pid, index), position & 0xffffffu);
    return buffer;
}

enum bspz_call bspz_collective_of(int pid)
{
    const struct bspz_line *line = &bspz_rank_of(bspz_rt.board, pid)->line[bspz_rt.superstep & 1];

    return (enum bspz_call)((line->flags & BSPZ_COLLECTIVE_MASK) >> BSPZ_COLLECTIVE_SHIFT);
}
