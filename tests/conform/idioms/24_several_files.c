/* Idiom 24: several source files include bsp.h, share uninitialised globals, are compiled
 * separately with different flags and linked by another call.
 *
 * P: 1 2 4
 * CC: none
 * SHELL: D="$(dirname '${file}')"; "$BIN/bspcc" -O2 -c '${file}' -o a.o && "$BIN/bspcc" -g -O0 -DFACTOR=3 -x c -c "$D/24_second.inc" -o b.o && "$BIN/bspcc" -flibrary-level 0 a.o b.o -o it && exec "$BSPRUN" -np $P ./it
 * RUN: bsprun
 * OUT-EACH: ${i}: ${3 * ((i + p - 1) % p)}
 */
#include "bsp.h"

int common_value;
double common_array[100];
int from_neighbour();

int main()
{
    bsp_begin(bsp_nprocs());
    common_value = bsp_pid();
    common_array[99] = 0.0;
    printf("%d: %d\n", bsp_pid(), from_neighbour());
    bsp_end();
    return 0;
}
