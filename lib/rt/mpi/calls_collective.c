/* calls_collective.c - the collective operations: arguments. */
#include "lib/rt/mpi/inside.h"

static void enter(enum bspz_call call, int line, const char *file, MPI_Comm comm)
{
    bspz_mpi_enter(call, line, file);
    bspz_mpi_check_comm(comm);
}

/* Whether this process is the root, whose arguments alone say what the parts are. */
static bool enter_rooted(enum bspz_call call, int line, const char *file, int root, MPI_Comm comm)
{
    enter(call, line, file, comm);
    bspz_mpi_check_root(root);
    return bspz_rt.pid == root;
}

static uint64_t check_operation(const void *from, int count, MPI_Datatype type, MPI_Op op)
{
    const char *fault;

    bspz_mpi_check_bytes(from, count, type);
    fault = bspz_mpi_operation_fault(op, type);
    if (fault)
        BSPZ_MPI_FAIL("%s", fault);
    return (uint64_t)count;
}

/* Parts that have all `count` elements. */
static struct bspz_mpi_parts equal_parts(bool is_root, const void *at, int count, MPI_Datatype type)
{
    if (!is_root)
        return (struct bspz_mpi_parts){0};
    return (struct bspz_mpi_parts){.at = (char *)at, .size = bspz_mpi_check_bytes(at, count, type)};
}

static struct bspz_mpi_parts different_parts(bool is_root, const void *at, const int *counts,
                                             const int *places, MPI_Datatype type)
{
    if (!is_root)
        return (struct bspz_mpi_parts){0};
    if (!counts || !places)
        BSPZ_MPI_FAIL("NULL given as the counts or displacements");
    for (int pid = 0; pid < bspz_rt.nprocs; pid++)
        bspz_mpi_check_bytes(at, counts[pid], type);
    return (struct bspz_mpi_parts){
        .at = (char *)at, .counts = counts, .places = places, .unit = bspz_mpi_type_bytes(type)};
}

int bspmpi_Barrier(int line, const char *file, MPI_Comm comm)
{
    enter(BSPZ_CALL_MPI_Barrier, line, file, comm);
    bspz_mpi_barrier();
    return MPI_SUCCESS;
}

int bspmpi_Bcast(int line, const char *file, void *buffer, int count, MPI_Datatype datatype,
                 int root, MPI_Comm comm)
{
    enter_rooted(BSPZ_CALL_MPI_Bcast, line, file, root, comm);
    bspz_mpi_bcast(buffer, bspz_mpi_check_bytes(buffer, count, datatype), root);
    return MPI_SUCCESS;
}

int bspmpi_Reduce(int line, const char *file, const void *sendbuf, void *recvbuf, int count,
                  MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm)
{
    bool is_root = enter_rooted(BSPZ_CALL_MPI_Reduce, line, file, root, comm);

    check_operation(sendbuf, count, datatype, op);
    if (is_root)
        bspz_mpi_check_bytes(recvbuf, count, datatype);
    bspz_mpi_reduce(sendbuf, recvbuf, (uint64_t)count, datatype, op, root);
    return MPI_SUCCESS;
}

int bspmpi_Allreduce(int line, const char *file, const void *sendbuf, void *recvbuf, int count,
                     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    enter(BSPZ_CALL_MPI_Allreduce, line, file, comm);
    check_operation(sendbuf, count, datatype, op);
    bspz_mpi_check_bytes(recvbuf, count, datatype);
    bspz_mpi_allreduce(sendbuf, recvbuf, (uint64_t)count, datatype, op);
    return MPI_SUCCESS;
}

int bspmpi_Gather(int line, const char *file, const void *sendbuf, int sendcount,
                  MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                  int root, MPI_Comm comm)
{
    bool is_root = enter_rooted(BSPZ_CALL_MPI_Gather, line, file, root, comm);
    struct bspz_mpi_parts parts = equal_parts(is_root, recvbuf, recvcount, recvtype);
    bspz_mpi_gather(sendbuf, bspz_mpi_check_bytes(sendbuf, sendcount, sendtype), &parts, root);
    return MPI_SUCCESS;
}

int bspmpi_Gatherv(int line, const char *file, const void *sendbuf, int sendcount,
                   MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[],
                   MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    bool is_root = enter_rooted(BSPZ_CALL_MPI_Gatherv, line, file, root, comm);
    struct bspz_mpi_parts parts = different_parts(is_root, recvbuf, recvcounts, displs, recvtype);
    bspz_mpi_gather(sendbuf, bspz_mpi_check_bytes(sendbuf, sendcount, sendtype), &parts, root);
    return MPI_SUCCESS;
}

int bspmpi_Scatter(int line, const char *file, const void *sendbuf, int sendcount,
                   MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                   int root, MPI_Comm comm)
{
    bool is_root = enter_rooted(BSPZ_CALL_MPI_Scatter, line, file, root, comm);
    struct bspz_mpi_parts parts = equal_parts(is_root, sendbuf, sendcount, sendtype);
    bspz_mpi_scatter(&parts, recvbuf, bspz_mpi_check_bytes(recvbuf, recvcount, recvtype), root);
    return MPI_SUCCESS;
}

int bspmpi_Scatterv(int line, const char *file, const void *sendbuf, const int sendcounts[],
                    const int displs[], MPI_Datatype sendtype, void *recvbuf, int recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    bool is_root = enter_rooted(BSPZ_CALL_MPI_Scatterv, line, file, root, comm);
    struct bspz_mpi_parts parts = different_parts(is_root, sendbuf, sendcounts, displs, sendtype);
    bspz_mpi_scatter(&parts, recvbuf, bspz_mpi_check_bytes(recvbuf, recvcount, recvtype), root);
    return MPI_SUCCESS;
}

/* What this process gives to each and gets from each must have one size. */
static uint64_t check_both(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                           const void *recvbuf, int recvcount, MPI_Datatype recvtype)
{
    uint64_t gives = bspz_mpi_check_bytes(sendbuf, sendcount, sendtype);
    uint64_t gets = bspz_mpi_check_bytes(recvbuf, recvcount, recvtype);

    if (gives != gets)
        BSPZ_MPI_FAIL("this process gives %llu bytes and expects %llu of itself",
                      (unsigned long long)gives, (unsigned long long)gets);
    return gives;
}

int bspmpi_Allgather(int line, const char *file, const void *sendbuf, int sendcount,
                     MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                     MPI_Comm comm)
{
    enter(BSPZ_CALL_MPI_Allgather, line, file, comm);
    bspz_mpi_allgather(sendbuf, recvbuf,
                       check_both(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype));
    return MPI_SUCCESS;
}

int bspmpi_Alltoall(int line, const char *file, const void *sendbuf, int sendcount,
                    MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                    MPI_Comm comm)
{
    enter(BSPZ_CALL_MPI_Alltoall, line, file, comm);
    bspz_mpi_alltoall(sendbuf, recvbuf,
                      check_both(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype));
    return MPI_SUCCESS;
}
