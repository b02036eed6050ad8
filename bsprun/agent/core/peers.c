/* peers.c - the other hosts of a job: the listener, the links of the term. */
#include "bsprun/agent/core/peers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/early_links.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/output.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/starter.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/link/link.h"
#include "bsprun/process.h"
#include "lib/net/meet.h"
#include "lib/net/secret.h"

#define CALLS_OF_EACH     2u /* simultaneously, to different addresses */
#define DESCRIPTORS_EACH  (CALLS_OF_EACH + PEERS_ADDRESSES) /* at most, while a link is made */
#define DESCRIPTORS_SPARE 128u                              /* for all but links */
#define CALL_LEAST_MS     2000u                             /* for making a link */
#define PROOF_MOST_MS     60000u /* for a caller that may be a stranger */

#define PEERS_ADDRESSES   16

struct agent_peers {
    struct net_secret *secret;
    struct net_meet_options meet;
    struct net_listener *listener;
    char addresses[WIRE_PATH_MAX];
    bool encrypt; /* the links */
    uint32_t heartbeat_ms;

    /* The newest ELECT. */
    uint32_t elected_term, zero_host, host_count;
    struct peers_placement placement;
    struct wire_move *moves; /* those of the placement */
    struct wire_host *hosts;
    struct coord_load *loads; /* by host; NULL: unknown */
    struct share_sums *shares;
    char **names, **host_addresses;

    struct links *links; /* NULL: the term has not begun here */
    uint32_t links_term;
    bool lost[WIRE_HOSTS_MAX]; /* in this term */
    bool zero_given_up;        /* do not send to Processor Zero of the other host any more */
    struct early_links early;
};

/* ---- Links ---- */

static void on_met(void *context, const struct net_meeting *meeting)
{
    struct agent *agent = context;
    struct agent_peers *peers = agent->peers;
    uint32_t term = meeting->peer.incarnation;

    if (peers->links && term == peers->links_term)
        links_take(peers->links, meeting->peer.host, meeting->fd, &meeting->session);
    else if (term > agent_term(agent) || (!peers->links && term == peers->elected_term))
        early_keep(&peers->early, meeting);
    else
        close(meeting->fd); /* of an older term */
}

/* Whether the text begins with an address on which this agent listens, with whatever port. */
static bool is_from_here(const struct agent_peers *peers, const char *text)
{
    for (const char *own = peers->addresses; *own;) {
        size_t length = strcspn(own, " "), host = length;

        while (host > 0 && own[host - 1] != ':')
            host--;
        if (host > 0 && strncmp(text, own, host) == 0)
            return true;
        own += length + (own[length] == ' ');
    }
    return strncmp(text, "127.", strlen("127.")) == 0 ||
           strncmp(text, "[::1]", strlen("[::1]")) == 0;
}

/* Hosts have addresses in common, that of loopback or of a bridge for containers: a call to that of
 * another host may reach this agent or one beside it. */
static bool is_astray(const struct agent_peers *peers, const char *text)
{
    return is_from_here(peers, text) && strstr(text, " wants the agent of host ");
}

static void on_refused(void *context, bool proved, const char *text)
{
    const struct agent *agent = context;

    if (proved && !is_astray(agent->peers, text))
        agent_notice(context, "%s", text);
}

void agent_peers_drop(struct agent *agent, uint32_t host, const char *complaint)
{
    if (agent->peers && agent->peers->links)
        links_break(agent->peers->links, host, complaint);
}

void agent_peers_note_lost(struct agent *agent, uint32_t host)
{
    if (agent->peers && host < WIRE_HOSTS_MAX)
        agent->peers->lost[host] = true;
}

bool agent_peers_is_lost(const struct agent *agent, uint32_t host)
{
    return agent->peers && host < WIRE_HOSTS_MAX && agent->peers->lost[host];
}

void agent_peers_lose(struct agent *agent, uint32_t host, const char *why)
{
    agent_peers_note_lost(agent, host);
    agent_peers_drop(agent, host, why);
}

/* ---- Listening ---- */

static void list_own_addresses(struct agent_peers *peers)
{
    char texts[PEERS_ADDRESSES][NET_ADDRESS_SIZE];
    int count = net_own_addresses(net_listener_port(peers->listener), true, texts, PEERS_ADDRESSES);
    size_t used = 0;

    for (int i = 0; i < count && used + NET_ADDRESS_SIZE + 1 < sizeof peers->addresses; i++)
        used += (size_t)snprintf(peers->addresses + used, sizeof peers->addresses - used, "%s%s",
                                 i > 0 ? " " : "", texts[i]);
}

static void set_up_meeting(struct agent_peers *peers, uint32_t host, const unsigned char *job)
{
    peers->meet.setup = (struct handshake_setup){
        .key = net_secret_key(peers->secret),
        .version = WIRE_VERSION,
        .own = {.role = NET_AGENT, .host = host, .purpose = NET_DATA},
        .wanted = {.role = NET_AGENT, .host = NET_ANY, .incarnation = NET_ANY},
        .accepts = NET_ACCEPTS(NET_AGENT, NET_DATA)};
    memcpy(peers->meet.setup.job, job, sizeof peers->meet.setup.job);
}

/* A host that is silent for less than the heartbeat is not lost, whatever it is doing. */
static uint32_t proof_ms(uint32_t heartbeat_ms)
{
    if (heartbeat_ms < NET_HANDSHAKE_MS)
        return NET_HANDSHAKE_MS;
    return heartbeat_ms < PROOF_MOST_MS ? heartbeat_ms : PROOF_MOST_MS;
}

int agent_peers_open(struct agent *agent, const struct wire_message *join,
                     struct net_secret *secret)
{
    static const struct net_meeter meeter = {.met = on_met, .refused = on_refused};
    struct agent_peers *peers = secret ? calloc(1, sizeof *peers) : NULL;
    int64_t host = net_join_host(&join->join, agent_host_name(agent));
    int error;

    if (!peers) {
        net_secret_free(secret);
        return -ENOMEM;
    }
    agent->peers = peers;
    peers->secret = secret;
    early_begin(&peers->early);
    if (host < 0)
        return (int)host;
    agent_set_host(agent, (uint32_t)host);
    agent_set_job_id(agent, join->envelope.job);
    peers->encrypt = join->join.encrypt;
    peers->meet.ports = (struct net_ports){join->join.first_port, join->join.last_port};
    peers->heartbeat_ms = join->join.heartbeat_ms;
    set_up_meeting(peers, agent_host(agent), agent_job_id(agent));
    peers->meet.handshake_ms = proof_ms(peers->heartbeat_ms);
    peers->meet.unproved_max = NET_UNPROVED_MAX + CALLS_OF_EACH * join->join.hosts.count;
    error = net_listen(agent_loop(agent), NULL, 0, &peers->meet, &meeter, agent, &peers->listener);
    if (!error)
        list_own_addresses(peers);
    return error;
}

const char *agent_peers_addresses(const struct agent *agent)
{
    return agent->peers ? agent->peers->addresses : "";
}

/* ---- Terms ---- */

static void forget_hosts(struct agent_peers *peers)
{
    for (uint32_t i = 0; i < peers->host_count; i++) {
        free(peers->names[i]);
        free(peers->host_addresses[i]);
    }
    free(peers->hosts);
    free(peers->loads);
    free(peers->shares);
    free(peers->moves);
    free(peers->names);
    free(peers->host_addresses);
    peers->hosts = NULL;
    peers->loads = NULL;
    peers->shares = NULL;
    peers->moves = NULL;
    peers->names = peers->host_addresses = NULL;
    peers->host_count = 0;
}

static void close_links(struct agent *agent)
{
    links_close(agent->peers->links);
    agent->peers->links = NULL;
}

/* Takes the loads of all hosts.  False: no memory. */
static bool take_loads(struct agent_peers *peers, const struct wire_elect *elect)
{
    uint32_t count = elect->hosts.count;

    if (elect->busy.count != count || elect->speeds.count != count)
        return true;
    peers->loads = calloc((size_t)count + 1, sizeof *peers->loads);
    for (uint32_t i = 0; peers->loads && i < count; i++)
        peers->loads[i] =
            (struct coord_load){(uint32_t)elect->busy.items[i], (uint32_t)elect->speeds.items[i]};
    return peers->loads != NULL;
}

/* Takes what earlier jobs have seen of hosts.  False: no memory. */
static bool take_shares(struct agent_peers *peers, const struct wire_elect *elect)
{
    if (elect->shares.count == 0)
        return true;
    peers->shares = calloc(elect->hosts.count, sizeof *peers->shares);
    for (uint32_t i = 0; peers->shares && i < elect->hosts.count; i++)
        for (uint32_t j = 0; j < elect->shares.count; j++) {
            const struct wire_share *share = &elect->shares.items[j];
            if (share->host == elect->hosts.items[i].host)
                peers->shares[i] = (struct share_sums){share->seconds, share->sum, share->squares};
        }
    return peers->shares != NULL;
}

/* Takes how processes are to be placed.  False: no memory. */
static bool take_placement(struct agent_peers *peers, const struct wire_elect *elect)
{
    uint32_t count = elect->moves.count;

    peers->moves = calloc((size_t)count + 1, sizeof *peers->moves);
    if (!peers->moves)
        return false;
    for (uint32_t i = 0; i < count; i++)
        peers->moves[i] = elect->moves.items[i];
    peers->placement = (struct peers_placement){elect->by_node, elect->anew, {peers->moves, count}};
    return true;
}

int agent_peers_elect(struct agent *agent, const struct wire_message *message)
{
    struct agent_peers *peers = agent->peers;
    const struct wire_elect *elect = &message->elect;
    uint32_t count = elect->hosts.count;

    if (!peers)
        return 0;
    links_last_words(peers->links);
    close_links(agent);
    forget_hosts(peers);
    peers->zero_host = elect->elected;
    peers->hosts = calloc((size_t)count + 1, sizeof *peers->hosts);
    peers->names = calloc((size_t)count + 1, sizeof *peers->names);
    peers->host_addresses = calloc((size_t)count + 1, sizeof *peers->host_addresses);
    if (!peers->hosts || !peers->names || !peers->host_addresses || !take_loads(peers, elect) ||
        !take_shares(peers, elect) || !take_placement(peers, elect))
        return -ENOMEM;
    peers->host_count = count;
    for (uint32_t i = 0; i < count; i++) {
        peers->hosts[i] = elect->hosts.items[i];
        peers->hosts[i].name = peers->names[i] = strdup(elect->hosts.items[i].name);
        peers->host_addresses[i] =
            strdup(i < elect->addresses.count ? elect->addresses.items[i] : "");
        if (!peers->names[i] || !peers->host_addresses[i])
            return -ENOMEM;
    }
    peers->elected_term = message->envelope.term;
    peers->zero_given_up = false;
    memset(peers->lost, 0, sizeof peers->lost);
    return 0;
}

int agent_peers_enter(struct agent *agent)
{
    struct agent_peers *peers = agent->peers;
    struct links_peer *others;
    struct links_setup setup;
    struct early early;
    int error;

    if (!peers)
        return 0;
    others = calloc((size_t)peers->host_count + 1, sizeof *others);
    if (!others)
        return -ENOMEM;
    process_allow_descriptors((uint64_t)peers->host_count * DESCRIPTORS_EACH + DESCRIPTORS_SPARE);
    peers->meet.setup.own.incarnation = agent_term(agent);
    peers->meet.call_ms = peers->heartbeat_ms;
    if (peers->heartbeat_ms > 0 && peers->heartbeat_ms < CALL_LEAST_MS)
        peers->meet.call_ms = CALL_LEAST_MS;
    peers->meet.handshake_ms = peers->meet.call_ms; /* each address has all of the time */
    setup = (struct links_setup){
        .loop = agent_loop(agent),
        .host = agent_host(agent),
        .peers = others,
        .meet = &peers->meet,
        .encrypt = peers->encrypt,
        .heartbeat_ms = peers->heartbeat_ms,
        .bell = &agent->link_bell,
        .spin_ns = AGENT_LINK_SPIN_NS,
        .outputs = {agent_relay_reader(agent, 1), agent_relay_reader(agent, 2)}};
    for (uint32_t i = 0; i < peers->host_count; i++)
        if (peers->hosts[i].host != agent_host(agent))
            others[setup.peer_count++] =
                (struct links_peer){peers->hosts[i].host, peers->host_addresses[i]};
    peers->links = links_open(&setup, &agent_calls(agent)->links, agent);
    error = peers->links ? 0 : -errno;
    free(others);
    if (error)
        return error;
    peers->links_term = agent_term(agent);
    while (early_take(&peers->early, peers->links_term, &early)) {
        links_take(peers->links, early.host, early.fd, &early.session);
        explicit_bzero(&early, sizeof early);
    }
    return 0;
}

void agent_peers_begin(struct agent *agent)
{
    pthread_mutex_init(&agent->link_bell.lock, NULL);
}

struct link_bell *agent_link_bell(struct agent *agent)
{
    return &agent->link_bell;
}

void agent_peers_leave(struct agent *agent, const char *why)
{
    for (uint32_t i = 0; i < agent->peers->host_count; i++)
        if (agent->peers->hosts[i].host != agent_host(agent))
            agent_peers_drop(agent, agent->peers->hosts[i].host, why);
}

void agent_peers_succeed(struct agent *agent, uint32_t host)
{
    agent->peers->zero_host = host;
    agent->peers->zero_given_up = false;
}

const struct wire_host *agent_peers_hosts(const struct agent *agent, uint32_t *count)
{
    *count = agent->peers ? agent->peers->host_count : 0;
    return agent->peers ? agent->peers->hosts : NULL;
}

const struct wire_host *agent_peers_find(const struct agent *agent, uint32_t host)
{
    uint32_t count;
    const struct wire_host *hosts = agent_peers_hosts(agent, &count);

    for (uint32_t i = 0; i < count; i++)
        if (hosts[i].host == host)
            return &hosts[i];
    return NULL;
}

struct peers_placement agent_peers_placement(const struct agent *agent)
{
    return agent->peers->placement;
}

const struct net_meet_options *agent_peers_meeting(const struct agent *agent)
{
    return &agent->peers->meet;
}

uint32_t agent_peers_heartbeat_ms(const struct agent *agent)
{
    return agent->peers->heartbeat_ms;
}

const struct share_sums *agent_peers_shares(const struct agent *agent)
{
    return agent->peers->shares;
}

const struct coord_load *agent_peers_loads(const struct agent *agent)
{
    return agent->peers->loads;
}

bool agent_peers_is_zero(const struct agent *agent, uint32_t host)
{
    return agent->peers->zero_host == host;
}

bool agent_zero_is_here(const struct agent *agent)
{
    return !agent->peers || agent->peers->zero_host == agent_host(agent);
}

bool agent_zero_is_elsewhere(const struct agent *agent)
{
    return agent->peers && agent_control(agent) && agent->peers->links &&
           agent->peers->zero_host != agent_host(agent) && !agent->peers->zero_given_up;
}

void agent_peers_give_up_zero(struct agent *agent)
{
    if (agent->peers)
        agent->peers->zero_given_up = true;
}

static struct wire_message enveloped(const struct agent *agent, const struct wire_message *message)
{
    struct wire_message copy = *message;

    agent_envelope(agent, &copy.envelope);
    return copy;
}

void agent_peers_put(struct agent *agent, uint32_t host, const struct wire_message *message)
{
    struct wire_message copy = enveloped(agent, message);

    if (agent->peers && agent->peers->links)
        links_put(agent->peers->links, host, &copy);
}

void agent_peers_put_done(struct agent *agent)
{
    if (agent->peers && agent->peers->links)
        links_put_done(agent->peers->links);
}

void agent_peers_use_express(struct agent *agent, const struct links_express *express)
{
    if (agent->peers && agent->peers->links)
        links_use_express(agent->peers->links, express);
}

void agent_peers_send(struct agent *agent, uint32_t host, const struct wire_message *message)
{
    struct wire_message copy = enveloped(agent, message);

    if (!agent->peers || !agent->peers->links)
        return;
    if (links_send(agent->peers->links, host, &copy) != 0)
        agent_peers_drop(agent, host, "no memory for what is to be sent to it");
}

void agent_peers_send_to_zero(struct agent *agent, const struct wire_message *message)
{
    if (agent_zero_is_elsewhere(agent))
        agent_peers_send(agent, agent->peers->zero_host, message);
}

uint64_t agent_peers_waiting(const struct agent *agent, uint32_t host)
{
    return agent->peers->links ? links_waiting(agent->peers->links, host) : 0;
}

void agent_peers_measure(const struct agent *agent, uint64_t superstep, struct wire_arrive *arrive)
{
    if (agent->peers && agent->peers->links)
        links_measure(agent->peers->links, superstep, arrive);
}

int agent_peers_mirror(struct agent *agent, const struct links_replicas *replicas)
{
    return agent->peers && agent->peers->links && agent_here(agent) > 0
               ? links_mirror(agent->peers->links, agent_board_fd(agent), agent_nprocs(agent),
                              replicas)
               : 0;
}

bool agent_peers_sure(const struct agent *agent, uint64_t superstep, bool arrived)
{
    return !agent->peers || !agent->peers->links ||
           links_sure(agent->peers->links, superstep, arrived);
}

bool agent_peers_in_vain(const struct agent *agent, uint32_t *pid)
{
    return agent->peers && agent->peers->links && links_in_vain(agent->peers->links, pid);
}

void agent_peers_know_stop(struct agent *agent, uint64_t superstep, uint64_t round)
{
    if (agent->peers && agent->peers->links)
        links_know_stop(agent->peers->links, superstep, round);
}

bool agent_peers_owe(const struct agent *agent)
{
    return agent->peers && agent->peers->links && links_owe(agent->peers->links);
}

/* ---- The end ---- */

void agent_peers_close(struct agent *agent)
{
    struct agent_peers *peers = agent->peers;

    if (!peers)
        return;
    close_links(agent);
    net_listener_close(peers->listener);
    peers->listener = NULL;
    early_end(&peers->early);
}

void agent_peers_free(struct agent *agent)
{
    if (!agent->peers)
        return;
    forget_hosts(agent->peers);
    net_secret_free(agent->peers->secret);
    free(agent->peers);
    agent->peers = NULL;
}
