/* show.c - prints relayed output line by line, and the progress; see show.h. */
#include "bsprun/launcher/show.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/buffer.h"

/* An incomplete line. */
struct part {
    int pid, stream;
    bool begun; /* its beginning has been shown: a prompt */
    struct bspz_buffer text;
    struct part *next;
};

struct show {
    enum wire_stdio mode;
    show_writer *write;
    show_clock *clock; /* NULL: no times */
    void *context;
    int last_pid, last_stream; /* of the last banner */
    struct part *parts;
    struct part *open; /* its incomplete line is the last on the screen */
};

struct show *show_new(enum wire_stdio mode, show_writer *write, void *context)
{
    struct show *show = calloc(1, sizeof *show);

    if (!show)
        return NULL;
    show->mode = mode;
    show->write = write;
    show->context = context;
    return show;
}

void show_times(struct show *show, show_clock *clock)
{
    show->clock = clock;
}

void show_free(struct show *show)
{
    if (!show)
        return;
    while (show->parts) {
        struct part *next = show->parts->next;

        bspz_buffer_free(&show->parts->text);
        free(show->parts);
        show->parts = next;
    }
    free(show);
}

static struct part *part_of(struct show *show, int pid, int stream)
{
    struct part *part = show->parts;

    while (part && (part->pid != pid || part->stream != stream))
        part = part->next;
    if (part)
        return part;
    part = calloc(1, sizeof *part);
    if (!part)
        return NULL;
    part->pid = pid;
    part->stream = stream;
    part->next = show->parts;
    show->parts = part;
    return part;
}

static void prefix_text(struct show *show, const struct part *part, char *text, size_t size)
{
    char pid[16] = "?";

    text[0] = '\0';
    if (part->begun)
        return;
    if (show->open && size > 1) {
        *text++ = '\n';
        *text = '\0';
        size--;
        show->open->begun = false;
    }
    if (part->pid >= 0)
        snprintf(pid, sizeof pid, "%d", part->pid);
    if (show->clock && show->mode != WIRE_STDIO_SPLIT) {
        size_t length = show->clock(text, size);

        text += length;
        size -= length;
    }
    if (show->mode == WIRE_STDIO_TAG) {
        snprintf(text, size, "[%s] ", pid);
    } else if (show->mode == WIRE_STDIO_PLAIN) {
        return;
    } else if (show->last_stream != part->stream || show->last_pid != part->pid) {
        snprintf(text, size, " --- host BSP pid %s - %s ---\n", pid,
                 part->stream == 2 ? "stderr" : "stdout");
        show->last_pid = part->pid;
        show->last_stream = part->stream;
    }
}

/* Writes a line, with its prefix, in one write so that it is not interleaved.  `whole_line`: adds a
 * line break if it has none. */
static int put_line(struct show *show, struct part *part, bool whole_line)
{
    char prefix[80 + SHOW_TIME];
    size_t length, size = part->text.size;
    char *whole;
    int error;

    prefix_text(show, part, prefix, sizeof prefix);
    length = strlen(prefix);
    whole = malloc(length + size + 1);
    if (!whole)
        return -ENOMEM;
    memcpy(whole, prefix, length);
    memcpy(whole + length, part->text.data, size);
    if (whole_line && (size == 0 || part->text.data[size - 1] != '\n'))
        whole[length + size++] = '\n';
    part->text.size = 0;
    part->begun = !whole_line;
    show->open = whole_line ? NULL : part;
    error = show->write(show->context, part->pid, part->stream, whole, length + size);
    free(whole);
    return error;
}

int show_piece(struct show *show, int pid, int stream, const char *data, size_t size)
{
    struct part *part;

    if (show->mode == WIRE_STDIO_PLAIN && !show->clock)
        return show->write(show->context, pid, stream, data, size);
    part = part_of(show, pid, stream);
    if (!part)
        return -ENOMEM;
    while (size > 0) {
        const char *newline = memchr(data, '\n', size);
        size_t length = newline ? (size_t)(newline - data) + 1 : size;
        int error = bspz_buffer_add(&part->text, data, length) ? 0 : -ENOMEM;

        if (!error && (newline || part->text.size >= SHOW_LINE))
            error = put_line(show, part, true);
        if (error)
            return error;
        data += length;
        size -= length;
    }
    return 0;
}

int show_release(struct show *show)
{
    for (struct part *part = show->parts; part; part = part->next) {
        int error = part->text.size > 0 ? put_line(show, part, false) : 0;

        if (error)
            return error;
    }
    return 0;
}

int show_flush(struct show *show)
{
    for (struct part *part = show->parts; part; part = part->next) {
        int error = part->text.size > 0 ? put_line(show, part, true) : 0;

        if (error)
            return error;
    }
    return 0;
}

uint64_t progress_superstep(const struct wire_status *status)
{
    uint64_t least = 0;

    for (uint32_t i = 0; i < status->ranks.count; i++)
        if (i == 0 || status->ranks.items[i].superstep < least)
            least = status->ranks.items[i].superstep;
    return least;
}

/* The estimate uses the time since the newest rollback, as earlier work is repeated. */
static double seconds_left(const struct progress *progress, uint64_t superstep, double seconds)
{
    double rate = (double)(superstep - progress->first) / (seconds - progress->first_seconds);

    return (double)(progress->total - superstep) / rate;
}

static void print_left(FILE *file, double left)
{
    if (left < 100)
        fprintf(file, ", %.0f s left", left);
    else if (left < 100 * 60)
        fprintf(file, ", %.0f min left", left / 60);
    else
        fprintf(file, ", %.0f h left", left / 3600);
}

static void move_progress(struct progress *progress, uint64_t superstep, double seconds)
{
    if (superstep < progress->superstep || progress->first_seconds == 0) {
        progress->first = superstep;
        progress->first_seconds = seconds;
    }
    progress->superstep = superstep;
    progress->seconds = seconds;
}

/* During a rollback the processes have no superstep yet. */
static uint64_t reached(const struct wire_status *status, const struct progress *progress)
{
    uint64_t superstep = progress_superstep(status);

    return progress->has_snapshot && superstep < progress->snapshot ? progress->snapshot
                                                                    : superstep;
}

void progress_text(const struct wire_status *status, struct progress *progress, char *text,
                   size_t size)
{
    uint64_t superstep = reached(status, progress), before = progress->superstep;
    double passed = status->seconds - progress->seconds;
    double rate = passed > 0 && superstep >= before ? (double)(superstep - before) / passed : 0;
    FILE *file = fmemopen(text, size, "w");

    if (!file) {
        snprintf(text, size, "superstep %llu", (unsigned long long)superstep);
        return;
    }
    if (status->processes == 0) {
        fputs("before bsp_begin", file);
    } else {
        move_progress(progress, superstep, status->seconds);
        fprintf(file, "superstep %llu, %.*f/s, %.1f s, p = %u", (unsigned long long)superstep,
                rate < 10 ? 1 : 0, rate, status->seconds, status->processes);
        if (superstep > progress->first && superstep < progress->total)
            print_left(file, seconds_left(progress, superstep, status->seconds));
        if (progress->has_snapshot)
            fprintf(file, ", snapshot of %llu", (unsigned long long)progress->snapshot);
        if (progress->restarts > 0)
            fprintf(file, ", %u restart%s", progress->restarts, progress->restarts > 1 ? "s" : "");
    }
    fclose(file);
}
