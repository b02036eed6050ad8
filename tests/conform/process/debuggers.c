/* Process model: bare runs under gdb, valgrind and strace do what they do without.
 *
 * Below gdb the program writes to a file: gdb tells of threads in the middle of lines, and on one
 * output the two are mixed.
 *
 * P: 1 3
 * RUN: bare
 *
 * CASE: gdb
 * NEEDS: gdb
 * SHELL: gdb -nx -batch -ex 'run >out.txt' --args "$PROG" 2>err.txt; status=$?; cat out.txt; exit $status
 * OUT-RE: ^pid 0: ok$
 * OUT-RE: ^pid ${p-1}: ok$
 * OUT-RE: ^end: ok$
 * OUT-RE: exited normally
 *
 * CASE: gdb stops at a breakpoint behind bsp_begin
 * NEEDS: gdb
 * SHELL: gdb -nx -batch -ex 'break stop_here' -ex 'run >out.txt' -ex 'print global' -ex continue --args "$PROG" 2>err.txt; status=$?; cat out.txt; exit $status
 * OUT-RE: ^\$1 = 42$
 * OUT-RE: ^end: ok$
 * OUT-RE: exited normally
 *
 * CASE: valgrind
 * NEEDS: valgrind
 * TIMEOUT: 240
 * SHELL: exec valgrind -q --trace-children=no --error-exitcode=99 "$PROG"
 * OUT-EACH: pid ${i}: ok
 * OUT-ANY: end: ok
 *
 * CASE: valgrind, and a process aborts
 * NEEDS: valgrind
 * P: 2 3
 * TIMEOUT: 240
 * SHELL: exec valgrind -q --leak-check=full --trace-children=no "$PROG" abort
 * STATUS: 1
 * ERR-RE: ABORT\(pid  1\):enough
 *
 * CASE: strace
 * NEEDS: strace
 * TIMEOUT: 120
 * SHELL: strace -f -o trace.txt "$PROG"; status=$?; grep -c '/dev/shm' trace.txt; exit $status
 * OUT-EACH: pid ${i}: ok
 * OUT-ANY: end: ok
 * OUT-ANY: 0
 *
 * CASE: launcher under strace
 * RUN: bsprun
 * NEEDS: strace
 * TIMEOUT: 120
 * SHELL: strace -f -o trace.txt "$BSPRUN" -np $P "$PROG"; status=$?; grep -c '/dev/shm' trace.txt; exit $status
 * OUT-EACH: pid ${i}: ok
 * OUT-ANY: end: ok
 * OUT-ANY: 0
 *
 * CASE: valgrind below the launcher
 * RUN: bsprun
 * NEEDS: valgrind
 * TIMEOUT: 240
 * SHELL: exec "$BSPRUN" -np $P valgrind -q --error-exitcode=99 "$PROG"
 * OUT-EACH: pid ${i}: ok
 * OUT-ANY: end: ok
 */
#include "../check.h"

int global;

__attribute__((noinline)) void stop_here(void);

void stop_here(void)
{
    __asm__ volatile("");
}

int main(int argc, char **argv)
{
    char *block = malloc(1000);

    global = 42;
    bsp_begin(0);
    int p = bsp_nprocs(), me = bsp_pid(), area[20] = {0}, fetched = 0, packets, bytes;

    if (me == 0)
        stop_here();
    memset(block, 'a' + me, 1000);
    if (argc > 1 && strcmp(argv[1], "abort") == 0 && me == 1)
        bsp_abort("enough");
    bsp_push_reg(area, sizeof area);
    bsp_push_reg(block, 1000);
    bsp_sync();
    bsp_put((me + 1) % p, &me, area, 4, sizeof me);
    bsp_get((me + 1) % p, &area[0], 0, &fetched, sizeof fetched);
    bsp_hpput((me + 1) % p, block, block, 500, 100);
    bsp_send((me + 1) % p, NULL, &me, sizeof me);
    bsp_sync();
    bsp_qsize(&packets, &bytes);
    CHECK(packets == 1 && bytes == 4);
    bsp_move(&fetched, sizeof fetched);
    CHECK(fetched == (me + p - 1) % p && area[1] == fetched && block[550] == 'a' + fetched);
    bsp_pop_reg(block);
    bsp_sync();
    free(block);
    conform_done();
    bsp_end();
    return conform_end();
}
