/* spool.c - temporary storage of bytes; see spool.h.
 *
 * Bytes are kept in blocks, in memory or in the file.  All blocks have one size, so that those of
 * the file can be reused, and begin at multiples of it.
 */
#include "bsprun/launcher/spool.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/io.h"

struct spool_block {
    struct spool_block *next;
    char *memory; /* NULL: the block is in the file */
    uint64_t place;
};

struct spool {
    size_t memory; /* remaining memory */
    spool_file *open_file;
    void *context;
    int file; /* -1: none yet */
    uint64_t file_end;
    struct spool_block *unused; /* of the file */
};

struct spool *spool_new(size_t memory, spool_file *file, void *context)
{
    struct spool *spool = calloc(1, sizeof *spool);

    if (!spool)
        return NULL;
    spool->memory = memory;
    spool->open_file = file;
    spool->context = context;
    spool->file = -1;
    return spool;
}

void spool_free(struct spool *spool)
{
    if (!spool)
        return;
    while (spool->unused) {
        struct spool_block *next = spool->unused->next;

        free(spool->unused);
        spool->unused = next;
    }
    if (spool->file >= 0)
        close(spool->file);
    free(spool);
}

/* ---- Blocks ---- */

/* Allocates a block in the file, or in memory if there is no file. */
static int place_outside(struct spool *spool, struct spool_block *block)
{
    if (spool->file < 0)
        spool->file = spool->open_file(spool->context);
    if (spool->file >= 0) {
        block->place = spool->file_end;
        spool->file_end += SPOOL_BLOCK;
        return 0;
    }
    block->memory = malloc(SPOOL_BLOCK);
    return block->memory ? 0 : -ENOMEM;
}

static struct spool_block *take_block(struct spool *spool)
{
    struct spool_block *block = NULL;

    if (spool->memory < SPOOL_BLOCK && spool->unused) {
        block = spool->unused;
        spool->unused = block->next;
        block->next = NULL;
        return block;
    }
    block = calloc(1, sizeof *block);
    if (!block)
        return NULL;
    if (spool->memory >= SPOOL_BLOCK && (block->memory = malloc(SPOOL_BLOCK))) {
        spool->memory -= SPOOL_BLOCK;
    } else if (place_outside(spool, block) < 0) {
        free(block);
        return NULL;
    }
    return block;
}

static void give_back(struct spool *spool, struct spool_block *block)
{
    if (block->memory) {
        spool->memory += SPOOL_BLOCK;
        free(block->memory);
        free(block);
    } else {
        block->next = spool->unused;
        spool->unused = block;
    }
}

static int write_block(const struct spool *spool, const struct spool_block *block, size_t from,
                       const char *data, size_t size)
{
    if (block->memory) {
        memcpy(block->memory + from, data, size);
        return 0;
    }
    return bspz_write_at(spool->file, data, size, block->place + from);
}

static int read_block(const struct spool *spool, const struct spool_block *block, size_t from,
                      char *data, size_t size)
{
    if (block->memory) {
        memcpy(data, block->memory + from, size);
        return 0;
    }
    return bspz_read_at(spool->file, data, size, block->place + from);
}

/* The disk is full: moves the block, `used` bytes of it, to memory. */
static int move_inside(const struct spool *spool, struct spool_block *block, size_t used)
{
    char *memory = malloc(SPOOL_BLOCK);
    int error = memory ? read_block(spool, block, 0, memory, used) : -ENOMEM;

    if (error)
        free(memory);
    else
        block->memory = memory;
    return error;
}

/* ---- Logs ---- */

int spool_append(struct spool *spool, struct spool_log *log, const char *data, size_t size)
{
    uint64_t end = log->end + size;
    int error = 0;

    if (!log->first)
        log->base = log->end - log->end % SPOOL_BLOCK;
    while (size > 0 && !error) {
        size_t from = (size_t)(log->end % SPOOL_BLOCK);
        size_t piece = size < SPOOL_BLOCK - from ? size : SPOOL_BLOCK - from;

        if (from == 0 || !log->last) {
            struct spool_block *block = take_block(spool);

            if (!block) {
                error = -ENOMEM;
                break;
            }
            if (log->last)
                log->last->next = block;
            else
                log->first = block;
            log->last = block;
        }
        error = write_block(spool, log->last, from, data, piece);
        if (error && !log->last->memory && move_inside(spool, log->last, from) == 0)
            error = write_block(spool, log->last, from, data, piece);
        log->end += piece;
        data += piece;
        size -= piece;
    }
    if (error)
        spool_clear(spool, log, end);
    return error;
}

int spool_read(const struct spool *spool, const struct spool_log *log, uint64_t position,
               char *data, size_t size)
{
    const struct spool_block *block = log->first;
    uint64_t begin = log->base;

    while (block && begin + SPOOL_BLOCK <= position) {
        block = block->next;
        begin += SPOOL_BLOCK;
    }
    if (!block || position < begin || position >= log->end)
        return -ENODATA;
    uint64_t end = begin + SPOOL_BLOCK < log->end ? begin + SPOOL_BLOCK : log->end;
    if (size > end - position)
        size = (size_t)(end - position);
    int error = read_block(spool, block, (size_t)(position - begin), data, size);
    return error ? error : (int)size;
}

void spool_forget(struct spool *spool, struct spool_log *log, uint64_t position)
{
    while (log->first && log->base + SPOOL_BLOCK <= position) {
        struct spool_block *block = log->first;

        log->first = block->next;
        if (!log->first)
            log->last = NULL;
        log->base += SPOOL_BLOCK;
        give_back(spool, block);
    }
}

void spool_cut(struct spool *spool, struct spool_log *log, uint64_t position)
{
    struct spool_block **next = &log->first;
    uint64_t begin = log->base;

    log->last = NULL;
    while (*next && begin < position) {
        log->last = *next;
        next = &(*next)->next;
        begin += SPOOL_BLOCK;
    }
    while (*next) {
        struct spool_block *block = *next;

        *next = block->next;
        give_back(spool, block);
    }
    log->end = position;
}

void spool_clear(struct spool *spool, struct spool_log *log, uint64_t position)
{
    while (log->first) {
        struct spool_block *block = log->first;

        log->first = block->next;
        give_back(spool, block);
    }
    log->last = NULL;
    log->base = log->end = position;
}
