/* input.h - stdin of process 0 in a job with snapshots; see input.c. */
#ifndef BSPRUN_AGENT_INPUT_H
#define BSPRUN_AGENT_INPUT_H

#include <stdint.h>

struct agent;
struct wire_message;

int agent_input_open(struct agent *agent);
void agent_input_close(struct agent *agent);
/* The descriptor for process 0's stdin; -1: it inherits the agent's. */
int agent_input_reader(const struct agent *agent);
/* The number of bytes process 0 has read. */
uint64_t agent_input_position(const struct agent *agent);
/* The digest of these bytes (lib/base/digest.h); unknown after a restart from a snapshot without
 * it. */
uint64_t agent_input_digest(const struct agent *agent);
void agent_input_take(struct agent *agent, const struct wire_message *message);
/* Rewinds to the position, with the digest up to there; bsprun will send again from there on. */
void agent_input_rewind(struct agent *agent, uint64_t position, uint64_t digest);

#endif
