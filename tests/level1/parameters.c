/* bsp_s, bsp_l, bsp_g and bsp_nhalf come from BSP_SLG, else from the database, else they are
 * assumed without a word.
 *
 * @succeeds slg
 * @succeeds database
 * @succeeds assumed
 * @procs 1 3
 */
#include <bsp.h>
#include <bsp_level1.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

/* Lines for 1 and 3 processes. */
static void write_database(const char *directory)
{
    char path[4096];
    FILE *file;

    snprintf(path, sizeof(path), "%s/bsp_parameters.ascii", directory);
    file = fopen(path, "w");
    if (file == NULL)
        exit(1);
    fprintf(file, "# a comment\n* 1 101 201 3.5 41\n* 3 103 203 4.5 43\n");
    fclose(file);
    setenv("BSP_INCLUDE_DIR", directory, 1);
}

int main(int argc, char **argv)
{
    const char *mode = argc > 1 ? argv[1] : "";

    unsetenv("BSP_SLG");
    unsetenv("BSP_INCLUDE_DIR");
    setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
    if (strcmp(mode, "slg") == 0)
        setenv("BSP_SLG", "250.5,4000,7.25,99", 1);
    if (strcmp(mode, "database") == 0)
        write_database(getenv("TEST_SCRATCH"));
    bsp_begin(0);
    if (strcmp(mode, "slg") == 0) {
        CHECK(bsp_s() == 250.5e6);
        CHECK(bsp_l() == 4000);
        CHECK(bsp_g() == 7.25);
        CHECK(bsp_nhalf() == 99);
    } else if (strcmp(mode, "database") == 0) {
        CHECK(bsp_s() == (bsp_nprocs() == 1 ? 101e6 : 103e6));
        CHECK(bsp_l() == (bsp_nprocs() == 1 ? 201 : 203));
        CHECK(bsp_g() == (bsp_nprocs() == 1 ? 3.5 : 4.5));
        CHECK(bsp_nhalf() == (bsp_nprocs() == 1 ? 41 : 43));
    } else {
        CHECK(bsp_s() > 0 && bsp_l() > 0 && bsp_g() > 0 && bsp_nhalf() > 0);
    }
    bsp_sync();
    bsp_end();
    puts("ok");
    return 0;
}
