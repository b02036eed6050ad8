/* message.c - h messages of 16 bytes per superstep, read by bsp_move or in place by bsp_hpmove.
 * Each superstep sends h messages and reads the h of the one before. */
#include "tests/bench/bsp/world.h"
#include "tests/bench/common/pattern.h"

#include <string.h>

struct message {
    int64_t words[2];
};

struct context {
    struct pattern pattern;
    struct message *source;
    struct message *received;
    long nreceived; /* in the last superstep */
};

static void send_all(const struct context *c)
{
    const struct pattern *pattern = &c->pattern;
    for (int k = 0; k < pattern_runs(pattern); k++) {
        int target = pattern_target(pattern, k);
        long end = pattern_begin(pattern, k + 1);
        for (long i = pattern_begin(pattern, k); i < end; i++)
            bsp_send(target, NULL, &c->source[i], sizeof(struct message));
    }
}

static void with_move(void *context, long supersteps)
{
    struct context *c = context;
    for (long s = 0; s < supersteps; s++) {
        int packets, nbytes;
        send_all(c);
        bsp_sync();
        bsp_qsize(&packets, &nbytes);
        for (int i = 0; i < packets; i++)
            bsp_move(&c->received[i], sizeof(struct message));
        c->nreceived = packets;
    }
}

static void with_hpmove(void *context, long supersteps)
{
    struct context *c = context;
    for (long s = 0; s < supersteps; s++) {
        void *tag;
        struct message *message;
        long n = 0;
        send_all(c);
        bsp_sync();
        while (bsp_hpmove(&tag, &message) >= 0)
            c->received[n++] = *message;
        c->nreceived = n;
    }
}

/* The values must add up to what was sent to this process. */
static bool all_arrived(const struct context *c)
{
    const struct pattern *pattern = &c->pattern;
    int64_t difference = 0;
    for (int k = 0; k < pattern_runs(pattern); k++) {
        int source = pattern_source(pattern, k);
        for (long i = pattern_begin(pattern, k); i < pattern_begin(pattern, k + 1); i++)
            difference += pattern_value(source, i);
    }
    for (long i = 0; i < c->nreceived; i++)
        difference -= c->received[i].words[1];
    return difference == 0;
}

static void measure_form(const struct bench_world *world, const struct bench_options *options,
                         const char *line, const char *form, struct context *c, bench_steps *steps)
{
    if (!bench_wants(options, line, form))
        return;
    memset(c->received, 0, (size_t)c->pattern.words * sizeof(struct message));
    world->from_zero(0);
    bench_measure(world, options, line, form, c->pattern.words, steps, c);
    bench_expect(all_arrived(c), line, form, c->pattern.words);
    world->from_zero(0);
}

int main(int argc, char **argv)
{
    struct bench_options options = bench_parse(argc, argv);
    struct bench_world world = bsp_world();
    size_t most = (size_t)bench_largest(&options, 1);
    struct context context = {.pattern = {.pid = world.pid, .nprocs = world.nprocs},
                              .source = bench_alloc(most * sizeof(struct message)),
                              .received = bench_alloc(most * sizeof(struct message))};
    for (size_t i = 0; i < most; i++) {
        int64_t value = pattern_value(world.pid, (long)i);
        context.source[i] = (struct message){{value, value}};
    }
    for (int i = 0; i < options.nsizes; i++) {
        context.pattern.words = options.sizes[i];
        measure_form(&world, &options, "message.move", "bsp_move", &context, with_move);
        measure_form(&world, &options, "message.hpmove", "bsp_hpmove", &context, with_hpmove);
    }
    bsp_end();
    return 0;
}
