/* wanted_moves.c - see wanted_moves.h. */
#include "bsprun/launcher/wanted_moves.h"

#include <stdlib.h>

#include "lib/base/buffer.h"

bool wanted_moves_add(struct wanted_moves *moves, uint32_t term, struct wire_move move)
{
    uint32_t at = 0;

    while (at < moves->count && moves->items[at].pid != move.pid)
        at++;
    if (at == moves->count) {
        if (!BSPZ_GROW(moves->items, moves->count))
            return false;
        moves->count++;
    }
    moves->items[at] = move;
    moves->asked_in = term;
    return true;
}

uint32_t wanted_moves_decided(struct wanted_moves *moves, uint32_t term,
                              struct wire_move_list decided)
{
    uint32_t added = 0;

    if (moves->asked_in == term)
        return 0;
    while (added < decided.count && wanted_moves_add(moves, term, decided.items[added]))
        added++;
    return added;
}

void wanted_moves_place_anew(struct wanted_moves *moves, uint32_t term)
{
    moves->count = 0;
    moves->asked_in = term;
}

bool wanted_moves_elsewhere(const struct wanted_moves *moves, struct wire_move move)
{
    for (uint32_t i = 0; i < moves->count; i++)
        if (moves->items[i].pid == move.pid)
            return moves->items[i].host != move.host;
    return false;
}

struct wire_move_list wanted_moves_list(const struct wanted_moves *moves)
{
    return (struct wire_move_list){moves->items, moves->count};
}

void wanted_moves_saved(struct wanted_moves *moves, uint32_t term)
{
    if (term > moves->asked_in)
        moves->count = 0;
}

void wanted_moves_free(struct wanted_moves *moves)
{
    free(moves->items);
    *moves = (struct wanted_moves){0};
}
