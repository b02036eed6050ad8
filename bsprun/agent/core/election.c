/* election.c - see election.h. */
#include "bsprun/agent/core/election.h"

#include "bsprun/agent/core/agent_inside.h"
#include "lib/shm/board.h"

const struct election *agent_election(const struct agent *agent)
{
    return &agent->election;
}

/* Invalid estimates count as unknown. */
static void take_learned(struct election *election, const struct wire_elect *elect)
{
    double numbers[ESTIMATE_NUMBERS];
    uint32_t count =
        elect->estimate.count < ESTIMATE_NUMBERS ? elect->estimate.count : ESTIMATE_NUMBERS;

    for (uint32_t i = 0; i < count; i++)
        numbers[i] = elect->estimate.items[i].value;
    election->first_of_run = elect->first_of_run;
    election->moving_seconds = elect->moving_seconds;
    election->passed_seconds = elect->passed_seconds;
    election->estimate = (struct estimate){0};
    estimate_from_numbers(&election->estimate, numbers, count);
    election->seen = (struct coord_seen){.host_seconds = elect->watched_hosts,
                                         .process_seconds = elect->watched_processes};
    for (uint32_t i = 0; i < elect->failures.count && i < ESTIMATE_KINDS; i++)
        election->seen.failures[i] =
            elect->failures.items[i] < COORD_SEEN_MOST ? (uint32_t)elect->failures.items[i] : 0;
    election->recovery = (struct coord_recovery){
        .any = elect->recovers > 0 && elect->recovers <= ESTIMATE_KINDS,
        .kind = (enum estimate_kind)(elect->recovers > 0 ? elect->recovers - 1 : 0),
        .down = elect->down > 0 ? elect->down : 0};
}

/* A term that nothing has failed before, of a bsprun that has begun, is there for a move. */
static void take_reason(struct election *election, const struct wire_elect *elect)
{
    if (elect->first_of_run)
        election->because = BSPZ_BOARD_RESTARTED;
    else if (elect->recovers > 0)
        election->because = 0;
    else if (!election->never_ran)
        election->because = BSPZ_BOARD_MOVED;
    election->never_ran = true;
}

static void take_lists(struct election *election, const struct wire_elect *elect)
{
    election->wanted = elect->wanted;
    election->lineage.count = 0;
    for (uint32_t i = 0; i < elect->begun.count; i++) {
        const struct wire_begun *begun = &elect->begun.items[i];

        coord_lineage_add(&election->lineage, begun->term, begun->from);
    }
    election->avoid_count = 0;
    for (uint32_t i = 0; i < elect->avoid.count && i < COORD_AVOID_MAX; i++)
        election->avoid[election->avoid_count++] = elect->avoid.items[i].from;
}

void agent_election_learn(struct agent *agent, const struct wire_elect *elect)
{
    take_learned(&agent->election, elect);
}

void agent_election_take(struct agent *agent, const struct wire_message *message)
{
    struct election *election = &agent->election;

    take_learned(election, &message->elect);
    take_reason(election, &message->elect);
    take_lists(election, &message->elect);
    election->term = message->envelope.term;
    election->to_save = false;
    election->pending = true;
}

void agent_election_begin(struct agent *agent)
{
    agent->election.pending = false;
}

void agent_election_ran(struct agent *agent)
{
    agent->election.never_ran = false;
}

static int strength(const struct wire_save *save)
{
    return save->stop ? 2 : save->move;
}

bool agent_election_save(struct agent *agent, const struct wire_save *save)
{
    struct election *election = &agent->election;

    if (!election->pending)
        return false;
    if (!election->to_save || strength(save) > strength(&election->save))
        election->save = *save;
    /* Belongs to the message, and Processor Zero may place processes otherwise in this term. */
    election->save.expected = (struct wire_move_list){NULL, 0};
    election->to_save = true;
    return true;
}

bool agent_election_saved(struct agent *agent, struct wire_save *save)
{
    bool kept = agent->election.to_save;

    *save = agent->election.save;
    agent->election.to_save = false;
    return kept;
}
