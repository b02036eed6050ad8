/* frozen.c - a process keeps a frozen copy of itself, is lost, and goes on in the copy; several
 * times from one snapshot, and again from a later one.
 *
 *   frozen LIVES   the first process is the agent of the others: it makes the rank, kills it, thaws
 *                  its copy, and counts.
 *
 * Checked in each life: memory of each kind, files, timers, thread id, name and arguments, and that
 * the copy shows itself as one. */
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/ckpt/capture/host_copy.h"
#include "tests/ckpt/capture/state.h"

#define COPIES 64
#define PAGE   4096

/* Shared by the agent, the rank and its copies. */
static struct board {
    _Atomic uint32_t word[COPIES];
    _Atomic int copy[COPIES];
    _Atomic int made;
    _Atomic int lives;
    _Atomic int phase; /* of the rank: 1 when it may be killed, 2 done */
    _Atomic int enough;
    int agent;
} * board;

static int file, twin, cut, own, own_twin;
static unsigned char *forkless, *wiped, *shared, *plain;

static void wake(_Atomic uint32_t *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, 1 << 20, NULL, NULL, 0);
}

static int announce(void *context, int32_t ospid)
{
    (void)context;
    atomic_store(&board->copy[atomic_load(&board->made) - 1], ospid);
    return 0;
}

/* So that nothing is left when a check of the agent fails. */
static int enter(void *context)
{
    (void)context;
    return host_copy_adopted(board->agent);
}

static _Atomic uint32_t *word(void *context)
{
    int next = atomic_load(&board->made);

    (void)context;
    if (atomic_load(&board->enough))
        return NULL;
    atomic_store(&board->word[next], BSPZ_COPY_FROZEN);
    atomic_store(&board->made, next + 1);
    return &board->word[next];
}

static void set_up(void)
{
    const struct itimerval far = {{0, 0}, {1000, 0}};

    file = open("frozen file", O_RDWR | O_CREAT | O_TRUNC, 0600);
    CHECK(file >= 0 && write(file, "0123456789", 10) == 10 && lseek(file, 4, SEEK_SET) == 4);
    twin = dup(file);
    cut = open("cut file", O_RDWR | O_CREAT | O_TRUNC, 0600);
    CHECK(cut >= 0 && write(cut, "0123456789", 10) == 10);
    own = open("/proc/self/stat", O_RDONLY);
    own_twin = fcntl(own, F_DUPFD_CLOEXEC, 0);
    CHECK(own >= 0 && lseek(own, 1, SEEK_SET) == 1);
    plain = mmap(NULL, 100 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    forkless = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    wiped = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    shared = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    memset(plain, 'p', 100 * PAGE);
    memset(forkless + PAGE, 'f', PAGE);
    memset(wiped + PAGE, 'w', PAGE);
    memset(shared + PAGE, 's', PAGE);
    CHECK(madvise(forkless, 4 * PAGE, MADV_DONTFORK) == 0);
    CHECK(madvise(wiped, 4 * PAGE, MADV_WIPEONFORK) == 0);
    CHECK(setitimer(ITIMER_REAL, &far, NULL) == 0);
    signals_set();
}

static void spoil(void)
{
    const struct itimerval off = {{0, 0}, {0, 0}};

    CHECK(write(file, "and more than there was", 23) == 23);
    CHECK(ftruncate(cut, 3) == 0);
    CHECK(fcntl(file, F_SETFL, O_APPEND | O_NONBLOCK) == 0);
    memset(plain, 0, 100 * PAGE);
    memset(forkless, 1, 4 * PAGE);
    memset(wiped, 1, 4 * PAGE);
    memset(shared, 1, 4 * PAGE);
    setitimer(ITIMER_REAL, &off, NULL);
    signals_spoil();
}

static void read_text(const char *name, char *to, size_t room)
{
    int fd = open(name, O_RDONLY);
    ssize_t bytes;

    CHECK(fd >= 0);
    bytes = read(fd, to, room - 1);
    close(fd);
    CHECK(bytes >= 0);
    to[bytes] = '\0';
}

static void *nothing(void *argument)
{
    return argument;
}

static void check_process(void)
{
    char text[256];
    pthread_t thread;

    CHECK(prctl(PR_GET_NAME, text) == 0 && strcmp(text, "the rank") == 0);
    read_text("/proc/self/cmdline", text, sizeof text);
    CHECK(strstr(text, "frozen_"));
    read_text("/proc/self/oom_score_adj", text, sizeof text);
    CHECK(strncmp(text, "1000", 4) != 0);
    CHECK(pthread_create(&thread, NULL, nothing, NULL) == 0 && pthread_join(thread, NULL) == 0);
    CHECK(syscall(SYS_tgkill, getpid(), gettid(), 0) == 0 && gettid() == getpid());
    CHECK(raise(0) == 0);
}

/* A file of the process in /proc is that of the one that goes on. */
static void check_own(void)
{
    char text[64] = "";

    CHECK(lseek(own, 0, SEEK_CUR) == 1 && lseek(own_twin, 0, SEEK_SET) == 0);
    CHECK(read(own, text, sizeof text - 1) > 0 && atoi(text) == getpid());
    CHECK(lseek(own_twin, 0, SEEK_CUR) > 0 && fcntl(own_twin, F_GETFD) == FD_CLOEXEC);
}

static void check(void)
{
    struct itimerval timer;
    struct stat status;

    CHECK(fstat(file, &status) == 0 && status.st_size == 10);
    CHECK(lseek(file, 0, SEEK_CUR) == 4 && lseek(twin, 0, SEEK_CUR) == 4);
    CHECK(fstat(cut, &status) == 0 && status.st_size == 10 && lseek(cut, 0, SEEK_CUR) == 10);
    CHECK((fcntl(file, F_GETFL) & (O_APPEND | O_NONBLOCK)) == 0);
    CHECK(plain[0] == 'p' && plain[100 * PAGE - 1] == 'p');
    CHECK(forkless[0] == 0 && forkless[PAGE] == 'f' && forkless[2 * PAGE] == 0);
    CHECK(wiped[0] == 0 && wiped[PAGE] == 'w' && wiped[2 * PAGE] == 0);
    CHECK(shared[0] == 0 && shared[PAGE] == 's' && shared[2 * PAGE] == 0);
    CHECK(getitimer(ITIMER_REAL, &timer) == 0 && timer.it_value.tv_sec > 100);
    check_own();
    check_process();
    signals_check();
}

static void pause_for_ever(int phase)
{
    atomic_store(&board->phase, phase);
    wake((_Atomic uint32_t *)&board->phase);
    for (;;)
        pause();
}

static _Noreturn void run_rank(int lives)
{
    struct bspz_freeze_plan plan = {.hooks = {NULL, announce, enter, word}};
    const struct bspz_range apart = {(uint64_t)(uintptr_t)board, (uint64_t)(uintptr_t)board + PAGE};
    int life, result;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "the rank");
    host_options(&plan.options);
    plan.options.excluded = &apart;
    plan.options.excluded_count = 1;
    set_up();
    result = bspz_copy_freeze(&plan);
    if (result < 0) {
        fprintf(stderr, "%s\n", plan.why);
        _exit(1);
    }
    life = atomic_fetch_add(&board->lives, 1) + 1;
    CHECK(result == (life > 1));
    CHECK(result == 0 || plan.replaced == !atomic_load(&board->enough));
    check();
    spoil();
    pause_for_ever(life == lives ? 2 : 1);
    _exit(0);
}

/* ---- The agent ------------------------------------------------------------------------------- */

static int wait_phase(pid_t rank)
{
    const struct timespec second = {1, 0};
    int phase, status;

    while ((phase = atomic_load(&board->phase)) == 0) {
        syscall(SYS_futex, &board->phase, FUTEX_WAIT, 0, &second, NULL, 0);
        if (waitpid(rank, &status, WNOHANG | __WALL) == rank) {
            fprintf(stderr, "the rank ended by itself, status %x\n", status);
            exit(1);
        }
    }
    atomic_store(&board->phase, 0);
    return phase;
}

static void end(pid_t process)
{
    kill(process, SIGKILL);
    CHECK(waitpid(process, NULL, __WALL) == process);
}

static void check_copy(pid_t copy)
{
    char name[64], text[256];

    snprintf(name, sizeof name, "/proc/%d/comm", (int)copy);
    read_text(name, text, sizeof text);
    CHECK(strcmp(text, "bspzero-copy\n") == 0);
    snprintf(name, sizeof name, "/proc/%d/cmdline", (int)copy);
    read_text(name, text, sizeof text);
    CHECK(strcmp(text, "bspzero-copy") == 0);
    snprintf(name, sizeof name, "/proc/%d/oom_score_adj", (int)copy);
    read_text(name, text, sizeof text);
    CHECK(strcmp(text, "1000\n") == 0);
}

/* The copy is the one that waits when the kernel says that it sleeps in a futex. */
static void wait_frozen(pid_t copy)
{
    char name[64], text[512];
    const struct timespec moment = {0, 1000000};

    snprintf(name, sizeof name, "/proc/%d/stat", (int)copy);
    for (;;) {
        read_text(name, text, sizeof text);
        if (strstr(text, "(bspzero-copy) S"))
            return;
        nanosleep(&moment, NULL);
    }
}

int main(int argc, char **argv)
{
    int lives = argc > 1 ? atoi(argv[1]) : 3;
    pid_t rank;

    board = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(board != MAP_FAILED && prctl(PR_SET_CHILD_SUBREAPER, 1) == 0);
    board->agent = getpid();
    rank = fork();
    if (rank == 0)
        run_rank(lives);
    while (wait_phase(rank) == 1) {
        int newest = atomic_load(&board->made) - 1;

        end(rank);
        rank = atomic_load(&board->copy[newest]);
        wait_frozen(rank);
        check_copy(rank);
        /* The last life is told to do without a copy. */
        if (atomic_load(&board->lives) == lives - 1)
            atomic_store(&board->enough, 1);
        /* A signal that comes while it is frozen is not for the rank. */
        kill(rank, SIGUSR1);
        atomic_store(&board->word[newest], BSPZ_COPY_THAW);
        wake(&board->word[newest]);
    }
    end(rank);
    CHECK(atomic_load(&board->lives) == lives);
    CHECK(waitpid(-1, NULL, __WALL) < 0 && errno == ECHILD);
    printf("%d lives\n", lives);
    return 0;
}
