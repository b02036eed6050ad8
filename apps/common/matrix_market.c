/* matrix_market.c - reads Matrix Market files; see matrix_market.h. */
#include "apps/common/matrix_market.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <bsp.h>

#include "apps/common/layout.h"
#include "apps/common/report.h"

enum { ENTRIES_PER_PIECE = 16384, ENTRIES_PER_MESSAGE = 1 << 20 };
enum symmetry { GENERAL, SYMMETRIC, SKEW };

/* Process 0's view of the file. */
struct reader {
    const char *path;
    FILE *file;
    char *line;
    size_t line_size;
    int64_t line_number;
    bool failed; /* a message has been printed */
    bool coordinate, pattern;
    enum symmetry symmetry;
    int64_t rows, cols, listed; /* listed: entries the file says it has */
    int64_t done;               /* entries read so far */
    int64_t row, col;           /* array files: place of the next entry */
};

__attribute__((format(printf, 2, 3))) static bool malformed(struct reader *reader,
                                                            const char *format, ...)
{
    char text[160];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    complain("%s:%lld: %s", reader->path, (long long)reader->line_number, text);
    reader->failed = true;
    return false;
}

/* The next line of any kind. */
static bool next_line(struct reader *reader)
{
    errno = 0;
    if (getline(&reader->line, &reader->line_size, reader->file) < 0) {
        reader->line_number++;
        if (errno)
            return malformed(reader, "%s", strerror(errno));
        return malformed(reader, "the file ends too early");
    }
    reader->line_number++;
    return true;
}

/* The next line that is neither blank nor a comment. */
static bool next_content(struct reader *reader)
{
    const char *c;

    do {
        if (!next_line(reader))
            return false;
        c = reader->line + strspn(reader->line, " \t\r\n");
    } while (*c == '\0' || *c == '%');
    return true;
}

static bool take_integer(char **text, int64_t *value)
{
    char *end;

    errno = 0;
    *value = strtoll(*text, &end, 10);
    /* What goes on without a blank, such as 2.5, is no whole number. */
    if (end == *text || errno || (*end && !strchr(" \t\r\n", *end)))
        return false;
    *text = end;
    return true;
}

static bool at_end(const char *text)
{
    return text[strspn(text, " \t\r\n")] == '\0';
}

/* Position of word in a list of words that ends with NULL; -1 when it is missing. */
static int one_of(const char *word, const char *const *list)
{
    for (int i = 0; list[i]; i++)
        if (strcasecmp(word, list[i]) == 0)
            return i;
    return -1;
}

static bool read_banner(struct reader *reader)
{
    static const char *const formats[] = {"array", "coordinate", NULL};
    static const char *const fields[] = {"real", "double", "integer", "pattern", NULL};
    static const char *const symmetries[] = {"general", "symmetric", "skew-symmetric", NULL};
    char mark[20], object[20], format[20], field[20], symmetry[20];
    int f, s;

    if (!next_line(reader))
        return false;
    if (sscanf(reader->line, "%19s %19s %19s %19s %19s", mark, object, format, field, symmetry) !=
            5 ||
        strcasecmp(mark, "%%MatrixMarket") != 0)
        return malformed(reader, "not a Matrix Market file: its first line must be "
                                 "\"%%%%MatrixMarket matrix FORMAT FIELD SYMMETRY\"");
    if (strcasecmp(object, "matrix") != 0)
        return malformed(reader, "holds a %s, not a matrix", object);
    if ((f = one_of(format, formats)) < 0)
        return malformed(reader, "format %s is not known", format);
    reader->coordinate = f == 1;
    if ((f = one_of(field, fields)) < 0)
        return malformed(reader, "entries of type %s are not supported", field);
    reader->pattern = f == 3;
    if (reader->pattern && !reader->coordinate)
        return malformed(reader, "an array file cannot be a pattern");
    if ((s = one_of(symmetry, symmetries)) < 0)
        return malformed(reader, "symmetry %s is not supported", symmetry);
    reader->symmetry = (enum symmetry)s;
    return true;
}

static bool read_sizes(struct reader *reader)
{
    char *text;
    bool ok;

    if (!next_content(reader))
        return false;
    text = reader->line;
    ok = take_integer(&text, &reader->rows) && take_integer(&text, &reader->cols) &&
         (!reader->coordinate || take_integer(&text, &reader->listed)) && at_end(text);
    if (!ok || reader->rows < 0 || reader->cols < 0 || reader->listed < 0)
        return malformed(reader, reader->coordinate ? "expected \"ROWS COLUMNS ENTRIES\""
                                                    : "expected \"ROWS COLUMNS\"");
    if (reader->symmetry != GENERAL && reader->rows != reader->cols)
        return malformed(reader, "a symmetric matrix cannot be %lld by %lld",
                         (long long)reader->rows, (long long)reader->cols);
    if (reader->rows > INT32_MAX || reader->cols > INT32_MAX)
        return malformed(reader, "larger than 2147483647 rows or columns");
    if (!reader->coordinate) {
        int64_t n = reader->rows;

        reader->listed = reader->symmetry == GENERAL     ? n * reader->cols
                         : reader->symmetry == SYMMETRIC ? n * (n + 1) / 2
                                                         : n * (n - 1) / 2;
        reader->row = reader->symmetry == SKEW;
    }
    return true;
}

static bool take_value(struct reader *reader, char **text, double *value)
{
    char *end;

    *value = strtod(*text, &end);
    if (end == *text || !isfinite(*value))
        return malformed(reader, "expected a finite number");
    *text = end;
    return true;
}

static bool check_place(struct reader *reader, int64_t row, int64_t col)
{
    if (row < 1 || row > reader->rows)
        return malformed(reader, "row %lld is outside 1..%lld", (long long)row,
                         (long long)reader->rows);
    if (col < 1 || col > reader->cols)
        return malformed(reader, "column %lld is outside 1..%lld", (long long)col,
                         (long long)reader->cols);
    if (reader->symmetry != GENERAL && col > row)
        return malformed(reader, "entry above the diagonal of a symmetric matrix");
    if (reader->symmetry == SKEW && col == row)
        return malformed(reader, "entry on the diagonal of a skew-symmetric matrix");
    return true;
}

/* Array files list the columns one after the other; only the lower triangle when symmetric. */
static void step_through_array(struct reader *reader)
{
    if (++reader->row < reader->rows)
        return;
    reader->col++;
    reader->row = reader->symmetry == GENERAL ? 0 : reader->col + (reader->symmetry == SKEW);
}

static bool read_entry(struct reader *reader, struct entry *entry)
{
    char *text;
    int64_t row, col;

    entry->value = 1;
    if (!next_content(reader))
        return false;
    text = reader->line;
    if (reader->coordinate) {
        if (!take_integer(&text, &row) || !take_integer(&text, &col))
            return malformed(reader, "expected a row and a column number");
        if (!check_place(reader, row, col))
            return false;
        entry->row = row - 1;
        entry->col = col - 1;
    } else {
        entry->row = reader->row;
        entry->col = reader->col;
        step_through_array(reader);
    }
    if (!reader->pattern && !take_value(reader, &text, &entry->value))
        return false;
    if (!at_end(text))
        return malformed(reader, "unexpected text after the entry");
    reader->done++;
    return true;
}

static bool check_nothing_left(struct reader *reader)
{
    while (getline(&reader->line, &reader->line_size, reader->file) >= 0) {
        reader->line_number++;
        if (!at_end(reader->line) && reader->line[strspn(reader->line, " \t")] != '%')
            return malformed(reader, "more entries than the %lld announced",
                             (long long)reader->listed);
    }
    return true;
}

static bool open_file(struct reader *reader)
{
    reader->file = strcmp(reader->path, "-") == 0 ? stdin : fopen(reader->path, "r");
    if (!reader->file) {
        complain("%s: %s", reader->path, strerror(errno));
        reader->failed = true;
        return false;
    }
    return read_banner(reader) && read_sizes(reader);
}

static void close_file(struct reader *reader)
{
    if (reader->file && reader->file != stdin)
        fclose(reader->file);
    free(reader->line);
}

int entries_by_rows(const struct entries *shape, int64_t row, int64_t col)
{
    (void)col;
    return block_owner(shape->rows, bsp_nprocs(), row);
}

void entries_add(struct entries *entries, struct entry entry)
{
    if (entries->count == entries->capacity) {
        entries->capacity = entries->capacity ? 2 * entries->capacity : 256;
        entries->item = realloc(entries->item, (size_t)entries->capacity * sizeof *entries->item);
        if (!entries->item)
            bsp_abort("no memory for %lld matrix entries\n", (long long)entries->capacity);
    }
    entries->item[entries->count++] = entry;
}

/* Entries on their way, sorted by destination. */
struct parcels {
    struct entries *to; /* one per process */
};

static void parcels_send(struct parcels *parcels)
{
    for (int s = 0; s < bsp_nprocs(); s++) {
        struct entries *parcel = &parcels->to[s];

        for (int64_t i = 0; i < parcel->count; i += ENTRIES_PER_MESSAGE) {
            int64_t left = parcel->count - i;
            int64_t now = left < ENTRIES_PER_MESSAGE ? left : ENTRIES_PER_MESSAGE;

            bsp_send(s, NULL, parcel->item + i, now * (int64_t)sizeof *parcel->item);
        }
        parcel->count = 0;
    }
}

static void parcels_receive(struct entries *entries)
{
    size_t packets, bytes;

    bsp_qsize(&packets, &bytes);
    for (; packets > 0; packets--) {
        void *tag, *payload;
        int64_t count = bsp_hpmove(&tag, &payload) / (int64_t)sizeof(struct entry);
        struct entry *item = payload;

        for (int64_t i = 0; i < count; i++)
            entries_add(entries, item[i]);
    }
}

static void parcels_free(struct parcels *parcels)
{
    for (int s = 0; s < bsp_nprocs(); s++)
        entries_free(&parcels->to[s]);
    free(parcels->to);
}

/* Reads and sends up to one piece. */
static void deal_piece(struct reader *reader, const struct entries *shape, entry_owner owner,
                       struct parcels *parcels)
{
    int64_t end = reader->done + ENTRIES_PER_PIECE;
    struct entry e;

    while (reader->done < reader->listed && reader->done < end && read_entry(reader, &e)) {
        entries_add(&parcels->to[owner(shape, e.row, e.col)], e);
        if (reader->symmetry != GENERAL && e.row != e.col) {
            e = (struct entry){e.col, e.row, reader->symmetry == SKEW ? -e.value : e.value};
            entries_add(&parcels->to[owner(shape, e.row, e.col)], e);
        }
    }
    if (!reader->failed && reader->done == reader->listed)
        check_nothing_left(reader);
    parcels_send(parcels);
}

/* What process 0 tells the others along with each piece. */
struct bulletin {
    int64_t rows, cols;
    enum { MORE, DONE, FAILED } state;
};

static void announce(struct reader *reader, struct bulletin *bulletin)
{
    struct bulletin news = {reader->rows, reader->cols, MORE};

    if (reader->failed)
        news.state = FAILED;
    else if (reader->done == reader->listed)
        news.state = DONE;
    for (int s = 0; s < bsp_nprocs(); s++)
        bsp_put(s, &news, bulletin, 0, sizeof news);
}

bool entries_read(const char *path, entry_owner owner, struct entries *entries)
{
    struct reader reader = {.path = path};
    struct bulletin bulletin = {.state = MORE};
    struct parcels parcels = {allocate(bsp_nprocs(), sizeof(struct entries))};

    *entries = (struct entries){0};
    bsp_push_reg(&bulletin, sizeof bulletin);
    bsp_sync();
    if (bsp_pid() == 0 && open_file(&reader)) {
        entries->rows = reader.rows;
        entries->cols = reader.cols;
    }
    while (bulletin.state == MORE) {
        if (bsp_pid() == 0) {
            if (!reader.failed)
                deal_piece(&reader, entries, owner, &parcels);
            announce(&reader, &bulletin);
        }
        bsp_sync();
        parcels_receive(entries);
    }
    entries->rows = bulletin.rows;
    entries->cols = bulletin.cols;
    bsp_pop_reg(&bulletin);
    bsp_sync();
    close_file(&reader);
    parcels_free(&parcels);
    if (bulletin.state == FAILED)
        entries_free(entries);
    return bulletin.state == DONE;
}

void entries_redistribute(struct entries *entries, entry_owner owner)
{
    struct parcels parcels = {allocate(bsp_nprocs(), sizeof(struct entries))};

    for (int64_t i = 0; i < entries->count; i++) {
        struct entry *e = &entries->item[i];

        entries_add(&parcels.to[owner(entries, e->row, e->col)], *e);
    }
    entries->count = 0;
    parcels_send(&parcels);
    parcels_free(&parcels);
    bsp_sync();
    parcels_receive(entries);
}

static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;

    if (a->row != b->row)
        return a->row < b->row ? -1 : 1;
    if (a->col != b->col)
        return a->col < b->col ? -1 : 1;
    return (a->value > b->value) - (a->value < b->value);
}

void entries_assemble(struct entries *entries)
{
    int64_t kept = 0;

    if (entries->count == 0)
        return;
    qsort(entries->item, (size_t)entries->count, sizeof *entries->item, compare_entries);
    for (int64_t i = 1; i < entries->count; i++) {
        struct entry *last = &entries->item[kept], *e = &entries->item[i];

        if (e->row == last->row && e->col == last->col)
            last->value += e->value;
        else
            entries->item[++kept] = *e;
    }
    entries->count = kept + 1;
}

void entries_free(struct entries *entries)
{
    free(entries->item);
    entries->item = NULL;
    entries->count = entries->capacity = 0;
}
