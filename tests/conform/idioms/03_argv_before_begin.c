/* Idiom 3: arguments are parsed in main before bsp_begin, without any bsp_init.
 *
 * ARGS: -n 17 -v 'an input file'
 * OUT-EACH: ${i}: n=17 verbose=1 file=an input file
 */
#include <string.h>
#include <stdlib.h>
#include "bsp.h"

int main(int argc, char **argv)
{
    int i, n = 0, verbose = 0;
    char *file = "none";

    for (i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "-n") && i + 1 < argc)
            n = atoi(argv[++i]);
        else if (!strcmp(argv[i], "-v"))
            verbose = 1;
        else
            file = argv[i];
    }
    bsp_begin(bsp_nprocs());
    printf("%d: n=%d verbose=%d file=%s\n", bsp_pid(), n, verbose, file);
    bsp_end();
    return 0;
}
