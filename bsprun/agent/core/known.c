/* known.c - see known.h. */
#include "bsprun/agent/core/known.h"

#include <errno.h>
#include <stdlib.h>

#include "bsprun/agent/core/agent_inside.h"

struct agent_known {
    struct known facts;
    bool waits;                 /* an account was given and is not answered yet */
    struct wire_message *abort; /* the last request for the end of the job; NULL: none */
};

int agent_known_open(struct agent *agent)
{
    agent->known = calloc(1, sizeof *agent->known);
    return agent->known ? 0 : -ENOMEM;
}

static void forget_abort(struct agent *agent)
{
    if (agent->known->abort)
        wire_message_free(agent->known->abort);
    free(agent->known->abort);
    agent->known->abort = NULL;
}

void agent_known_free(struct agent *agent)
{
    forget_abort(agent);
    free(agent->known);
    agent->known = NULL;
}

struct known agent_known(const struct agent *agent)
{
    return agent->known->facts;
}

void agent_known_wait(struct agent *agent, bool waits)
{
    agent->known->waits = waits;
}

struct wire_message *agent_known_abort(const struct agent *agent)
{
    return agent->known->abort;
}

void agent_known_begin(struct agent *agent)
{
    forget_abort(agent);
    *agent->known = (struct agent_known){.facts.next = WIRE_NEVER};
}

void agent_known_ready(struct agent *agent)
{
    agent->known->facts.ready = true;
}

void agent_known_run(struct agent *agent, uint64_t next)
{
    agent->known->facts.runs = true;
    agent->known->facts.next = next;
}

void agent_known_decided(struct agent *agent, uint64_t superstep, uint64_t next, bool ended)
{
    known_decided(&agent->known->facts, superstep, next, ended);
}

void agent_known_asked(struct agent *agent, uint64_t superstep)
{
    known_asked(&agent->known->facts, superstep);
}

void agent_known_caught_up(struct agent *agent, const struct wire_taken_over *taken)
{
    known_caught_up(&agent->known->facts, taken);
}

/* It may get lost with the host of Processor Zero.  Without memory for a copy it does. */
static void keep_abort(struct agent *agent, const struct wire_message *message)
{
    struct wire_message *copy = calloc(1, sizeof *copy);
    char error[WIRE_ERROR_SIZE];

    forget_abort(agent);
    if (copy && wire_copy(message, copy, error, sizeof error) == 0)
        agent->known->abort = copy;
    else
        free(copy);
}

bool agent_known_lets(struct agent *agent, const struct wire_message *message)
{
    if (message->kind == WIRE_ABORT && message != agent->known->abort)
        keep_abort(agent, message);
    return !agent->known->waits || known_lets(message->kind);
}
