/* course.h - how far the job has come on this host: its state, its term, when its SPMD part began
 * and ended, whether this agent has finished. */
#ifndef BSPRUN_AGENT_COURSE_H
#define BSPRUN_AGENT_COURSE_H

#include <stdbool.h>
#include <stdint.h>

#include "bsprun/agent/core/job.h"

struct agent;

enum job_state agent_job(const struct agent *agent);
/* As job_move. */
void agent_job_move(struct agent *agent, enum job_state to);

/* 0 before the first one. */
uint32_t agent_term(const struct agent *agent);
void agent_set_term(struct agent *agent, uint32_t term);

/* In ns of agent_now_ns; 0: not yet.  A second beginning, after a rollback, is not noted. */
uint64_t agent_begin_ns(const struct agent *agent);
uint64_t agent_end_ns(const struct agent *agent);
void agent_note_begin(struct agent *agent, uint64_t now_ns);
void agent_note_end(struct agent *agent, uint64_t now_ns);

/* Whether the end has been reported, or given up: agent_finish has done its work. */
bool agent_is_finished(const struct agent *agent);
void agent_set_finished(struct agent *agent);
/* Whether bsprun has finished with this agent. */
bool agent_is_dismissed(const struct agent *agent);
void agent_set_dismissed(struct agent *agent);

/* Losses of hosts that this term has survived, as their processes are restarted alone on others. */
uint32_t agent_survived(const struct agent *agent);
void agent_set_survived(struct agent *agent, uint32_t losses);

#endif
