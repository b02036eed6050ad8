/* attributes_kernel.c - what goes on where it stood: the state of the thread, and of its memory. */
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/ckpt/capture/attributes.h"

static char alternate[32768];
static void *mapping;

static void on_signal(int number)
{
    (void)number;
}

static void set_name(void)
{
    need(prctl(PR_SET_NAME, "of my own"), "PR_SET_NAME");
}

static bool has_name(void)
{
    char name[16];

    return prctl(PR_GET_NAME, name) == 0 && strcmp(name, "of my own") == 0;
}

static void set_umask(void)
{
    umask(0123);
}

static bool has_umask(void)
{
    return umask(0) == 0123;
}

static void set_directory(void)
{
    need(mkdir("within", 0700) != 0 && errno != EEXIST ? -1 : 0, "mkdir");
    need(chdir("within"), "chdir");
}

static bool has_directory(void)
{
    char path[4096];
    size_t length = getcwd(path, sizeof path) ? strlen(path) : 0;

    return length > 7 && strcmp(path + length - 7, "/within") == 0;
}

static void set_mask(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 2);
    need(sigprocmask(SIG_BLOCK, &set, NULL), "sigprocmask");
}

static bool has_mask(void)
{
    sigset_t set;

    return sigprocmask(SIG_BLOCK, NULL, &set) == 0 && sigismember(&set, SIGRTMIN + 2) == 1;
}

static void set_pending(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGRTMIN + 4);
    need(sigprocmask(SIG_BLOCK, &set, NULL) | raise(SIGRTMIN + 4), "raise");
}

static bool has_pending(void)
{
    sigset_t set;

    return sigpending(&set) == 0 && sigismember(&set, SIGRTMIN + 4) == 1;
}

static void set_actions(void)
{
    need(signal(SIGUSR2, on_signal) == SIG_ERR || signal(SIGPIPE, SIG_IGN) == SIG_ERR ? -1 : 0,
         "signal");
}

static bool has_actions(void)
{
    return signal(SIGUSR2, SIG_DFL) == on_signal && signal(SIGPIPE, SIG_DFL) == SIG_IGN;
}

static void set_signal_stack(void)
{
    const stack_t stack = {.ss_sp = alternate, .ss_size = sizeof alternate};

    need(sigaltstack(&stack, NULL), "sigaltstack");
}

static bool has_signal_stack(void)
{
    stack_t stack;

    return sigaltstack(NULL, &stack) == 0 && stack.ss_sp == alternate &&
           stack.ss_size == sizeof alternate;
}

static void set_timers(void)
{
    const struct itimerval far = {{3, 0}, {1000, 0}};

    need(setitimer(ITIMER_REAL, &far, NULL) | setitimer(ITIMER_PROF, &far, NULL), "setitimer");
}

static bool has_timers(void)
{
    struct itimerval real, prof;

    return getitimer(ITIMER_REAL, &real) == 0 && getitimer(ITIMER_PROF, &prof) == 0 &&
           real.it_value.tv_sec > 100 && prof.it_value.tv_sec > 100 &&
           real.it_interval.tv_sec == 3 && prof.it_interval.tv_sec == 3;
}

static void set_robust_list(void)
{
    static struct {
        void *next;
        long offset;
        void *pending;
    } list = {.next = &list};

    need(syscall(SYS_set_robust_list, &list, sizeof list), "set_robust_list");
    mapping = &list;
}

static bool has_robust_list(void)
{
    void *list = NULL;
    size_t size = 0;

    return syscall(SYS_get_robust_list, 0, &list, &size) == 0 && list == mapping && size == 24;
}

static void set_tid_address(void)
{
    static int32_t word;

    need(syscall(SYS_set_tid_address, &word), "set_tid_address");
    mapping = &word;
}

static bool has_tid_address(void)
{
    void *at = NULL;

    return prctl(PR_GET_TID_ADDRESS, &at) == 0 && at == mapping;
}

/* A page that is locked is there although nobody has touched it: so it is not with the lock of
 * MLOCK_ONFAULT, which is what comes back.  VmLck counts both. */
static long locked_pages(void)
{
    char status[8192], *at;
    int fd = (int)syscall(SYS_open, "/proc/self/status", 0);
    ssize_t bytes = fd < 0 ? 0 : read(fd, status, sizeof status - 1);
    long kib = 0;

    if (fd >= 0)
        close(fd);
    status[bytes > 0 ? bytes : 0] = '\0';
    at = strstr(status, "VmLck:");
    for (at = at ? at + 6 : status; *at == ' ' || *at == '\t'; at++)
        continue;
    for (; *at >= '0' && *at <= '9'; at++)
        kib = kib * 10 + (*at - '0');
    return kib / 4;
}

static void set_locks(void)
{
    mapping = mmap(NULL, 4 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    need(mapping == MAP_FAILED || mlock(mapping, 4 * 4096) != 0 ? -1 : 0, "mlock");
}

static bool has_locks(void)
{
    return locked_pages() == 4;
}

#define CASE(row, name)                                                                            \
    {                                                                                              \
        row, set_##name, has_##name                                                                \
    }

const struct attribute_case kernel_cases[] = {
    CASE("name", name),
    CASE("umask", umask),
    CASE("directory", directory),
    CASE("signal-mask", mask),
    CASE("pending-signals", pending),
    CASE("signal-actions", actions),
    CASE("signal-stack", signal_stack),
    CASE("interval-timers", timers),
    CASE("robust-list", robust_list),
    CASE("tid-address", tid_address),
    CASE("locked-memory", locks),
    {NULL, NULL, NULL},
};
