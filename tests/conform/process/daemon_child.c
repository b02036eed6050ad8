/* Process model: a child of a rank that loses its parent (a daemon) does not count as a rank, does
 * not keep the job from ending, and its end is no fault.
 *
 * P: 1 2 3
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"
#include <sys/wait.h>
#include <unistd.h>

int main(void)
{
    int gone[2];
    char letter;

    bsp_begin(0);
    if (pipe(gone))
        bsp_abort("pipe");
    fflush(stdout);
    pid_t child = fork();

    if (child == 0) {
        if (fork() == 0) { /* its parent ends first: adopted by whoever adopts here */
            close(gone[0]);
            _exit(write(gone[1], "x", 1) == 1 ? 5 : 6);
        }
        _exit(0);
    }
    close(gone[1]);
    CHECK(waitpid(child, NULL, 0) == child);
    CHECK(read(gone[0], &letter, 1) == 1);
    for (int i = 0; i < 10; i++)
        bsp_sync();
    conform_done();
    bsp_end();
    return 0;
}
