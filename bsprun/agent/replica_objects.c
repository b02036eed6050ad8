/* replica_objects.c - see replica_objects.h. */
#include "bsprun/agent/replica_objects.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/cells.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/order.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/core/to_zero.h"
#include "bsprun/agent/differs.h"
#include "bsprun/dataspace/copies.h"
#include "bsprun/dataspace/service.h"
#include "bsprun/verdict.h"
#include "lib/base/clock.h"
#include "lib/shm/board.h"

uint64_t objects_now_ms(void *context)
{
    (void)context;
    return bspz_now_ns() / 1000000;
}

/* ---- Who has which --------------------------------------------------------------------------- */

static uint32_t host_count(const struct agent *agent)
{
    uint32_t count, most = agent_host(agent);
    const struct wire_host *hosts = agent_peers_hosts(agent, &count);

    for (uint32_t i = 0; i < count; i++)
        if (hosts[i].host > most)
            most = hosts[i].host;
    return most + 1;
}

/* The own number stands for the own lead in the homes. */
static uint32_t lead_of(const struct agent *agent, int pid)
{
    return agent_cells_lead(agent, agent_home(agent, pid));
}

static bool has_processes(const struct agent *agent, uint32_t host)
{
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (lead_of(agent, pid) == agent_cells_lead(agent, host))
            return true;
    return false;
}

uint32_t agent_objects_copies(const struct agent *agent)
{
    uint32_t copies = agent_order_copies(agent), count, holders = 0;
    const struct wire_host *hosts = agent_peers_hosts(agent, &count);

    if (copies > COPIES_MOST)
        copies = COPIES_MOST;
    for (uint32_t i = 0; i < count && holders < copies; i++)
        holders += has_processes(agent, hosts[i].host);
    return holders > 0 ? holders : 1;
}

bool agent_objects_homes(const struct agent *agent, struct objects_homes *homes)
{
    *homes = (struct objects_homes){
        .hosts = host_count(agent),
        .homes = calloc((size_t)agent_nprocs(agent) + 1, sizeof *homes->homes)};
    if (agent_has_replicas(agent))
        homes->leads = calloc(homes->hosts, sizeof *homes->leads);
    if (!homes->homes || (agent_has_replicas(agent) && !homes->leads))
        return false;
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        homes->homes[pid] = lead_of(agent, pid);
    for (uint32_t host = 0; homes->leads && host < homes->hosts; host++)
        homes->leads[host] = agent_cells_lead(agent, host);
    return true;
}

void agent_objects_free(struct objects_homes *homes)
{
    free(homes->homes);
    free(homes->leads);
}

/* ---- That it is used --------------------------------------------------------------------------
 */

bool agent_objects_at_calls(const struct agent *agent)
{
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (agent_is_here(agent, pid) && bspz_rank_of(agent_board(agent), pid)->request.at_calls)
            return true;
    return false;
}

void agent_objects_begun(struct agent *agent)
{
    struct wire_message message = {.kind = WIRE_OBJECTS};

    message.objects.calls = agent_objects_at_calls(agent);
    if (agent_has_replicas(agent))
        agent_tell_zero(agent, &message);
}

/* ---- Who differs ----------------------------------------------------------------------------- */

static const char *name_of(const struct agent *agent, uint32_t host)
{
    uint32_t count;
    const struct wire_host *hosts = agent_peers_hosts(agent, &count);

    for (uint32_t i = 0; i < count; i++)
        if (hosts[i].host == host)
            return hosts[i].name;
    return "?";
}

void objects_news_differ(struct objects_news *news, const struct dataspace_mismatch *mismatch)
{
    if (news->differ)
        return;
    news->differ = true;
    news->answered = mismatch->answered;
    news->pid = mismatch->pid;
    news->number = mismatch->number;
    news->hosts[0] = mismatch->hosts[0];
    news->hosts[1] = mismatch->hosts[1];
    news->tag_size = mismatch->tag_size;
    if (mismatch->tag_size > 0)
        memcpy(news->tag, mismatch->tag,
               mismatch->tag_size < OBJECTS_TAG ? mismatch->tag_size : OBJECTS_TAG);
}

void objects_news_behind(struct objects_news *news, uint32_t pid, uint32_t host)
{
    if (host < WIRE_HOSTS_MAX)
        news->behind[host] = pid + 1;
}

static void show_tag(const struct objects_news *news, char text[OBJECTS_TAG + 4])
{
    uint32_t used = 0;

    for (; used < news->tag_size && used < OBJECTS_TAG; used++)
        text[used] =
            (char)(isprint(news->tag[used]) && news->tag[used] != '"' ? news->tag[used] : '?');
    strcpy(text + used, news->tag_size > OBJECTS_TAG ? "..." : "");
}

static void tell_to_leave(struct agent *agent, uint32_t host, const char *why)
{
    struct wire_message message = {.kind = WIRE_GIVE_UP, .give_up.text = why};

    if (host == agent_host(agent))
        agent_replicas_given_up(agent, why);
    else
        agent_peers_send(agent, host, &message);
}

static void tell_difference(struct agent *agent, const struct objects_news *news)
{
    struct verdict verdict = {.cause = WIRE_CAUSE_MISMATCH, .status = 1};
    char tag[OBJECTS_TAG + 4];

    show_tag(news, tag);
    snprintf(
        verdict.text, sizeof verdict.text,
        "the replicas of process %u on host %.80s and host %.80s differ in their call %llu of the "
        "dataspace, of \"%s\"",
        news->pid, name_of(agent, news->hosts[0]), name_of(agent, news->hosts[1]),
        (unsigned long long)news->number, tag);
    if (agent_order(agent)->on_mismatch != WIRE_MISMATCH_CONTINUE)
        agent_abort(agent, (int)news->pid, &verdict);
    else if (news->answered)
        agent_notice(agent, "%s", verdict.text);
    else
        tell_to_leave(agent, news->hosts[0], verdict.text);
}

void agent_objects_news(struct agent *agent, const struct objects_news *news)
{
    char why[160];

    for (uint32_t host = 0; host < WIRE_HOSTS_MAX; host++) {
        if (news->behind[host] == 0)
            continue;
        snprintf(
            why, sizeof why,
            "process %u there is so far behind its replicas that there is no memory for what it "
            "still has to get (--dataspace-memory)",
            news->behind[host] - 1);
        tell_to_leave(agent, host, why);
    }
    if (news->differ)
        tell_difference(agent, news);
}

void agent_objects_lost(struct agent *agent)
{
    struct verdict verdict = {.cause = WIRE_CAUSE_HOST_LOST, .status = 1};

    snprintf(verdict.text, sizeof verdict.text,
             "objects of the dataspace are lost, with all hosts that had copies of them");
    agent_abort(agent, COORD_NOBODY, &verdict);
}
