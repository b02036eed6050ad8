/* bsp_gather and bsp_scatter: one superstep each. */
#include "include/bsp_level1.h"
#include "lib/rt/level1/collective.h"

void bsp_gather_cpp(int root, const void *src, void *dst, ptrdiff_t nbytes, int line,
                    const char *file)
{
    struct bspz_collective call = {BSPZ_COLLECTIVE(bsp_gather), .root = root, .n = nbytes,
                                   .line = line, .file = file};

    bspz_collective_begin(&call);
    bspz_collective_pointer(&call, "src", src);
    bspz_collective_agree(&call);
    bsp_put_cpp(root, src, dst, bsp_pid() * nbytes, nbytes, line, file);
    bspz_collective_sync(&call);
    bspz_collective_end();
}

void bsp_scatter_cpp(int root, const void *src, void *dst, ptrdiff_t nbytes, int line,
                     const char *file)
{
    struct bspz_collective call = {BSPZ_COLLECTIVE(bsp_scatter), .root = root, .n = nbytes,
                                   .line = line, .file = file};

    bspz_collective_begin(&call);
    bspz_collective_pointer(&call, "dst", dst);
    bspz_collective_agree(&call);
    bsp_get_cpp(root, src, bsp_pid() * nbytes, dst, nbytes, line, file);
    bspz_collective_sync(&call);
    bspz_collective_end();
}
