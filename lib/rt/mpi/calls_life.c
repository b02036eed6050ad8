/* calls_life.c - MPI_Init to MPI_Finalize, enquiries, and what all calls check. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "include/bsp.h"
#include "lib/base/io.h"
#include "lib/rt/mpi/inside.h"
#include "lib/rt/safe_point.h"

/* ---- Checks ---------------------------------------------------------------------------------- */

static const char *when_outside(void)
{
    switch (bspz_rt.life) {
    case BSPZ_LIFE_AFTER:
        return "called after MPI_Finalize";
    case BSPZ_LIFE_INERT:
        return "called in a process that the program forked itself; only processes made by "
               "MPI_Init "
               "may call MPI";
    case BSPZ_LIFE_LEAVING:
        return "called while the process is ending (in an exit handler?)";
    default:
        return "called before MPI_Init";
    }
}

static BSPZ_INLINED void note_call(enum bspz_call call, int line, const char *file)
{
    bspz_mpi.call = call;
    bspz_mpi.line = line;
    bspz_mpi.file = file;
    if (bspz_unlikely(bspz_rt.life != BSPZ_LIFE_SPMD || !bspz_mpi.peers))
        BSPZ_MPI_FAIL("%s", when_outside());
    bspz_note(call, bspz_here(file, line));
}

void bspz_mpi_enter(enum bspz_call call, int line, const char *file)
{
    note_call(call, line, file);
    while (bspz_safe_point_is_wanted())
        bspz_safe_point(line, file);
}

void bspz_mpi_check_comm(MPI_Comm comm)
{
    if (bspz_unlikely(comm != MPI_COMM_WORLD))
        BSPZ_MPI_FAIL("the only communicator is MPI_COMM_WORLD");
}

uint64_t bspz_mpi_check_bytes(const void *data, int count, MPI_Datatype type)
{
    uint64_t bytes = bspz_mpi_type_bytes(type);
    int64_t all;

    if (bspz_unlikely(bytes == 0))
        BSPZ_MPI_FAIL("this is not a datatype, or one without MPI_Type_commit");
    if (bspz_unlikely(count < 0))
        BSPZ_MPI_FAIL("negative count %d", count);
    if (bspz_unlikely(!data && count > 0))
        BSPZ_MPI_FAIL("NULL given as the data, with count %d", count);
    if (bspz_unlikely(__builtin_mul_overflow(count, bytes, &all)))
        BSPZ_MPI_FAIL("%d elements of %llu bytes are 2^63 bytes or more", count,
                      (unsigned long long)bytes);
    return (uint64_t)all;
}

void bspz_mpi_check_root(int root)
{
    if (bspz_unlikely(root < 0 || root >= bspz_rt.nprocs))
        BSPZ_MPI_FAIL("there is no process %d to be the root: they are 0 to %d", root,
                      bspz_rt.nprocs - 1);
}

/* ---- Life ------------------------------------------------------------------------------------ */

int bspmpi_Init(int line, const char *file, int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
    bspz_mpi.call = BSPZ_CALL_MPI_Init;
    bspz_mpi.line = line;
    bspz_mpi.file = file;
    if (bspz_rt.life != BSPZ_LIFE_BEFORE)
        BSPZ_MPI_FAIL("%s", bspz_rt.life == BSPZ_LIFE_SPMD ? "the parallel part has begun already"
                                                           : "the parallel part is over");
    bspz_rt.has_mail = true;
    bspz_mpi_take_part();
    bsp_begin_cpp(0, line, file);
    if (bspz_rt.board->flags & BSPZ_BOARD_REPLICAS)
        BSPZ_MPI_FAIL(
            "a job whose processes have replicas cannot run MPI programs: start it without "
            "--replicas");
    bspz_mpi_begin();
    bspz_mpi_messages_begin();
    bspz_mpi_enter(BSPZ_CALL_MPI_Init, line, file);
    bspz_mpi_ask_agent(BSPZ_REQUEST_MAIL);
    return MPI_SUCCESS;
}

int MPI_Initialized(int *flag)
{
    if (flag)
        *flag = bspz_mpi.peers != NULL;
    return MPI_SUCCESS;
}

int bspmpi_Finalize(int line, const char *file)
{
    bspz_go_on_leaving();
    bspz_mpi_enter(BSPZ_CALL_MPI_Finalize, line, file);
    bspz_mpi_flush();
    bsp_end_cpp(line, file);
    return MPI_SUCCESS;
}

/* No safe point: others may come late to that, and the job need not be saved. */
int bspmpi_Abort(int line, const char *file, MPI_Comm comm, int errorcode)
{
    int status = errorcode >= 1 && errorcode <= 255 ? errorcode : 1;
    char text[512];
    int length;

    note_call(BSPZ_CALL_MPI_Abort, line, file);
    bspz_mpi_check_comm(comm);
    bspz_set_leaving(status);
    bspz_stdio_flush_output();
    length = snprintf(text, sizeof text, "bspzero: %s:%d: MPI_Abort: pid %d of %d: status %d\n",
                      file, line, bspz_rt.pid, bspz_rt.nprocs, errorcode);
    bspz_write_all(STDERR_FILENO, text,
                   (size_t)length < sizeof text ? (size_t)length : sizeof text - 1);
    bspz_has_spoken();
    bspz_announce(BSPZ_RANK_ABORTED, status);
    exit(status);
}

/* ---- Enquiries ------------------------------------------------------------------------------- */

int bspmpi_Comm_size(int line, const char *file, MPI_Comm comm, int *size)
{
    bspz_mpi_enter(BSPZ_CALL_MPI_Comm_size, line, file);
    bspz_mpi_check_comm(comm);
    *size = bspz_rt.nprocs;
    return MPI_SUCCESS;
}

int bspmpi_Comm_rank(int line, const char *file, MPI_Comm comm, int *rank)
{
    bspz_mpi_enter(BSPZ_CALL_MPI_Comm_rank, line, file);
    bspz_mpi_check_comm(comm);
    *rank = bspz_rt.pid;
    return MPI_SUCCESS;
}

int bspmpi_Get_processor_name(int line, const char *file, char *name, int *resultlen)
{
    bspz_mpi_enter(BSPZ_CALL_MPI_Get_processor_name, line, file);
    if (gethostname(name, MPI_MAX_PROCESSOR_NAME) != 0)
        strcpy(name, "localhost");
    name[MPI_MAX_PROCESSOR_NAME - 1] = '\0';
    *resultlen = (int)strlen(name);
    return MPI_SUCCESS;
}

double MPI_Wtime(void)
{
    return bsp_time();
}
