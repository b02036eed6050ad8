/* Environment: every process, and what it starts, finds its number in BSPTCP_PID, whatever the
 * variable was before.
 *
 * OUT-EACH: pid ${i}: BSPTCP_PID is ${i}
 * OUT-EACH: a child of pid ${i}
 * OUT-ANY: at the end 0
 *
 * CASE: unset before
 *
 * CASE: set before
 * ENV: BSPTCP_PID=77
 */
#include <bsp.h>
#include <stdlib.h>

int main(void)
{
    bsp_begin(0);
    printf("pid %d: BSPTCP_PID is %s\n", bsp_pid(), getenv("BSPTCP_PID"));
    fflush(stdout);
    if (system("echo a child of pid $BSPTCP_PID") != 0)
        bsp_abort("no shell");
    bsp_sync();
    bsp_end();
    printf("at the end %s\n", getenv("BSPTCP_PID"));
    return 0;
}
