/* loose.c - lines of which nobody knows who wrote them; see loose.h. */
#include "bsprun/launcher/loose.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash_of(int stream, const char *line, size_t size)
{
    uint64_t hash = UINT64_C(14695981039346656037) + (uint64_t)stream;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)line[i]) * UINT64_C(1099511628211);
    return hash;
}

void loose_free(struct loose *loose)
{
    free(loose->lines);
    *loose = (struct loose){0};
}

bool loose_expects(const struct loose *loose)
{
    return loose->skip > 0 || loose->at - loose->base < loose->count;
}

static void swap(struct loose *loose, uint32_t one, uint32_t other)
{
    uint64_t line = loose->lines[one];

    loose->lines[one] = loose->lines[other];
    loose->lines[other] = line;
}

int loose_add(struct loose *loose, int stream, const char *line, size_t size)
{
    if (loose->count == LOOSE_MOST)
        return -ENOMEM;
    if (loose->count == loose->capacity) {
        uint32_t capacity = loose->capacity ? 2 * loose->capacity : 256;
        uint64_t *more = realloc(loose->lines, capacity * sizeof *more);

        if (!more)
            return -ENOMEM;
        loose->lines = more;
        loose->capacity = capacity;
    }
    loose->lines[loose->count] = hash_of(stream, line, size);
    swap(loose, (uint32_t)(loose->at - loose->base), loose->count);
    loose->count++;
    loose->at++;
    return 0;
}

bool loose_take(struct loose *loose, int stream, const char *line, size_t size)
{
    uint64_t hash = hash_of(stream, line, size);

    for (uint32_t i = (uint32_t)(loose->at - loose->base); i < loose->count; i++)
        if (loose->lines[i] == hash) {
            swap(loose, (uint32_t)(loose->at - loose->base), i);
            loose->at++;
            return true;
        }
    if (loose->skip == 0)
        return false;
    loose->skip--;
    return true;
}

void loose_forget(struct loose *loose, uint64_t position)
{
    uint64_t gone = position > loose->base ? position - loose->base : 0;

    if (position > loose->at)
        gone = loose->at - loose->base;
    if (gone == 0)
        return;
    loose->count -= (uint32_t)gone;
    loose->base += gone;
    memmove(loose->lines, loose->lines + gone, loose->count * sizeof *loose->lines);
}

void loose_back(struct loose *loose, uint64_t position)
{
    loose->skip = position < loose->base ? loose->base - position : 0;
    loose->at = position < loose->base ? loose->base : position;
}

void loose_clear(struct loose *loose)
{
    loose_forget(loose, loose->at);
    loose->count = 0;
    loose->skip = 0;
}
