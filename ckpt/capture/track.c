/* track.c - which pages have been written to since the last snapshot, by the kernel's record, so
 * that those that have not been need not be compared with the base.
 *
 * Linux 6.7 and later can write-protect memory that is registered with a userfaultfd, and take the
 * protection away at the first write to a page, without telling anybody (WP_ASYNC).  PAGEMAP_SCAN
 * lists the pages that are not protected and protects them again.  Where the memory is shared with
 * a copy of the process the first write to a page is a fault in any case.
 *
 * Happy path: bspz_track opens the descriptor, registers large mappings and protects their pages ->
 * the program goes on -> bspz_track lists what has been written to since, and protects it.
 *
 * What can fail: a mapping is not registered: it is new, or was moved: nothing is known of its
 * pages, and it is registered now.  The record is that of another process, as this one is a copy of
 * it that has been thawed or cloned: it begins anew.  The base is not the last image that was begun
 * here, or a call fails: nothing is known.  The kernel has no such record, or does not permit it:
 * nothing is ever known. */
#include <errno.h>
#include <linux/userfaultfd.h>
#include <string.h>
#include <sys/ioctl.h>

#include "ckpt/capture/linux.h"
#include "ckpt/capture/pagemap_scan.h"
#include "ckpt/capture/snapshot.h"
#include "lib/base/snapshot.h"

#define LEAST               (UINT64_C(256) << 10) /* bytes of a mapping: less is hashed as quickly */
#define DESCRIPTOR          900                   /* the least number: above the program's */
#define RUNS_AT_ONCE        1024

#define USER_MODE_ONLY      1 /* of userfaultfd(2), which needs no privilege then */
#define FEATURE_UNPOPULATED (UINT64_C(1) << 13)
#define FEATURE_WP_ASYNC    (UINT64_C(1) << 15)

enum track_state {
    TRACK_NOTHING, /* nothing has been tried in this process */
    TRACK_OPEN,    /* the descriptor is there */
    TRACK_BEGUN,   /* ... and all pages are recorded since the image `since` was begun */
    TRACK_REFUSED,
    TRACK_LOST, /* it was there; copies of the process may have it, and so keep the registrations */
};

struct bspz_tracker {
    enum track_state state;
    int32_t owner; /* process id */
    int32_t fd;
    struct bspz_snapshot_name since;
};

_Static_assert(sizeof(struct bspz_tracker) <= BSPZ_PAGE, "its place in the scratch memory");

/* ---- The descriptor -------------------------------------------------------------------------- */

/* The program may have closed the descriptor, and have another one of this number. */
static bool is_ours(int fd)
{
    static const char sign[] = "anon_inode:[userfaultfd]";
    char path[32], target[64] = "";
    struct bspz_text text;

    bspz_text_begin(&text, path, sizeof path);
    bspz_text_add(&text, "/proc/self/fd/");
    bspz_text_decimal(&text, fd);
    return bspz_sys4(SYS_readlinkat, AT_FDCWD, path, target, sizeof target - 1) > 0 &&
           strcmp(target, sign) == 0;
}

static bool has_descriptor(const struct bspz_tracker *tracker)
{
    return tracker->state == TRACK_OPEN || tracker->state == TRACK_BEGUN;
}

/* The kernel forgets all registrations when the last descriptor of the record is closed. */
static void end(struct bspz_tracker *tracker, enum track_state state)
{
    if (has_descriptor(tracker) && is_ours(tracker->fd))
        bspz_sys_close(tracker->fd);
    tracker->state = state;
}

void bspz_track_begin(struct bspz_snapshot *snapshot)
{
    struct bspz_tracker *tracker = snapshot->tracker;
    int32_t self = (int32_t)bspz_sys0(SYS_getpid);

    if (tracker->state != TRACK_NOTHING && tracker->owner != self)
        end(tracker, TRACK_NOTHING);
    tracker->owner = self;
}

/* Returns 0 or a negative errno. */
static int open_record(void)
{
    struct uffdio_api api = {.api = UFFD_API, .features = FEATURE_UNPOPULATED | FEATURE_WP_ASYNC};
    long fd = bspz_sys1(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | USER_MODE_ONLY), high, error;

    if (fd < 0)
        return (int)fd;
    high = bspz_sys3(SYS_fcntl, fd, F_DUPFD_CLOEXEC, DESCRIPTOR);
    bspz_sys_close((int)fd);
    if (high < 0)
        return (int)high;
    error = bspz_sys3(SYS_ioctl, high, UFFDIO_API, &api);
    if (error)
        bspz_sys_close((int)high);
    return (int)(error ? error : high);
}

/* A filter of system calls may kill the process for one that it does not expect. */
static bool is_filtered(const struct bspz_snapshot *snapshot)
{
    return snapshot->attributes.word[BSPZ_WORD_FILTERS] != 0;
}

static bool prepare(struct bspz_snapshot *snapshot)
{
    struct bspz_tracker *tracker = snapshot->tracker;
    int fd;

    if (snapshot->options->untracked || is_filtered(snapshot))
        return false; /* what has been recorded stays right */
    if (has_descriptor(tracker) && !is_ours(tracker->fd))
        tracker->state = TRACK_LOST; /* the program does not want it */
    else if (tracker->state == TRACK_NOTHING) {
        fd = open_record();
        tracker->state = fd < 0 ? TRACK_REFUSED : TRACK_OPEN;
        tracker->fd = fd;
    }
    return has_descriptor(tracker);
}

static bool is_userfault(const struct bspz_descriptor *one)
{
    return strcmp(one->path, "anon_inode:[userfaultfd]") == 0;
}

void bspz_track_hide(struct bspz_snapshot *snapshot)
{
    const struct bspz_tracker *tracker = snapshot->tracker;
    struct bspz_descriptors *all = &snapshot->descriptors;
    uint32_t count = 0;

    for (uint32_t i = 0; i < all->count; i++)
        if (!has_descriptor(tracker) || all->descriptor[i].number != tracker->fd ||
            !is_userfault(&all->descriptor[i]))
            all->descriptor[count++] = all->descriptor[i];
    all->count = count;
}

bool bspz_track_is_own(const struct bspz_snapshot *snapshot)
{
    if (!has_descriptor(snapshot->tracker) && snapshot->tracker->state != TRACK_LOST)
        return false;
    for (uint32_t i = 0; i < snapshot->descriptors.count; i++)
        if (is_userfault(&snapshot->descriptors.descriptor[i]))
            return false; /* the program's, which may watch them as well */
    return true;
}

/* ---- Pages ----------------------------------------------------------------------------------- */

/* Whole mappings only: registering a part would divide them. */
static bool is_tracked(const struct bspz_piece *piece)
{
    const struct bspz_map *map = piece->map;
    uint32_t never = BSPZ_MAP_SHARED | BSPZ_MAP_HUGETLB | BSPZ_MAP_DEVICE | BSPZ_MAP_GROWS_DOWN |
                     BSPZ_MAP_DONT_FORK | BSPZ_MAP_WIPE_FORK | BSPZ_MAP_SEALED;

    return (piece->kind == BSPZ_REGION_ANON || piece->kind == BSPZ_REGION_HEAP) &&
           map->inode == 0 && !(map->flags & never) && !piece->excluded &&
           piece->now_at == piece->start && piece->save_from == piece->start &&
           piece->start == map->start && piece->end == map->end &&
           piece->end - piece->start >= LEAST;
}

static void mark(uint64_t *written, uint64_t first, uint64_t end)
{
    for (uint64_t page = first; page < end; page++)
        written[page / 64] |= UINT64_C(1) << page % 64;
}

/* Protects all pages that are in use; those that were not protected are marked in `written`, unless
 * NULL.  -EPERM: the mapping is not registered. */
static int scan(const struct bspz_piece *piece, int pagemap, struct bspz_scan_run *runs,
                uint64_t *written)
{
    struct bspz_scan scan = {
        .size = sizeof scan,
        .flags = BSPZ_SCAN_PROTECT | BSPZ_SCAN_CHECK,
        .end = piece->end,
        .vec = (uint64_t)(uintptr_t)runs,
        .vec_len = RUNS_AT_ONCE,
        .category_mask = BSPZ_SCAN_WRITTEN,
        .category_anyof_mask = BSPZ_SCAN_PRESENT | BSPZ_SCAN_SWAPPED,
    };

    for (uint64_t start = piece->start; start < piece->end; start = scan.walk_end) {
        long count;

        scan.start = start;
        count = bspz_sys3(SYS_ioctl, pagemap, BSPZ_SCAN_REQUEST, &scan);
        if (count < 0)
            return (int)count;
        for (long i = 0; i < count && written; i++)
            mark(written, (runs[i].start - piece->start) / BSPZ_PAGE,
                 (runs[i].end - piece->start) / BSPZ_PAGE);
        if (scan.walk_end <= start)
            return -EIO;
    }
    return 0;
}

/* A mapping that was moved keeps marks of its pages in some kernels, and those are not protected:
 * they are taken off. */
static int enrol(const struct bspz_piece *piece, int fd)
{
    struct uffdio_range range = {piece->start, piece->end - piece->start};
    struct uffdio_register wanted = {.range = range, .mode = UFFDIO_REGISTER_MODE_WP};
    struct uffdio_writeprotect none = {.range = range};
    long error = bspz_sys3(SYS_ioctl, fd, UFFDIO_REGISTER, &wanted);

    return (int)(error ? error : bspz_sys3(SYS_ioctl, fd, UFFDIO_WRITEPROTECT, &none));
}

/* The kernel writes there, also in the copy. */
static void except(const struct bspz_piece *piece, uint64_t *written, uint64_t address,
                   uint64_t bytes)
{
    if (address == 0 || address < piece->start || address + bytes > piece->end)
        return;
    mark(written, (address - piece->start) / BSPZ_PAGE,
         (address + bytes - 1 - piece->start) / BSPZ_PAGE + 1);
}

struct tracking {
    struct bspz_snapshot *snapshot;
    int pagemap;
    bool known; /* what was not written to since is as in the base */
    struct bspz_scan_run *runs;
};

static int track_piece(const struct tracking *tracking, struct bspz_piece *piece)
{
    struct bspz_snapshot *snapshot = tracking->snapshot;
    const struct bspz_thread *thread = &snapshot->thread;
    uint64_t *written = NULL, pages = (piece->end - piece->start) / BSPZ_PAGE;
    int error;

    if (tracking->known)
        written = bspz_arena_take(&snapshot->arena, (pages + 63) / 64 * sizeof *written);
    if (written)
        memset(written, 0, (pages + 63) / 64 * sizeof *written);
    error = scan(piece, tracking->pagemap, tracking->runs, written);
    if (error == -EPERM) {
        error = enrol(piece, snapshot->tracker->fd);
        return error ? error : scan(piece, tracking->pagemap, tracking->runs, NULL);
    }
    if (error || !written)
        return error;
    except(piece, written, thread->tid_address, sizeof(int32_t));
    except(piece, written, thread->rseq_address, thread->rseq_size);
    piece->written = written;
    return 0;
}

void bspz_track(struct bspz_snapshot *snapshot, const struct bspz_image_config *config)
{
    struct bspz_tracker *tracker = snapshot->tracker;
    struct tracking tracking = {.snapshot = snapshot};
    int error;

    if (!prepare(snapshot))
        return;
    tracking.known = tracker->state == TRACK_BEGUN && config->base &&
                     bspz_snapshot_same(bspz_image_snapshot(&config->base->image), tracker->since);
    tracking.pagemap = bspz_sys_open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    tracking.runs = bspz_arena_take(&snapshot->arena, RUNS_AT_ONCE * sizeof *tracking.runs);
    tracker->state = TRACK_OPEN;
    error = tracking.pagemap < 0 ? tracking.pagemap : tracking.runs ? 0 : -ENOMEM;
    for (uint32_t i = 0; i < snapshot->piece_count && !error; i++)
        if (is_tracked(&snapshot->piece[i]))
            error = track_piece(&tracking, &snapshot->piece[i]);
    if (tracking.pagemap >= 0)
        bspz_sys_close(tracking.pagemap);
    if (!error) {
        tracker->state = TRACK_BEGUN;
        tracker->since = (struct bspz_snapshot_name){config->header.superstep, config->header.term};
        return;
    }
    for (uint32_t i = 0; i < snapshot->piece_count; i++)
        snapshot->piece[i].written = NULL;
    if (error != -ENOMEM)
        end(tracker, TRACK_LOST);
}

bool bspz_track_unwritten(const struct bspz_piece *piece, uint64_t start, uint64_t *end)
{
    uint64_t page = (start - piece->now_at) / BSPZ_PAGE, last = (*end - piece->now_at) / BSPZ_PAGE;
    const uint64_t *bits = piece->written;
    bool set;

    if (!bits || page >= last)
        return false;
    set = bits[page / 64] >> page % 64 & 1;
    do {
        uint64_t differ = (set ? ~bits[page / 64] : bits[page / 64]) >> page % 64;

        page = differ ? page + (uint64_t)__builtin_ctzll(differ) : (page / 64 + 1) * 64;
        if (differ)
            break;
    } while (page < last);
    if (page < last)
        *end = piece->now_at + page * BSPZ_PAGE;
    return !set;
}
