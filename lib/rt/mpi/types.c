/* types.c - datatypes: the basic ones, and contiguous ones made of them. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "lib/rt/mpi/inside.h"

#define BASIC 32 /* handles below are basic types */

enum made_state { MADE_NOT, MADE_UNCOMMITTED, MADE_COMMITTED };

/* The type with handle BASIC + its index. */
struct made {
    enum made_state state;
    uint64_t bytes;
};
static struct made *made;
static size_t made_count;

static const uint8_t basic_bytes[BASIC] = {0,
                                           sizeof(char),
                                           sizeof(signed char),
                                           sizeof(unsigned char),
                                           1,
                                           sizeof(short),
                                           sizeof(unsigned short),
                                           sizeof(int),
                                           sizeof(unsigned),
                                           sizeof(long),
                                           sizeof(unsigned long),
                                           sizeof(long long),
                                           sizeof(unsigned long long),
                                           sizeof(float),
                                           sizeof(double),
                                           sizeof(long double),
                                           sizeof(wchar_t),
                                           sizeof(_Bool),
                                           1,
                                           2,
                                           4,
                                           8,
                                           1,
                                           2,
                                           4,
                                           8,
                                           sizeof(struct { float a; int b; }),
                                           sizeof(struct { double a; int b; }),
                                           sizeof(struct { long a; int b; }),
                                           sizeof(struct { int a; int b; }),
                                           sizeof(struct { short a; int b; }),
                                           sizeof(struct { long double a; int b; })};

static uintptr_t number_of(MPI_Datatype type)
{
    return (uintptr_t)type;
}

/* NULL: no such type. */
static struct made *made_of(MPI_Datatype type)
{
    uintptr_t number = number_of(type);
    struct made *found;

    if (number < BASIC || number - BASIC >= made_count)
        return NULL;
    found = &made[number - BASIC];
    return found->state == MADE_NOT ? NULL : found;
}

uint64_t bspz_mpi_type_bytes(MPI_Datatype type)
{
    const struct made *found;

    if (number_of(type) < BASIC)
        return basic_bytes[number_of(type)];
    found = made_of(type);
    return found && found->state == MADE_COMMITTED ? found->bytes : 0;
}

static size_t unused_place(void)
{
    size_t place = 0;

    while (place < made_count && made[place].state != MADE_NOT)
        place++;
    if (place == made_count) {
        struct made *more = realloc(made, (made_count + 1) * sizeof *made);

        if (!more)
            BSPZ_MPI_FAIL("out of memory");
        made = more;
        made[made_count++] = (struct made){0};
    }
    return place;
}

int bspmpi_Type_contiguous(int line, const char *file, int count, MPI_Datatype oldtype,
                           MPI_Datatype *newtype)
{
    uint64_t bytes;
    size_t place;

    bspz_mpi_enter(BSPZ_CALL_MPI_Type_contiguous, line, file);
    bytes = number_of(oldtype) < BASIC ? bspz_mpi_type_bytes(oldtype)
            : made_of(oldtype)         ? made_of(oldtype)->bytes
                                       : 0;
    if (bytes == 0)
        BSPZ_MPI_FAIL("this is not a datatype");
    if (count < 1 || bytes > (uint64_t)LONG_MAX / (uint64_t)count)
        BSPZ_MPI_FAIL("a type has at least 1 element and less than 2^63 bytes, not %d elements",
                      count);
    if (!newtype)
        BSPZ_MPI_FAIL("NULL given for the new type");
    place = unused_place();
    made[place] = (struct made){MADE_UNCOMMITTED, bytes * (uint64_t)count};
    *newtype = (MPI_Datatype)(uintptr_t)(BASIC + place);
    return MPI_SUCCESS;
}

/* A type that the program has made, or NULL for a basic one. */
static struct made *checked(const MPI_Datatype *type)
{
    if (!type || !(made_of(*type) || (number_of(*type) < BASIC && bspz_mpi_type_bytes(*type) > 0)))
        BSPZ_MPI_FAIL("this is not a datatype");
    return made_of(*type);
}

int bspmpi_Type_commit(int line, const char *file, MPI_Datatype *datatype)
{
    struct made *type;

    bspz_mpi_enter(BSPZ_CALL_MPI_Type_commit, line, file);
    type = checked(datatype);
    if (type)
        type->state = MADE_COMMITTED;
    return MPI_SUCCESS;
}

int bspmpi_Type_free(int line, const char *file, MPI_Datatype *datatype)
{
    struct made *type;

    bspz_mpi_enter(BSPZ_CALL_MPI_Type_free, line, file);
    type = checked(datatype);
    if (!type)
        BSPZ_MPI_FAIL("a basic datatype cannot be freed");
    type->state = MADE_NOT;
    *datatype = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}
