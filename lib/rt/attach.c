/* attach.c - before main: determines whether the process belongs to a job. */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/rt/rt.h"
#include "lib/rt/save.h"

/* A process forked by the user's program is not a rank: it has no slot on the board, and its errors
 * do not end the job. */
static void become_inert(void)
{
    if (bspz_rt.life == BSPZ_LIFE_SPMD || bspz_rt.life == BSPZ_LIFE_AFTER) {
        bspz_rt.life = BSPZ_LIFE_INERT;
        bspz_rt.self = NULL;
        bspz_signals_end();
        bspz_plea_end();
    }
}

static BSPZ_NORETURN void cannot_attach(int error, uint32_t version)
{
    if (error == EPROTO)
        fprintf(
            stderr,
            "bspzero: bsprun and the library in this program are of different versions (bsprun: "
            "board %u, the library: board %u): link the program again with the bspcc of this "
            "bsprun\n",
            version, BSPZ_BOARD_VERSION);
    else
        fprintf(stderr,
                "bspzero: cannot reach the memory of this job (%s): was the descriptor named "
                "in " BSPZ_ENV_BOARD " closed and the variable kept?\n",
                strerror(error));
    exit(1);
}

void bspz_read_options(void)
{
    bspz_rt.oxford = bspz_options()->oxford || bspz_compat_is_oxford();
    bspz_rt.checks = bspz_options()->library_level == 0;
    bspz_rt.check_syncs = bspz_options()->check_syncs || bspz_rt.oxford;
    bspz_rt.warn =
        bspz_options()->warn || (getenv("BSP_WARN") && strcmp(getenv("BSP_WARN"), "1") == 0);
    bspz_rt.prof = bspz_options()->prof || bspz_options()->cgprof;
    bspz_rt.stat = bspz_options()->stat;
}

static void close_on_exec(int fd)
{
    if (fd > 0)
        fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* Programs which this program starts are not to be mistaken for ranks. */
static void keep_board(void)
{
    unsetenv(BSPZ_ENV_BOARD);
    close_on_exec(bspz_rt.board_fd);
}

/* Finds the board.  A restored process is replaced here, so nothing of the program may have run: a
 * constructor that opens a file would empty it again.  One that executes the program again needs
 * all that this process has found. */
void bspz_attach(void)
{
    static bool is_done;
    const char *value = getenv(BSPZ_ENV_BOARD);
    uint32_t refused;
    int fd;

    if (is_done)
        return;
    is_done = true;
    bspz_read_options();
    bspz_rt.bare = true;
    bspz_stdio_find_languages();
    pthread_atfork(NULL, NULL, become_inert);
    bspz_arm_exit_hook();
    if (!value)
        return;
    fd = bspz_board_open(value, &bspz_rt.board, &refused);
    if (fd < 0)
        cannot_attach(-fd, refused);
    bspz_rt.board_fd = fd;
    bspz_rt.bare = false;
    if (getenv(BSPZ_ENV_RESTORE)) {
        keep_board();
        bspz_restore(getenv(BSPZ_ENV_RESTORE));
    }
    if (bspz_rt.board->flags & BSPZ_BOARD_SNAPSHOTS)
        bspz_inherited_note(-1);
    atomic_store(&bspz_rt.board->attached, 1);
}

void bspz_after_constructors(void)
{
    static bool is_done;

    bspz_arm_begin_of_exit();
    if (is_done || bspz_rt.bare)
        return;
    is_done = true;
    keep_board();
    close_on_exec(bspz_rt.board->relay_fd[0]);
    close_on_exec(bspz_rt.board->relay_fd[1]);
    bspz_stdio_attach();
    close_on_exec(bspz_rt.board->share_fd);
    close_on_exec(bspz_rt.board->common_fd);
}

/* In the object that bspcc adds to a program, behind the program's own: called by a constructor. */
extern void (*bspz_constructed)(void) __attribute__((weak));

/* gcc loses the priority of a function that is declared without it before. */
BSPZ_BEFORE_PROGRAM static void before_program(void)
{
    if (&bspz_constructed)
        bspz_constructed = bspz_after_constructors;
    bspz_attach();
}

/* The static library is linked behind the program; constructors of the shared one run earlier. */
__attribute__((constructor)) static void after_program(void)
{
    if (!&bspz_constructed)
        bspz_after_constructors();
}
