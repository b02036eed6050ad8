/* message.c - h messages of 16 bytes per superstep, over MPI.
 *
 * Form each:             one MPI_Isend and one posted receive per message.
 * Form packed/isend:     packed by hand, one MPI message per pair of processes, copied out singly.
 * Form packed/alltoallv: the same with MPI_Alltoall of the counts and MPI_Alltoallv.
 */
#include "tests/bench/common/pattern.h"
#include "tests/bench/mpi/world.h"

#include <stdlib.h>
#include <string.h>

enum { WINDOW = 128 };

struct message {
    int64_t words[2];
};

struct context {
    struct pattern pattern;
    struct message *source;
    struct message *out;
    struct message *in;
    struct message *received;
    MPI_Datatype type;
    MPI_Request *requests;
    bool each_given_up; /* a smaller size took too long already */
    int *counts;        /* 4 * nprocs */
};

/* Receives are posted and sends issued a window at a time: more open requests than that make both
 * MPIs slower, and many more make them fail. */
static void each_of_run(struct context *c, int k)
{
    const struct pattern *pattern = &c->pattern;
    long end = pattern_begin(pattern, k + 1);
    for (long begin = pattern_begin(pattern, k); begin < end; begin += WINDOW) {
        int n = 0;
        long stop = begin + WINDOW < end ? begin + WINDOW : end;
        for (long i = begin; i < stop; i++) {
            MPI_Irecv(&c->received[i], 1, c->type, pattern_source(pattern, k), 0, MPI_COMM_WORLD,
                      &c->requests[n++]);
        }
        for (long i = begin; i < stop; i++) {
            MPI_Isend(&c->source[i], 1, c->type, pattern_target(pattern, k), 0, MPI_COMM_WORLD,
                      &c->requests[n++]);
        }
        MPI_Waitall(n, c->requests, MPI_STATUSES_IGNORE);
    }
}

static void each(void *context, long supersteps)
{
    struct context *c = context;
    for (long s = 0; s < supersteps; s++) {
        for (int k = 0; k < pattern_runs(&c->pattern); k++)
            each_of_run(c, k);
    }
}

static void copy_each(struct message *to, const struct message *from, long n)
{
    for (long i = 0; i < n; i++)
        to[i] = from[i];
}

static void packed_isend(void *context, long supersteps)
{
    struct context *c = context;
    const struct pattern *pattern = &c->pattern;
    int runs = pattern_runs(pattern);
    for (long s = 0; s < supersteps; s++) {
        for (int k = 0; k < runs; k++) {
            long begin = pattern_begin(pattern, k);
            MPI_Irecv(c->in + begin, (int)(pattern_begin(pattern, k + 1) - begin), c->type,
                      pattern_source(pattern, k), 0, MPI_COMM_WORLD, &c->requests[k]);
        }
        for (int k = 0; k < runs; k++) {
            long begin = pattern_begin(pattern, k);
            long n = pattern_begin(pattern, k + 1) - begin;
            copy_each(c->out + begin, c->source + begin, n);
            MPI_Isend(c->out + begin, (int)n, c->type, pattern_target(pattern, k), 0,
                      MPI_COMM_WORLD, &c->requests[runs + k]);
        }
        for (int k = 0; k < runs; k++) {
            MPI_Status status;
            int n;
            MPI_Wait(&c->requests[k], &status);
            MPI_Get_count(&status, c->type, &n);
            long begin = pattern_begin(pattern, k);
            copy_each(c->received + begin, c->in + begin, n);
        }
        MPI_Waitall(runs, c->requests + runs, MPI_STATUSES_IGNORE);
    }
}

static void packed_alltoallv(void *context, long supersteps)
{
    struct context *c = context;
    const struct pattern *pattern = &c->pattern;
    int p = pattern->nprocs;
    int *send = c->counts, *receive = send + p, *send_at = receive + p, *receive_at = send_at + p;
    memset(c->counts, 0, 4 * (size_t)p * sizeof(int));
    for (long s = 0; s < supersteps; s++) {
        int total = 0;
        for (int k = 0; k < pattern_runs(pattern); k++) {
            int target = pattern_target(pattern, k);
            send_at[target] = (int)pattern_begin(pattern, k);
            send[target] = (int)(pattern_begin(pattern, k + 1) - send_at[target]);
            copy_each(c->out + send_at[target], c->source + send_at[target], send[target]);
        }
        MPI_Alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, MPI_COMM_WORLD);
        for (int q = 0; q < p; q++) {
            receive_at[q] = total;
            total += receive[q];
        }
        MPI_Alltoallv(c->out, send, send_at, c->type, c->in, receive, receive_at, c->type,
                      MPI_COMM_WORLD);
        copy_each(c->received, c->in, total);
    }
}

/* Every message carries its sender's value twice; they must add up to what was sent. */
static bool all_arrived(const struct context *c)
{
    const struct pattern *pattern = &c->pattern;
    int64_t difference = 0;
    for (int k = 0; k < pattern_runs(pattern); k++) {
        int source = pattern_source(pattern, k);
        for (long i = pattern_begin(pattern, k); i < pattern_begin(pattern, k + 1); i++)
            difference += pattern_value(source, i) - c->received[i].words[1];
    }
    return difference == 0;
}

static bool measure_form(const struct bench_world *world, const struct bench_options *options,
                         const char *form, struct context *c, bench_steps *steps)
{
    if (!bench_wants(options, "message", form))
        return true;
    memset(c->received, 0, (size_t)c->pattern.words * sizeof(struct message));
    world->from_zero(0);
    bool quick = bench_measure(world, options, "message", form, c->pattern.words, steps, c);
    bench_expect(all_arrived(c), "message", form, c->pattern.words);
    return world->from_zero(quick);
}

int main(int argc, char **argv)
{
    struct bench_world world = mpi_world(&argc, &argv);
    struct bench_options options = bench_parse(argc, argv);
    size_t most = (size_t)bench_largest(&options, 1);
    size_t nbytes = most * sizeof(struct message);
    struct context context = {.pattern = {.pid = world.pid, .nprocs = world.nprocs},
                              .source = bench_alloc(nbytes),
                              .out = bench_alloc(nbytes),
                              .in = bench_alloc(nbytes),
                              .received = bench_alloc(nbytes)};
    context.requests = calloc(2 * (size_t)(WINDOW + world.nprocs), sizeof(MPI_Request));
    context.counts = calloc(4 * (size_t)world.nprocs, sizeof(int));
    for (size_t i = 0; i < most; i++) {
        int64_t value = pattern_value(world.pid, (long)i);
        context.source[i] = (struct message){{value, value}};
    }
    MPI_Type_contiguous(2, MPI_INT64_T, &context.type);
    MPI_Type_commit(&context.type);
    for (int i = 0; i < options.nsizes; i++) {
        context.pattern.words = options.sizes[i];
        measure_form(&world, &options, "packed/isend", &context, packed_isend);
        measure_form(&world, &options, "packed/alltoallv", &context, packed_alltoallv);
        if (!context.each_given_up)
            context.each_given_up = !measure_form(&world, &options, "each", &context, each);
    }
    MPI_Finalize();
    return 0;
}
