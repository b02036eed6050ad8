/* samplesort - sorts the lines of a text file, or 64-bit keys, by regular sampling.
 *
 * Each process sorts its share and picks p samples at regular distances; process 0 sorts the
 * samples and picks p-1 pivots at regular distances; everything moves to the process between whose
 * pivots it lies, where the sorted pieces are merged.  Shi and Schaeffer, "Parallel sorting by
 * regular sampling", Journal of Parallel and Distributed Computing 14, 1992.  Equal lines are told
 * apart by where they came from, so no input can send everything to one process.
 *
 * Process 0 reads and writes the files (they may be pipes) in pieces, so that nobody holds more
 * than twice its share.
 *
 * Cost: (n/p) log n comparisons + (p^2 samples + the bytes of 2 n/p lines) * g + 4 l, and n bytes
 * * g each for reading and for writing.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bsp.h>
#include <bsp_level1.h>

#include "apps/common/layout.h"
#include "apps/common/lines.h"
#include "apps/common/options.h"
#include "apps/common/random.h"
#include "apps/common/report.h"
#include "apps/common/text_files.h"

static struct {
    const char *input, *output;
    int64_t generate, seed, iterations;
    bool binary, reverse;
} options = {.generate = 100000, .seed = 1, .iterations = 1};

static int status;

/* In front of the bytes of a sample or pivot on its way. */
struct origin {
    int64_t pid, index;
};

struct sample {
    struct line line;
    struct origin origin;
};

/* The order of the file. */
static int compare_lines(const void *left, const void *right)
{
    int order = line_compare(left, right);

    return options.reverse ? -order : order;
}

/* The order of the file; where lines are equal, that of where they come from. */
static int compare_samples(const void *left, const void *right)
{
    const struct sample *a = left, *b = right;
    int order = compare_lines(&a->line, &b->line);

    if (order == 0)
        order = (a->origin.pid > b->origin.pid) - (a->origin.pid < b->origin.pid);
    if (order == 0)
        order = (a->origin.index > b->origin.index) - (a->origin.index < b->origin.index);
    return order;
}

static struct lines lines_of(const struct text *text)
{
    return lines_find(text, options.binary ? KEY : 0);
}

static void generate_share(struct text *share)
{
    int64_t n = options.generate, first = block_first(n, bsp_nprocs(), bsp_pid());

    for (int64_t i = first; i < first + block_size(n, bsp_nprocs(), bsp_pid()); i++) {
        uint64_t bits = random_bits((uint64_t)options.seed, 1, (uint64_t)i);
        char line[20];

        if (options.binary)
            text_add(share, &bits, KEY);
        else
            text_add(share, line,
                     snprintf(line, sizeof line, "%016llx\n", (unsigned long long)bits));
    }
}

/* ---- Sorting ------------------------------------------------------------------------------- */

static void send_sample(int to, const struct sample *sample)
{
    struct text message = {NULL, 0, 0};

    text_add(&message, &sample->origin, sizeof sample->origin);
    text_add(&message, sample->line.at, sample->line.size);
    bsp_send(to, NULL, message.byte, message.size);
    free(message.byte);
}

/* All samples or pivots in the queue, in order; *memory holds their bytes. */
static struct sample *take_samples(int64_t *count, unsigned char ***memory)
{
    struct sample *samples;

    *count = (int64_t)messages_waiting();
    samples = allocate(*count, sizeof *samples);
    *memory = allocate(*count, sizeof **memory);
    for (int64_t i = 0; i < *count; i++) {
        int64_t size, head = sizeof samples[i].origin;
        unsigned char *bytes = message_take(&size);

        memcpy(&samples[i].origin, bytes, (size_t)head);
        samples[i].line = line_make(bytes + head, size - head);
        (*memory)[i] = bytes;
    }
    qsort(samples, (size_t)*count, sizeof *samples, compare_samples);
    return samples;
}

static void free_samples(struct sample *samples, int64_t count, unsigned char **memory)
{
    for (int64_t i = 0; i < count; i++)
        free(memory[i]);
    free(memory);
    free(samples);
}

/* Two supersteps: afterwards every process has the pivots in its queue. */
static void choose_pivots(const struct lines *lines)
{
    int p = bsp_nprocs();
    int64_t count;
    unsigned char **memory;
    struct sample *samples;

    for (int i = 0; i < p && i < lines->count; i++) {
        int64_t index = lines->count < p ? i : block_first(lines->count, p, i);
        struct sample sample = {lines->item[index], {bsp_pid(), index}};

        send_sample(0, &sample);
    }
    bsp_sync();
    samples = take_samples(&count, &memory);
    for (int j = 1; j < p && count > 0; j++)
        for (int s = 0; s < p; s++)
            send_sample(s, &samples[(2 * j + 1) * count / (2 * p)]);
    free_samples(samples, count, memory);
    bsp_sync();
}

/* The number of own lines that come before the pivot. */
static int64_t count_before(const struct lines *lines, const struct sample *pivot)
{
    int64_t low = 0, high = lines->count;

    while (low < high) {
        int64_t middle = low + (high - low) / 2;
        struct sample own = {lines->item[middle], {bsp_pid(), middle}};

        if (compare_samples(&own, pivot) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void append_line(struct text *text, const struct line *line)
{
    text_add(text, line->at, line->size);
    if (!options.binary)
        text_add(text, "\n", 1);
}

/* Sends lines begin .. end-1 as sorted pieces. */
static void send_lines(int to, const struct lines *lines, int64_t begin, int64_t end)
{
    struct text piece = {NULL, 0, 0};

    for (int64_t i = begin; i < end; i++) {
        append_line(&piece, &lines->item[i]);
        if (piece.size >= TEXT_PIECE || i == end - 1) {
            bsp_send(to, NULL, piece.byte, piece.size);
            piece.size = 0;
        }
    }
    free(piece.byte);
}

/* One superstep: everything goes where it belongs; the pivots are in the queue.  sorted receives
 * the arriving pieces one behind the other, run their ends. */
static int64_t exchange(const struct lines *lines, struct text *sorted, int64_t **run)
{
    int64_t pivots, begin = 0, runs;
    unsigned char **memory;
    struct sample *pivot = take_samples(&pivots, &memory);

    for (int s = 0; s < bsp_nprocs(); s++) {
        int64_t end = s < pivots ? count_before(lines, &pivot[s]) : lines->count;

        send_lines(s, lines, begin, end);
        begin = end;
    }
    free_samples(pivot, pivots, memory);
    bsp_sync();
    runs = (int64_t)messages_waiting();
    *run = allocate(runs, sizeof **run);
    for (int64_t r = 0; r < runs; r++) {
        int64_t size;
        unsigned char *bytes = message_take(&size);

        text_add(sorted, bytes, size);
        (*run)[r] = sorted->size;
        free(bytes);
    }
    return runs;
}

static void merge(const struct line *a, int64_t a_count, const struct line *b, int64_t b_count,
                  struct line *out)
{
    while (a_count > 0 || b_count > 0)
        if (b_count == 0 || (a_count > 0 && compare_lines(a, b) <= 0)) {
            *out++ = *a++;
            a_count--;
        } else {
            *out++ = *b++;
            b_count--;
        }
}

/* Merges neighbouring runs until one is left; end[r] is the index behind run r. */
static void merge_runs(struct lines *lines, int64_t *end, int64_t runs)
{
    struct line *other = allocate(lines->count, sizeof *other), *swap;

    while (runs > 1) {
        int64_t begin = 0, kept = 0;

        for (int64_t r = 0; r < runs; r += 2) {
            int64_t middle = end[r], last = r + 1 < runs ? end[r + 1] : middle;

            merge(lines->item + begin, middle - begin, lines->item + middle, last - middle,
                  other + begin);
            begin = end[kept++] = last;
        }
        runs = kept;
        swap = lines->item;
        lines->item = other;
        other = swap;
    }
    free(other);
}

/* Sorts the lines of all processes: afterwards sorted holds this process's, in order, of which
 * none comes before those of a lower process.  Collective. */
static struct lines sort(const struct text *share, struct text *sorted)
{
    struct lines lines = lines_of(share);
    int64_t *run, runs, r = 0;

    if (lines.count > 0)
        qsort(lines.item, (size_t)lines.count, sizeof *lines.item, compare_lines);
    choose_pivots(&lines);
    runs = exchange(&lines, sorted, &run);
    free(lines.item);
    lines = lines_of(sorted);
    for (int64_t i = 0; i < lines.count; i++)
        if (lines.item[i].at + lines.item[i].size + !options.binary == sorted->byte + run[r])
            run[r++] = i + 1;
    merge_runs(&lines, run, runs);
    free(run);
    return lines;
}

/* ---- Checking and writing ------------------------------------------------------------------ */

struct tally {
    int64_t lines, bytes, most; /* most: of the lines of one process */
    uint64_t content;           /* does not depend on the order */
    uint64_t order;             /* depends on it */
};

static void merge_tallies(struct tally *result, struct tally *a, struct tally *b, int *nbytes)
{
    (void)nbytes;
    result->lines = a->lines + b->lines;
    result->bytes = a->bytes + b->bytes;
    result->most = larger(a->most, b->most);
    result->content = a->content + b->content;
    result->order = a->order + b->order;
}

static struct tally count_lines(const struct lines *lines)
{
    struct tally own = {lines->count, 0, lines->count, 0, 0};
    struct tally upto, all;

    bsp_scan(merge_tallies, &own, &upto, sizeof own);
    for (int64_t i = 0; i < lines->count; i++) {
        uint64_t hash = line_hash(&lines->item[i]);

        own.bytes += lines->item[i].size + !options.binary;
        own.content += hash;
        own.order += mix_bits((uint64_t)(upto.lines - own.lines + i), hash);
    }
    bsp_fold(merge_tallies, &own, &all, sizeof own);
    return all;
}

/* Whether a may stand before b; does not rely on what the sort compares by. */
static bool may_precede(const struct line *a, const struct line *b)
{
    int order = memcmp(a->at, b->at, (size_t)(a->size < b->size ? a->size : b->size));

    if (order == 0)
        return options.reverse ? a->size >= b->size : a->size <= b->size;
    return (order > 0) == options.reverse;
}

/* Whether the own lines are in order and none comes before those of a lower process. */
static bool in_order(const struct lines *lines)
{
    bool good = true;

    for (int64_t i = 1; i < lines->count; i++)
        good = good && may_precede(&lines->item[i - 1], &lines->item[i]);
    for (int s = bsp_pid() + 1; s < bsp_nprocs() && lines->count > 0; s++)
        bsp_send(s, NULL, lines->item[lines->count - 1].at, lines->item[lines->count - 1].size);
    bsp_sync();
    for (size_t left = messages_waiting(); left > 0; left--) {
        int64_t size;
        unsigned char *bytes = message_take(&size);
        struct line last = line_make(bytes, size);

        good = good && (lines->count == 0 || may_precede(&last, &lines->item[0]));
        free(bytes);
    }
    return bsp_all(good);
}

/* What is left to write; a source for text_write. */
static bool next_piece(void *context, struct text *piece)
{
    struct lines *left = context;

    for (; left->count > 0 && piece->size < TEXT_PIECE; left->item++, left->count--) {
        append_line(piece, left->item);
        if (options.binary)
            key_reverse(piece->byte + piece->size - KEY);
    }
    return left->count > 0;
}

static int report(const struct tally *tally, double seconds, bool good)
{
    report_begin("samplesort");
    report_integer(options.binary ? "keys" : "lines", tally->lines);
    report_integer("bytes", tally->bytes);
    report_hex("checksum", tally->order);
    report_time("seconds per sort", seconds);
    report_time("largest share of a process",
                tally->lines > 0 ? (double)tally->most / (double)tally->lines : 0);
    return report_end(good);
}

static void run(const struct text *share)
{
    struct lines lines = lines_of(share);
    struct tally before = count_lines(&lines), after;
    struct text sorted = {NULL, 0, 0};
    double start = bsp_time(), seconds;
    bool good, on_stdout = options.output && strcmp(options.output, "-") == 0;

    free(lines.item);
    for (int64_t round = 1; round <= options.iterations; round++) {
        sorted.size = 0;
        lines = sort(share, &sorted);
        if (round < options.iterations)
            free(lines.item);
    }
    seconds = (bsp_time() - start) / (double)options.iterations;
    after = count_lines(&lines);
    good = in_order(&lines) && before.lines == after.lines && before.bytes == after.bytes &&
           before.content == after.content;
    /* Lines on stdout leave no room for a summary there. */
    if (!good && on_stdout)
        complain("the result is wrong");
    if (options.output) {
        struct lines left = lines;

        good = text_write(options.output, next_piece, &left) && good;
    }
    if (on_stdout)
        status = good ? 0 : 1;
    else
        status = report(&after, seconds, good);
    free(lines.item);
    free(sorted.byte);
}

static void spmd(void)
{
    struct text share = {NULL, 0, 0};
    bool loaded = true;

    bsp_begin(bsp_nprocs());
    if (options.input)
        loaded = text_read(options.input, options.binary ? KEY : 0, &share);
    else
        generate_share(&share);
    for (int64_t i = 0; options.binary && i < share.size; i += KEY)
        key_reverse(share.byte + i);
    status = 1;
    if (loaded)
        run(&share);
    free(share.byte);
    bsp_end();
}

int main(int argc, char **argv)
{
    static const struct option_row rows[] = {
        {"generate", 'n', OPTION_INTEGER, &options.generate, 0, 1e12, "N",
         "without INPUT: sort N random lines"},
        {"seed", 's', OPTION_INTEGER, &options.seed, 0, 1e15, "S", "seed of the random lines"},
        {"binary", 'b', OPTION_FLAG, &options.binary, 0, 0, NULL,
         "little-endian 64-bit unsigned keys instead of lines"},
        {"reverse", 'r', OPTION_FLAG, &options.reverse, 0, 0, NULL, "the largest first"},
        {"iterations", 'i', OPTION_INTEGER, &options.iterations, 1, 1e12, "I", "sort I times"},
        {NULL},
    };
    static const struct program program = {
        "samplesort",
        "Sorts the lines of a file by the values of their bytes (- is stdin, stdout).",
        "[INPUT [OUTPUT]]", 2, rows};
    int operand;

    operand = options_parse(&program, argc, argv);
    options.input = argv[operand];
    options.output = options.input ? argv[operand + 1] : NULL;
    bsp_init(spmd, argc, argv);
    spmd();
    return status;
}
