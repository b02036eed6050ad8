/* gets.c - h gets of 8 bytes, in three orders. */
#include "tests/bench/common/gets.h"
#include "tests/bench/bsp/world.h"
#include "tests/bench/common/pattern.h"

#include <string.h>

struct context {
    struct get *gets;
    long count;
    int64_t *words; /* registered */
    int64_t *array; /* where they arrive */
};

static void get_words(void *context, long supersteps)
{
    struct context *c = context;
    for (long s = 0; s < supersteps; s++) {
        for (long i = 0; i < c->count; i++)
            bsp_get(c->gets[i].owner, c->words, i * 8, &c->array[c->gets[i].to], 8);
        bsp_sync();
    }
}

int main(int argc, char **argv)
{
    struct bench_options options = bench_parse(argc, argv);
    struct bench_world world = bsp_world();
    size_t most = (size_t)bench_largest(&options, 1);
    struct context context = {
        .gets = bench_alloc(most * sizeof(struct get)),
        .words = bench_alloc(most * 8),
        .array = bench_alloc(most * 8),
    };
    bsp_push_reg(context.words, most * 8);
    bsp_sync();
    pattern_fill_block(context.words, (long)most, world.pid);
    for (int kind = 0; kind < GETS_KINDS; kind++) {
        const char *line = gets_lines[kind];
        for (int i = 0; bench_wants(&options, line, "bsp_get") && i < options.nsizes; i++) {
            context.count = options.sizes[i];
            gets_make(context.gets, context.count, kind, world.nprocs);
            memset(context.array, 0, (size_t)context.count * 8);
            world.from_zero(0);
            bench_measure(&world, &options, line, "bsp_get", context.count, get_words, &context);
            bench_expect(gets_arrived(context.gets, context.count, context.array), line, "bsp_get",
                         context.count);
            world.from_zero(0);
        }
    }
    bsp_end();
    return 0;
}
