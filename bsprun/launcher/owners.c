/* owners.c - see owners.h. */
#include "bsprun/launcher/owners.h"

#include "lib/base/states.h"

#define TO BSPZ_STATES_TO

static const struct bspz_states_row rows[OWNERS_STATE_COUNT] = {
    [OWNERS_QUIET] = {"quiet", TO(OWNERS_WAITING) | TO(OWNERS_GIVING_WAY)},
    [OWNERS_WAITING] = {"waiting", TO(OWNERS_QUIET) | TO(OWNERS_GIVING_WAY) | TO(OWNERS_LEFT)},
    [OWNERS_GIVING_WAY] = {"giving way", TO(OWNERS_QUIET) | TO(OWNERS_LET_GO) | TO(OWNERS_LEFT)},
    [OWNERS_LET_GO] = {"let go", TO(OWNERS_QUIET) | TO(OWNERS_GIVING_WAY) | TO(OWNERS_LEFT)},
    [OWNERS_LEFT] = {"left", TO(OWNERS_QUIET) | TO(OWNERS_WAITING) | TO(OWNERS_GIVING_WAY)},
};

static const struct bspz_states states = {"a host with an owner", OWNERS_STATE_COUNT, rows};

void owners_move(struct owners *owners, uint32_t host, enum owners_state to)
{
    enum owners_state *state = &owners->hosts[host].state;

    *state = (enum owners_state)bspz_states_move(&states, *state, to);
}

void owners_order(struct launcher_agent *agent, enum wire_act act)
{
    struct wire_message message = {.kind = WIRE_GIVE_WAY, .give_way.act = act};

    agents_send(agent, &message);
}

void owners_let_go(struct owners *owners, struct launcher_agent *agent)
{
    if (!owners->asked || owners->hosts[agent->host].state != OWNERS_GIVING_WAY)
        return;
    owners_move(owners, agent->host, OWNERS_LET_GO);
    owners_order(agent, WIRE_ACT_GO_ON);
}

void owners_asked(struct owners *owners, struct agents *agents, bool move, uint64_t now_ms)
{
    owners->move = move || (owners->asked && owners->move);
    owners->asked = true;
    owners->asked_in = agents->term;
    owners->asked_ms = now_ms;
    for (uint32_t i = 0; i < agents->count; i++)
        owners_let_go(owners, &agents->items[i]);
}

static void give_way_again(struct owners *owners, struct agents *agents)
{
    owners->asked = false;
    for (uint32_t i = 0; i < agents->count; i++)
        if (owners->hosts[i].state == OWNERS_LET_GO) {
            owners_move(owners, i, OWNERS_GIVING_WAY);
            owners_order(&agents->items[i], owners->hosts[i].act);
        }
}

void owners_running(struct owners *owners, struct agents *agents)
{
    if (owners->asked && agents->term > owners->asked_in)
        give_way_again(owners, agents);
}

void owners_snapshot_over(struct owners *owners, struct agents *agents, uint64_t begun_ms)
{
    if (owners->asked && !owners->move && begun_ms >= owners->asked_ms)
        give_way_again(owners, agents);
}

void owners_taken(struct owners *owners, uint32_t host)
{
    owners->hosts[host].drained = false;
    if (owners->hosts[host].state == OWNERS_LEFT)
        owners_move(owners, host, OWNERS_WAITING);
}

bool owners_refuse(const struct owners *owners, uint32_t host)
{
    return owners->hosts[host].state == OWNERS_LEFT || owners->hosts[host].state == OWNERS_WAITING;
}

const char *owners_text(const struct owners *owners, uint32_t host)
{
    switch (owners->hosts[host].state) {
    case OWNERS_GIVING_WAY:
        return owners->hosts[host].act == WIRE_ACT_SLOW ? "slowed for its owner"
                                                        : "stopped for its owner";
    case OWNERS_LEFT:
        return "left to its owner";
    default:
        return NULL;
    }
}
