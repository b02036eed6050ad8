/* calls_types.c - datatypes: arguments. */
#include <limits.h>

#include "lib/rt/mpi/inside.h"

int bspmpi_Type_contiguous(int line, const char *file, int count, MPI_Datatype oldtype,
                           MPI_Datatype *newtype)
{
    uint64_t bytes;

    bspz_mpi_enter(BSPZ_CALL_MPI_Type_contiguous, line, file);
    bytes = bspz_mpi_type_known(oldtype);
    if (bytes == 0)
        BSPZ_MPI_FAIL("this is not a datatype");
    if (count < 1 || bytes > (uint64_t)LONG_MAX / (uint64_t)count)
        BSPZ_MPI_FAIL("a type has at least 1 element and less than 2^63 bytes, not %d elements",
                      count);
    if (!newtype)
        BSPZ_MPI_FAIL("NULL given for the new type");
    *newtype = bspz_mpi_type_make(bytes * (uint64_t)count);
    if (*newtype == MPI_DATATYPE_NULL)
        BSPZ_MPI_FAIL("out of memory");
    return MPI_SUCCESS;
}

static void check_known(const MPI_Datatype *type)
{
    if (!type || bspz_mpi_type_known(*type) == 0)
        BSPZ_MPI_FAIL("this is not a datatype");
}

int bspmpi_Type_commit(int line, const char *file, MPI_Datatype *datatype)
{
    bspz_mpi_enter(BSPZ_CALL_MPI_Type_commit, line, file);
    check_known(datatype);
    bspz_mpi_type_commit(*datatype);
    return MPI_SUCCESS;
}

int bspmpi_Type_free(int line, const char *file, MPI_Datatype *datatype)
{
    bspz_mpi_enter(BSPZ_CALL_MPI_Type_free, line, file);
    check_known(datatype);
    if (!bspz_mpi_type_is_made(*datatype))
        BSPZ_MPI_FAIL("a basic datatype cannot be freed");
    bspz_mpi_type_drop(*datatype);
    *datatype = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}
