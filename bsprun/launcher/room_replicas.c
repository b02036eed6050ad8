/* room_replicas.c - whether another number of replicas fits; see room.h.
 *
 * Cells and places are what Processor Zero makes of them (coordinator/core): it is told of a
 * snapshot that all hosts have, and of their memory, and says from where the term begins (CHOSEN).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/launcher/room.h"
#include "coordinator/core/coord.h"

#define TERM 2u /* of the snapshot: 1 */

struct trial {
    struct wire_host *hosts;
    struct coord_load *loads;
    uint64_t *needs, *available;
    struct coord_effects *effects; /* of the last step */
    struct coord *zero;
    uint32_t host_count;
};

static bool begin(struct trial *trial, const struct room *room)
{
    trial->hosts = calloc(room->host_count, sizeof *trial->hosts);
    trial->loads = calloc(room->host_count, sizeof *trial->loads);
    trial->available = calloc(room->host_count, sizeof *trial->available);
    trial->needs = calloc(room->process_count, sizeof *trial->needs);
    trial->effects = calloc(1, sizeof *trial->effects);
    return trial->hosts && trial->loads && trial->available && trial->needs && trial->effects;
}

static void end(struct trial *trial)
{
    coord_free(trial->zero);
    free(trial->hosts);
    free(trial->loads);
    free(trial->available);
    free(trial->needs);
    free(trial->effects);
}

static void write_hosts(struct trial *trial, const struct room *room)
{
    for (uint32_t i = 0; i < room->host_count; i++) {
        const struct room_host *host = &room->hosts[i];

        if (!host->takes_part)
            continue;
        trial->loads[trial->host_count] = (struct coord_load){host->busy, host->speed};
        trial->available[trial->host_count] = host->available;
        trial->hosts[trial->host_count++] =
            (struct wire_host){.host = i, .name = host->name, .drained = host->drained};
    }
    for (uint32_t pid = 0; pid < room->process_count; pid++)
        trial->needs[pid] = room->processes[pid].memory;
}

static void say(struct trial *trial, uint32_t host, struct wire_message *message)
{
    *wire_sender(message) = host;
    coord_address(trial->zero, &message->envelope);
    coord_step(trial->zero, 0, host, message, trial->effects);
}

/* What hosts say when the term begins. */
static void say_all(struct trial *trial, const struct room *room)
{
    for (uint32_t i = 0; i < trial->host_count; i++) {
        uint32_t slots = room->hosts[trial->hosts[i].host].slots;
        struct wire_message held = {.kind = WIRE_HELD},
                            ready = {.kind = WIRE_HOST_READY,
                                     .host_ready = {.slots = slots > 0 ? slots : 1,
                                                    .available = trial->available[i]}};

        held.held.name = (struct bspz_snapshot_name){1, TERM - 1};
        held.held.processes = room->process_count;
        held.held.manifest = held.held.all = true;
        held.held.needs = (struct wire_numbers){trial->needs, room->process_count};
        say(trial, trial->hosts[i].host, &held);
        say(trial, trial->hosts[i].host, &ready);
    }
}

/* The reason for fewer; "": none. */
static void take_reason(const struct trial *trial, char text[ROOM_REPLICAS_TEXT])
{
    struct coord_outcome outcome = coord_outcome(trial->zero);

    if (outcome.cause == WIRE_CAUSE_NO_MEMORY)
        snprintf(text, ROOM_REPLICAS_TEXT, "there is too little memory: %s", outcome.text);
    for (uint32_t i = 0; i < trial->effects->count; i++) {
        const struct wire_message *message = &trial->effects->items[i].message;

        if (trial->effects->items[i].kind == COORD_EFFECT_TELL && message->kind == WIRE_CHOSEN &&
            message->chosen.text)
            snprintf(text, ROOM_REPLICAS_TEXT, "%s", message->chosen.text);
    }
}

bool room_replicas_fit(const struct room *room, const struct replica_counts *counts,
                       char text[ROOM_REPLICAS_TEXT])
{
    struct trial trial = {.host_count = 0};

    text[0] = '\0';
    if (room->process_count > 0 && room->host_count > 0 && begin(&trial, room)) {
        write_hosts(&trial, room);
        trial.zero = coord_new(&(struct coord_config){.term = TERM,
                                                      .host_count = trial.host_count,
                                                      .hosts = trial.hosts,
                                                      .loads = trial.loads,
                                                      .by_node = room->by_node,
                                                      .anew = true,
                                                      .processes_max = room->process_count,
                                                      .counts = *counts,
                                                      .abort_at = COORD_NEVER,
                                                      .snapshots = true,
                                                      .recover = true,
                                                      .restore = true,
                                                      .wanted = COORD_NEVER});
        if (trial.zero) {
            say_all(&trial, room);
            take_reason(&trial, text);
        }
    }
    end(&trial);
    return text[0] == '\0';
}
