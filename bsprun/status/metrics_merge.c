/* metrics_merge.c - see metrics_merge.h. */
#include "bsprun/status/metrics_merge.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buffer.h"

#define HEAD "# TYPE "

/* A family of one text: its lines from "# TYPE" to the next one. */
struct block {
    const char *name, *samples, *end;
    size_t name_length;
    bool written;
};

struct blocks {
    struct block *items;
    size_t count;
};

static const char *after_line(const char *at)
{
    const char *end = strchr(at, '\n');

    return end ? end + 1 : at + strlen(at);
}

static bool is_head(const char *line)
{
    return strncmp(line, HEAD, strlen(HEAD)) == 0;
}

static bool add_block(struct blocks *blocks, const char *head)
{
    const char *at = head;

    if (!BSPZ_GROW(blocks->items, blocks->count))
        return false;
    struct block *block = &blocks->items[blocks->count++];
    do
        at = after_line(at);
    while (*at == '#' && !is_head(at));
    *block = (struct block){.name = head + strlen(HEAD), .samples = at};
    block->name_length = strcspn(head + strlen(HEAD), " \n");
    while (*at && !is_head(at))
        at = after_line(at);
    block->end = at;
    return true;
}

static bool find_blocks(struct blocks *blocks, const char *text)
{
    while (*text) {
        bool heads = is_head(text);

        if (heads && !add_block(blocks, text))
            return false;
        text = heads ? blocks->items[blocks->count - 1].end : after_line(text);
    }
    return true;
}

static bool same_family(const struct block *a, const struct block *b)
{
    return a->name_length == b->name_length && memcmp(a->name, b->name, a->name_length) == 0;
}

static void write_blocks(FILE *file, const struct blocks *blocks)
{
    for (size_t i = 0; i < blocks->count; i++) {
        const struct block *first = &blocks->items[i];

        if (first->written)
            continue;
        const char *head = first->name - strlen(HEAD);
        fwrite(head, 1, (size_t)(first->samples - head), file);
        for (size_t k = i; k < blocks->count; k++) {
            struct block *block = &blocks->items[k];

            if (!same_family(first, block))
                continue;
            fwrite(block->samples, 1, (size_t)(block->end - block->samples), file);
            block->written = true;
        }
    }
    fputs("# EOF\n", file);
}

char *metrics_merge(char *const *texts, size_t count)
{
    struct blocks blocks = {NULL, 0};
    char *merged = NULL;
    size_t size;
    bool good = true;

    for (size_t i = 0; good && i < count; i++)
        good = find_blocks(&blocks, texts[i]);
    FILE *file = good ? open_memstream(&merged, &size) : NULL;
    if (file)
        write_blocks(file, &blocks);
    free(blocks.items);
    if (file && fclose(file) != 0) {
        free(merged);
        merged = NULL;
    }
    return merged;
}
