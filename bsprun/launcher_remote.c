/* launcher_remote.c - agents of other hosts. */
#include "bsprun/launcher_inside.h"

bool launcher_start_remote(struct launcher_agent *agent)
{
    launcher_say(agent->launcher, "host %s: several hosts are not supported yet", agent->name);
    return false;
}

void launcher_remote_closed(struct launcher_agent *agent, enum net_end end, const char *text)
{
    launcher_give_up_agent(agent, end == NET_END_BROKEN, true, text);
}

bool launcher_send_join(struct launcher_agent *agent)
{
    (void)agent;
    return true;
}

bool launcher_is_launching(const struct launcher *launcher, pid_t pid)
{
    (void)launcher;
    (void)pid;
    return false;
}
