/* terms.h - the succession of terms; see terms.c. */
#ifndef BSPRUN_AGENT_TERMS_H
#define BSPRUN_AGENT_TERMS_H

#include <stdbool.h>

struct agent;
struct wire_message;

/* For the ends of terms: 0 or -ENOMEM. */
int agent_terms_open(struct agent *agent);
void agent_terms_free(struct agent *agent);

/* Handles ELECT: a restart from a snapshot first ends the processes of older terms. */
void agent_take_election(struct agent *agent, const struct wire_message *message);
/* Ends all processes of the term but frozen copies. */
void agent_rewind(struct agent *agent);
/* A process has ended: checks whether the next term can begin. */
void agent_check_rewound(struct agent *agent);

#endif
