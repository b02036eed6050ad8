/* unattributed.c - unattributed output; see unattributed.h. */
#include "bsprun/launcher/unattributed.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buffer.h"

static uint64_t hash_of(int stream, const char *line, size_t size)
{
    uint64_t hash = UINT64_C(14695981039346656037) + (uint64_t)stream;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)line[i]) * UINT64_C(1099511628211);
    return hash;
}

void unattributed_free(struct unattributed *lines)
{
    free(lines->hashes);
    *lines = (struct unattributed){0};
}

bool unattributed_expects(const struct unattributed *lines)
{
    return lines->skip > 0 || lines->at - lines->base < lines->count;
}

static void swap(struct unattributed *lines, uint32_t one, uint32_t other)
{
    uint64_t line = lines->hashes[one];

    lines->hashes[one] = lines->hashes[other];
    lines->hashes[other] = line;
}

int unattributed_add(struct unattributed *lines, int stream, const char *line, size_t size)
{
    if (lines->count == UNATTRIBUTED_MOST || !BSPZ_GROW(lines->hashes, lines->count))
        return -ENOMEM;
    lines->hashes[lines->count] = hash_of(stream, line, size);
    swap(lines, (uint32_t)(lines->at - lines->base), lines->count);
    lines->count++;
    lines->at++;
    return 0;
}

bool unattributed_take(struct unattributed *lines, int stream, const char *line, size_t size)
{
    uint64_t hash = hash_of(stream, line, size);

    for (uint32_t i = (uint32_t)(lines->at - lines->base); i < lines->count; i++)
        if (lines->hashes[i] == hash) {
            swap(lines, (uint32_t)(lines->at - lines->base), i);
            lines->at++;
            return true;
        }
    if (lines->skip == 0)
        return false;
    lines->skip--;
    return true;
}

void unattributed_forget(struct unattributed *lines, uint64_t position)
{
    uint64_t gone = position > lines->base ? position - lines->base : 0;

    if (position > lines->at)
        gone = lines->at - lines->base;
    if (gone == 0)
        return;
    lines->count -= (uint32_t)gone;
    lines->base += gone;
    memmove(lines->hashes, lines->hashes + gone, lines->count * sizeof *lines->hashes);
}

void unattributed_back(struct unattributed *lines, uint64_t position)
{
    lines->skip = position < lines->base ? lines->base - position : 0;
    lines->at = position < lines->base ? lines->base : position;
}

void unattributed_clear(struct unattributed *lines)
{
    unattributed_forget(lines, lines->at);
    lines->count = 0;
    lines->skip = 0;
}
