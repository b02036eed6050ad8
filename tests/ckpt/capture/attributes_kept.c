/* attributes_kept.c - what goes on where it stood: attributes that bspz_attributes_read knows. */
#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/ckpt/capture/attributes.h"

#define LIMITS 16

/* What was set, and is part of the process. */
static struct rlimit limits[LIMITS];
static long number;
static cpu_set_t processors;

static void set_limits(void)
{
    for (int i = 0; i < LIMITS; i++) {
        need(getrlimit(i, &limits[i]), "getrlimit");
        limits[i].rlim_max = limits[i].rlim_max == RLIM_INFINITY ? (rlim_t)1 << 50
                             : limits[i].rlim_max > 0            ? limits[i].rlim_max - 1
                                                                 : 0;
        if (limits[i].rlim_cur > limits[i].rlim_max)
            limits[i].rlim_cur = limits[i].rlim_max;
    }
    limits[RLIMIT_FSIZE].rlim_cur = 4096; /* images are longer */
    for (int i = 0; i < LIMITS; i++)
        need(setrlimit(i, &limits[i]), "setrlimit");
}

static bool has_limits(void)
{
    for (int i = 0; i < LIMITS; i++) {
        struct rlimit now;

        if (getrlimit(i, &now) != 0 || memcmp(&now, &limits[i], sizeof now) != 0)
            return false;
    }
    return true;
}

static long read_number(const char *path, int base)
{
    char text[64] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd >= 0) {
        if (read(fd, text, sizeof text - 1) < 0)
            text[0] = '\0';
        close(fd);
    }
    return strtol(text, NULL, base);
}

static void write_text(const char *path, const char *text)
{
    int fd = (int)need(open(path, O_WRONLY | O_CLOEXEC), path);

    need(write(fd, text, strlen(text)), path);
    close(fd);
}

static void set_oom_score(void)
{
    write_text("/proc/self/oom_score_adj", "321");
}

static bool has_oom_score(void)
{
    return read_number("/proc/self/oom_score_adj", 10) == 321;
}

static void set_core_filter(void)
{
    write_text("/proc/self/coredump_filter", "0x7");
}

static bool has_core_filter(void)
{
    return read_number("/proc/self/coredump_filter", 16) == 7;
}

static void set_policy(void)
{
    const struct sched_param none = {0};

    need(sched_setscheduler(0, SCHED_BATCH | SCHED_RESET_ON_FORK, &none), "sched_setscheduler");
}

static bool has_policy(void)
{
    return sched_getscheduler(0) == (SCHED_BATCH | SCHED_RESET_ON_FORK);
}

struct scheduling {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
    uint32_t least, most;
};

static void set_clamps(void)
{
    struct scheduling wanted = {.size = sizeof wanted, .flags = 0x78, .least = 100, .most = 900};

    need(syscall(SYS_sched_setattr, 0, &wanted, 0), "sched_setattr");
}

static bool has_clamps(void)
{
    struct scheduling now = {0};

    return syscall(SYS_sched_getattr, 0, &now, sizeof now, 0) == 0 && now.least == 100 &&
           now.most == 900;
}

/* An ordinary user may set it whatever it is now. */
#define NICE 19

static void set_nice(void)
{
    need(setpriority(PRIO_PROCESS, 0, NICE), "setpriority");
}

static bool has_nice(void)
{
    return getpriority(PRIO_PROCESS, 0) == NICE;
}

static void set_io_priority(void)
{
    need(syscall(SYS_ioprio_set, 1, 0, 2 << 13 | 6), "ioprio_set");
}

static bool has_io_priority(void)
{
    return syscall(SYS_ioprio_get, 1, 0) == (2 << 13 | 6);
}

static void set_timer_slack(void)
{
    need(prctl(PR_SET_TIMERSLACK, 123456), "PR_SET_TIMERSLACK");
}

static bool has_timer_slack(void)
{
    return prctl(PR_GET_TIMERSLACK) == 123456;
}

static void set_memory_policy(void)
{
    unsigned long nodes = 1;

    need(syscall(SYS_set_mempolicy, 2 /* MPOL_BIND */, &nodes, 64), "set_mempolicy");
}

static bool has_memory_policy(void)
{
    unsigned long nodes[16] = {0};
    int mode = 0;

    return syscall(SYS_get_mempolicy, &mode, nodes, 1024, 0, 0) == 0 && mode == 2 && nodes[0] == 1;
}

static void set_no_huge_pages(void)
{
    need(prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0), "PR_SET_THP_DISABLE");
}

static bool has_no_huge_pages(void)
{
    return prctl(PR_GET_THP_DISABLE, 0, 0, 0, 0) == 1;
}

static void set_merge(void)
{
    need(prctl(67, 1, 0, 0, 0), "PR_SET_MEMORY_MERGE");
}

static bool has_merge(void)
{
    return prctl(68, 0, 0, 0, 0) == 1;
}

static void set_subreaper(void)
{
    need(prctl(PR_SET_CHILD_SUBREAPER, 1), "PR_SET_CHILD_SUBREAPER");
}

static bool has_subreaper(void)
{
    int value = 0;

    return prctl(PR_GET_CHILD_SUBREAPER, &value) == 0 && value == 1;
}

static void set_memory_errors(void)
{
    need(prctl(PR_MCE_KILL, PR_MCE_KILL_SET, PR_MCE_KILL_EARLY, 0, 0), "PR_MCE_KILL");
}

static bool has_memory_errors(void)
{
    return prctl(PR_MCE_KILL_GET, 0, 0, 0, 0) == PR_MCE_KILL_EARLY;
}

static void set_speculation(void)
{
    for (int i = 0; i < 3; i++)
        if (prctl(PR_GET_SPECULATION_CTRL, i, 0, 0, 0) > 0 &&
            prctl(PR_SET_SPECULATION_CTRL, i, i == 2 ? PR_SPEC_ENABLE : PR_SPEC_DISABLE, 0, 0) ==
                0) {
            number = i;
            return;
        }
    impossible("PR_SET_SPECULATION_CTRL");
}

static bool has_speculation(void)
{
    return prctl(PR_GET_SPECULATION_CTRL, number, 0, 0, 0) ==
           (long)(PR_SPEC_PRCTL | (number == 2 ? PR_SPEC_ENABLE : PR_SPEC_DISABLE));
}

static void set_io_flusher(void)
{
    need(prctl(PR_SET_IO_FLUSHER, 1, 0, 0, 0), "PR_SET_IO_FLUSHER");
}

static bool has_io_flusher(void)
{
    return prctl(PR_GET_IO_FLUSHER, 0, 0, 0, 0) == 1;
}

static void set_membarrier(void)
{
    need(syscall(SYS_membarrier, 1 << 9, 0, 0), "MEMBARRIER_CMD_GET_REGISTRATIONS");
    need(syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0), "membarrier");
}

static bool has_membarrier(void)
{
    return syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
}

static void set_wide_state(void)
{
    need(syscall(SYS_arch_prctl, 0x1023, 18 /* the data of tiles */), "ARCH_REQ_XCOMP_PERM");
}

static bool has_wide_state(void)
{
    uint64_t permitted = 0;

    return syscall(SYS_arch_prctl, 0x1022, &permitted) == 0 && permitted >> 18 & 1;
}

static void set_securebits(void)
{
    /* The others need a privilege. */
    if (prctl(PR_SET_SECUREBITS, 1 << 4 | 1 << 2) != 0)
        need(prctl(PR_SET_KEEPCAPS, 1), "PR_SET_KEEPCAPS");
    number = prctl(PR_GET_SECUREBITS);
}

static bool has_securebits(void)
{
    return prctl(PR_GET_SECUREBITS) == number && prctl(PR_GET_KEEPCAPS) == 1;
}

static void set_no_new_privs(void)
{
    need(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "PR_SET_NO_NEW_PRIVS");
}

static bool has_no_new_privs(void)
{
    return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1;
}

static void set_personality(void)
{
    need(personality(WHOLE_SECONDS), "personality");
}

static bool has_personality(void)
{
    return personality(0xffffffff) == WHOLE_SECONDS;
}

static void set_time_stamps(void)
{
    need(prctl(PR_SET_TSC, PR_TSC_SIGSEGV), "PR_SET_TSC");
}

/* What prints must be able to see the time. */
static bool has_time_stamps(void)
{
    int value = 0;
    bool has = prctl(PR_GET_TSC, &value) == 0 && value == PR_TSC_SIGSEGV;

    prctl(PR_SET_TSC, PR_TSC_ENABLE);
    return has;
}

static void set_cpuid(void)
{
    need(syscall(SYS_arch_prctl, 0x1012, 0), "ARCH_SET_CPUID");
}

static bool has_cpuid(void)
{
    bool has = syscall(SYS_arch_prctl, 0x1011, 0) == 0;

    syscall(SYS_arch_prctl, 0x1012, 1);
    return has;
}

static void set_lock_future(void)
{
    need(mlockall(MCL_FUTURE), "mlockall");
}

static bool has_lock_future(void)
{
    void *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned char resident = 0;

    return at != MAP_FAILED && mincore(at, 4096, &resident) == 0 && resident & 1;
}

static void set_no_new_code(void)
{
    need(prctl(65, 1, 0, 0, 0), "PR_SET_MDWE");
}

static bool has_no_new_code(void)
{
    return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
                0) == MAP_FAILED;
}

static void set_dumpable(void)
{
    need(prctl(PR_SET_DUMPABLE, 0), "PR_SET_DUMPABLE");
}

static bool has_dumpable(void)
{
    return prctl(PR_GET_DUMPABLE) == 0;
}

static void set_affinity(void)
{
    cpu_set_t allowed;

    need(sched_getaffinity(0, sizeof allowed, &allowed), "sched_getaffinity");
    if (CPU_COUNT(&allowed) < 2) {
        errno = ENODEV;
        impossible("a second processor");
    }
    for (int i = 0; CPU_COUNT(&processors) == 0; i++)
        if (CPU_ISSET(i, &allowed))
            CPU_SET(i, &processors);
    need(sched_setaffinity(0, sizeof processors, &processors), "sched_setaffinity");
}

static bool has_affinity(void)
{
    cpu_set_t now;

    return sched_getaffinity(0, sizeof now, &now) == 0 && CPU_EQUAL(&now, &processors);
}

#define CASE(row, name)                                                                            \
    {                                                                                              \
        row, set_##name, has_##name                                                                \
    }

const struct attribute_case kept_cases[] = {
    CASE("limits", limits),
    CASE("oom-score", oom_score),
    CASE("core-filter", core_filter),
    CASE("policy", policy),
    CASE("clamps", clamps),
    CASE("nice", nice),
    CASE("io-priority", io_priority),
    CASE("timer-slack", timer_slack),
    CASE("memory-policy", memory_policy),
    CASE("no-huge-pages", no_huge_pages),
    CASE("merge", merge),
    CASE("subreaper", subreaper),
    CASE("memory-errors", memory_errors),
    CASE("speculation", speculation),
    CASE("io-flusher", io_flusher),
    CASE("membarrier", membarrier),
    CASE("wide-state", wide_state),
    CASE("securebits", securebits),
    CASE("no-new-privs", no_new_privs),
    CASE("personality", personality),
    CASE("time-stamps", time_stamps),
    CASE("cpuid", cpuid),
    CASE("lock-future", lock_future),
    CASE("no-new-code", no_new_code),
    CASE("dumpable", dumpable),
    CASE("affinity", affinity),
    {NULL, NULL, NULL},
};
