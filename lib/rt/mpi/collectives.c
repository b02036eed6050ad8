/* collectives.c - collective operations, made of messages of a context of their own.
 *
 * Messages of a pair keep their order and every operation names whom it receives from, so
 * operations that follow each other cannot be confused; one that others are not in has another tag,
 * and waits.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/rt/mpi/inside.h"

static int tag(void)
{
    return (int)bspz_mpi.call;
}

static void send(struct bspmpi_request *request, const void *from, uint64_t size, int to)
{
    bspz_mpi_send(request, from, size, to, tag(), BSPZ_MPI_INTERNAL, false);
}

static void receive(struct bspmpi_request *request, void *to, uint64_t size, int from)
{
    bspz_mpi_receive(request, to, size, from, tag(), BSPZ_MPI_INTERNAL);
}

/* A collective operation whose processes name different sizes is an error. */
static void check_size(const struct bspmpi_request *request)
{
    if (request->size != request->room)
        BSPZ_MPI_FAIL("process %d gives %llu bytes, this one expects %llu", request->peer,
                      (unsigned long long)request->size, (unsigned long long)request->room);
}

static void finish(struct bspmpi_request *request)
{
    bspz_mpi_wait(request);
    if (request->is_receive)
        check_size(request);
}

static void send_now(const void *from, uint64_t size, int to)
{
    struct bspmpi_request request;

    send(&request, from, size, to);
    finish(&request);
}

static void receive_now(void *to, uint64_t size, int from)
{
    struct bspmpi_request request;

    receive(&request, to, size, from);
    finish(&request);
}

static void exchange(const void *give, uint64_t size, int to, void *get, int from)
{
    struct bspmpi_request coming, going;

    receive(&coming, get, size, from);
    send(&going, give, size, to);
    finish(&coming);
    finish(&going);
}

static void copy(void *to, const void *from, uint64_t size)
{
    if (size > 0 && to != from)
        memmove(to, from, size);
}

static void *memory(uint64_t size)
{
    void *at = malloc(size > 0 ? size : 1);

    if (!at)
        BSPZ_MPI_FAIL("no memory for %llu bytes", (unsigned long long)size);
    return at;
}

/* Requests for messages to or from all processes. */
static struct bspmpi_request *many(int count)
{
    return memory((uint64_t)count * sizeof(struct bspmpi_request));
}

/* ---- Everybody ------------------------------------------------------------------------------- */

/* Dissemination: after round k everybody has heard of 2^(k+1) processes. */
void bspz_mpi_barrier(void)
{
    const int p = bspz_rt.nprocs, self = bspz_rt.pid;

    for (int step = 1; step < p; step *= 2)
        exchange(NULL, 0, (self + step) % p, NULL, (self + p - step) % p);
}

/* Along a binomial tree whose root is `root`. */
void bspz_mpi_bcast(void *data, uint64_t size, int root)
{
    const int p = bspz_rt.nprocs, number = (bspz_rt.pid + p - root) % p;
    struct bspmpi_request children[32];
    int count = 0, bit = 1;

    while (bit < p && !(number & bit))
        bit *= 2;
    if (number > 0)
        receive_now(data, size, (number - bit + root) % p);
    for (bit /= 2; bit > 0; bit /= 2)
        if (number + bit < p)
            send(&children[count++], data, size, (number + bit + root) % p);
    for (int i = 0; i < count; i++)
        finish(&children[i]);
}

/* ---- Reductions ------------------------------------------------------------------------------ */

/* Along the same tree, upwards; the result is in `sum` of the root. */
static void reduce_up(void *sum, uint64_t count, MPI_Datatype type, MPI_Op op, int root)
{
    const int p = bspz_rt.nprocs, number = (bspz_rt.pid + p - root) % p;
    const uint64_t size = count * bspz_mpi_type_bytes(type);
    void *other = memory(size);
    int bit = 1;

    for (; bit < p && !(number & bit); bit *= 2) {
        if (number + bit >= p)
            continue;
        receive_now(other, size, (number + bit + root) % p);
        bspz_mpi_combine(op, type, sum, other, count);
    }
    free(other);
    if (number > 0)
        send_now(sum, size, (number - bit + root) % p);
}

void bspz_mpi_reduce(const void *from, void *to, uint64_t count, MPI_Datatype type, MPI_Op op,
                     int root)
{
    const uint64_t size = count * bspz_mpi_type_bytes(type);
    void *sum = bspz_rt.pid == root ? to : memory(size);

    copy(sum, from, size);
    reduce_up(sum, count, type, op, root);
    if (bspz_rt.pid != root)
        free(sum);
}

#define DOUBLING_MOST 16384u /* bytes that all exchange in each round */

void bspz_mpi_allreduce(const void *from, void *to, uint64_t count, MPI_Datatype type, MPI_Op op)
{
    const int p = bspz_rt.nprocs;
    const uint64_t size = count * bspz_mpi_type_bytes(type);

    copy(to, from, size);
    if ((p & (p - 1)) == 0 && size <= DOUBLING_MOST) {
        void *other = memory(size);

        /* The lower one's comes first for both of a pair, as up the tree: of NaN and a number, or
         * of zeros of both signs, the order says what comes out. */
        for (int bit = 1; bit < p; bit *= 2) {
            exchange(to, size, bspz_rt.pid ^ bit, other, bspz_rt.pid ^ bit);
            if (bspz_rt.pid & bit) {
                bspz_mpi_combine(op, type, other, to, count);
                copy(to, other, size);
            } else {
                bspz_mpi_combine(op, type, to, other, count);
            }
        }
        free(other);
        return;
    }
    reduce_up(to, count, type, op, 0);
    bspz_mpi_bcast(to, size, 0);
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static uint64_t size_of_part(const struct bspz_mpi_parts *parts, int pid)
{
    return parts->counts ? (uint64_t)parts->counts[pid] * parts->unit : parts->size;
}

static char *part(const struct bspz_mpi_parts *parts, int pid)
{
    return parts->places ? parts->at + (int64_t)parts->places[pid] * (int64_t)parts->unit
                         : parts->at + (uint64_t)pid * parts->size;
}

void bspz_mpi_gather(const void *from, uint64_t size, const struct bspz_mpi_parts *parts, int root)
{
    const int p = bspz_rt.nprocs;
    struct bspmpi_request *coming;

    if (bspz_rt.pid != root) {
        send_now(from, size, root);
        return;
    }
    if (size != size_of_part(parts, root))
        BSPZ_MPI_FAIL("this process gives %llu bytes and expects %llu of itself",
                      (unsigned long long)size, (unsigned long long)size_of_part(parts, root));
    coming = many(p);
    for (int pid = 0; pid < p; pid++)
        if (pid != root)
            receive(&coming[pid], part(parts, pid), size_of_part(parts, pid), pid);
    copy(part(parts, root), from, size);
    for (int pid = 0; pid < p; pid++)
        if (pid != root)
            finish(&coming[pid]);
    free(coming);
}

void bspz_mpi_scatter(const struct bspz_mpi_parts *parts, void *to, uint64_t room, int root)
{
    const int p = bspz_rt.nprocs;
    struct bspmpi_request *going;

    if (bspz_rt.pid != root) {
        receive_now(to, room, root);
        return;
    }
    if (room != size_of_part(parts, root))
        BSPZ_MPI_FAIL("this process gives itself %llu bytes and expects %llu",
                      (unsigned long long)size_of_part(parts, root), (unsigned long long)room);
    going = many(p);
    for (int pid = 0; pid < p; pid++)
        if (pid != root)
            send(&going[pid], part(parts, pid), size_of_part(parts, pid), pid);
    copy(to, part(parts, root), room);
    for (int pid = 0; pid < p; pid++)
        if (pid != root)
            finish(&going[pid]);
    free(going);
}

/* Around a ring: in every round each process hands on the part that it has got last. */
void bspz_mpi_allgather(const void *from, void *to, uint64_t size)
{
    const int p = bspz_rt.nprocs, self = bspz_rt.pid;
    char *parts = to;

    copy(parts + (uint64_t)self * size, from, size);
    for (int round = 0; round < p - 1; round++)
        exchange(parts + (uint64_t)((self + p - round) % p) * size, size, (self + 1) % p,
                 parts + (uint64_t)((self + 2 * p - round - 1) % p) * size, (self + p - 1) % p);
}

void bspz_mpi_alltoall(const void *from, void *to, uint64_t size)
{
    const int p = bspz_rt.nprocs, self = bspz_rt.pid;
    struct bspmpi_request *requests = many(2 * p);

    for (int i = 1; i < p; i++) {
        int pid = (self + p - i) % p;

        receive(&requests[i], (char *)to + (uint64_t)pid * size, size, pid);
    }
    for (int i = 1; i < p; i++) {
        int pid = (self + i) % p;

        send(&requests[p + i], (const char *)from + (uint64_t)pid * size, size, pid);
    }
    copy((char *)to + (uint64_t)self * size, (const char *)from + (uint64_t)self * size, size);
    for (int i = 1; i < p; i++) {
        finish(&requests[i]);
        finish(&requests[p + i]);
    }
    free(requests);
}
