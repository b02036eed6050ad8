/* unsupported.c - what cannot be captured, and how it is named to the user. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "ckpt/capture/linux.h"
#include "ckpt/capture/snapshot.h"

/* ---- Timers ---------------------------------------------------------------------------------- */

/* Timers of timer_create: the list is empty when there are none, and missing in some kernels. */
static int check_timers(struct bspz_snapshot *snapshot)
{
    char line[64];
    int file = bspz_sys_open("/proc/self/timers", O_RDONLY | O_CLOEXEC);
    struct bspz_text why;
    long bytes;

    if (file < 0)
        return 0;
    bytes = bspz_sys_read_all(file, line, sizeof line);
    bspz_sys_close(file);
    if (bytes <= 0)
        return 0;
    bspz_text_begin(&why, snapshot->why, BSPZ_WHY_SIZE);
    bspz_text_add(&why, "the process has a POSIX timer (timer_create); only those of setitimer and "
                        "alarm can be saved");
    return -EBUSY;
}

/* The kernel writes there at any time, and an image must not depend on that; see still.c. */
static int check_rseq(struct bspz_snapshot *snapshot)
{
    struct bspz_text why;

    if (snapshot->thread.rseq_address || !bspz_rseq_elsewhere(snapshot->thread.pointers.fs_base))
        return 0;
    bspz_text_begin(&why, snapshot->why, BSPZ_WHY_SIZE);
    bspz_text_add(&why, "the process has restartable sequences (rseq) that libc does not know of");
    return -EBUSY;
}

static int check_directory(struct bspz_snapshot *snapshot)
{
    const char *path = snapshot->thread.cwd;
    struct bspz_text why;

    if (path[0] == '/')
        return 0;
    bspz_text_begin(&why, snapshot->why, BSPZ_WHY_SIZE);
    bspz_text_add(&why, path[0] ? "the current directory is not below the root directory"
                                : "the current directory has been removed");
    bspz_text_add(&why, "; the restored process could not be there");
    return -EBUSY;
}

/* ---- Mappings -------------------------------------------------------------------------------- */

static bool starts(const char *text, const char *with)
{
    return strncmp(text, with, strlen(with)) == 0;
}

/* NULL: can be captured. */
static const char *map_complaint(const struct bspz_snapshot *snapshot,
                                 const struct bspz_piece *piece)
{
    const struct bspz_map *map = piece->map;

    if (map->flags & BSPZ_MAP_USERFAULT ||
        (map->flags & BSPZ_MAP_TRACKED && !bspz_track_is_own(snapshot)))
        return "watched through userfaultfd";
    if (map->flags & BSPZ_MAP_SHADOW_STACK)
        return "a shadow stack";
    if (piece->kind == BSPZ_REGION_VDSO)
        return NULL;
    if (map->flags & BSPZ_MAP_DEVICE)
        return "memory of a device";
    if (bspz_is_common(snapshot, piece))
        return "memory that the processes share since before bsp_begin";
    if (map->flags & BSPZ_MAP_HUGETLB)
        return map->flags & BSPZ_MAP_SHARED ? "shared huge pages" : NULL;
    if (piece->kind == BSPZ_REGION_COMMON)
        return NULL;
    if (piece->kind == BSPZ_REGION_SHARED)
        return map->path[0] == '[' && !starts(map->path, "[anon_shmem:")
                   ? "a kernel object that cannot be saved"
               : map->path[0] && map->path[0] != '[' && map->path[0] != '/'
                   ? "a kernel object that cannot be saved"
                   : NULL;
    if (map->path[0] != '/')
        return NULL;
    if (starts(map->path, "/SYSV") || starts(map->path, "/memfd:") ||
        starts(map->path, "/dev/shm/") || starts(map->path, "/[aio]"))
        return map->flags & BSPZ_MAP_SHARED ? "memory shared with others" : "of no ordinary file";
    if (map->flags & BSPZ_MAP_DELETED)
        return "a file that has been deleted or replaced";
    if (piece->kind == BSPZ_REGION_SHARED_FILE)
        return "a file mapped shared and writable: what is written there cannot be taken back";
    return NULL;
}

static int check_maps(struct bspz_snapshot *snapshot)
{
    for (uint32_t i = 0; i < snapshot->piece_count; i++) {
        const struct bspz_piece *piece = &snapshot->piece[i];
        const char *complaint = piece->excluded ? NULL : map_complaint(snapshot, piece);
        struct bspz_text why;

        if (!complaint)
            continue;
        bspz_text_begin(&why, snapshot->why, BSPZ_WHY_SIZE);
        bspz_text_add(&why, "the mapping at ");
        bspz_text_hex(&why, piece->start);
        if (piece->map->path[0]) {
            bspz_text_add(&why, " (");
            bspz_text_add(&why, piece->map->path);
            bspz_text_add(&why, ")");
        }
        bspz_text_add(&why, " is ");
        bspz_text_add(&why, complaint);
        return -EBUSY;
    }
    if (bspz_common_complete(snapshot))
        return 0;
    strcpy(snapshot->why,
           "of the memory that the processes share since before bsp_begin, process 0 "
           "has not mapped all any more");
    return -EBUSY;
}

/* ---- Descriptors ----------------------------------------------------------------------------- */

static const char *descriptor_complaint(const struct bspz_descriptor *one)
{
    if (one->kind == BSPZ_FD_DELETED)
        return "whose file has been deleted, renamed or replaced";
    if (one->locked)
        return "which holds a lock (fcntl or flock)";
    if (one->kind != BSPZ_FD_OTHER)
        return NULL;
    if (starts(one->path, "socket:"))
        return "which cannot be saved";
    if (starts(one->path, "pipe:"))
        return "whose other end is not part of this process";
    return "of a kind that cannot be saved";
}

static int check_descriptors(struct bspz_snapshot *snapshot)
{
    for (uint32_t i = 0; i < snapshot->descriptors.count; i++) {
        const struct bspz_descriptor *one = &snapshot->descriptors.descriptor[i];
        const char *complaint = descriptor_complaint(one);
        struct bspz_text why;

        /* A duplicate of one of the job's own is restored with it. */
        if (!complaint || snapshot->options->lose_descriptors ||
            bspz_is_job_descriptor(snapshot->options, one->number) ||
            bspz_is_job_descriptor(snapshot->options, one->same_as) ||
            bspz_rules_name(snapshot->options, one->number, one->path))
            continue;
        bspz_text_begin(&why, snapshot->why, BSPZ_WHY_SIZE);
        bspz_text_add(&why, "descriptor ");
        bspz_text_decimal(&why, one->number);
        bspz_text_add(&why, " is ");
        bspz_text_add(&why, one->path);
        bspz_text_add(&why, ", ");
        bspz_text_add(&why, complaint);
        return -EBUSY;
    }
    return 0;
}

/* ---- Programs that watch their own memory ---------------------------------------------------- */

extern void __asan_init(void) __attribute__((weak));
extern void __hwasan_init(void) __attribute__((weak));
extern void __msan_init(void) __attribute__((weak));
extern void __tsan_init(void) __attribute__((weak));

/* The shadow memory of sanitizers must be neither read nor moved, and has terabytes. */
static int check_program(struct bspz_snapshot *snapshot)
{
    const char *name = __asan_init     ? "AddressSanitizer"
                       : __hwasan_init ? "HWAddressSanitizer"
                       : __msan_init   ? "MemorySanitizer"
                       : __tsan_init   ? "ThreadSanitizer"
                                       : NULL;
    struct bspz_text why;

    if (!name)
        return 0;
    bspz_text_begin(&why, snapshot->why, BSPZ_WHY_SIZE);
    bspz_text_add(&why, "the program was compiled with ");
    bspz_text_add(&why, name);
    bspz_text_add(&why, "; a program with a sanitizer cannot be saved");
    return -EBUSY;
}

static int check_signals(struct bspz_snapshot *snapshot)
{
    struct bspz_text why;

    if (snapshot->pendings.count <= BSPZ_PENDING_MOST)
        return 0;
    bspz_text_begin(&why, snapshot->why, BSPZ_WHY_SIZE);
    bspz_text_decimal(&why, snapshot->pendings.count);
    bspz_text_add(&why, " blocked signals are pending; at most ");
    bspz_text_decimal(&why, (long)BSPZ_PENDING_MOST);
    bspz_text_add(&why, " can be saved");
    return -EBUSY;
}

int bspz_snapshot_check_supported(struct bspz_snapshot *snapshot)
{
    int error = check_program(snapshot);

    if (!error)
        error = check_signals(snapshot);
    if (!error)
        error = bspz_attributes_compare(&snapshot->attributes, snapshot->options->initial,
                                        snapshot->options->bound, snapshot->why);
    if (!error)
        error = bspz_snapshot_check_children(snapshot);
    if (!error)
        error = check_timers(snapshot);
    if (!error)
        error = check_rseq(snapshot);
    if (!error)
        error = check_directory(snapshot);
    if (!error)
        error = check_maps(snapshot);
    return error ? error : check_descriptors(snapshot);
}
