/* board.c - creates, finds and maps the shared memory of one host. */
#include "lib/shm/board.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/shm/barrier.h"
#include "lib/shm/mail.h"

#define HALF_MINIMUM         (UINT64_C(16) << 20)
#define ENTRIES_APART_MOST   64 /* up to so many ranks have two cache lines for each entry */
#define ADDRESS_SPACE_BUDGET (UINT64_C(1) << 45)

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

int bspz_move_to_top(int fd)
{
    struct rlimit limit;
    int top = 1000;
    int moved;

    if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < 1016)
        top = limit.rlim_cur > 24 ? (int)limit.rlim_cur - 16 : 3;
    moved = fcntl(fd, F_DUPFD_CLOEXEC, top);
    if (moved < 0)
        return fd;
    close(fd);
    return moved;
}

/* Growing past RLIMIT_FSIZE raises SIGXFSZ, which must not end the user's program. */
int bspz_board_grow(int fd, uint64_t bytes)
{
    struct stat status;
    sigset_t xfsz, before, pending;
    int error = 0;

    if (fstat(fd, &status) != 0)
        return -errno;
    if ((uint64_t)status.st_size >= bytes)
        return 0;
    sigemptyset(&xfsz);
    sigaddset(&xfsz, SIGXFSZ);
    sigprocmask(SIG_BLOCK, &xfsz, &before);
    if (ftruncate(fd, (off_t)bytes) != 0)
        error = -errno;
    sigpending(&pending);
    if (error && sigismember(&pending, SIGXFSZ) && !sigismember(&before, SIGXFSZ)) {
        const struct timespec now = {0, 0};

        sigtimedwait(&xfsz, NULL, &now);
    }
    sigprocmask(SIG_SETMASK, &before, NULL);
    return error;
}

static void *map_shared(int fd, uint64_t bytes, int access)
{
    void *at = mmap(NULL, bytes, access, MAP_SHARED | MAP_NORESERVE, fd, 0);

    if (at == MAP_FAILED)
        return NULL;
    /* A core dump would otherwise fill every reserved page. */
    madvise(at, bytes, MADV_DONTDUMP);
    return at;
}

int bspz_board_create(const char *token, int limit, int slots, uint32_t flags,
                      struct bspz_board **board)
{
    struct bspz_board *made;
    int error;
    int fd = memfd_create("bspzero", MFD_CLOEXEC);

    if (fd < 0)
        return -errno;
    fd = bspz_move_to_top(fd);
    error = bspz_board_grow(fd, BSPZ_BOARD_BYTES);
    if (error) {
        close(fd);
        return error;
    }
    made = map_shared(fd, BSPZ_BOARD_BYTES, PROT_READ | PROT_WRITE);
    if (!made) {
        error = -errno;
        close(fd);
        return error;
    }
    made->magic = BSPZ_BOARD_MAGIC;
    made->version = BSPZ_BOARD_VERSION;
    made->flags = flags;
    snprintf(made->token, sizeof made->token, "%s", token);
    made->limit = limit;
    made->slots = slots;
    atomic_store(&made->consult_from, UINT64_MAX);
    *board = made;
    return fd;
}

/* The board in fd if it has the right magic and token, else NULL.  A board of another version is
 * marked as refused, and its version goes to *refused. */
static struct bspz_board *checked_board(int fd, const char *token, uint32_t *refused)
{
    struct stat status;
    struct bspz_board *board;

    if (fd < 0 || fstat(fd, &status) != 0 || !S_ISREG(status.st_mode) ||
        status.st_size < (off_t)BSPZ_BOARD_BYTES)
        return NULL;
    board = map_shared(fd, BSPZ_BOARD_BYTES, PROT_READ | PROT_WRITE);
    if (!board)
        return NULL;
    if (board->magic == BSPZ_BOARD_MAGIC && board->version == BSPZ_BOARD_VERSION &&
        strncmp(board->token, token, sizeof board->token) == 0)
        return board;
    if (board->magic == BSPZ_BOARD_MAGIC && board->version != BSPZ_BOARD_VERSION) {
        board->flags |= BSPZ_BOARD_REFUSED;
        *refused = board->version;
    }
    munmap(board, BSPZ_BOARD_BYTES);
    return NULL;
}

int bspz_board_open(const char *value, struct bspz_board **board, uint32_t *refused)
{
    int inherited, agent_pid, agent_fd, fd;
    char token[sizeof(*board)->token];
    char path[64];

    *refused = 0;
    if (sscanf(value, "%d:%d:%d:%39s", &inherited, &agent_pid, &agent_fd, token) != 4)
        return -EINVAL;
    *board = checked_board(inherited, token, refused);
    if (*board)
        return inherited;
    if (*refused)
        return -EPROTO;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", agent_pid, agent_fd);
    fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return -errno;
    fd = bspz_move_to_top(fd);
    *board = checked_board(fd, token, refused);
    if (*board)
        return fd;
    close(fd);
    return *refused ? -EPROTO : -ESTALE;
}

struct bspz_board *bspz_board_map_agent(int fd, int nprocs)
{
    uint64_t bytes = bspz_agent_bytes(nprocs);
    int error = bspz_board_grow(fd, bytes);

    if (error) {
        errno = -error;
        return NULL;
    }
    return map_shared(fd, bytes, PROT_READ | PROT_WRITE);
}

/* Rings for every pair of ranks: shorter ones if there are many. */
static void plan_mail(struct bspz_layout *layout, int nprocs)
{
    const uint64_t p = (uint64_t)nprocs;

    layout->mail = round_up(layout->total, 4096);
    layout->ring_bytes =
        BSPZ_RING_HEAD + (nprocs <= 8     ? BSPZ_RING_MOST
                          : nprocs <= 16  ? BSPZ_RING_MOST / 4
                          : nprocs <= 64  ? BSPZ_RING_MOST / 16
                          : nprocs <= 512 ? BSPZ_RING_MOST / 64
                                          : BSPZ_RING_LEAST);
    layout->total = layout->mail + p * BSPZ_MAIL_BYTES + p * p * layout->ring_bytes;
}

static struct bspz_layout plan_layout(int nprocs, uint64_t half_bytes, bool snapshots, bool mail)
{
    const uint64_t p = (uint64_t)nprocs;
    struct bspz_layout layout = {0};

    layout.tables = round_up(bspz_agent_bytes(nprocs), 4096);
    layout.directory = layout.tables + p * BSPZ_TABLE_BYTES;
    layout.entry_bytes = nprocs <= ENTRIES_APART_MOST ? BSPZ_LINE : BSPZ_ENTRY_BYTES;
    layout.half_bytes = half_bytes;
    layout.total = layout.directory + 2 * p * p * layout.entry_bytes;
    for (unsigned k = 0; k < BSPZ_STRETCHES; k++) {
        layout.stretch[k] = round_up(layout.total, 2u << 20);
        layout.total = layout.stretch[k] + 2 * p * bspz_stretch_bytes(&layout, k);
    }
    layout.blocks = snapshots ? layout.total : 0;
    /* Less if the halves had to be made small. */
    layout.blocks_bytes = half_bytes / 8 > BSPZ_BLOCKS_MOST    ? BSPZ_BLOCKS_MOST
                          : half_bytes / 8 < BSPZ_BLOCKS_LEAST ? BSPZ_BLOCKS_LEAST
                                                               : round_up(half_bytes / 8, 4096);
    layout.total += snapshots ? 2 * p * layout.blocks_bytes : 0;
    layout.windows = layout.total;
    layout.total += p * BSPZ_WINDOW_BYTES;
    if (mail)
        plan_mail(&layout, nprocs);
    return layout;
}

int bspz_board_open_front(struct bspz_board *board, const struct bspz_layout *layout)
{
    uint64_t front = layout->stretch[BSPZ_STRETCHES - 1];

    return mprotect(board, front, PROT_READ | PROT_WRITE) == 0 ? 0 : -errno;
}

struct bspz_board *bspz_board_map_rank(int fd, int nprocs, uint64_t half_wanted, bool snapshots,
                                       bool mail)
{
    uint64_t half = round_up(half_wanted, 2u << 20);
    uint64_t most = ADDRESS_SPACE_BUDGET / (2 * (uint64_t)nprocs) & ~UINT64_C(0x1fffff);

    if (half > most)
        half = most;
    for (;;) {
        struct bspz_layout layout = plan_layout(nprocs, half, snapshots, mail);
        int error = bspz_board_grow(fd, layout.total);
        struct bspz_board *board = error ? NULL : map_shared(fd, layout.total, PROT_NONE);

        if (board && bspz_board_open_front(board, &layout) == 0) {
            board->layout = layout;
            return board;
        }
        if (board)
            munmap(board, layout.total);
        if (error)
            errno = -error;
        if (half <= HALF_MINIMUM)
            return NULL;
        half = round_up(half / 2, 2u << 20);
    }
}

/* Ranks that are their own frozen copies look for the reason; copies go on waiting. */
static void wake_stayed(struct bspz_board *board, int nprocs, int pid)
{
    struct bspz_snap *snap =
        board->flags & BSPZ_BOARD_SNAPSHOTS ? bspz_snap_of(board, nprocs, pid) : NULL;

    for (int slot = 0; snap && slot < 2; slot++)
        syscall(SYS_futex, &snap->words[slot], FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void bspz_board_stop(struct bspz_board *board, int nprocs, enum bspz_stop kind, int status)
{
    atomic_store(&board->stop_status, status);
    atomic_store(&board->stop, (uint32_t)kind);
    bspz_barrier_wake(board);
    syscall(SYS_futex, &board->stop, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    syscall(SYS_futex, &board->phase, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    syscall(SYS_futex, &board->clones_free, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    for (int pid = 0; pid < nprocs; pid++) {
        struct bspz_rank *rank = bspz_rank_of(board, pid);

        syscall(SYS_futex, &rank->state, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
        syscall(SYS_futex, &rank->request.state, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
        syscall(SYS_futex, &rank->nudge, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
        wake_stayed(board, nprocs, pid);
    }
}

const char *bspz_call_name(unsigned call)
{
    static const char *const names[BSPZ_CALL_COUNT] = {[BSPZ_CALL_NONE] = "(none)",
                                                       [BSPZ_CALL_INIT] = "bsp_init",
                                                       [BSPZ_CALL_BEGIN] = "bsp_begin",
                                                       [BSPZ_CALL_END] = "bsp_end",
                                                       [BSPZ_CALL_ABORT] = "bsp_abort",
                                                       [BSPZ_CALL_SYNC] = "bsp_sync",
                                                       [BSPZ_CALL_PUSH_REG] = "bsp_push_reg",
                                                       [BSPZ_CALL_POP_REG] = "bsp_pop_reg",
                                                       [BSPZ_CALL_PUT] = "bsp_put",
                                                       [BSPZ_CALL_GET] = "bsp_get",
                                                       [BSPZ_CALL_HPPUT] = "bsp_hpput",
                                                       [BSPZ_CALL_HPGET] = "bsp_hpget",
                                                       [BSPZ_CALL_SET_TAGSIZE] = "bsp_set_tagsize",
                                                       [BSPZ_CALL_SEND] = "bsp_send",
                                                       [BSPZ_CALL_QSIZE] = "bsp_qsize",
                                                       [BSPZ_CALL_GET_TAG] = "bsp_get_tag",
                                                       [BSPZ_CALL_MOVE] = "bsp_move",
                                                       [BSPZ_CALL_HPMOVE] = "bsp_hpmove",
                                                       [BSPZ_CALL_EXIT] = "exit",
                                                       [BSPZ_CALL_VOLPEX_INIT] = "volpex_init",
                                                       [BSPZ_CALL_VOLPEX_FINALIZE] = "volpex_finalize",
                                                       [BSPZ_CALL_VOLPEX_PUT] = "volpex_put",
                                                       [BSPZ_CALL_VOLPEX_GET] = "volpex_get",
                                                       [BSPZ_CALL_VOLPEX_READ] = "volpex_read",
#define NAME(name) [BSPZ_CALL_MPI_##name] = "MPI_" #name,
                                                       BSPZ_MPI_CALLS(NAME)
#undef NAME
#define NAME(name) [BSPZ_IN_##name] = #name,
                                                       BSPZ_COLLECTIVES(NAME)
#undef NAME
    };

    return call < BSPZ_CALL_COUNT && names[call] ? names[call] : "(unknown)";
}
