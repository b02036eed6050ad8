/* snapshot.c - the scratch memory, and reading all that is known about this process into it. */
#include "ckpt/capture/snapshot.h"

#include <errno.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>

#include "ckpt/capture/identity.h"
#include "ckpt/capture/linux.h"

#define ARENA_BYTES (48u << 20)
#define STACK_BYTES (160u << 10)
#define SCRATCH_BYTES                                                                              \
    (ARENA_BYTES + BSPZ_IMAGE_WRITER_SCRATCH + STACK_BYTES + 2 * BSPZ_FORK_STACK +                 \
     BSPZ_MEMORY_BYTES + BSPZ_PAGE)

/* The one mutable static of this folder: where the scratch memory is. */
static char *scratch;

struct bspz_range bspz_snapshot_memory(void)
{
    uint64_t start = (uint64_t)(uintptr_t)scratch;

    return (struct bspz_range){start, scratch ? start + SCRATCH_BYTES : start};
}

void bspz_snapshot_forget(void)
{
    scratch = NULL;
}

/* Address space; memory only where it is touched.  The last page is the same in all copies. */
static char *make_scratch(void)
{
    long at = bspz_sys_map(0, SCRATCH_BYTES, PROT_READ | PROT_WRITE,
                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    uint64_t last = (uint64_t)at + SCRATCH_BYTES - BSPZ_PAGE;

    if (bspz_failed(at))
        return NULL;
    if (bspz_sys_map(last, BSPZ_PAGE, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != (long)last) {
        bspz_sys2(SYS_munmap, at, SCRATCH_BYTES);
        return NULL;
    }
    return (char *)at;
}

struct bspz_snapshot *bspz_snapshot_begin(const struct bspz_capture_options *options, char *why)
{
    struct bspz_snapshot *snapshot;

    if (!scratch)
        scratch = make_scratch();
    if (!scratch)
        return NULL;
    snapshot = (struct bspz_snapshot *)(void *)scratch;
    memset(snapshot, 0, sizeof *snapshot);
    snapshot->options = options;
    snapshot->arena.base = scratch;
    snapshot->arena.size = ARENA_BYTES;
    snapshot->arena.used = sizeof *snapshot;
    snapshot->writer_scratch = scratch + ARENA_BYTES;
    snapshot->stale = (_Atomic uint32_t *)(void *)(scratch + SCRATCH_BYTES - BSPZ_PAGE);
    snapshot->memory = (struct bspz_memory *)(void *)((char *)snapshot->stale - BSPZ_MEMORY_BYTES);
    snapshot->fork_stack_top = snapshot->memory;
    snapshot->stack_top = (char *)snapshot->fork_stack_top - 2 * BSPZ_FORK_STACK;
    snapshot->why = why;
    why[0] = '\0';
    return snapshot;
}

int bspz_snapshot_fail(struct bspz_snapshot *snapshot, const char *text, long error)
{
    struct bspz_text why;

    if (snapshot->why[0])
        return (int)error;
    bspz_text_begin(&why, snapshot->why, BSPZ_WHY_SIZE);
    bspz_text_add(&why, text);
    if (error == -ENOMEM) {
        bspz_text_add(&why, ": not enough memory");
    } else {
        bspz_text_add(&why, ": error ");
        bspz_text_decimal(&why, -error);
    }
    return (int)error;
}

static bool is(const char *path, const char *name)
{
    return strcmp(path, name) == 0;
}

/* The kernel's own pages: they are not moved from process to process but found again. */
static bool is_kernels(const struct bspz_snapshot *snapshot, const struct bspz_map *map)
{
    if (strncmp(map->path, "[vvar", 5) == 0 || is(map->path, "[vsyscall]") ||
        is(map->path, "[uprobes]"))
        return true;
    /* Here under another kernel: what libc calls are stand-ins elsewhere. */
    return is(map->path, "[vdso]") && map->start != snapshot->thread.vdso_address;
}

static uint32_t kind_of(const struct bspz_map *map)
{
    if (is(map->path, "[vdso]"))
        return BSPZ_REGION_VDSO;
    if (is(map->path, "[heap]"))
        return BSPZ_REGION_HEAP;
    if (is(map->path, "[stack]"))
        return BSPZ_REGION_STACK;
    if (map->flags & BSPZ_MAP_HUGETLB)
        return BSPZ_REGION_ANON;
    if (is(map->path, "/dev/zero") && !(map->flags & BSPZ_MAP_SHARED))
        return BSPZ_REGION_ANON;
    if (map->flags & BSPZ_MAP_SHARED && is(map->path, "/memfd:" BSPZ_COMMON_NAME))
        return BSPZ_REGION_COMMON;
    if (map->flags & BSPZ_MAP_SHARED) {
        if (map->path[0] != '/' || (is(map->path, "/dev/zero") && map->flags & BSPZ_MAP_DELETED))
            return BSPZ_REGION_SHARED;
        /* It may have been written to, or be so again. */
        return map->prot & PROT_WRITE || map->flags & BSPZ_MAP_MAY_WRITE ? BSPZ_REGION_SHARED_FILE
                                                                         : BSPZ_REGION_FILE;
    }
    return map->path[0] == '/' ? BSPZ_REGION_FILE : BSPZ_REGION_ANON;
}

static int add_piece(struct bspz_snapshot *snapshot, const struct bspz_map *map, uint64_t start,
                     uint64_t end)
{
    struct bspz_piece *piece = bspz_arena_take(&snapshot->arena, sizeof *piece);
    uint64_t stack = snapshot->thread.context.stack_pointer;

    if (!piece)
        return -ENOMEM;
    *piece = (struct bspz_piece){.map = map,
                                 .start = start,
                                 .end = end,
                                 .save_from = start,
                                 .now_at = start,
                                 .kind = kind_of(map)};
    piece->excluded = map->path[0] == '/' && bspz_rules_name(snapshot->options, -1, map->path);
    if (piece->kind == BSPZ_REGION_STACK && stack > start && stack < end)
        piece->save_from = (stack - BSPZ_RED_ZONE) & ~(uint64_t)(BSPZ_PAGE - 1);
    if (piece->save_from < start)
        piece->save_from = start;
    snapshot->piece_count++;
    return 0;
}

_Static_assert(sizeof(struct bspz_piece) % 16 == 0, "an array of these has no holes");

/* The lowest excluded range that ends above `from`, cut to begin there at the earliest. */
static struct bspz_range next_excluded(const struct bspz_snapshot *snapshot, uint64_t from)
{
    struct bspz_range best = {UINT64_MAX, UINT64_MAX};
    struct bspz_range own = bspz_snapshot_memory();

    for (uint32_t i = 0; i <= snapshot->options->excluded_count; i++) {
        struct bspz_range one =
            i < snapshot->options->excluded_count ? snapshot->options->excluded[i] : own;

        if (one.start < one.end && one.end > from && one.start < best.start)
            best = one;
    }
    return best;
}

static int cut_map(struct bspz_snapshot *snapshot, const struct bspz_map *map)
{
    uint64_t at = map->start;

    while (at < map->end) {
        struct bspz_range hole = next_excluded(snapshot, at);
        uint64_t end = hole.start < map->end ? hole.start : map->end;
        int error = end > at ? add_piece(snapshot, map, at, end) : 0;

        if (error)
            return error;
        at = hole.start < map->end ? hole.end : map->end;
    }
    return 0;
}

int bspz_snapshot_cut_maps(struct bspz_snapshot *snapshot)
{
    size_t room;

    snapshot->piece = bspz_arena_rest(&snapshot->arena, &room);
    for (uint32_t i = 0; i < snapshot->maps.count; i++) {
        int error = 0;

        if (!is_kernels(snapshot, &snapshot->maps.map[i]))
            error = cut_map(snapshot, &snapshot->maps.map[i]);
        if (error)
            return error;
    }
    return 0;
}

/* Where libc calls the kernel's fast functions, and the kernel's data beside them. */
static void find_vdso(struct bspz_snapshot *snapshot)
{
    struct bspz_thread *thread = &snapshot->thread;

    thread->vdso_address = getauxval(AT_SYSINFO_EHDR);
    for (uint32_t i = 0; i < snapshot->maps.count; i++) {
        const struct bspz_map *map = &snapshot->maps.map[i];

        if (is(map->path, "[vdso]") && map->start == thread->vdso_address)
            thread->vdso_size = map->end - map->start;
        if (strncmp(map->path, "[vvar", 5) != 0)
            continue;
        if (!thread->vvar_size)
            thread->vvar_address = map->start;
        thread->vvar_size = map->end - thread->vvar_address;
    }
}

int bspz_snapshot_read(struct bspz_snapshot *snapshot, bool quick)
{
    const struct bspz_context context = snapshot->thread.context;
    uint64_t features[8];
    const char *what = "";
    int error = bspz_snapshot_one_thread(snapshot);

    if (error)
        return error;
    /* First: a timer that rests until its signal is taken goes on then. */
    error = bspz_pendings_read(&snapshot->pendings, snapshot->mask, &snapshot->arena);
    if (error)
        return bspz_snapshot_fail(snapshot, "the signals that wait", error);
    bspz_cpu_features(features); /* so that forked writers need not ask, each for itself */
    error = bspz_thread_read(&snapshot->thread, snapshot->mask, &what);
    if (error)
        return bspz_snapshot_fail(snapshot, what, error);
    snapshot->thread.context = context;
    bspz_attributes_read(&snapshot->attributes);
    snapshot->attributes.word[BSPZ_WORD_DUMPABLE] = (uint64_t)snapshot->dumpable;
    error = bspz_snapshot_read_maps(snapshot, quick);
    if (error)
        return bspz_snapshot_fail(snapshot, "/proc/self/smaps", error);
    find_vdso(snapshot);
    error = bspz_snapshot_cut_maps(snapshot);
    if (error)
        return bspz_snapshot_fail(snapshot, "the list of mappings", error);
    bspz_common_mark(snapshot);
    error = bspz_descriptors_read(&snapshot->descriptors, snapshot->options->job_descriptors,
                                  snapshot->options->job_count, &snapshot->arena);
    if (error)
        return bspz_snapshot_fail(snapshot, "/proc/self/fd", error);
    return bspz_snapshot_judge(snapshot);
}
