/* state_memory.c - heap by brk and mmap, small and huge, statics, thread-local storage, mappings of
 * every protection and kind. */
#include <malloc.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "tests/ckpt/capture/state.h"

#define BLOCKS 2000
#define BIG    ((size_t)24 << 20)
#define PAGE   4096

static int data = 7;
static char zeros[100000];
static const char *const constants[] = {"one", "two", "three"};
static __thread int local = 11;
static __thread char local_zeros[5000];

static unsigned char *blocks[BLOCKS];
static unsigned char *big, *sparse, *guarded, *readonly, *forkless, *wiped, *shared, *huge, *top;
static void *brk_end;
static size_t sparse_size;

static unsigned char *map(size_t bytes, int prot, int flags)
{
    void *at = mmap(NULL, bytes, prot, flags | MAP_ANONYMOUS, -1, 0);

    CHECK(at != MAP_FAILED);
    return at;
}

/* A terabyte where the kernel can tell quickly which of its pages are in use (Linux 6.7, see
 * ckpt/capture/pages.c), else what it gets through in time.  STATE_SPARSE_GIB: another size. */
static size_t sparse_bytes(void)
{
    const char *gib = getenv("STATE_SPARSE_GIB");
    struct utsname system;
    int major = 0, minor = 0;

    if (gib)
        return (size_t)atoi(gib) << 30;
    CHECK(uname(&system) == 0);
    sscanf(system.release, "%d.%d", &major, &minor);
    return (size_t)(major > 6 || (major == 6 && minor >= 7) ? 1024 : 4) << 30;
}

static size_t block_size(int i)
{
    return (size_t)(i * 37 % 3000 + 1);
}

void memory_set(void)
{
    int rw = PROT_READ | PROT_WRITE;

    data = 8;
    strcpy(zeros + 50000, "in bss");
    local = 12;
    strcpy(local_zeros + 4000, "in tls");
    for (int i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(block_size(i));
        memset(blocks[i], i, block_size(i));
    }
    for (int i = 0; i < BLOCKS; i += 3) {
        free(blocks[i]);
        blocks[i] = NULL;
    }
    big = malloc(BIG);
    for (size_t i = 0; i < BIG; i++)
        big[i] = (unsigned char)(i * i >> 7);
    sparse_size = sparse_bytes();
    sparse = map(sparse_size, rw, MAP_PRIVATE | MAP_NORESERVE);
    for (int i = 0; i < 10; i++)
        sparse[sparse_size / 10 * (size_t)i] = (unsigned char)(i + 1);
    guarded = map(3 * PAGE, rw, MAP_PRIVATE);
    memset(guarded, 'g', 3 * PAGE);
    CHECK(mprotect(guarded + PAGE, PAGE, PROT_NONE) == 0);
    readonly = map(PAGE, rw, MAP_PRIVATE);
    strcpy((char *)readonly, "read only");
    CHECK(mprotect(readonly, PAGE, PROT_READ) == 0);
    forkless = map(5 * PAGE, rw, MAP_PRIVATE);
    strcpy((char *)forkless + 2 * PAGE, "not for children");
    CHECK(madvise(forkless, 5 * PAGE, MADV_DONTFORK) == 0);
    wiped = map(5 * PAGE, rw, MAP_PRIVATE);
    strcpy((char *)wiped + 3 * PAGE, "zero in children");
    CHECK(madvise(wiped, 5 * PAGE, MADV_WIPEONFORK) == 0);
    shared = map(100 * PAGE, rw, MAP_SHARED);
    strcpy((char *)shared + 70 * PAGE, "shared with nobody");
    huge = map(8u << 20, rw, MAP_PRIVATE);
    madvise(huge, 8u << 20, MADV_HUGEPAGE);
    memset(huge, 'h', 8u << 20);
    top = sbrk(3 * PAGE);
    CHECK(top != (void *)-1);
    memset(top, 't', 3 * PAGE);
    brk_end = sbrk(0);
}

void memory_spoil(void)
{
    memset(big, 0, BIG);
    memset(shared, 0, 100 * PAGE);
}

static bool all(const unsigned char *at, unsigned char value, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != value)
            return false;
    return true;
}

static void check_mappings(void)
{
    for (int i = 0; i < 10; i++) {
        CHECK(sparse[sparse_size / 10 * (size_t)i] == i + 1);
        CHECK(sparse[sparse_size / 10 * (size_t)i + 7 * PAGE] == 0);
    }
    CHECK(all(guarded, 'g', PAGE) && all(guarded + 2 * PAGE, 'g', PAGE));
    CHECK(mprotect(guarded + PAGE, PAGE, PROT_READ | PROT_WRITE) == 0);
    CHECK(all(guarded + PAGE, 'g', PAGE));
    CHECK(mprotect(guarded + PAGE, PAGE, PROT_NONE) == 0);
    CHECK(strcmp((char *)readonly, "read only") == 0);
    CHECK(strcmp((char *)forkless + 2 * PAGE, "not for children") == 0);
    CHECK(forkless[0] == 0);
    CHECK(strcmp((char *)wiped + 3 * PAGE, "zero in children") == 0);
    CHECK(strcmp((char *)shared + 70 * PAGE, "shared with nobody") == 0);
    CHECK(shared[99 * PAGE] == 0);
    CHECK(all(huge, 'h', 8u << 20));
    CHECK(all(top, 't', 3 * PAGE));
}

/* The heap is not only there, it works: in both of its ways. */
static void check_heap(void)
{
    unsigned char *end;

    for (int i = 0; i < BLOCKS; i++)
        CHECK(!blocks[i] || all(blocks[i], (unsigned char)i, block_size(i)));
    for (size_t i = 0; i < BIG; i++)
        CHECK(big[i] == (unsigned char)(i * i >> 7));
    big = realloc(big, 2 * BIG);
    CHECK(big);
    big[2 * BIG - 1] = 1;
    big = realloc(big, BIG);
    for (int i = 0; i < BLOCKS; i += 5) {
        free(blocks[i]);
        blocks[i] = malloc(block_size(i));
        memset(blocks[i], i, block_size(i));
    }
    CHECK(mallinfo2().arena > 0);
    CHECK(sbrk(0) == brk_end);
    end = sbrk(64 * PAGE);
    CHECK(end == brk_end);
    CHECK(all(end, 0, 64 * PAGE));
    memset(end, 'e', 64 * PAGE);
    CHECK(brk(brk_end) == 0);
}

void memory_check(int hop)
{
    CHECK(data == 7 + hop);
    data++;
    CHECK(strcmp(zeros + 50000, "in bss") == 0 && zeros[0] == 0);
    CHECK(strcmp(constants[2], "three") == 0);
    CHECK(local == 11 + hop);
    local++;
    CHECK(strcmp(local_zeros + 4000, "in tls") == 0);
    check_mappings();
    /* The break that others moved is theirs; ours must be where the kernel believes it is. */
    brk_end = sbrk(0);
    check_heap();
    brk_end = sbrk(0);
}
