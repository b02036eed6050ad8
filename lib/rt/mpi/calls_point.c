/* calls_point.c - messages from one process to another. */
#include <limits.h>

#include "lib/rt/mpi/inside.h"

static void check_tag(int tag, bool any)
{
    if (bspz_unlikely(tag < 0 && !(any && tag == MPI_ANY_TAG)))
        BSPZ_MPI_FAIL("a tag is not negative, but %d is", tag);
}

/* Returns whether there is such a process: there is none behind MPI_PROC_NULL. */
static bool check_peer(int peer, bool any)
{
    if (bspz_unlikely(peer >= bspz_rt.nprocs ||
                      (peer < 0 && peer != MPI_PROC_NULL && !(any && peer == MPI_ANY_SOURCE))))
        BSPZ_MPI_FAIL("there is no process %d: they are 0 to %d", peer, bspz_rt.nprocs - 1);
    return peer != MPI_PROC_NULL;
}

static void fill(MPI_Status *status, int source, int tag, uint64_t bytes)
{
    if (!status)
        return;
    status->MPI_SOURCE = source;
    status->MPI_TAG = tag;
    status->MPI_ERROR = MPI_SUCCESS;
    status->bspmpi_bytes = bytes;
}

/* Of a send, or of no operation. */
static void fill_empty(MPI_Status *status)
{
    fill(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
}

static void fill_from(MPI_Status *status, const struct bspmpi_request *request)
{
    if (request->is_receive)
        fill(status, request->peer, request->tag, request->size);
    else
        fill_empty(status);
}

/* Checks the arguments and begins to send.  False: to nobody. */
static bool begin_send(struct bspmpi_request *request, const void *buf, int count,
                       MPI_Datatype type, int dest, int tag, MPI_Comm comm, bool sync)
{
    uint64_t bytes = bspz_mpi_check_bytes(buf, count, type);

    bspz_mpi_check_comm(comm);
    check_tag(tag, false);
    if (!check_peer(dest, false))
        return false;
    bspz_mpi_send(request, buf, bytes, dest, tag, BSPZ_MPI_USER, sync);
    return true;
}

static bool begin_receive(struct bspmpi_request *request, void *buf, int count, MPI_Datatype type,
                          int source, int tag, MPI_Comm comm)
{
    uint64_t bytes = bspz_mpi_check_bytes(buf, count, type);

    bspz_mpi_check_comm(comm);
    check_tag(tag, true);
    if (!check_peer(source, true))
        return false;
    bspz_mpi_receive(request, buf, bytes, source, tag, BSPZ_MPI_USER);
    return true;
}

int bspmpi_Send(int line, const char *file, const void *buf, int count, MPI_Datatype datatype,
                int dest, int tag, MPI_Comm comm)
{
    struct bspmpi_request request;

    bspz_mpi_enter(BSPZ_CALL_MPI_Send, line, file);
    if (begin_send(&request, buf, count, datatype, dest, tag, comm, false))
        bspz_mpi_wait(&request);
    return MPI_SUCCESS;
}

int bspmpi_Ssend(int line, const char *file, const void *buf, int count, MPI_Datatype datatype,
                 int dest, int tag, MPI_Comm comm)
{
    struct bspmpi_request request;

    bspz_mpi_enter(BSPZ_CALL_MPI_Ssend, line, file);
    if (begin_send(&request, buf, count, datatype, dest, tag, comm, true))
        bspz_mpi_wait(&request);
    return MPI_SUCCESS;
}

int bspmpi_Recv(int line, const char *file, void *buf, int count, MPI_Datatype datatype, int source,
                int tag, MPI_Comm comm, MPI_Status *status)
{
    struct bspmpi_request request;

    bspz_mpi_enter(BSPZ_CALL_MPI_Recv, line, file);
    if (begin_receive(&request, buf, count, datatype, source, tag, comm)) {
        bspz_mpi_wait(&request);
        fill_from(status, &request);
    } else {
        fill(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    }
    return MPI_SUCCESS;
}

int bspmpi_Sendrecv(int line, const char *file, const void *sendbuf, int sendcount,
                    MPI_Datatype sendtype, int dest, int sendtag, void *recvbuf, int recvcount,
                    MPI_Datatype recvtype, int source, int recvtag, MPI_Comm comm,
                    MPI_Status *status)
{
    struct bspmpi_request coming, going;
    bool comes, goes;

    bspz_mpi_enter(BSPZ_CALL_MPI_Sendrecv, line, file);
    comes = begin_receive(&coming, recvbuf, recvcount, recvtype, source, recvtag, comm);
    goes = begin_send(&going, sendbuf, sendcount, sendtype, dest, sendtag, comm, false);
    if (comes)
        bspz_mpi_wait(&coming);
    if (goes)
        bspz_mpi_wait(&going);
    if (comes)
        fill_from(status, &coming);
    else
        fill(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
    return MPI_SUCCESS;
}

/* ---- Requests -------------------------------------------------------------------------------- */

/* An operation with MPI_PROC_NULL is done at once. */
static void nothing_to_do(struct bspmpi_request *request, bool is_receive)
{
    request->done = true;
    request->is_receive = is_receive;
    request->peer = MPI_PROC_NULL;
    request->tag = MPI_ANY_TAG;
    request->size = 0;
}

static void check_handle(const MPI_Request *request)
{
    if (!request)
        BSPZ_MPI_FAIL("NULL given for the request");
}

int bspmpi_Isend(int line, const char *file, const void *buf, int count, MPI_Datatype datatype,
                 int dest, int tag, MPI_Comm comm, MPI_Request *request)
{
    bspz_mpi_enter(BSPZ_CALL_MPI_Isend, line, file);
    check_handle(request);
    *request = bspz_mpi_request_new();
    if (!begin_send(*request, buf, count, datatype, dest, tag, comm, false))
        nothing_to_do(*request, false);
    return MPI_SUCCESS;
}

int bspmpi_Irecv(int line, const char *file, void *buf, int count, MPI_Datatype datatype,
                 int source, int tag, MPI_Comm comm, MPI_Request *request)
{
    bspz_mpi_enter(BSPZ_CALL_MPI_Irecv, line, file);
    check_handle(request);
    *request = bspz_mpi_request_new();
    if (!begin_receive(*request, buf, count, datatype, source, tag, comm))
        nothing_to_do(*request, true);
    return MPI_SUCCESS;
}

/* The operation is done: its request does not exist any more. */
static void complete(MPI_Request *request, MPI_Status *status)
{
    fill_from(status, *request);
    bspz_mpi_request_free(*request);
    *request = MPI_REQUEST_NULL;
}

static void wait_for(MPI_Request *request, MPI_Status *status)
{
    if (*request == MPI_REQUEST_NULL) {
        fill_empty(status);
        return;
    }
    bspz_mpi_wait(*request);
    complete(request, status);
}

int bspmpi_Wait(int line, const char *file, MPI_Request *request, MPI_Status *status)
{
    bspz_mpi_enter(BSPZ_CALL_MPI_Wait, line, file);
    check_handle(request);
    wait_for(request, status);
    return MPI_SUCCESS;
}

int bspmpi_Waitall(int line, const char *file, int count, MPI_Request requests[],
                   MPI_Status statuses[])
{
    bspz_mpi_enter(BSPZ_CALL_MPI_Waitall, line, file);
    if (count < 0)
        BSPZ_MPI_FAIL("negative count %d", count);
    if (count > 0)
        check_handle(requests);
    for (int i = 0; i < count; i++)
        wait_for(&requests[i], statuses ? &statuses[i] : NULL);
    return MPI_SUCCESS;
}

int bspmpi_Test(int line, const char *file, MPI_Request *request, int *flag, MPI_Status *status)
{
    bspz_mpi_enter(BSPZ_CALL_MPI_Test, line, file);
    check_handle(request);
    if (*request == MPI_REQUEST_NULL) {
        fill_empty(status);
        *flag = 1;
        return MPI_SUCCESS;
    }
    if (!(*request)->done && !bspz_mpi_progress())
        bspz_mpi_idle();
    *flag = (*request)->done;
    if (*flag)
        complete(request, status);
    return MPI_SUCCESS;
}

/* ---- Probing --------------------------------------------------------------------------------- */

static bool probe(int source, int tag, MPI_Comm comm, bool waits, MPI_Status *status)
{
    struct bspz_mpi_found found;

    bspz_mpi_check_comm(comm);
    check_tag(tag, true);
    if (!check_peer(source, true)) {
        fill(status, MPI_PROC_NULL, MPI_ANY_TAG, 0);
        return true;
    }
    if (!bspz_mpi_probe(source, tag, waits, &found))
        return false;
    fill(status, found.source, found.tag, found.size);
    return true;
}

int bspmpi_Probe(int line, const char *file, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
    bspz_mpi_enter(BSPZ_CALL_MPI_Probe, line, file);
    probe(source, tag, comm, true, status);
    return MPI_SUCCESS;
}

int bspmpi_Iprobe(int line, const char *file, int source, int tag, MPI_Comm comm, int *flag,
                  MPI_Status *status)
{
    bspz_mpi_enter(BSPZ_CALL_MPI_Iprobe, line, file);
    *flag = probe(source, tag, comm, false, status);
    if (!*flag)
        bspz_mpi_idle();
    return MPI_SUCCESS;
}

int bspmpi_Get_count(int line, const char *file, const MPI_Status *status, MPI_Datatype datatype,
                     int *count)
{
    uint64_t bytes;

    bspz_mpi_enter(BSPZ_CALL_MPI_Get_count, line, file);
    bytes = bspz_mpi_type_bytes(datatype);
    if (!status || bytes == 0)
        BSPZ_MPI_FAIL("%s", status ? "this is not a datatype, or one without MPI_Type_commit"
                                   : "MPI_STATUS_IGNORE has no count");
    *count = status->bspmpi_bytes % bytes == 0 && status->bspmpi_bytes / bytes <= INT_MAX
                 ? (int)(status->bspmpi_bytes / bytes)
                 : MPI_UNDEFINED;
    return MPI_SUCCESS;
}
