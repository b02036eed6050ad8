/* samplesort - sorts numbers by regular sampling.  samplesort [COUNT] [time]
 *
 * Each process sorts its share and puts p samples; process 0 makes p - 1 pivots of all, which the
 * others read; each puts a piece for every other one, and gets the pieces for it.
 */
#include "apps/dataspace/space.h"

#define PIECE (16u << 20) /* numbers in an object, at most */

static int self, procs;

static int compare(const void *left, const void *right)
{
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    return (a > b) - (a < b);
}

/* Radix sort: four passes of 8 bits; `spare` has the same room. */
static void sort(uint32_t *numbers, uint32_t *spare, size_t count)
{
    for (int shift = 0; shift < 32; shift += 8) {
        size_t at[257] = {0};
        uint32_t *swap = numbers;

        for (size_t i = 0; i < count; i++)
            at[(numbers[i] >> shift & 255) + 1]++;
        for (int i = 0; i < 256; i++)
            at[i + 1] += at[i];
        for (size_t i = 0; i < count; i++)
            spare[at[numbers[i] >> shift & 255]++] = numbers[i];
        numbers = spare;
        spare = swap;
    }
}

/* Numbers of a process, and what must be the same of all before and after. */
struct share {
    uint32_t *numbers;
    size_t count;
    uint64_t sum, mixed;
};

static void add_up(struct share *share)
{
    share->sum = share->mixed = 0;
    for (size_t i = 0; i < share->count; i++) {
        share->sum += share->numbers[i];
        share->mixed += hash_of(share->numbers[i], 1);
    }
}

static void find_pivots(const struct share *own, uint32_t *pivots)
{
    uint32_t *samples = allocate((size_t)procs * (size_t)procs * sizeof *samples);

    for (int i = 0; i < procs; i++)
        samples[i] = own->count > 0 ? own->numbers[own->count * (size_t)i / (size_t)procs] : 0;
    space_put(samples, (size_t)procs * sizeof *samples, "samples %d", self);
    if (self == 0) {
        for (int pid = 0; pid < procs; pid++)
            space_get(samples + pid * procs, (size_t)procs * sizeof *samples, "samples %d", pid);
        qsort(samples, (size_t)(procs * procs), sizeof *samples, compare);
        for (int i = 1; i < procs; i++)
            pivots[i - 1] = samples[i * procs + procs / 2];
        space_put(pivots, (size_t)(procs - 1) * sizeof *pivots, "pivots");
    }
    space_read(pivots, (size_t)procs * sizeof *pivots, "pivots");
    free(samples);
}

/* Puts what lies between the pivots of each process. */
static void put_pieces(const struct share *own, const uint32_t *pivots)
{
    size_t from = 0, to = 0;

    for (int pid = 0; pid < procs; pid++, from = to) {
        size_t count;
        int number = 0;

        while (to < own->count && (pid == procs - 1 || own->numbers[to] < pivots[pid]))
            to++;
        count = to - from;
        space_put(&count, sizeof count, "count %d %d", self, pid);
        for (size_t at = from; at < to; at += PIECE)
            space_put(own->numbers + at, (to - at < PIECE ? to - at : PIECE) * sizeof(uint32_t),
                      "piece %d %d %d", self, pid, number++);
    }
}

static struct share get_pieces(void)
{
    struct share got = {NULL, 0, 0, 0};
    size_t *counts = allocate((size_t)procs * sizeof *counts), filled = 0;

    for (int pid = 0; pid < procs; pid++) {
        space_get(&counts[pid], sizeof counts[pid], "count %d %d", pid, self);
        got.count += counts[pid];
    }
    got.numbers = allocate(got.count * sizeof *got.numbers);
    for (int pid = 0; pid < procs; pid++)
        for (size_t at = 0, number = 0; at < counts[pid]; at += PIECE, number++)
            filled += space_get(got.numbers + filled, (got.count - filled) * sizeof(uint32_t),
                                "piece %d %d %d", pid, self, (int)number) /
                      sizeof(uint32_t);
    free(counts);
    return got;
}

/* What a process says of its numbers at the end. */
struct result {
    uint64_t count, sum[2], mixed[2];
    uint32_t first, last, sorted;
};

static void put_result(const struct share *before, const struct share *after)
{
    struct result result = {.count = after->count,
                            .sum = {before->sum, after->sum},
                            .mixed = {before->mixed, after->mixed},
                            .sorted = 1};

    for (size_t i = 1; i < after->count; i++)
        if (after->numbers[i - 1] > after->numbers[i])
            result.sorted = 0;
    if (after->count > 0) {
        result.first = after->numbers[0];
        result.last = after->numbers[after->count - 1];
    }
    space_put(&result, sizeof result, "result %d", self);
}

static bool all_is_right(uint64_t total)
{
    uint64_t count = 0, sum[2] = {0, 0}, mixed[2] = {0, 0};
    uint32_t last = 0;
    bool right = true;

    for (int pid = 0; pid < procs; pid++) {
        struct result result;

        space_get(&result, sizeof result, "result %d", pid);
        right = right && result.sorted && (result.count == 0 || result.first >= last);
        last = result.count > 0 ? result.last : last;
        count += result.count;
        for (int i = 0; i < 2; i++) {
            sum[i] += result.sum[i];
            mixed[i] += result.mixed[i];
        }
    }
    return right && count == total && sum[0] == sum[1] && mixed[0] == mixed[1];
}

int main(int argc, char **argv)
{
    bool timed = is_timed(&argc, argv), right = true;
    uint64_t total = (uint64_t)number_of(argc, argv, 1, 1000000, 1), first;
    struct share own = {0}, sorted;
    uint32_t *pivots, *spare;
    double start;

    volpex_init(argc, argv);
    self = volpex_getProcId();
    procs = volpex_getNumProc();
    first = total * (uint64_t)self / (uint64_t)procs;
    own.count = total * (uint64_t)(self + 1) / (uint64_t)procs - first;
    own.numbers = allocate(own.count * sizeof(uint32_t));
    spare = allocate(own.count * sizeof(uint32_t));
    pivots = allocate((size_t)procs * sizeof *pivots);
    for (size_t i = 0; i < own.count; i++)
        own.numbers[i] = (uint32_t)hash_of(first + i, 7);
    add_up(&own);
    start = seconds();
    sort(own.numbers, spare, own.count);
    free(spare);
    find_pivots(&own, pivots);
    put_pieces(&own, pivots);
    free(own.numbers);
    sorted = get_pieces();
    spare = allocate(sorted.count * sizeof(uint32_t));
    sort(sorted.numbers, spare, sorted.count);
    add_up(&sorted);
    put_result(&own, &sorted);
    if (self == 0)
        right = all_is_right(total);
    free(spare);
    free(sorted.numbers);
    free(pivots);
    volpex_finalize();
    printf("%llu numbers sorted\n", (unsigned long long)total);
    finish(timed, right, start);
    return 0;
}
