/* sieve - counts the primes up to N with the sieve of Eratosthenes.
 *
 * Every process finds the primes up to sqrt(N) by itself.  The odd numbers are cut into segments
 * that fit into the cache and dealt out cyclically; in a round each process sieves as many of its
 * segments as --batch says, and a superstep adds up what was found.  Bays and Hudson, "The
 * segmented sieve of Eratosthenes and primes in arithmetic progressions to 10^12", BIT 17, 1977.
 * The count is checked by an independent method that needs no list of primes: Legendre's formula
 * in the form of Lagarias, Miller and Odlyzko, "Computing pi(x): the Meissel-Lehmer method", 1985.
 *
 * Cost: (N log log N)/p + sqrt(N) log log N operations + (rounds) * (3 p g + 2 l).
 * Memory: sqrt(N) + segment bytes; process 0 needs 16 sqrt(N) bytes for the check.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <bsp.h>
#include <bsp_level1.h>

#include "apps/common/options.h"
#include "apps/common/report.h"

static struct {
    int64_t limit, segment, batch;
} options = {.limit = 10000000, .segment = 1 << 16, .batch = 16};

static int status;

/* Odd number 2 i + 1 has index i. */
struct sieve {
    uint32_t *prime; /* the odd primes up to sqrt(limit) */
    int64_t primes;
    unsigned char *composite; /* one segment */
};

/* What a process, or all, found. */
struct tally {
    int64_t count;
    uint64_t sum; /* of the primes, modulo 2^64 */
    int64_t last;
};

static int64_t integer_root(int64_t n)
{
    int64_t root = (int64_t)sqrt((double)n);

    while (root * root > n)
        root--;
    while ((root + 1) * (root + 1) <= n)
        root++;
    return root;
}

static void find_base_primes(struct sieve *sieve)
{
    int64_t root = integer_root(options.limit), odds = (root + 1) / 2;
    unsigned char *composite = allocate(odds, 1);

    sieve->prime = allocate(odds, sizeof *sieve->prime);
    for (int64_t i = 1; i < odds; i++) {
        if (composite[i])
            continue;
        sieve->prime[sieve->primes++] = (uint32_t)(2 * i + 1);
        for (int64_t j = 2 * i * (i + 1); j < odds; j += 2 * i + 1)
            composite[j] = 1;
    }
    free(composite);
}

/* Sieves the odd numbers of index first .. end-1 and adds what remains to the tally. */
static void sieve_segment(struct sieve *sieve, int64_t first, int64_t end, struct tally *tally)
{
    memset(sieve->composite, 0, (size_t)(end - first));
    for (int64_t k = 0; k < sieve->primes; k++) {
        int64_t q = sieve->prime[k], square = q * q / 2, j;

        if (square >= end)
            break;
        /* The first odd multiple of q from first on, not below the square of q. */
        j = square >= first ? square : first + (q - 1 - (first + q / 2) % q);
        for (j -= first; j < end - first; j += q)
            sieve->composite[j] = 1;
    }
    for (int64_t i = first; i < end; i++)
        if (!sieve->composite[i - first] && i > 0) {
            tally->count++;
            tally->sum += (uint64_t)(2 * i + 1);
            tally->last = 2 * i + 1;
        }
}

static void merge_tallies(struct tally *result, struct tally *a, struct tally *b, int *nbytes)
{
    (void)nbytes;
    result->count = a->count + b->count;
    result->sum = a->sum + b->sum;
    result->last = a->last > b->last ? a->last : b->last;
}

/* The primes up to the limit: 2, and what the segments hold. */
static struct tally count_primes(struct sieve *sieve)
{
    int64_t odds = (options.limit + 1) / 2, p = bsp_nprocs();
    int64_t segments = (odds + options.segment - 1) / options.segment, next = bsp_pid();
    int64_t round = options.batch * p;
    struct tally total = {0};

    if (options.limit >= 2)
        total = (struct tally){1, 2, 2};
    for (int64_t done = 0; done < segments; done += round) {
        struct tally own = {0}, all;

        for (; next < segments && next < done + round; next += p) {
            int64_t first = next * options.segment, end = first + options.segment;

            sieve_segment(sieve, first, end < odds ? end : odds, &own);
        }
        bsp_fold(merge_tallies, &own, &all, sizeof all);
        merge_tallies(&own, &total, &all, NULL);
        total = own;
    }
    return total;
}

/* pi(n) without a sieve: small[v] and large[v] become the numbers of integers in 2..v and 2..n/v
 * that have no prime factor below q, for growing q; what is left in the end is prime. */
static int64_t count_without_sieve(int64_t n)
{
    int64_t root = integer_root(n), *small, *large, result;

    if (n < 2)
        return 0;
    small = allocate(root + 1, sizeof *small);
    large = allocate(root + 1, sizeof *large);
    for (int64_t v = 1; v <= root; v++) {
        small[v] = v - 1;
        large[v] = n / v - 1;
    }
    for (int64_t q = 2; q <= root; q++) {
        int64_t below = small[q - 1], square = q * q;

        if (small[q] == below)
            continue;
        for (int64_t v = 1; v <= root && v <= n / square; v++)
            large[v] -= (v * q <= root ? large[v * q] : small[n / (v * q)]) - below;
        for (int64_t v = root; v >= square; v--)
            small[v] -= small[v / q] - below;
    }
    result = large[1];
    free(small);
    free(large);
    return result;
}

static void spmd(void)
{
    struct sieve sieve = {0};
    struct tally total;
    double start, seconds;

    bsp_begin(bsp_nprocs());
    start = bsp_time();
    find_base_primes(&sieve);
    sieve.composite = allocate(options.segment, 1);
    total = count_primes(&sieve);
    seconds = bsp_time() - start;
    free(sieve.prime);
    free(sieve.composite);
    report_begin("sieve");
    report_integer("limit", options.limit);
    report_integer("primes", total.count);
    report_integer("largest", total.last);
    report_hex("sum of primes", total.sum);
    report_time("seconds", seconds);
    report_time("million numbers per second", 1e-6 * (double)options.limit / seconds);
    if (bsp_pid() == 0)
        status = report_end(total.count == count_without_sieve(options.limit));
    bsp_end();
}

int main(int argc, char **argv)
{
    static const struct option_row rows[] = {
        {"limit", 'n', OPTION_INTEGER, &options.limit, 0, 1e15, "N", "count the primes up to N"},
        {"segment", 0, OPTION_INTEGER, &options.segment, 1, 1 << 30, "S", "odd numbers at a time"},
        {"batch", 0, OPTION_INTEGER, &options.batch, 1, 1e9, "B", "segments per superstep"},
        {NULL},
    };
    static const struct program program = {
        "sieve", "Counts the primes up to N with a segmented sieve of Eratosthenes.", "", 0, rows};

    options_parse(&program, argc, argv);
    bsp_init(spmd, argc, argv);
    spmd();
    return status;
}
