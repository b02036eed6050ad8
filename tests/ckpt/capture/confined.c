/* confined.c - runs a program under a filter of system calls like that of a container.
 *
 *   confined PROGRAM ARG...
 *
 * Forbidden is what container engines forbid by default to processes without capabilities: what
 * administers the machine, looks into other processes, or makes name spaces.  clone3 answers
 * ENOSYS, so that libc falls back to clone, whose flags can be filtered. */
#include <errno.h>
#include <sched.h>
#include <seccomp.h>
#include <stdio.h>
#include <sys/personality.h>
#include <unistd.h>

static const char *const forbidden[] = {
    "acct",
    "add_key",
    "bpf",
    "clock_adjtime",
    "clock_settime",
    "create_module",
    "delete_module",
    "fanotify_init",
    "finit_module",
    "fsconfig",
    "fsmount",
    "fsopen",
    "fspick",
    "get_kernel_syms",
    "get_mempolicy",
    "init_module",
    "io_uring_enter",
    "io_uring_register",
    "io_uring_setup",
    "ioperm",
    "iopl",
    "kcmp",
    "kexec_file_load",
    "kexec_load",
    "keyctl",
    "lookup_dcookie",
    "mbind",
    "migrate_pages",
    "mount",
    "mount_setattr",
    "move_mount",
    "move_pages",
    "nfsservctl",
    "open_by_handle_at",
    "open_tree",
    "perf_event_open",
    "pidfd_getfd",
    "pivot_root",
    "process_madvise",
    "process_vm_readv",
    "process_vm_writev",
    "ptrace",
    "query_module",
    "quotactl",
    "reboot",
    "request_key",
    "set_mempolicy",
    "setns",
    "settimeofday",
    "swapoff",
    "swapon",
    "syslog",
    "umount2",
    "unshare",
    "userfaultfd",
    "uselib",
    "ustat",
    "vhangup",
    "_sysctl",
    "sysfs",
};

static int fail(const char *what, int error)
{
    fprintf(stderr, "confined: %s: error %d\n", what, -error);
    return 99;
}

int main(int argc, char **argv)
{
    scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
    int name_spaces = CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID |
                      CLONE_NEWNET | CLONE_NEWCGROUP;
    int error = filter && argc > 1 ? 0 : -EINVAL;

    for (size_t i = 0; i < sizeof forbidden / sizeof forbidden[0] && !error; i++) {
        int number = seccomp_syscall_resolve_name(forbidden[i]);

        if (number != __NR_SCMP_ERROR && number >= 0)
            error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), number, 0);
    }
    if (!error)
        error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
    for (int bit = 1 << 7; bit > 0 && !error; bit = bit < 1 << 30 ? bit << 1 : 0)
        if (bit & name_spaces)
            error =
                seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(clone), 1,
                                 SCMP_A0(SCMP_CMP_MASKED_EQ, (scmp_datum_t)bit, (scmp_datum_t)bit));
    if (!error)
        error = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(personality), 1,
                                 SCMP_A0(SCMP_CMP_EQ, ADDR_NO_RANDOMIZE));
    if (error)
        return fail("the filter", error);
    error = seccomp_load(filter);
    if (error)
        return fail("loading the filter", error);
    execv(argv[1], argv + 1);
    return fail(argv[1], -errno);
}
