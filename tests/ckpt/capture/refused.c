/* refused.c - what cannot be captured, by name:
 *
 *   refused KIND [RULE]   makes one, and prints what the snapshot is refused for, or "possible". */
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include "tests/ckpt/capture/host.h"

static int need(int fd)
{
    if (fd < 0) {
        perror("refused: cannot set this up");
        exit(4);
    }
    return fd;
}

static void *idle(void *argument)
{
    pause();
    return argument;
}

static void a_thread(void)
{
    pthread_t thread;

    need(-pthread_create(&thread, NULL, idle, NULL));
}

static void a_timer(void)
{
    timer_t timer;

    need(timer_create(CLOCK_MONOTONIC, NULL, &timer));
}

static void a_socket(void)
{
    need(socket(AF_INET, SOCK_STREAM, 0));
}

static void a_pipe(void)
{
    int ends[2];

    need(pipe(ends));
}

static void an_epoll(void)
{
    need(epoll_create1(0));
}

static void an_event(void)
{
    need(eventfd(0, 0));
}

static void an_inotify(void)
{
    need(inotify_init());
}

static void a_timerfd(void)
{
    need(timerfd_create(CLOCK_MONOTONIC, 0));
}

static int some_file(void)
{
    return need(open("some file", O_RDWR | O_CREAT, 0600));
}

static void a_deleted(void)
{
    some_file();
    need(unlink("some file"));
}

static void a_replaced(void)
{
    some_file();
    need(rename("some file", "elsewhere"));
    some_file();
    need(unlink("elsewhere"));
}

static void a_lock(void)
{
    struct flock lock = {.l_type = F_WRLCK};

    need(fcntl(some_file(), F_SETLK, &lock));
}

static void a_flock(void)
{
    need(flock(some_file(), LOCK_EX));
}

static void a_segment(void)
{
    int id = need(shmget(IPC_PRIVATE, 4096, 0600));
    void *at = shmat(id, NULL, 0);

    shmctl(id, IPC_RMID, NULL);
    need(at == (void *)-1 ? -1 : 0);
}

static void a_memfd(void)
{
    int fd = need((int)syscall(SYS_memfd_create, "mine", 0));

    need(ftruncate(fd, 4096));
    need(mmap(NULL, 4096, PROT_READ, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0);
    close(fd);
}

static void a_shared_file(void)
{
    int fd = some_file();

    need(ftruncate(fd, 4096));
    need(mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0) == MAP_FAILED ? -1 : 0);
    close(fd);
}

static void a_directory(void)
{
    need(mkdir("here", 0700));
    need(chdir("here"));
    need(rmdir("../here"));
}

static void nothing(void)
{
    some_file();
}

static const struct {
    const char *name;
    void (*make)(void);
} kinds[] = {
    {"nothing", nothing},       {"thread", a_thread},
    {"timer", a_timer},         {"socket", a_socket},
    {"pipe", a_pipe},           {"epoll", an_epoll},
    {"eventfd", an_event},      {"inotify", an_inotify},
    {"timerfd", a_timerfd},     {"deleted", a_deleted},
    {"replaced", a_replaced},   {"lock", a_lock},
    {"flock", a_flock},         {"segment", a_segment},
    {"memfd", a_memfd},         {"sharedfile", a_shared_file},
    {"directory", a_directory},
};

int main(int argc, char **argv)
{
    const char *why;

    if (argc < 2)
        return 2;
    if (argc > 2)
        host_rule(argv[2]);
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (strcmp(kinds[i].name, argv[1]) == 0)
            kinds[i].make();
    why = host_refusal();
    printf("%s\n", why ? why : "possible");
    return 0;
}
