/* launcher_start.c - sends START to agents; the slots of the processes of a new job, which it says.
 *
 * Happy path: HELLO of an agent -> START as soon as the possible number of processes is known.
 *
 * What can fail: an agent that replaces another one restores (START with resume), and the program
 * is taken from the manifest.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "bsprun/launcher/launcher_inside.h"
#include "bsprun/launcher/map.h"
#include "bsprun/launcher/program.h"
#include "bsprun/launcher/window.h"

/* The slots of the processes of a new job whose program calls bsp_begin(wanted).  False: not known
 * yet. */
static bool find_slots(struct launcher *launcher, uint32_t wanted, uint64_t *slots)
{
    struct map_begin begin = {.hosts = launcher->elect_lists.hosts,
                              .program = job_machine_program(launcher->machine),
                              .wanted = wanted};

    if (!agents_slots(&launcher->agents, launcher->elect_lists.hosts, &begin.count))
        return false;
    for (uint32_t i = 0; i < begin.count; i++) {
        struct wire_host *host = &launcher->elect_lists.hosts[i];

        host->drained = job_machine_drained(launcher->machine, host->host);
    }
    *slots = map_slots(launcher->common.options, &begin);
    return true;
}

void launcher_warn_oversubscribed(struct launcher *launcher)
{
    const struct options *options = launcher->common.options;
    uint32_t wanted = launcher->begin_wanted;
    char line[HOSTS_ERROR];
    uint64_t slots;

    if ((agents_has_hosts(&launcher->agents) || launcher->agents.items[0].slots > 0) &&
        !options->hosts.oversubscribe && find_slots(launcher, wanted, &slots) &&
        hosts_crowded(wanted, (uint32_t)options->processes, slots, line))
        notices_say(&launcher->common.notices, "%s", line);
}

static void fill_snapshots(const struct launcher *launcher, struct wire_start *start)
{
    const struct options_snapshots *snapshots = &launcher->common.options->snapshots;

    start->store = launcher->common.saved.job_directory;
    start->home = launcher->common.saved.home;
    start->recover = launcher_has_snapshots(launcher);
    start->alone = start->recover && !snapshots->together;
    start->rule = start->recover ? snapshots->rule : WIRE_RULE_OFF;
    start->every = snapshots->every;
    start->overhead = snapshots->overhead;
    start->bounded = snapshots->bounded;
    start->async = snapshots->async;
    start->keep = snapshots->keep;
    start->balance = start->recover && agents_has_hosts(&launcher->agents) &&
                     launcher->common.options->hosts.balance;
    start->at_once = launcher->common.options->hosts.at_once;
    start->copies = launcher->common.options->hosts.copies;
    start->replicas = replica_counts_most(&launcher->replicas.wanted, WIRE_RANKS_MAX);
    start->any_replica_files = launcher->common.options->hosts.any_replica_files;
    start->on_mismatch = launcher->common.options->hosts.on_mismatch;
    start->replica_log = launcher->common.options->hosts.replica_log;
    start->stop_on_failure = snapshots->on_refusal != ON_REFUSAL_CONTINUE;
    start->stop_on_late_failure = snapshots->on_refusal == ON_REFUSAL_STOP;
    start->excluded = (struct wire_texts){snapshots->excluded, (uint32_t)snapshots->excluded_count};
    start->options = (struct wire_texts){(const char *const *)launcher->common.options->kept,
                                         (uint32_t)launcher->common.options->kept_count};
    if (start->stdio == WIRE_STDIO_INHERIT)
        start->stdio = WIRE_STDIO_PLAIN;
}

/* Makes a relative name of the program absolute, as the program begins in another directory.  Links
 * are not followed: some programs look at the name by which they were called. */
static const char *absolute_program(struct launcher *launcher, const char *found)
{
    size_t size = sizeof launcher->program;

    if (found[0] == '/')
        return snprintf(launcher->program, size, "%s", found) < (int)size ? launcher->program
                                                                          : NULL;
    return snprintf(launcher->program, size, "%s/%s", launcher->working, found) < (int)size
               ? launcher->program
               : NULL;
}

/* Resolves the program's name in this directory, for agents on other hosts and for --wdir. */
static void name_program(struct launcher *launcher, const struct launcher_agent *agent,
                         struct wire_start *start)
{
    const struct options *options = launcher->common.options;
    const char *wanted = options->run.directory, *whole;
    char found[PATH_MAX];

    start->program = options->command[0];
    start->directory_needed = wanted != NULL;
    if (wanted)
        start->directory = wanted;
    if (agent->local && !wanted)
        return;
    if (getcwd(launcher->working, sizeof launcher->working) && !wanted)
        start->directory = launcher->working;
    if (!program_find(options->command[0], options->lookup("PATH"), found, sizeof found))
        return;
    if (agent->local && (whole = absolute_program(launcher, found)))
        start->program = whole;
    else if (!agent->local && realpath(found, launcher->program))
        start->program = launcher->program;
}

/* Fills in the program, or that of the snapshot. */
static void fill_program(struct launcher *launcher, const struct launcher_agent *agent,
                         struct wire_start *start)
{
    const struct options *options = launcher->common.options;
    const struct manifest *manifest = &launcher->common.saved.manifest;
    uint64_t slots;

    bool restores = launcher->common.saved.store && job_machine_restores(launcher->machine);

    start->program = start->directory = "";
    /* Where it has begun it does not begin again, if that host comes back. */
    start->resume = restores || agent->host != job_machine_program(launcher->machine) ||
                    job_machine_joins(launcher->machine, agent->host);
    start->process_limit = (uint32_t)options->processes;
    if (!start->resume) {
        if (find_slots(launcher, 0, &slots))
            start->slots = (uint32_t)slots;
        name_program(launcher, agent, start);
        start->arguments = (struct wire_texts){(const char *const *)options->command + 1,
                                               (uint32_t)options->command_length - 1};
        start->only_named = options->run.only_named;
        start->environment = (struct wire_texts){options->exports, (uint32_t)options->export_count};
        return;
    }
    if (!restores)
        return; /* processes there are made from the image of process 0 */
    saved_look(&launcher->common.saved);
    if (!launcher->common.saved.has_manifest)
        return;
    start->program = manifest->program;
    start->arguments = manifest->arguments;
    start->environment = manifest->environment;
    start->directory = manifest->directory;
    start->process_limit = manifest->nprocs;
}

/* The remaining time limit, for an agent that replaces another one. */
static uint64_t time_left(struct launcher *launcher)
{
    uint64_t all = (uint64_t)(launcher->common.options->timeout * 1e9);

    if (launcher->begun_ms == 0)
        launcher->begun_ms = launcher_now_ms();
    if (job_machine_term(launcher->machine) == 0)
        return all;
    uint64_t passed = (launcher_now_ms() - launcher->begun_ms) * 1000000u;

    return all == 0 || passed < all ? all - (all ? passed : 0) : 1;
}

static void send_start(struct launcher *launcher, struct launcher_agent *agent)
{
    const struct options *options = launcher->common.options;
    struct wire_message message = {.kind = WIRE_START};
    struct wire_start *start = &message.start;
    struct window window = window_look();

    start->host = agent->host;
    start->bind = options->bind;
    start->map = options->map;
    start->report_bindings = options->run.report_bindings;
    start->stdio = launcher->output.mode;
    start->terminals = options->run.output ? 0 : window.terminals;
    start->discards = options->run.output ? 0 : window.discards;
    start->rows = window.rows;
    start->columns = window.columns;
    start->report = options->report;
    start->core_dumps = options->core_dumps;
    start->stdin_pid = options->run.stdin_pid;
    start->end_on_bad_exit = options->run.end_on_bad_exit;
    start->verbosity = (uint32_t)options->verbosity;
    start->timeout_ns = time_left(launcher);
    start->stacks_ms = options->run.stacks ? 2 * LAUNCHER_STACKS_MS : 0;
    start->debug_all = options->debug.all;
    start->debug = (struct wire_numbers){options->debug.pids, options->debug.count};
    start->attach = options->debug.attach ? debugger_attaches(options) : WIRE_ATTACH_NOT;
    start->window = options->debug.xterm ? debugger_window(options) : "";
    start->consult_every = options->faults.consult_every;
    start->abort_at = options->faults.abort_at;
    start->owner_policy = options->hosts.owner.policy;
    start->owner_input_ms = options->hosts.owner.input_ms;
    start->owner_load = options->hosts.owner.load;
    start->owner_quiet_ms = options->hosts.owner.quiet_ms;
    start->dataspace_memory = options->run.dataspace_memory;
    fill_program(launcher, agent, start);
    if (launcher->common.saved.store)
        fill_snapshots(launcher, start);
    agents_send(agent, &message);
    launcher_limit_with_stacks(launcher);
}

static void start_if_possible(struct launcher *launcher, struct launcher_agent *agent)
{
    bool begins = agent->host == job_machine_program(launcher->machine) &&
                  !job_machine_restores(launcher->machine) &&
                  launcher->common.options->processes == 0;
    uint64_t slots;

    if (agent->state != AGENT_UP || (begins && !find_slots(launcher, 0, &slots)))
        return;
    agents_started(agent);
    send_start(launcher, agent);
}

void launcher_start_when_possible(struct launcher *launcher)
{
    if (life_is_over(&launcher->common.life))
        return;
    for (uint32_t i = 0; i < launcher->agents.count; i++)
        start_if_possible(launcher, &launcher->agents.items[i]);
}
