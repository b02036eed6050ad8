/* save_state.c - the part of a rank's state that lies in shared memory.
 *
 * That is its slot on the board, the names of source files, the registrations, and the unread
 * messages, which lie in the senders' outboxes.  Outboxes are empty otherwise at a snapshot.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "lib/rt/outbox.h"
#include "lib/rt/registration.h"
#include "lib/rt/save.h"
#include "lib/rt/times.h"

#define PROBES     5u /* pages after the kept state */
#define PROBE_PAGE 4096u

static struct {
    struct bspz_layout layout;
    struct bspz_rank slot;
    char *memory;                             /* names, then registrations, then messages */
    uint64_t bytes, names_bytes, areas_bytes; /* bytes: with the probes */
    uint64_t now_ns, now_cpu_ns;
} kept;

void bspz_state_note_layout(void)
{
    kept.layout = bspz_rt.board->layout;
}

void bspz_state_drop(void)
{
    if (kept.memory)
        munmap(kept.memory, kept.bytes);
    kept.memory = NULL;
}

/* Touches the pages, so that they exist. */
static void change_probes(void)
{
    for (uint64_t i = 0; i < PROBES; i++)
        *(volatile char *)(kept.memory + kept.bytes - (i + 1) * PROBE_PAGE) = 0;
}

uint64_t bspz_state_probe_ns(void)
{
    uint64_t took[PROBES], last = bspz_now_ns();

    for (uint64_t i = 0; i < PROBES; i++) {
        *(volatile char *)(kept.memory + kept.bytes - (i + 1) * PROBE_PAGE) = 0;
        uint64_t now = bspz_now_ns(), longer = i;

        for (; longer > 0 && took[longer - 1] > now - last; longer--)
            took[longer] = took[longer - 1];
        took[longer] = now - last;
        last = now;
    }
    return took[PROBES / 2]; /* the median, robust against disturbances */
}

int bspz_state_keep(void)
{
    const struct bspz_rank *self = bspz_rt.self;

    bspz_state_drop();
    bspz_state_note_layout();
    kept.slot = *self;
    kept.names_bytes = (uint64_t)atomic_load(&self->file_count) * BSPZ_NAME_BYTES;
    kept.areas_bytes = (uint64_t)atomic_load(&self->slot_count) * sizeof(struct bspz_area);
    kept.bytes = bspz_pad(kept.names_bytes + kept.areas_bytes + bspz_queue_left_bytes(), 4096) +
                 PROBES * PROBE_PAGE;
    kept.memory =
        mmap(NULL, kept.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (kept.memory == MAP_FAILED) {
        kept.memory = NULL;
        return errno;
    }
    memcpy(kept.memory, bspz_name_of(bspz_rt.board, bspz_rt.nprocs, bspz_rt.pid, 0),
           kept.names_bytes);
    memcpy(kept.memory + kept.names_bytes, bspz_areas, kept.areas_bytes);
    bspz_queue_keep(kept.memory + kept.names_bytes + kept.areas_bytes);
    change_probes();
    kept.now_ns = bspz_now_ns();
    kept.now_cpu_ns = bspz_cpu_ns();
    return 0;
}

int bspz_state_attach(int board_fd)
{
    int error = -bspz_board_map_again(board_fd, &kept.layout, bspz_rt.board);

    if (error)
        return error;
    fcntl(board_fd, F_SETFD, FD_CLOEXEC);
    bspz_rt.board_fd = board_fd;
    return bspz_reserve_begin();
}

/* Does not restore what is the new process's own: state, ospid, core; and `applied`, which is
 * published last. */
static void put_back_slot(void)
{
    struct bspz_rank *self = bspz_rt.self;
    const struct bspz_rank *was = &kept.slot;

    for (int parity = 0; parity < 2; parity++)
        self->line[parity] = was->line[parity];
    atomic_store(&self->where, atomic_load(&was->where));
    atomic_store(&self->superstep, atomic_load(&was->superstep));
    atomic_store(&self->file_count, atomic_load(&was->file_count));
    atomic_store(&self->slot_count, atomic_load(&was->slot_count));
    self->counters = was->counters;
}

/* A process restarted alone goes on at the barriers where the lost one was: its slot and its names
 * are those on the board. */
static void take_place(void)
{
    bspz_rt.superstep = atomic_load(&bspz_rt.self->superstep);
    bspz_position_reset();
    atomic_store(&bspz_rt.self->doing, 0);
}

/* The clocks of the program continue from their saved values. */
/* Returns how long ago the saved process was there. */
static uint64_t put_back_clocks(void)
{
    uint64_t passed = bspz_now_ns() - kept.now_ns;

    bspz_rt.begin_ns += passed;
    bspz_rt.dtime_ns += passed;
    bspz_rt.left_sync_ns += passed;
    bspz_rt.begin_cpu_ns += bspz_cpu_ns() - kept.now_cpu_ns;
    return passed;
}

int bspz_state_put_back(void)
{
    uint64_t passed;
    int error;

    bspz_rt.self = bspz_rank_of(bspz_rt.board, bspz_rt.pid);
    if (atomic_load(&bspz_rt.self->again)) {
        take_place();
    } else {
        put_back_slot();
        memcpy(bspz_name_of(bspz_rt.board, bspz_rt.nprocs, bspz_rt.pid, 0), kept.memory,
               kept.names_bytes);
    }
    bspz_registration_begin();
    memcpy(bspz_areas, kept.memory + kept.names_bytes, kept.areas_bytes);
    error = bspz_outbox_begin_again(bspz_rt.superstep);
    if (error)
        return error;
    bspz_queue_put_back(kept.memory + kept.names_bytes + kept.areas_bytes);
    passed = put_back_clocks();
    if (bspz_rt.tracing || (bspz_rt.board->flags & BSPZ_BOARD_TIMING))
        bspz_times_always(bspz_rt.self);
    bspz_rt.measuring = bspz_rt.board->flags & BSPZ_BOARD_MEASURES;
    bspz_trace_put_back(passed);
    return 0;
}
