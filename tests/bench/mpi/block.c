/* block.c - one block to the right neighbour per superstep, over MPI.
 *
 * Lines block.put and block.get by MPI_Put and MPI_Get with a fence, into memory allocated by MPI
 * or ordinary (created) memory; line block by two-sided messages: both sides know the size (isend)
 * or exchange it (alltoallv).
 */
#include "tests/bench/common/pattern.h"
#include "tests/bench/mpi/world.h"

#include <stdlib.h>
#include <string.h>

struct context {
    int pid, left, right, nprocs;
    int nbytes;
    int64_t *source; /* what is put, or where a get arrives */
    int64_t *area;   /* the memory that the others may access */
    MPI_Win window;
    int *counts; /* 4 * nprocs */
};

static void put_block(void *context, long supersteps)
{
    struct context *c = context;
    for (long s = 0; s < supersteps; s++) {
        MPI_Put(c->source, c->nbytes, MPI_BYTE, c->right, 0, c->nbytes, MPI_BYTE, c->window);
        MPI_Win_fence(0, c->window);
    }
}

static void get_block(void *context, long supersteps)
{
    struct context *c = context;
    for (long s = 0; s < supersteps; s++) {
        MPI_Get(c->source, c->nbytes, MPI_BYTE, c->right, 0, c->nbytes, MPI_BYTE, c->window);
        MPI_Win_fence(0, c->window);
    }
}

static void isend(void *context, long supersteps)
{
    struct context *c = context;
    for (long s = 0; s < supersteps; s++) {
        MPI_Request requests[2];
        MPI_Irecv(c->area, c->nbytes, MPI_BYTE, c->left, 0, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(c->source, c->nbytes, MPI_BYTE, c->right, 0, MPI_COMM_WORLD, &requests[1]);
        MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    }
}

static void alltoallv(void *context, long supersteps)
{
    struct context *c = context;
    int p = c->nprocs;
    int *send = c->counts, *receive = send + p, *send_at = receive + p, *receive_at = send_at + p;
    memset(c->counts, 0, 4 * (size_t)p * sizeof(int));
    for (long s = 0; s < supersteps; s++) {
        int total = 0;
        send[c->right] = c->nbytes;
        MPI_Alltoall(send, 1, MPI_INT, receive, 1, MPI_INT, MPI_COMM_WORLD);
        for (int q = 0; q < p; q++) {
            receive_at[q] = total;
            total += receive[q];
        }
        MPI_Alltoallv(c->source, send, send_at, MPI_BYTE, c->area, receive, receive_at, MPI_BYTE,
                      MPI_COMM_WORLD);
    }
}

/* Moves one block and measures; area or source must then hold the sender's values. */
static void measure_form(const struct bench_world *world, const struct bench_options *options,
                         const char *line, const char *form, struct context *c, bench_steps *steps,
                         bool get)
{
    if (!bench_wants(options, line, form))
        return;
    int64_t *arrival = get ? c->source : c->area;
    pattern_fill_block(get ? c->area : c->source, c->nbytes / 8, c->pid);
    memset(arrival, 0, (size_t)c->nbytes);
    world->from_zero(0);
    bench_measure(world, options, line, form, c->nbytes, steps, c);
    world->from_zero(0);
    bench_expect(pattern_block_is(arrival, c->nbytes / 8, get ? c->right : c->left), line, form,
                 c->nbytes);
}

int main(int argc, char **argv)
{
    struct bench_world world = mpi_world(&argc, &argv);
    struct bench_options options = bench_parse(argc, argv);
    size_t most = (size_t)bench_largest(&options, 8);
    struct context c = {.pid = world.pid, .nprocs = world.nprocs};
    int64_t *areas[2] = {bench_alloc(most), NULL};
    const char *forms[2] = {"created", "allocated"};
    MPI_Win windows[2];

    c.right = (world.pid + 1) % world.nprocs;
    c.left = (world.pid + world.nprocs - 1) % world.nprocs;
    c.source = bench_alloc(most);
    c.counts = calloc(4 * (size_t)world.nprocs, sizeof(int));
    MPI_Win_create(areas[0], (MPI_Aint)most, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &windows[0]);
    MPI_Win_allocate(mpi_whole_pages(most), 1, MPI_INFO_NULL, MPI_COMM_WORLD, &areas[1],
                     &windows[1]);
    for (int w = 0; w < 2; w++)
        MPI_Win_fence(0, windows[w]);
    for (int i = 0; i < options.nsizes; i++) {
        c.nbytes = (int)options.sizes[i];
        c.area = areas[0];
        measure_form(&world, &options, "block", "isend", &c, isend, false);
        measure_form(&world, &options, "block", "alltoallv", &c, alltoallv, false);
        for (int w = 0; w < 2; w++) {
            c.area = areas[w];
            c.window = windows[w];
            measure_form(&world, &options, "block.put", forms[w], &c, put_block, false);
            measure_form(&world, &options, "block.get", forms[w], &c, get_block, true);
        }
    }
    for (int w = 0; w < 2; w++)
        MPI_Win_free(&windows[w]);
    MPI_Finalize();
    return 0;
}
