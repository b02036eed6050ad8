/* to_bsprun.c - see to_bsprun.h. */
#include "bsprun/agent/core/to_bsprun.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/starter.h"
#include "lib/net/net.h"

int agent_send(struct agent *agent, struct wire_message *message)
{
    if (!agent_control(agent))
        return 0;
    agent_envelope(agent, &message->envelope);
    return net_send(agent_control(agent), message);
}

/* A message with a text for the user, who sees it on stderr in a bare run. */
static void tell_user(struct agent *agent, struct wire_message *message, const char *text)
{
    if (agent_is_bare(agent))
        dprintf(STDERR_FILENO, "bspzero: %s\n", text);
    agent_send(agent, message);
}

static void notice(struct agent *agent, uint64_t once, const char *format, va_list arguments)
{
    struct wire_message message = {.kind = WIRE_NOTICE};
    char text[1024];

    vsnprintf(text, sizeof text, format, arguments);
    message.notice.text = text;
    message.notice.once = once;
    tell_user(agent, &message, text);
}

void agent_notice(struct agent *agent, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    notice(agent, 0, format, arguments);
    va_end(arguments);
}

void agent_notice_once(struct agent *agent, uint64_t once, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    notice(agent, once, format, arguments);
    va_end(arguments);
}

void agent_tell_restarted(struct agent *agent, int pid, const char *text)
{
    struct wire_message message = {.kind = WIRE_RESTARTED};

    message.restarted.pid = (uint32_t)pid;
    message.restarted.text = text;
    tell_user(agent, &message, text);
}

void agent_notice_leaving(struct agent *agent, int status, const char *why)
{
    struct wire_message message = {.kind = WIRE_NOTICE};
    char text[1024];

    snprintf(text, sizeof text, "host %s: %s; its processes continue in their replicas",
             agent_host_name(agent), why);
    message.notice.text = text;
    message.notice.status = status > 0 ? (uint32_t)status : 0;
    agent_send(agent, &message);
}

void agent_tell_link_lost(struct agent *agent, uint32_t host, const char *text, bool behind)
{
    struct wire_message message = {.kind = WIRE_LINK_LOST};

    message.link_lost.host = agent_host(agent);
    message.link_lost.peer = host;
    message.link_lost.text = text;
    message.link_lost.behind = behind;
    agent_send(agent, &message);
}
