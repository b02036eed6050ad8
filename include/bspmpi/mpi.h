/* mpi.h - a subset of MPI (Message Passing Interface, version 3.1), run by bsprun.
 *
 * Compile with bspmpicc, which finds this header before that of a real MPI.  What the subset lacks
 * does not compile: mpi_missing.h names it.  doc/mpi-subset.md says what differs from a real MPI.
 *
 * Errors end the job with one line that names the call, its line and the process; calls return
 * MPI_SUCCESS.  The only communicator is MPI_COMM_WORLD.  Messages of one process to another do not
 * overtake each other.  Not for several threads.
 *
 * Every call is also a macro that passes the caller's line and file on.
 */
#ifndef BSPMPI_MPI_H
#define BSPMPI_MPI_H

/* No warnings about this header, whose directory is not one of the system's for the compiler. */
#pragma GCC system_header

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MPI_VERSION            3
#define MPI_SUBVERSION         1
#define BSPMPI_SUBSET          1 /* only here */

#define MPI_SUCCESS            0
#define MPI_ERR_OTHER          15

#define MPI_ANY_SOURCE         (-1)
#define MPI_ANY_TAG            (-1)
#define MPI_PROC_NULL          (-2)
#define MPI_UNDEFINED          (-32766)
#define MPI_MAX_PROCESSOR_NAME 256

/* Handles are distinct types, so that the compiler sees when they are confused. */
typedef struct bspmpi_comm *MPI_Comm;
typedef struct bspmpi_type *MPI_Datatype;
typedef struct bspmpi_op *MPI_Op;
typedef struct bspmpi_request *MPI_Request;

#define MPI_COMM_WORLD    ((MPI_Comm)1)
#define MPI_COMM_NULL     ((MPI_Comm)0)
#define MPI_REQUEST_NULL  ((MPI_Request)0)
#define MPI_DATATYPE_NULL ((MPI_Datatype)0)
#define MPI_OP_NULL       ((MPI_Op)0)

typedef struct {
    int MPI_SOURCE, MPI_TAG, MPI_ERROR;
    size_t bspmpi_bytes; /* for MPI_Get_count */
} MPI_Status;

#define MPI_STATUS_IGNORE      ((MPI_Status *)0)
#define MPI_STATUSES_IGNORE    ((MPI_Status *)0)

#define MPI_CHAR               ((MPI_Datatype)1)
#define MPI_SIGNED_CHAR        ((MPI_Datatype)2)
#define MPI_UNSIGNED_CHAR      ((MPI_Datatype)3)
#define MPI_BYTE               ((MPI_Datatype)4)
#define MPI_SHORT              ((MPI_Datatype)5)
#define MPI_UNSIGNED_SHORT     ((MPI_Datatype)6)
#define MPI_INT                ((MPI_Datatype)7)
#define MPI_UNSIGNED           ((MPI_Datatype)8)
#define MPI_LONG               ((MPI_Datatype)9)
#define MPI_UNSIGNED_LONG      ((MPI_Datatype)10)
#define MPI_LONG_LONG          ((MPI_Datatype)11)
#define MPI_LONG_LONG_INT      MPI_LONG_LONG
#define MPI_UNSIGNED_LONG_LONG ((MPI_Datatype)12)
#define MPI_FLOAT              ((MPI_Datatype)13)
#define MPI_DOUBLE             ((MPI_Datatype)14)
#define MPI_LONG_DOUBLE        ((MPI_Datatype)15)
#define MPI_WCHAR              ((MPI_Datatype)16)
#define MPI_C_BOOL             ((MPI_Datatype)17)
#define MPI_INT8_T             ((MPI_Datatype)18)
#define MPI_INT16_T            ((MPI_Datatype)19)
#define MPI_INT32_T            ((MPI_Datatype)20)
#define MPI_INT64_T            ((MPI_Datatype)21)
#define MPI_UINT8_T            ((MPI_Datatype)22)
#define MPI_UINT16_T           ((MPI_Datatype)23)
#define MPI_UINT32_T           ((MPI_Datatype)24)
#define MPI_UINT64_T           ((MPI_Datatype)25)
/* A value and an int, for MPI_MAXLOC and MPI_MINLOC. */
#define MPI_FLOAT_INT          ((MPI_Datatype)26)
#define MPI_DOUBLE_INT         ((MPI_Datatype)27)
#define MPI_LONG_INT           ((MPI_Datatype)28)
#define MPI_2INT               ((MPI_Datatype)29)
#define MPI_SHORT_INT          ((MPI_Datatype)30)
#define MPI_LONG_DOUBLE_INT    ((MPI_Datatype)31)

#define MPI_MAX                ((MPI_Op)1)
#define MPI_MIN                ((MPI_Op)2)
#define MPI_SUM                ((MPI_Op)3)
#define MPI_PROD               ((MPI_Op)4)
#define MPI_LAND               ((MPI_Op)5)
#define MPI_BAND               ((MPI_Op)6)
#define MPI_LOR                ((MPI_Op)7)
#define MPI_BOR                ((MPI_Op)8)
#define MPI_LXOR               ((MPI_Op)9)
#define MPI_BXOR               ((MPI_Op)10)
#define MPI_MAXLOC             ((MPI_Op)11)
#define MPI_MINLOC             ((MPI_Op)12)

/* Makes the processes of the job as bsp_begin(0) does, all of which go on from here with what the
 * one process had before.  The arguments are not looked at. */
int MPI_Init(int *argc, char ***argv);
int MPI_Initialized(int *flag);
/* Waits for all processes; process 0 goes on, the others leave through exit(0). */
int MPI_Finalize(void);
/* Ends the job with status errorcode (1 if it is not within 1 to 255). */
int MPI_Abort(MPI_Comm comm, int errorcode);

int MPI_Comm_size(MPI_Comm comm, int *size);
int MPI_Comm_rank(MPI_Comm comm, int *rank);
/* The name of the host. */
int MPI_Get_processor_name(char *name, int *resultlen);
/* Seconds since MPI_Init. */
double MPI_Wtime(void);

/* Messages.  A short message (8 KiB on one host, 256 KiB to another; less with more than 8
 * processes) is sent whether or not there is a receive; MPI_Send of a longer one, and MPI_Ssend of
 * any, return when it is being received. */
int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
int MPI_Ssend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
             MPI_Status *status);
int MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                 void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                 MPI_Comm comm, MPI_Status *status);
int MPI_Isend(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm,
              MPI_Request *request);
int MPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
              MPI_Request *request);
int MPI_Wait(MPI_Request *request, MPI_Status *status);
int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]);
int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status);
int MPI_Probe(int source, int tag, MPI_Comm comm, MPI_Status *status);
int MPI_Iprobe(int source, int tag, MPI_Comm comm, int *flag, MPI_Status *status);
int MPI_Get_count(const MPI_Status *status, MPI_Datatype datatype, int *count);

/* Collective operations.  Operations combine values in an order that depends only on the number of
 * processes and the root; that of MPI_Allreduce is that of MPI_Reduce to process 0. */
int MPI_Barrier(MPI_Comm comm);
int MPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm);
int MPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
               int root, MPI_Comm comm);
int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm);
int MPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
               int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
int MPI_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root,
                MPI_Comm comm);
int MPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm);
int MPI_Scatterv(const void *sendbuf, const int sendcounts[], const int displs[],
                 MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                 int root, MPI_Comm comm);
int MPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                  int recvcount, MPI_Datatype recvtype, MPI_Comm comm);
int MPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                 int recvcount, MPI_Datatype recvtype, MPI_Comm comm);

/* Types of several elements of one type, one after the other; not for operations. */
int MPI_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype *newtype);
int MPI_Type_commit(MPI_Datatype *datatype);
int MPI_Type_free(MPI_Datatype *datatype);

/* What the macros call. */
int bspmpi_Init(int line, const char *file, int *argc, char ***argv);
int bspmpi_Finalize(int line, const char *file);
int bspmpi_Abort(int line, const char *file, MPI_Comm comm, int errorcode);
int bspmpi_Comm_size(int line, const char *file, MPI_Comm comm, int *size);
int bspmpi_Comm_rank(int line, const char *file, MPI_Comm comm, int *rank);
int bspmpi_Get_processor_name(int line, const char *file, char *name, int *resultlen);
int bspmpi_Send(int line, const char *file, const void *buf, int count, MPI_Datatype datatype,
                int dest, int tag, MPI_Comm comm);
int bspmpi_Ssend(int line, const char *file, const void *buf, int count, MPI_Datatype datatype,
                 int dest, int tag, MPI_Comm comm);
int bspmpi_Recv(int line, const char *file, void *buf, int count, MPI_Datatype datatype, int source,
                int tag, MPI_Comm comm, MPI_Status *status);
int bspmpi_Sendrecv(int line, const char *file, const void *sendbuf, int sendcount,
                    MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, int recvcount,
                    MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                    MPI_Status *status);
int bspmpi_Isend(int line, const char *file, const void *buf, int count, MPI_Datatype datatype,
                 int dest, int tag, MPI_Comm comm, MPI_Request *request);
int bspmpi_Irecv(int line, const char *file, void *buf, int count, MPI_Datatype datatype,
                 int source, int tag, MPI_Comm comm, MPI_Request *request);
int bspmpi_Wait(int line, const char *file, MPI_Request *request, MPI_Status *status);
int bspmpi_Waitall(int line, const char *file, int count, MPI_Request requests[],
                   MPI_Status statuses[]);
int bspmpi_Test(int line, const char *file, MPI_Request *request, int *flag, MPI_Status *status);
int bspmpi_Probe(int line, const char *file, int source, int tag, MPI_Comm comm,
                 MPI_Status *status);
int bspmpi_Iprobe(int line, const char *file, int source, int tag, MPI_Comm comm, int *flag,
                  MPI_Status *status);
int bspmpi_Get_count(int line, const char *file, const MPI_Status *status, MPI_Datatype datatype,
                     int *count);
int bspmpi_Barrier(int line, const char *file, MPI_Comm comm);
int bspmpi_Bcast(int line, const char *file, void *buffer, int count, MPI_Datatype datatype,
                 int root, MPI_Comm comm);
int bspmpi_Reduce(int line, const char *file, const void *sendbuf, void *recvbuf, int count,
                  MPI_Datatype datatype, MPI_Op op, int root, MPI_Comm comm);
int bspmpi_Allreduce(int line, const char *file, const void *sendbuf, void *recvbuf, int count,
                     MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
int bspmpi_Gather(int line, const char *file, const void *sendbuf, int sendcount,
                  MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                  int root, MPI_Comm comm);
int bspmpi_Gatherv(int line, const char *file, const void *sendbuf, int sendcount,
                   MPI_Datatype sendtype, void *recvbuf, const int recvcounts[], const int displs[],
                   MPI_Datatype recvtype, int root, MPI_Comm comm);
int bspmpi_Scatter(int line, const char *file, const void *sendbuf, int sendcount,
                   MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                   int root, MPI_Comm comm);
int bspmpi_Scatterv(int line, const char *file, const void *sendbuf, const int sendcounts[],
                    const int displs[], MPI_Datatype sendtype, void *recvbuf, int recvcount,
                    MPI_Datatype recvtype, int root, MPI_Comm comm);
int bspmpi_Allgather(int line, const char *file, const void *sendbuf, int sendcount,
                     MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                     MPI_Comm comm);
int bspmpi_Alltoall(int line, const char *file, const void *sendbuf, int sendcount,
                    MPI_Datatype sendtype, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                    MPI_Comm comm);
int bspmpi_Type_contiguous(int line, const char *file, int count, MPI_Datatype oldtype,
                           MPI_Datatype *newtype);
int bspmpi_Type_commit(int line, const char *file, MPI_Datatype *datatype);
int bspmpi_Type_free(int line, const char *file, MPI_Datatype *datatype);
#ifdef __cplusplus
}
#endif

#define MPI_Init(...)               bspmpi_Init(__LINE__, __FILE__, __VA_ARGS__)
#define MPI_Finalize()              bspmpi_Finalize(__LINE__, __FILE__)
#define MPI_Abort(...)              bspmpi_Abort(__LINE__, __FILE__, __VA_ARGS__)
#define MPI_Comm_size(...)          bspmpi_Comm_size(__LINE__, __FILE__, __VA_ARGS__)
#define MPI_Comm_rank(...)          bspmpi_Comm_rank(__LINE__, __FILE__, __VA_ARGS__)
#define MPI_Get_processor_name(...) bspmpi_Get_processor_name(__LINE__, __FILE__, __VA_ARGS__)
#define MPI_Send(...)               bspmpi_Send(__LINE__, __FILE__, __VA_ARGS__)
#define MPI_Ssend(...)              bspmpi_Ssend(__LINE__, __FILE__, __VA_ARGS__)
#define MPI_Recv(...)               bspmpi_Recv(__LINE__, __FILE__, __VA_ARGS__)
#define MPI_Sendrecv(...)           bspmpi_Sendrecv(__LINE__, __FILE__, __VA_ARGS__)
#define MPI_Isend(...)              bspmpi_Isend(__LINE__, __FILE__, __VA_ARGS__)
#define MPI_Irecv(...)              bspmpi_Irecv(__LINE__, __FILE__, __VA_ARGS__)
#define MPI_Wait(...)               bspmpi_Wait(__LINE__, __FILE__, __VA_ARGS__)
#define MPI_Waitall(...)            bspmpi_Waitall(__LINE__, __FILE__, __VA_ARGS__)
#define MPI_Test(...)               bspmpi_Test(__LINE__, __FILE__, __VA_ARGS__)
#define MPI_Probe(...)              bspmpi_Probe(__LINE__, __FILE__, __VA_ARGS__)
#define MPI_Iprobe(...)             bspmpi_Iprobe(__LINE__, __FILE__, __VA_ARGS__)
#define MPI_Get_count(...)          bspmpi_Get_count(__LINE__, __FILE__, __VA_ARGS__)
#define MPI_Barrier(...)            bspmpi_Barrier(__LINE__, __FILE__, __VA_ARGS__)
#define MPI_Bcast(...)              bspmpi_Bcast(__LINE__, __FILE__, __VA_ARGS__)
#define MPI_Reduce(...)             bspmpi_Reduce(__LINE__, __FILE__, __VA_ARGS__)
#define MPI_Allreduce(...)          bspmpi_Allreduce(__LINE__, __FILE__, __VA_ARGS__)
#define MPI_Gather(...)             bspmpi_Gather(__LINE__, __FILE__, __VA_ARGS__)
#define MPI_Gatherv(...)            bspmpi_Gatherv(__LINE__, __FILE__, __VA_ARGS__)
#define MPI_Scatter(...)            bspmpi_Scatter(__LINE__, __FILE__, __VA_ARGS__)
#define MPI_Scatterv(...)           bspmpi_Scatterv(__LINE__, __FILE__, __VA_ARGS__)
#define MPI_Allgather(...)          bspmpi_Allgather(__LINE__, __FILE__, __VA_ARGS__)
#define MPI_Alltoall(...)           bspmpi_Alltoall(__LINE__, __FILE__, __VA_ARGS__)
#define MPI_Type_contiguous(...)    bspmpi_Type_contiguous(__LINE__, __FILE__, __VA_ARGS__)
#define MPI_Type_commit(...)        bspmpi_Type_commit(__LINE__, __FILE__, __VA_ARGS__)
#define MPI_Type_free(...)          bspmpi_Type_free(__LINE__, __FILE__, __VA_ARGS__)
#include "mpi_missing.h"

#endif
