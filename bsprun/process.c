/* process.c - utilities for processes; see process.h. */
#include "bsprun/process.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/buffer.h"
#include "lib/base/clock.h"
#include "lib/base/io.h"
#include "lib/base/process_stat.h"

#define COPY_NAME      "bspzero-copy\n"
#define KERNEL_EXITING 0x4u /* PF_EXITING */

int process_open_standard(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
            return -errno;
    return 0;
}

char **process_environment_but(const char *prefix, char *more)
{
    size_t count = 0, kept = 0;

    while (environ[count])
        count++;
    char **copy = calloc(count + 2, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++)
        if (strncmp(environ[i], prefix, strlen(prefix)) != 0)
            copy[kept++] = environ[i];
    if (copy)
        copy[kept] = more;
    return copy;
}

int process_enough_descriptors(int count)
{
    int fds[DESCRIPTORS_MOST];
    int opened = 0, error = 0;

    while (opened < count && opened < DESCRIPTORS_MOST && !error) {
        fds[opened] = open("/", O_PATH | O_CLOEXEC);
        if (fds[opened] < 0)
            error = -errno;
        else
            opened++;
    }
    while (opened > 0)
        close(fds[--opened]);
    return error;
}

int process_pidfd(pid_t pid)
{
    int fd = (int)syscall(SYS_pidfd_open, pid, 0u);

    return fd < 0 ? -errno : fd;
}

void process_signal(int pidfd, int signal)
{
    syscall(SYS_pidfd_send_signal, pidfd, signal, NULL, 0u);
}

struct death process_death(int pidfd)
{
    struct death death = {0};
    siginfo_t info;

    memset(&info, 0, sizeof info);
    if (waitid(P_PIDFD, (id_t)pidfd, &info, WEXITED | WNOHANG | WNOWAIT | __WALL) != 0 ||
        info.si_pid == 0)
        return death;
    death.known = true;
    if (info.si_code == CLD_EXITED)
        death.status = info.si_status;
    else
        death.signal = info.si_status;
    return death;
}

struct relation {
    pid_t pid, parent;
    bool ours, dead, dying;
};

/* An exiting thread has the flag, too: the process is exiting if that is its only thread. */
static bool read_relation(pid_t pid, struct relation *relation)
{
    char line[BSPZ_STAT_LINE];

    if (!bspz_stat_read(pid, line) || !bspz_stat_field(line, BSPZ_STAT_PARENT))
        return false;
    relation->pid = pid;
    relation->dead = bspz_stat_is_dead(line);
    relation->dying = relation->dead || (bspz_stat_number(line, BSPZ_STAT_FLAGS) & KERNEL_EXITING &&
                                         bspz_stat_number(line, BSPZ_STAT_THREADS) == 1);
    relation->parent = (pid_t)bspz_stat_number(line, BSPZ_STAT_PARENT);
    relation->ours = false;
    return true;
}

bool process_is_dying(pid_t pid)
{
    struct relation relation;

    return !read_relation(pid, &relation) || relation.dying;
}

bool process_is_stopped(pid_t pid)
{
    char line[BSPZ_STAT_LINE];

    return bspz_stat_read(pid, line) && bspz_stat_is_stopped(line);
}

static struct relation *read_relations(size_t *count)
{
    struct relation *list = NULL;
    size_t used = 0;
    struct dirent *entry;
    DIR *proc = opendir("/proc");

    *count = 0;
    if (!proc)
        return NULL;
    while ((entry = readdir(proc))) {
        if (!isdigit((unsigned char)entry->d_name[0]))
            continue;
        if (!BSPZ_GROW(list, used))
            break;
        if (read_relation(atoi(entry->d_name), &list[used]))
            used++;
    }
    closedir(proc);
    *count = used;
    return list;
}

static bool is_the_one(const void *context, pid_t pid)
{
    return pid == *(const pid_t *)context;
}

int process_kill_descendants(pid_t spared)
{
    return process_kill_descendants_but(is_the_one, &spared);
}

/* Marks the descendants of this process, except those for which `beside` is true, and their
 * descendants. */
static void mark_descendants(struct relation *list, size_t count,
                             bool (*beside)(const void *context, pid_t pid), const void *context)
{
    pid_t self = getpid();
    bool grown = true;

    while (grown) {
        grown = false;
        for (size_t i = 0; i < count; i++) {
            bool child = list[i].parent == self;

            if (list[i].ours)
                continue;
            for (size_t j = 0; j < count && !child; j++)
                child = list[j].ours && list[j].pid == list[i].parent;
            if (child && !beside(context, list[i].pid))
                grown = list[i].ours = true;
        }
    }
}

static bool is_none(const void *context, pid_t pid)
{
    (void)context;
    (void)pid;
    return false;
}

static int kill_marked(bool (*beside)(const void *context, pid_t pid),
                       bool (*spare)(const void *context, pid_t pid), const void *context)
{
    size_t count;
    struct relation *list = read_relations(&count);
    int killed = 0;

    mark_descendants(list, count, beside, context);
    for (size_t i = 0; i < count; i++)
        if (list[i].ours && !list[i].dead && !spare(context, list[i].pid) &&
            kill(list[i].pid, SIGKILL) == 0)
            killed++;
    free(list);
    return killed;
}

int process_kill_descendants_but(bool (*spare)(const void *context, pid_t pid), const void *context)
{
    return kill_marked(is_none, spare, context);
}

int process_kill_descendants_beside(bool (*beside)(const void *context, pid_t pid),
                                    const void *context)
{
    return kill_marked(beside, is_none, context);
}

uint64_t process_cpu_ns(pid_t pid)
{
    clockid_t clock;

    return clock_getcpuclockid(pid, &clock) == 0 ? bspz_clock_ns(clock) : 0;
}

bool process_is_copy(pid_t pid)
{
    char path[64], name[sizeof COPY_NAME + 1];

    snprintf(path, sizeof path, "/proc/%d/comm", (int)pid);
    return bspz_read_text(path, name, sizeof name) && strcmp(name, COPY_NAME) == 0;
}

static uint64_t nanoseconds(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000u;
}

uint64_t process_reap(pid_t pid)
{
    struct rusage usage;
    bool copy = process_is_copy(pid);

    if (wait4(pid, NULL, WNOHANG | __WALL, &usage) <= 0 || !copy)
        return 0;
    return nanoseconds(usage.ru_utime) + nanoseconds(usage.ru_stime);
}

uint64_t process_reap_strangers(bool (*keep)(const void *context, pid_t pid), const void *context)
{
    uint64_t copies_ns = 0;
    char path[64];
    FILE *file;
    int pid;

    /* If the kernel lacks such a list, they stay zombies until the agent ends. */
    snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    file = fopen(path, "re");
    if (!file)
        return 0;
    while (fscanf(file, "%d", &pid) == 1)
        if (!keep(context, pid))
            copies_ns += process_reap(pid);
    fclose(file);
    return copies_ns;
}

void process_reap_all(void)
{
    while (waitpid(-1, NULL, WNOHANG | __WALL) > 0)
        ;
}

bool process_reader_gone(int fd)
{
    struct pollfd entry = {.fd = fd, .events = POLLOUT};

    return poll(&entry, 1, 0) > 0 && entry.revents & (POLLERR | POLLHUP);
}

static rlim_t descriptors_before; /* 0: as they were */

void process_allow_descriptors(uint64_t needed)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= needed ||
        limit.rlim_cur == limit.rlim_max)
        return;
    if (descriptors_before == 0)
        descriptors_before = limit.rlim_cur;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

void process_restore_descriptors(void)
{
    struct rlimit limit;

    if (descriptors_before == 0 || getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = descriptors_before;
    setrlimit(RLIMIT_NOFILE, &limit);
}

void process_signals_save(struct process_signals *saved)
{
    memset(saved, 0, sizeof *saved);
    for (int signal = 1; signal < NSIG; signal++)
        sigaction(signal, NULL, &saved->actions[signal]);
    sigprocmask(SIG_BLOCK, NULL, &saved->mask);
}

void process_signals_restore(const struct process_signals *saved)
{
    struct sigaction plain;

    memset(&plain, 0, sizeof plain);
    for (int signal = 1; signal < NSIG; signal++) {
        plain.sa_handler = saved->actions[signal].sa_handler == SIG_IGN ? SIG_IGN : SIG_DFL;
        sigaction(signal, &plain, NULL); /* fails for KILL, STOP and libc's own */
    }
    sigprocmask(SIG_SETMASK, &saved->mask, NULL);
}

bool process_signal_ignored(const struct process_signals *saved, int signal)
{
    return saved->actions[signal].sa_handler == SIG_IGN;
}
