/* text_files.c - files of lines or of records; see text_files.h. */
#include "apps/common/text_files.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsp.h>
#include <bsp_level1.h>

#include "apps/common/layout.h"
#include "apps/common/report.h"

void text_add(struct text *text, const void *bytes, int64_t size)
{
    if (size > text->capacity - text->size) {
        text->capacity = larger(2 * text->capacity, text->size + size);
        text->byte = realloc(text->byte, (size_t)text->capacity);
        if (!text->byte)
            bsp_abort("no memory for %lld bytes\n", (long long)text->capacity);
    }
    if (size > 0)
        memcpy(text->byte + text->size, bytes, (size_t)size);
    text->size += size;
}

/* The next message as newly allocated bytes. */
unsigned char *message_take(int64_t *size)
{
    size_t length;
    unsigned char *bytes;

    bsp_get_tag(&length, NULL);
    *size = (int64_t)length;
    bytes = allocate(*size, 1);
    bsp_move(bytes, *size);
    return bytes;
}

size_t messages_waiting(void)
{
    size_t packets, bytes;

    bsp_qsize(&packets, &bytes);
    return packets;
}

/* Process 0's view of the input. */
struct feed {
    const char *path;
    int64_t record; /* bytes, 0: lines */
    FILE *file;
    struct text waiting; /* read but not yet dealt out */
    bool ended, failed;
};

static bool feed_fails(struct feed *feed, const char *why)
{
    complain("%s: %s", feed->path, why);
    feed->failed = true;
    return false;
}

/* The number of bytes up to and with the last line end; 0 when there is none. */
static int64_t whole_lines(const struct text *text)
{
    int64_t size = text->size;

    while (size > 0 && text->byte[size - 1] != '\n')
        size--;
    return size;
}

/* Reads what one round deals out, which is at least one whole line unless the input ends. */
static void fill_feed(struct feed *feed)
{
    static unsigned char block[TEXT_PIECE];
    int64_t enough = (int64_t)TEXT_PIECE * bsp_nprocs();

    while (!feed->ended && !feed->failed &&
           (feed->waiting.size < enough || (!feed->record && whole_lines(&feed->waiting) == 0))) {
        size_t got = fread(block, 1, sizeof block, feed->file);

        text_add(&feed->waiting, block, (int64_t)got);
        if (got == sizeof block)
            continue;
        feed->ended = true;
        if (ferror(feed->file))
            feed_fails(feed, strerror(errno));
        else if (feed->record && feed->waiting.size % feed->record != 0)
            feed_fails(feed, "the size is not a whole number of records");
        else if (!feed->record && feed->waiting.size > 0 &&
                 feed->waiting.byte[feed->waiting.size - 1] != '\n')
            text_add(&feed->waiting, "\n", 1); /* the last line had no end */
    }
}

/* The first place at or after at, and not after size, where a line or key begins. */
static int64_t next_begin(const struct feed *feed, int64_t at, int64_t size)
{
    const unsigned char *text = feed->waiting.byte, *end;

    if (at <= 0 || at >= size)
        return at <= 0 ? 0 : size;
    if (feed->record)
        return (at + feed->record - 1) / feed->record * feed->record;
    end = memchr(text + at - 1, '\n', (size_t)(size - at + 1));
    return end ? end + 1 - text : size;
}

/* Sends each process an equal part of what is there. */
static void deal(struct feed *feed)
{
    struct text *text = &feed->waiting;
    int64_t record = feed->record, begin = 0;
    int64_t size = record ? text->size - text->size % record : whole_lines(text);
    int p = bsp_nprocs();

    for (int s = 0; s < p; s++) {
        int64_t end = next_begin(feed, block_first(size, p, s + 1), size);

        if (end > begin)
            bsp_send(s, NULL, text->byte + begin, end - begin);
        begin = larger(begin, end);
    }
    text->size -= size;
    if (text->size > 0)
        memmove(text->byte, text->byte + size, (size_t)text->size);
}

enum progress { MORE, DONE, FAILED };

static bool open_feed(struct feed *feed)
{
    feed->file = strcmp(feed->path, "-") == 0 ? stdin : fopen(feed->path, "rb");
    return feed->file || feed_fails(feed, strerror(errno));
}

bool text_read(const char *path, int64_t record, struct text *share)
{
    struct feed feed = {.path = path, .record = record};
    int progress = MORE;

    bsp_push_reg(&progress, sizeof progress);
    bsp_sync();
    if (bsp_pid() == 0)
        open_feed(&feed);
    while (progress == MORE) {
        if (bsp_pid() == 0) {
            int news;

            fill_feed(&feed);
            if (!feed.failed)
                deal(&feed);
            news = feed.failed ? FAILED : feed.ended ? DONE : MORE;
            for (int s = 0; s < bsp_nprocs(); s++)
                bsp_put(s, &news, &progress, 0, sizeof news);
        }
        bsp_sync();
        for (size_t left = messages_waiting(); left > 0; left--) {
            int64_t size;
            unsigned char *bytes = message_take(&size);

            text_add(share, bytes, size);
            free(bytes);
        }
    }
    bsp_pop_reg(&progress);
    bsp_sync();
    if (feed.file && feed.file != stdin)
        fclose(feed.file);
    free(feed.waiting.byte);
    return progress == DONE;
}

static FILE *open_output(const char *path)
{
    FILE *file = strcmp(path, "-") == 0 ? stdout : fopen(path, "wb");

    if (!file)
        complain("%s: %s", path, strerror(errno));
    return file;
}

static bool close_output(FILE *file)
{
    return file == stdout ? fflush(file) == 0 : fclose(file) == 0;
}

/* One piece of this process's output to process 0; at the end of it, everybody learns that it is
 * the next one's turn. */
static void send_piece(text_source source, void *context, int *turn)
{
    struct text piece = {NULL, 0, 0};
    int next = *turn + 1;

    if (!source(context, &piece))
        for (int s = 0; s < bsp_nprocs(); s++)
            bsp_put(s, &next, turn, 0, sizeof next);
    bsp_send(0, NULL, piece.byte, piece.size);
    free(piece.byte);
}

bool text_write(const char *path, text_source source, void *context)
{
    FILE *file = bsp_pid() == 0 ? open_output(path) : NULL;
    bool opened = file, written = true;
    int turn = 0;

    bsp_push_reg(&turn, sizeof turn);
    bsp_sync();
    while (turn < bsp_nprocs()) {
        if (turn == bsp_pid())
            send_piece(source, context, &turn);
        bsp_sync();
        for (size_t left = messages_waiting(); left > 0; left--) {
            int64_t size;
            unsigned char *bytes = message_take(&size);

            if (file && written)
                written = fwrite(bytes, 1, (size_t)size, file) == (size_t)size;
            free(bytes);
        }
    }
    bsp_pop_reg(&turn);
    bsp_sync();
    if (opened && !(close_output(file) && written)) {
        complain("%s: cannot be written", path);
        written = false;
    }
    return bsp_all(bsp_pid() > 0 || (opened && written));
}
