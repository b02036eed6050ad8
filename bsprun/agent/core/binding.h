/* binding.h - which ranks of this host are bound to which processors, and whether they may spin. */
#ifndef BSPRUN_AGENT_BINDING_H
#define BSPRUN_AGENT_BINDING_H

struct agent;

/* 0 or -ENOMEM; before all others, and after them. */
int agent_binding_open(struct agent *agent);
void agent_binding_free(struct agent *agent);

/* The places of the ranks are new, and no rank runs: claims processors for those of this host. Says
 * if they cannot be bound as the user wants, and with --report-bindings what each is bound to. */
void agent_binding_plan(struct agent *agent);

/* Binds the rank, whose process is known and waits to be held, or lets it run everywhere if ranks
 * were bound before; and writes that to the board. */
void agent_binding_apply(struct agent *agent, int pid);
/* Both for all processes of this host, of which there are more now. */
void agent_binding_renew(struct agent *agent);

#endif
