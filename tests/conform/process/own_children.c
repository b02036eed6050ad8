/* Process model: fork, wait, waitpid, system and popen see the program's own children and nothing
 * else, before, inside and behind the SPMD part.
 *
 * OUT-EACH: pid ${i}: ok
 * OUT-ANY: end: ok
 */
#include "../check.h"
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

static void use_all(void)
{
    int status;
    char line[20] = "";
    pid_t child = fork();

    if (child == 0)
        _exit(21);
    CHECK(wait(&status) == child && WIFEXITED(status) && WEXITSTATUS(status) == 21);
    child = fork();
    if (child == 0)
        _exit(22);
    CHECK(waitpid(-1, &status, 0) == child && WEXITSTATUS(status) == 22);
    CHECK(WEXITSTATUS(system("exit 23")) == 23);
    FILE *pipe_end = popen("echo 24", "r");

    CHECK(pipe_end && fgets(line, sizeof line, pipe_end) && atoi(line) == 24);
    CHECK_INT(pclose(pipe_end), 0);
    errno = 0;
    CHECK(wait(NULL) == -1 && errno == ECHILD);
}

int main(void)
{
    use_all();
    bsp_begin(0);
    bsp_sync();
    use_all();
    bsp_sync();
    use_all();
    conform_done();
    bsp_end();
    use_all();
    return conform_end();
}
