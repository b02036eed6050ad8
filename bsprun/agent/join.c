/* join.c - how a node agent joins a job of several hosts.
 *
 * On bsprun's own host, JOIN is the first message on the connection it inherits.  On other hosts
 * JOIN is read from the standard input; it says where bsprun listens, and the agent connects.  From
 * then on only the connection counts, and standard input may end.
 *
 * What can fail: no JOIN, or other input; bsprun cannot be reached or fails to authenticate.  Then
 * the agent prints the reason on stderr, which its starter passes on, and exits.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/agent/control.h"
#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/fence.h"
#include "bsprun/agent/join.h"
#include "bsprun/agent/loop.h"
#include "lib/net/meet.h"
#include "lib/net/net.h"
#include "lib/net/secret.h"

#define JOIN_MS 60000u /* timeout for JOIN */

static void give_up(struct agent *agent, const char *what, const char *why)
{
    dprintf(STDERR_FILENO, "bspnode on %s: %s: %s\n", agent_host_name(agent), what, why);
    agent_cannot_begin(agent);
    agent_close(agent);
}

static void on_met(void *context, const struct net_meeting *meeting)
{
    struct agent *agent = context;
    const struct net_options options = {.encrypt = true, .session = &meeting->session};
    int error = agent_control_open(agent, meeting->fd, &options);

    if (error) {
        close(meeting->fd);
        give_up(agent, "no connection to bsprun", strerror(-error));
        return;
    }
    agent_say_hello(agent);
    error = agent_fence_begin(agent);
    if (error)
        give_up(agent, "bsprun cannot be watched", strerror(-error));
}

static void on_failed(void *context, const char *text)
{
    give_up(context, "bsprun cannot be reached", text);
}

static int call_bsprun(struct agent *agent, const struct wire_join *join)
{
    static const struct net_meeter meeter = {.met = on_met, .failed = on_failed};
    struct net_meet_options options = *agent_peers_meeting(agent);
    struct net_call *call;

    options.setup.own = (struct net_identity){.role = NET_AGENT,
                                              .host = agent_host(agent),
                                              .incarnation = join->incarnation,
                                              .purpose = NET_CONTROL};
    options.handshake_ms = NET_CALL_MS;
    options.setup.wanted =
        (struct net_identity){.role = NET_BSPRUN, .host = NET_ANY, .incarnation = NET_ANY};
    return net_call(agent_loop(agent), join->addresses.items, join->addresses.count, &options,
                    &meeter, agent, &call);
}

bool agent_join(struct agent *agent)
{
    struct wire_message message;
    struct net_secret *secret;
    char text[WIRE_ERROR_SIZE];
    int error = net_join_wait(STDIN_FILENO, JOIN_MS, &message, &secret, text, sizeof text);

    if (error < 0) {
        give_up(agent, "standard input", text);
        return false;
    }
    error = agent_peers_open(agent, &message, secret);
    if (error) {
        net_listen_problem(error,
                           (struct net_ports){message.join.first_port, message.join.last_port},
                           text, sizeof text);
        give_up(agent, error == -ENOENT ? "which host of the job this is" : "no port to listen on",
                text);
    } else if ((error = call_bsprun(agent, &message.join)) != 0)
        give_up(agent, "bsprun cannot be reached", strerror(-error));
    wire_message_free(&message);
    return error == 0;
}
