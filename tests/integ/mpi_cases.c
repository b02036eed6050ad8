/* What the tests of the MPI subset run: mpi_cases CASE. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <volpex.h>

static int rank, size;

static void *checked(void *at)
{
    if (!at)
        MPI_Abort(MPI_COMM_WORLD, 3);
    return at;
}

/* ---- Right ---- */

/* Messages of all sizes from each to each, in an order that only tags and sources sort out. */
static void sizes(void)
{
    static const int bytes[] = {0,    1,     31,    32,    33,      1000,   8192,
                                8193, 40000, 65536, 65537, 1000000, 3000001};
    enum { COUNT = sizeof bytes / sizeof *bytes };
    char *out[COUNT], *in = checked(malloc(3000001));
    MPI_Request *requests = checked(malloc((size_t)size * COUNT * sizeof *requests));
    int wrong = 0, used = 0;

    for (int i = 0; i < COUNT; i++) {
        out[i] = checked(malloc((size_t)bytes[i] + 1));
        for (int k = 0; k < bytes[i]; k++)
            out[i][k] = (char)(k * 7 + i + rank * 13);
        for (int to = 0; to < size; to++)
            MPI_Isend(out[i], bytes[i], MPI_BYTE, to, i, MPI_COMM_WORLD, &requests[used++]);
    }
    for (int i = COUNT - 1; i >= 0; i--)
        for (int from = 0; from < size; from++) {
            MPI_Status status;
            int count;

            MPI_Recv(in, 3000001, MPI_BYTE, from, i, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_BYTE, &count);
            wrong += count != bytes[i] || status.MPI_SOURCE != from || status.MPI_TAG != i;
            for (int k = 0; k < count; k++)
                wrong += in[k] != (char)(k * 7 + i + from * 13);
        }
    MPI_Waitall(used, requests, MPI_STATUSES_IGNORE);
    printf("sizes: pid %d: %d wrong\n", rank, wrong);
}

/* Many messages of one tag do not overtake each other, whatever their sizes. */
static void order(void)
{
    enum { MESSAGES = 3000 };
    static int data[20000];
    int wrong = 0, expected[4096] = {0};

    if (rank > 0)
        for (int i = 0; i < MESSAGES; i++) {
            data[0] = i;
            MPI_Send(data, i % 100 == 99 ? 20000 : 1 + i % 50, MPI_INT, 0, 5, MPI_COMM_WORLD);
        }
    for (int i = 0; rank == 0 && i < MESSAGES * (size - 1); i++) {
        MPI_Status status;
        int count, number;

        if (i % 3 == 0)
            MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
        MPI_Recv(data, 20000, MPI_INT, i % 3 == 0 ? status.MPI_SOURCE : MPI_ANY_SOURCE, 5,
                 MPI_COMM_WORLD, &status);
        number = expected[status.MPI_SOURCE]++;
        MPI_Get_count(&status, MPI_INT, &count);
        wrong += data[0] != number || count != (number % 100 == 99 ? 20000 : 1 + number % 50);
    }
    printf("order: pid %d: %d wrong\n", rank, wrong);
}

/* All collective operations, again and again. */
static void collective(void)
{
    int wrong = 0, *all = checked(calloc((size_t)size * 3, sizeof *all));
    int *got = checked(calloc((size_t)size * 3, sizeof *got));
    int *counts = checked(calloc((size_t)size, sizeof *counts)),
        *places = checked(calloc((size_t)size, sizeof *places));

    for (int round = 0; round < 200; round++) {
        int root = round % size, value = rank * 10 + round, sum = 0, most = 0;
        struct {
            double value;
            int index;
        } mine = {(double)((rank * 7 + round) % size), rank}, best;

        for (int i = 0; i < size; i++)
            sum += i * 10 + round;
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Bcast(&value, 1, MPI_INT, root, MPI_COMM_WORLD);
        wrong += value != root * 10 + round;
        value = rank * 10 + round;
        MPI_Reduce(&value, &most, 1, MPI_INT, MPI_MAX, root, MPI_COMM_WORLD);
        wrong += rank == root && most != (size - 1) * 10 + round;
        MPI_Allreduce(&value, &most, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        wrong += most != sum;
        MPI_Allreduce(&mine, &best, 1, MPI_DOUBLE_INT, MPI_MINLOC, MPI_COMM_WORLD);
        for (int i = 0; i < size; i++)
            wrong += (i * 7 + round) % size < best.value;
        wrong += (best.index * 7 + round) % size != best.value;
        MPI_Gather(&value, 1, MPI_INT, got, 1, MPI_INT, root, MPI_COMM_WORLD);
        for (int i = 0; rank == root && i < size; i++)
            wrong += got[i] != i * 10 + round;
        MPI_Allgather(&value, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD);
        for (int i = 0; i < size; i++)
            wrong += got[i] != i * 10 + round;
        MPI_Scatter(got, 1, MPI_INT, &value, 1, MPI_INT, root, MPI_COMM_WORLD);
        wrong += value != rank * 10 + round;
        for (int i = 0; i < size; i++)
            all[i] = rank * 100 + i;
        MPI_Alltoall(all, 1, MPI_INT, got, 1, MPI_INT, MPI_COMM_WORLD);
        for (int i = 0; i < size; i++)
            wrong += got[i] != i * 100 + rank;
        for (int i = 0, place = 0; i < size; i++) {
            counts[i] = i % 3;
            places[i] = place;
            place += i % 3;
        }
        all[0] = all[1] = rank;
        MPI_Gatherv(all, rank % 3, MPI_INT, got, counts, places, MPI_INT, root, MPI_COMM_WORLD);
        for (int i = 0; rank == root && i < size; i++)
            for (int k = 0; k < counts[i]; k++)
                wrong += got[places[i] + k] != i;
        MPI_Scatterv(got, counts, places, MPI_INT, all, rank % 3, MPI_INT, root, MPI_COMM_WORLD);
        for (int k = 0; k < rank % 3; k++)
            wrong += all[k] != rank;
    }
    printf("collective: pid %d: %d wrong\n", rank, wrong);
}

/* Whether all processes have the bits that a reduction to process 0 gives, also where the operation
 * does not commute: of NaN and a number, or of zeros of both signs, MPI_MAX gives one of them. */
static int is_alike(const void *values, int count, int bytes, MPI_Datatype type, MPI_Op op)
{
    char mine[256], wanted[256] = {0};

    MPI_Allreduce(values, mine, count, type, op, MPI_COMM_WORLD);
    MPI_Reduce(values, wanted, count, type, op, 0, MPI_COMM_WORLD);
    MPI_Bcast(wanted, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
    return memcmp(mine, wanted, (size_t)bytes) == 0;
}

static void alike(void)
{
    static const MPI_Op operations[] = {MPI_MAX, MPI_MIN, MPI_SUM, MPI_PROD};
    int wrong = 0;

    for (int round = 0; round < 2 * size; round++) {
        float values[3];
        struct {
            float value;
            int index;
        } pair;

        values[0] = round % size == rank ? strtof("nan", NULL) : (float)rank;
        values[1] = (rank + round) % 2 ? 0.0F : -0.0F;
        values[2] = 1.0F / (float)(1 + rank + round * 7);
        pair.value = values[0];
        pair.index = rank;
        for (int i = 0; i < 4; i++)
            wrong += !is_alike(values, 3, sizeof values, MPI_FLOAT, operations[i]);
        wrong += !is_alike(&pair, 1, sizeof pair, MPI_FLOAT_INT, MPI_MAXLOC);
        wrong += !is_alike(&pair, 1, sizeof pair, MPI_FLOAT_INT, MPI_MINLOC);
    }
    printf("alike: pid %d: %d wrong\n", rank, wrong);
}

static void testing(void)
{
    int flag = 0, turns = 0, data[4] = {0}, next = (rank + 1) % size;
    MPI_Request coming, going;
    MPI_Status status;

    MPI_Iprobe(MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &flag, &status);
    turns += flag;
    MPI_Irecv(data, 4, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &coming);
    data[3] = rank;
    MPI_Isend(&data[3], 1, MPI_INT, next, 3, MPI_COMM_WORLD, &going);
    for (flag = 0; !flag;)
        MPI_Test(&coming, &flag, &status);
    MPI_Wait(&going, MPI_STATUS_IGNORE);
    turns +=
        coming != MPI_REQUEST_NULL || going != MPI_REQUEST_NULL || data[0] != status.MPI_SOURCE;
    MPI_Recv(data, 4, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD, &status);
    MPI_Send(data, 4, MPI_INT, MPI_PROC_NULL, 1, MPI_COMM_WORLD);
    turns += status.MPI_SOURCE != MPI_PROC_NULL;
    printf("testing: pid %d: %d wrong\n", rank, turns);
}

/* Processes that send without a pause until they are told not to: by one that has first to receive
 * a message of each. */
static void unstopped(void)
{
    int stop = 0, sent = 0, wrong = 0, number, count;

    for (; rank > 0 && !stop; sent++) {
        MPI_Send(&sent, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
        MPI_Iprobe(0, 2, MPI_COMM_WORLD, &stop, MPI_STATUS_IGNORE);
    }
    if (rank > 0) {
        MPI_Recv(&stop, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&sent, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    }
    for (int from = 1; rank == 0 && from < size; from++) {
        MPI_Recv(&number, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        wrong += number != 0;
    }
    for (int to = 1; rank == 0 && to < size; to++)
        MPI_Send(&stop, 1, MPI_INT, to, 2, MPI_COMM_WORLD);
    for (int from = 1; rank == 0 && from < size; from++) {
        MPI_Recv(&count, 1, MPI_INT, from, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        for (int i = 1; i < count; i++) {
            MPI_Recv(&number, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            wrong += number != i;
        }
    }
    printf("unstopped: pid %d: %d wrong\n", rank, wrong);
}

/* More messages than a ring to another host has room for, received only when the file is there.
 * Process 1 makes calls until then, at which it can be saved, and which look at no message. */
static void full_ring(const char *file)
{
    enum { MESSAGES = 12, BYTES = 200000 };
    static char data[MESSAGES][BYTES];
    MPI_Request requests[MESSAGES];
    int wrong = 0;

    for (int i = 0; i < MESSAGES && rank == 0; i++) {
        memset(data[i], 'a' + i, BYTES);
        MPI_Isend(data[i], BYTES, MPI_BYTE, 1, i % 2, MPI_COMM_WORLD, &requests[i]);
    }
    if (rank == 0) {
        printf("ready\n");
        fflush(stdout);
    } else if (rank == 1) {
        while (access(file, F_OK) != 0) {
            usleep(1000);
            MPI_Comm_rank(MPI_COMM_WORLD, &rank);
        }
        for (int i = 0; i < MESSAGES; i++)
            MPI_Irecv(data[i], BYTES, MPI_BYTE, 0, i % 2, MPI_COMM_WORLD, &requests[i]);
    }
    MPI_Waitall(MESSAGES, requests, MPI_STATUSES_IGNORE);
    for (int i = 0; i < MESSAGES; i++)
        for (int k = 0; k < BYTES; k++)
            wrong += data[i][k] != 'a' + i;
    printf("full: pid %d: %d wrong\n", rank, wrong);
}

/* Process 0 makes no call, nor does process 1 until the file is there, when it ends the job; the
 * others do nothing but make calls. */
static void aborts_later(const char *file)
{
    printf("ready %d %d\n", rank, (int)getpid());
    fflush(stdout);
    while (rank == 0 || (rank == 1 && access(file, F_OK) != 0))
        usleep(1000);
    if (rank == 1)
        MPI_Abort(MPI_COMM_WORLD, 7);
    for (;;)
        MPI_Comm_rank(MPI_COMM_WORLD, &rank);
}

/* Everything at once, for a while: each round has messages of many sizes around a ring, some of
 * which wait for a receive of a later round, any-source receives, synchronous sends and collective
 * operations.  Process 0 prints a digest of what has come from time to time. */
static void work(int rounds, int microseconds)
{
    enum { MOST = 50000, AHEAD = 3 };
    int next = (rank + 1) % size, before = (rank + size - 1) % size;
    unsigned digest = (unsigned)rank, all;
    unsigned *out[AHEAD], *in = checked(malloc(MOST * sizeof *in));
    MPI_Request going[AHEAD];

    for (int i = 0; i < AHEAD; i++) {
        out[i] = checked(malloc(MOST * sizeof **out));
        going[i] = MPI_REQUEST_NULL;
    }
    for (int round = 0; round < rounds + AHEAD; round++) {
        int slot = round % AHEAD, count = (round * 7919 + rank * 101) % (round % 4 ? 500 : MOST),
            came;
        MPI_Status status;

        MPI_Wait(&going[slot], MPI_STATUS_IGNORE);
        for (int i = 0; i < count; i++)
            out[slot][i] = digest + (unsigned)i;
        if (round < rounds)
            MPI_Isend(out[slot], count, MPI_UNSIGNED, next, round, MPI_COMM_WORLD, &going[slot]);
        if (round >= AHEAD - 1 && round < rounds + AHEAD - 1) {
            MPI_Recv(in, MOST, MPI_UNSIGNED, before, round - AHEAD + 1, MPI_COMM_WORLD, &status);
            MPI_Get_count(&status, MPI_UNSIGNED, &came);
            for (int i = 0; i < came; i++)
                digest = digest * 31 + in[i];
        }
        if (rank > 0) {
            if (round % 2)
                MPI_Ssend(&digest, 1, MPI_UNSIGNED, 0, MOST + round, MPI_COMM_WORLD);
            else
                MPI_Send(&digest, 1, MPI_UNSIGNED, 0, MOST + round, MPI_COMM_WORLD);
        }
        for (int i = 1; rank == 0 && i < size; i++) {
            unsigned value;

            MPI_Recv(&value, 1, MPI_UNSIGNED, MPI_ANY_SOURCE, MOST + round, MPI_COMM_WORLD,
                     &status);
            if (round % 5 == 0)
                digest += value * (unsigned)status.MPI_SOURCE;
        }
        usleep((useconds_t)microseconds);
        if (round % 3 == 0)
            MPI_Bcast(&digest, 1, MPI_UNSIGNED, round % size, MPI_COMM_WORLD);
        if (round % 10 == 0) {
            MPI_Allreduce(&digest, &all, 1, MPI_UNSIGNED, MPI_BXOR, MPI_COMM_WORLD);
            digest += all + (unsigned)rank;
            if (rank == 0)
                printf("round %d: %u\n", round, all);
            fflush(stdout);
        }
    }
}

/* ---- Wrong ---- */

static void wrong(const char *what)
{
    int data[10] = {0}, value = 0;
    MPI_Datatype type;

    if (strcmp(what, "long") == 0) {
        if (rank == 1)
            MPI_Send(data, 10, MPI_INT, 0, 3, MPI_COMM_WORLD);
        if (rank == 0)
            MPI_Recv(data, 5, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (strcmp(what, "peer") == 0) {
        MPI_Send(data, 1, MPI_INT, size, 3, MPI_COMM_WORLD);
    } else if (strcmp(what, "tag") == 0) {
        MPI_Send(data, 1, MPI_INT, 0, -5, MPI_COMM_WORLD);
    } else if (strcmp(what, "count") == 0) {
        MPI_Bcast(data, -1, MPI_INT, 0, MPI_COMM_WORLD);
    } else if (strcmp(what, "root") == 0) {
        MPI_Bcast(data, 1, MPI_INT, size, MPI_COMM_WORLD);
    } else if (strcmp(what, "op") == 0) {
        double sum;

        MPI_Allreduce(&sum, &sum, 1, MPI_DOUBLE, MPI_BAND, MPI_COMM_WORLD);
    } else if (strcmp(what, "type") == 0) {
        MPI_Type_contiguous(3, MPI_INT, &type);
        MPI_Bcast(data, 1, type, 0, MPI_COMM_WORLD);
    } else if (strcmp(what, "much") == 0) {
        MPI_Type_contiguous(1 << 30, MPI_LONG, &type);
        MPI_Type_contiguous(1 << 29, type, &type);
        MPI_Type_commit(&type);
        MPI_Bcast(data, 4, type, 0, MPI_COMM_WORLD);
    } else if (strcmp(what, "sizes") == 0) {
        MPI_Bcast(data, rank == 0 ? 3 : 2, MPI_INT, 0, MPI_COMM_WORLD);
    } else if (strcmp(what, "abort") == 0) {
        if (rank == 1)
            MPI_Abort(MPI_COMM_WORLD, 7);
        MPI_Barrier(MPI_COMM_WORLD);
    } else if (strcmp(what, "receive") == 0) {
        MPI_Recv(&value, 1, MPI_INT, rank ? MPI_ANY_SOURCE : size - 1, rank ? MPI_ANY_TAG : 4,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else if (strcmp(what, "mixed") == 0) {
        if (rank == 0)
            MPI_Barrier(MPI_COMM_WORLD);
        else if (rank == 1)
            MPI_Ssend(&value, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
    } else if (strcmp(what, "objects") == 0) {
        /* Who waits for an object reads no message. */
        if (rank == 0) {
            MPI_Send(data, 10, MPI_INT, 1, 1, MPI_COMM_WORLD);
            MPI_Recv(data, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        volpex_get("none", 4, &value, sizeof value);
    } else if (strcmp(what, "full") == 0) {
        /* The others never receive: the ring fills up. */
        while (rank == 0)
            MPI_Send(data, 10, MPI_INT, 1, 1, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";

    if (strcmp(what, "early") == 0)
        MPI_Barrier(MPI_COMM_WORLD);
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(what, "sizes") == 0 && argc == 2)
        sizes();
    else if (strcmp(what, "order") == 0)
        order();
    else if (strcmp(what, "collective") == 0)
        collective();
    else if (strcmp(what, "testing") == 0)
        testing();
    else if (strcmp(what, "unstopped") == 0)
        unstopped();
    else if (strcmp(what, "alike") == 0)
        alike();
    else if (strcmp(what, "full") == 0)
        full_ring(argv[2]);
    else if (strcmp(what, "aborts") == 0)
        aborts_later(argv[2]);
    else if (strcmp(what, "work") == 0)
        work(atoi(argv[2]), atoi(argv[3]));
    else if (argc > 2)
        wrong(argv[2]);
    MPI_Finalize();
    return 0;
}
