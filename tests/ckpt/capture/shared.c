/* shared.c - three processes that have files open together are lost; some go on as thawed copies,
 * others from images.  What was one open file description is one again.
 *
 *   shared RESTORED...   the first process is the agent of the others: it loses them once for each
 *                        argument, which names the ranks to be restored from images ("02"); with
 *                        "n" before, by an agent that nobody has given anything ("n012").
 *
 * In each life the ranks write in turn, and each finds the offset where the one before left it. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ckpt/capture/share.h"
#include "ckpt/shares.h"
#include "tests/ckpt/capture/host.h"
#include "tests/ckpt/capture/host_copy.h"
#include "tests/ckpt/capture/state.h"

#define RANKS 3
#define TURNS (3 * RANKS)
#define PAGE  4096

/* In a file, so that restored processes find it again. */
static struct board {
    _Atomic uint32_t word[RANKS]; /* of the copies */
    _Atomic int copy[RANKS];
    _Atomic int process[RANKS];
    _Atomic uint32_t writer;
    int agent;
    /* In each life: ranks that are there as they were; whether all are; who writes; ranks that
     * have spoilt everything and wait to be lost. */
    _Atomic uint32_t ready, go, turn, done;
} * board;

static int rank, before;
/* Of one file: two descriptions that all have, and one of the rank's own. */
static int together, beside, own, log_file;
static DIR *directory;

static void map_board(void)
{
    int fd = open("board", O_RDWR | O_CREAT | O_CLOEXEC, 0600);

    CHECK(fd >= 0 && ftruncate(fd, PAGE) == 0);
    board = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(board != MAP_FAILED);
    close(fd);
    host_exclude(board, PAGE);
}

static void add(_Atomic uint32_t *word, uint32_t much)
{
    atomic_fetch_add(word, much);
    syscall(SYS_futex, word, FUTEX_WAKE, 1 << 20, NULL, NULL, 0);
}

static void wait_until(_Atomic uint32_t *word, uint32_t value)
{
    uint32_t now;

    while ((now = atomic_load(word)) < value)
        syscall(SYS_futex, word, FUTEX_WAIT, now, NULL, NULL, 0);
}

static long at(int fd)
{
    return (long)lseek(fd, 0, SEEK_CUR);
}

/* Without the one for which the kernel records what is written to, and the listing itself. */
static int count_open(void)
{
    DIR *list = opendir("/proc/self/fd");
    struct dirent *entry;
    int count = 0;

    CHECK(list);
    while ((entry = readdir(list))) {
        char target[64] = "";

        if (readlinkat(dirfd(list), entry->d_name, target, sizeof target - 1) < 0)
            continue;
        count += strcmp(target, "anon_inode:[userfaultfd]") != 0;
    }
    closedir(list);
    return count;
}

/* ---- The ranks ------------------------------------------------------------------------------- */

static int announce(void *context, int32_t ospid)
{
    (void)context;
    atomic_store(&board->copy[rank], ospid);
    return 0;
}

static int announce_writer(void *context, int32_t ospid)
{
    (void)context;
    add(&board->writer, (uint32_t)ospid);
    return 0;
}

static int enter(void *context)
{
    (void)context;
    return host_copy_adopted(board->agent);
}

static _Atomic uint32_t *word(void *context)
{
    (void)context;
    atomic_store(&board->word[rank], BSPZ_COPY_FROZEN);
    return &board->word[rank];
}

static void open_files(int gift)
{
    struct bspz_capture_options options;
    char why[BSPZ_WHY_SIZE];
    int twin;

    together = open("file", O_RDWR | O_CREAT | O_TRUNC, 0600);
    beside = open("file", O_RDONLY);
    log_file = open("log", O_WRONLY | O_CREAT | O_TRUNC | O_APPEND, 0600);
    directory = opendir(".");
    twin = dup(together);
    CHECK(together >= 0 && beside >= 0 && log_file >= 0 && directory && twin >= 0);
    CHECK(write(together, "0123456789", 10) == 10 && lseek(beside, 4, SEEK_SET) == 4);
    host_options(&options);
    CHECK(bspz_share_give(gift, &options, why) == 0);
    close(gift);
    CHECK(fcntl(together, F_GETSIG) != fcntl(beside, F_GETSIG));
    CHECK(fcntl(together, F_GETSIG) == fcntl(twin, F_GETSIG));
    CHECK(fcntl(0, F_GETSIG) == 0);
}

/* What everybody has is as it was; then in turn each leaves something for the next. */
static void check(void)
{
    CHECK(count_open() == before);
    CHECK(at(own) == rank);
    for (uint32_t turn = 0; turn < TURNS; turn++) {
        struct stat status;
        char byte;

        wait_until(&board->turn, turn);
        if ((int)turn % RANKS != rank)
            continue;
        CHECK(at(together) == 10 + 3 * (long)turn && at(beside) == 4 + (long)turn);
        CHECK(fstat(together, &status) == 0 && status.st_size == 10 + 3 * (long)turn);
        CHECK(write(together, "abc", 3) == 3);
        CHECK(read(beside, &byte, 1) == 1 && byte == "456789abcabc"[turn]);
        CHECK((fcntl(log_file, F_GETFL) & (O_APPEND | O_NONBLOCK)) == O_APPEND);
        CHECK(write(log_file, "x", 1) == 1);
        CHECK(fstat(log_file, &status) == 0 && status.st_size == (long)turn + 1);
        CHECK(at(own) == rank && (turn > 0 || readdir(directory)));
        add(&board->turn, 1);
    }
    wait_until(&board->turn, TURNS);
    /* What is done to a description after the snapshot is undone, too. */
    CHECK(fcntl(log_file, F_SETFL, O_NONBLOCK) == 0 && fcntl(together, F_SETFL, O_APPEND) == 0);
}

/* One rank has its image written by its copy's copy, the others write by themselves.  1 in a
 * process restored from the image. */
static int save(const char *image)
{
    const struct bspz_copy_hooks writer = {NULL, announce_writer, enter, NULL};
    struct bspz_freeze_plan plan = {.hooks = {NULL, announce, enter, word}};
    int result;

    if (rank == 1)
        return host_freeze_and_snapshot(image, &plan, &writer) == 2;
    if (host_snapshot(image) == 1)
        return 1;
    host_options(&plan.options);
    result = bspz_copy_freeze(&plan);
    if (result < 0)
        fprintf(stderr, "%s\n", plan.why);
    CHECK(result >= 0);
    return 0;
}

static _Noreturn void run_rank(void)
{
    char image[16];

    own = open("file", O_RDWR);
    CHECK(own >= 0 && lseek(own, rank, SEEK_SET) == rank);
    snprintf(image, sizeof image, "image.%d", rank);
    before = count_open();
    if (save(image))
        map_board();
    atomic_store(&board->process[rank], getpid());
    add(&board->ready, 1);
    wait_until(&board->go, 1);
    check();
    add(&board->done, 1);
    for (;;)
        pause();
}

static _Noreturn void run_first(int gift)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    open_files(gift);
    for (int other = 1; other < RANKS && rank == 0; other++) {
        if (fork() == 0) {
            rank = other;
            prctl(PR_SET_PDEATHSIG, SIGKILL);
        }
    }
    run_rank();
}

/* ---- The agent ------------------------------------------------------------------------------- */

static pid_t restore(const struct shares *shares, int which, char **argv)
{
    char image[16];
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    snprintf(image, sizeof image, "image.%d", which);
    setenv("CAPTURE_RESTORE", image, 1);
    shares_pass(shares, 0);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    execv("/proc/self/exe", argv);
    _exit(127);
}

static size_t contents(const char *name, char *bytes, size_t room)
{
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    ssize_t size = fd >= 0 ? read(fd, bytes, room) : -1;

    CHECK(size >= 0 && (size_t)size < room && close(fd) == 0);
    return (size_t)size;
}

static void rewrite(const char *name, const char *bytes, size_t size)
{
    int fd = open(name, O_WRONLY | O_TRUNC | O_CLOEXEC);

    CHECK(fd >= 0 && write(fd, bytes, size) == (ssize_t)size && close(fd) == 0);
}

/* As when both were removed and made again: each has the number that the other had. */
static void exchange_numbers(const char *one, const char *other)
{
    static char bytes[2][1 << 16];
    size_t size = contents(one, bytes[0], sizeof bytes[0]);
    size_t other_size = contents(other, bytes[1], sizeof bytes[1]);

    CHECK(rename(one, "between") == 0 && rename(other, one) == 0 && rename("between", other) == 0);
    rewrite(one, bytes[0], size);
    rewrite(other, bytes[1], other_size);
}

static struct shares *prepare(struct shares *shares, const char *restored)
{
    if (*restored == 'n') {
        exchange_numbers("file", "log");
        shares_free(shares);
        shares = shares_new();
    }
    CHECK(shares && shares_take(shares) == 0);
    for (int which = 0; which < RANKS; which++) {
        char image[16];
        int fd;

        snprintf(image, sizeof image, "image.%d", which);
        if (!strchr(restored, '0' + which))
            continue;
        fd = open(image, O_RDONLY | O_CLOEXEC);
        CHECK(fd >= 0 && shares_open(shares, 0, fd) == 0);
        close(fd);
    }
    return shares;
}

/* All are lost at once, also those that were made by another and come to the agent only then. */
static void lose(void)
{
    for (int which = 0; which < RANKS; which++)
        kill(atomic_load(&board->process[which]), SIGKILL);
    for (int which = 0; which < RANKS; which++)
        CHECK(waitpid(atomic_load(&board->process[which]), NULL, __WALL) > 0);
    atomic_store(&board->ready, 0);
    atomic_store(&board->go, 0);
    atomic_store(&board->turn, 0);
    atomic_store(&board->done, 0);
}

static void bring_back(const struct shares *shares, const char *restored, char **argv)
{
    for (int which = 0; which < RANKS; which++) {
        if (strchr(restored, '0' + which)) {
            atomic_store(&board->process[which], restore(shares, which, argv));
            continue;
        }
        atomic_store(&board->process[which], atomic_load(&board->copy[which]));
        atomic_store(&board->word[which], BSPZ_COPY_THAW);
        syscall(SYS_futex, &board->word[which], FUTEX_WAKE, 1, NULL, NULL, 0);
    }
}

/* Waits for all; in the first life the first process answers for the others. */
static void watch(_Atomic uint32_t *word, bool first)
{
    const struct timespec moment = {0, 20000000};
    uint32_t now;

    while ((now = atomic_load(word)) < RANKS) {
        syscall(SYS_futex, word, FUTEX_WAIT, now, &moment, NULL, 0);
        for (int which = 0; which < (first ? 1 : RANKS); which++)
            CHECK(waitpid(atomic_load(&board->process[which]), NULL, WNOHANG | __WALL) == 0);
    }
}

/* It is this process's child as soon as the one that made it has ended. */
static void bury_writer(void)
{
    const struct timespec moment = {0, 1000000};
    int status = -1;

    wait_until(&board->writer, 1);
    while (waitpid((pid_t)atomic_load(&board->writer), &status, __WALL) < 0) {
        CHECK(errno == ECHILD);
        nanosleep(&moment, NULL);
    }
    CHECK(status == 0);
}

int main(int argc, char **argv)
{
    struct shares *shares = shares_new();
    pid_t first;
    int gift;

    host_rule("child"); /* the first makes the others, as no rank does */
    map_board();
    memset(board, 0, sizeof *board);
    board->agent = getpid();
    CHECK(prctl(PR_SET_CHILD_SUBREAPER, 1) == 0 && shares && shares_offer(shares, &gift) == 0);
    first = fork();
    if (first == 0) {
        shares_free(shares);
        run_first(gift);
    }
    atomic_store(&board->process[0], first);
    close(gift);
    for (int life = 0; life < argc; life++) {
        watch(&board->ready, life == 0);
        add(&board->go, 1);
        watch(&board->done, life == 0);
        if (life == 0)
            bury_writer();
        lose();
        if (life + 1 == argc)
            break;
        shares = prepare(shares, argv[life + 1]);
        bring_back(shares, argv[life + 1], argv);
    }
    shares_free(shares);
    printf("%d lives\n", argc);
    return 0;
}
