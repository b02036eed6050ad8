/* Process model: a program that counts SIGCHLD counts its own children and none of the runtime's.
 *
 * OUT-EACH: pid ${i}: ok
 * OUT-ANY: end: ok
 */
#include "../check.h"
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile sig_atomic_t ended;

static void count(int signal_number)
{
    (void)signal_number;
    ended++;
}

static void own_child(void)
{
    sigset_t blocked, before;
    int status;
    sig_atomic_t seen = ended;

    sigemptyset(&blocked);
    sigaddset(&blocked, SIGCHLD);
    sigprocmask(SIG_BLOCK, &blocked, &before);
    pid_t child = fork();

    if (child == 0)
        _exit(3);
    while (ended == seen)
        sigsuspend(&before);
    sigprocmask(SIG_SETMASK, &before, NULL);
    CHECK(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 3);
}

int main(void)
{
    struct sigaction action = {.sa_handler = count, .sa_flags = SA_RESTART}, now;

    sigaction(SIGCHLD, &action, NULL);
    own_child();
    CHECK_INT(ended, 1);
    bsp_begin(0);
    for (int i = 0; i < 5; i++)
        bsp_sync();
    CHECK_INT(ended, 1);
    CHECK_INT(wait(NULL), -1);
    sigaction(SIGCHLD, NULL, &now);
    CHECK(now.sa_handler == count && (now.sa_flags & SA_RESTART));
    own_child();
    bsp_sync();
    CHECK_INT(ended, 2);
    conform_done();
    bsp_end();
    CHECK_INT(ended, 2);
    own_child();
    CHECK_INT(ended, 3);
    CHECK_INT(wait(NULL), -1);
    return conform_end();
}
