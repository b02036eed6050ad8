/* Idiom 18: file-scope and function-scope statics, the state of rand and of strtok belong to each
 * process alone.
 *
 * OUT-EACH: ${i}: ${100 + i} calls ${i + 1} tokens t${i},u
 */
#include <stdlib.h>
#include <string.h>
#include "bsp.h"

static int state = 100;

int count()
{
    static int calls;

    return ++calls;
}

int main()
{
    int i, s, calls = 0, mine, again;
    char text[20], *first, *second;

    bsp_begin(bsp_nprocs());
    s = bsp_pid();
    state += s;
    for (i = 0; i <= s; i++)
        calls = count();
    srand(s);
    mine = rand();
    sprintf(text, "t%d,u", s);
    first = strtok(text, ",");
    bsp_sync();
    second = strtok(NULL, ",");
    srand(s);
    again = rand();
    printf("%d: %d calls %d tokens %s,%s\n", s, state, mine == again ? calls : -1, first,
           second ? second : "?");
    bsp_end();
    return 0;
}
