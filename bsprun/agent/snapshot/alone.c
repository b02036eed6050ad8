/* alone.c - the images of processes alone; see alone.h. */
#include "bsprun/agent/snapshot/alone.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/clock.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/input.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/order.h"
#include "bsprun/agent/core/output.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/saved.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/core/watch.h"
#include "bsprun/agent/snapshot/alone_inside.h"
#include "lib/base/clock.h"
#include "lib/base/temporary.h"
#include "lib/shm/board.h"

#define LOOK_MS     20u
#define WAIT_NS     UINT64_C(2000000000) /* for a call */
#define LEAST_NS    UINT64_C(200000000)  /* ... if another one is to be saved, for its answers */
#define PAUSE_MOST  UINT64_C(64000000000)
#define FIRST_NS    UINT64_C(1000000000) /* --every auto: never more often */
#define NAMES_BEGIN (UINT64_C(1) << 62)  /* superstep in the names of such images */

/* ---- When ------------------------------------------------------------------------------------ */

/* How often each process is saved alone, if all are not saved together meanwhile; 0: never. */
static uint64_t interval_ns(const struct agent *agent)
{
    const struct policy_rule *rule = &snapshots_of(agent)->rule;
    double least;

    if (rule->kind == POLICY_TIME)
        return rule->every / 2 + 1;
    if (rule->kind != POLICY_AUTO)
        return 0;
    least =
        (double)snapshots_of(agent)->alone->took_ns / (rule->overhead > 0 ? rule->overhead : 0.05);
    return least > (double)FIRST_NS ? (uint64_t)least : FIRST_NS;
}

/* Whether all are not about to be saved together, and the process, which is not being saved, may
 * come to a call: at the end it waits for the others. */
static bool may_save(const struct agent *agent, int pid)
{
    const struct bspz_rank *rank = bspz_rank_of(agent_board(agent), pid);

    return agent_job(agent) == JOB_RUNNING && agent_is_here(agent, pid) && rank->request.alone &&
           snapshots_of(agent)->alone->saving != pid && !snapshots_of(agent)->ticket.staging &&
           snapshots_of(agent)->alone->lones[pid].state == LONE_RUNS &&
           atomic_load(&rank->state) == BSPZ_RANK_RUNNING && !atomic_load(&rank->in_barrier) &&
           agent_process(agent, pid)->state == WATCH_LIVES &&
           atomic_load(&agent_board(agent)->consult_from) > atomic_load(&rank->superstep);
}

/* The process whose image is the oldest, if it is older than that; -1: none. */
static int whose_turn(const struct agent *agent, uint64_t before)
{
    const struct agent_alone *alone = snapshots_of(agent)->alone;
    int oldest = -1;

    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (may_save(agent, pid) && alone->lones[pid].saved_ns < before &&
            (oldest < 0 || alone->lones[pid].saved_ns < alone->lones[oldest].saved_ns))
            oldest = pid;
    return oldest;
}

static bool may_be_next(const struct agent *agent, int pid)
{
    return may_save(agent, pid) &&
           agent_now_ns() >= snapshots_of(agent)->alone->lones[pid].others_until_ns;
}

/* The process, of those that may be saved, whose answers take most of the memory for them, if that
 * is half full; -1. */
static int burdens(struct agent *agent)
{
    return agent_keeps_copies(agent) ? -1 : agent_calls(agent)->burden(agent, may_be_next);
}

/* The process that is to be saved now; -1: none.  One after the other has its part of the interval,
 * however often those in between are saved for their answers. */
static int who_is_next(struct agent *agent, uint64_t now, bool *for_answers)
{
    uint64_t interval = interval_ns(agent);
    int pid = -1;

    if (interval > 0 && now >= snapshots_of(agent)->alone->next_ns && now > interval)
        pid = whose_turn(agent, now - interval);
    *for_answers = pid < 0;
    return *for_answers ? burdens(agent) : pid;
}

/* ---- Saving ---------------------------------------------------------------------------------- */

static int open_file(const struct agent *agent)
{
    int fd = open(store_path(agent_store(agent)), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

    return fd >= 0 ? fd : bspz_temporary_file();
}

static void close_file(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void stop_saving(struct agent *agent)
{
    struct agent_alone *alone = snapshots_of(agent)->alone;

    snapshots_of(agent)->lone_writer = 0;
    alone->saving = -1;
    alone->recorded = false;
    close_file(&alone->fd);
}

static void write_order(struct agent *agent, int pid)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    struct agent_alone *alone = snapshots->alone;
    struct bspz_snap_order *order = &agent_board(agent)->snap_order;

    order->name = alone->name;
    order->base = (struct bspz_snapshot_name){0};
    order->forked = agent_snapshot_way(agent).forked;
    order->share =
        snapshot_writer_share(snapshots->rule.kind == POLICY_AUTO, snapshots->slowest_ns);
    order->compress = false;
    order->own = 1;
    order->created = bspz_wall_ns();
    snprintf(order->path_start, sizeof order->path_start, "/proc/%d/fd/%d", (int)getpid(),
             alone->fd);
    memcpy(order->rules, snapshots->rules, snapshots->rules_bytes);
    order->rules_bytes = snapshots->rules_bytes;
    agent_unwatch(&snapshots->kept[pid].writer);
    atomic_store(&agent_snap_of(agent, pid)->writer.state, BSPZ_SNAP_NOBODY);
}

static void begin_saving(struct agent *agent, int pid)
{
    struct agent_alone *alone = snapshots_of(agent)->alone;

    alone->fd = open_file(agent);
    if (alone->fd < 0)
        return;
    alone->saving = pid;
    snapshots_of(agent)->lone_writer = pid + 1;
    alone->recorded = false;
    alone->begun_ns = agent_now_ns();
    alone->name = (struct bspz_snapshot_name){NAMES_BEGIN + alone->count++, agent_term(agent)};
    write_order(agent, pid);
    atomic_store(&bspz_rank_of(agent_board(agent), pid)->own, BSPZ_OWN_WANTED);
    agent_calls(agent)->interrupt(agent, pid);
}

/* Others are saved first, whatever answers are kept for it, and longer each time: it may be one
 * that can never be saved. */
static void pause_after_failure(struct agent *agent, int pid)
{
    struct lone *lone = &snapshots_of(agent)->alone->lones[pid];

    lone->pause_ns = lone->pause_ns == 0 ? WAIT_NS : 2 * lone->pause_ns;
    if (lone->pause_ns > PAUSE_MOST)
        lone->pause_ns = PAUSE_MOST;
    lone->others_until_ns = agent_now_ns() + lone->pause_ns;
}

/* Whether there has been no call of the process for long, or, if it is to be saved for its answers,
 * for a while in which another one would be. */
static bool is_waited_for_in_vain(struct agent *agent, uint64_t now)
{
    const struct agent_alone *alone = snapshots_of(agent)->alone;
    uint64_t waited = now - alone->begun_ns;
    bool for_answers;

    return waited >= WAIT_NS ||
           (alone->for_answers && waited >= LEAST_NS && who_is_next(agent, now, &for_answers) >= 0);
}

/* Another process is saved first.  An image that has been begun goes on. */
static void give_up_waiting(struct agent *agent, uint64_t now)
{
    struct agent_alone *alone = snapshots_of(agent)->alone;
    int pid = alone->saving;

    if (alone->recorded || !is_waited_for_in_vain(agent, now) ||
        !bspz_word_move(&bspz_rank_of(agent_board(agent), pid)->own, BSPZ_OWN_WANTED,
                        BSPZ_OWN_NONE))
        return;
    alone->lones[pid].saved_ns = now; /* the others come first */
    alone->lones[pid].others_until_ns = now + WAIT_NS;
    stop_saving(agent);
}

/* What has been read of the input here. */
static struct lone_input input_of(const struct agent *agent)
{
    return (struct lone_input){agent_input_position(agent), agent_input_digest(agent)};
}

/* False: bsprun has to take output first. */
static bool record(struct agent *agent, int pid, enum alone_image kind)
{
    struct lone *lone = &snapshots_of(agent)->alone->lones[pid];

    if (!agent_relay_saving(agent, pid))
        return false;
    lone->next_input = input_of(agent);
    alone_images_recorded(&lone->images, kind,
                          bspz_rank_of(agent_board(agent), pid)->request.finished + 1);
    return true;
}

static void note_recorded(struct agent *agent, int pid)
{
    struct agent_alone *alone = snapshots_of(agent)->alone;
    struct bspz_rank *rank = bspz_rank_of(agent_board(agent), pid);

    if (atomic_load(&rank->own) != BSPZ_OWN_RECORDED || !record(agent, pid, IMAGE_OWN))
        return; /* the timer comes again */
    alone->recorded = true;
    alone->begun_ns = agent_now_ns();
    bspz_word_set(&rank->own, BSPZ_OWN_NONE);
}

/* The image that was recorded is there.  False: it does not count. */
static bool is_there(struct agent *agent, int pid, enum alone_image kind)
{
    struct lone *lone = &snapshots_of(agent)->alone->lones[pid];
    uint64_t request;

    if (!alone_images_there(&lone->images, kind, &request))
        return false;
    close_file(&lone->fd); /* the older one */
    agent_relay_saved(agent, pid);
    lone->input = lone->next_input;
    lone->saved_ns = agent_now_ns();
    /* Who is restarted on another host needs the answers since an image that this one has. */
    if (kind == IMAGE_TOGETHER || !agent_keeps_copies(agent))
        agent_calls(agent)->cut(agent, pid, request);
    return true;
}

static void say_failure(struct agent *agent, int pid)
{
    struct agent_alone *alone = snapshots_of(agent)->alone;
    char text[AGENT_WHY];

    if (alone->said)
        return;
    alone->said = true;
    agent_snap_text(agent, pid, "cannot be saved alone", text);
    agent_notice(agent, "%s", text);
}

/* Whether the process that wrote it was killed, or could not be watched. */
static bool is_writer_lost(const struct agent *agent, int pid)
{
    uint32_t state = atomic_load(&agent_snap_of(agent, pid)->writer.state);

    return alone_writer_is_lost((enum bspz_snap_process_state)state,
                                snapshots_of(agent)->kept[pid].writer.state != WATCH_NONE);
}

static void note_written(struct agent *agent, int pid)
{
    struct agent_alone *alone = snapshots_of(agent)->alone;
    struct lone *lone = &alone->lones[pid];
    const struct bspz_snap *snap = agent_snap_of(agent, pid);

    if (atomic_load(&snap->written) != alone->name.superstep + 1) {
        if (!is_writer_lost(agent, pid) ||
            atomic_load(&snap->written) == alone->name.superstep + 1) /* it does this before */
            return;
        pause_after_failure(agent, pid);
        stop_saving(agent);
        return;
    }
    if (snap->error == 0 && is_there(agent, pid, IMAGE_OWN)) {
        lone->fd = alone->fd;
        alone->fd = -1;
        lone->name = (struct bspz_image_name){
            .superstep = alone->name.superstep, .term = alone->name.term, .pid = (uint32_t)pid};
        memcpy(lone->name.digest, snap->facts.digest, sizeof lone->name.digest);
        alone->took_ns = agent_now_ns() - alone->begun_ns;
        alone->said = false;
        lone->pause_ns = 0;
    } else if (snap->error != 0) {
        say_failure(agent, pid);
        pause_after_failure(agent, pid);
        lone->saved_ns = agent_now_ns(); /* not at once again */
    }
    stop_saving(agent);
}

/* ---- Together -------------------------------------------------------------------------------- */

void agent_alone_give_way(struct agent *agent)
{
    struct agent_alone *alone = snapshots_of(agent)->alone;

    agent_board(agent)->snap_order.own = 0;
    if (!alone || alone->saving < 0)
        return;
    atomic_store(&bspz_rank_of(agent_board(agent), alone->saving)->own, BSPZ_OWN_NONE);
    /* Its result would take the place of that of the next image of the process. */
    agent_end_writer(agent, alone->saving);
    stop_saving(agent);
}

void agent_alone_captured(struct agent *agent)
{
    struct agent_alone *alone = snapshots_of(agent)->alone;

    for (int pid = 0; alone && pid < agent_nprocs(agent); pid++) {
        struct lone *lone = &alone->lones[pid];

        if (!agent_is_here(agent, pid))
            continue;
        if (!record(agent, pid, IMAGE_TOGETHER))
            alone_images_recorded(&lone->images, IMAGE_NONE, 0);
    }
}

void agent_alone_committed(struct agent *agent)
{
    struct agent_alone *alone = snapshots_of(agent)->alone;

    if (alone)
        alone->committed_ns = agent_now_ns();
    for (int pid = 0; alone && pid < agent_nprocs(agent); pid++) {
        struct lone *lone = &alone->lones[pid];

        /* Snapshot 0 is of the moment before the processes ran. */
        if (agent_is_here(agent, pid) &&
            (agent_committed(agent).superstep == 0 || is_there(agent, pid, IMAGE_TOGETHER)))
            lone->snapshot = agent_committed(agent);
    }
}

/* ---- News ------------------------------------------------------------------------------------ */

/* Looks which processes have taken their places. */
static void look_for_restored(struct agent *agent)
{
    struct agent_alone *alone = snapshots_of(agent)->alone;

    for (int pid = 0; pid < agent_nprocs(agent); pid++) {
        struct bspz_rank *rank = bspz_rank_of(agent_board(agent), pid);

        if (alone->lones[pid].state != LONE_RESTORED ||
            atomic_load(&rank->state) < BSPZ_RANK_RUNNING)
            continue;
        atomic_store(&rank->again, 0);
        alone->lones[pid].state = LONE_RUNS;
        alone->restoring--;
    }
}

void agent_alone_scan(struct agent *agent)
{
    struct agent_alone *alone = snapshots_of(agent)->alone;

    if (!alone)
        return;
    if (alone->restoring > 0)
        look_for_restored(agent);
    if (alone->saving >= 0 && !alone->recorded)
        note_recorded(agent, alone->saving);
    if (alone->saving >= 0 && alone->recorded)
        note_written(agent, alone->saving);
}

static void on_look(uv_timer_t *timer)
{
    struct agent *agent = timer->data;
    struct agent_alone *alone = snapshots_of(agent)->alone;
    uint64_t now = agent_now_ns();
    bool for_answers;
    int pid;

    if (!alone || agent_job(agent) != JOB_RUNNING)
        return;
    agent_alone_scan(agent);
    if (alone->saving >= 0) {
        give_up_waiting(agent, now);
        return;
    }
    pid = who_is_next(agent, now, &for_answers);
    if (pid < 0)
        return;
    if (!for_answers)
        alone->next_ns = now + interval_ns(agent) / (uint64_t)agent_here(agent);
    alone->for_answers = for_answers;
    begin_saving(agent, pid);
}

/* ---- Life ------------------------------------------------------------------------------------ */

static struct agent_alone *open_alone(struct agent *agent)
{
    struct agent_alone *alone = calloc(1, sizeof *alone);

    if (!alone)
        return NULL;
    alone->lones = calloc((size_t)agent_nprocs(agent), sizeof *alone->lones);
    alone->fd = alone->saving = -1;
    if (!alone->lones || !agent_relay_watch(agent)) {
        free(alone->lones);
        free(alone);
        return NULL;
    }
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        alone->lones[pid].fd = -1;
    uv_timer_init(agent_loop(agent), &alone->timer);
    alone->timer.data = agent;
    return alone;
}

void agent_alone_begin(struct agent *agent)
{
    struct agent_snapshots *snapshots = snapshots_of(agent);
    uint64_t now = agent_now_ns();

    if (!snapshots || !agent_order_alone(agent) || agent_here(agent) == 0)
        return;
    if (!snapshots->alone)
        snapshots->alone = open_alone(agent);
    if (!snapshots->alone)
        return;
    for (int pid = 0; pid < agent_nprocs(agent); pid++) {
        struct lone *lone = &snapshots->alone->lones[pid];

        lone->snapshot = agent_committed(agent);
        alone_images_begin(&lone->images, IMAGE_TOGETHER);
        lone->input = input_of(agent);
        lone->saved_ns = now;
    }
    snapshots->alone->committed_ns = now;
    uv_timer_start(&snapshots->alone->timer, on_look, LOOK_MS, LOOK_MS);
}

void agent_alone_forget(struct agent *agent)
{
    struct agent_alone *alone = snapshots_of(agent)->alone;

    if (!alone)
        return;
    uv_timer_stop(&alone->timer);
    stop_saving(agent);
    agent_board(agent)->snap_order.own = 0;
    alone->restoring = 0;
    for (int pid = 0; pid < agent_nprocs(agent); pid++) {
        close_file(&alone->lones[pid].fd);
        alone->lones[pid] = (struct lone){.fd = -1};
    }
}

static void on_closed(uv_handle_t *handle)
{
    (void)handle; /* its memory is freed with the agent's */
}

void agent_alone_close(struct agent *agent)
{
    struct agent_alone *alone = snapshots_of(agent) ? snapshots_of(agent)->alone : NULL;

    if (!alone || uv_is_closing((uv_handle_t *)&alone->timer))
        return;
    agent_alone_forget(agent);
    uv_close((uv_handle_t *)&alone->timer, on_closed);
}

void agent_alone_free(struct agent *agent)
{
    struct agent_alone *alone = snapshots_of(agent)->alone;

    if (!alone)
        return;
    free(alone->lones);
    free(alone);
    snapshots_of(agent)->alone = NULL;
}
