/* refused.c - a process with something that no snapshot can keep.
 *
 *   refused WHAT     thread, socket, pipe, deleted, timer, lock, shared, child, ended, seccomp,
 * users or nothing
 *
 * The last process makes it after bsp_begin; then there are some supersteps, and "done" is printed
 * when it still works. */
#include <bsp.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int ends[2];

static void must(int truth, const char *what)
{
    if (!truth) {
        perror(what);
        exit(99);
    }
}

static void *sleep_for_ever(void *nothing)
{
    for (;;)
        pause();
    return nothing;
}

/* In the current directory. */
static void make_file(const char *what)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};

    must((ends[0] = open("refused.file", O_RDWR | O_CREAT, 0600)) >= 0, what);
    if (strcmp(what, "deleted") == 0)
        must(unlink("refused.file") == 0, what);
    else
        must(fcntl(ends[0], F_SETLK, &lock) == 0, what);
}

static void make_child(bool lives)
{
    siginfo_t info;
    pid_t child = fork();

    must(child >= 0, "fork");
    if (child == 0 && lives) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
    if (child == 0)
        _exit(0);
    if (!lives)
        must(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) == 0, "waitid");
}

static void allow_all(void)
{
    struct sock_filter allow = {.code = BPF_RET | BPF_K, .k = SECCOMP_RET_ALLOW};
    const struct sock_fprog program = {.len = 1, .filter = &allow};

    must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs");
    must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "seccomp");
}

static void make(const char *what)
{
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    pthread_t thread;
    timer_t timer;

    if (strcmp(what, "thread") == 0)
        must(pthread_create(&thread, NULL, sleep_for_ever, NULL) == 0, what);
    if (strcmp(what, "socket") == 0)
        must((ends[0] = socket(AF_INET, SOCK_STREAM, 0)) >= 0, what);
    if (strcmp(what, "pipe") == 0)
        must(pipe(ends) == 0, what);
    if (strcmp(what, "deleted") == 0 || strcmp(what, "lock") == 0)
        make_file(what);
    if (strcmp(what, "child") == 0 || strcmp(what, "ended") == 0)
        make_child(what[0] == 'c');
    if (strcmp(what, "seccomp") == 0)
        allow_all();
    if (strcmp(what, "users") == 0)
        must(seteuid(65533) == 0, what);
    if (strcmp(what, "timer") == 0)
        must(timer_create(CLOCK_MONOTONIC, &event, &timer) == 0, what);
    if (strcmp(what, "shared") == 0) {
        int fd = memfd_create("of others", 0);

        must(fd >= 0 && ftruncate(fd, 4096) == 0, what);
        must(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) != MAP_FAILED, what);
    }
}

int main(int argc, char **argv)
{
    bsp_begin(0);
    if (argc > 1 && bsp_pid() == bsp_nprocs() - 1)
        make(argv[1]);
    for (int i = 0; i < 5; i++)
        bsp_sync();
    if (bsp_pid() == 0)
        printf("done\n");
    bsp_end();
    return 0;
}
