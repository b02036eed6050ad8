/* prog.c - the program of the integration tests: what it does is its first argument.
 *
 * Everywhere WHO is a pid, and words after the mode are its own.  It prints "ready PID OSPID" where
 * a test needs to act from outside.
 */
#include <bsp.h>

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "gate.h"

static int argument_count;
static char **arguments;

static const char *word(int index)
{
    return index < argument_count ? arguments[index] : "";
}

static int number(int index)
{
    return atoi(word(index));
}

static void pause_ms(long milliseconds)
{
    struct timespec rest = {milliseconds / 1000, milliseconds % 1000 * 1000000};

    while (nanosleep(&rest, &rest) != 0 && errno == EINTR)
        continue;
}

static void ready(void)
{
    printf("ready %d %d\n", bsp_pid(), (int)getpid());
    fflush(stdout);
}

/* Everybody tells its neighbour its number: the runtime works. */
static void exchange(void)
{
    int p = bsp_nprocs(), pid = bsp_pid(), got = -1;

    bsp_push_reg(&got, sizeof got);
    bsp_sync();
    bsp_put((pid + 1) % p, &pid, &got, 0, sizeof got);
    bsp_sync();
    bsp_pop_reg(&got);
    if (got != (pid + p - 1) % p)
        bsp_abort("neighbour's number is %d", got);
    bsp_sync();
}

/* ---- What a terminal shows, in every part of the program: the second word says in which ---- */

static void ask(void)
{
    int answer;

    printf("number? "); /* not flushed: reading from a terminal does that */
    if (scanf("%d", &answer) != 1)
        exit(1);
    printf("thanks for %d\n", answer);
}

static void show_terminals(void)
{
    struct winsize size = {0};

    printf("terminals %d %d %d\n", isatty(0), isatty(1), isatty(2));
    ioctl(1, TIOCGWINSZ, &size);
    printf("window %d %d\n", size.ws_row, size.ws_col);
    fflush(stdout);
}

static void on_window_change(int number)
{
    (void)number;
}

static void wait_for_windows(void)
{
    sigset_t window, before;

    sigemptyset(&window);
    sigaddset(&window, SIGWINCH);
    sigprocmask(SIG_BLOCK, &window, &before); /* none is lost between looking and waiting */
    signal(SIGWINCH, on_window_change);
    for (;;) {
        show_terminals();
        sigsuspend(&before);
    }
}

/* What is typed is not echoed, as for a password. */
static void ask_secretly(void)
{
    struct termios before, now;

    tcgetattr(0, &before);
    now = before;
    now.c_lflag &= ~(tcflag_t)ECHO;
    tcsetattr(0, TCSAFLUSH, &now);
    ask();
    tcsetattr(0, TCSAFLUSH, &before);
}

static void on_terminal(const char *mode, const char *when)
{
    if (strcmp(word(2), when) != 0)
        return;
    if (strcmp(mode, "ask") == 0)
        ask();
    if (strcmp(mode, "secret") == 0)
        ask_secretly();
    if (strcmp(mode, "terminals") == 0)
        show_terminals();
    if (strcmp(mode, "windows") == 0)
        wait_for_windows();
}

static void supersteps_for_ever(long rest_ms)
{
    for (;;) {
        bsp_sync();
        if (rest_ms > 0)
            pause_ms(rest_ms);
    }
}

/* Memory that an image contains, in MiB. */
static void fill_memory(long mib)
{
    static char *memory; /* for ever */

    memory = mib > 0 ? malloc((size_t)mib << 20) : NULL;
    for (long at = 0; memory && at < mib << 20; at++)
        memory[at] = (char)(at * at >> 8);
}

static void compute_for_ever(void)
{
    for (volatile unsigned turns = 0;; turns++)
        if (turns % 1000000 == 0)
            pause_ms(1);
}

/* ---- What happens inside the SPMD part ---- */

static void in_spmd(const char *mode)
{
    bool me = bsp_pid() == number(2);

    if (strcmp(mode, "exit") == 0 && me)
        exit(number(3));
    if (strcmp(mode, "_exit") == 0 && me)
        _exit(number(3));
    if (strcmp(mode, "abort") == 0 && me)
        bsp_abort("as told by %s", word(3));
    if (strcmp(mode, "signal") == 0 && me)
        raise(number(3));
    if (strcmp(mode, "misuse") == 0 && me)
        bsp_put(bsp_nprocs(), &me, &me, 0, sizeof me);
    if (strcmp(mode, "early-end") == 0 && me)
        bsp_end();
    if (strcmp(mode, "loop") == 0) {
        fill_memory(number(2));
        ready();
        supersteps_for_ever(1);
    }
    if (strcmp(mode, "orphan") == 0) {
        int ends[2];
        char byte;

        /* The grandchild loses its parent, then ends; we see that by the end of the pipe. */
        if (pipe(ends) != 0)
            exit(1);
        if (fork() == 0) {
            if (fork() == 0)
                pause_ms(20);
            _exit(0);
        }
        wait(NULL);
        close(ends[1]);
        if (read(ends[0], &byte, 1) != 0)
            exit(1);
        ready();
        supersteps_for_ever(1);
    }
    if (strcmp(mode, "wait") == 0) {
        ready();
        if (me)
            compute_for_ever();
    }
    if (strcmp(mode, "compute") == 0) {
        ready();
        compute_for_ever();
    }
    if (strcmp(mode, "count") == 0)
        for (int i = 0; i < number(2); i++)
            bsp_sync();
    if (bsp_pid() == 0)
        on_terminal(mode, "within");
    if (strcmp(word(3), "wait") == 0) {
        if (bsp_pid() == 0) {
            ready();
            getchar();
        }
        bsp_sync();
    }
    if (strcmp(mode, "redirect") == 0)
        printf("line of %d\n", bsp_pid());
    if (strcmp(mode, "turns") == 0 || strcmp(mode, "around") == 0)
        for (int i = 0; i < number(2); i++) {
            if (i % bsp_nprocs() == bsp_pid())
                printf("turn %d\n", i);
            bsp_sync();
        }
    if (strcmp(mode, "talk") == 0)
        for (int i = 0; i < number(2); i++) {
            if (i == number(2) / 2 && *word(3))
                wait_for_gate(word(3), 1);
            printf("line %d of %d\n", i, bsp_pid());
            bsp_sync();
        }
    if (strcmp(mode, "flood") == 0)
        for (int i = 0; number(2) == 0 || i < number(2); i++)
            printf("flood %d%*s\n", i, number(3), "");
    if (strcmp(mode, "gated") == 0)
        for (int i = 1; i <= number(2); i++) {
            say_everywhere(bsp_pid(), i);
            wait_for_gate(word(3), i);
            bsp_sync();
        }
    if (strcmp(mode, "stderr") == 0)
        fprintf(stderr, "complaint of %d\n", bsp_pid());
    if (strcmp(mode, "affinity") == 0) {
        cpu_set_t set;

        sched_getaffinity(0, sizeof set, &set);
        printf("pid %d may use %d\n", bsp_pid(), CPU_COUNT(&set));
    }
    if (strcmp(mode, "whoami") == 0) {
        printf("rank %d %d group %d parent %d\n", bsp_pid(), (int)getpid(), (int)getpgrp(),
               (int)getppid());
        fflush(stdout);
        bsp_sync();
        if (me) /* so that a test can look at us */
            getchar();
    }
    if (strcmp(mode, "cat") == 0 && bsp_pid() > 0)
        printf("pid %d reads %s\n", bsp_pid(), getchar() == EOF ? "nothing" : "something");
}

/* ---- What happens after it ---- */

static int after_end(const char *mode)
{
    on_terminal(mode, "after");
    if (strcmp(mode, "around") == 0)
        printf("last\n");
    if (strcmp(mode, "status") == 0)
        return number(2);
    if (strcmp(mode, "late-signal") == 0)
        raise(number(2));
    if (strcmp(mode, "late-sleep") == 0) {
        ready();
        pause_ms(60000);
    }
    if (strcmp(mode, "handler-status") == 0 && strcmp(word(4), "sleep") == 0)
        pause_ms(60000);
    if (strcmp(mode, "cat") == 0) {
        long bytes = 0;

        while (getchar() != EOF)
            bytes++;
        printf("read %ld bytes\n", bytes);
    }
    return 0;
}

static void late_words(void)
{
    printf("exit handler of %d\n", bsp_pid());
}

static void late_death(void)
{
    if (bsp_pid() == number(2))
        raise(number(3));
}

static void late_quick_exit(void)
{
    if (bsp_pid() == number(2))
        _exit(number(3));
}

/* ---- What happens before it ---- */

static void before_begin(const char *mode)
{
    on_terminal(mode, "before");
    if (strcmp(mode, "around") == 0) {
        if (strcmp(word(3), "wait") == 0) {
            printf("waits %d\n", (int)getpid());
            getchar();
        }
        for (int i = 0; i < 600; i++)
            printf("first %d\n", i);
    }
    if (strcmp(mode, "redirect") == 0 && !freopen(word(2), "w", stdout))
        exit(1);
    if (strcmp(mode, "never") == 0)
        exit(number(2));
    if (strcmp(mode, "room") == 0)
        printf("room for %d\n", bsp_nprocs());
    if (strcmp(mode, "early-signal") == 0)
        raise(number(2));
    if (strcmp(mode, "early-sleep") == 0) {
        ready();
        pause_ms(60000);
    }
    if (strcmp(mode, "early-gate") == 0) {
        ready();
        wait_for_gate(word(2), 1);
    }
    if (strcmp(mode, "prompt") == 0) {
        int answer;

        printf("number? ");
        fflush(stdout);
        if (scanf("%d", &answer) != 1)
            exit(1);
        printf("thanks for %d\n", answer);
    }
    if (strcmp(mode, "handlers") == 0)
        atexit(late_words);
    if (strcmp(mode, "handler-signal") == 0)
        atexit(late_death);
    if (strcmp(mode, "handler-status") == 0)
        atexit(late_quick_exit);
    if (strcmp(mode, "limits") == 0) {
        struct rlimit core;

        getrlimit(RLIMIT_CORE, &core);
        printf("core %s\n", core.rlim_cur == 0 ? "off" : "on");
    }
    if (strcmp(mode, "arguments") == 0)
        for (int i = 0; i < argument_count; i++)
            printf("[%s]\n", arguments[i]);
    if (strcmp(mode, "variable") == 0)
        printf("%s=%s\n", word(2), getenv(word(2)) ? getenv(word(2)) : "(unset)");
    if (strcmp(mode, "descriptors") == 0)
        for (int fd = 0; fd < 3; fd++)
            if (lseek(fd, 0, SEEK_CUR) < 0 && errno == EBADF)
                exit(99);
}

int main(int argc, char **argv)
{
    const char *mode;

    argument_count = argc;
    arguments = argv;
    mode = word(1);
    before_begin(mode);
    bsp_begin(strcmp(mode, "want") == 0 ? number(2) : 0);
    exchange();
    in_spmd(mode);
    if (bsp_pid() == 0)
        printf("p = %d\n", bsp_nprocs());
    fflush(stdout);
    bsp_sync();
    if (strcmp(mode, "end-when-told") == 0) {
        ready();
        if (bsp_pid() == 0)
            getchar();
    }
    bsp_end();
    return after_end(mode);
}
