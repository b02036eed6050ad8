/* Profiles of jobs that end early have whole lines up to the last superstep, the statements and the
 * total; only where pid 0 itself is killed, the end of the file is missing.
 *
 * RUN: bsprun
 * ENV: BSP_SLG=100,4000,5,20
 * CC: -cgprof -stat
 * STATUS: nonzero
 * OUT-NOT: check_files
 * CASE: abort-of-pid-0
 * SHELL: "$BSPRUN" -np $P "$PROG" 0 abort; s=$?; python3 "$(dirname '${file}')/check_files" ends.c cgprof stat cut || exit 0; exit $s
 * ERR-RE: ABORT\(pid  0\):enough
 * CASE: abort-of-the-last-pid-0-in-a-computation
 * P: 2 3 4 7
 * SHELL: "$BSPRUN" -np $P "$PROG" $(($P - 1)) abort; s=$?; python3 "$(dirname '${file}')/check_files" ends.c cgprof stat cut || exit 0; exit $s
 * ERR-RE: ABORT\(pid  ${p-1}\):enough
 * CASE: bare-abort-of-the-last-pid-0-in-a-computation
 * P: 2 3 4 7
 * SHELL: BSP_PROCS=$P "$PROG" $(($P - 1)) abort; s=$?; python3 "$(dirname '${file}')/check_files" ends.c cgprof stat cut || exit 0; exit $s
 * ERR-RE: ABORT\(pid  ${p-1}\):enough
 * CASE: exit-of-pid-0
 * SHELL: "$BSPRUN" -np $P "$PROG" 0 exit; s=$?; python3 "$(dirname '${file}')/check_files" ends.c cgprof stat cut || exit 0; exit $s
 * CASE: misuse-by-the-last-pid-0-waits
 * P: 2 3 4 7
 * SHELL: "$BSPRUN" -np $P "$PROG" $(($P - 1)) misuse; s=$?; python3 "$(dirname '${file}')/check_files" ends.c cgprof stat cut || exit 0; exit $s
 * ERROR: bsp_put @misuse ${p-1} 4
 * FACT: process -1 does not exist
 * CASE: misuse-by-pid-0
 * SHELL: BSP_PROCS=$P "$PROG" 0 misuse; s=$?; python3 "$(dirname '${file}')/check_files" ends.c cgprof stat cut || exit 0; exit $s
 * ERROR: bsp_put @misuse 0 4
 * FACT: process -1 does not exist
 * CASE: the-last-is-killed
 * P: 2 3 4 7
 * SHELL: "$BSPRUN" -np $P "$PROG" $(($P - 1)) kill; s=$?; python3 "$(dirname '${file}')/check_files" ends.c cgprof stat cut || exit 0; exit $s
 * STATUS: failed
 * CASE: pid-0-is-killed
 * SHELL: "$BSPRUN" -np $P "$PROG" 0 kill; test "$(grep -c '^c ' PROF.bsp)" -ge 3 && ! grep '^E' PROF.bsp && test -z "$(tail -c 1 PROF.bsp | tr -d '\n')"
 * STATUS: 0
 * ERR-RE: pid 0 was killed by signal 9
 * CASE: a-process-that-pid-0-forks-aborts
 * SHELL: "$BSPRUN" -np $P "$PROG" 0 fork && python3 "$(dirname '${file}')/check_files" ends.c cgprof stat
 * STATUS: 0
 * ERR-RE: ABORT\(pid  0\):enough
 */
#include "../check.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* Pid 0 is in a computation when another process ends the job by bsp_abort, else at a barrier. */
static void end_early(int culprit, const char *how)
{
    if (strcmp(how, "fork") == 0) {
        if (bsp_pid() == culprit && fork() == 0)
            bsp_abort("enough");
        wait(NULL);
        return;
    }
    if (bsp_pid() != culprit) {
        if (strcmp(how, "abort") == 0)
            for (;;)
                pause();
        bsp_sync();
    }
    if (strcmp(how, "abort") == 0)
        bsp_abort("enough");
    if (strcmp(how, "exit") == 0)
        exit(3);
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    bsp_put(-1, &culprit, &culprit, 0, 4); /* @misuse */
}

int main(int argc, char **argv)
{
    static int area;
    FILE *file = fopen("EXPECTED", "w");

    bsp_begin(0);
    bsp_push_reg(&area, sizeof area);
    for (int s = 0; s < 4; s++) {
        if (bsp_pid() == 0) {
            fprintf(file, "%d main", __LINE__ + 10);
            for (int i = 0; i < bsp_nprocs(); i++)
                fprintf(file, " %d %d", s > 0 && bsp_nprocs() > 1, s > 0 && bsp_nprocs() > 1);
            fprintf(file, " @@");
            for (int i = 0; i < bsp_nprocs(); i++)
                fprintf(file, " %d %d", 4 * (s > 0 && bsp_nprocs() > 1),
                        4 * (s > 0 && bsp_nprocs() > 1));
            fprintf(file, "\n");
            fflush(file);
        }
        bsp_sync();
        bsp_put((bsp_pid() + 1) % bsp_nprocs(), &s, &area, 0, 4);
    }
    if (argc == 3)
        end_early(atoi(argv[1]), argv[2]);
    bsp_end();
    return 0;
}
