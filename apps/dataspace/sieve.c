/* sieve - counts primes, in blocks that processes take one after the other.  sieve [BELOW [BLOCK]]
 * [time]
 *
 * Small blocks make it a test of the dataspace: one get and two puts for each.
 */
#include "apps/dataspace/space.h"

struct found {
    uint64_t count, sum;
};

/* Crosses out in `composite`, which has room for the numbers from `first` to below `end`. */
static void sieve_block(uint64_t first, uint64_t end, const uint32_t *primes, size_t prime_count,
                        char *composite)
{
    memset(composite, 0, end - first);
    for (size_t i = 0; i < prime_count && (uint64_t)primes[i] * primes[i] < end; i++) {
        uint64_t prime = primes[i], at = (first + prime - 1) / prime * prime;

        for (at = at < prime * prime ? prime * prime : at; at < end; at += prime)
            composite[at - first] = 1;
    }
}

/* All primes whose squares are below `below`; returns how many. */
static size_t small_primes(uint64_t below, uint32_t **primes)
{
    uint64_t most = 2;
    size_t count = 0;
    char *composite;

    while (most * most < below)
        most++;
    composite = allocate(most + 1);
    memset(composite, 0, most + 1);
    *primes = allocate((most + 1) * sizeof **primes);
    for (uint64_t number = 2; number <= most; number++) {
        if (composite[number])
            continue;
        (*primes)[count++] = (uint32_t)number;
        for (uint64_t at = number * number; at <= most; at += number)
            composite[at] = 1;
    }
    free(composite);
    return count;
}

static struct found count_block(uint64_t first, uint64_t end, const char *composite)
{
    struct found found = {0, 0};

    for (uint64_t number = first < 2 ? 2 : first; number < end; number++)
        if (!composite[number - first]) {
            found.count++;
            found.sum += number;
        }
    return found;
}

/* By trial division, for the check. */
static bool is_right(uint64_t below, struct found got, const uint32_t *primes, size_t prime_count)
{
    struct found wanted = {0, 0};

    for (uint64_t number = 2; number < below; number++) {
        bool prime = true;

        for (size_t i = 0; i < prime_count && prime && (uint64_t)primes[i] * primes[i] <= number;
             i++)
            prime = number % primes[i] != 0;
        wanted.count += prime;
        wanted.sum += prime ? number : 0;
    }
    return wanted.count == got.count && wanted.sum == got.sum;
}

int main(int argc, char **argv)
{
    bool timed = is_timed(&argc, argv);
    uint64_t below = (uint64_t)number_of(argc, argv, 1, 1000000, 3);
    uint64_t block = (uint64_t)number_of(argc, argv, 2, 10000, 1);
    int64_t blocks = (int64_t)((below + block - 1) / block), zero = 0, task;
    struct found total = {0, 0}, found;
    char *composite = allocate(block);
    uint32_t *primes;
    size_t prime_count;
    double start;

    volpex_init(argc, argv);
    start = seconds();
    prime_count = small_primes(below, &primes);
    if (volpex_getProcId() == 0)
        space_put(&zero, sizeof zero, "next");
    while ((task = space_next_task("next", blocks)) < blocks) {
        uint64_t first = (uint64_t)task * block,
                 end = first + block < below ? first + block : below;

        sieve_block(first, end, primes, prime_count, composite);
        found = count_block(first, end, composite);
        space_put(&found, sizeof found, "block %lld", (long long)task);
    }
    for (task = 0; task < blocks && volpex_getProcId() == 0; task++) {
        space_get(&found, sizeof found, "block %lld", (long long)task);
        total.count += found.count;
        total.sum += found.sum;
    }
    volpex_finalize();
    printf("%llu primes below %llu, their sum is %llu\n", (unsigned long long)total.count,
           (unsigned long long)below, (unsigned long long)total.sum);
    finish(timed, timed || is_right(below, total, primes, prime_count), start);
    free(composite);
    free(primes);
    return 0;
}
