/* agents.c - the table of agents, their connections, and sending; see agents.h.
 *
 * Happy path: an agent is started -> its line opens -> HELLO -> messages -> EXIT -> its line
 * closes.
 *
 * What can fail: its line ends, which is handled where it was opened (agents_own.c,
 * agents_remote.c).
 */
#include "bsprun/launcher/agents_inside.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/hosts/adapter.h"
#include "lib/base/states.h"

#define TO            BSPZ_STATES_TO
#define ADMITTED_MOST 64u /* hosts that are added to a job while it runs */

/* A start that fails at once may be retried, and an agent may send HELLO again. */
static const struct bspz_states_row rows[AGENT_STATE_COUNT] = {
    [AGENT_ABSENT] = {"absent", TO(AGENT_STARTING) | TO(AGENT_LINKED) | TO(AGENT_ABSENT)},
    [AGENT_STARTING] = {"starting", TO(AGENT_STARTING) | TO(AGENT_LINKED) | TO(AGENT_ABSENT)},
    [AGENT_LINKED] = {"linked", TO(AGENT_UP) | TO(AGENT_ABSENT)},
    [AGENT_UP] = {"up", TO(AGENT_UP) | TO(AGENT_STARTED) | TO(AGENT_ABSENT)},
    [AGENT_STARTED] = {"started", TO(AGENT_UP) | TO(AGENT_ABSENT)},
};
static const struct bspz_states states = {"an agent", AGENT_STATE_COUNT, rows};

void agents_move(struct launcher_agent *agent, enum agent_state to)
{
    agent->state = (enum agent_state)bspz_states_move(&states, agent->state, to);
}

/* ---- The table ---- */

/* The addresses of the adapter, the host's name for data connections; NULL: none. */
static char *find_adapter(struct agents *agents, const struct host *host)
{
    const char *why = "";
    char *addresses = adapter_resolve(host->adapter, &why);

    if (!addresses)
        notices_say(&agents->common->notices, "host %s: its adapter %s is not used: %s", host->name,
                    host->adapter, why);
    return addresses;
}

static void enter(struct agents *agents, const struct host *host)
{
    const struct options_hosts *options = &agents->common->options->hosts;
    bool local = hosts_is_own(host->name, options->own);
    struct launcher_agent *agent = &agents->items[agents->count];

    *agent = (struct launcher_agent){.all = agents,
                                     .host = agents->count++,
                                     .slots = host->slots,
                                     .load = host->load,
                                     .name = local ? options->own : host->name,
                                     .given = host,
                                     .local = local};
    if (host->adapter && options->all.count > 1)
        agent->adapter = find_adapter(agents, host);
}

bool agents_make(struct agents *agents, struct common *common, const struct agents_calls *calls,
                 void *context)
{
    const struct options_hosts *options = &common->options->hosts;
    uint32_t room = options->all.count + ADMITTED_MOST;

    if (room > HOSTS_MAX)
        room = HOSTS_MAX;
    *agents = (struct agents){.common = common,
                              .calls = calls,
                              .context = context,
                              .items = calloc(room, sizeof *agents->items),
                              .room = room,
                              .starters = options->all.count - options->spares};
    if (!agents->items)
        return false;
    for (uint32_t i = 0; i < options->all.count; i++)
        enter(agents, &options->all.items[i]);
    return true;
}

void agents_free(struct agents *agents)
{
    for (uint32_t i = 0; i < agents->count; i++) {
        free(agents->items[i].addresses);
        free(agents->items[i].called);
        free(agents->items[i].adapter);
        free((void *)agents->items[i].early.items);
        hosts_free(&agents->items[i].admitted);
    }
    free(agents->items);
    *agents = (struct agents){0};
}

struct launcher_agent *agents_admit(struct agents *agents, struct hosts *host)
{
    if (agents->count == agents->room)
        return NULL;
    enter(agents, host->items);
    struct launcher_agent *agent = &agents->items[agents->count - 1];
    agent->admitted = *host;
    *host = (struct hosts){0};
    return agent;
}

struct launcher_agent *agents_of(struct agents *agents, uint32_t host)
{
    return host < agents->count ? &agents->items[host] : NULL;
}

bool agents_has_hosts(const struct agents *agents)
{
    return agents->count > 1 || !agents->items[0].local;
}

bool agents_slots(const struct agents *agents, struct wire_host *hosts, uint32_t *count)
{
    *count = 0;
    for (uint32_t i = 0; i < agents->count; i++) {
        const struct launcher_agent *agent = &agents->items[i];

        if (agent->state == AGENT_ABSENT)
            continue; /* a spare or lost host */
        if (agent->slots == 0 && !agents_is_up(agent))
            return false;
        hosts[(*count)++] =
            (struct wire_host){.host = agent->host,
                               .slots = agent->slots > 0 ? agent->slots : agent->cores,
                               .name = agent->name};
    }
    return true;
}

/* ---- The roll ---- */

static bool all_have_answered(const struct agents *agents)
{
    for (uint32_t i = 0; i < agents->count; i++) {
        const struct launcher_agent *agent = &agents->items[i];

        if (agent->line && !agent->local && !agent->dismissed && agent->answers < agent->called_at)
            return false;
    }
    return true;
}

static void check_roll(struct agents *agents)
{
    if (!agents->calling || !all_have_answered(agents))
        return;
    agents->calling = false;
    agents->calls->answered(agents->context);
}

void agents_call_roll(struct agents *agents)
{
    struct wire_message alive = {.kind = WIRE_ALIVE};

    agents->calling = true;
    for (uint32_t i = 0; i < agents->count; i++) {
        agents_send(&agents->items[i], &alive);
        agents->items[i].called_at = ++agents->items[i].calls;
    }
    check_roll(agents);
}

/* ---- Reports ---- */

static void forget_report(struct launcher_agent *agent)
{
    free((void *)agent->early.items);
    agent->early = (struct wire_numbers){NULL, 0};
    agent->reported = false;
}

/* ---- Lines ---- */

struct launcher_line {
    struct launcher_agent *agent; /* NULL: it was given up, and later messages are ignored */
    struct agents *agents;
    agents_line_ended *ended;
    struct net_connection *connection;
};

/* Without memory bsprun waits for it as if it had not come. */
static void take_report(struct launcher_agent *agent, const struct wire_report *report)
{
    uint64_t *early = calloc((size_t)report->early.count + 1, sizeof *early);

    if (!early)
        return;
    memcpy(early, report->early.items, report->early.count * sizeof *early);
    forget_report(agent);
    agent->early = (struct wire_numbers){early, report->early.count};
    agent->reported = true;
}

static void on_message(void *context, struct net_connection *connection,
                       const struct wire_message *message)
{
    struct launcher_line *line = context;
    struct launcher_agent *agent = line->agent;

    (void)connection;
    if (!agent)
        return;
    agent->heard_ms = launcher_now_ms();
    if (message->kind == WIRE_ALIVE) {
        agent->answers++;
        check_roll(line->agents);
        return;
    }
    agent->spoke_ms = agent->heard_ms;
    if (message->kind == WIRE_REPORT)
        take_report(agent, &message->report);
    line->agents->calls->message(line->agents->context, agent, message);
}

static void forget_line(struct launcher_agent *agent)
{
    struct agents *agents = agent->all;

    agents->calls->watched(agents->context);
    agent->line->agent = NULL;
    agent->line = NULL;
    agents_move(agent, AGENT_ABSENT);
    agents->calls->forgot(agents->context, agent);
}

static void on_closed(void *context, enum net_end end, const char *text)
{
    struct launcher_line *line = context;
    struct agents *agents = line->agents;
    struct launcher_agent *agent = line->agent;
    agents_line_ended *ended = line->ended;

    if (agent)
        forget_line(agent);
    free(line);
    if (!agent)
        return;
    agents->calls->ended(agents->context);
    ended(agent, end, text);
    agents->calls->settled(agents->context);
}

int agents_open_line(struct launcher_agent *agent, int fd, const struct net_options *options,
                     agents_line_ended *ended)
{
    static const struct net_handlers handlers = {.message = on_message, .closed = on_closed};
    struct agents *agents = agent->all;
    struct launcher_line *line = calloc(1, sizeof *line);
    int error =
        line ? net_open(&agents->common->loop, fd, options, &handlers, line, &line->connection)
             : -ENOMEM;

    if (error) {
        free(line);
        return error;
    }
    line->agent = agent;
    line->agents = agents;
    line->ended = ended;
    agent->line = line;
    agents_move(agent, AGENT_LINKED);
    agent->heard_ms = launcher_now_ms();
    forget_report(agent);
    agent->dismissed = false;
    agent->calls = agent->answers = agent->called_at = 0;
    if (agents->paused)
        net_pause(line->connection);
    return 0;
}

/* ---- What becomes of an agent ---- */

void agents_hello(struct launcher_agent *agent, const struct wire_hello *hello)
{
    struct agents *agents = agent->all;

    free(agent->called);
    free(agent->addresses);
    agent->called = strdup(hello->name);
    agent->addresses =
        agent->adapter ? adapter_first(hello->addresses, agent->adapter) : strdup(hello->addresses);
    agent->cores = hello->cores;
    agents->calls->watched(agents->context);
    agents_move(agent, AGENT_UP);
}

const struct launcher_agent *agents_twin(const struct launcher_agent *agent,
                                         const struct wire_hello *hello)
{
    const struct agents *agents = agent->all;

    for (uint32_t i = 0; i < agents->count; i++) {
        const struct launcher_agent *other = &agents->items[i];

        if (other != agent && agents_is_up(other) && other->called && other->addresses &&
            strcmp(other->called, hello->name) == 0 &&
            adapter_same(other->addresses, hello->addresses))
            return other;
    }
    return NULL;
}

void agents_started(struct launcher_agent *agent)
{
    agents_move(agent, AGENT_STARTED);
}

void agents_lost(struct launcher_agent *agent, enum agent_loss loss, int status, const char *text)
{
    struct agents *agents = agent->all;

    if (life_is_over(&agents->common->life)) {
        agents->calls->settled(agents->context);
        return;
    }
    agents->calls->lost(agents->context, agent, loss, status, text);
    check_roll(agents);
}

void agents_give_up(struct launcher_agent *agent, enum agent_loss loss, const char *text)
{
    if (agent->line) {
        struct net_connection *connection = agent->line->connection;

        forget_line(agent);
        /* A heartbeat that arrived after the connection recovered would give the agent time that
         * the fence does not grant. */
        if (loss == AGENT_CUT || loss == AGENT_SILENT)
            net_cut(connection);
        else
            net_close(connection);
    }
    agents_move(agent, AGENT_ABSENT);
    agents_lost(agent, loss, 0, text);
}

bool agents_dismiss(struct launcher_agent *agent)
{
    struct wire_message farewell = {.kind = WIRE_EXIT};

    agent->dismissed = true;
    agents_send(agent, &farewell);
    return agent->line != NULL;
}

/* ---- What is sent ---- */

void agents_set_term(struct agents *agents, uint32_t term)
{
    agents->term = term;
}

void agents_send(struct launcher_agent *agent, struct wire_message *message)
{
    struct agents *agents = agent->all;
    int error;

    if (!agent->line)
        return;
    memcpy(message->envelope.job, agents->common->saved.job, sizeof message->envelope.job);
    message->envelope.term = agents->term;
    error = net_send(agent->line->connection, message);
    if (error == -EINVAL || error == -EMSGSIZE || error == -ENOMEM) {
        notices_say(&agents->common->notices, "the arguments or the environment are too long: %s",
                    strerror(-error));
        agents->calls->unsendable(agents->context);
        net_close(agent->line->connection);
    }
}

void agents_send_all(struct agents *agents, struct wire_message *message)
{
    for (uint32_t i = 0; i < agents->count; i++)
        agents_send(&agents->items[i], message);
}

void agents_pause(struct agents *agents, bool pause)
{
    agents->paused = pause;
    for (uint32_t i = 0; i < agents->count; i++) {
        struct launcher_agent *agent = &agents->items[i];

        agent->heard_ms = launcher_now_ms(); /* messages may have arrived unread meanwhile */
        if (agent->line && pause)
            net_pause(agent->line->connection);
        else if (agent->line)
            net_resume(agent->line->connection);
    }
}

/* ---- The end ---- */

void agents_over(struct agents *agents, enum agents_leftovers leftovers)
{
    agents->leftovers = leftovers;
}

bool agents_has_lines(const struct agents *agents)
{
    for (uint32_t i = 0; i < agents->count; i++)
        if (agents->items[i].line)
            return true;
    return false;
}

void agents_cut_line(struct launcher_agent *agent)
{
    if (agent->line)
        net_close(agent->line->connection);
}

void agents_cut_lines(struct agents *agents)
{
    for (uint32_t i = 0; i < agents->count; i++)
        agents_cut_line(&agents->items[i]);
}

void agents_kill(struct agents *agents)
{
    for (uint32_t i = 0; i < agents->count; i++) {
        struct launcher_agent *agent = &agents->items[i];

        if (agent->local && agent->line)
            kill(agent->pid, SIGKILL);
        else if (agent->line)
            net_close(agent->line->connection);
    }
}
