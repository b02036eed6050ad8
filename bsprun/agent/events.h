/* events.h - upward calls from the parts of an agent; see struct agent_calls. */
#ifndef BSPRUN_AGENT_EVENTS_H
#define BSPRUN_AGENT_EVENTS_H

#include "bsprun/agent/core/agent.h"

extern const struct agent_calls agent_events;

#endif
