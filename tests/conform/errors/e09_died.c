/* Error 9: a process dies or exits in the SPMD part while the others wait for it: the job ends, and
 * the message names the process, what happened, and where each of the others is.
 *
 * P: 2 3 4
 * STATUS: failed
 *
 * CASE: last is killed
 * ARGS: ${p-1} kill
 * ERR-RE: (?i)pid ${p-1}\b.*(has died|signal 9|killed|SIGKILL)
 * ERR-RE: ^  pid 0: .*bsp_sync at .*e09_died\.c:(${line('first')}|${line('wait')}), superstep [01]
 *
 * CASE: last crashes
 * ARGS: ${p-1} crash
 * ERR-RE: (?i)pid ${p-1}\b.*(has died|signal 11|segmentation fault|SIGSEGV)
 * ERR-RE: ^  pid 0: .*bsp_sync at .*e09_died\.c:(${line('first')}|${line('wait')}), superstep [01]
 *
 * CASE: last exits
 * ARGS: ${p-1} exit
 * ERR-RE: (?i)pid ${p-1}\b.*(exit|ended|bsp_end)
 *
 * CASE: last leaves without any handler
 * ARGS: ${p-1} _exit
 * ERR-RE: (?i)pid ${p-1}\b.*(exit|ended|status)
 *
 * CASE: process 0 exits with 0
 * ARGS: 0 exit
 * ERR-RE: (?i)pid 0\b.*(exit|ended|bsp_end)
 *
 * CASE: process 0 is killed
 * ARGS: 0 kill
 * ERR-RE: (?i)pid 0\b.*(has died|signal 9|killed|SIGKILL)
 *
 * CASE: the others compute
 * ARGS: 1 kill compute
 * ERR-RE: (?i)pid 1\b.*(signal 9|killed|SIGKILL)
 */
#include <bsp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void die(const char *how)
{
    if (strcmp(how, "kill") == 0)
        raise(SIGKILL);
    if (strcmp(how, "crash") == 0)
        raise(SIGSEGV);
    if (strcmp(how, "exit") == 0)
        exit(0);
    _exit(0);
}

int main(int argc, char **argv)
{
    if (argc < 3)
        return 99;
    bsp_begin(0);
    bsp_sync(); /* @first */
    if (bsp_pid() == atoi(argv[1]))
        die(argv[2]);
    while (argc > 3)
        pause();
    bsp_sync(); /* @wait */
    bsp_end();
    return 0;
}
