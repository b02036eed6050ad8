/* wordcount - counts words by map and reduce.  wordcount [PIECES [WORDS]] [time]
 *
 * The text is made of chance: PIECES of so many WORDS, of which some are frequent and most are
 * rare. Whoever is free maps the next piece: counts its words, and puts the counts in one object
 * for each reducer, which is a process.  Each reducer adds up what is for it, in the order of the
 * pieces.
 */
#include "apps/dataspace/space.h"

#define VOCABULARY 20000
#define SHOWN      5

struct count {
    uint64_t word; /* as wide as the other: what is put has no padding */
    uint64_t times;
};

/* The i-th word of a piece: small numbers are frequent. */
static uint32_t word_at(uint64_t piece, uint64_t i)
{
    double part = (double)(hash_of(piece, i) >> 11) * 0x1p-53;

    return (uint32_t)(part * part * part * VOCABULARY);
}

/* How a reader sees it; the length differs, so that it is a text. */
static int spell(uint32_t word, char *text)
{
    int length = 0;

    do {
        text[length++] = (char)('a' + word % 26);
        word /= 26;
    } while (word > 0);
    text[length] = '\0';
    return length;
}

static uint32_t unspell(const char *text, int length)
{
    uint32_t word = 0;

    while (length > 0)
        word = word * 26 + (uint32_t)(text[--length] - 'a');
    return word;
}

/* Writes the text of a piece and returns its length. */
static size_t write_text(uint64_t piece, uint64_t words, char *text)
{
    size_t size = 0;

    for (uint64_t i = 0; i < words; i++) {
        size += (size_t)spell(word_at(piece, i), text + size);
        text[size++] = ' ';
    }
    return size;
}

static void count_words(const char *text, size_t size, uint64_t *times)
{
    size_t begin = 0;

    for (size_t at = 0; at < size; at++)
        if (text[at] == ' ') {
            times[unspell(text + begin, (int)(at - begin))]++;
            begin = at + 1;
        }
}

static void map(uint64_t piece, uint64_t words, int reducers, char *text)
{
    static uint64_t times[VOCABULARY];
    struct count *counts = allocate(VOCABULARY * sizeof *counts);

    memset(times, 0, sizeof times);
    count_words(text, write_text(piece, words, text), times);
    for (int reducer = 0; reducer < reducers; reducer++) {
        size_t count = 0;

        for (uint32_t word = (uint32_t)reducer; word < VOCABULARY; word += (uint32_t)reducers)
            if (times[word] > 0)
                counts[count++] = (struct count){word, times[word]};
        space_put(counts, count * sizeof *counts, "piece %llu for %d", (unsigned long long)piece,
                  reducer);
    }
    free(counts);
}

static void reduce(int64_t pieces, int reducer, uint64_t *times)
{
    struct count *counts = allocate(VOCABULARY * sizeof *counts);

    for (int64_t piece = 0; piece < pieces; piece++) {
        size_t count = space_get(counts, VOCABULARY * sizeof *counts, "piece %lld for %d",
                                 (long long)piece, reducer) /
                       sizeof *counts;

        for (size_t i = 0; i < count; i++)
            times[counts[i].word] += counts[i].times;
    }
    free(counts);
}

/* The most frequent words; of those that are equally frequent the first ones. */
static void show(const uint64_t *times)
{
    bool shown[VOCABULARY] = {false};

    for (int i = 0; i < SHOWN; i++) {
        uint32_t most = VOCABULARY;
        char text[16];

        for (uint32_t word = 0; word < VOCABULARY; word++)
            if (times[word] > 0 && !shown[word] &&
                (most == VOCABULARY || times[word] > times[most]))
                most = word;
        if (most == VOCABULARY)
            break;
        spell(most, text);
        printf("%s %llu\n", text, (unsigned long long)times[most]);
        shown[most] = true;
    }
}

static bool is_right(int64_t pieces, uint64_t words, const uint64_t *got)
{
    static uint64_t wanted[VOCABULARY];

    for (int64_t piece = 0; piece < pieces; piece++)
        for (uint64_t i = 0; i < words; i++)
            wanted[word_at((uint64_t)piece, i)]++;
    return memcmp(wanted, got, sizeof wanted) == 0;
}

int main(int argc, char **argv)
{
    static uint64_t times[VOCABULARY], part[VOCABULARY];
    bool timed = is_timed(&argc, argv);
    int64_t pieces = number_of(argc, argv, 1, 40, 1), zero = 0, task;
    uint64_t words = (uint64_t)number_of(argc, argv, 2, 5000, 1);
    char *text = allocate(words * 8);
    int self, procs;
    double start;

    volpex_init(argc, argv);
    start = seconds();
    self = volpex_getProcId();
    procs = volpex_getNumProc();
    if (self == 0)
        space_put(&zero, sizeof zero, "next");
    while ((task = space_next_task("next", pieces)) < pieces)
        map((uint64_t)task, words, procs, text);
    reduce(pieces, self, times);
    if (self > 0)
        space_put(times, sizeof times, "sums of %d", self);
    for (int pid = 1; pid < procs && self == 0; pid++) {
        space_get(part, sizeof part, "sums of %d", pid);
        for (int word = 0; word < VOCABULARY; word++)
            times[word] += part[word];
    }
    free(text);
    volpex_finalize();
    show(times);
    finish(timed, timed || is_right(pieces, words, times), start);
    return 0;
}
