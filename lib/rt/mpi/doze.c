/* doze.c - waiting for messages: spin while there is a core for each process, then sleep. */
#include <sched.h>

#include "lib/rt/mpi/inside.h"
#include "lib/rt/safe_point.h"

#define SPINS_PER_CLOCK   64
#define YIELDS            8
#define AGENT_CHECK_MS    500
#define YIELD_TOO_LONG_NS 500000
#define YIELD_PAUSE       1000

static bool has_news(void)
{
    for (int word = 0; word < bspz_mpi.words; word++)
        if (atomic_load_explicit(&bspz_mpi.mail->in[word], memory_order_relaxed))
            return true;
    return false;
}

static bool spin(void)
{
    uint64_t budget = atomic_load_explicit(&bspz_rt.board->spin_ns, memory_order_relaxed);
    uint64_t start = 0;

    while (budget > 0) {
        for (int turn = 0; turn < SPINS_PER_CLOCK; turn++) {
            if (has_news())
                return true;
            bspz_relax();
        }
        if (start == 0)
            start = bspz_now_ns();
        else if (bspz_now_ns() - start > budget)
            break;
    }
    return false;
}

/* Where processes share cores, the one waited for may need only that.  But a core yielded to an
 * unrelated busy process comes back only after its time slice, while a woken sleeper preempts that
 * process: after such a long yield there are none for a while. */
static bool yield(void)
{
    static unsigned pause;
    uint64_t before;

    if (pause > 0) {
        pause--;
        return false;
    }
    before = bspz_now_ns();
    for (int turn = 0; turn < YIELDS; turn++) {
        uint64_t after;

        sched_yield();
        after = bspz_now_ns();
        if (after - before > YIELD_TOO_LONG_NS)
            pause = YIELD_PAUSE;
        if (has_news() || pause > 0)
            return has_news();
        before = after;
    }
    return false;
}

/* An agent that lingers looks at `waits` after it has set that (link_drive.c). */
static void tell_agent_that_it_waits(struct bspz_mail *mail, enum bspz_mail_wait waits)
{
    atomic_store(&mail->waits, waits);
    if (atomic_load(&bspz_rt.board->bell_lingers))
        bspz_mpi_ring();
}

/* Nothing comes soon to the only process of its host: the agent, which has to work first, may share
 * the core. */
static bool is_alone(void)
{
    return bspz_rt.board->flags & BSPZ_BOARD_HOSTS && bspz_rt.board->here == 1;
}

static void sleep_until_told(void)
{
    struct bspz_rank *self = bspz_rt.self;
    uint32_t seen = atomic_load(&self->nudge);

    atomic_store(&self->dozing, 1);
    while (atomic_load(&self->dozing) && !has_news() && !bspz_safe_point_is_wanted()) {
        if (atomic_load(&bspz_rt.board->stop))
            bspz_leave();
        bspz_word_wait(&self->nudge, seen, AGENT_CHECK_MS);
        if (atomic_load(&self->nudge) == seen && bspz_agent_gone(bspz_rt.board))
            bspz_leave();
        seen = atomic_load(&self->nudge);
    }
    atomic_store(&self->dozing, 0);
}

void bspz_mpi_doze(enum bspz_mail_wait waits, int peer, int tag)
{
    struct bspz_mail *mail = bspz_mpi.mail;

    if (atomic_load_explicit(&bspz_rt.board->stop, memory_order_relaxed))
        bspz_leave();
    mail->call = bspz_mpi.call;
    mail->peer = peer;
    mail->tag = tag;
    if (bspz_rt.board->flags & BSPZ_BOARD_HOSTS)
        tell_agent_that_it_waits(mail, waits);
    else
        atomic_store_explicit(&mail->waits, waits, memory_order_release);
    if (is_alone() || bspz_safe_point_is_wanted() || !(spin() || yield()))
        sleep_until_told();
    atomic_store_explicit(&mail->waits, BSPZ_MAIL_AWAKE, memory_order_release);
    while (bspz_safe_point_is_wanted())
        bspz_safe_point(bspz_mpi.line, bspz_mpi.file);
}

void bspz_mpi_idle(void)
{
    if (atomic_load_explicit(&bspz_rt.board->stop, memory_order_relaxed))
        bspz_leave();
    if (atomic_load_explicit(&bspz_rt.board->spin_ns, memory_order_relaxed) == 0)
        sched_yield();
}
