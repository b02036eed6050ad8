/* plain.c - the calls of mpi.h as plain symbols; see lib/rt/plain.c. */
#include "include/bspmpi/mpi.h"

#define HERE 0, "unprofiled"

int(MPI_Init)(int *argc, char ***argv)
{
    return bspmpi_Init(HERE, argc, argv);
}

int(MPI_Finalize)(void)
{
    return bspmpi_Finalize(HERE);
}

int(MPI_Abort)(MPI_Comm comm, int errorcode)
{
    return bspmpi_Abort(HERE, comm, errorcode);
}

int(MPI_Comm_size)(MPI_Comm comm, int *size)
{
    return bspmpi_Comm_size(HERE, comm, size);
}

int(MPI_Comm_rank)(MPI_Comm comm, int *rank)
{
    return bspmpi_Comm_rank(HERE, comm, rank);
}

int(MPI_Get_processor_name)(char *name, int *resultlen)
{
    return bspmpi_Get_processor_name(HERE, name, resultlen);
}

int(MPI_Send)(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return bspmpi_Send(HERE, buf, count, datatype, dest, tag, comm);
}

int(MPI_Ssend)(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    return bspmpi_Ssend(HERE, buf, count, datatype, dest, tag, comm);
}

int(MPI_Recv)(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
              MPI_Status *status)
{
    return bspmpi_Recv(HERE, buf, count, datatype, source, tag, comm, status);
}

int(MPI_Sendrecv)(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                  void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                  MPI_Comm comm, MPI_Status *status)
{
    return bspmpi_Sendrecv(HERE, sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount,
                           recvtype, source, recvtag, comm, status);
}

int(MPI_Isend)(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    return bspmpi_Isend(HERE, buf, count, datatype, dest, tag, comm, request);
}

int(MPI_Irecv)(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
               MPI_Request *request)
{
    return bspmpi_Irecv(HERE, buf, count, datatype, source, tag, comm, request);
}

int(MPI_Wait)(MPI_Request *request, MPI_Status *status)
{
    return bspmpi_Wait(HERE, request, status);
}

int(MPI_Waitall)(int count, MPI_Request requests[], MPI_Status statuses[])
{
    return bspmpi_Waitall(HERE, count, requests, statuses);
}

int(MPI_Test)(MPI_Request *request, int *flag, MPI_Status *status)
{
    return bspmpi_Test(HERE, request, flag, status);
}

int(MPI_Probe)(int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    return bspmpi_Probe(HERE, source, tag, comm, status);
}

int(MPI_Iprobe)(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status)
{
    return bspmpi_Iprobe(HERE, source, tag, comm, flag, status);
}

int(MPI_Get_count)(const MPI_Status *status, MPI_Datatype datatype, int *count)
{
    return bspmpi_Get_count(HERE, status, datatype, count);
}

int(MPI_Barrier)(MPI_Comm comm)
{
    return bspmpi_Barrier(HERE, comm);
}

int(MPI_Bcast)(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    return bspmpi_Bcast(HERE, buffer, count, datatype, root, comm);
}

int(MPI_Reduce)(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                int root, MPI_Comm comm)
{
    return bspmpi_Reduce(HERE, sendbuf, recvbuf, count, datatype, op, root, comm);
}

int(MPI_Allreduce)(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                   MPI_Comm comm)
{
    return bspmpi_Allreduce(HERE, sendbuf, recvbuf, count, datatype, op, comm);
}

int(MPI_Gather)(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return bspmpi_Gather(HERE, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                         comm);
}

int(MPI_Gatherv)(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                 MPI_Comm comm)
{
    return bspmpi_Gatherv(HERE, sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                          root, comm);
}

int(MPI_Scatter)(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    return bspmpi_Scatter(HERE, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                          comm);
}

int(MPI_Scatterv)(const void *sendbuf, const int sendcounts[], const int displs[],
                  MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                  int root, MPI_Comm comm)
{
    return bspmpi_Scatterv(HERE, sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount,
                           recvtype, root, comm);
}

int(MPI_Allgather)(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                   int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    return bspmpi_Allgather(HERE, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int(MPI_Alltoall)(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    return bspmpi_Alltoall(HERE, sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
}

int(MPI_Type_contiguous)(int count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    return bspmpi_Type_contiguous(HERE, count, oldtype, newtype);
}

int(MPI_Type_commit)(MPI_Datatype *datatype)
{
    return bspmpi_Type_commit(HERE, datatype);
}

int(MPI_Type_free)(MPI_Datatype *datatype)
{
    return bspmpi_Type_free(HERE, datatype);
}
