/* copies_invariants.c - what is true of parts before and after every call; see copies.h. */
#include <assert.h>

#include "bsprun/dataspace/copies_inside.h"

static void check_state(const struct copy_state *state)
{
    assert(!state->tags == !state->log);
    assert(state->tags || state->change == 0);
    assert(state->had_count <= state->had_room);
    assert(!state->had == (state->had_room == 0));
}

/* Every other host that is to hold the part, once. */
static void check_backups(const struct part *part)
{
    const struct copies *copies = part->copies;

    assert(part->backup_count < copies->setup.copies);
    for (uint32_t i = 0; i < part->backup_count; i++) {
        const struct backup *backup = &part->backups[i];

        assert(backup->host < copies->setup.hosts && backup->host != copies->setup.host);
        assert(!copies->lost[backup->host]);
        assert(backup->whole || backup->done == 0);
        assert(backup->done <= part->now.change);
        for (uint32_t before = 0; before < i; before++)
            assert(part->backups[before].host != backup->host);
    }
}

static void check_part(const struct copies *copies, const struct part *part, uint32_t number)
{
    bool owned = part->role == PART_OWNED;

    assert(part->copies == copies && part->number == number && part->role < PART_ROLE_COUNT);
    check_state(&part->now);
    check_state(&part->coming);
    check_backups(part);
    assert(!part->taken);
    assert(!owned || part->now.tags);
    assert(!part->coming.tags || part->role == PART_BACKED);
    assert(!part->now.tags || part->role != PART_ELSEWHERE);
    assert(owned == (copies_owner(copies, number) == copies->setup.host) ||
           part->role == PART_LOST);
    assert(owned || (!part->held && part->backup_count == 0 && !part->plain));
    assert(held_is_sound(part));
}

void copies_check(const struct copies *copies)
{
    const struct part *part;

    assert(!copies->lost[copies->setup.host]);
    for (uint32_t i = 0; i < copies->setup.parts; i++)
        check_part(copies, &copies->parts[i], i);
    assert(!copies->waiters == !copies->setup.replicated);
    for (uint32_t pid = 0; copies->waiters && pid < copies->setup.nprocs; pid++)
        assert(!waiters_of(copies, pid, &part) || part->role == PART_OWNED);
}
