/* types.c - datatypes: the basic ones, and contiguous ones made of them. */
#include <stdlib.h>
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
                                           sizeof(struct {
                                               float a;
                                               int b;
                                           }),
                                           sizeof(struct {
                                               double a;
                                               int b;
                                           }),
                                           sizeof(struct {
                                               long a;
                                               int b;
                                           }),
                                           sizeof(struct {
                                               int a;
                                               int b;
                                           }),
                                           sizeof(struct {
                                               short a;
                                               int b;
                                           }),
                                           sizeof(struct {
                                               long double a;
                                               int b;
                                           })};

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

uint64_t bspz_mpi_type_known(MPI_Datatype type)
{
    const struct made *found = made_of(type);

    return found ? found->bytes : bspz_mpi_type_bytes(type);
}

bool bspz_mpi_type_is_made(MPI_Datatype type)
{
    return made_of(type) != NULL;
}

MPI_Datatype bspz_mpi_type_make(uint64_t bytes)
{
    size_t place = 0;

    while (place < made_count && made[place].state != MADE_NOT)
        place++;
    if (place == made_count) {
        struct made *more = realloc(made, (made_count + 1) * sizeof *made);

        if (!more)
            return MPI_DATATYPE_NULL;
        made = more;
        made_count++;
    }
    made[place] = (struct made){MADE_UNCOMMITTED, bytes};
    return (MPI_Datatype)(uintptr_t)(BASIC + place);
}

void bspz_mpi_type_commit(MPI_Datatype type)
{
    struct made *found = made_of(type);

    if (found)
        found->state = MADE_COMMITTED;
}

void bspz_mpi_type_drop(MPI_Datatype type)
{
    struct made *found = made_of(type);

    if (found)
        found->state = MADE_NOT;
}
