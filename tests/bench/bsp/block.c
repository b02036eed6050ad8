/* block.c - one block to or from the right neighbour per superstep: put, get, hpput, hpget. */
#include "tests/bench/bsp/world.h"
#include "tests/bench/common/pattern.h"

#include <string.h>

struct context {
    int pid, left, right;
    long nbytes;
    int64_t *local; /* what is put, or where a get arrives */
    int64_t *area;  /* registered: where a put arrives, or what is got */
};

static void put_block(void *context, long supersteps)
{
    struct context *c = context;
    for (long s = 0; s < supersteps; s++) {
        bsp_put(c->right, c->local, c->area, 0, c->nbytes);
        bsp_sync();
    }
}

static void hpput_block(void *context, long supersteps)
{
    struct context *c = context;
    for (long s = 0; s < supersteps; s++) {
        bsp_hpput(c->right, c->local, c->area, 0, c->nbytes);
        bsp_sync();
    }
}

static void get_block(void *context, long supersteps)
{
    struct context *c = context;
    for (long s = 0; s < supersteps; s++) {
        bsp_get(c->right, c->area, 0, c->local, c->nbytes);
        bsp_sync();
    }
}

static void hpget_block(void *context, long supersteps)
{
    struct context *c = context;
    for (long s = 0; s < supersteps; s++) {
        bsp_hpget(c->right, c->area, 0, c->local, c->nbytes);
        bsp_sync();
    }
}

static void measure_line(const struct bench_world *world, const struct bench_options *options,
                         const char *line, const char *form, struct context *c, bench_steps *steps,
                         bool get)
{
    if (!bench_wants(options, line, form))
        return;
    int64_t *arrival = get ? c->local : c->area;
    pattern_fill_block(get ? c->area : c->local, c->nbytes / 8, c->pid);
    memset(arrival, 0, (size_t)c->nbytes);
    world->from_zero(0);
    bench_measure(world, options, line, form, c->nbytes, steps, c);
    bench_expect(pattern_block_is(arrival, c->nbytes / 8, get ? c->right : c->left), line, form,
                 c->nbytes);
    world->from_zero(0);
}

int main(int argc, char **argv)
{
    struct bench_options options = bench_parse(argc, argv);
    struct bench_world world = bsp_world();
    size_t most = (size_t)bench_largest(&options, 8);
    struct context c = {
        .pid = world.pid,
        .left = (world.pid + world.nprocs - 1) % world.nprocs,
        .right = (world.pid + 1) % world.nprocs,
        .local = bench_alloc(most),
        .area = bench_alloc(most),
    };
    bsp_push_reg(c.area, most);
    bsp_sync();
    for (int i = 0; i < options.nsizes; i++) {
        c.nbytes = options.sizes[i];
        measure_line(&world, &options, "block.put", "bsp_put", &c, put_block, false);
        measure_line(&world, &options, "block.hpput", "bsp_hpput", &c, hpput_block, false);
        measure_line(&world, &options, "block.get", "bsp_get", &c, get_block, true);
        measure_line(&world, &options, "block.hpget", "bsp_hpget", &c, hpget_block, true);
    }
    bsp_end();
    return 0;
}
