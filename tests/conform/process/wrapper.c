/* Process model: a shell, timeout, env, nice or another wrapper may stand between the launcher (or
 * the user's shell) and the program; input, output and status are as without it.
 *
 * P: 1 2 4
 *
 * CASE: shell in between
 * RUN: bsprun
 * SHELL: exec "$BSPRUN" -np $P sh -c '"$PROG" 0; true'
 * OUT-EACH: pid ${i} of ${p}
 *
 * CASE: shell gives its own status
 * RUN: bsprun
 * SHELL: exec "$BSPRUN" -np $P sh -c '"$PROG" 5; exit 6'
 * STATUS: 6
 * OUT-EACH: pid ${i} of ${p}
 *
 * CASE: shell passes the status on
 * RUN: bsprun
 * SHELL: exec "$BSPRUN" -np $P sh -c '"$PROG" 5'
 * STATUS: 5
 * OUT-EACH: pid ${i} of ${p}
 *
 * CASE: shell waits for a background program
 * RUN: bsprun
 * SHELL: exec "$BSPRUN" -np $P sh -c '"$PROG" 5 & wait $!'
 * STATUS: 5
 * OUT-EACH: pid ${i} of ${p}
 *
 * CASE: timeout in between
 * RUN: bsprun
 * SHELL: exec "$BSPRUN" -np $P timeout 50 "$PROG" 7
 * STATUS: 7
 * OUT-EACH: pid ${i} of ${p}
 *
 * CASE: env in between
 * RUN: bsprun
 * SHELL: exec "$BSPRUN" -np $P env X=1 nice -n 1 "$PROG" 8
 * STATUS: 8
 * OUT-EACH: pid ${i} of ${p}
 *
 * CASE: a session of its own in between
 * RUN: bsprun
 * SHELL: exec "$BSPRUN" -np $P setsid -w "$PROG" 9
 * STATUS: 9
 * OUT-EACH: pid ${i} of ${p}
 *
 * CASE: timeout around the launcher
 * RUN: bsprun
 * SHELL: exec timeout 50 "$BSPRUN" -np $P "$PROG" 7
 * STATUS: 7
 * OUT-EACH: pid ${i} of ${p}
 *
 * CASE: bare under timeout
 * RUN: bare
 * SHELL: exec timeout 50 "$PROG" 7
 * STATUS: 7
 * OUT-EACH: pid ${i} of ${p}
 *
 * CASE: bare in the background of a shell
 * RUN: bare
 * SHELL: "$PROG" 5 & wait $!
 * STATUS: 5
 * OUT-EACH: pid ${i} of ${p}
 *
 * CASE: bare in a command substitution
 * RUN: bare
 * SHELL: text=$("$PROG" 3); status=$?; echo "$text"; exit $status
 * STATUS: 3
 * OUT-EACH: pid ${i} of ${p}
 *
 * CASE: bare in a pipeline
 * RUN: bare
 * SHELL: echo input | "$PROG" 0 | cat
 * OUT-EACH: pid ${i} of ${p}
 *
 * CASE: launcher in a pipeline
 * RUN: bsprun
 * SHELL: echo input | "$BSPRUN" -np $P "$PROG" 0 | cat
 * OUT-EACH: pid ${i} of ${p}
 *
 * CASE: two bare runs in a row
 * RUN: bare
 * SHELL: "$PROG" 0 && "$PROG" 4
 * STATUS: 4
 * OUT-EACH: pid ${i} of ${p}
 * OUT-EACH: pid ${i} of ${p}
 */
#include <bsp.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    bsp_begin(bsp_nprocs());
    bsp_sync();
    printf("pid %d of %d\n", bsp_pid(), bsp_nprocs());
    bsp_sync();
    bsp_end();
    return argc > 1 ? atoi(argv[1]) : 0;
}
