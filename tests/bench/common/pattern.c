/* pattern.c - the communication patterns of the benchmarks. */
#include "tests/bench/common/pattern.h"

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

void pattern_place(struct pattern *pattern, bool scattered)
{
    uint64_t state = 88172645463325252u;
    for (long i = 0; i < pattern->words; i++)
        pattern->place[i] = i;
    if (!scattered)
        return;
    for (int k = 0; k < pattern_runs(pattern); k++) {
        long begin = pattern_begin(pattern, k);
        for (long i = pattern_begin(pattern, k + 1) - 1; i > begin; i--) {
            long other = begin + (long)(next_random(&state) % (uint64_t)(i - begin + 1));
            int64_t place = pattern->place[i];
            pattern->place[i] = pattern->place[other];
            pattern->place[other] = place;
        }
    }
}

bool pattern_arrived(const struct pattern *pattern, const int64_t *array)
{
    for (int k = 0; k < pattern_runs(pattern); k++) {
        int source = pattern_source(pattern, k);
        for (long i = pattern_begin(pattern, k); i < pattern_begin(pattern, k + 1); i++) {
            if (array[pattern->place[i]] != pattern_value(source, i))
                return false;
        }
    }
    return true;
}

void pattern_fill_block(int64_t *block, long nwords, int pid)
{
    for (long i = 0; i < nwords; i++)
        block[i] = pattern_value(pid, i);
}

bool pattern_block_is(const int64_t *block, long nwords, int pid)
{
    for (long i = 0; i < nwords; i++) {
        if (block[i] != pattern_value(pid, i))
            return false;
    }
    return true;
}
