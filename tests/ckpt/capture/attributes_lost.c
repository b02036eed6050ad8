/* attributes_lost.c - what is not there any more where a process goes on, as the manual says. */
#include <asm/ldt.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/keyctl.h>
#include <sched.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/io.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "tests/ckpt/capture/attributes.h"

static long number;
static volatile sig_atomic_t caught;
static volatile char selector;
static sigjmp_buf back;
static char *page;

static void count(int signal)
{
    (void)signal;
    selector = 0;
    caught++;
}

static void jump(int signal)
{
    siglongjmp(back, signal);
}

static void set_death_signal(void)
{
    need(prctl(PR_SET_PDEATHSIG, SIGUSR1), "PR_SET_PDEATHSIG");
}

static bool has_death_signal(void)
{
    int value = 0;

    return prctl(PR_GET_PDEATHSIG, &value) == 0 && value == SIGUSR1;
}

static void set_process_id(void)
{
    number = getpid();
}

static bool has_process_id(void)
{
    return getpid() == number;
}

static void set_session(void)
{
    number = need(setsid(), "setsid");
}

static bool has_session(void)
{
    return getsid(0) == number;
}

static long processor_ms(clockid_t clock)
{
    struct timespec now;

    return clock_gettime(clock, &now) == 0 ? now.tv_sec * 1000 + now.tv_nsec / 1000000 : 0;
}

static void set_processor_time(void)
{
    while (processor_ms(CLOCK_PROCESS_CPUTIME_ID) < 500)
        continue;
}

static bool has_processor_time(void)
{
    return processor_ms(CLOCK_PROCESS_CPUTIME_ID) >= 500;
}

static void set_usage(void)
{
    struct rusage usage;

    for (int i = 0; i < 2000; i++) {
        char *at = mmap(NULL, 4096, PROT_WRITE | PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        at[0] = 1;
        munmap(at, 4096);
    }
    getrusage(RUSAGE_SELF, &usage);
    number = usage.ru_minflt * 4;
    while (usage.ru_minflt < number) {
        char *at = mmap(NULL, 4096, PROT_WRITE | PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        at[0] = 1;
        munmap(at, 4096);
        getrusage(RUSAGE_SELF, &usage);
    }
}

static bool has_usage(void)
{
    struct rusage usage;

    return getrusage(RUSAGE_SELF, &usage) == 0 && usage.ru_minflt >= number;
}

/* Calls of the program are sent back to it while the selector says so. */
static void set_call_dispatch(void)
{
    signal(SIGSYS, count);
    need(prctl(59, 1, 0, 0, &selector), "PR_SET_SYSCALL_USER_DISPATCH");
}

static bool has_call_dispatch(void)
{
    selector = 1;
    syscall(SYS_getppid);
    selector = 0;
    return caught > 0;
}

static void set_core_cookie(void)
{
    need(prctl(62, 1 /* create */, 0, 0, 0), "PR_SCHED_CORE");
}

static bool has_core_cookie(void)
{
    unsigned long cookie = 0;

    return prctl(62, 0, 0, 0, &cookie) == 0 && cookie != 0;
}

/* No directory can be made any more. */
static void set_landlock(void)
{
    const struct {
        uint64_t handled;
    } rules = {1 << 7};
    int fd = (int)need(syscall(SYS_landlock_create_ruleset, &rules, sizeof rules, 0), "landlock");

    need(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "PR_SET_NO_NEW_PRIVS");
    need(syscall(SYS_landlock_restrict_self, fd, 0), "landlock");
    close(fd);
}

static bool has_landlock(void)
{
    return mkdir("a new directory", 0700) != 0 && errno == EACCES;
}

static void set_session_keyring(void)
{
    need(syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL), "keyctl");
    number = syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0);
}

static bool has_session_keyring(void)
{
    return syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0) == number;
}

static void set_file_owner(void)
{
    int fd = (int)need(open("some file", O_RDWR | O_CREAT, 0600), "some file");

    need(fcntl(fd, F_SETOWN, getpid()), "F_SETOWN");
    number = fd;
}

static bool has_file_owner(void)
{
    return fcntl((int)number, F_GETOWN) == getpid();
}

/* Its process's end takes the operation back. */
static void set_semaphore_undo(void)
{
    struct sembuf up = {.sem_num = 0, .sem_op = 1, .sem_flg = SEM_UNDO};

    number = need(semget(IPC_PRIVATE, 1, 0600), "semget");
    need(semop((int)number, &up, 1), "semop");
}

static bool has_semaphore_undo(void)
{
    bool has = semctl((int)number, 0, GETVAL) == 1;

    semctl((int)number, 0, IPC_RMID);
    return has;
}

static void set_io_permissions(void)
{
    need(ioperm(0x80, 1, 1), "ioperm");
}

static bool has_io_permissions(void)
{
    signal(SIGSEGV, jump);
    if (sigsetjmp(back, 1))
        return false;
    outb(0, 0x80);
    return true;
}

static void set_thread_segments(void)
{
    struct user_desc segment = {
        .entry_number = 13, .limit = 0xfff, .seg_32bit = 1, .useable = 1, .base_addr = 0x10000};

    need(syscall(SYS_set_thread_area, &segment), "set_thread_area");
}

static bool has_thread_segments(void)
{
    struct user_desc segment = {.entry_number = 13};

    return syscall(SYS_get_thread_area, &segment) == 0 && segment.base_addr == 0x10000;
}

static void set_advice(void)
{
    page = mmap(NULL, 16 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    need(madvise(page, 16 * 4096, MADV_RANDOM), "madvise");
}

/* A field of the mapping's entry in /proc/self/smaps. */
static bool smaps_say(const void *at, const char *field, const char *what)
{
    FILE *file = fopen("/proc/self/smaps", "re");
    char line[512];
    bool inside = false, found = false;

    while (file && fgets(line, sizeof line, file)) {
        unsigned long start, end;

        if (sscanf(line, "%lx-%lx", &start, &end) == 2)
            inside = (uintptr_t)at >= start && (uintptr_t)at < end;
        if (inside && strstr(line, field) && strstr(line, what))
            found = true;
    }
    if (file)
        fclose(file);
    return found;
}

static bool has_advice(void)
{
    return smaps_say(page, "VmFlags:", " rr");
}

static void set_mapping_name(void)
{
    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    page[0] = 1;
    need(prctl(0x53564d41, 0, page, 4096, "with a name"), "PR_SET_VMA");
}

static bool has_mapping_name(void)
{
    return smaps_say(page, "[anon:", "with a name]");
}

static void set_mapping_policy(void)
{
    unsigned long nodes = 1;

    page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    need(syscall(SYS_mbind, page, 4096, 2, &nodes, 64, 0), "mbind");
}

static bool has_mapping_policy(void)
{
    int mode = 0;

    return syscall(SYS_get_mempolicy, &mode, NULL, 0, page, 2 /* MPOL_F_ADDR */) == 0 && mode == 2;
}

static void set_guards(void)
{
    page = mmap(NULL, 3 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(page, 1, 3 * 4096);
    need(madvise(page + 4096, 4096, 102 /* MADV_GUARD_INSTALL */), "MADV_GUARD_INSTALL");
}

static bool has_guards(void)
{
    signal(SIGSEGV, jump);
    if (sigsetjmp(back, 1))
        return page[0] == 1 && page[8192] == 1;
    *(volatile char *)(page + 4096) = 1;
    return false;
}

static void set_login_id(void)
{
    int fd = (int)need(open("/proc/self/loginuid", O_RDWR), "/proc/self/loginuid");

    need(write(fd, "4321", 4), "/proc/self/loginuid");
    close(fd);
}

static bool has_login_id(void)
{
    char text[32] = "";
    int fd = open("/proc/self/loginuid", O_RDONLY);

    if (fd >= 0 && read(fd, text, sizeof text - 1) < 0)
        text[0] = '\0';
    return strtol(text, NULL, 10) == 4321;
}

#define CASE(row, name)                                                                            \
    {                                                                                              \
        row, set_##name, has_##name                                                                \
    }

const struct attribute_case lost_cases[] = {
    CASE("death-signal", death_signal),
    CASE("process-id", process_id),
    CASE("session", session),
    CASE("processor-time", processor_time),
    CASE("usage", usage),
    CASE("call-dispatch", call_dispatch),
    CASE("core-cookie", core_cookie),
    CASE("landlock", landlock),
    CASE("session-keyring", session_keyring),
    CASE("file-owner", file_owner),
    CASE("semaphore-undo", semaphore_undo),
    CASE("io-permissions", io_permissions),
    CASE("thread-segments", thread_segments),
    CASE("login-id", login_id),
    CASE("advice", advice),
    CASE("mapping-name", mapping_name),
    CASE("mapping-policy", mapping_policy),
    CASE("guards", guards),
    {NULL, NULL, NULL},
};
