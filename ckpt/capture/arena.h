/* arena.h - memory for tables, handed out from one mapping that is no part of an image, and texts
 * built without libc. */
#ifndef CKPT_CAPTURE_ARENA_H
#define CKPT_CAPTURE_ARENA_H

#include <stddef.h>
#include <stdint.h>

struct bspz_arena {
    char *base;
    size_t size;
    size_t used;
};

/* `bytes` of memory, aligned to 16; NULL when the arena is full.  Not cleared. */
void *bspz_arena_take(struct bspz_arena *arena, size_t bytes);

/* The unused rest of the arena: *room bytes at the result.  Take the bytes used of it
 * afterwards. */
void *bspz_arena_rest(const struct bspz_arena *arena, size_t *room);

/* A copy of a string; NULL when the arena is full. */
const char *bspz_arena_string(struct bspz_arena *arena, const char *string);

/* A text of limited length: what does not fit is cut, and it always ends with a zero byte. */
struct bspz_text {
    char *at;
    size_t room;
    size_t length;
};

/* Puts an empty text into `at`; room is at least 1. */
void bspz_text_begin(struct bspz_text *text, char *at, size_t room);
void bspz_text_add(struct bspz_text *text, const char *string);
void bspz_text_decimal(struct bspz_text *text, int64_t number);
void bspz_text_hex(struct bspz_text *text, uint64_t number);

#endif
