/* Error 41: a program linked for another version of the library is told so before it starts.
 *
 * P: 1 2
 *
 * CASE: bspcc
 * RUN: bare
 * SHELL: "$BIN/bspcc" -DFOREIGN -c '${file}' -o it.o && cc it.o "$BIN/../lib/libbsp.a" -o it && exec ./it
 * STATUS: nonzero
 * ERR-RE: ^bspzero: .*version.*\b999\b
 *
 * CASE: bsprun
 * RUN: bsprun
 * SHELL: exec "$BSPRUN" -np $P sh -c 'printf "\347\003" | dd of=/proc/self/fd/$(echo $BSPZERO_BOARD | cut -d: -f1) bs=1 seek=8 conv=notrunc 2>/dev/null; exec "$0"' "$PROG"
 * STATUS: 1
 * ERR-RE: ^bspzero: bsprun and the library in this program are of different versions \(bsprun: board 999, the library: board \d+\)
 * ERR-NOT: ^bsprun:
 */
#include <bsp.h>

#ifdef FOREIGN
extern const unsigned bspz_link_options[16];
const unsigned bspz_link_options[16] = {999};
#endif

int main(void)
{
    bsp_begin(0);
    bsp_end();
    return 0;
}
