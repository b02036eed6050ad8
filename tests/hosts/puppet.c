/* puppet.c - a node agent without processes that takes part in a job as it should, until it does
 * what it is told to: PUPPET=WHAT@TERM, when that term runs and there is a snapshot to go back to.
 *
 * It is started in place of bspnode on the last host of a job whose other hosts have room for all
 * processes.  What can be told to it is in `tricks`. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "bsprun/link/link.h"
#include "lib/net/meet.h"
#include "lib/net/net.h"
#include "lib/net/secret.h"

#define HOSTS_MAX 16

static uv_loop_t loop;
static struct wire_message joined;
static uint32_t own, term, zero;
static struct net_meet_options meet;
static struct net_connection *control;
static struct links *links;
static struct link_bell bell = LINK_BELL_INIT;
static char told[64];
static uint32_t told_term;

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "puppet: %s\n", what);
    exit(1);
}

/* ---- What it says ---- */

static void to_bsprun(struct wire_message *message, uint32_t of_term)
{
    memcpy(message->envelope.job, joined.envelope.job, sizeof message->envelope.job);
    message->envelope.term = of_term;
    if (control && net_send(control, message) != 0)
        fail("bsprun cannot be told");
}

static void to_host(uint32_t host, struct wire_message *message, uint32_t of_term)
{
    memcpy(message->envelope.job, joined.envelope.job, sizeof message->envelope.job);
    message->envelope.term = of_term;
    if (links && links_send(links, host, message) != 0)
        fail("another agent cannot be told");
}

static void to_zero(struct wire_message message)
{
    *wire_sender(&message) = own;
    to_host(zero, &message, term);
}

/* ---- Tricks ---- */

/* To an agent that is not Processor Zero, which looks at each message by itself, too. */
static void asks_for_a_file(struct wire_message *message)
{
    *message = (struct wire_message){.kind = WIRE_FETCH};
    message->fetch.path = "";
}

static void old_message(void)
{
    struct wire_message message;

    asks_for_a_file(&message);
    to_host(own - 1, &message, term - 1);
}

static void foreign_message(void)
{
    struct wire_message message;

    asks_for_a_file(&message);
    memset(message.envelope.job, 7, sizeof message.envelope.job);
    message.envelope.term = term;
    links_send(links, own - 1, &message);
}

/* As if it were bsprun. */
static void hands_out_a_term(void)
{
    struct wire_host hosts[] = {{own, 1, "puppet"}};
    struct wire_message message = {.kind = WIRE_ELECT};

    message.elect.elected = own;
    message.elect.hosts = (struct wire_host_list){hosts, 1};
    message.elect.restore = true;
    to_host(zero, &message, term);
}

/* As if it were Processor Zero. */
static void commands_others(void)
{
    struct wire_message message = {.kind = WIRE_STOP_RANKS};

    to_host(zero == 0 ? own - 1 : 0, &message, term);
}

static void commands_zero(void)
{
    struct wire_message message = {.kind = WIRE_STOP_RANKS};

    to_host(zero, &message, term);
}

static void old_output(void)
{
    struct wire_message message = {.kind = WIRE_OUTPUT};
    static const char text[] = "written in a term that is over\n";

    message.output.pid = 0;
    message.output.stream = 1;
    message.output.data = (struct wire_bytes){text, sizeof text - 1};
    to_bsprun(&message, term - 1);
}

static void commits(uint32_t of_term)
{
    struct wire_message message = {.kind = WIRE_SAVED, .envelope.superstep = 4711};

    message.saved.superstep = 4711;
    to_bsprun(&message, of_term);
}

static void old_commit(void)
{
    commits(term - 1);
}

static void commit_of_another(void)
{
    commits(term);
}

static void ends(uint32_t of_term)
{
    struct wire_message message = {.kind = WIRE_ENDED};

    message.ended.status = 42;
    message.ended.pid = -1;
    message.ended.text = message.ended.table = "";
    to_bsprun(&message, of_term);
}

static void old_end(void)
{
    ends(term - 1);
}

static void end_of_another(void)
{
    ends(term);
}

static void faults(uint32_t of_term)
{
    struct wire_message message = {.kind = WIRE_TERM_OVER};

    message.term_over.status = 1;
    message.term_over.cause = WIRE_CAUSE_RANK_SIGNALLED;
    message.term_over.text = "made up";
    to_bsprun(&message, of_term);
}

static void old_fault(void)
{
    faults(term - 1);
}

static void fault_of_another(void)
{
    faults(term);
}

static void chooses(uint32_t of_term)
{
    struct wire_message message = {.kind = WIRE_CHOSEN};

    message.chosen.name.term = 1;
    to_bsprun(&message, of_term);
}

static void old_choice(void)
{
    chooses(term - 1);
}

static void choice_of_another(void)
{
    chooses(term);
}

/* After which nothing would be rolled back. */
static void closes(uint32_t of_term)
{
    struct wire_message message = {.kind = WIRE_CLOSING};

    to_bsprun(&message, of_term);
}

static void old_closing(void)
{
    closes(term - 1);
}

static void closing_of_another(void)
{
    closes(term);
}

static void asks_a_lot(void)
{
    struct wire_message message = {.kind = WIRE_FETCH};

    for (uint32_t i = 0; i < 1000; i++) {
        message.fetch.request = i;
        message.fetch.path = i % 2 ? "/" : "";
        message.fetch.thing = i % (WIRE_THING_LAST + 1);
        to_host(zero, &message, term);
    }
}

static const struct {
    const char *name;
    void (*play)(void);
} tricks[] = {
    {"old-message", old_message},
    {"foreign-message", foreign_message},
    {"hands-out-a-term", hands_out_a_term},
    {"commands-others", commands_others},
    {"commands-zero", commands_zero},
    {"old-output", old_output},
    {"old-commit", old_commit},
    {"commit-of-another", commit_of_another},
    {"old-end", old_end},
    {"end-of-another", end_of_another},
    {"old-fault", old_fault},
    {"fault-of-another", fault_of_another},
    {"old-choice", old_choice},
    {"choice-of-another", choice_of_another},
    {"old-closing", old_closing},
    {"closing-of-another", closing_of_another},
    {"asks-a-lot", asks_a_lot},
};

/* bsprun says its name to the user, behind whatever it may have done. */
static void play(void)
{
    struct wire_message notice = {.kind = WIRE_NOTICE};

    if (term != told_term)
        return;
    for (size_t i = 0; i < sizeof tricks / sizeof *tricks; i++)
        if (strcmp(told, tricks[i].name) == 0) {
            tricks[i].play();
            notice.notice.text = tricks[i].name;
            to_bsprun(&notice, term);
            return;
        }
    fail("no such trick");
}

/* ---- What a good agent does ---- */

static void obey(void *context, uint32_t host, const struct wire_message *message)
{
    struct wire_message idle = {.kind = WIRE_PASSED, .envelope.superstep = WIRE_NEVER};

    (void)context;
    (void)host;
    switch (message->kind) {
    case WIRE_RESTORE:
        to_zero((struct wire_message){.kind = WIRE_STAGED});
        break;
    case WIRE_PLACE:
    case WIRE_PASS:
        to_zero((struct wire_message){.kind = WIRE_RANKS_READY});
        break;
    case WIRE_RUN:
        idle.passed.host = own;
        to_bsprun(&idle, term);
        if (term > 1)
            play();
        break;
    case WIRE_COMMITTED:
        to_zero((struct wire_message){.kind = WIRE_KNOWN,
                                      .envelope.superstep = message->envelope.superstep});
        if (term == 1 && message->envelope.superstep == 1)
            play();
        break;
    case WIRE_STOP_RANKS:
        if (!message->stop_ranks.again)
            to_zero((struct wire_message){.kind = WIRE_RANKS_STOPPED, .ranks_stopped.table = ""});
        break;
    case WIRE_END:
        idle = (struct wire_message){.kind = WIRE_REPORT};
        idle.report.host = own;
        to_bsprun(&idle, term);
        break;
    default:
        break;
    }
}

static void lost(void *context, uint32_t host, const char *text)
{
    (void)context;
    fprintf(stderr, "puppet: host %u is lost: %s\n", host, text);
}

static void elect(const struct wire_message *message)
{
    static const struct links_calls calls = {.message = obey, .lost = lost};
    struct links_peer peers[HOSTS_MAX];
    struct links_setup setup = {
        .loop = &loop, .host = own, .peers = peers, .meet = &meet, .bell = &bell};
    struct wire_message ready = {.kind = WIRE_HOST_READY};
    const struct wire_elect *elect = &message->elect;

    links_close(links);
    term = message->envelope.term;
    zero = elect->elected;
    meet.setup.own.purpose = NET_DATA;
    meet.setup.own.incarnation = term;
    meet.setup.wanted =
        (struct net_identity){.role = NET_AGENT, .host = NET_ANY, .incarnation = NET_ANY};
    for (uint32_t i = 0; i < elect->hosts.count && i < HOSTS_MAX; i++)
        if (elect->hosts.items[i].host != own)
            peers[setup.peer_count++] =
                (struct links_peer){elect->hosts.items[i].host, elect->addresses.items[i]};
    setup.encrypt = joined.join.encrypt;
    setup.heartbeat_ms = joined.join.heartbeat_ms;
    setup.outputs[0] = setup.outputs[1] = -1;
    links = links_open(&setup, &calls, NULL);
    if (!links)
        fail("no links");
    ready.host_ready.slots = 1;
    ready.host_ready.shared = true;
    to_zero(ready);
}

static void on_control(void *context, struct net_connection *connection,
                       const struct wire_message *message)
{
    struct wire_message alive = {.kind = WIRE_ALIVE};

    (void)context;
    (void)connection;
    if (message->kind == WIRE_ELECT)
        elect(message);
    else if (message->kind == WIRE_ALIVE)
        to_bsprun(&alive, term);
    else if (message->kind == WIRE_EXIT)
        exit(0);
}

static void on_closed(void *context, enum net_end how, const char *text)
{
    (void)context;
    (void)how;
    (void)text;
    exit(0);
}

static void hello(void)
{
    struct wire_message message = {.kind = WIRE_HELLO};
    const char *version = getenv("PUPPET_VERSION");
    struct utsname machine;

    uname(&machine);
    message.hello.host = own;
    message.hello.version = version ? version : BSPZ_VERSION;
    message.hello.name = "puppet";
    message.hello.os_pid = (uint32_t)getpid();
    message.hello.cores = 1;
    message.hello.machine = machine.machine;
    message.hello.addresses = ""; /* it calls all others, which have lower numbers */
    to_bsprun(&message, 0);
}

static void on_met(void *context, const struct net_meeting *meeting)
{
    static const struct net_handlers handlers = {.message = on_control, .closed = on_closed};
    const struct net_options options = {.encrypt = true, .session = &meeting->session};

    (void)context;
    if (net_open(&loop, meeting->fd, &options, &handlers, NULL, &control) != 0)
        fail("no connection to bsprun");
    hello();
}

static void on_failed(void *context, const char *text)
{
    (void)context;
    fail(text);
}

int main(void)
{
    static const struct net_meeter meeter = {.met = on_met, .failed = on_failed};
    const char *trick = getenv("PUPPET"), *name = getenv("BSPZERO_HOST_NAME");
    struct net_secret *secret;
    char text[WIRE_ERROR_SIZE];
    struct net_call *call;

    if (!trick || sscanf(trick, "%63[^@]@%u", told, &told_term) != 2 || !name)
        fail("PUPPET is not WHAT@TERM");
    signal(SIGPIPE, SIG_IGN);
    if (net_join_wait(STDIN_FILENO, 60000, &joined, &secret, text, sizeof text) < 0)
        fail(text);
    own = (uint32_t)net_join_host(&joined.join, name);
    meet.setup = (struct handshake_setup){
        .key = net_secret_key(secret),
        .version = WIRE_VERSION,
        .own = {NET_AGENT, own, joined.join.incarnation, NET_CONTROL, 0},
        .wanted = {.role = NET_BSPRUN, .host = NET_ANY, .incarnation = NET_ANY}};
    memcpy(meet.setup.job, joined.envelope.job, sizeof meet.setup.job);
    uv_loop_init(&loop);
    if (net_call(&loop, joined.join.addresses.items, joined.join.addresses.count, &meet, &meeter,
                 NULL, &call) != 0)
        fail("bsprun cannot be called");
    uv_run(&loop, UV_RUN_DEFAULT);
    return 0;
}
