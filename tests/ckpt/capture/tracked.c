/* tracked.c - what a snapshot looks at of pages that have not been written to.
 *
 *   tracked CASE FULL INCREMENT   writes both, and prints how many KiB of 32768 the second looked
 * at, or "not permitted"; restored, checks what the pages must be.
 *
 * Cases: plain; failed, a snapshot between the two could not be written; closed, the program has
 * closed all descriptors it does not know; forked, a child lives when pages are written to; alone,
 * a snapshot between the two uses no record, and a copy of the process, such as one that writes an
 * image, still has the descriptor; left, the program has closed it, and a copy still has it. */
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/ckpt/capture/host.h"

#define BYTES ((size_t)32 << 20)
#define PAGE  4096u
#define PAGES (BYTES / PAGE)

static unsigned char *memory;
static const size_t changed[] = {3, 700, 701, PAGES - 1};

static void put(size_t page, unsigned turn)
{
    for (unsigned i = 0; i < PAGE / sizeof(uint32_t); i++)
        ((uint32_t *)(void *)(memory + page * PAGE))[i] =
            (uint32_t)page * 7 + turn * 1000000 + i + 1;
}

static int is_put(size_t page, unsigned turn)
{
    for (unsigned i = 0; i < PAGE / sizeof(uint32_t); i++)
        if (((uint32_t *)(void *)(memory + page * PAGE))[i] !=
            (uint32_t)page * 7 + turn * 1000000 + i + 1)
            return 0;
    return 1;
}

static int check(void)
{
    for (size_t page = 0; page < PAGES; page++) {
        unsigned turn = 0;

        for (unsigned i = 0; i < sizeof changed / sizeof changed[0]; i++)
            turn = page == changed[i] ? i + 1 : turn;
        if (!is_put(page, turn)) {
            fprintf(stderr, "page %zu is another\n", page);
            return 1;
        }
    }
    return 0;
}

/* As the kernel has it since the last write to clear_refs. */
static long looked_at(void)
{
    FILE *maps = fopen("/proc/self/smaps", "re");
    char line[512];
    uint64_t start, end, own = (uint64_t)(uintptr_t)memory;
    long sum = 0, kib;
    int here = 0;

    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " ", &start, &end) == 2)
            here = start < own + BYTES && end > own;
        else if (here && sscanf(line, "Referenced: %ld", &kib) == 1)
            sum += kib;
    }
    if (maps)
        fclose(maps);
    return sum;
}

static void forget_looks(void)
{
    int file = open("/proc/self/clear_refs", O_WRONLY | O_CLOEXEC);

    if (file < 0 || write(file, "1", 1) != 1) {
        perror("/proc/self/clear_refs");
        exit(1);
    }
    close(file);
}

static int is_permitted(void)
{
    long fd = syscall(SYS_userfaultfd, O_CLOEXEC | 1);

    if (fd >= 0)
        close((int)fd);
    return fd >= 0;
}

static bool is_one_of(const char *word, const char *first, const char *second)
{
    return strcmp(word, first) == 0 || strcmp(word, second) == 0;
}

/* It has the descriptors, is nobody's child that the process has to wait for, and ends with it. */
static void leave_copy(void)
{
    struct pollfd self = {.fd = (int)syscall(SYS_pidfd_open, getpid(), 0), .events = POLLIN};
    pid_t child = fork();

    if (child == 0 && fork() == 0)
        poll(&self, 1, -1);
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    close(self.fd);
}

static void change(const char *how)
{
    pid_t child = strcmp(how, "forked") == 0 ? fork() : 1;

    if (child == 0) {
        pause();
        _exit(0);
    }
    if (is_one_of(how, "alone", "left"))
        leave_copy();
    for (unsigned i = 0; i < sizeof changed / sizeof changed[0]; i++)
        put(changed[i], i + 1);
    if (strcmp(how, "forked") == 0) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
    }
    if (strcmp(how, "failed") == 0)
        host_snapshot_fails("failed");
    if (strcmp(how, "alone") == 0) {
        setenv("CAPTURE_UNTRACKED", "1", 1);
        host_snapshot_fails("alone");
        unsetenv("CAPTURE_UNTRACKED");
    }
    if (is_one_of(how, "closed", "left"))
        for (int fd = 3; fd < 1024; fd++)
            close(fd);
}

int main(int argc, char **argv)
{
    if (argc < 4)
        return 2;
    memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return 1;
    madvise(memory, BYTES, MADV_NOHUGEPAGE); /* what was looked at is counted in pages */
    for (size_t page = 0; page < PAGES; page++)
        put(page, 0);
    if (host_snapshot(argv[2]) == 1)
        return 1;
    change(argv[1]);
    forget_looks();
    if (host_snapshot_increment(argv[3]) == 1)
        return check();
    if (strcmp(argv[1], "left") == 0)
        host_snapshot("/dev/null"); /* it is not refused */
    if (is_permitted())
        printf("%ld\n", looked_at());
    else
        printf("not permitted\n");
    return 10;
}
