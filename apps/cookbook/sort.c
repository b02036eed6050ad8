/* sort - sample sort: each process sorts what it has, splitters are chosen from regular samples,
 * and each key goes to the process between whose splitters it lies. */
#include <bsp.h>
#include <stdlib.h>

enum { N = 10000 };

struct part {
    unsigned count, first, last, sum;
};

static int ascending(const void *a, const void *b)
{
    unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;

    return (x > y) - (x < y);
}

/* Whether all keys are there, and those of each process follow those of the one before it. */
static int in_order(const struct part *parts, int p)
{
    unsigned count = 0, sum = 0, last = 0;

    for (int i = 0; i < p; i++) {
        if (parts[i].count > 0 && parts[i].first < last)
            return 0;
        last = parts[i].count > 0 ? parts[i].last : last;
        count += parts[i].count;
        sum += parts[i].sum;
    }
    for (unsigned i = 0; i < N; i++)
        sum -= i * 2654435761u;
    return count == N && sum == 0;
}

int main(void)
{
    bsp_begin(0);
    int p = bsp_nprocs(), s = bsp_pid(), n = 0, packets, status;
    unsigned *keys = malloc(N * sizeof *keys), *samples = malloc(p * p * sizeof *samples);

    for (int i = s; i < N; i += p)
        keys[n++] = i * 2654435761u;
    qsort(keys, n, sizeof *keys, ascending);

    struct part parts[p];

    bsp_push_reg(parts, sizeof parts);
    bsp_push_reg(samples, p * p * sizeof *samples);
    bsp_sync();
    for (int i = 0; i < p; i++) /* p samples of each process, to all processes */
        for (int to = 0; to < p; to++)
            bsp_put(to, &keys[(long)n * i / p], samples, (s * p + i) * sizeof *keys, sizeof *keys);
    bsp_sync();
    qsort(samples, p * p, sizeof *samples, ascending);

    for (int to = 0, i = 0; to < p; to++) { /* every p-th sample is a splitter */
        int first = i;

        while (i < n && (to == p - 1 || keys[i] < samples[(to + 1) * p]))
            i++;
        if (i > first)
            bsp_send(to, NULL, &keys[first], (i - first) * sizeof *keys);
    }
    bsp_sync();

    n = 0;
    for (bsp_qsize(&packets, NULL); packets > 0; packets--) {
        bsp_get_tag(&status, NULL);
        bsp_move(&keys[n], status);
        n += status / (int)sizeof *keys;
    }
    qsort(keys, n, sizeof *keys, ascending);

    struct part mine = {(unsigned)n, n > 0 ? keys[0] : 0, n > 0 ? keys[n - 1] : 0, 0};
    for (int i = 0; i < n; i++)
        mine.sum += keys[i];
    bsp_put(0, &mine, parts, s * (int)sizeof mine, sizeof mine);
    bsp_sync();
    int right = s > 0 || in_order(parts, p);
    if (s == 0)
        printf("keys: %d\n%s\n", N, right ? "verified" : "FAILED");
    bsp_end();
    return !right;
}
