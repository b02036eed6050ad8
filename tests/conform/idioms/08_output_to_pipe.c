/* Idiom 8: all processes print, much and without fflush, to a pipe; nothing is lost and no line is
 * torn, the tails included.
 *
 * OUT-EACH: ${i} says the last words
 * OUT-EACH: ${i} line 0 ............................................
 * OUT-EACH: ${i} line 1 ............................................
 * OUT-EACH: ${i} line 2 ............................................
 * OUT-EACH: ${i} line 3 ............................................
 * OUT-EACH: ${i} long ${'x' * 3000}
 * OUT-EACH: ${'\n'.join('%d longer %d %s' % (i, k, 'x' * 3000) for k in range(40))}
 */
#include <string.h>
#include "bsp.h"

int main(int argc, char **argv)
{
    char text[3001];
    int i;

    bsp_begin(bsp_nprocs());
    memset(text, 'x', 3000);
    text[3000] = 0;
    for (i = 0; i < 4; i++)
        printf("%d line %d ............................................\n", bsp_pid(), i);
    printf("%d long %s\n", bsp_pid(), text);
    for (i = 0; i < 40; i++)
        printf("%d longer %d %s\n", bsp_pid(), i, text);
    printf("%d says the last words\n", bsp_pid());
    bsp_end();
    return 0;
}
