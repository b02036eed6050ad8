/* watch_table.c - see watch_table.h. */
#include "bsprun/status/watch_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/units.h"
#include "lib/base/utf8.h"

/* ---- The canvas ---- */

/* The character at `text`, of that many bytes. */
static wchar_t decode(const char *text, unsigned bytes)
{
    static const unsigned char mask[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    wchar_t glyph = (unsigned char)text[0] & mask[bytes];

    for (unsigned i = 1; i < bytes; i++)
        glyph = glyph << 6 | ((unsigned char)text[i] & 0x3f);
    return glyph;
}

unsigned watch_canvas_put(struct watch_canvas *canvas, unsigned row, unsigned from, unsigned to,
                          const char *text, enum watch_look look)
{
    struct watch_cell *cells = &canvas->cells[(size_t)row * canvas->columns];

    while (*text && from < to) {
        unsigned bytes = bspz_utf8_length(text);
        wchar_t glyph = bytes > 0 ? decode(text, bytes) : L'?';
        int width = glyph < 128 || canvas->unicode ? wcwidth(glyph) : -1;

        text += bytes > 0 ? bytes : 1;
        if (width == 0)
            continue; /* a combining mark has no cell */
        if (width < 0) {
            glyph = L'?';
            width = 1;
        }
        if (from + (unsigned)width > to)
            break;
        cells[from++] = (struct watch_cell){glyph, (uint8_t)look};
        if (width == 2)
            cells[from++] = (struct watch_cell){0, (uint8_t)look};
    }
    return from;
}

/* ---- Columns ---- */

enum column { PID, HOST, OS_PID, MEMORY, STATE, SUPERSTEP, COLUMNS };

#define BAR_LEAST 8u

/* In the order in which they are given up when there is little room, the last first. */
static const struct {
    const char *name;
    unsigned width;
    bool left;
    unsigned rank; /* 0: always there */
} columns[COLUMNS] = {
    [PID] = {"pid", 5, false, 0},        [HOST] = {"host", 10, true, 4},
    [OS_PID] = {"process", 7, false, 5}, [MEMORY] = {"memory", 9, false, 3},
    [STATE] = {"state", 13, true, 1},    [SUPERSTEP] = {"superstep", 10, false, 2},
};

struct layout {
    bool has[COLUMNS];
    unsigned bar; /* the first column of the bars; their room is the rest */
};

static struct layout lay_out(unsigned width)
{
    struct layout layout = {.bar = 0};

    for (unsigned rank = 0; rank < COLUMNS; rank++)
        for (unsigned i = 0; i < COLUMNS; i++)
            if (columns[i].rank == rank &&
                (rank == 0 || layout.bar + columns[i].width + 1 + BAR_LEAST <= width)) {
                layout.has[i] = true;
                layout.bar += columns[i].width + 1;
            }
    return layout;
}

static void put_column(struct watch_canvas *canvas, unsigned row, unsigned *at, enum column column,
                       const char *text, enum watch_look look)
{
    unsigned width = columns[column].width, end = *at + width;
    size_t length = strlen(text);
    unsigned from = columns[column].left || length >= width ? *at : end - (unsigned)length;

    if (end > canvas->columns)
        end = canvas->columns;
    watch_canvas_put(canvas, row, from, end, text, look);
    *at += width + 1;
}

/* ---- Bars ---- */

static const char *const *glyphs_of(const struct watch_canvas *canvas)
{
    static const char *const ascii[] = {"#", "+", "."}, *const unicode[] = {"█", "▒", "·"};

    return canvas->unicode ? unicode : ascii;
}

static void put_bar(struct watch_canvas *canvas, unsigned row, unsigned from,
                    const struct watch_rank *rank)
{
    unsigned room = canvas->columns > from ? canvas->columns - from : 0;
    double sum = 0;

    for (unsigned i = 0; i < WATCH_ACTIVITIES; i++) {
        sum += rank->shares[i];
        unsigned end = (unsigned)(sum * room + 0.5);

        for (unsigned at = i == 0 ? 0 : (unsigned)((sum - rank->shares[i]) * room + 0.5); at < end;
             at++)
            watch_canvas_put(canvas, row, from + at, canvas->columns, glyphs_of(canvas)[i],
                             (enum watch_look)(WATCH_COMPUTING + i));
    }
}

/* ---- Rows ---- */

static void put_rank(struct watch_canvas *canvas, unsigned row, const struct layout *layout,
                     const struct watch_rank *rank)
{
    char texts[COLUMNS][BSPZ_BYTES_TEXT + 24];
    unsigned at = 0;

    snprintf(texts[PID], sizeof texts[PID], "%u", rank->pid);
    snprintf(texts[OS_PID], sizeof texts[OS_PID], "%u", rank->os_pid);
    if (rank->os_pid == 0)
        strcpy(texts[OS_PID], "-");
    strcpy(texts[MEMORY], "-");
    if (rank->memory > 0)
        bspz_bytes_text(rank->memory, texts[MEMORY], sizeof texts[MEMORY]);
    snprintf(texts[SUPERSTEP], sizeof texts[SUPERSTEP], "%llu",
             (unsigned long long)rank->superstep);
    for (unsigned i = 0; i < COLUMNS; i++)
        if (layout->has[i])
            put_column(canvas, row, &at, (enum column)i,
                       i == HOST    ? rank->host
                       : i == STATE ? rank->state
                                    : texts[i],
                       WATCH_PLAIN);
    put_bar(canvas, row, layout->bar, rank);
}

/* What the parts of a bar mean, with as much as there is room for; the one by which rows are sorted
 * has a star. */
static void put_legend(struct watch_canvas *canvas, unsigned row, unsigned from,
                       enum watch_order order)
{
    static const char *const names[][WATCH_ACTIVITIES] = {
        {" computes", " communicates", " waits"}, {"comp", "comm", "wait"}, {"c", "c", "w"}};
    static const unsigned needs[] = {35, 19, 0};
    unsigned room = canvas->columns > from ? canvas->columns - from : 0, size = 0;

    while (room < needs[size])
        size++;
    for (unsigned i = 0; i < WATCH_ACTIVITIES; i++) {
        bool mark = (i == WATCH_COMPUTES && order == WATCH_BY_COMPUTING) ||
                    (i == WATCH_WAITS && order == WATCH_BY_WAITING);
        char text[32];

        snprintf(text, sizeof text, "%s%s%s ", glyphs_of(canvas)[i], mark ? "*" : "",
                 names[size][i]);
        from = watch_canvas_put(canvas, row, from, canvas->columns, text, WATCH_REVERSE);
    }
}

static void put_names(struct watch_canvas *canvas, unsigned row, const struct layout *layout,
                      enum watch_order order)
{
    unsigned at = 0;

    for (unsigned i = 0; i < canvas->columns; i++)
        watch_canvas_put(canvas, row, i, i + 1, " ", WATCH_REVERSE);
    for (unsigned i = 0; i < COLUMNS; i++) {
        char name[32];
        bool mark =
            (i == PID && order == WATCH_BY_PID) || (i == MEMORY && order == WATCH_BY_MEMORY);

        snprintf(name, sizeof name, "%s%s", mark ? "*" : "", columns[i].name);
        if (layout->has[i])
            put_column(canvas, row, &at, (enum column)i, name, WATCH_REVERSE);
    }
    put_legend(canvas, row, layout->bar, order);
}

/* ---- Order ---- */

static int against(double left, double right)
{
    return (left < right) - (left > right); /* the greatest first */
}

static int by_order(const void *a, const void *b, void *context)
{
    const struct watch_rank *left = *(const struct watch_rank *const *)a;
    const struct watch_rank *right = *(const struct watch_rank *const *)b;
    const struct watch_view *view = context;
    int order = 0;

    if (view->order == WATCH_BY_MEMORY)
        order = (left->memory < right->memory) - (left->memory > right->memory);
    else if (view->order == WATCH_BY_COMPUTING)
        order = against(left->shares[WATCH_COMPUTES], right->shares[WATCH_COMPUTES]);
    else if (view->order == WATCH_BY_WAITING)
        order = against(left->shares[WATCH_WAITS], right->shares[WATCH_WAITS]);
    return order ? order : (left->pid > right->pid) - (left->pid < right->pid);
}

void watch_table_draw(struct watch_canvas *canvas, unsigned row, unsigned page,
                      const struct watch_facts *facts, const struct watch_view *view)
{
    struct layout layout = lay_out(canvas->columns);
    const struct watch_rank **order = calloc(facts->rank_count + 1, sizeof *order);

    put_names(canvas, row, &layout, view->order);
    for (size_t i = 0; order && i < facts->rank_count; i++)
        order[i] = &facts->ranks[i];
    if (order)
        qsort_r(order, facts->rank_count, sizeof *order, by_order, (void *)view);
    for (size_t i = 0; order && i < page && view->top + i < facts->rank_count; i++)
        put_rank(canvas, row + 1 + (unsigned)i, &layout, order[view->top + i]);
    free(order);
}
