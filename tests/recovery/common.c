/* common.c - memory that all processes have mapped since before bsp_begin.
 *
 *   common KIND DIRECTORY SUPERSTEPS
 *
 * KIND: anonymous; zero (of /dev/zero); two (mapped twice); parts (all but process 0 unmap a part
 * and protect another); puts (the last process gets much put there); gone (process 0 unmaps a
 * part); memfd, segment (System V), posix (shm_open), deleted (the same without its name), file (of
 * a file in DIRECTORY), readonly (mapped from a file for writing, and protected against it); child,
 * thread (anonymous, and in bsp_begin there is a child or another thread that may use it).  In each
 * superstep one process after the other reads what the one before left there and leaves something
 * for the next; the answer is wrong unless all see the same memory, and each turn has been taken
 * once.
 */
#include <bsp.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/recovery/outside.h"

#define PAGES 64
#define ALL   (PAGES + 32)
#define MUCH  (8 << 20)
#define SUM   PAGES        /* the page that every turn changes */
#define SPARE (PAGES + 16) /* from here on process 0 alone */
#define PAGE  4096

static uint64_t (*pages)[PAGE / sizeof(uint64_t)], (*view)[PAGE / sizeof(uint64_t)];

static void must(int truth, const char *what)
{
    if (!truth) {
        perror(what);
        exit(99);
    }
}

static void *map(int fd, int flags)
{
    void *at = mmap(NULL, (size_t)ALL * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | flags, fd, 0);

    must(at != MAP_FAILED, "mmap");
    return at;
}

static void *map_new(int fd)
{
    void *at;

    must(fd >= 0 && ftruncate(fd, (off_t)ALL * PAGE) == 0, "a file for the memory");
    at = map(fd, 0);
    close(fd);
    return at;
}

static void *map_posix(int keep)
{
    char name[64];
    int fd;
    void *at;

    snprintf(name, sizeof name, "/kept-by-a-test-%d", (int)getpid());
    fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
    at = map_new(fd);
    if (!keep)
        shm_unlink(name);
    else
        printf("%s\n", name);
    fflush(stdout);
    return at;
}

static void *map_segment(void)
{
    int id = shmget(IPC_PRIVATE, (size_t)ALL * PAGE, 0600);
    void *at = shmat(id, NULL, 0);

    must(at != (void *)-1, "shmat");
    shmctl(id, IPC_RMID, NULL);
    return at;
}

static void *map_file(void)
{
    char path[3100];

    snprintf(path, sizeof path, "%s/mapped", outside_directory);
    return map_new(open(path, O_RDWR | O_CREAT | O_TRUNC, 0600));
}

static void *make(const char *kind)
{
    if (strcmp(kind, "anonymous") == 0 || strcmp(kind, "puts") == 0 || strcmp(kind, "two") == 0 ||
        strcmp(kind, "parts") == 0 || strcmp(kind, "gone") == 0 || strcmp(kind, "child") == 0 ||
        strcmp(kind, "thread") == 0)
        return map(-1, MAP_ANONYMOUS);
    if (strcmp(kind, "zero") == 0)
        return map(open("/dev/zero", O_RDWR | O_CLOEXEC), 0);
    if (strcmp(kind, "memfd") == 0)
        return map_new(memfd_create("of all", 0));
    if (strcmp(kind, "segment") == 0)
        return map_segment();
    if (strcmp(kind, "posix") == 0 || strcmp(kind, "deleted") == 0)
        return map_posix(strcmp(kind, "posix") == 0);
    if (strcmp(kind, "file") == 0 || strcmp(kind, "readonly") == 0)
        return map_file();
    must(0, kind);
    return NULL;
}

/* ---- Somebody else who may use it while bsp_begin moves it ---- */

static pid_t child;
static pthread_t thread;
static _Atomic int leave, has_thread;

static void *wait_to_leave(void *nothing)
{
    const struct timespec moment = {0, 1000000};

    while (!leave)
        nanosleep(&moment, NULL);
    return nothing;
}

static void get_company(const char *kind)
{
    if (strcmp(kind, "thread") == 0) {
        must(pthread_create(&thread, NULL, wait_to_leave, NULL) == 0, "pthread_create");
        has_thread = 1;
    }
    if (strcmp(kind, "child") == 0)
        child = fork();
    if (child == 0 && strcmp(kind, "child") == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
            pause();
    }
}

static void be_alone(void)
{
    leave = 1;
    if (bsp_pid() == 0 && has_thread)
        pthread_join(thread, NULL);
    if (bsp_pid() == 0 && child > 0) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
}

static uint64_t next(uint64_t value, int s)
{
    return value * 6364136223846793005u + (uint64_t)s + 1;
}

static void protect(int wanted, int how)
{
    must(!wanted || mprotect(pages, (size_t)ALL * PAGE, how) == 0, "mprotect");
}

/* The page of superstep s holds what came of s; the one of a turn of all pages ago is zero again.
 */
static void take_turn(int s)
{
    uint64_t before = pages[(s - 1) % PAGES][0];

    if (s % bsp_nprocs() != bsp_pid())
        return;
    pages[s % PAGES][0] = next(before, s);
    memset(pages[(s + PAGES / 2) % PAGES], 0, PAGE);
    view[SUM][0]++;
    view[SUM][1] = view[SUM][1] * 31 + next(before, s);
}

static int wrong_in(int s, uint64_t wanted)
{
    static uint64_t sum;
    int wrong = pages[s % PAGES][0] != wanted;

    sum = sum * 31 + wanted;
    wrong += s >= PAGES / 2 && pages[(s + PAGES / 2) % PAGES][0] != 0;
    wrong += pages[SUM][0] != (uint64_t)s || pages[SUM][1] != sum;
    return wrong;
}

/* Much that the last process is sent, and takes its time to put into memory that all see. */
static uint64_t *area, *sent;

static void begin_puts(const char *kind)
{
    if (strcmp(kind, "puts") != 0)
        return;
    area = mmap(NULL, MUCH, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    sent = malloc(MUCH);
    must(area != MAP_FAILED && sent, "memory");
}

static void put_all(uint64_t value)
{
    if (!area || bsp_pid() != 1)
        return;
    for (size_t i = 0; i < MUCH / sizeof *sent; i++)
        sent[i] = value;
    bsp_put(bsp_nprocs() - 1, sent, area, 0, MUCH);
}

static int wrong_put(uint64_t value)
{
    for (size_t i = 0; area && i < MUCH / sizeof *area; i++)
        if (area[i] != value)
            return 1;
    return 0;
}

/* Some do without some of it. */
static void let_go(const char *kind)
{
    if (strcmp(kind, "parts") == 0 && bsp_pid() > 0) {
        must(munmap(pages[SPARE], (size_t)(ALL - SPARE) * PAGE) == 0, "munmap");
        must(mprotect(pages[SPARE - 1], PAGE, PROT_NONE) == 0, "mprotect");
    }
    if (strcmp(kind, "gone") == 0 && bsp_pid() == 0)
        must(munmap(pages[SPARE], PAGE) == 0, "munmap");
}

static int spare_is_wrong(int s)
{
    int wrong = 0;

    if (bsp_pid() > 0)
        return 0;
    for (int i = SPARE + 1; i < ALL; i++)
        wrong += pages[i][0]++ != (uint64_t)s - 1;
    return wrong;
}

int main(int argc, char **argv)
{
    uint64_t wanted = 1;
    int supersteps, wrong = 0, readonly;

    must(argc == 4, "arguments");
    outside_directory = argv[2];
    supersteps = atoi(argv[3]);
    readonly = strcmp(argv[1], "readonly") == 0;
    pages = make(argv[1]);
    pages[0][0] = wanted;
    protect(readonly, PROT_READ);
    view = pages;
    if (strcmp(argv[1], "two") == 0)
        must((view = mremap(pages, 0, (size_t)ALL * PAGE, MREMAP_MAYMOVE)) != MAP_FAILED, "mremap");
    begin_puts(argv[1]);
    get_company(argv[1]);
    bsp_begin(bsp_nprocs());
    be_alone();
    if (area) {
        bsp_push_reg(area, MUCH);
        bsp_sync();
    }
    let_go(argv[1]);
    for (int s = 1; s <= supersteps; s++) {
        outside_superstep(s);
        protect(readonly, PROT_READ | PROT_WRITE);
        wrong += s > 1 && wrong_put(2 * (uint64_t)s - 1);
        put_all(2 * (uint64_t)s);
        take_turn(s);
        wrong += spare_is_wrong(s);
        protect(readonly, PROT_READ);
        bsp_sync();
        wanted = next(wanted, s);
        wrong += wrong_in(s, wanted) + wrong_put(2 * (uint64_t)s);
        put_all(2 * (uint64_t)s + 1);
        bsp_sync();
    }
    printf("process %d: %d wrong\n", bsp_pid(), wrong);
    outside_end(supersteps);
    bsp_end();
    return wrong > 0;
}
