/* I/O: a fatal signal in one process ends the job with a status other than 0 and a message that
 * names the process and the signal.
 *
 * CASE: segmentation fault in the last
 * ARGS: ${p-1} 11
 * STATUS: failed
 * ERR-RE: (?i)pid ${p-1}\b.*(has died|signal 11|segmentation fault|SIGSEGV)
 *
 * CASE: killed
 * ARGS: ${p-1} 9
 * P: 2 4
 * STATUS: failed
 * ERR-RE: (?i)pid ${p-1}\b.*(has died|signal 9|killed|SIGKILL)
 *
 * CASE: process 0 aborts
 * ARGS: 0 6
 * STATUS: failed
 * ERR-RE: (?i)pid 0\b.*(has died|signal 6|aborted|SIGABRT)
 *
 * CASE: floating point exception
 * P: 3
 * ARGS: 1 8
 * STATUS: failed
 * ERR-RE: (?i)pid 1\b.*(signal 8|floating point|SIGFPE)
 */
#include <bsp.h>
#include <signal.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    if (argc < 3)
        return 1;
    bsp_begin(0);
    bsp_sync();
    if (bsp_pid() == atoi(argv[1]))
        raise(atoi(argv[2]));
    bsp_sync();
    bsp_end();
    return 0;
}
