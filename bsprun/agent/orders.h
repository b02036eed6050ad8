/* orders.h - what Processor Zero, here or elsewhere, tells this host to do. */
#ifndef BSPRUN_AGENT_ORDERS_H
#define BSPRUN_AGENT_ORDERS_H

struct agent;
struct wire_message;

/* Does what it says; nothing of it is kept. */
void agent_obey(struct agent *agent, const struct wire_message *message);

#endif
