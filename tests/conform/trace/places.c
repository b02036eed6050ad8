/* Profiles that cannot be written: one message, and the job goes on to its result and status.
 *
 * RUN: bsprun
 * CC: -prof
 * OUT: 5 supersteps
 * CASE: a-directory-has-the-name
 * SHELL: mkdir PROF.bsp && exec "$BSPRUN" -np $P "$PROG"
 * ERR: bspzero: ${file}:${line('begin')}: bsp_begin: pid 0 of ${p}, superstep 0: cannot write PROF.bsp: Is a directory; the job continues without it
 * CASE: full-disk
 * SHELL: ln -s /dev/full PROF.bsp && exec "$BSPRUN" -np $P "$PROG"
 * ERR: bspzero: ${file}:${line('begin')}: bsp_begin: pid 0 of ${p}, superstep 0: cannot write PROF.bsp: No space left on device; the job continues without it
 * CASE: full-disk-statistics
 * SHELL: "$BIN/bspcc" -stat '${file}' -o it && ln -s /dev/full STAT.bsp && exec "$BSPRUN" -np $P ./it
 * ERR: bspzero: ${file}:${line('end')}: bsp_end: pid 0 of ${p}, superstep 5: cannot write STAT.bsp: No space left on device; the job continues without it
 * CASE: a-pipe-that-nobody-reads
 * SHELL: mkfifo PROF.bsp && exec "$BSPRUN" -np $P "$PROG"
 * ERR: bspzero: ${file}:${line('begin')}: bsp_begin: pid 0 of ${p}, superstep 0: cannot write PROF.bsp: No such device or address; the job continues without it
 * CASE: no-directory-any-more
 * SHELL: mkdir gone && cd gone && rmdir ../gone && BSP_PROCS=$P exec "$PROG"
 * ERR: bspzero: ${file}:${line('begin')}: bsp_begin: pid 0 of ${p}, superstep 0: cannot write PROF.bsp: No such file or directory; the job continues without it
 * CASE: too-large-for-the-limit
 * SHELL: "$BSPRUN" -np $P "$PROG" 150 && test "$(wc -c <PROF.bsp)" -le 150 && test -z "$(tail -c 1 PROF.bsp | tr -d '\n')" && test "$(sed -n '$p' PROF.bsp)" = "$(grep '^[DFNXPc]' PROF.bsp | sed -n '$p')"
 * ERR-RE: ^bspzero: ${file}:${line('sync')}: bsp_sync: pid 0 of ${p}, superstep [1-5]: cannot write PROF.bsp: File too large; the job continues without it$
 * CASE: a-file-from-before-is-replaced
 * SHELL: yes x | head -c 100000 >PROF.bsp; "$BSPRUN" -np $P "$PROG" && test "$(grep -c '^[DFNXPcwsE] ' PROF.bsp)" = "$(wc -l <PROF.bsp)"
 */
#include "../check.h"

#include <sys/resource.h>

int main(int argc, char **argv)
{
    bsp_begin(0); /* @begin */
    if (argc == 2 && bsp_pid() == 0) {
        rlim_t bytes = (rlim_t)atoi(argv[1]);

        setrlimit(RLIMIT_FSIZE, &(struct rlimit){bytes, bytes});
    }
    for (int s = 0; s < 5; s++)
        bsp_sync(); /* @sync */
    bsp_end(); /* @end */
    printf("5 supersteps\n");
    return 0;
}
