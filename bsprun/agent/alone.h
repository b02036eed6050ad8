/* alone.h - what speaks against replicas of the processes of this host, in a job that has none. */
#ifndef BSPRUN_AGENT_ALONE_H
#define BSPRUN_AGENT_ALONE_H

#include <stdbool.h>
#include <stddef.h>

struct agent;

/* Whether something does; then with the reason, a part of a sentence: "it ...". */
bool agent_why_alone(struct agent *agent, char *text, size_t size);

#endif
