/* attributes_refused.c - what cannot be put back: every snapshot is refused. */
#include <asm/ldt.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/aio_abi.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/io_uring.h>
#include <linux/keyctl.h>
#include <linux/seccomp.h>
#include <mqueue.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/ckpt/capture/attributes.h"

/* Of libc 2.35 and later. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));

#define NOBODY 65533 /* whom the tests do not run as */

#ifndef CLONE_NEWTIME
#define CLONE_NEWTIME 0x80
#endif

static void set_users(void)
{
    need(seteuid(NOBODY), "seteuid");
}

static void set_groups(void)
{
    need(setegid(NOBODY), "setegid");
}

static void set_more_groups(void)
{
    const gid_t group = NOBODY;

    need(setgroups(1, &group), "setgroups");
}

static void set_capabilities(void)
{
    struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
    struct __user_cap_data_struct data[2];

    need(syscall(SYS_capget, &header, data), "capget");
    if (!(data[0].permitted & 1 << CAP_NET_RAW)) {
        errno = EPERM;
        impossible("a capability to give up");
    }
    data[0].effective &= ~(1u << CAP_NET_RAW);
    data[0].permitted &= ~(1u << CAP_NET_RAW);
    need(syscall(SYS_capset, &header, data), "capset");
}

static void set_bounding(void)
{
    need(prctl(PR_CAPBSET_DROP, CAP_NET_RAW, 0, 0, 0), "PR_CAPBSET_DROP");
}

/* Allows everything. */
static void set_seccomp(void)
{
    struct sock_filter allow = {.code = BPF_RET | BPF_K, .k = SECCOMP_RET_ALLOW};
    const struct sock_fprog program = {.len = 1, .filter = &allow};

    need(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "PR_SET_NO_NEW_PRIVS");
    need(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), "PR_SET_SECCOMP");
}

/* Only where a security module offers it: a profile that everybody may change to. */
static void set_label(void)
{
    static const char change[] = "changeprofile unconfined";
    int fd = (int)need(open("/proc/self/attr/current", O_RDWR), "/proc/self/attr/current");

    need(write(fd, change, sizeof change - 1), "/proc/self/attr/current");
    close(fd);
}

/* One with a /proc, else nothing is known about the process at all. */
static void set_root(void)
{
    need(unshare(CLONE_NEWNS), "unshare(CLONE_NEWNS)");
    need(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), "mount");
    need(mkdir("root", 0755) | mkdir("root/proc", 0755), "mkdir");
    need(mount("/proc", "root/proc", NULL, MS_BIND | MS_REC, NULL), "mount");
    need(chroot("root"), "chroot");
    need(chdir("/"), "chdir");
}

static void leave(int spaces, const char *what)
{
    need(unshare(spaces), what);
}

static void set_mount_namespace(void)
{
    leave(CLONE_NEWNS, "unshare(CLONE_NEWNS)");
}

static void set_user_namespace(void)
{
    leave(CLONE_NEWUSER, "unshare(CLONE_NEWUSER)");
}

static void set_net_namespace(void)
{
    leave(CLONE_NEWNET, "unshare(CLONE_NEWNET)");
}

/* A process is in the one that its parent has chosen. */
static void set_pid_namespace(void)
{
    int status = 0;
    pid_t child;

    leave(CLONE_NEWPID, "unshare(CLONE_NEWPID)");
    child = (pid_t)need(fork(), "fork");
    if (child == 0)
        return;
    waitpid(child, &status, 0);
    _exit(WIFEXITED(status) ? WEXITSTATUS(status) : 99);
}

static void set_pid_namespace_of_children(void)
{
    leave(CLONE_NEWPID, "unshare(CLONE_NEWPID)");
}

static void set_uts_namespace(void)
{
    leave(CLONE_NEWUTS, "unshare(CLONE_NEWUTS)");
}

static void set_ipc_namespace(void)
{
    leave(CLONE_NEWIPC, "unshare(CLONE_NEWIPC)");
}

static void set_cgroup_namespace(void)
{
    leave(CLONE_NEWCGROUP, "unshare(CLONE_NEWCGROUP)");
}

static void set_time_namespace(void)
{
    int fd;

    leave(CLONE_NEWTIME, "unshare(CLONE_NEWTIME)");
    fd = (int)need(open("/proc/self/ns/time_for_children", O_RDONLY), "time_for_children");
    need(setns(fd, CLONE_NEWTIME), "setns");
    close(fd);
}

static void set_time_namespace_of_children(void)
{
    leave(CLONE_NEWTIME, "unshare(CLONE_NEWTIME)");
}

static void set_keyrings(void)
{
    need(syscall(SYS_add_key, "user", "a key", "x", 1, KEY_SPEC_PROCESS_KEYRING), "add_key");
}

static void set_segments(void)
{
    struct user_desc segment = {.entry_number = 0, .limit = 0xfff, .seg_32bit = 1, .useable = 1};

    need(syscall(SYS_modify_ldt, 1, &segment, sizeof segment), "modify_ldt");
}

static void *idle(void *argument)
{
    pause();
    return argument;
}

static void set_threads(void)
{
    pthread_t thread;

    errno = pthread_create(&thread, NULL, idle, NULL);
    need(-errno, "pthread_create");
}

static void set_children(void)
{
    pid_t parent = getpid(), child = (pid_t)need(fork(), "fork");

    if (child == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) /* it has ended before it could be bound to */
            _exit(0);
        close(STDOUT_FILENO); /* nobody waits for its end */
        close(STDERR_FILENO);
        prctl(PR_SET_NAME, "a-child");
        for (;;)
            pause();
    }
}

static void set_unwaited(void)
{
    siginfo_t info;
    pid_t child = (pid_t)need(fork(), "fork");

    if (child == 0)
        _exit(0);
    need(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), "waitid");
}

static void set_posix_timers(void)
{
    struct sigevent event = {.sigev_notify = SIGEV_NONE};
    timer_t timer;

    need(timer_create(CLOCK_MONOTONIC, &event, &timer), "timer_create");
}

/* As a library does where libc was told not to. */
static void set_restartable_sequences(void)
{
    static _Alignas(32) char area[32];
    const unsigned signature = 0x53053053;
    char *of_libc;

    errno = ENOSYS;
    if (!&__rseq_offset)
        impossible("an area of libc");
    of_libc = (char *)__builtin_thread_pointer() + __rseq_offset;
    need(syscall(SYS_rseq, of_libc, sizeof area, 1 /* unregister */, signature), "rseq");
    need(syscall(SYS_rseq, area, sizeof area, 0, signature), "rseq");
}

static int some_file(void)
{
    return (int)need(open("some file", O_RDWR | O_CREAT, 0600), "some file");
}

static void set_record_locks(void)
{
    struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET, .l_len = 1};

    need(fcntl(some_file(), F_SETLK, &lock), "F_SETLK");
}

static void set_file_locks(void)
{
    need(flock(some_file(), LOCK_EX), "flock");
}

static void set_leases(void)
{
    need(fcntl(some_file(), F_SETLEASE, F_WRLCK), "F_SETLEASE");
}

static void set_aio(void)
{
    aio_context_t context = 0;

    need(syscall(SYS_io_setup, 8, &context), "io_setup");
}

static void set_io_uring(void)
{
    struct io_uring_params params;

    memset(&params, 0, sizeof params);
    need(syscall(SYS_io_uring_setup, 4, &params), "io_uring_setup");
}

static void set_message_queues(void)
{
    char name[64];
    mqd_t queue;

    snprintf(name, sizeof name, "/bspz-attributes-%d", (int)getpid());
    queue = (mqd_t)need(mq_open(name, O_CREAT | O_EXCL | O_RDWR, 0600, NULL), "mq_open");
    mq_unlink(name);
    (void)queue;
}

static void set_userfaultfd(void)
{
    need(syscall(SYS_userfaultfd, 1 /* of this program's own faults only */), "userfaultfd");
}

static void set_counters(void)
{
    struct {
        uint32_t type, size;
        uint64_t config, rest[14];
    } counter = {.type = 1 /* of software */, .size = 64, .config = 1};

    counter.rest[3] = 0x60; /* neither kernel nor hypervisor */
    need(syscall(SYS_perf_event_open, &counter, 0, -1, -1, 0), "perf_event_open");
}

#define CASE(row, name)                                                                            \
    {                                                                                              \
        row, set_##name, NULL                                                                      \
    }

const struct attribute_case refused_cases[] = {
    CASE("users", users),
    CASE("groups", groups),
    CASE("more-groups", more_groups),
    CASE("capabilities", capabilities),
    CASE("bounding", bounding),
    CASE("seccomp", seccomp),
    CASE("label", label),
    CASE("root", root),
    CASE("mount-namespace", mount_namespace),
    CASE("user-namespace", user_namespace),
    CASE("net-namespace", net_namespace),
    CASE("pid-namespace", pid_namespace),
    CASE("pid-namespace-of-children", pid_namespace_of_children),
    CASE("uts-namespace", uts_namespace),
    CASE("ipc-namespace", ipc_namespace),
    CASE("cgroup-namespace", cgroup_namespace),
    CASE("time-namespace", time_namespace),
    CASE("time-namespace-of-children", time_namespace_of_children),
    CASE("keyrings", keyrings),
    CASE("segments", segments),
    CASE("threads", threads),
    CASE("children", children),
    CASE("ended-children", unwaited),
    CASE("posix-timers", posix_timers),
    CASE("restartable-sequences", restartable_sequences),
    CASE("record-locks", record_locks),
    CASE("file-locks", file_locks),
    CASE("leases", leases),
    CASE("aio", aio),
    CASE("io-uring", io_uring),
    CASE("message-queues", message_queues),
    CASE("userfaultfd", userfaultfd),
    CASE("counters", counters),
    {NULL, NULL, NULL},
};
