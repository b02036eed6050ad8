/* The Fortran names of the primitives: bspput and so on, and cppput with the place of the call. */

#include "lib/rt/fortran/fortran.h"
#include "lib/rt/rt.h"

/* Sizes and offsets are int in Fortran; the types passed on are wider. */

FORTRAN_SUBROUTINE(init, (void (*spmd)(void)), bsp_init_cpp(spmd, 0, NULL, line, file))
FORTRAN_SUBROUTINE(begin, (const int *maxprocs), bsp_begin_cpp(*maxprocs, line, file))
FORTRAN_SUBROUTINE_0(end, bsp_end_cpp(line, file))
FORTRAN_SUBROUTINE_0(sync, bsp_sync_cpp(line, file))

FORTRAN_SUBROUTINE(pushreg, (const void *ident, const int *n),
                   bsp_push_reg_cpp(ident, *n, line, file))
FORTRAN_SUBROUTINE(pushregister, (const void *ident, const int *n),
                   bsp_push_reg_cpp(ident, *n, line, file))
FORTRAN_SUBROUTINE(popreg, (const void *ident), bsp_pop_reg_cpp(ident, line, file))
FORTRAN_SUBROUTINE(popregister, (const void *ident), bsp_pop_reg_cpp(ident, line, file))

FORTRAN_SUBROUTINE(put,
                   (const int *pid, const void *src, void *dst, const int *offset, const int *n),
                   bsp_put_cpp(*pid, src, dst, *offset, *n, line, file))
FORTRAN_SUBROUTINE(hpput,
                   (const int *pid, const void *src, void *dst, const int *offset, const int *n),
                   bsp_hpput_cpp(*pid, src, dst, *offset, *n, line, file))
FORTRAN_SUBROUTINE(get,
                   (const int *pid, const void *src, const int *offset, void *dst, const int *n),
                   bsp_get_cpp(*pid, src, *offset, dst, *n, line, file))
FORTRAN_SUBROUTINE(hpget,
                   (const int *pid, const void *src, const int *offset, void *dst, const int *n),
                   bsp_hpget_cpp(*pid, src, *offset, dst, *n, line, file))

FORTRAN_SUBROUTINE(settagsize, (int *n), bsp_set_tagsize_cpp(n, line, file))
FORTRAN_SUBROUTINE(send, (const int *pid, const void *tag, const void *payload, const int *n),
                   bsp_send_cpp(*pid, tag, payload, *n, line, file))
FORTRAN_SUBROUTINE(qsize, (int *packets, int *nbytes), bsp_qsize_cpp(packets, nbytes, line, file))
FORTRAN_SUBROUTINE(gettag, (int *status, void *tag), bsp_get_tag_cpp(status, tag, line, file))
FORTRAN_SUBROUTINE(move, (void *payload, const int *n), bsp_move_cpp(payload, *n, line, file))

FORTRAN_FUNCTION(int, pid, (void), bsp_pid())
FORTRAN_FUNCTION(int, nprocs, (void), bsp_nprocs())
FORTRAN_FUNCTION(double, time, (void), bsp_time())
FORTRAN_FUNCTION(double, dtime, (void), bsp_dtime())

/* Two character arguments: the text's length comes first. */

BSPZ_NORETURN static void abort_with(const char *text, int length)
{
    while (length > 0 && text[length - 1] == ' ')
        length--;
    bsp_abort("%.*s", length, text);
}

FORTRAN_WEAK void bspabort_(const char *text, int length);
FORTRAN_WEAK void cppabort_(const char *text, const int *line, const char *file, int length,
                            int file_length);

void bspabort_(const char *text, int length)
{
    abort_with(text, length);
}

void cppabort_(const char *text, const int *line, const char *file, int length, int file_length)
{
    (void)line;
    (void)file;
    (void)file_length;
    abort_with(text, length);
}
