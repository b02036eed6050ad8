/* loop.c - set-up, bell, signals and end of a node agent; see loop.h. */
#include "bsprun/agent/loop.h"
#include "bsprun/agent/dataspace.h"
#include "bsprun/agent/fence.h"
#include "bsprun/agent/guest.h"
#include "bsprun/agent/mail.h"
#include "bsprun/agent/snapshot/replicas.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <time.h>

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/binding.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/cells.h"
#include "bsprun/agent/core/clock.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/decided.h"
#include "bsprun/agent/core/fetch.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/input.h"
#include "bsprun/agent/core/known.h"
#include "bsprun/agent/core/launch.h"
#include "bsprun/agent/core/order.h"
#include "bsprun/agent/core/output.h"
#include "bsprun/agent/core/pause.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/agent/core/quiet_thread.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/starter.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/core/timers.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/core/tool.h"
#include "bsprun/agent/core/watch.h"
#include "bsprun/agent/debug.h"
#include "bsprun/agent/ranks.h"
#include "bsprun/agent/snapshot/snapshots.h"
#include "bsprun/agent/stacks.h"
#include "bsprun/agent/strangers.h"
#include "bsprun/agent/succession.h"
#include "bsprun/agent/survive.h"
#include "bsprun/agent/terms.h"
#include "bsprun/agent/zero.h"
#include "bsprun/link/link.h"
#include "bsprun/link/link_tune.h"
#include "bsprun/process.h"
#include "lib/net/net.h"
#include "lib/shm/board.h"

#define AGAIN_NS         200000000u
#define LOOP_DESCRIPTORS 10

#define WATCHED_SIGNALS  6
static const int watched_signals[WATCHED_SIGNALS] = {SIGINT,  SIGTERM, SIGHUP,
                                                     SIGQUIT, SIGUSR1, SIGUSR2};

/* What wakes the loop. */
struct agent_wakers {
    uv_prepare_t before_waiting; /* takes the news */
    uv_async_t bell;
    pthread_t bell_thread;
    bool bell_running;
    atomic_bool bell_stop;
    uv_signal_t on_signal[WATCHED_SIGNALS], on_child;
};

/* Waits on the doorbell and wakes the loop, except for rings only for the links.  Uses only the
 * first page, the bell and the links. */
static void *bell_main(void *argument)
{
    struct agent *agent = argument;
    struct bspz_board *board = agent_first_page(agent);
    uint32_t seen = atomic_load(&board->doorbell);
    struct bspz_heard heard = {0};

    link_tune_thread();
    uv_async_send(&agent->wakers->bell); /* for rings before the thread started */
    link_bell_rung(agent_link_bell(agent));
    while (!atomic_load(&agent->wakers->bell_stop)) {
        unsigned whom;

        link_bell_wait(agent_link_bell(agent), board, seen);
        seen = atomic_load(&board->doorbell);
        link_bell_rung(agent_link_bell(agent));
        whom = bspz_board_heard(board, &heard);
        /* A request that is handled here means nothing to the loop. */
        if ((whom & BSPZ_HEARD_OBJECTS && !agent_dataspace_rung(agent)) || whom & BSPZ_HEARD_LOOP)
            uv_async_send(&agent->wakers->bell);
    }
    return NULL;
}

static void on_bell(uv_async_t *handle)
{
    struct agent *agent = handle->data;

    agent_calls(agent)->rung(agent);
}

static void take_news(uv_prepare_t *handle)
{
    agent_take_news(handle->data);
}

int agent_start_bell(struct agent *agent)
{
    int error = quiet_thread_begin(&agent->wakers->bell_thread, bell_main, agent);

    agent->wakers->bell_running = error == 0;
    return error;
}

bool agent_bell_runs(const struct agent *agent)
{
    return agent->wakers->bell_running;
}

static void stop_bell(struct agent *agent)
{
    if (!agent->wakers->bell_running)
        return;
    atomic_store(&agent->wakers->bell_stop, true);
    bspz_board_ring(agent_first_page(agent));
    pthread_join(agent->wakers->bell_thread, NULL);
    agent->wakers->bell_running = false;
}

/* After bsp_end process 0 handles signals by itself again; and if it was a session leader, its exit
 * sends this agent a hangup. */
static bool process_0_is_free(const struct agent *agent, int signal)
{
    return agent_nprocs(agent) > 0 && agent_member(agent, 0)->seen == BSPZ_RANK_ENDED &&
           (agent_process(agent, 0)->state != WATCH_GONE || signal == SIGHUP);
}

/* With snapshots bsprun saves the job first; it may have got no signal, or its own. */
static bool is_for_bsprun(struct agent *agent, int signal)
{
    struct wire_message message = {.kind = WIRE_STOP};

    if ((signal == SIGINT || signal == SIGQUIT) && agent_debug_in_terminal(agent))
        return true; /* its own */
    if (signal == SIGINT && agent_order(agent)->stacks_ms > 0 && agent_order(agent)->verbosity > 0)
        return true; /* it prints the stacks first */

    if ((signal != SIGTERM && signal != SIGUSR1 && signal != SIGUSR2) || agent_is_bare(agent) ||
        !agent_recovers(agent))
        return signal == SIGUSR1; /* which does not end the job */
    message.stop.how = WIRE_STOP_SIGNAL;
    message.stop.signal = (uint32_t)signal;
    message.stop.text = "";
    return agent_send(agent, &message) == 0;
}

/* Terminals and batch systems signal whole process trees: the agent takes it as a request to end
 * the job. */
static void on_signal(uv_signal_t *handle, int signal)
{
    struct agent *agent = handle->data;
    uint64_t stopped_ns = agent_stopped_since(agent);
    /* One shortly after the first is the same by another path. */
    bool again = agent_is_bare(agent) && stopped_ns != 0 && agent_now_ns() - stopped_ns > AGAIN_NS;

    if (is_for_bsprun(agent, signal) || agent_has_peers(agent))
        return; /* bsprun gets it, too, and decides for all hosts */
    agent_scan(agent);
    if (agent_is_bare(agent) && process_0_is_free(agent, signal))
        return;
    agent_stop(agent, again ? WIRE_STOP_KILL : WIRE_STOP_SIGNAL, signal, "");
}

static void on_child(uv_signal_t *handle, int signal)
{
    (void)signal;
    agent_bury_strangers(handle->data);
    agent_pause_renew(handle->data); /* somebody may have continued one */
}

static int catch_signals(struct agent *agent)
{
    int error = uv_signal_init(agent_loop(agent),
                               &agent->wakers->on_child); /* initialises what the others need */

    if (error)
        return error;
    agent->wakers->on_child.data = agent;
    uv_signal_start(&agent->wakers->on_child, on_child, SIGCHLD);
    for (int i = 0; i < WATCHED_SIGNALS; i++) {
        uv_signal_init(agent_loop(agent), &agent->wakers->on_signal[i]);
        agent->wakers->on_signal[i].data = agent;
        if (!agent_signal_was_ignored(agent, watched_signals[i]))
            uv_signal_start(&agent->wakers->on_signal[i], on_signal, watched_signals[i]);
    }
    return 0;
}

static int open_wakers(struct agent *agent)
{
    struct agent_wakers *wakers = calloc(1, sizeof *wakers);

    if (!wakers)
        return -ENOMEM;
    agent->wakers = wakers;
    uv_async_init(agent_loop(agent), &wakers->bell, on_bell);
    uv_prepare_init(agent_loop(agent), &wakers->before_waiting);
    wakers->bell.data = wakers->before_waiting.data = agent;
    uv_prepare_start(&wakers->before_waiting, take_news);
    return 0;
}

int agent_init(struct agent *agent, bool bare)
{
    int error;

    agent_peers_begin(agent);
    agent_dataspace_open(agent);
    agent_starter_open(agent, bare);
    agent_board_open(agent);
    agent_order_open(agent);
    agent_identity_open(agent);
    error = agent_roster_open(agent);
    if (!error)
        error = agent_launch_open(agent);
    if (error)
        return error;
    signal(SIGPIPE, SIG_IGN);
    /* For bsprun or the program, when a batch system sends them to all processes. */
    signal(SIGUSR1, SIG_IGN);
    signal(SIGUSR2, SIG_IGN);
    prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
    error = agent_binding_open(agent);
    if (!error)
        error = agent_decided_open(agent);
    if (!error)
        error = agent_known_open(agent);
    if (!error)
        error = process_enough_descriptors(LOOP_DESCRIPTORS);
    if (!error)
        error = uv_loop_init(agent_loop(agent));
    if (error)
        return error;
    error = open_wakers(agent);
    if (error)
        return error;
    error = agent_timers_open(agent);
    if (!error)
        error = agent_ending_open(agent);
    if (!error)
        error = agent_terms_open(agent);
    if (!error)
        error = agent_zero_open(agent);
    return error ? error : catch_signals(agent);
}

static void close_handle(uv_handle_t *handle)
{
    if (!uv_is_closing(handle))
        uv_close(handle, NULL);
}

void agent_close(struct agent *agent)
{
    stop_bell(agent);
    close_handle((uv_handle_t *)&agent->wakers->bell);
    close_handle((uv_handle_t *)&agent->wakers->before_waiting);
    close_handle((uv_handle_t *)&agent->wakers->on_child);
    for (int i = 0; i < WATCHED_SIGNALS; i++)
        close_handle((uv_handle_t *)&agent->wakers->on_signal[i]);
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        agent_unwatch(agent_process(agent, pid));
    agent_unwatch(agent_root(agent));
    agent_timers_close(agent);
    agent_snapshots_close(agent);
    agent_input_close(agent);
    agent_relay_close(agent);
    agent_peers_close(agent);
    agent_fetch_forget(agent);
    agent_survive_forget(agent);
    agent_dataspace_forget(agent);
    agent_mail_forget(agent);
    agent_replicas_forget(agent);
    agent_fence_close(agent);
    agent_guest_close(agent);
    agent_pause_close(agent);
    agent_stacks_close(agent);
    agent_debug_close(agent);
    if (agent_control(agent))
        net_finish(agent_control(agent));
}

int agent_run(struct agent *agent)
{
    int status;

    uv_run(agent_loop(agent), UV_RUN_DEFAULT);
    status = agent_outcome(agent)->status;
    uv_loop_close(agent_loop(agent));
    agent_zero_free(agent);
    agent_timers_free(agent);
    agent_binding_free(agent);
    agent_snapshots_free(agent);
    agent_replicas_free(agent);
    agent_peers_free(agent);
    agent_stacks_free(agent);
    agent_debug_free(agent);
    agent_cells_free(agent);
    agent_decided_free(agent);
    agent_known_free(agent);
    agent_succession_end(agent);
    agent_terms_free(agent);
    agent_ending_free(agent);
    agent_launch_free(agent);
    free(agent->wakers);
    agent_roster_free(agent);
    agent_order_free(agent);
    agent_relay_free(agent);
    /* Zombies were kept until now, so that no process id was reused while ranks copied directly. */
    process_reap_all();
    agent_pause_free(agent);
    return status;
}
