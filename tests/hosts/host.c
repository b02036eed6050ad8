/* host.c - makes the namespaces of a host, or of the switch between hosts, and is the first process
 * of a host: it lays out what the host sees, takes connections of rsh, and reaps orphans.
 *
 *   farmhost switch user|root DIRECTORY
 *                     a network of its own (and a user namespace); when stdin ends, because farm.py
 *                     has ended in whatever way, the farm's directory is removed
 *   farmhost host SWITCH NAME NUMBER
 *                     a host whose processes have numbers above NUMBER; its layout is read from
 *                     stdin, a line per step, words separated by tabs:
 *     keep N PATH       remember what is at PATH now
 *     empty PATH MODE   an empty file system there
 *     put N PATH        what was remembered is seen there (too)
 *     link PATH TEXT    a symbolic link
 *     net ADDRESS BITS  wait for eth0 and give it an address
 *     go                the host is ready
 */
#include "tests/hosts/farmhost.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KEPT_MOST = 64, WORDS_MOST = 4 };

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd < 0 || write(fd, text, strlen(text)) < 0)
        give_up("cannot write", path);
    close(fd);
}

static void own_user_namespace(void)
{
    char map[64];
    uid_t uid = geteuid();
    gid_t gid = getegid();
    if (unshare(CLONE_NEWUSER) != 0)
        give_up("cannot make", "a user namespace");
    write_file("/proc/self/setgroups", "deny");
    snprintf(map, sizeof(map), "0 %u 1", uid);
    write_file("/proc/self/uid_map", map);
    snprintf(map, sizeof(map), "0 %u 1", gid);
    write_file("/proc/self/gid_map", map);
}

/* What is still used may come back for a moment: the hosts are being killed meanwhile. */
static void remove_directory(const char *directory)
{
    struct timespec moment = {0, 20000000};
    for (int i = 0; i < 100 && access(directory, F_OK) == 0; i++) {
        pid_t child = fork();
        if (child == 0) {
            execlp("rm", "rm", "-rf", directory, (char *)NULL);
            _exit(127);
        }
        waitpid(child, NULL, 0);
        nanosleep(&moment, NULL);
    }
}

int switch_main(int argc, char **argv)
{
    char byte;
    if (argc != 2)
        return 255;
    if (strcmp(argv[0], "user") == 0)
        own_user_namespace();
    if (unshare(CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC) != 0)
        give_up("cannot make", "a network namespace");
    puts("ready");
    fflush(stdout);
    while (read(0, &byte, 1) > 0)
        continue;
    remove_directory(argv[1]);
    return 0;
}

/* ---- What the host sees -------------------------------------------------------------------- */

static void make_parents(const char *path)
{
    char copy[4096];
    snprintf(copy, sizeof(copy), "%s", path);
    for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(copy, 0755);
        *slash = '/';
    }
}

static void mount_empty(const char *path, const char *mode)
{
    char options[32];
    snprintf(options, sizeof(options), "mode=%s", mode);
    make_parents(path);
    mkdir(path, 0755);
    if (mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, options) != 0)
        give_up("cannot mount an empty file system on", path);
}

static void put_kept(int fd, const char *path)
{
    char source[32];
    struct stat what, there;
    if (fstat(fd, &what) != 0)
        give_up("nothing was kept for", path);
    if (stat(path, &there) != 0) {
        make_parents(path);
        if (S_ISDIR(what.st_mode))
            mkdir(path, 0755);
        else
            close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644));
    }
    snprintf(source, sizeof(source), "/proc/self/fd/%d", fd);
    if (mount(source, path, NULL, MS_BIND | MS_REC, NULL) != 0)
        give_up("cannot bind to", path);
}

static void set_flags_up(int socket, const char *name)
{
    struct ifreq request = {0};
    snprintf(request.ifr_name, sizeof(request.ifr_name), "%s", name);
    if (ioctl(socket, SIOCGIFFLAGS, &request) != 0)
        give_up("no network", name);
    request.ifr_flags |= IFF_UP;
    if (ioctl(socket, SIOCSIFFLAGS, &request) != 0)
        give_up("cannot start network", name);
}

static void set_address(const char *address, int bits)
{
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    struct ifreq request = {0};
    struct sockaddr_in inet = {.sin_family = AF_INET};
    set_flags_up(fd, "lo");
    snprintf(request.ifr_name, sizeof(request.ifr_name), "eth0");
    inet_pton(AF_INET, address, &inet.sin_addr);
    memcpy(&request.ifr_addr, &inet, sizeof(inet));
    if (ioctl(fd, SIOCSIFADDR, &request) != 0)
        give_up("cannot have address", address);
    inet.sin_addr.s_addr = htonl(~0U << (32 - bits));
    memcpy(&request.ifr_netmask, &inet, sizeof(inet));
    if (ioctl(fd, SIOCSIFNETMASK, &request) != 0)
        give_up("cannot have the netmask of", address);
    set_flags_up(fd, "eth0");
    close(fd);
}

/* One step of the layout; whether it was the last. */
static bool lay_out(char **words, int count, int *kept)
{
    const char *what = words[0];
    if (strcmp(what, "go") == 0)
        return true;
    if (strcmp(what, "keep") == 0 && count == 3) {
        int n = atoi(words[1]) % KEPT_MOST;
        kept[n] = open(words[2], O_PATH | O_CLOEXEC);
        if (kept[n] < 0)
            give_up("cannot find", words[2]);
    } else if (strcmp(what, "empty") == 0 && count == 3) {
        mount_empty(words[1], words[2]);
    } else if (strcmp(what, "put") == 0 && count == 3) {
        put_kept(kept[atoi(words[1]) % KEPT_MOST], words[2]);
    } else if (strcmp(what, "link") == 0 && count == 3) {
        if (symlink(words[2], words[1]) != 0)
            give_up("cannot link", words[1]);
    } else if (strcmp(what, "net") == 0 && count == 3) {
        set_address(words[1], atoi(words[2]));
    } else {
        errno = EINVAL;
        give_up("unknown step", what);
    }
    return false;
}

static void read_layout(void)
{
    int kept[KEPT_MOST];
    char *line = NULL;
    size_t room = 0;
    memset(kept, 0xff, sizeof(kept));
    for (;;) {
        ssize_t length = getline(&line, &room, stdin);
        if (length <= 0)
            exit(255); /* farm.py is gone */
        line[strcspn(line, "\n")] = '\0';
        char *words[WORDS_MOST], *rest = line;
        int count = 0;
        while (count < WORDS_MOST && rest)
            words[count++] = strsep(&rest, "\t");
        if (lay_out(words, count, kept))
            break;
    }
    free(line);
    for (int i = 0; i < KEPT_MOST; i++) {
        if (kept[i] >= 0)
            close(kept[i]);
    }
}

/* ---- The first process of a host ----------------------------------------------------------- */

static int listen_for_rsh(void)
{
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_port = htons(FARM_PORT)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, (struct sockaddr *)&any, sizeof(any)) != 0 || listen(fd, 512) != 0)
        give_up("cannot listen for", "rsh");
    return fd;
}

/* Processes of different hosts have different numbers, so that tests can tell them apart. */
static void number_processes(int from)
{
    FILE *file = fopen("/proc/sys/kernel/ns_last_pid", "w");
    if (file) {
        fprintf(file, "%d", from);
        fclose(file);
    }
}

static _Noreturn void first_process(const char *name, int number)
{
    die_with_parent();
    prctl(PR_SET_NAME, "farm-init");
    if (sethostname(name, strlen(name)) != 0)
        give_up("cannot be called", name);
    if (mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL) != 0)
        give_up("cannot mount", "/proc");
    number_processes(number);
    read_layout();
    signal(SIGCHLD, SIG_IGN); /* orphans vanish by themselves */
    int listening = listen_for_rsh();
    puts("ready");
    fflush(stdout);
    for (;;) {
        int connection = accept4(listening, NULL, NULL, SOCK_CLOEXEC);
        if (connection < 0)
            continue;
        if (fork() == 0) {
            close(listening);
            session_serve(connection);
        }
        close(connection);
    }
}

int host_main(int argc, char **argv)
{
    if (argc != 3)
        return 255;
    pid_t keeper = atoi(argv[0]);
    join_namespaces(keeper, (const char *const[]){"user", NULL});
    die_with_parent();
    long flags = CLONE_NEWNET | CLONE_NEWNS | CLONE_NEWUTS | CLONE_NEWIPC | CLONE_NEWPID | SIGCHLD;
    pid_t child = (pid_t)syscall(SYS_clone, flags, NULL, NULL, NULL, NULL);
    if (child < 0)
        give_up("cannot make", "a host");
    if (child == 0)
        first_process(argv[1], atoi(argv[2]));
    printf("%d\n", child);
    fflush(stdout);
    fclose(stdin);
    waitpid(child, NULL, 0);
    return 0;
}
