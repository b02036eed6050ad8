/* Error 38: root or size of a collective differs between the processes.
 *
 * P: 2 3
 * STATUS: nonzero
 *
 * CASE: root of a broadcast
 * ARGS: bcast_root
 * ERROR: bsp_bcast @bcast ? 1
 *
 * CASE: size of a broadcast
 * ARGS: bcast_size
 * ERROR: bsp_bcast @bcast ? 1
 *
 * CASE: root of a gather
 * ARGS: gather_root
 * ERROR: bsp_gather @gather ? 1
 *
 * CASE: size of a gather
 * ARGS: gather_size
 * ERROR: bsp_gather @gather ? 1
 *
 * CASE: root of a scatter
 * ARGS: scatter_root
 * ERROR: bsp_scatter @scatter ? 1
 *
 * CASE: size of a scatter
 * ARGS: scatter_size
 * ERROR: bsp_scatter @scatter ? 1
 *
 * CASE: size of a fold
 * ARGS: fold_size
 * ERROR: bsp_fold @fold ? 1
 *
 * CASE: size of a scan
 * ARGS: scan_size
 * ERROR: bsp_scan @scan ? 1
 */
#include <bsp.h>
#include <bsp_level1.h>
#include <string.h>

static void add(void *result, void *left, void *right, int *nbytes)
{
    for (int i = 0; i < *nbytes / (int)sizeof(int); i++)
        ((int *)result)[i] = ((int *)left)[i] + ((int *)right)[i];
}

int main(int argc, char **argv)
{
    static int source[64], area[64];
    const char *name = argc > 1 ? argv[1] : "";

    bsp_begin(0);
    int root = strstr(name, "_root") ? bsp_pid() : 0;
    int size = strstr(name, "_size") && bsp_pid() ? 8 : 4;

    bsp_push_reg(area, sizeof area);
    bsp_push_reg(source, sizeof source);
    bsp_sync();
    if (strstr(name, "bcast"))
        bsp_bcast(root, source, area, size); /* @bcast */
    if (strstr(name, "gather"))
        bsp_gather(root, source, area, size); /* @gather */
    if (strstr(name, "scatter"))
        bsp_scatter(root, source, area, size); /* @scatter */
    if (strstr(name, "fold"))
        bsp_fold(add, source, area, size); /* @fold */
    if (strstr(name, "scan"))
        bsp_scan(add, source, area, size); /* @scan */
    bsp_sync();
    bsp_end();
    return 0;
}
