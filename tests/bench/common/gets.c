/* gets.c - see gets.h. */
#include "tests/bench/common/gets.h"

#include "tests/bench/common/pattern.h"

const char *const gets_lines[GETS_KINDS] = {"gets.rows", "gets.interleaved", "gets.shuffled"};

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void shuffle(struct get *gets, long count)
{
    uint64_t state = 88172645463325252u;

    for (long i = count - 1; i > 0; i--) {
        long other = (long)(next_random(&state) % (uint64_t)(i + 1));
        int64_t to = gets[i].to;

        gets[i].to = gets[other].to;
        gets[other].to = to;
    }
}

void gets_make(struct get *gets, long count, enum gets_kind kind, int nprocs)
{
    for (long i = 0; i < count; i++) {
        int owner = (int)(i % nprocs);

        gets[i].owner = kind == GETS_ROWS ? (int)(i * nprocs / count) : owner;
        gets[i].to = i;
        if (kind == GETS_INTERLEAVED) /* behind those of the owners before it */
            gets[i].to = i / nprocs + (count / nprocs) * owner +
                         (owner < count % nprocs ? owner : count % nprocs);
    }
    if (kind == GETS_SHUFFLED)
        shuffle(gets, count);
}

bool gets_arrived(const struct get *gets, long count, const int64_t *array)
{
    for (long i = 0; i < count; i++)
        if (array[gets[i].to] != pattern_value(gets[i].owner, i))
            return false;
    return true;
}
