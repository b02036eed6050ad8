/* link_drive.c - who reads and writes the links, and when; see link_inside.h.
 *
 * Mostly the loop: it polls `gate`, in which is `ready`, in which are the connections.  But waking
 * a sleeping thread takes ten times as long as a byte from another host.  So while all ranks of
 * this host wait for others, and the cores are idle, the thread of the bell closes the gate and
 * polls the connections itself, until the ranks can go on or nothing has arrived for a while.  It
 * reopens the gate only if the bell is not rung soon, since data that arrive earlier are not needed
 * before.  It leaves messages to the loop, where their handlers run, but those of links_express,
 * which it sends and takes itself.
 */
#include <errno.h>
#include <sched.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "bsprun/link/link_inside.h"
#include "bsprun/link/link_replicas.h"
#include "bsprun/link/link_turn.h"
#include "bsprun/link/mirror_inside.h"
#include "lib/base/clock.h"

#define EVENTS      32
#define FEW_LINKS   2      /* are read without asking which are ready */
#define LINGER_MS   1      /* after a superstep, for the next one */
#define TOO_LONG_NS 500000 /* between two turns: another process needs this core */
#define SOON_NS     20000  /* after a message: its sender will wait for an answer */

/* ---- The sets ------------------------------------------------------------------------------ */

static void set_gate(struct links *links, bool open)
{
    struct epoll_event event = {.events = open ? EPOLLIN : 0};

    epoll_ctl(links->gate, EPOLL_CTL_MOD, links->ready, &event);
}

/* ---- By the loop --------------------------------------------------------------------------- */

/* False: the other thread owns `in`. */
static bool begin_reading(struct links *links)
{
    links_lock(links);
    links->reading = !links->driven && !links->closed;
    links_unlock(links);
    return links->reading;
}

/* Ranks released by the loop may have preempted it while it read, and have reached the next barrier
 * already: without this ring the loop would handle that and all later ones. */
static void end_reading(struct links *links)
{
    links->reading = false;
    if (atomic_exchange(&links->passed_over, false) && !links->closed)
        bspz_board_ring_links(mirror_board(links->mirror));
}

/* After link_in_read or link_in_resume. */
static void after_reading(struct link *link, int error)
{
    if (error == -ECANCELED)
        return;
    if (!error && !link_in_waits(&link->in) && link->events & EPOLLIN)
        return;
    links_lock(link->links);
    if (error)
        link_break(link, link->why);
    else
        link_want(link);
    links_unlock(link->links);
}

static void write_more(struct link *link)
{
    link->want_write = false;
    link_push(link);
    link_want(link);
}

static void on_gate(uv_poll_t *handle, int status, int events)
{
    struct links *links = handle->data;
    struct epoll_event found[EVENTS];
    int count;

    (void)status, (void)events;
    if (links->closed || !begin_reading(links))
        return;
    count = epoll_wait(links->ready, found, EVENTS, 0);
    for (int i = 0; i < count && !links->closed; i++) {
        struct link *link = found[i].data.ptr;
        uint64_t got;

        if (found[i].data.ptr == links) {
            links_lock(links);
            if (link_turn_is_due(links, bspz_now_ns()))
                links_push_all(links);
            links_unlock(links);
            continue;
        }
        if (found[i].events & EPOLLOUT && !link->broken) {
            links_lock(links);
            write_more(link);
            links_unlock(links);
        }
        if (found[i].events & ~(uint32_t)EPOLLOUT && !link->broken && !link_in_waits(&link->in))
            after_reading(link, link_in_read(link, &got));
    }
    end_reading(links);
}

void links_resume(struct links *links)
{
    if (!begin_reading(links))
        return;
    for (uint32_t i = 0; i < links->count && !links->closed; i++) {
        struct link *link = &links->all[i];

        if (link->broken || !link_in_waits(&link->in) || (link->in.stalled && !links->mirror))
            continue;
        after_reading(link, link_in_resume(link));
    }
    end_reading(links);
}

/* As the thread of the bell does it while it drives, which it cannot now. */
static void read_last(struct link *link)
{
    struct links *links = link->links;
    bool driven = links->driven;
    uint64_t got;

    links->driven = true;
    link_in_read(link, &got);
    links->driven = driven;
}

void links_last_words(struct links *links)
{
    if (!links || links->closed || !links->replicas)
        return;
    links_lock(links);
    links->ending = true;
    for (uint32_t i = 0; i < links->count && !links->reading; i++) {
        struct link *link = &links->all[i];

        if (link->kin && link->up && !link->broken && !link_in_waits(&link->in))
            read_last(link);
    }
    links_unlock(links);
    links_replicas_report_last(links);
}

/* ---- By the bell --------------------------------------------------------------------------- */

/* With the lock held: reads and writes without blocking.  Returns the number of bytes read. */
static uint64_t drive_link(struct link *link)
{
    uint64_t got = 0;

    if (!link->up || link->broken)
        return 0;
    if (link->want_write) {
        link->want_write = false;
        link_push(link);
    }
    if (!link->broken && !link_in_waits(&link->in) && link_in_read(link, &got) != 0)
        link_break(link, link->why);
    return got;
}

static uint64_t drive_all(struct links *links, uint64_t now)
{
    struct epoll_event found[EVENTS];
    uint64_t got = 0;
    int count;

    if (link_turn_is_due(links, now))
        links_push_all(links);
    if (links->count <= FEW_LINKS) {
        for (uint32_t i = 0; i < links->count; i++)
            got += drive_link(&links->all[i]);
        return got;
    }
    count = epoll_wait(links->ready, found, EVENTS, 0);
    for (int i = 0; i < count; i++)
        if (found[i].data.ptr != links)
            got += drive_link(found[i].data.ptr);
    return got;
}

static bool waits_for_loop(const struct links *links)
{
    for (uint32_t i = 0; i < links->count; i++)
        if (link_in_waits(&links->all[i].in) || (links->all[i].broken && !links->all[i].told))
            return true;
    return links->drain_due;
}

static enum links_wait express_waits(const struct links *links)
{
    return links->express ? links->express->waits(links->context) : LINKS_WAIT_NONE;
}

/* Whether the ranks of this host can go on only by what comes from others. */
static bool ranks_wait(const struct links *links)
{
    return mirror_waits(links->mirror) || express_waits(links) == LINKS_WAIT_POLL ||
           (links->sent_ns > 0 && bspz_now_ns() - links->sent_ns < SOON_NS);
}

static void take_over(struct links *links)
{
    links->driven = true;
    set_gate(links, false);
}

static void hand_back(struct links *links)
{
    bool waits = waits_for_loop(links);

    links->driven = false;
    for (uint32_t i = 0; i < links->count; i++)
        link_want(&links->all[i]);
    set_gate(links, true);
    if (waits)
        uv_async_send(&links->async);
}

static bool may_take_over(struct links *links)
{
    if (!links->mirror || !link_spin_begin(&links->spin, &links->quiet_ns))
        return false;
    atomic_store(&links->passed_over, true);
    if (links->reading)
        return false;
    atomic_store(&links->passed_over, false);
    return !waits_for_loop(links) && ranks_wait(links);
}

/* Between two turns the loop may take the lock, and a rank that has rung for a message may come to
 * where it waits for the answer (`yields`).  False: another process had the core for long. */
static bool pause_for_others(const struct link_bell *bell, uint64_t *now, bool yields)
{
    uint64_t before = *now;

    if (yields)
        sched_yield();
    while (atomic_load(&bell->asked) > 0)
        sched_yield();
    *now = bspz_now_ns();
    return *now - before <= TOO_LONG_NS;
}

static bool writes_on(const struct links *links)
{
    for (uint32_t i = 0; i < links->count; i++)
        if (links->all[i].want_write)
            return true;
    return false;
}

/* One turn, with the lock held.  False: that was the last one. */
static bool drive(struct links *links, uint32_t rung, uint64_t now, uint64_t *last)
{
    bool waits, quiet;

    if (drive_all(links, now) > 0)
        *last = now;
    waits = ranks_wait(links);
    quiet = now - *last >= links->quiet_ns;
    if (!waits)
        link_spin_came(&links->spin);
    else if (quiet)
        link_spin_in_vain(&links->spin, links->quiet_ns);
    if (waits_for_loop(links) || (waits ? quiet : writes_on(links))) {
        hand_back(links);
        return false;
    }
    return waits && atomic_load(&mirror_board(links->mirror)->doorbell) == rung;
}

/* Sends due data; true: this thread now drives the connections. */
static bool begin_driving(struct links *links, uint32_t *rung)
{
    if (links && links->mirror)
        *rung = atomic_load(&mirror_board(links->mirror)->doorbell);
    if (links)
        links_send_due(links);
    if (links && links->express) {
        links->sent_ns = links->express->rung(links->context) ? bspz_now_ns() : 0;
        links_put_done(links);
    }
    if (links && !links->driven && may_take_over(links))
        take_over(links);
    return links && links->driven;
}

static void follow(struct link_bell *bell)
{
    struct links *links = bell->links;

    if (links && links->mirror && links->spin.spin_ns > 0 && links->spin.pause == 0)
        link_follow(bell, atomic_load_explicit(&mirror_board(links->mirror)->rung_on,
                                               memory_order_relaxed));
}

void link_bell_rung(struct link_bell *bell)
{
    uint64_t now = 0, last = 0;
    uint32_t rung = 0;
    bool on;

    pthread_mutex_lock(&bell->lock);
    follow(bell);
    on = begin_driving(bell->links, &rung);
    if (on)
        now = last = bspz_now_ns();
    while (on && drive(bell->links, rung, now, &last)) {
        bool soon, yields = bell->links->express != NULL;

        pthread_mutex_unlock(&bell->lock);
        soon = pause_for_others(bell, &now, yields);
        pthread_mutex_lock(&bell->lock);
        on = bell->links && bell->links->driven;
        if (on && !soon) {
            link_spin_disturbed(&bell->links->spin);
            link_follow_no_more(bell);
        }
    }
    pthread_mutex_unlock(&bell->lock);
}

static bool bell_is_driving(struct link_bell *bell, bool leave)
{
    bool driving;

    pthread_mutex_lock(&bell->lock);
    driving = bell->links && bell->links->driven;
    if (driving && leave)
        hand_back(bell->links);
    pthread_mutex_unlock(&bell->lock);
    return driving;
}

/* Nobody waits for anything but the next superstep. */
static bool linger_for_barrier(struct link_bell *bell, struct bspz_board *board, uint32_t seen)
{
    bspz_board_wait_bell(board, seen, LINGER_MS);
    if (atomic_load(&board->doorbell) != seen)
        return true;
    bell_is_driving(bell, true);
    return false;
}

static enum links_wait waits_of(struct link_bell *bell)
{
    enum links_wait waits;

    pthread_mutex_lock(&bell->lock);
    waits = bell->links ? express_waits(bell->links) : LINKS_WAIT_NONE;
    pthread_mutex_unlock(&bell->lock);
    return waits;
}

/* Nobody reads from the links meanwhile either, so a rank that begins to wait for a message rings
 * (bell_lingers).  True: drives on. */
static bool linger_for_messages(struct link_bell *bell, struct bspz_board *board, uint32_t seen)
{
    enum links_wait waits;

    atomic_store(&board->bell_lingers, 1);
    waits = waits_of(bell);
    if (waits == LINKS_WAIT_NONE)
        bspz_board_wait_bell(board, seen, LINGER_MS);
    atomic_store(&board->bell_lingers, 0);
    if (waits == LINKS_WAIT_POLL ||
        (waits == LINKS_WAIT_NONE && atomic_load(&board->doorbell) != seen))
        return true;
    bell_is_driving(bell, true);
    return false;
}

void link_bell_wait(struct link_bell *bell, struct bspz_board *board, uint32_t seen)
{
    uint32_t others = atomic_load(&board->rung_for_loop) + atomic_load(&board->rung_for_objects);
    bool again = others == bell->others;

    /* A rank that rang for another reason may wait for a message. */
    bell->others = others;
    if (bell_is_driving(bell, !again) && again &&
        (board->layout.mail ? linger_for_messages : linger_for_barrier)(bell, board, seen))
        return;
    bspz_board_wait_bell(board, seen, -1);
}

/* ---- Beginning and end --------------------------------------------------------------------- */

int links_drive_begin(struct links *links)
{
    struct epoll_event event = {.events = EPOLLIN};
    int error = 0;

    links->ready = epoll_create1(EPOLL_CLOEXEC);
    links->gate = epoll_create1(EPOLL_CLOEXEC);
    if (links->ready < 0 || links->gate < 0 ||
        epoll_ctl(links->gate, EPOLL_CTL_ADD, links->ready, &event) != 0)
        error = -errno;
    if (!error)
        error = uv_poll_init(links->loop, &links->poll, links->gate);
    if (error) {
        if (links->ready >= 0)
            close(links->ready);
        if (links->gate >= 0)
            close(links->gate);
        return error;
    }
    links->poll.data = links;
    links->handles++;
    uv_poll_start(&links->poll, UV_READABLE, on_gate);
    return 0;
}

void links_drive_end(struct links *links, uv_close_cb closed)
{
    uv_close((uv_handle_t *)&links->poll, closed);
    close(links->gate);
    close(links->ready);
}
