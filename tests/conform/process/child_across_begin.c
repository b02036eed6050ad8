/* Process model: a child started before bsp_begin goes on through it, belongs to process 0 and can
 * be waited for there, inside or behind the SPMD part; a pipe to it keeps working.
 *
 * CASE: inside
 * ARGS: inside
 * OUT-EACH: pid ${i}: ok
 * OUT-ANY: end: ok
 *
 * CASE: behind
 * ARGS: behind
 * OUT-EACH: pid ${i}: ok
 * OUT-ANY: end: ok
 */
#include "../check.h"
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

static void collect(pid_t child, int to_child)
{
    int status = 0;

    CHECK(write(to_child, "!", 1) == 1);
    CHECK(wait(&status) == child && WIFEXITED(status) && WEXITSTATUS(status) == '!');
}

int main(int argc, char **argv)
{
    int inside = argc > 1 && strcmp(argv[1], "inside") == 0, pipe_ends[2];

    if (pipe(pipe_ends))
        return 1;
    pid_t child = fork();

    if (child == 0) {
        char letter = 0;

        _exit(read(pipe_ends[0], &letter, 1) == 1 ? letter : 0);
    }
    bsp_begin(0);
    bsp_sync();
    if (bsp_pid() != 0)
        CHECK(wait(NULL) == -1 && errno == ECHILD);
    else if (inside)
        collect(child, pipe_ends[1]);
    bsp_sync();
    conform_done();
    bsp_end();
    if (!inside)
        collect(child, pipe_ends[1]);
    CHECK(wait(NULL) == -1 && errno == ECHILD);
    return conform_end();
}
