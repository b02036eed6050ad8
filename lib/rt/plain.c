/* plain.c - the calls as plain symbols, with the int sizes of 1998: for function pointers, callers
 * without prototypes and other languages.  Messages from here name the file "unprofiled". */
#include "include/bsp.h"

#define HERE 0, "unprofiled"

void(bsp_init)(void (*spmd)(void), int argc, char **argv)
{
    bsp_init_cpp(spmd, argc, argv, HERE);
}

void(bsp_begin)(int maxprocs)
{
    bsp_begin_cpp(maxprocs, HERE);
}

void(bsp_end)(void)
{
    bsp_end_cpp(HERE);
}

void(bsp_sync)(void)
{
    bsp_sync_cpp(HERE);
}

void(bsp_push_reg)(const void *ident, int size)
{
    bsp_push_reg_cpp(ident, size, HERE);
}

void(bsp_pushregister)(const void *ident, int size)
{
    bsp_push_reg_cpp(ident, size, HERE);
}

void(bsp_pop_reg)(const void *ident)
{
    bsp_pop_reg_cpp(ident, HERE);
}

void(bsp_popregister)(const void *ident)
{
    bsp_pop_reg_cpp(ident, HERE);
}

void(bsp_put)(int pid, const void *src, void *dst, int offset, int nbytes)
{
    bsp_put_cpp(pid, src, dst, offset, nbytes, HERE);
}

void(bsp_hpput)(int pid, const void *src, void *dst, int offset, int nbytes)
{
    bsp_hpput_cpp(pid, src, dst, offset, nbytes, HERE);
}

void(bsp_get)(int pid, const void *src, int offset, void *dst, int nbytes)
{
    bsp_get_cpp(pid, src, offset, dst, nbytes, HERE);
}

void(bsp_hpget)(int pid, const void *src, int offset, void *dst, int nbytes)
{
    bsp_hpget_cpp(pid, src, offset, dst, nbytes, HERE);
}

void(bsp_set_tagsize)(int *tag_nbytes)
{
    bsp_set_tagsize_cpp(tag_nbytes, HERE);
}

void(bsp_set_tag_size)(int *tag_nbytes)
{
    bsp_set_tagsize_cpp(tag_nbytes, HERE);
}

void(bsp_send)(int pid, const void *tag, const void *payload, int nbytes)
{
    bsp_send_cpp(pid, tag, payload, nbytes, HERE);
}

void(bsp_hpsend)(int pid, const void *tag, const void *payload, int nbytes)
{
    bsp_hpsend_cpp(pid, tag, payload, nbytes, HERE);
}

void(bsp_qsize)(int *packets, int *nbytes)
{
    bsp_qsize_cpp(packets, nbytes, HERE);
}

void(bsp_get_tag)(int *status, void *tag)
{
    bsp_get_tag_cpp(status, tag, HERE);
}

void(bsp_move)(void *payload, int reception_nbytes)
{
    bsp_move_cpp(payload, reception_nbytes, HERE);
}

int(bsp_hpmove)(void **tag, void **payload)
{
    return bsp_hpmove_cpp(tag, payload, HERE);
}
