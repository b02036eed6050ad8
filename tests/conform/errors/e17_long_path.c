/* Errors in a source with a long path: the message shows the end of the path, so that the file is
 * known, and two files in one directory are told apart.
 *
 * P: 2
 * RUN: bsprun
 * CC: none
 * STATUS: nonzero
 *
 * CASE: at the barrier
 * SHELL: D="$PWD/$(printf 'directory%02d/' $(seq 1 30))"; mkdir -p "$D" && cp '${file}' "$D/far.c" && cp '${file}' "$D/near.c" && "$BIN/bspcc" -DPART "$D/near.c" -c -o near.o && "$BIN/bspcc" "$D/far.c" near.o -o it && exec "$BSPRUN" -np $P ./it
 * ERR-RE: ^bspzero: \S{200,}/far\.c:${line('put')}: bsp_put: pid 1 of 2, superstep 1: 4 bytes at offset 4 .*\(at \S{200,}/near\.c:${line('push')}\)
 *
 * CASE: at the call
 * SHELL: D="$PWD/$(printf 'directory%02d/' $(seq 1 60))"; mkdir -p "$D" && cp '${file}' "$D/far.c" && "$BIN/bspcc" -DPART -c '${file}' -o near.o && "$BIN/bspcc" -DWORSE "$D/far.c" near.o -o it && exec "$BSPRUN" -np $P ./it
 * ERR-RE: ^bspzero: \S{200,}/far\.c:${line('worse')}: bsp_put: pid 1 of 2, superstep 1: process 2 does not exist
 */
#include <bsp.h>

void push(int *area);

#ifdef PART
void push(int *area)
{
    bsp_push_reg(area, sizeof *area); /* @push */
}
#else
int main(void)
{
    int area = 0;

    bsp_begin(2);
    push(&area);
    bsp_sync();
#ifdef WORSE
    if (bsp_pid() == 1)
        bsp_put(2, &area, &area, 0, sizeof area); /* @worse */
#endif
    if (bsp_pid() == 1)
        bsp_put(0, &area, &area, sizeof area, sizeof area); /* @put */
    bsp_sync();
    bsp_end();
    return 0;
}
#endif
