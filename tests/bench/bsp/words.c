/* words.c - h puts of 8 bytes, to consecutive and to scattered places. */
#include "tests/bench/bsp/world.h"
#include "tests/bench/common/pattern.h"

#include <string.h>

struct context {
    struct pattern pattern;
    int64_t *source;
    int64_t *array; /* where the words arrive; registered */
};

static void put_words(void *context, long supersteps)
{
    struct context *c = context;
    const struct pattern *pattern = &c->pattern;
    for (long s = 0; s < supersteps; s++) {
        for (int k = 0; k < pattern_runs(pattern); k++) {
            int target = pattern_target(pattern, k);
            long end = pattern_begin(pattern, k + 1);
            for (long i = pattern_begin(pattern, k); i < end; i++)
                bsp_put(target, &c->source[i], c->array, pattern->place[i] * 8, 8);
        }
        bsp_sync();
    }
}

static void measure_line(const struct bench_world *world, const struct bench_options *options,
                         const char *line, bool scattered, struct context *c)
{
    if (!bench_wants(options, line, "bsp_put"))
        return;
    for (int i = 0; i < options->nsizes; i++) {
        c->pattern.words = options->sizes[i];
        pattern_place(&c->pattern, scattered);
        memset(c->array, 0, (size_t)c->pattern.words * 8);
        world->from_zero(0);
        bench_measure(world, options, line, "bsp_put", c->pattern.words, put_words, c);
        bench_expect(pattern_arrived(&c->pattern, c->array), line, "bsp_put", c->pattern.words);
        world->from_zero(0);
    }
}

int main(int argc, char **argv)
{
    struct bench_options options = bench_parse(argc, argv);
    struct bench_world world = bsp_world();
    size_t most = (size_t)bench_largest(&options, 1);
    struct context context = {
        .pattern = {.pid = world.pid, .nprocs = world.nprocs, .place = bench_alloc(most * 8)},
        .source = bench_alloc(most * 8),
        .array = bench_alloc(most * 8),
    };
    bsp_push_reg(context.array, most * 8);
    bsp_sync();
    pattern_fill_block(context.source, (long)most, world.pid);
    measure_line(&world, &options, "words.consecutive", false, &context);
    measure_line(&world, &options, "words.scattered", true, &context);
    bsp_end();
    return 0;
}
