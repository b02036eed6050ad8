/* copy.c - how fast this machine copies memory, with the given number of processes at once, each
 * between arrays of its own.
 *
 * Line limit.copy: memcpy of blocks.  Lines limit.consecutive and limit.scattered: words copied
 * one by one to the places that the words benchmarks use.
 */
#include "tests/bench/common/pattern.h"
#include "tests/bench/limits/world.h"

#include <string.h>

struct context {
    const struct bench_world *world;
    struct pattern pattern;
    int64_t *source;
    int64_t *array;
};

/* Keeps the compiler from merging or dropping the copies of successive supersteps. */
static void pretend_to_use(const void *memory)
{
    __asm__ volatile("" : : "r"(memory) : "memory");
}

static void copy_block(void *context, long supersteps)
{
    struct context *c = context;
    for (long s = 0; s < supersteps; s++) {
        memcpy(c->array, c->source, (size_t)c->pattern.words * 8);
        pretend_to_use(c->array);
    }
    limits_barrier_yield(c->world);
}

static void copy_words(void *context, long supersteps)
{
    struct context *c = context;
    for (long s = 0; s < supersteps; s++) {
        for (long i = 0; i < c->pattern.words; i++)
            c->array[c->pattern.place[i]] = c->source[i];
        pretend_to_use(c->array);
    }
    limits_barrier_yield(c->world);
}

int main(int argc, char **argv)
{
    struct bench_options options = bench_parse(argc, argv);
    size_t most = (size_t)bench_largest(&options, 1);
    struct bench_world world = limits_begin(options.procs, false);
    struct context c = {.world = &world, .pattern = {.pid = world.pid, .nprocs = world.nprocs}};
    c.source = bench_alloc(most * 8);
    c.array = bench_alloc(most * 8);
    if (bench_wants(&options, "limit.scattered", "copy"))
        c.pattern.place = bench_alloc(most * 8);
    for (int i = 0; i < options.nsizes; i++) {
        c.pattern.words = options.sizes[i];
        bench_measure(&world, &options, "limit.copy", "copy", c.pattern.words * 8, copy_block, &c);
        if (c.pattern.place == NULL)
            continue;
        pattern_place(&c.pattern, false);
        bench_measure(&world, &options, "limit.consecutive", "copy", c.pattern.words, copy_words,
                      &c);
        pattern_place(&c.pattern, true);
        bench_measure(&world, &options, "limit.scattered", "copy", c.pattern.words, copy_words, &c);
    }
    limits_end(&world);
    return 0;
}
