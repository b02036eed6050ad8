/* Process model: a process ends although another thread of it holds a stream, as it does while it
 * waits for input: by exit, and by a call that is misused.
 *
 * P: 2
 * TIMEOUT: 30
 * STATUS: nonzero
 * OUT: printed
 *
 * CASE: exit
 * ARGS: exit
 * ERR-RE: pid 0 called exit\(3\) in superstep 0 before bsp_end
 *
 * CASE: error
 * ARGS: error
 * ERROR: bsp_put @put 0 0
 */
#include <bsp.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static FILE *input;

static void *wait_for_input(void *unused)
{
    char line[16];

    return fgets(line, sizeof line, input) ? line : unused;
}

int main(int argc, char **argv)
{
    int ends[2], value = 0;
    pthread_t thread;

    bsp_begin(0);
    if (bsp_pid() == 0) {
        if (pipe(ends) != 0 || !(input = fdopen(ends[0], "r")) ||
            pthread_create(&thread, NULL, wait_for_input, NULL) != 0)
            bsp_abort("no thread");
        while (ftrylockfile(input) == 0) {
            funlockfile(input);
            sched_yield();
        }
        printf("printed\n");
        if (argc > 1 && strcmp(argv[1], "exit") == 0)
            exit(3);
        bsp_put(-1, &value, &value, 0, sizeof value); /* @put */
    }
    bsp_sync();
    bsp_end();
    return 0;
}
