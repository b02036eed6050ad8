/* clone.c - one process becomes p.
 *
 * The caller of bsp_begin stays pid 0.  The others are made by a double fork: an intermediate
 * without exit signal forks them and exits, so that they are not children of the user's program:
 * its wait() and its SIGCHLD handler are not affected.  Under bsprun the agent, a child subreaper,
 * becomes their parent.  Without bsprun the intermediate's child forks them and then becomes the
 * agent itself.
 *
 * Happy path: LAYOUT -> every clone FORKED -> the agent holds all (HELD) -> intermediate reaped ->
 * every rank sets itself up (READY) -> RUN.
 * What can fail: no memory or process left (clone_error), no agent to start, the agent ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/base/hex.h"
#include "lib/rt/node_path.h"
#include "lib/rt/outbox.h"
#include "lib/rt/registration.h"
#include "lib/rt/rt.h"
#include "lib/rt/safe_point.h"
#include "lib/rt/save.h"

#define AGENT_CHECK_MS 500
#define VALGRIND_MOST  (UINT64_C(256) << 20) /* bytes of all outboxes together */

/* Forks a child without exit signal, which is invisible to wait(). */
static pid_t fork_silently(void)
{
    return (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
}

/* A killed intermediate leaves the job half made: an error, not a hang. */
static void reap_intermediate(pid_t intermediate)
{
    int status = 0;

    while (waitpid(intermediate, &status, __WALL) < 0 && errno == EINTR)
        continue;
    if (status != 0 && !atomic_load(&bspz_rt.board->clone_error))
        atomic_store(&bspz_rt.board->clone_error, EINTR);
}

struct signal_state {
    sigset_t mask;
    struct sigaction child;
};

static void shut_signals(struct signal_state *saved)
{
    const struct sigaction standard = {.sa_handler = SIG_DFL};
    sigset_t all;

    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, &saved->mask);
    sigaction(SIGCHLD, &standard, &saved->child);
}

static void open_signals(const struct signal_state *saved)
{
    sigaction(SIGCHLD, &saved->child, NULL);
    sigprocmask(SIG_SETMASK, &saved->mask, NULL);
}

/* A program that adopts orphans (PR_SET_CHILD_SUBREAPER) must not become the parent of the
 * clones. */
static int stop_adopting(void)
{
    int adopts = 0;

    if (prctl(PR_GET_CHILD_SUBREAPER, &adopts) == 0 && adopts)
        prctl(PR_SET_CHILD_SUBREAPER, 0);
    return adopts;
}

/* Restores the program's setting in each clone. */
static void go_on_adopting(int adopts)
{
    if (adopts)
        prctl(PR_SET_CHILD_SUBREAPER, 1);
}

static void register_process(int pid, pid_t ospid)
{
    struct bspz_rank *rank = bspz_rank_of(bspz_rt.board, pid);

    atomic_store(&rank->ospid, ospid);
    bspz_word_set(&rank->state, BSPZ_RANK_FORKED);
}

static bool is_here(int pid)
{
    return bspz_is_here(bspz_rt.board, pid);
}

static void end_ranks_below(int pid)
{
    while (--pid > 0)
        if (is_here(pid))
            kill(atomic_load(&bspz_rank_of(bspz_rt.board, pid)->ospid), SIGKILL);
}

/* Forks the ranks of this host but 0.  Returns true in each of them, false in the caller; a failure
 * is written to the board and the ranks made so far are killed. */
static bool fork_ranks(void)
{
    int nprocs = bspz_rt.nprocs;

    for (int pid = 1; pid < nprocs; pid++) {
        pid_t child;

        if (!is_here(pid))
            continue;
        child = fork();

        if (child == 0) {
            bspz_rt.pid = pid;
            return true;
        }
        if (child < 0) {
            atomic_store(&bspz_rt.board->clone_error, errno);
            end_ranks_below(pid);
            return false;
        }
        register_process(pid, child);
    }
    return false;
}

/* The intermediate exits only when the agent holds every clone: until then none of their process
 * ids can be reused. */
static BSPZ_NORETURN void run_intermediate(void)
{
    struct bspz_board *board = bspz_rt.board;

    bspz_board_ring(board);
    for (int pid = 1; pid < bspz_rt.nprocs && !atomic_load(&board->clone_error); pid++) {
        struct bspz_rank *rank = bspz_rank_of(board, pid);

        while (atomic_load(&rank->state) == BSPZ_RANK_FORKED && !atomic_load(&board->stop) &&
               !bspz_agent_gone(board))
            bspz_word_wait(&rank->state, BSPZ_RANK_FORKED, AGENT_CHECK_MS);
    }
    _exit(0);
}

/* valgrind's leak check reads all mapped memory; that would commit every page of all outboxes, more
 * than the machine has. */
static uint64_t most_under_valgrind(int nprocs, uint64_t most)
{
    const char *preloaded = getenv("LD_PRELOAD");
    uint64_t share = VALGRIND_MOST / (2 * (uint64_t)nprocs);

    if (!preloaded || !strstr(preloaded, "vgpreload"))
        return most;
    return most < share ? most : share;
}

static void map_board(int nprocs)
{
    struct sysinfo memory;
    uint64_t most = UINT64_C(16) << 30;
    struct bspz_board *board;

    /* No half can hold more than the machine has. */
    if (sysinfo(&memory) == 0)
        most = ((uint64_t)memory.totalram + memory.totalswap) * memory.mem_unit;
    most = most_under_valgrind(nprocs, most);
    board = bspz_board_map_rank(bspz_rt.board_fd, nprocs, most,
                                bspz_rt.board->flags & BSPZ_BOARD_SNAPSHOTS, bspz_rt.has_mail);
    if (!board && errno == EBADF)
        bspz_fail("bsp_begin", BSPZ_AT_BEGIN, BSPZ_DESCRIPTOR_CLOSED);
    if (!board)
        bspz_fail(
            "bsp_begin", BSPZ_AT_BEGIN,
            errno == EAGAIN
                ? "no shared memory for %d process%s (%s): the program locks its memory "
                  "(mlockall), see ulimit -l"
                : "no address space for the shared memory of %d process%s (%s): see ulimit -v "
                  "and ulimit -f",
            nprocs, nprocs == 1 ? "" : "es", strerror(errno));
    /* A second mapping would count as foreign memory in a snapshot. */
    munmap(bspz_rt.board, BSPZ_BOARD_BYTES);
    bspz_rt.board = board;
    bspz_rt.nprocs = nprocs;
    if (bspz_reserve_begin() != 0)
        bspz_fail("bsp_begin", BSPZ_AT_BEGIN, "out of memory");
}

static void fail_if_not_cloned(void)
{
    int error = atomic_load(&bspz_rt.board->clone_error);

    if (error)
        bspz_fail("bsp_begin", BSPZ_AT_BEGIN, "cannot make %d processes: %s", bspz_rt.nprocs,
                  strerror(error));
}

bool bspz_take_job(int maxprocs)
{
    struct bspz_board *board = bspz_rt.board;
    uint32_t idle = BSPZ_PHASE_IDLE;

    if (atomic_load(&board->phase) == BSPZ_PHASE_IDLE) {
        atomic_store(&board->wanted, maxprocs);
        if (atomic_compare_exchange_strong(&board->phase, &idle, BSPZ_PHASE_BEGIN))
            return true;
    }
    munmap(board, BSPZ_BOARD_BYTES);
    close(bspz_rt.board_fd);
    bspz_rt.board = NULL;
    bspz_rt.board_fd = -1;
    bspz_rt.bare = true;
    return false;
}

void bspz_make_ranks(void)
{
    struct bspz_board *board = bspz_rt.board;
    struct signal_state saved;
    pid_t intermediate;

    bspz_board_ring(board);
    bspz_wait_past(&board->phase, BSPZ_PHASE_BEGIN);
    map_board(atomic_load(&board->nprocs));
    board = bspz_rt.board;
    bspz_rt.pid = 0;
    if (board->flags & BSPZ_BOARD_SNAPSHOTS && bspz_save_start()) {
        bspz_rank_setup();
        bspz_save_complete();
        return;
    }
    shut_signals(&saved);
    if (bspz_rt.nprocs > 1) {
        int adopts = stop_adopting();

        intermediate = fork_silently();
        if (intermediate == 0) {
            if (!fork_ranks())
                run_intermediate();
        } else if (intermediate < 0) {
            atomic_store(&board->clone_error, errno);
        } else {
            reap_intermediate(intermediate);
        }
        go_on_adopting(adopts);
    }
    if (bspz_rt.pid == 0) {
        bspz_rt.self = bspz_rank_of(board, 0);
        fail_if_not_cloned();
        register_process(0, getpid());
        bspz_word_set(&board->clones_free, 1);
        bspz_board_ring(board);
    } else {
        bspz_wait_past(&board->clones_free, 0);
    }
    bspz_rank_setup();
    open_signals(&saved);
}

/* ---- Without bsprun ------------------------------------------------------------------------ */

static void random_token(char text[BSPZ_TOKEN])
{
    unsigned char bytes[16];

    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes)
        memset(bytes, 0, sizeof bytes);
    bspz_hex(text, bytes, sizeof bytes);
}

/* The forked copy of pid 0 that has made the ranks becomes the agent. */
static BSPZ_NORETURN void become_agent(pid_t first, const struct signal_state *saved)
{
    struct bspz_board *board = bspz_rt.board;
    char fd_text[16], pid_text[16], path[4096];

    if (!atomic_load(&board->clone_error)) {
        snprintf(fd_text, sizeof fd_text, "%d", bspz_rt.board_fd);
        snprintf(pid_text, sizeof pid_text, "%d", (int)first);
        fcntl(bspz_rt.board_fd, F_SETFD, 0);
        open_signals(saved);
        if (bspz_node_path(path, sizeof path))
            execl(path, "bspnode", "--bare", fd_text, pid_text, (char *)NULL);
        atomic_store(&board->clone_error, errno ? errno : ENOENT);
        for (int pid = 1; pid < bspz_rt.nprocs; pid++)
            kill(atomic_load(&bspz_rank_of(board, pid)->ospid), SIGKILL);
        dprintf(STDERR_FILENO, "bspzero: cannot start the node agent %s: %s\n", path,
                strerror(atomic_load(&board->clone_error)));
    }
    bspz_word_set(&bspz_rank_of(board, 0)->state, BSPZ_RANK_FORKED);
    _exit(127);
}

static void start_bare(pid_t first, const struct signal_state *saved)
{
    pid_t maker = fork();

    if (maker != 0) {
        if (maker < 0)
            atomic_store(&bspz_rt.board->clone_error, errno);
        else
            bspz_rt.board->agent_pid = maker; /* known before any rank waits for it */
        _exit(0);
    }
    bspz_rt.board->agent_pid = getpid();
    if (!fork_ranks())
        become_agent(first, saved);
}

void bspz_make_ranks_bare(int maxprocs)
{
    char token[sizeof bspz_rt.board->token] = "";
    int cores = bspz_usable_cores();
    int limit = bspz_limit_from_environment();
    int nprocs = bspz_decide_nprocs(maxprocs, limit, cores);
    pid_t self = getpid();
    struct signal_state saved;
    pid_t intermediate;
    int fd, adopts;

    random_token(token);
    fd = bspz_board_create(token, limit, cores, BSPZ_BOARD_BARE, &bspz_rt.board);
    if (fd < 0)
        bspz_fail("bsp_begin", BSPZ_AT_BEGIN, "cannot create the shared memory of the job: %s",
                  strerror(-fd));
    bspz_rt.board_fd = fd;
    atomic_store(&bspz_rt.board->attached, 1);
    atomic_store(&bspz_rt.board->wanted, maxprocs);
    atomic_store(&bspz_rt.board->nprocs, nprocs);
    bspz_rt.board->here = nprocs;
    map_board(nprocs);
    bspz_word_set(&bspz_rt.board->phase, BSPZ_PHASE_LAYOUT);
    shut_signals(&saved);
    bspz_rt.pid = 0;
    bspz_rt.self = bspz_rank_of(bspz_rt.board, 0);
    register_process(0, self);
    adopts = stop_adopting();
    intermediate = fork_silently();
    if (intermediate == 0)
        start_bare(self, &saved);
    else if (intermediate < 0)
        atomic_store(&bspz_rt.board->clone_error, errno);
    else
        reap_intermediate(intermediate);
    go_on_adopting(adopts);
    bspz_rank_setup();
    open_signals(&saved);
}

/* ---- Every rank, pid 0 included ------------------------------------------------------------ */

void bspz_rank_setup(void)
{
    bspz_rt.self = bspz_rank_of(bspz_rt.board, bspz_rt.pid);
    bspz_wait_past(&bspz_rt.self->state, BSPZ_RANK_FORKED);
    fail_if_not_cloned();
    if (atomic_load(&bspz_rt.self->again)) /* alone: the others may have met since */
        bspz_rt.superstep = atomic_load(&bspz_rt.self->superstep);
    if (bspz_rt.pid > 0) {
        bspz_stdio_clone();
        bspz_put_back_pool();
    } else {
        bspz_stdio_made();
    }
    bspz_join_agent();
    bspz_position_reset();
    bspz_registration_begin();
    bspz_outbox_begin();
    bspz_drma_begin();
    bspz_bsmp_begin();
    bspz_signals_begin();
    bspz_plea_begin();
    bspz_stdio_begin();
    bspz_note(bspz_call_of_begin(), bspz_here(bspz_rt.begin_file, bspz_rt.begin_line));
    bspz_wait_to_run();
}
