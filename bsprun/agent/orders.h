/* orders.h - orders of Processor Zero, here or on another host, to this host. */
#ifndef BSPRUN_AGENT_ORDERS_H
#define BSPRUN_AGENT_ORDERS_H

struct agent;
struct wire_message;

/* Carries out an order; the message is not referred to afterwards. */
void agent_obey(struct agent *agent, const struct wire_message *message);

#endif
