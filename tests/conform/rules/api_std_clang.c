/* Header: bsp.h under -std=c99 with clang, which knows _Generic as an extension there and warns.
 *
 * P: 1
 * RUN: bsprun
 * CC: none
 * NEEDS: clang
 * SHELL: "$BIN"/bspcc -overridecc clang -std=c99 -pedantic -Wall -Wextra -Werror -o "$PROG" '${file}' && exec "$BSPRUN" -np 2 "$PROG"
 * OUT-ANY: pid 0: 7
 * OUT-ANY: pid 1: 7
 */
#include "api_std_c99.c"
