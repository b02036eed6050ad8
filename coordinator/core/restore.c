/* restore.c - how a term begins from a snapshot.
 *
 * Happy path: HELD from every host for each snapshot it has, then HOST_READY -> the newest that is
 * complete -> CHOSEN, TERM_RECORDED -> RESTORE -> STAGED from every host -> PASS -> RANKS_READY.
 *
 * What can fail: replicas do not fit into the memory of the hosts (there are fewer); there is no
 * snapshot, or a process does not fit into the memory of any host (the job ends); an image is
 * damaged, a host is lost, a restored process dies (the term fails, and the next one tries again).
 */
#include "coordinator/core/state.h"

#include <stdio.h>
#include <string.h>

#define NEED_MOST (UINT64_C(1) << 46) /* so that sums of them are exact */

/* ---- What there is ------------------------------------------------------------------------ */

static bool may_be_used(const struct coord *state, struct bspz_snapshot_name name)
{
    if (state->config.wanted != COORD_NEVER && state->config.wanted != name.superstep)
        return false;
    for (uint32_t i = 0; i < state->config.avoid_count; i++)
        if (bspz_snapshot_same(state->config.avoid[i], name))
            return false;
    return coord_lineage_allows(state->lineage, name);
}

static bool in_range(struct wire_numbers pids, uint32_t processes)
{
    for (uint32_t i = 0; i < pids.count; i++)
        if (pids.items[i] >= processes)
            return false;
    return true;
}

/* Whether every group is named by its lowest process, or there are no groups. */
static bool is_grouped(struct wire_numbers together, uint32_t processes)
{
    for (uint32_t i = 0; i < together.count; i++)
        if (together.items[i] > i || together.items[together.items[i]] != together.items[i])
            return false;
    return together.count == 0 || together.count == processes;
}

/* The entry of the snapshot, or a free one, or that of the oldest if that is older; else NULL. */
static struct coord_held *find_place(struct coord *state, struct bspz_snapshot_name name)
{
    struct coord_held *oldest = &state->held[0];
    for (uint32_t i = 0; i < COORD_HELD_MAX; i++)
        if (bspz_snapshot_same(state->held[i].name, name))
            return &state->held[i];
    for (uint32_t i = 0; i < COORD_HELD_MAX; i++) {
        if (state->held[i].name.term == 0)
            return &state->held[i];
        if (bspz_snapshot_newer(oldest->name, state->held[i].name))
            oldest = &state->held[i];
    }
    return bspz_snapshot_newer(name, oldest->name) ? oldest : NULL;
}

static void note_image(struct coord_held *held, uint64_t pid)
{
    if (held->has_image[pid])
        return;
    held->has_image[pid] = true;
    held->missing--;
}

int coord_take_held(struct coord *state, struct coord_host *host,
                    const struct wire_message *message, struct coord_effects *effects)
{
    struct bspz_snapshot_name name = message->held.name;
    uint32_t processes = message->held.processes;
    if (!state->config.restore || host->ready)
        return coord_broken(effects, "host %u speaks of snapshots unasked", host->id);
    if (name.term == 0 || name.term >= state->config.term || processes == 0 ||
        processes > state->config.processes_max || !in_range(message->held.images, processes) ||
        !in_range(message->held.copies, processes) ||
        !is_grouped(message->held.together, processes) ||
        (message->held.needs.count > 0 && message->held.needs.count != processes))
        return coord_broken(effects, "host %u has a snapshot that cannot be", host->id);
    if (!may_be_used(state, name))
        return 0;
    struct coord_held *held = find_place(state, name);
    if (!held)
        return 0;
    if (!bspz_snapshot_same(held->name, name)) {
        held->name = name;
        held->processes = held->missing = processes;
        held->committed = false;
        memset(held->has_image, 0, processes * sizeof(*held->has_image));
        memset(held->copy_on, 0, processes * sizeof(*held->copy_on));
        memset(held->needs, 0, processes * sizeof(*held->needs));
        for (uint32_t pid = 0; pid < processes; pid++)
            held->together[pid] = pid;
    }
    if (held->processes != processes)
        return coord_broken(effects, "host %u has another snapshot of that name", host->id);
    held->committed = held->committed || message->held.manifest;
    for (uint32_t pid = 0; message->held.all && pid < processes; pid++)
        note_image(held, pid);
    for (uint32_t i = 0; i < message->held.images.count; i++)
        note_image(held, message->held.images.items[i]);
    for (uint32_t i = 0; i < message->held.together.count; i++)
        if (message->held.together.items[i] != i)
            held->together[i] = (uint32_t)message->held.together.items[i];
    /* Each host knows a bound from above. */
    for (uint32_t i = 0; i < message->held.needs.count; i++) {
        uint64_t need = message->held.needs.items[i];
        if (need > 0 && (held->needs[i] == 0 || need < held->needs[i]))
            held->needs[i] = need < NEED_MOST ? need : NEED_MOST;
    }
    /* Processes with replicas are all made from one image. */
    for (uint32_t i = 0; !coord_has_replicas(state) && i < message->held.copies.count; i++)
        if (held->copy_on[message->held.copies.items[i]] == 0)
            held->copy_on[message->held.copies.items[i]] = (uint16_t)(host - state->hosts + 1);
    return 0;
}

#define LACKS_MOST 16u /* most pids that are named */

/* Lists what the hosts lack of the newest usable snapshot. */
static void lack_text(const struct coord *state, char *text, size_t size)
{
    const struct coord_held *newest = NULL;
    uint32_t named = 0;
    size_t used;

    for (uint32_t i = 0; i < COORD_HELD_MAX; i++) {
        const struct coord_held *held = &state->held[i];
        if (held->name.term > 0 && (!newest || bspz_snapshot_newer(held->name, newest->name)))
            newest = held;
    }
    if (!newest) {
        snprintf(text, size, "the hosts have no snapshot that can be used");
        return;
    }
    used = (size_t)snprintf(text, size, "of the snapshot of superstep %llu the hosts lack the %s",
                            (unsigned long long)newest->name.superstep,
                            newest->committed
                                ? newest->missing > 1 ? "images of processes" : "image of process"
                                : "manifest");
    for (uint32_t pid = 0; newest->committed && pid < newest->processes; pid++)
        if (!newest->has_image[pid] && named++ < LACKS_MOST && used < size)
            used += (size_t)snprintf(text + used, size - used, "%s %u", named > 1 ? "," : "", pid);
    if (named > LACKS_MOST && used < size)
        snprintf(text + used, size - used, " and %u more", named - LACKS_MOST);
}

/* No host has enough memory for some process, and it must not be put where others would be killed
 * for it. */
static void refuse(struct coord *state, struct coord_effects *effects)
{
    const struct placement *placement = &state->placement;
    uint32_t pid = placement->pids ? placement->pids[placement->nowhere] : placement->nowhere;
    char text[PLACEMENT_TEXT_MAX];
    placement_text(placement, placement->nowhere, text);
    coord_blame(state, WIRE_CAUSE_NO_MEMORY, (int32_t)pid, 1, 0, text);
    coord_begin_abort(state, effects);
}

/* Replicas that do not fit are not made: those with the most have one less, until all fit, and
 * why_missed says why.  False: a process does not fit even once. */
static bool place(struct coord *state)
{
    const struct coord_held *from = state->from;
    char text[PLACEMENT_TEXT_MAX];
    state->why_missed[0] = '\0';
    for (uint32_t lowered = 0; coord_form_cells(state, from->processes, from->together, lowered);
         lowered++) {
        if (coord_place_again(state, from))
            return true;
        if (!coord_has_replicas(state))
            return false;
        placement_text(&state->placement, state->placement.nowhere, text);
        if (lowered == 0)
            snprintf(state->why_missed, sizeof(state->why_missed), "there is too little memory: %s",
                     text);
    }
    return false;
}

/* Says why processes have fewer replicas than they were to have, if it is not that hosts are too
 * few. */
static void note_fewer(struct coord *state, struct wire_chosen *chosen)
{
    const uint32_t *together = state->from->together;
    uint32_t pid;
    if (state->why_missed[0] == '\0' &&
        coord_files_cost_replicas(state, state->processes, together, &pid))
        snprintf(
            state->why_missed, sizeof(state->why_missed),
            "process %u shares open files with process %u, and has as many replicas: give both "
            "the same number",
            pid, together[pid]);
    if (state->why_missed[0])
        chosen->text = state->why_missed;
}

/* Lists the processes that are not where they were to be, and says why the first of them is not. */
static void note_missed(struct coord *state, struct wire_chosen *chosen)
{
    uint32_t count = 0;
    for (uint32_t pid = 0; !coord_has_replicas(state) && pid < state->processes; pid++)
        if (placement_missed(&state->placement, pid))
            state->missed[count++] = (struct wire_move){pid, state->hosts[state->home[pid]].id};
    chosen->missed = (struct wire_move_list){state->missed, count};
    if (count == 0)
        return;
    placement_text(&state->placement, state->missed[0].pid, state->why_missed);
    chosen->text = state->why_missed;
}

void coord_choose(struct coord *state, struct coord_effects *effects)
{
    for (uint32_t i = 0; i < COORD_HELD_MAX; i++) {
        struct coord_held *held = &state->held[i];
        if (held->name.term > 0 && held->committed && held->missing == 0 &&
            (!state->from || bspz_snapshot_newer(held->name, state->from->name)))
            state->from = held;
    }
    if (!state->from) {
        char text[256];
        lack_text(state, text, sizeof(text));
        coord_blame(state, WIRE_CAUSE_NOTHING_SAVED, COORD_NOBODY, 1, 0, text);
        coord_begin_abort(state, effects);
        return;
    }
    state->committed = state->right = state->from->name;
    state->superstep = state->from->name.superstep;
    state->restore_begun_ns = state->now_ns;
    /* A stop that was requested before it was known whether there is a snapshot. */
    if (state->wish == COORD_WISH_STOP) {
        coord_stop_saved(state, "stopped before it went on", effects);
        return;
    }
    if (!place(state)) {
        refuse(state, effects);
        return;
    }
    coord_move(state, COORD_CHOOSING);
    struct wire_message *message = coord_say(state, effects, WIRE_CHOSEN);
    message->envelope.superstep = state->from->name.superstep;
    message->chosen.name = state->from->name;
    message->chosen.processes = state->processes;
    note_missed(state, &message->chosen);
    if (coord_has_replicas(state))
        note_fewer(state, &message->chosen);
}

/* In the list, the pids with a frozen copy on their host follow the hosts. */
static void say_restore(struct coord *state, struct coord_effects *effects)
{
    struct wire_message *message = coord_say(state, effects, WIRE_RESTORE);
    struct wire_restore *restore = &message->restore;
    uint64_t *copies = state->numbers + state->processes;
    uint32_t count = 0;
    for (uint32_t pid = 0; pid < state->processes; pid++)
        if (state->from->copy_on[pid] == state->home[pid] + 1u)
            copies[count++] = pid;
    message->envelope.superstep = state->from->name.superstep;
    restore->from = state->from->name.term;
    restore->processes = state->processes;
    restore->host_of = coord_homes(state);
    restore->leads = coord_leads(state);
    restore->copy = (struct wire_numbers){copies, count};
    restore->copies = coord_copies(state);
}

int coord_take_term_recorded(struct coord *state, struct coord_host *host,
                             const struct wire_message *message, struct coord_effects *effects)
{
    (void)host;
    (void)message;
    coord_move(state, COORD_RESTORING);
    say_restore(state, effects);
    return 0;
}

int coord_take_staged(struct coord *state, struct coord_host *host,
                      const struct wire_message *message, struct coord_effects *effects)
{
    if (host->staged || message->staged.count != host->count)
        return coord_broken(effects, "host %u has staged %u processes instead of %u", host->id,
                            message->staged.count, host->count);
    host->staged = true;
    for (uint32_t i = 0; i < state->host_count; i++)
        if (!state->hosts[i].staged)
            return 0;
    coord_move(state, COORD_PASSING);
    coord_say(state, effects, WIRE_PASS);
    return 0;
}
