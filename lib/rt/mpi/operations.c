/* operations.c - the predefined operations of reductions, for the basic datatypes. */
#include <wchar.h>

#include "lib/rt/mpi/inside.h"

enum { CLASS_INTEGER = 1, CLASS_FLOATING = 2, CLASS_LOGICAL = 4, CLASS_BYTE = 8, CLASS_PAIR = 16 };

/* X(handle, C type, class); the integers are those that have all operations. */
#define INTEGERS(X)                                                                                \
    X(MPI_SIGNED_CHAR, signed char)                                                                \
    X(MPI_UNSIGNED_CHAR, unsigned char)                                                            \
    X(MPI_SHORT, short)                                                                            \
    X(MPI_UNSIGNED_SHORT, unsigned short)                                                          \
    X(MPI_INT, int)                                                                                \
    X(MPI_UNSIGNED, unsigned)                                                                      \
    X(MPI_LONG, long)                                                                              \
    X(MPI_UNSIGNED_LONG, unsigned long)                                                            \
    X(MPI_LONG_LONG, long long)                                                                    \
    X(MPI_UNSIGNED_LONG_LONG, unsigned long long)                                                  \
    X(MPI_INT8_T, int8_t)                                                                          \
    X(MPI_INT16_T, int16_t)                                                                        \
    X(MPI_INT32_T, int32_t)                                                                        \
    X(MPI_INT64_T, int64_t)                                                                        \
    X(MPI_UINT8_T, uint8_t)                                                                        \
    X(MPI_UINT16_T, uint16_t)                                                                      \
    X(MPI_UINT32_T, uint32_t)                                                                      \
    X(MPI_UINT64_T, uint64_t)
#define FLOATS(X)                                                                                  \
    X(MPI_FLOAT, float)                                                                            \
    X(MPI_DOUBLE, double)                                                                          \
    X(MPI_LONG_DOUBLE, long double)
#define PAIRS(X)                                                                                   \
    X(MPI_FLOAT_INT, float)                                                                        \
    X(MPI_DOUBLE_INT, double)                                                                      \
    X(MPI_LONG_INT, long)                                                                          \
    X(MPI_2INT, int)                                                                               \
    X(MPI_SHORT_INT, short)                                                                        \
    X(MPI_LONG_DOUBLE_INT, long double)

static unsigned class_of(MPI_Datatype type)
{
#define IS_INTEGER(handle, c_type)                                                                 \
    if (type == handle)                                                                            \
        return CLASS_INTEGER;
#define IS_FLOATING(handle, c_type)                                                                \
    if (type == handle)                                                                            \
        return CLASS_FLOATING;
#define IS_PAIR(handle, c_type)                                                                    \
    if (type == handle)                                                                            \
        return CLASS_PAIR;
    INTEGERS(IS_INTEGER)
    FLOATS(IS_FLOATING)
    PAIRS(IS_PAIR)
    if (type == MPI_C_BOOL)
        return CLASS_LOGICAL;
    return type == MPI_BYTE ? CLASS_BYTE : 0;
}

/* The classes of types that an operation is for; 0: no operation. */
static unsigned classes_for(MPI_Op op)
{
    if (op == MPI_MAX || op == MPI_MIN || op == MPI_SUM || op == MPI_PROD)
        return CLASS_INTEGER | CLASS_FLOATING;
    if (op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR)
        return CLASS_INTEGER | CLASS_LOGICAL;
    if (op == MPI_BAND || op == MPI_BOR || op == MPI_BXOR)
        return CLASS_INTEGER | CLASS_BYTE;
    return op == MPI_MAXLOC || op == MPI_MINLOC ? CLASS_PAIR : 0;
}

const char *bspz_mpi_operation_fault(MPI_Op op, MPI_Datatype type)
{
    unsigned classes = classes_for(op);

    if (classes == 0)
        return "this is not a predefined operation";
    return classes & class_of(type) ? NULL : "this operation is not for this datatype";
}

#define EACH(expression)                                                                           \
    do {                                                                                           \
        for (uint64_t i = 0; i < count; i++) {                                                     \
            const __typeof__(*a) x = a[i], y = b[i];                                               \
                                                                                                   \
            a[i] = (__typeof__(*a))(expression);                                                   \
        }                                                                                          \
        return;                                                                                    \
    } while (0)

#define ARITHMETIC()                                                                               \
    do {                                                                                           \
        if (op == MPI_MAX)                                                                         \
            EACH(x > y ? x : y);                                                                   \
        if (op == MPI_MIN)                                                                         \
            EACH(x < y ? x : y);                                                                   \
        if (op == MPI_SUM)                                                                         \
            EACH(x + y);                                                                           \
        if (op == MPI_PROD)                                                                        \
            EACH(x *y);                                                                            \
    } while (0)

#define LOGICAL()                                                                                  \
    do {                                                                                           \
        if (op == MPI_LAND)                                                                        \
            EACH(x &&y);                                                                           \
        if (op == MPI_LOR)                                                                         \
            EACH(x || y);                                                                          \
        if (op == MPI_LXOR)                                                                        \
            EACH(!x != !y);                                                                        \
    } while (0)

#define BITS()                                                                                     \
    do {                                                                                           \
        if (op == MPI_BAND)                                                                        \
            EACH(x &y);                                                                            \
        if (op == MPI_BOR)                                                                         \
            EACH(x | y);                                                                           \
        if (op == MPI_BXOR)                                                                        \
            EACH(x ^ y);                                                                           \
    } while (0)

/* The greater (less) value with its index; of equal ones the least index. */
#define LOCATE()                                                                                   \
    do {                                                                                           \
        for (uint64_t i = 0; i < count; i++)                                                       \
            if (b[i].value == a[i].value ? b[i].index < a[i].index                                 \
                                         : (b[i].value > a[i].value) == (op == MPI_MAXLOC))        \
                a[i] = b[i];                                                                       \
        return;                                                                                    \
    } while (0)

void bspz_mpi_combine(MPI_Op op, MPI_Datatype type, void *into, const void *with, uint64_t count)
{
#define COMBINE_INTEGERS(handle, c_type)                                                           \
    if (type == handle) {                                                                          \
        c_type *a = into;                                                                          \
        const c_type *b = with;                                                                    \
                                                                                                   \
        ARITHMETIC();                                                                              \
        LOGICAL();                                                                                 \
        BITS();                                                                                    \
    }
#define COMBINE_FLOATS(handle, c_type)                                                             \
    if (type == handle) {                                                                          \
        c_type *a = into;                                                                          \
        const c_type *b = with;                                                                    \
                                                                                                   \
        ARITHMETIC();                                                                              \
    }
#define COMBINE_PAIRS(handle, c_type)                                                              \
    if (type == handle) {                                                                          \
        struct pair {                                                                              \
            c_type value;                                                                          \
            int index;                                                                             \
        } *a = into;                                                                               \
        const struct pair *b = with;                                                               \
                                                                                                   \
        LOCATE();                                                                                  \
    }
    INTEGERS(COMBINE_INTEGERS)
    FLOATS(COMBINE_FLOATS)
    PAIRS(COMBINE_PAIRS)
    if (type == MPI_C_BOOL) {
        _Bool *a = into;
        const _Bool *b = with;

        LOGICAL();
    }
    if (type == MPI_BYTE) {
        unsigned char *a = into;
        const unsigned char *b = with;

        BITS();
    }
}
