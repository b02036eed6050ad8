/* bell.c - waiting on words and waking: the board's words, its doorbell, the sleepers of the
 * barrier.
 */
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/shm/barrier.h"
#include "lib/shm/board.h"

void bspz_word_set(_Atomic uint32_t *word, uint32_t value)
{
    atomic_store(word, value);
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void bspz_word_add(_Atomic uint32_t *word)
{
    atomic_fetch_add(word, 1);
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

bool bspz_word_move(_Atomic uint32_t *word, uint32_t from, uint32_t to)
{
    if (!atomic_compare_exchange_strong(word, &from, to))
        return false;
    syscall(SYS_futex, word, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    return true;
}

void bspz_word_wait(_Atomic uint32_t *word, uint32_t value, int timeout_ms)
{
    struct timespec bound = {timeout_ms / 1000, timeout_ms % 1000 * 1000000L};

    if (atomic_load(word) == value)
        syscall(SYS_futex, word, FUTEX_WAIT, value, timeout_ms < 0 ? NULL : &bound, NULL, 0);
}

void bspz_board_ring_links(struct bspz_board *board)
{
    atomic_fetch_add(&board->doorbell, 1);
    syscall(SYS_futex, &board->doorbell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void bspz_board_ring(struct bspz_board *board)
{
    atomic_fetch_add(&board->rung_for_loop, 1);
    bspz_board_ring_links(board);
}

void bspz_board_ring_objects(struct bspz_board *board)
{
    atomic_fetch_add(&board->rung_for_objects, 1);
    bspz_board_ring_links(board);
}

/* Who rings is counted for itself, and not as the rest of all rings: a process that counts
 * itself and does not ring would hide the ring of another one. */
unsigned bspz_board_heard(struct bspz_board *board, struct bspz_heard *heard)
{
    struct bspz_heard now = {.loop = atomic_load(&board->rung_for_loop),
                             .objects = atomic_load(&board->rung_for_objects)};
    unsigned whom = (now.loop != heard->loop ? BSPZ_HEARD_LOOP : 0) |
                    (now.objects != heard->objects ? BSPZ_HEARD_OBJECTS : 0);

    *heard = now;
    return whom;
}

void bspz_board_ring_awake(struct bspz_board *board)
{
    atomic_fetch_add(&board->doorbell, 1);
    if (!atomic_load(&board->bell_awake))
        syscall(SYS_futex, &board->doorbell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

/* The kernel compares after bell_awake is cleared, the other side counts before it looks. */
void bspz_board_wait_bell(struct bspz_board *board, uint32_t seen, int timeout_ms)
{
    atomic_store(&board->bell_awake, 0);
    bspz_word_wait(&board->doorbell, seen, timeout_ms);
    atomic_store(&board->bell_awake, 1);
}

void bspz_barrier_wake(struct bspz_board *board)
{
    atomic_fetch_add(&board->wake_sequence, 1);
    syscall(SYS_futex, &board->wake_sequence, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}
