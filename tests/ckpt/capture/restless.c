/* restless.c - memory that others change while the image is written.
 *
 *   restless cores|child|freed at-once|forked IMAGE
 *
 * Writes the image and ends with status 10; restored, it checks its memory.  Each time that a piece
 * of the image is written,
 *
 *   cores  the process goes to another processor: the kernel notes that in the area of restartable
 *          sequences, which lies where libc keeps the thread.
 *   child  a child that the snapshot does without writes to memory that is mapped shared.
 *   freed  the kernel takes memory that the program needs no longer (MADV_FREE), which is zero
 * then.
 *
 * What comes back may be any state of such memory, but the image must be one that can be restored.
 */
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/ckpt/capture/host.h"
#include "tests/ckpt/capture/host_copy.h"
#include "tests/ckpt/capture/state.h"

/* Of libc 2.35 and later. */
extern const ptrdiff_t __rseq_offset __attribute__((weak));

#define PAGE  ((size_t)4096)
#define BYTES (160 * PAGE) /* more than one record of an image, and as a rest enough for one */
#define PIECE ((size_t)8192)

/* ---- Memory that cannot be packed, so that it is written from where it lies ---- */

static uint64_t noise_at(const uint64_t *at)
{
    uint64_t word = (uint64_t)(uintptr_t)at * 0x9e3779b97f4a7c15u;

    word = (word ^ word >> 29) * 0xbf58476d1ce4e5b9u;
    return word ^ word >> 32;
}

static void fill(void *at, size_t bytes)
{
    for (uint64_t *word = at; word < (uint64_t *)at + bytes / 8; word++)
        *word = noise_at(word);
}

static void check(const void *at, size_t bytes)
{
    for (const uint64_t *word = at; word < (const uint64_t *)at + bytes / 8; word++)
        CHECK(*word == noise_at(word));
}

/* ---- Processors ---- */

static cpu_set_t cores[2];
static char *beside, *pieces[BYTES / PIECE];

static void choose_cores(void)
{
    cpu_set_t all;
    int found = 0;

    CHECK(sched_getaffinity(0, sizeof all, &all) == 0);
    for (int core = 0; core < CPU_SETSIZE && found < 2; core++)
        if (CPU_ISSET(core, &all))
            CPU_SET(core, &cores[found++]);
    if (found == 1)
        cores[1] = cores[0]; /* then nothing is restless here */
}

/* A record goes out in two pieces: after both the process is elsewhere. */
static void change_core(void)
{
    static int calls;
    int now = ++calls / 2 % 2;

    CHECK(sched_setaffinity(0, sizeof cores[now], &cores[now]) == 0);
}

/* Where the mapping begins that has the area. */
static char *mapping_of(uintptr_t area)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    uintptr_t start, end, found = 0;
    char line[512];

    CHECK(maps);
    while (!found && fgets(line, sizeof line, maps))
        if (sscanf(line, "%zx-%zx", &start, &end) == 2 && start <= area && area < end)
            found = start;
    fclose(maps);
    CHECK(found);
    return (char *)found;
}

/* The area is in the heap of a static program, which goes on above it, else in a mapping that the
 * loader made, which can go on below; its first page is the reserve for thread-local variables. */
static void surround_the_area(void)
{
    char *start;

    if (!&__rseq_offset)
        return;
    start = mapping_of((uintptr_t)__builtin_thread_pointer() + (uintptr_t)__rseq_offset);

    beside = mmap(start - BYTES, BYTES, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (beside != MAP_FAILED) {
        fill(beside, BYTES);
        *(volatile char *)start |= *start == 0;
    }
    for (size_t i = 0; i < BYTES / PIECE; i++) {
        pieces[i] = malloc(PIECE - 16);
        CHECK(pieces[i]);
        fill(pieces[i], PIECE - 16);
    }
}

static void begin_with_cores(void)
{
    choose_cores();
    surround_the_area();
}

static void check_surroundings(void)
{
    if (beside && beside != MAP_FAILED)
        check(beside, BYTES);
    for (size_t i = 0; i < BYTES / PIECE && pieces[i]; i++)
        check(pieces[i], PIECE - 16);
    for (int i = 0; i < 2; i++) {
        CHECK(sched_setaffinity(0, sizeof cores[i], &cores[i]) == 0);
        CHECK(CPU_ISSET(sched_getcpu(), &cores[i]));
    }
}

/* ---- A child ---- */

struct talk {
    _Atomic uint32_t wanted, done;
};

static struct talk *talk; /* no part of the image */
static uint64_t *shared;
static pid_t child;

static void have_it_changed(void)
{
    uint32_t number = ++talk->wanted;

    while (talk->done != number)
        sched_yield();
}

static _Noreturn void change(void)
{
    for (uint32_t number = 1;; number++) {
        while (talk->wanted != number)
            sched_yield();
        for (size_t i = 0; i < BYTES / 8; i += PAGE / 8)
            shared[i] += number;
        talk->done = number;
    }
}

static void share_with_a_child(void)
{
    talk = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    shared = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    CHECK(talk != MAP_FAILED && shared != MAP_FAILED);
    fill(shared, BYTES);
    host_exclude(talk, PAGE);
    host_rule("child");
    child = fork();
    CHECK(child >= 0);
    if (child == 0)
        change();
}

static void check_shared(void)
{
    for (size_t i = 0; i < BYTES / 8; i++)
        CHECK(i % (PAGE / 8) == 0 || shared[i] == noise_at(&shared[i]));
}

/* ---- Memory that the kernel may take ---- */

static char *freed;

static void have_it_taken(void)
{
    madvise(freed, BYTES, MADV_PAGEOUT);
}

static void free_memory(void)
{
    freed = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(freed != MAP_FAILED);
    fill(freed, BYTES);
    CHECK(madvise(freed, BYTES, MADV_FREE) == 0);
}

static void check_freed(void)
{
    static const char zeros[PAGE];

    for (char *page = freed; page < freed + BYTES; page += PAGE)
        if (memcmp(page, zeros, PAGE) != 0)
            check(page, PAGE);
}

/* ---- */

static const struct kind {
    const char *name;
    void (*prepare)(void), (*meanwhile)(void), (*check)(void);
} kinds[] = {
    {"cores", begin_with_cores, change_core, check_surroundings},
    {"child", share_with_a_child, have_it_changed, check_shared},
    {"freed", free_memory, have_it_taken, check_freed},
};

int main(int argc, char **argv)
{
    const struct kind *kind = kinds;
    int restored;

    CHECK(argc == 4);
    while (strcmp(argv[1], kind->name) != 0)
        CHECK(++kind < kinds + sizeof kinds / sizeof kinds[0]);
    kind->prepare();
    host_initial_now();
    host_on_write(kind->meanwhile);
    restored =
        strcmp(argv[2], "forked") == 0 ? host_snapshot_forked(argv[3]) : host_snapshot(argv[3]);
    if (!restored) {
        if (child > 0) {
            kill(child, SIGKILL);
            waitpid(child, NULL, 0);
        }
        _exit(10);
    }
    kind->check();
    return 0;
}
