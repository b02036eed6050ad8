/* Makes routines callable from Fortran 77.
 *
 * Arguments are passed by reference; the compiler appends an underscore to the name, older ones two
 * where the name has one already; lengths of character arguments follow the last argument (an int
 * or, with newer compilers, a size_t, of which the lower half is all that matters).  Every
 * subroutine exists as bspX and as cppX, which takes the line and file of the call after the other
 * arguments (sources are rewritten to call it).
 *
 * All names are weak, so that a program's own routine of the same name does not conflict.
 */
#ifndef BSPZ_RT_FORTRAN_FORTRAN_H
#define BSPZ_RT_FORTRAN_FORTRAN_H

#include <stddef.h>

#include "include/bsp.h"

#pragma GCC visibility push(hidden)

/* The name as a C string that remains valid. */
const char *bspz_fortran_file(const char *text, int length);

#pragma GCC visibility pop

#define FORTRAN_WEAK        __attribute__((__weak__))

#define FORTRAN_UNPACK(...) __VA_ARGS__

/* FORTRAN_SUBROUTINE(put, (const int *pid, ...), statement) defines bspput and cppput.  The
 * statement finds the place of the call in `line` and `file`. */
#define FORTRAN_SUBROUTINE(name, parameters, ...)                                                  \
    FORTRAN_DEFINE(bsp##name##_, (FORTRAN_UNPACK parameters), 0, "unprofiled", __VA_ARGS__)        \
    FORTRAN_DEFINE(                                                                                \
        cpp##name##_,                                                                              \
        (FORTRAN_UNPACK parameters, const int *cpp_line, const char *cpp_file, int cpp_length),    \
        *cpp_line, bspz_fortran_file(cpp_file, cpp_length), __VA_ARGS__)

/* The same for a subroutine without arguments. */
#define FORTRAN_SUBROUTINE_0(name, ...)                                                            \
    FORTRAN_DEFINE(bsp##name##_, (void), 0, "unprofiled", __VA_ARGS__)                             \
    FORTRAN_DEFINE(cpp##name##_, (const int *cpp_line, const char *cpp_file, int cpp_length),      \
                   *cpp_line, bspz_fortran_file(cpp_file, cpp_length), __VA_ARGS__)

#define FORTRAN_DEFINE(symbol, parameters, line_value, file_value, ...)                            \
    FORTRAN_WEAK void symbol parameters;                                                           \
    void symbol parameters                                                                         \
    {                                                                                              \
        int line = (line_value);                                                                   \
        const char *file = (file_value);                                                           \
        (void)line;                                                                                \
        (void)file;                                                                                \
        __VA_ARGS__;                                                                               \
    }

/* FORTRAN_FUNCTION(int, pid, (void), value) defines the function bsppid. */
#define FORTRAN_FUNCTION(type, name, parameters, value)                                            \
    FORTRAN_WEAK type bsp##name##_ parameters;                                                     \
    type bsp##name##_ parameters                                                                   \
    {                                                                                              \
        return (value);                                                                            \
    }

/* For names that contain an underscore: the spelling with two at the end. */
#define FORTRAN_TWO_UNDERSCORES(name)                                                              \
    extern __typeof__(name##_) name##__ __attribute__((__weak__, __alias__(#name "_")));

#endif
