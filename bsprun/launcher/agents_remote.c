/* agents_remote.c - agents of other hosts.
 *
 * Happy path: bsprun listens -> an agent is started by ssh, srun or a command, with JOIN on its
 * standard input: the job's key, its number, where bsprun listens -> it connects, both authenticate
 * -> it has a line.  ALIVE is exchanged.
 *
 * What can fail: it cannot be started, or does not connect in time (the output of the command is
 * shown); its line fails, or it is silent for too long: it is lost.  A host that was cut off may go
 * on computing until it notices, so its replacement waits that long.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/hosts/remote_start.h"
#include "bsprun/launcher/agents_inside.h"
#include "bsprun/launcher/start.h"
#include "bsprun/verdict.h"
#include "lib/net/addresses.h"
#include "lib/net/meet.h"
#include "lib/net/secret.h"

#define CALLS_OF_EACH 4u  /* of an agent at the same time, to different addresses of bsprun */
#define WATCHES       12u /* per heartbeat */
#define WATCH_LEAST   20u
/* So long without reading: messages may be waiting unread. */
#define LATE(bound)   ((bound) / 3 * 2)

struct remote {
    struct net_secret *key;
    struct net_listener *listener;
    uv_timer_t watch;
    uint64_t watch_ms, watched_ms; /* period, time of the last one */
    char addresses[WIRE_ADDRESSES_MAX][NET_ADDRESS_SIZE];
    const char *texts[WIRE_ADDRESSES_MAX];
    uint32_t address_count;
    char agent[PATH_MAX + 16];
    bool by_slurm;

    /* Of the JOIN that is being made.  Not on the stack, which may be small. */
    struct wire_host hosts[HOSTS_MAX];
};

/* ---- They call, and end ---- */

static void on_line_ended(struct launcher_agent *agent, enum net_end end, const char *text)
{
    struct agents *agents = agent->all;
    char why[WIRE_NAME_MAX + 256];
    bool cut = end == NET_END_CUT || end == NET_END_PROTOCOL;

    if (life_is_over(&agents->common->life))
        return;
    snprintf(why, sizeof why, "host %s was lost: the connection to its node agent %s%s%.160s",
             agent->name, cut ? "broke" : "ended", cut ? ", " : "", cut ? text : "");
    remote_start_stop(agents->start, agent->host);
    agents_lost(agent, cut ? AGENT_CUT : AGENT_ENDED, 0, why);
}

/* An agent that was given up may still connect; and one that connects after the others were told to
 * leave would not be told. */
static void on_met(void *context, const struct net_meeting *meeting)
{
    struct agents *agents = context;
    struct launcher_agent *agent = agents_of(agents, meeting->peer.host);
    const struct net_options options = {.encrypt = true, .session = &meeting->session};

    if (!agent || agent->state != AGENT_STARTING || life_is_said(&agents->common->life) ||
        meeting->peer.incarnation != agent->incarnation) {
        close(meeting->fd);
        return;
    }
    remote_start_ready(agents->start, agent->host);
    int error = agents_open_line(agent, meeting->fd, &options, on_line_ended);
    if (error) {
        notices_say(&agents->common->notices, "cannot talk to the node agent of host %s: %s",
                    agent->name, strerror(-error));
        close(meeting->fd);
    }
}

static void on_refused(void *context, bool proved, const char *text)
{
    if (proved)
        notices_say(&((struct agents *)context)->common->notices, "a node agent was refused: %s",
                    text);
}

struct net_ports agents_ports(const struct options *options)
{
    return (struct net_ports){options->hosts.first_port, options->hosts.last_port};
}

/* Descriptors are provided for so many (agents_start_all), so that strangers take none that the job
 * needs.  Hosts that are added later come a few at a time, and share what is not for a host. */
uint32_t agents_unproved_most(const struct agents *agents)
{
    return NET_UNPROVED_MAX + CALLS_OF_EACH * agents->count;
}

static int listen_for_agents(struct agents *agents)
{
    static const struct net_meeter meeter = {.met = on_met, .refused = on_refused};
    struct remote *remote = agents->remote;
    struct net_meet_options options = {
        .setup = {.key = net_secret_key(remote->key),
                  .version = WIRE_VERSION,
                  .own = {.role = NET_BSPRUN, .purpose = NET_CONTROL},
                  .accepts = NET_ACCEPTS(NET_AGENT, NET_CONTROL)},
        .handshake_ms = NET_CALL_MS, /* as long as agents try */
        .unproved_max = agents_unproved_most(agents),
        .ports = agents_ports(agents->common->options),
    };

    memcpy(options.setup.job, agents->common->saved.job, sizeof options.setup.job);
    int error =
        net_listen(&agents->common->loop, NULL, 0, &options, &meeter, agents, &remote->listener);
    if (error)
        return error;
    /* Loopback serves agents on this machine under another name. */
    int count = net_own_addresses(net_listener_port(remote->listener), true, remote->addresses,
                                  WIRE_ADDRESSES_MAX);
    if (count < 0)
        return count;
    remote->address_count = (uint32_t)count;
    for (int i = 0; i < count; i++)
        remote->texts[i] = remote->addresses[i];
    return 0;
}

/* ---- They are started ---- */

static void fill_join(struct agents *agents, struct wire_message *message, uint32_t host,
                      uint32_t incarnation)
{
    const struct remote *remote = agents->remote;

    memcpy(message->envelope.job, agents->common->saved.job, WIRE_JOB_SIZE);
    message->join.host = host;
    message->join.incarnation = incarnation;
    message->join.addresses = (struct wire_texts){remote->texts, remote->address_count};
    message->join.first_port = agents->common->options->hosts.first_port;
    message->join.last_port = agents->common->options->hosts.last_port;
    message->join.heartbeat_ms = (uint32_t)agents->common->options->hosts.heartbeat_ms;
    message->join.encrypt = agents->common->options->hosts.encrypt;
}

/* Valid until the next call. */
static struct wire_host_list list_hosts(const struct agents *agents)
{
    struct wire_host *hosts = agents->remote->hosts;

    for (uint32_t i = 0; i < agents->count; i++)
        hosts[i] = (struct wire_host){i, agents->items[i].slots, agents->items[i].name};
    return (struct wire_host_list){hosts, agents->count};
}

bool agents_send_join(struct launcher_agent *agent)
{
    struct wire_message message = {.kind = WIRE_JOIN};

    message.join.hosts = list_hosts(agent->all);
    fill_join(agent->all, &message, agent->host, agent->incarnation);
    message.join.key = (struct wire_bytes){net_secret_key(agent->all->remote->key), NET_KEY_SIZE};
    agents_send(agent, &message);
    return agent->line != NULL;
}

/* If one call starts several, each host finds its entry by name. 0 or -errno. */
static int add_to_start(struct agents *agents, const uint32_t *numbers, uint32_t count)
{
    struct remote *remote = agents->remote;
    struct remote_start_host *starts = calloc(count, sizeof *starts);
    struct bspz_buffer *buffers = calloc(count, sizeof *buffers);
    struct wire_message message = {.kind = WIRE_JOIN};
    char why[160];
    int error = starts && buffers ? 0 : -ENOMEM;

    message.join.hosts = list_hosts(agents);
    for (uint32_t i = 0; i < count && !error; i++) {
        const struct launcher_agent *agent = &agents->items[numbers[i]];

        fill_join(agents, &message, remote->by_slurm ? WIRE_HOSTS_MAX : agent->host,
                  agent->incarnation);
        error = net_join_encode(&message, remote->key, &buffers[i], why, sizeof why);
        starts[i] =
            (struct remote_start_host){agent->host, agent->given, buffers[i].data, buffers[i].size};
    }
    if (!error)
        error = remote_start_add(agents->start, starts, count);
    for (uint32_t i = 0; buffers && i < count; i++)
        net_secret_wipe_buffer(&buffers[i]);
    free(buffers);
    free(starts);
    return error;
}

bool agents_start_remotes(struct agents *agents, const uint32_t *hosts, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        agents->items[hosts[i]].incarnation++;
        agents_move(&agents->items[hosts[i]], AGENT_STARTING);
    }
    int error = count > 0 ? add_to_start(agents, hosts, count) : 0;
    if (error)
        notices_say(&agents->common->notices, "cannot start agents on other hosts: %s%s",
                    strerror(-error), verdict_limit_hint(-error));
    return error == 0;
}

/* `text` names the host, and may have several lines. */
static void on_failed(void *context, uint32_t host, const char *text)
{
    struct agents *agents = context;
    struct launcher_agent *agent = agents_of(agents, host);
    char short_text[WIRE_NAME_MAX + 64];

    if (!agent || agent->state != AGENT_STARTING || life_is_over(&agents->common->life))
        return;
    if (!agent->tried_again || agents->common->options->verbosity > 0)
        notices_say(&agents->common->notices, "%s", text);
    snprintf(short_text, sizeof short_text, "host %s: its node agent could not be started",
             agent->name);
    agents_give_up(agent, AGENT_NOT_STARTED, short_text);
}

/* The end of the agent itself is seen from its line.  `text` may have several lines. */
static void on_ended(void *context, uint32_t host, int wait_status, const char *text)
{
    struct agents *agents = context;
    struct launcher_agent *agent = agents_of(agents, host);

    (void)wait_status;
    if (!agent || life_is_over(&agents->common->life))
        return;
    for (const char *line = text; *line;) {
        size_t length = strcspn(line, "\r\n");

        if (length > 0)
            notices_say(&agents->common->notices, "host %s: %.*s", agent->name, (int)length, line);
        line += length + strspn(line + length, "\r\n");
    }
}

static int open_start(struct agents *agents)
{
    const struct options_hosts *options = &agents->common->options->hosts;
    struct remote *remote = agents->remote;
    enum launch_kind kind = launch_kind(options->launcher, options->slurm);
    const char *words[4] = {remote->agent, "--join", NULL, NULL};
    const struct remote_start_config config = {
        .kind = kind,
        .launcher = options->launcher,
        .words = words,
        .timeout_ms = options->connect_ms,
        .signals = agents->common->signals,
        .failed = on_failed,
        .ended = on_ended,
    };

    remote->by_slurm = kind == LAUNCH_SLURM;
    if (remote->by_slurm)
        words[2] = "--slurm";
    return remote_start_open(&agents->common->loop, &config, agents, &agents->start);
}

/* ---- They are watched ---- */

static void give_up_silent(struct launcher_agent *agent)
{
    char text[WIRE_NAME_MAX + 96];

    snprintf(text, sizeof text, "host %s was lost: nothing has been heard from it for %g s",
             agent->name, (double)agent->all->common->options->hosts.heartbeat_ms / 1e3);
    remote_start_stop(agent->all->start, agent->host);
    agents_give_up(agent, AGENT_SILENT, text);
}

/* If bsprun itself was delayed, silence proves nothing. */
static void on_watch(uv_timer_t *timer)
{
    struct agents *agents = timer->data;
    struct remote *remote = agents->remote;
    struct wire_message alive = {.kind = WIRE_ALIVE};
    uint64_t now = launcher_now_ms(), silence = agents->common->options->hosts.heartbeat_ms;
    bool late = agents->paused || now - remote->watched_ms > LATE(silence);

    remote->watched_ms = now;
    agents->calls->watched(agents->context); /* detects that this machine was suspended */
    for (uint32_t i = 0; i < agents->count; i++) {
        struct launcher_agent *agent = &agents->items[i];

        if (agent->local || !agent->line)
            continue;
        if (late)
            agent->heard_ms = now;
        else if (now - agent->heard_ms > silence)
            give_up_silent(agent);
        agents_send(agent, &alive);
        agent->calls++;
    }
}

/* ---- Life ---- */

/* 0 or -errno. */
int agents_open_remote(struct agents *agents)
{
    struct remote *remote;
    bool all_here = true;

    if (!agents_has_hosts(agents))
        return 0;
    for (uint32_t i = 0; i < agents->count; i++)
        all_here = all_here && agents->items[i].local;
    remote = agents->remote = calloc(1, sizeof *remote);
    if (!remote)
        return -ENOMEM;
    uv_timer_init(&agents->common->loop, &remote->watch);
    remote->watch.data = agents;
    remote->key = net_secret_make();
    if (!remote->key)
        return -ENOMEM;
    if (all_here)
        return 0;
    if (!start_agent_path(remote->agent, sizeof remote->agent))
        return -ENAMETOOLONG;
    int error = listen_for_agents(agents);
    if (!error)
        error = open_start(agents);
    if (error)
        return error;
    remote->watch_ms = agents->common->options->hosts.heartbeat_ms / WATCHES;
    if (remote->watch_ms < WATCH_LEAST)
        remote->watch_ms = WATCH_LEAST;
    remote->watched_ms = launcher_now_ms();
    return uv_timer_start(&remote->watch, on_watch, remote->watch_ms, remote->watch_ms);
}

void agents_close_remote(struct agents *agents)
{
    struct remote *remote = agents->remote;

    if (!remote)
        return;
    uv_close((uv_handle_t *)&remote->watch, NULL);
    net_listener_close(remote->listener);
    if (agents->start)
        remote_start_close(agents->start, NULL);
    remote->listener = NULL;
    agents->start = NULL;
    net_secret_free(remote->key);
    remote->key = NULL;
}
