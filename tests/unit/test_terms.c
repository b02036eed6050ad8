/* test_terms.c - one term after the other, with a Processor Zero that says itself that its term is
 * over: the next term takes its place, but not before it has said all. */
#include <check.h>
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/cells.h"
#include "bsprun/agent/core/clock.h"
#include "bsprun/agent/core/decided.h"
#include "bsprun/agent/core/fetch.h"
#include "bsprun/agent/core/known.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/output.h"
#include "bsprun/agent/core/passed.h"
#include "bsprun/agent/core/pause.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/core/timers.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/core/zero_here.h"
#include "bsprun/agent/dataspace.h"
#include "bsprun/agent/differs.h"
#include "bsprun/agent/mail.h"
#include "bsprun/agent/replica_files.h"
#include "bsprun/agent/snapshot/alone.h"
#include "bsprun/agent/snapshot/replicas.h"
#include "bsprun/agent/snapshot/snapshots.h"
#include "bsprun/agent/survive.h"
#include "bsprun/agent/terms.h"
#include "bsprun/agent/zero.h"
#include "bsprun/verdict.h"
#include "lib/net/net.h"
#include "tests/unit/suite.h"

static struct agent agent;
static struct bspz_board board;
static unsigned terms_over, orders_to_stop;
static int send_error, enter_error;
static bool elsewhere; /* Processor Zero of the next term */
static unsigned notices, aborts;

/* ---- In place of the rest of the agent ---- */

int agent_send(struct agent *at, struct wire_message *message)
{
    (void)at;
    terms_over += message->kind == WIRE_TERM_OVER;
    return send_error;
}

const struct wire_host *agent_peers_hosts(const struct agent *at, uint32_t *count)
{
    static const struct wire_host hosts[] = {{0, 1, "here"}, {1, 1, "there"}};

    (void)at;
    *count = 2;
    return hosts;
}

void agent_snapshots_configure(struct agent *at, struct coord_config *config)
{
    config->snapshots = config->recover = config->restore = true;
    config->wanted = COORD_NEVER;
    config->lineage = &at->election.lineage;
}

static void ordered(struct agent *at, const struct wire_message *message)
{
    if (message->kind == WIRE_STOP_RANKS)
        orders_to_stop++;
    ck_assert_ptr_nonnull(at->zero);
}

const char *agent_blamed(const struct agent *at)
{
    (void)at;
    return "";
}

bool agent_zero_is_here(const struct agent *at)
{
    return at == &agent && !elsewhere;
}

bool agent_zero_is_elsewhere(const struct agent *at)
{
    return at != &agent;
}

uint64_t agent_now_ns(void)
{
    return 1;
}

bool agent_recovers(const struct agent *at)
{
    return at != NULL;
}

bool agent_store_is_shared(const struct agent *at)
{
    return at != NULL;
}

uint64_t agent_snapshots_ahead(const struct agent *at)
{
    (void)at;
    return 0;
}

struct peers_placement agent_peers_placement(const struct agent *at)
{
    (void)at;
    return (struct peers_placement){.by_node = false};
}

const struct coord_load *agent_peers_loads(const struct agent *at)
{
    (void)at;
    return NULL;
}

const struct share_sums *agent_peers_shares(const struct agent *at)
{
    (void)at;
    return NULL;
}

void agent_let_write(struct agent *at, uint32_t cause, void (*end)(struct agent *agent))
{
    (void)cause;
    end(at);
}

void agent_replicas_say_first(struct agent *at, uint32_t cause, void (*end)(struct agent *agent))
{
    (void)cause;
    end(at);
}

bool agent_everything_gone(const struct agent *at)
{
    return at == &agent;
}

int agent_peers_enter(struct agent *at)
{
    return at == &agent ? enter_error : -1;
}

int agent_peers_elect(struct agent *at, const struct wire_message *message)
{
    return at == &agent && message->kind == WIRE_ELECT ? 0 : -1;
}

void agent_abort(struct agent *at, int pid, const struct verdict *verdict)
{
    ck_assert(at == &agent && pid == COORD_NOBODY);
    ck_assert_str_eq(verdict->text, "host here cannot take part in the job: Too many open files");
    aborts++;
}

void agent_notice(struct agent *at, const char *format, ...)
{
    ck_assert(at == &agent && format);
    notices++;
}

const char *verdict_limit_hint(int error)
{
    ck_assert_int_eq(error, EMFILE);
    return "";
}

/* What has nothing to do where there is no process, no link and no store. */
#define NOTHING(name, ...)                                                                         \
    void name(__VA_ARGS__)                                                                         \
    {                                                                                              \
    }
#pragma GCC diagnostic ignored "-Wunused-parameter"
NOTHING(agent_fetch_forget, struct agent *at)
NOTHING(agent_survive_forget, struct agent *at)
NOTHING(agent_dataspace_forget, struct agent *at)
NOTHING(agent_mail_forget, struct agent *at)
NOTHING(agent_forget_announced, struct agent *at)
NOTHING(agent_forget_blame, struct agent *at)
NOTHING(agent_stop_graces, struct agent *at)
NOTHING(agent_forget_passed, struct agent *at)
NOTHING(agent_job_over, struct agent *at, const struct coord_outcome *outcome)
NOTHING(agent_kill, struct agent *at)
NOTHING(agent_decided_forget, struct agent *at)
NOTHING(agent_end_replicas, struct agent *at)
NOTHING(agent_kill_members, struct agent *at, bool (*spare)(const void *agent, pid_t ospid))
NOTHING(agent_opened_look, struct agent *at)
NOTHING(agent_pause_spare, struct agent *at, struct watched *process)
NOTHING(agent_peers_drop, struct agent *at, uint32_t host, const char *complaint)
NOTHING(agent_peers_send, struct agent *at, uint32_t host, const struct wire_message *message)
NOTHING(agent_peers_send_to_zero, struct agent *at, const struct wire_message *message)
NOTHING(agent_relay_pass_on, struct agent *at)
NOTHING(agent_alone_forget, struct agent *at)
NOTHING(agent_snapshots_forget, struct agent *at)
NOTHING(agent_snapshots_rewind, struct agent *at)
NOTHING(agent_replicas_forget, struct agent *at)
NOTHING(agent_snapshots_elect, struct agent *at)
NOTHING(agent_replicas_say_no_more, struct agent *at)
NOTHING(agent_bury, struct watched *process)
NOTHING(agent_write_homes, struct agent *at)

static bool outran;
static unsigned offers;

bool agent_snapshots_outran(struct agent *at)
{
    ck_assert(at == &agent && at->job == JOB_RESTORING && at->zero && at->term == 3);
    return outran;
}

void agent_tell_held(struct agent *at)
{
    ck_assert(at == &agent);
    offers++;
}

bool agent_is_copy(const void *at, pid_t ospid)
{
    return at == NULL && ospid == 0;
}

/* ---- Terms ---- */

/* The processes of term 2 have just been made when bsprun's word of term 3 comes; one of them has
 * not ended yet. */
static void set_up(void)
{
    static const struct agent_calls calls = {.ordered = ordered};
    struct wire_message elect = {.kind = WIRE_ELECT, .envelope.term = 3};

    agent = (struct agent){.calls = &calls,
                           .peers = (struct agent_peers *)&agent /* never looked into */,
                           .snapshots = (struct agent_snapshots *)&agent,
                           .board = &board,
                           .job = JOB_RESTORING,
                           .order = {.process_limit = 1, .slots = 1, .cores = 1},
                           .host_name = "here"};
    terms_over = orders_to_stop = 0;
    send_error = enter_error = 0;
    elsewhere = false;
    notices = aborts = 0;
    ck_assert_int_eq(uv_loop_init(&agent.loop), 0);
    ck_assert_int_eq(agent_roster_open(&agent), 0);
    ck_assert_int_eq(agent_timers_open(&agent), 0);
    ck_assert_int_eq(agent_terms_open(&agent), 0);
    ck_assert_int_eq(agent_known_open(&agent), 0);
    ck_assert_int_eq(agent_zero_open(&agent), 0);
    ck_assert_int_eq(agent_enter_elected(&agent, 2), 0);
    agent_say_ready(&agent);
    *agent_root(&agent) = (struct watched){.state = WATCH_LIVES, .ospid = getpid(), .pidfd = -1};
    elect.elect.restore = true;
    agent_take_election(&agent, &elect);
    ck_assert_int_eq(agent.job, JOB_REWINDING);
    *agent_root(&agent) = (struct watched){.pidfd = -1}; /* and now it has */
}

static void tear_down(void)
{
    agent_zero_free(&agent);
    agent_terms_free(&agent);
    agent_timers_free(&agent);
    agent_known_free(&agent);
    agent_roster_free(&agent);
}

/* The end of a term is told out of Processor Zero, which nothing may free meanwhile. */
START_TEST(over_by_itself)
{
    const struct coord_shell *old = agent.zero;

    coord_shell_host_lost(agent.zero, 1);
    ck_assert_uint_eq(terms_over, 1);
    ck_assert_uint_eq(orders_to_stop, 1);
    ck_assert_ptr_eq(agent.zero, old);
    ck_assert_uint_eq(agent.term, 2);
    ck_assert_int_eq(coord_phase(coord_shell_state(old)), COORD_FAILED);
    ck_assert_uint_eq(agent.news, AGENT_TERM_OVER);
    agent_check_rewound(&agent);
    ck_assert_uint_eq(agent.term, 3);
    ck_assert_int_eq(agent.job, JOB_RESTORING);
    ck_assert_int_ne(coord_phase(coord_shell_state(agent.zero)), COORD_FAILED);
}
END_TEST

static void begin_term_3(bool is_outrun)
{
    outran = is_outrun;
    offers = 0;
    coord_shell_host_lost(agent.zero, 1);
    agent_check_rewound(&agent);
    ck_assert_int_eq(agent.job, JOB_RESTORING);
    ck_assert_uint_eq(agent.term, 3);
}

/* Too few descriptors for links to other hosts. */
static int bsprun_end;

static void fail_to_begin_term_3(struct net_connection **control)
{
    int ends[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    ck_assert_int_eq(
        net_open(&agent.loop, ends[0], NULL, &(struct net_handlers){.closed = NULL}, NULL, control),
        0);
    agent.control = *control;
    enter_error = -EMFILE;
    bsprun_end = ends[1];
    agent_check_rewound(&agent);
}

START_TEST(leaves_where_nobody_would_hear_why)
{
    struct wire_message alive = {.kind = WIRE_ALIVE};
    struct net_connection *control;

    elsewhere = true;
    fail_to_begin_term_3(&control);
    ck_assert_uint_eq(notices, 1);
    ck_assert_uint_eq(aborts, 0);
    ck_assert_int_eq(net_send(control, &alive), -ENOTCONN);
    close(bsprun_end);
    uv_run(&agent.loop, UV_RUN_NOWAIT);
}
END_TEST

START_TEST(ends_the_job_where_processor_zero_is)
{
    struct wire_message alive = {.kind = WIRE_ALIVE};
    struct net_connection *control;

    fail_to_begin_term_3(&control);
    ck_assert_uint_eq(notices, 0);
    ck_assert_uint_eq(aborts, 1);
    ck_assert_int_eq(net_send(control, &alive), 0);
    net_close(control);
    close(bsprun_end);
    uv_run(&agent.loop, UV_RUN_NOWAIT);
}
END_TEST

START_TEST(what_is_saved_here_is_offered)
{
    begin_term_3(false);
    ck_assert_uint_eq(offers, 1);
}
END_TEST

START_TEST(nothing_is_offered_where_the_job_was_further)
{
    begin_term_3(true);
    ck_assert_uint_eq(offers, 0);
}
END_TEST

/* bsprun cannot be told: the agent leaves, but that, too, comes after. */
START_TEST(nobody_to_tell)
{
    send_error = -ENOMEM;
    coord_shell_host_lost(agent.zero, 1);
    ck_assert_uint_eq(agent.news, AGENT_LEAVE);
    ck_assert_int_eq(agent.job, JOB_REWINDING);
    ck_assert_int_eq(coord_phase(coord_shell_state(agent.zero)), COORD_FAILED);
}
END_TEST

int main(void)
{
    const TTest *const tests[] = {over_by_itself,
                                  what_is_saved_here_is_offered,
                                  nothing_is_offered_where_the_job_was_further,
                                  nobody_to_tell,
                                  leaves_where_nobody_would_hear_why,
                                  ends_the_job_where_processor_zero_is};

    return suite_run_tests("terms", tests, sizeof tests / sizeof *tests, set_up, tear_down);
}
