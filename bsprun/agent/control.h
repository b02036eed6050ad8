/* control.h - the agent's connection to bsprun; see control.c. */
#ifndef BSPRUN_AGENT_CONTROL_H
#define BSPRUN_AGENT_CONTROL_H

struct agent;
struct net_options;

/* 0 or -errno. */
int agent_control_open(struct agent *agent, int fd, const struct net_options *options);
void agent_say_hello(struct agent *agent);

#endif
