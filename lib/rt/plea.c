/* plea.c - a process that fails waits for a debugger, with bsprun --attach-on-error.
 *
 * Programs may have handlers of their own for the signals of errors; those are left alone.  All
 * here is async-signal-safe.
 */
#include <errno.h>
#include <signal.h>
#include <unistd.h>

#include "lib/rt/rt.h"

#define AGENT_CHECK_MS 500

static const int fatal[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
#define FATAL (sizeof fatal / sizeof fatal[0])

void bspz_wait_for_debugger(void)
{
    struct bspz_board *board = bspz_rt.board;
    struct bspz_rank *self = bspz_rt.self;
    uint32_t plea;

    if (!self || !(board->flags & BSPZ_BOARD_ATTACH) || bspz_rt.life != BSPZ_LIFE_SPMD ||
        getpid() != atomic_load(&self->ospid) || atomic_load(&self->plea) != BSPZ_PLEA_NONE)
        return;
    atomic_store(&self->plea, BSPZ_PLEA_ASKS);
    bspz_board_ring(board);
    while ((plea = atomic_load(&self->plea)) != BSPZ_PLEA_GO &&
           atomic_load(&board->stop) == BSPZ_STOP_NONE && !bspz_agent_gone(board))
        bspz_word_wait(&self->plea, plea, AGENT_CHECK_MS);
}

/* When this returns, the process dies of the signal as usual. */
static void on_fatal(int number)
{
    int before = errno;

    bspz_wait_for_debugger();
    signal(number, SIG_DFL);
    raise(number);
    errno = before;
}

void bspz_plea_begin(void)
{
    const struct sigaction wait = {.sa_handler = on_fatal};
    struct sigaction now;

    if (!(bspz_rt.board->flags & BSPZ_BOARD_ATTACH))
        return;
    for (size_t i = 0; i < FATAL; i++)
        if (sigaction(fatal[i], NULL, &now) == 0 && now.sa_handler == SIG_DFL)
            sigaction(fatal[i], &wait, NULL);
}

void bspz_plea_end(void)
{
    struct sigaction now;

    for (size_t i = 0; i < FATAL; i++)
        if (sigaction(fatal[i], NULL, &now) == 0 && now.sa_handler == on_fatal)
            signal(fatal[i], SIG_DFL);
}
