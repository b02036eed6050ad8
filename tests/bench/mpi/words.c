/* words.c - h words of 8 bytes to places known only at run time, over MPI.
 *
 * Form put/allocated: MPI_Put of each word and a fence, into memory that MPI allocated.
 * Form put/created:   the same into ordinary memory.
 * Form pairs/isend:   (place, value) pairs packed by hand, one message per pair of processes.
 * Form pairs/alltoallv: the same by MPI_Alltoall of the counts and MPI_Alltoallv.
 */
#include "tests/bench/common/pattern.h"
#include "tests/bench/mpi/world.h"

#include <stdlib.h>
#include <string.h>

struct pair {
    int64_t place;
    int64_t value;
};

struct context {
    struct pattern pattern;
    int64_t *source;
    int64_t *array; /* where the words arrive */
    MPI_Win window;
    struct pair *out;
    struct pair *in;
    MPI_Request *requests; /* 2 * runs */
    MPI_Datatype pair_type;
    int *counts; /* 4 * nprocs: send counts, receive counts and the two displacements */
};

static void put_each(void *context, long supersteps)
{
    struct context *c = context;
    const struct pattern *pattern = &c->pattern;
    for (long s = 0; s < supersteps; s++) {
        for (int k = 0; k < pattern_runs(pattern); k++) {
            int target = pattern_target(pattern, k);
            long end = pattern_begin(pattern, k + 1);
            for (long i = pattern_begin(pattern, k); i < end; i++) {
                MPI_Put(&c->source[i], 1, MPI_INT64_T, target, pattern->place[i], 1, MPI_INT64_T,
                        c->window);
            }
        }
        MPI_Win_fence(0, c->window);
    }
}

static void pack(struct context *c, long begin, long end)
{
    for (long i = begin; i < end; i++)
        c->out[i] = (struct pair){c->pattern.place[i], c->source[i]};
}

static void unpack(struct context *c, const struct pair *pairs, long n)
{
    for (long i = 0; i < n; i++)
        c->array[pairs[i].place] = pairs[i].value;
}

static void pairs_isend(void *context, long supersteps)
{
    struct context *c = context;
    const struct pattern *pattern = &c->pattern;
    int runs = pattern_runs(pattern);
    for (long s = 0; s < supersteps; s++) {
        for (int k = 0; k < runs; k++) {
            long begin = pattern_begin(pattern, k);
            long room = pattern_begin(pattern, k + 1) - begin;
            MPI_Irecv(c->in + begin, (int)room, c->pair_type, pattern_source(pattern, k), 0,
                      MPI_COMM_WORLD, &c->requests[k]);
        }
        for (int k = 0; k < runs; k++) {
            long begin = pattern_begin(pattern, k);
            long end = pattern_begin(pattern, k + 1);
            pack(c, begin, end);
            MPI_Isend(c->out + begin, (int)(end - begin), c->pair_type, pattern_target(pattern, k),
                      0, MPI_COMM_WORLD, &c->requests[runs + k]);
        }
        for (int k = 0; k < runs; k++) {
            MPI_Status status;
            int n;
            MPI_Wait(&c->requests[k], &status);
            MPI_Get_count(&status, c->pair_type, &n);
            unpack(c, c->in + pattern_begin(pattern, k), n);
        }
        MPI_Waitall(runs, c->requests + runs, MPI_STATUSES_IGNORE);
    }
}

static void pairs_alltoallv(void *context, long supersteps)
{
    struct context *c = context;
    const struct pattern *pattern = &c->pattern;
    int p = pattern->nprocs;
    int *send = c->counts, *receive = send + p, *send_at = receive + p, *receive_at = send_at + p;
    memset(c->counts, 0, 4 * (size_t)p * sizeof(int));
    for (long s = 0; s < supersteps; s++) {
        for (int k = 0; k < pattern_runs(pattern); k++) {
            int target = pattern_target(pattern, k);
            send_at[target] = (int)pattern_begin(pattern, k);
            send[target] = (int)(pattern_begin(pattern, k + 1) - send_at[target]);
            pack(c, send_at[target], send_at[target] + send[target]);
        }
        MPI_Alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, MPI_COMM_WORLD);
        int total = 0;
        for (int q = 0; q < p; q++) {
            receive_at[q] = total;
            total += receive[q];
        }
        MPI_Alltoallv(c->out, send, send_at, c->pair_type, c->in, receive, receive_at, c->pair_type,
                      MPI_COMM_WORLD);
        unpack(c, c->in, total);
    }
}

struct form {
    const char *name;
    bench_steps *steps;
    int64_t *array;
    MPI_Win window;
    bool given_up; /* a smaller size took too long already */
};

static void measure_form(const struct bench_world *world, const struct bench_options *options,
                         const char *line, struct form *form, struct context *c)
{
    if (form->given_up || !bench_wants(options, line, form->name))
        return;
    c->array = form->array;
    c->window = form->window;
    memset(c->array, 0, (size_t)c->pattern.words * 8);
    world->from_zero(0);
    bool quick = bench_measure(world, options, line, form->name, c->pattern.words, form->steps, c);
    form->given_up = !world->from_zero(quick);
    bench_expect(pattern_arrived(&c->pattern, c->array), line, form->name, c->pattern.words);
    world->from_zero(0);
}

static struct context make_context(const struct bench_world *world, size_t most)
{
    struct context context = {
        .pattern = {.pid = world->pid, .nprocs = world->nprocs, .place = bench_alloc(most * 8)},
        .source = bench_alloc(most * 8),
        .out = bench_alloc(most * sizeof(struct pair)),
        .in = bench_alloc(most * sizeof(struct pair)),
        .requests = calloc(2 * (size_t)world->nprocs, sizeof(MPI_Request)),
        .counts = calloc(4 * (size_t)world->nprocs, sizeof(int)),
    };
    pattern_fill_block(context.source, (long)most, world->pid);
    MPI_Type_contiguous(2, MPI_INT64_T, &context.pair_type);
    MPI_Type_commit(&context.pair_type);
    return context;
}

int main(int argc, char **argv)
{
    struct bench_world world = mpi_world(&argc, &argv);
    struct bench_options options = bench_parse(argc, argv);
    size_t most = (size_t)bench_largest(&options, 1);
    struct context context = make_context(&world, most);
    int64_t *allocated, *created = bench_alloc(most * 8);
    MPI_Win allocated_window, created_window;

    MPI_Win_allocate(mpi_whole_pages(most * 8), 8, MPI_INFO_NULL, MPI_COMM_WORLD, &allocated,
                     &allocated_window);
    MPI_Win_create(created, (MPI_Aint)most * 8, 8, MPI_INFO_NULL, MPI_COMM_WORLD, &created_window);
    MPI_Win_fence(0, allocated_window);
    MPI_Win_fence(0, created_window);
    struct form forms[] = {
        {"pairs/isend", pairs_isend, created, MPI_WIN_NULL, false},
        {"pairs/alltoallv", pairs_alltoallv, created, MPI_WIN_NULL, false},
        {"put/created", put_each, created, created_window, false},
        {"put/allocated", put_each, allocated, allocated_window, false},
    };
    for (int i = 0; i < options.nsizes; i++) {
        context.pattern.words = options.sizes[i];
        for (int scattered = 0; scattered < 2; scattered++) {
            pattern_place(&context.pattern, scattered);
            for (size_t f = 0; f < sizeof(forms) / sizeof(forms[0]); f++) {
                measure_form(&world, &options, scattered ? "words.scattered" : "words.consecutive",
                             &forms[f], &context);
            }
        }
    }
    MPI_Win_free(&allocated_window);
    MPI_Win_free(&created_window);
    MPI_Finalize();
    return 0;
}
