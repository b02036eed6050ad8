/* The Miller library: storing and fetching without registration, by the distance of an address
 * from one reference byte that lies at the same distance from every static in all processes; and
 * a reduction and a broadcast of unregistered memory.
 */
#include "include/bsp.h"
#include "lib/rt/level1/collective.h"
#include "lib/rt/rt.h"

char _bsp_miller_reference;

void bspstart(int argc, char **argv, int maxprocs, int *nprocs, int *mypid)
{
    (void)argc;
    (void)argv;
    bsp_begin_cpp(maxprocs, 0, "unprofiled");
    bsp_push_reg_cpp(&_bsp_miller_reference, sizeof(_bsp_miller_reference), 0, "unprofiled");
    bspz_register_reference(&_bsp_miller_reference);
    bsp_sync_cpp(0, "unprofiled");
    bspz_rt.hidden++;
    *nprocs = bsp_nprocs();
    *mypid = bsp_pid();
}

void bspfinish(void)
{
    bsp_end_cpp(0, "unprofiled");
}

void bspstore_cpp(int pid, const void *src, void *dst, ptrdiff_t nbytes, int line, const char *file)
{
    bspz_put_displaced(pid, src, dst, nbytes, line, file);
}

void bspfetch_cpp(int pid, const void *src, void *dst, ptrdiff_t nbytes, int line, const char *file)
{
    bspz_get_displaced(pid, src, dst, nbytes, line, file);
}

void(bspstore)(int pid, const void *src, void *dst, int nbytes)
{
    bspz_put_displaced(pid, src, dst, nbytes, 0, "unprofiled");
}

void(bspfetch)(int pid, const void *src, void *dst, int nbytes)
{
    bspz_get_displaced(pid, src, dst, nbytes, 0, "unprofiled");
}

void bspreduce_cpp(void (*op)(void *, void *, void *, int), void *src, void *dst, ptrdiff_t nbytes,
                   int line, const char *file)
{
    struct bspz_collective call = {BSPZ_COLLECTIVE(bspreduce), .root = BSPZ_NO_ROOT, .n = nbytes,
                                   .line = line, .file = file};

    bspz_collective_begin(&call);
    bspz_collective_int(&call);
    bspz_collective_operator(&call, op != NULL);
    bspz_collective_pointer(&call, "src", src);
    bspz_collective_pointer(&call, "dst", dst);
    bspz_fold(&call, &(struct bspz_operator){.by_value = op}, src, dst);
    bspz_collective_end();
}

void bspbroadcast_cpp(int pid, void *src, void *dst, ptrdiff_t nbytes, int line, const char *file)
{
    struct bspz_collective call = {BSPZ_COLLECTIVE(bspbroadcast), .root = pid, .n = nbytes,
                                   .line = line, .file = file};

    bspz_collective_begin(&call);
    if (bsp_pid() == pid)
        bspz_collective_pointer(&call, "src", src);
    bspz_collective_pointer(&call, "dst", dst);
    /* The superstep that makes the registration effective also compares the calls. */
    bsp_push_reg_cpp(dst, nbytes, line, file);
    bspz_collective_sync(&call);
    bspz_bcast(&call, src, dst);
    bsp_pop_reg_cpp(dst, line, file);
    bspz_collective_end();
}

void(bspreduce)(void (*op)(void *, void *, void *, int), void *src, void *dst, int nbytes)
{
    bspreduce_cpp(op, src, dst, nbytes, 0, "unprofiled");
}

void(bspbroadcast)(int pid, void *src, void *dst, int nbytes)
{
    bspbroadcast_cpp(pid, src, dst, nbytes, 0, "unprofiled");
}

double bsptime(void)
{
    return bsp_time();
}

double bspdtime(void)
{
    return bsp_dtime();
}
