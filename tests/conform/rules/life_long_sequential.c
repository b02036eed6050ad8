/* Life cycle: the sequential code behind bsp_end may go on after all other processes have gone,
 * start processes of its own and use the whole library of C.
 *
 * OUT-ANY: end: ok
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    bsp_begin(0);
    conform_done();
    bsp_end();
    pid_t child = fork();
    int status = 0;

    if (child == 0)
        _exit(12);
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 12);
    CHECK_INT(wait(NULL), -1);
    return conform_end();
}
