/* control.c - the agent's connection to bsprun.
 *
 * Happy path: HELLO -> START -> (REGISTER, ELECT, ELECTED) -> STATUS when asked, NOTICE, TRACE,
 * OUTPUT -> REPORT, ENDED -> EXIT.
 *
 * What can fail: bsprun dies or the connection fails: all processes are killed and the agent exits.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bsprun/agent/control.h"
#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/election.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/input.h"
#include "bsprun/agent/core/order.h"
#include "bsprun/agent/core/output.h"
#include "bsprun/agent/core/outside.h"
#include "bsprun/agent/core/passed.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/starter.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/core/to_zero.h"
#include "bsprun/agent/core/watch.h"
#include "bsprun/agent/core/zero_here.h"
#include "bsprun/agent/debug.h"
#include "bsprun/agent/fence.h"
#include "bsprun/agent/finish.h"
#include "bsprun/agent/guest.h"
#include "bsprun/agent/limit.h"
#include "bsprun/agent/loop.h"
#include "bsprun/agent/program.h"
#include "bsprun/agent/ranks.h"
#include "bsprun/agent/route.h"
#include "bsprun/agent/snapshot/snapshots.h"
#include "bsprun/agent/stacks.h"
#include "bsprun/agent/status.h"
#include "bsprun/agent/succession.h"
#include "bsprun/agent/terms.h"
#include "bsprun/process.h"
#include "bsprun/verdict.h"
#include "lib/base/digest.h"
#include "lib/base/hex.h"
#include "lib/net/meet.h"
#include "lib/net/net.h"
#include "lib/net/secret.h"
#include "lib/shm/board.h"

void agent_say_hello(struct agent *agent)
{
    struct wire_message hello = {.kind = WIRE_HELLO};
    struct utsname machine;

    hello.hello.host = agent_host(agent);
    hello.hello.version = BSPZ_VERSION;
    hello.hello.name = agent_host_name(agent);
    hello.hello.os_pid = (uint32_t)getpid();
    hello.hello.cores = (uint32_t)bspz_usable_cores();
    hello.hello.machine = uname(&machine) == 0 ? machine.machine : "";
    hello.hello.addresses = agent_peers_addresses(agent);
    agent_send(agent, &hello);
}

static void cannot_start(struct agent *agent, const char *what, const char *why)
{
    struct verdict verdict = {.cause = WIRE_CAUSE_PLACEMENT, .status = 1};

    snprintf(verdict.text, sizeof verdict.text, "%.100s: %.400s", what, why);
    agent_abort(agent, COORD_NOBODY, &verdict);
}

static void no_system(struct agent *agent, const char *what, int error)
{
    char why[160];

    snprintf(why, sizeof why, "%s%s", strerror(-error), verdict_limit_hint(-error));
    cannot_start(agent, what, why);
}

/* Makes the board and what depends on it. 0 or -errno. */
static int make_board(struct agent *agent)
{
    unsigned char random[16];
    char token[2 * sizeof random + 1];
    uint32_t flags = agent_order(agent)->report ? BSPZ_BOARD_TIMING : 0;
    struct bspz_board *board;
    int fd;

    if (agent_order(agent)->balance)
        flags |= BSPZ_BOARD_TIMING | BSPZ_BOARD_MEASURES;
    if (agent_order(agent)->attach != WIRE_ATTACH_NOT)
        flags |= BSPZ_BOARD_ATTACH;
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random)
        return -errno;
    bspz_hex(token, random, sizeof random);
    fd = bspz_board_create(token, agent_order(agent)->process_limit, agent_order(agent)->slots,
                           flags, &board);
    if (fd < 0)
        return fd;
    agent_take_board(agent, fd, board);
    board->stdin_pid = agent_order(agent)->stdin_pid;
    board->agent_pid = getpid();
    outside_show(agent_outside(agent), board);
    return agent_start_bell(agent);
}

static void tell(void *context, const char *text)
{
    agent_notice(context, "%s", text);
}

/* Prepares streams and snapshots before the program starts. */
static bool prepare(struct agent *agent, const struct wire_start *start)
{
    char why[AGENT_WHY];
    int error = make_board(agent);

    if (error) {
        no_system(agent, "no shared memory for the job", error);
        return false;
    }
    if (agent_snapshots_open(agent, start, why) != 0) {
        cannot_start(agent, "no snapshots", why);
        return false;
    }
    if (agent_order(agent)->verbosity > 0 && agent_recovers(agent))
        outside_tell(agent_outside(agent), tell, agent);
    if (agent_order(agent)->stdio != WIRE_STDIO_INHERIT)
        error = agent_relay_open(agent, start);
    if (!error)
        error = agent_input_open(agent);
    if (error)
        no_system(agent, "no streams for the output", error);
    return error == 0;
}

static void start(struct agent *agent, const struct wire_message *message)
{
    struct verdict verdict = {.cause = WIRE_CAUSE_PLACEMENT, .status = 1};
    int error;

    if (agent_job(agent) != JOB_NEW || agent_order(agent)->program)
        return;
    agent_set_job_id(agent, message->envelope.job);
    agent_order_take(agent, &message->start);
    if (!prepare(agent, &message->start))
        return;
    error = agent_debug_open(agent, &message->start);
    if (error) {
        no_system(agent, "no debugger", error);
        return;
    }
    if (!message->start.resume) {
        if (!agent_start_program(agent, &message->start, &verdict)) {
            agent_abort(agent, COORD_NOBODY, &verdict);
            return;
        }
        agent_relay_started(agent);
        agent_job_move(agent, JOB_SEQUENTIAL);
        if (agent_order(agent)->stdin_pid == 0)
            agent_input_rewind(agent, 0, BSPZ_DIGEST_NOTHING);
    }
    agent_limit_begin(agent);
    agent_scan(agent);
    error = agent_guest_begin(agent, &message->start);
    if (error)
        no_system(agent, "the owner of the host cannot be monitored", error);
}

/* Before process 0 has registered no snapshot is possible, and if Processor Zero is on another
 * host, bsprun asks that one; a request to stop takes effect in any case. */
static void save(struct agent *agent, const struct wire_message *message)
{
    if (agent_election_save(agent, &message->save))
        return;
    if (agent_zero(agent) && agent_zero_decides(agent))
        coord_shell_order(agent_zero(agent), message);
    else if (message->save.stop)
        agent_stop(agent, WIRE_STOP_SIGNAL, (int)message->save.signal, "");
}

/* The user's terminal signalled the program before its own terminal was resized: signals it
 * again. */
static void resize(struct agent *agent, unsigned rows, unsigned columns)
{
    const struct watched *first =
        agent_nprocs(agent) > 0 ? agent_process(agent, 0) : agent_root(agent);

    agent_relay_resize(agent, rows, columns);
    if (agent_root(agent)->state == WATCH_LIVES)
        process_signal(agent_root(agent)->pidfd, SIGWINCH);
    if (first->state == WATCH_LIVES && first->ospid != agent_root(agent)->ospid)
        process_signal(first->pidfd, SIGWINCH);
}

/* Leaves while processes may, and copies do, still run. */
static void take_leave(struct agent *agent)
{
    agent_set_dismissed(agent);
    agent_let_go(agent);
}

static void join(struct agent *agent, const struct wire_message *message)
{
    char why[160];
    int error;

    if (agent_has_peers(agent) || agent_job(agent) != JOB_NEW || agent_order(agent)->program)
        return;
    error = message->join.key.size == NET_KEY_SIZE
                ? agent_peers_open(agent, message, net_secret_of(message->join.key.data))
                : -EPROTO;
    if (error) {
        net_listen_problem(error,
                           (struct net_ports){message->join.first_port, message->join.last_port},
                           why, sizeof why);
        cannot_start(agent, "no port to listen on for other hosts", why);
    } else
        agent_say_hello(agent);
}

static void stop(struct agent *agent, const struct wire_stop *order)
{
    if (order->how == WIRE_STOP_TIMEOUT)
        agent_limit_reached(agent);
    else
        agent_stop(agent, (enum wire_stop_how)order->how, (int)order->signal, order->text);
}

/* A host that bsprun no longer hears, or which is not to go on. */
static void lose(struct agent *agent, uint32_t host)
{
    if (host == agent_host(agent))
        agent_is_cut_off(agent);
    else if (agent_zero(agent))
        coord_shell_host_lost(agent_zero(agent), host);
}

static void on_message(void *context, struct net_connection *connection,
                       const struct wire_message *message)
{
    struct agent *agent = context;

    (void)connection;
    agent_fence_heard(agent);
    if (agent_is_dismissed(agent))
        return; /* sent before bsprun sent EXIT */
    switch (message->kind) {
    case WIRE_JOIN:
        join(agent, message);
        break;
    case WIRE_START:
        start(agent, message);
        break;
    case WIRE_ELECT:
        agent_take_election(agent, message);
        break;
    case WIRE_SAVE:
        save(agent, message);
        break;
    case WIRE_TERM_RECORDED:
    case WIRE_CLOSED:
        if (agent_zero(agent))
            coord_shell_message(agent_zero(agent), COORD_BSPRUN, message);
        break;
    case WIRE_INPUT:
        agent_input_take(agent, message);
        break;
    case WIRE_STOP:
        stop(agent, &message->stop);
        break;
    case WIRE_GIVE_WAY:
        agent_guest_order(agent, message->give_way.act);
        break;
    case WIRE_QUERY_STATUS:
        agent_answer_status(agent, message->query_status.times, message->query_status.replicas);
        break;
    case WIRE_QUERY_STACKS:
        agent_stacks_take(agent, &message->query_stacks);
        break;
    case WIRE_RESIZE:
        resize(agent, message->resize.rows, message->resize.columns);
        break;
    case WIRE_ASK_PASSED:
        if (message->envelope.term == agent_term(agent))
            agent_ask_passed(agent, message->envelope.superstep);
        break;
    case WIRE_MARK:
        if (message->envelope.term == agent_term(agent) &&
            agent_snapshots_echoed(agent, message->envelope.superstep))
            agent_scan(agent);
        break;
    case WIRE_ALIVE:
        agent_send(agent, &(struct wire_message){.kind = WIRE_ALIVE});
        break;
    case WIRE_LINK_LOST:
        lose(agent, message->link_lost.peer);
        break;
    case WIRE_TAKE_OVER:
        agent_take_over(agent, message);
        break;
    case WIRE_EXIT:
        take_leave(agent);
        break;
    default:
        break;
    }
}

static void on_drained(void *context, struct net_connection *connection)
{
    (void)connection;
    agent_relay_resume(context);
}

static void on_written(void *context, struct net_connection *connection)
{
    struct agent *agent = context;

    (void)connection;
    if (agent_has_snapshots(agent) && agent_bell_runs(agent))
        agent_scan(agent); /* a snapshot may have been waiting for it */
}

static void on_closed(void *context, enum net_end end, const char *text)
{
    struct agent *agent = context;

    (void)end;
    (void)text;
    agent_set_control(agent, NULL);
    agent_let_go(agent);
}

int agent_control_open(struct agent *agent, int fd, const struct net_options *options)
{
    static const struct net_handlers handlers = {
        .message = on_message, .drained = on_drained, .written = on_written, .closed = on_closed};

    struct net_connection *connection = NULL;
    int error = net_open(agent_loop(agent), fd, options, &handlers, agent, &connection);

    agent_set_control(agent, connection);
    return error;
}
