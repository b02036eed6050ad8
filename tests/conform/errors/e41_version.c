/* Error 41: a program linked for another version of the library is told so before it starts.
 *
 * P: 1 2
 * RUN: bare
 * SHELL: $BIN/bspcc -DFOREIGN -c '${file}' -o it.o && cc it.o $BIN/../lib/libbsp.a -o it && exec ./it
 * STATUS: nonzero
 * ERR-RE: ^bspzero: .*version.*\b999\b
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
