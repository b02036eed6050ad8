/* terms.h - how one term of a job follows the other; see terms.c. */
#ifndef BSPRUN_AGENT_TERMS_H
#define BSPRUN_AGENT_TERMS_H

struct agent;
struct wire_message;

/* bsprun elects: a job that begins is Processor Zero's business, one that goes on from a snapshot
 * first ends what there is of older terms. */
void agent_take_election(struct agent *agent, const struct wire_message *message);
/* Ends everything of the term but frozen copies. */
void agent_rewind(struct agent *agent);
/* Something has ended meanwhile: can the next term begin? */
void agent_check_rewound(struct agent *agent);

#endif
