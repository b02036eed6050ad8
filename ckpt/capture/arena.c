/* arena.c - memory and texts without libc's allocator and without its formatting. */
#include "ckpt/capture/arena.h"

#include <string.h>

#define ALIGNMENT 16

static size_t aligned(size_t used)
{
    return (used + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
}

void *bspz_arena_take(struct bspz_arena *arena, size_t bytes)
{
    size_t start = aligned(arena->used);

    if (start > arena->size || bytes > arena->size - start)
        return NULL;
    arena->used = start + bytes;
    return arena->base + start;
}

void *bspz_arena_rest(const struct bspz_arena *arena, size_t *room)
{
    size_t start = aligned(arena->used);

    *room = start < arena->size ? arena->size - start : 0;
    return arena->base + start;
}

const char *bspz_arena_string(struct bspz_arena *arena, const char *string)
{
    size_t bytes = strlen(string) + 1;
    char *copy = bspz_arena_take(arena, bytes);

    if (copy)
        memcpy(copy, string, bytes);
    return copy;
}

void bspz_text_begin(struct bspz_text *text, char *at, size_t room)
{
    text->at = at;
    text->room = room;
    text->length = 0;
    at[0] = '\0';
}

void bspz_text_add(struct bspz_text *text, const char *string)
{
    while (*string && text->length + 1 < text->room)
        text->at[text->length++] = *string++;
    text->at[text->length] = '\0';
}

static void add_number(struct bspz_text *text, uint64_t number, unsigned base)
{
    char digits[24];
    size_t at = sizeof digits - 1;

    digits[at] = '\0';
    do {
        digits[--at] = "0123456789abcdef"[number % base];
        number /= base;
    } while (number);
    bspz_text_add(text, digits + at);
}

void bspz_text_decimal(struct bspz_text *text, int64_t number)
{
    if (number < 0)
        bspz_text_add(text, "-");
    add_number(text, number < 0 ? -(uint64_t)number : (uint64_t)number, 10);
}

void bspz_text_hex(struct bspz_text *text, uint64_t number)
{
    bspz_text_add(text, "0x");
    add_number(text, number, 16);
}
