/* gets.c - h gets of 8 bytes in three orders, over MPI: MPI_Get of each word and a fence.
 *
 * Form get/allocated: from memory that MPI allocated; get/created: from ordinary memory. */
#include "tests/bench/common/gets.h"
#include "tests/bench/common/pattern.h"
#include "tests/bench/mpi/world.h"

#include <string.h>

struct context {
    struct get *gets;
    long count;
    int64_t *array; /* where they arrive */
    MPI_Win window;
};

static void get_words(void *context, long supersteps)
{
    struct context *c = context;
    for (long s = 0; s < supersteps; s++) {
        for (long i = 0; i < c->count; i++)
            MPI_Get(&c->array[c->gets[i].to], 1, MPI_INT64_T, c->gets[i].owner, i, 1, MPI_INT64_T,
                    c->window);
        MPI_Win_fence(0, c->window);
    }
}

struct form {
    const char *name;
    MPI_Win window;
    bool given_up; /* a smaller size took too long already */
};

static void measure_form(const struct bench_world *world, const struct bench_options *options,
                         const char *line, struct form *form, struct context *c)
{
    if (form->given_up || !bench_wants(options, line, form->name))
        return;
    c->window = form->window;
    memset(c->array, 0, (size_t)c->count * 8);
    world->from_zero(0);
    bool quick = bench_measure(world, options, line, form->name, c->count, get_words, c);
    form->given_up = !world->from_zero(quick);
    bench_expect(gets_arrived(c->gets, c->count, c->array), line, form->name, c->count);
    world->from_zero(0);
}

int main(int argc, char **argv)
{
    struct bench_world world = mpi_world(&argc, &argv);
    struct bench_options options = bench_parse(argc, argv);
    size_t most = (size_t)bench_largest(&options, 1);
    struct context context = {
        .gets = bench_alloc(most * sizeof(struct get)),
        .array = bench_alloc(most * 8),
    };
    int64_t *allocated, *created = bench_alloc(most * 8);
    struct form forms[] = {{"get/created", MPI_WIN_NULL, false},
                           {"get/allocated", MPI_WIN_NULL, false}};

    MPI_Win_allocate(mpi_whole_pages(most * 8), 8, MPI_INFO_NULL, MPI_COMM_WORLD, &allocated,
                     &forms[1].window);
    MPI_Win_create(created, (MPI_Aint)most * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &forms[0].window);
    pattern_fill_block(allocated, (long)most, world.pid);
    pattern_fill_block(created, (long)most, world.pid);
    for (int f = 0; f < 2; f++)
        MPI_Win_fence(0, forms[f].window);
    for (int i = 0; i < options.nsizes; i++) {
        context.count = options.sizes[i];
        for (int kind = 0; kind < GETS_KINDS; kind++) {
            gets_make(context.gets, context.count, kind, world.nprocs);
            for (int f = 0; f < 2; f++)
                measure_form(&world, &options, gets_lines[kind], &forms[f], &context);
        }
    }
    for (int f = 0; f < 2; f++)
        MPI_Win_free(&forms[f].window);
    MPI_Finalize();
    return 0;
}
