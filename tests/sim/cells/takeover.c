/* takeover.c - another Processor Zero in the place of one that is lost. */
#include "tests/sim/cells/world.h"

static uint32_t choose_zero(struct world *world)
{
    uint32_t at = (uint32_t)timeline_random(&world->time, world->host_count);

    for (uint32_t i = 0; i < world->host_count; i++, at = (at + 1) % world->host_count)
        if (!world->hosts[at].dead && !world->hosts[at].noticed)
            return at;
    return HOSTS;
}

/* As every host knows from PLACE. */
static void list_places(const struct world *world, uint64_t homes[2 * HOSTS],
                        uint64_t leads[2 * HOSTS], struct coord_predecessor *predecessor)
{
    uint32_t pairs = 0;

    for (uint32_t i = 0; i < world->host_count; i++) {
        const struct host *host = &world->hosts[i];
        if (host->cell == HOSTS)
            continue;
        for (uint32_t k = 0; k < host->count; k++)
            homes[host->first + k] = world->hosts[host->cell].id;
        if (host->cell == i)
            continue;
        leads[2 * pairs] = host->id;
        leads[2 * pairs++ + 1] = world->hosts[host->cell].id;
    }
    predecessor->homes = (struct wire_numbers){homes, world->processes};
    predecessor->leads = (struct wire_numbers){leads, 2 * pairs};
}

/* All hosts are lost, or they do not have snapshot 0 yet: the term is over. */
static void give_up(struct world *world)
{
    world->finished = true;
    if (!world->by_death)
        fail(world, "there is no Processor Zero though each process has a living replica");
    cells_summary.back++;
}

static void take_over(struct world *world)
{
    uint64_t homes[2 * HOSTS], leads[2 * HOSTS];
    struct coord_config config = world->config;
    uint32_t host = choose_zero(world);

    if (world->finished)
        return;
    if (host == HOSTS || (!world->ran && !world->placed)) {
        give_up(world);
        return;
    }
    cells_summary.taken_over++;
    cells_summary.taken_again += world->era > 0;
    list_places(world, homes, leads, &config.predecessor);
    if (world->committed > 0)
        config.predecessor.committed = (struct bspz_snapshot_name){world->committed - 1, TERM};
    struct zero *zero = &world->zeros[++world->era];
    *zero = (struct zero){.coord = coord_new(&config), .host = host};
    if (!zero->coord)
        fail(world, "there is no other Processor Zero");
    note(world, "host %u is Processor Zero now", world->hosts[host].id);
    for (uint32_t i = 0; i < world->host_count; i++) {
        if (world->hosts[i].noticed)
            cells_order(world, (struct wire_message){.kind = WIRE_LINK_LOST,
                                                     .link_lost.peer = world->hosts[i].id});
        else
            cells_plan(world, DO_TAKE_OVER, 1 + timeline_random(&world->time, 30), i)->era =
                world->era;
    }
}

/* bsprun learns of it. */
void cells_lose(struct world *world, uint32_t host)
{
    struct zero *zero = &world->zeros[world->era];

    if (world->hosts[host].noticed || world->finished)
        return;
    world->hosts[host].noticed = world->hosts[host].dead = true;
    world->hosts[host].cut_off = true;
    cells_show_lost(world, host);
    cells_ask_all(world);
    if (zero->host != host) {
        cells_order(world, (struct wire_message){.kind = WIRE_LINK_LOST,
                                                 .link_lost.peer = world->hosts[host].id});
        return;
    }
    zero->unheard = true;
    take_over(world);
}
