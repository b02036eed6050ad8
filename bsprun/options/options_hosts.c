/* options_hosts.c - bsprun's options about hosts: their values, and the hosts they name. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/hosts/adapter.h"
#include "bsprun/hosts/launch_command.h"
#include "bsprun/options/options_inside.h"

#define OLD_HOST_FILE             ".bsptcphosts"
#define HOST_FILE_MAX             (1u << 20)
#define HEARTBEAT_DEFAULT         10000u /* milliseconds */
#define CONNECT_DEFAULT           30000u
#define REJOIN_DEFAULT            60000u
#define SECONDS_MAX               86400.0
#define MILLISECONDS_LEAST        100u
#define MISMATCH_NAME(name, text) text,
#define COPIES_DEFAULT            2u
#define REPLICA_LOG_DEFAULT       (UINT64_C(256) << 20)

void options_host_defaults(struct options_hosts *hosts)
{
    *hosts = (struct options_hosts){.heartbeat_ms = HEARTBEAT_DEFAULT,
                                    .connect_ms = CONNECT_DEFAULT,
                                    .rejoin_ms = REJOIN_DEFAULT,
                                    .copies = COPIES_DEFAULT,
                                    .replica_log = REPLICA_LOG_DEFAULT,
                                    .balance = true};
    options_owner_defaults(&hosts->owner);
}

void options_free_hosts(struct options_hosts *hosts)
{
    free(hosts->list);
    free(hosts->file);
    free(hosts->old_file);
    free(hosts->launcher);
    hosts_free(&hosts->all);
}

/* ---- Values ---- */

static bool take_text(struct options *options, char **place, const char *source, const char *text,
                      const char *what)
{
    if (!*text)
        return options_wrong(options, "%s%s: %s is missing", source, text, what);
    free(*place);
    *place = strdup(text);
    return *place || options_wrong(options, "out of memory");
}

/* For a restart from another directory.  command: the text is one, quoted as in a shell. */
static bool keep_absolute(struct options *options, enum option_code code, const char *text,
                          bool command)
{
    char *here = getcwd(NULL, 0), *begin = here && command ? launch_quoted(here) : here, *whole;
    bool good = !here; /* the directory has no name: what was given stays */

    if (begin &&
        asprintf(&whole, "%s/%s", begin, command ? text + strspn(text, " \t\n") : text) >= 0) {
        good = options_keep_instead(options, code, text, whole);
        free(whole);
    }
    if (begin != here)
        free(begin);
    free(here);
    return good || options_wrong(options, "out of memory");
}

static bool take_host_file(struct options *options, const char *source, const char *text)
{
    return take_text(options, &options->hosts.file, source, text, "the name of the file") &&
           (text[0] == '/' || keep_absolute(options, OPT_HOSTFILE, text, false));
}

static bool take_map_by(struct options *options, const char *source, const char *text)
{
    const char *name = strcmp(text, "socket") == 0 ? "package" : text;
    uint32_t map = WIRE_MAP_SLOT;

    options->hosts.by_node = strcmp(text, "node") == 0;
    while (!options->hosts.by_node && map < WIRE_MAP_COUNT && strcmp(name, wire_map_text(map)) != 0)
        map++;
    if (map == WIRE_MAP_COUNT)
        return options_wrong(
            options, "%s%.80s: give slot, node, core, hwthread, package (or socket) or numa",
            source, text);
    options->map = (enum wire_map)map;
    return true;
}

/* As mpirun has it: what processes are mapped to they are bound to, unless it is said to what. */
static bool complete_binding(struct options *options)
{
    static const enum wire_bind same[WIRE_MAP_COUNT] = {
        [WIRE_MAP_HWTHREAD] = WIRE_BIND_HWTHREAD,
        [WIRE_MAP_CORE] = WIRE_BIND_CORE,
        [WIRE_MAP_PACKAGE] = WIRE_BIND_PACKAGE,
        [WIRE_MAP_NUMA] = WIRE_BIND_NUMA,
    };

    if (options->map != WIRE_MAP_SLOT && options->bind == WIRE_BIND_NONE)
        return options_wrong(options,
                             "--map-by %s and --bind-to none: processes that are not bound are not "
                             "mapped to a part of a host; give --map-by slot or node",
                             wire_map_text(options->map));
    if (options->bind == WIRE_BIND_DEFAULT)
        options->bind = same[options->map];
    return true;
}

static bool take_count(struct options *options, uint32_t *place, const char *source,
                       const char *text, uint32_t least, uint32_t most)
{
    char *end;

    errno = 0;
    long value = strtol(text, &end, 10);
    if (end == text || *end || errno || value < (long)least || value > (long)most)
        return options_wrong(options, "%s%.80s: give a number from %u to %u", source, text, least,
                             most);
    *place = (uint32_t)value;
    return true;
}

static bool take_launcher(struct options *options, const char *source, const char *text)
{
    const char **words = launch_words(text);
    bool is_command = words && words[0] && words[0][0] && text[0] != '-';
    bool relative = is_command && words[0][0] != '/' && strchr(words[0], '/');

    free(words);
    if (!is_command)
        return options_wrong(options,
                             "%s%.80s: give ssh, slurm, or a command that is called with a host "
                             "and what to execute there (quoted as in a shell)",
                             source, text);
    return take_text(options, &options->hosts.launcher, source, text, "the command") &&
           (!relative || keep_absolute(options, OPT_LAUNCHER, text, true));
}

static bool take_seconds(struct options *options, uint64_t *place, const char *source,
                         const char *text)
{
    char *end;

    errno = 0;
    double seconds = strtod(text, &end);
    if (end == text || (*end && strcmp(end, "s") != 0) || errno || !isfinite(seconds) ||
        seconds * 1000 < MILLISECONDS_LEAST || seconds > SECONDS_MAX)
        return options_wrong(options, "%s%.80s: give a number of seconds, 0.1 to 86400", source,
                             text);
    *place = (uint64_t)(seconds * 1000);
    return true;
}

/* A number of digits only, up to `end`. */
static bool read_port(const char *text, char end, const char **behind, uint32_t *port)
{
    *port = 0;
    for (*behind = text; **behind >= '0' && **behind <= '9' && *port <= WIRE_PORT_MAX; ++*behind)
        *port = *port * 10 + (uint32_t)(**behind - '0');
    return *behind > text && **behind == end && *port > 0 && *port <= WIRE_PORT_MAX;
}

static bool take_ports(struct options *options, const char *source, const char *text)
{
    struct options_hosts *hosts = &options->hosts;
    const char *behind;
    uint32_t first, last;

    if (!read_port(text, '-', &behind, &first) || !read_port(behind + 1, '\0', &behind, &last))
        return options_wrong(options, "%s%.80s: give two ports from 1 to %u, as 20000-20999",
                             source, text, WIRE_PORT_MAX);
    if (first > last)
        return options_wrong(options, "%s%.80s: the first port is above the last", source, text);
    hosts->first_port = first;
    hosts->last_port = last;
    return true;
}

/* Flags have no value on the command line and in options that a restart takes over; in the
 * environment it is 1 or 0. */
static bool take_switch(struct options *options, bool *place, const char *source, const char *text)
{
    *place = !text || !*text || strcmp(text, "1") == 0;
    return *place || strcmp(text, "0") == 0 ||
           options_wrong(options, "%s%.80s: give 1 or 0", source, text);
}

static bool take_balance(struct options *options, const char *source, const char *text)
{
    options->hosts.balance = strcmp(text, "auto") == 0;
    return options->hosts.balance || strcmp(text, "off") == 0 ||
           options_wrong(options, "%s%.80s: give auto or off", source, text);
}

static bool take_precopy(struct options *options, const char *source, const char *text)
{
    options->hosts.at_once = strcmp(text, "off") == 0;
    return options->hosts.at_once || strcmp(text, "auto") == 0 ||
           options_wrong(options, "%s%.80s: give auto or off", source, text);
}

static bool take_rejoin(struct options *options, const char *source, const char *text)
{
    if (strcmp(text, "off") != 0)
        return take_seconds(options, &options->hosts.rejoin_ms, source, text) ||
               options_wrong(options, "%s%.80s: give a number of seconds, 0.1 to 86400, or off",
                             source, text);
    options->hosts.rejoin_ms = 0;
    return true;
}

static bool take_replicas(struct options *options, const char *source, const char *text)
{
    char why[REPLICA_WHY];

    return replica_counts_parse(&options->hosts.replicas, text, why) ||
           options_wrong(options, "%s%s", source, why);
}

static bool take_mismatch(struct options *options, const char *source, const char *text)
{
    static const char *const names[WIRE_MISMATCH_COUNT] = {WIRE_MISMATCHES(MISMATCH_NAME)};

    for (int i = 0; i < WIRE_MISMATCH_COUNT; i++)
        if (strcmp(text, names[i]) == 0) {
            options->hosts.on_mismatch = (enum wire_mismatch)i;
            return true;
        }
    return options_wrong(options, "%s%.80s: give rollback, continue or end", source, text);
}

static bool take_replica_files(struct options *options, const char *source, const char *text)
{
    options->hosts.any_replica_files = strcmp(text, "allow") == 0;
    return options->hosts.any_replica_files || strcmp(text, "check") == 0 ||
           options_wrong(options, "%s%.80s: give check or allow", source, text);
}

static bool take_log(struct options *options, const char *source, const char *text)
{
    return options_take_bytes(options, &options->hosts.replica_log, source, text,
                              "bytes of memory on each host");
}

bool options_take_host(struct options *options, enum option_code code, const char *source,
                       const char *text)
{
    struct options_hosts *hosts = &options->hosts;

    switch (code) {
    case OPT_HOSTS:
        return take_text(options, &hosts->list, source, text, "the name of a host");
    case OPT_HOSTFILE:
        return take_host_file(options, source, text);
    case OPT_OLD_HOSTLIST:
        return take_text(options, &hosts->old_file, source, text, "the name of the file");
    case OPT_MAP_BY:
        return take_map_by(options, source, text);
    case OPT_SPARES:
        return take_count(options, &hosts->spares, source, text, 0, HOSTS_MAX - 1);
    case OPT_LAUNCHER:
        return take_launcher(options, source, text);
    case OPT_HEARTBEAT:
        return take_seconds(options, &hosts->heartbeat_ms, source, text);
    case OPT_CONNECT_TIMEOUT:
        return take_seconds(options, &hosts->connect_ms, source, text);
    case OPT_PORTS:
        return take_ports(options, source, text);
    case OPT_COPIES:
        return take_count(options, &hosts->copies, source, text, 1, COORD_COPIES_MAX);
    case OPT_REPLICAS:
        return take_replicas(options, source, text);
    case OPT_REPLICAS_ON_HOST:
        return take_switch(options, &hosts->replicas_on_host, source, text);
    case OPT_ON_MISMATCH:
        return take_mismatch(options, source, text);
    case OPT_REPLICA_FILES:
        return take_replica_files(options, source, text);
    case OPT_REPLICA_LOG:
        return take_log(options, source, text);
    case OPT_BALANCE:
        return take_balance(options, source, text);
    case OPT_PRECOPY:
        return take_precopy(options, source, text);
    case OPT_REJOIN:
        return take_rejoin(options, source, text);
    case OPT_OWNER_POLICY:
        return options_take_owner(options, source, text);
    case OPT_ENCRYPT:
        return take_switch(options, &hosts->encrypt, source, text);
    case OPT_OVERSUBSCRIBE:
        return take_switch(options, &hosts->oversubscribe, source, text);
    default:
        return take_switch(options, &hosts->load, source, text);
    }
}

/* ---- Host files ---- */

/* The contents of a file of reasonable size; NULL with errno. */
static char *read_all(const char *path, size_t *size)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    char *text = fd < 0 ? NULL : malloc(HOST_FILE_MAX + 1);
    ssize_t got = 0;

    *size = 0;
    while (text && *size <= HOST_FILE_MAX &&
           (got = read(fd, text + *size, HOST_FILE_MAX + 1 - *size)) > 0)
        *size += (size_t)got;
    if (text && (got < 0 || *size > HOST_FILE_MAX)) {
        int error = got < 0 ? errno : EFBIG;

        free(text);
        text = NULL;
        errno = error;
    }
    if (fd >= 0) {
        int error = errno;

        close(fd);
        errno = error;
    }
    return text;
}

static bool take_file(struct options *options, const char *source, const char *path)
{
    char error[HOSTS_ERROR];
    size_t size;
    char *text = read_all(path, &size);

    if (!text)
        return options_wrong(options, "%s%.200s: %s", source, path, strerror(errno));
    bool good = hosts_from_file(&options->hosts.all, path, text, size, options->lookup, error);
    free(text);
    return good || options_wrong(options, "%s", error);
}

/* Such names are traditionally relative to the home directory.  False: there is no such file. */
static bool find_old_file(const struct options *options, const char *name, char *path, size_t size)
{
    const char *home = options->lookup("HOME");

    if (name[0] == '/' || !home || !*home)
        return snprintf(path, size, "%s", name) < (int)size && access(path, F_OK) == 0;
    return snprintf(path, size, "%s/%s", home, name) < (int)size && access(path, F_OK) == 0;
}

/* ---- Which hosts ---- */

static bool take_list(struct options *options, const char *source, const char *text)
{
    char error[HOSTS_ERROR];

    return hosts_from_list(&options->hosts.all, text, source, error) ||
           options_wrong(options, "%s", error);
}

static bool take_slurm(struct options *options)
{
    char error[HOSTS_ERROR];

    return hosts_from_slurm(&options->hosts.all, options->lookup, error) ||
           options_wrong(options, "the Slurm allocation is not understood: %s", error);
}

/* Uses the first source that is set.  False with a message; no host: none was named. */
static bool take_hosts(struct options *options)
{
    struct options_hosts *hosts = &options->hosts;
    const char *list = options->lookup("BSPZERO_HOSTS");
    const char *file = options->lookup("BSPZERO_HOSTFILE");
    char path[PATH_MAX];

    if (hosts->local)
        return true;
    if (hosts->list && hosts->file)
        return options_wrong(options, "--hosts and --hostfile: give one of them");
    if (hosts->list)
        return take_list(options, "--hosts ", hosts->list);
    if (hosts->file)
        return take_file(options, "--hostfile ", hosts->file);
    if (hosts->old_file && find_old_file(options, hosts->old_file, path, sizeof path))
        return take_file(options, "-hostlist ", path);
    if (hosts->old_file) {
        options_note(options,
                     "-hostlist %.80s: there is no such file in the home directory; all "
                     "processes run on this host",
                     hosts->old_file);
        return true;
    }
    if (hosts->nolocal && find_old_file(options, OLD_HOST_FILE, path, sizeof path))
        return take_file(options, "-nolocal: ", path);
    if (list && *list)
        return take_list(options, "BSPZERO_HOSTS=", list);
    if (file && *file)
        return take_file(options, "BSPZERO_HOSTFILE=", file);
    return !hosts_in_slurm(options->lookup) || take_slurm(options);
}

/* Some have more replicas than others: who they are must be known before the hosts are divided. */
static bool check_replica_list(struct options *options, uint32_t usable)
{
    const struct replica_counts *counts = &options->hosts.replicas;
    char text[REPLICA_TEXT];
    uint32_t processes = (uint32_t)options->processes;

    if (options->snapshots.restart)
        return true; /* which begins with what there is */
    replica_counts_text(counts, text);
    if (processes == 0)
        return options_wrong(options,
                             "--replicas %.80s: give the number of processes, too, with -np", text);
    if (counts->named > processes)
        return options_wrong(options,
                             "--replicas %.80s: there is no process %u: with -np %u they are 0 to "
                             "%u",
                             text, counts->named - 1, processes, processes - 1);
    uint32_t needed = replica_counts_hosts(counts, processes);
    return usable >= needed ||
           options_wrong(options,
                         "--replicas %.80s: %u hosts are needed, as each host has processes with "
                         "the same number of replicas (those that are not named have one), and "
                         "there %s %u besides spares; list more with --hosts",
                         text, needed, usable == 1 ? "is" : "are", usable);
}

/* Each host then runs all replicas of its processes, in as many agents. */
static bool check_on_host(struct options *options, uint32_t most)
{
    const struct options_hosts *hosts = &options->hosts;

    if (hosts->replicas.named > 0)
        return options_wrong(options, "--replicas-on-host: give one number with --replicas, which "
                                      "is that of each process");
    if (most == 1)
        return options_wrong(options,
                             "--replicas-on-host: give their number, 2 to %u, with "
                             "--replicas",
                             WIRE_REPLICAS_MAX);
    if (hosts->spares > 0)
        return options_wrong(options,
                             "--replicas-on-host with --spares: the loss of a host is that "
                             "of all replicas there; give one of them");
    if (hosts->launcher ? strcmp(hosts->launcher, "slurm") == 0 : hosts->slurm)
        return options_wrong(options, "--replicas-on-host: Slurm starts one agent on each node; "
                                      "give --launcher ssh");
    return true;
}

/* What replicas do not go together with. */
static bool check_replicas(struct options *options)
{
    struct options_hosts *hosts = &options->hosts;
    uint32_t usable = hosts->all.count - hosts->spares;
    uint32_t most = replica_counts_most(&hosts->replicas, WIRE_RANKS_MAX);

    if (hosts->replicas_on_host && !check_on_host(options, most))
        return false;
    if (hosts->replicas.named > 0 && !check_replica_list(options, usable))
        return false;
    if (most == 1)
        return true;
    if (usable < most && !hosts->replicas_on_host)
        return options_wrong(options,
                             "--replicas %u: each process needs this number of hosts, and there %s "
                             "%u besides spares; list more with --hosts",
                             most, usable == 1 ? "is" : "are", usable);
    if (options->debug.asked || options->debug.attach)
        return options_wrong(options, "--replicas with debuggers: run the job without replicas");
    hosts->balance = false;                                /* who is slow does not count */
    hosts->load = hosts->load && !hosts->replicas_on_host; /* their order says who is a replica */
    return true;
}

static bool check_hosts(struct options *options)
{
    struct options_hosts *hosts = &options->hosts;

    if (hosts->launcher && strcmp(hosts->launcher, "slurm") == 0 &&
        !hosts_in_slurm(options->lookup))
        return options_wrong(options, "the launcher slurm: this is not inside a Slurm allocation");
    if (hosts->spares >= hosts->all.count && hosts->spares > 0)
        return options_wrong(options,
                             "%u spare host%s: there %s only %u in all, and one must run processes",
                             hosts->spares, hosts->spares == 1 ? "" : "s",
                             hosts->all.count == 1 ? "is" : "are", hosts->all.count);
    return check_replicas(options);
}

/* Whether all hosts but this one are nodes of the Slurm allocation, wherever they were named. */
static bool are_allocated(const struct options *options, const char *own)
{
    const struct hosts *all = &options->hosts.all;
    struct hosts nodes = {NULL, 0};
    char error[HOSTS_ERROR];
    uint32_t found = 0;

    if (all->count == 0 || !hosts_in_slurm(options->lookup) ||
        !hosts_from_slurm(&nodes, options->lookup, error))
        return false;
    for (uint32_t i = 0; i < all->count; i++) {
        bool known = hosts_is_own(all->items[i].name, own);

        for (uint32_t k = 0; k < nodes.count && !known; k++)
            known = strcasecmp(all->items[i].name, nodes.items[k].name) == 0;
        found += known;
    }
    hosts_free(&nodes);
    return found == all->count;
}

bool options_find_hosts(struct options *options, const char *own)
{
    struct options_hosts *hosts = &options->hosts;
    const char *node = options->lookup("SLURMD_NODENAME");
    char error[HOSTS_ERROR];

    if (!options_take_settings(options, OF_HOSTS, options_take_host) || !take_hosts(options))
        return false;
    if (hosts_in_slurm(options->lookup) && node && *node)
        own = node;
    hosts_find_own(&hosts->all, hosts->addresses);
    hosts->slurm = are_allocated(options, own);
    hosts_merge_own(&hosts->all, own);
    if (hosts->all.count == 0 && !hosts_mention(&hosts->all, NULL, "localhost", 0, error))
        return options_wrong(options, "%s", error);
    hosts_settle(&hosts->all, HOSTS_ALONE_UNKNOWN);
    snprintf(hosts->own, sizeof hosts->own, "%s", own);
    hosts->only_here = hosts->all.count == 1 && hosts_is_own(hosts->all.items[0].name, own);
    if (!check_hosts(options) || !complete_binding(options))
        return false;
    if (!hosts->replicas_on_host)
        return true;
    hosts->only_here = false;
    return hosts_multiply(&hosts->all, replica_counts_most(&hosts->replicas, WIRE_RANKS_MAX), own,
                          error) ||
           options_wrong(options, "%s", error);
}

static char *addresses_of(const char *name)
{
    const char *why;

    return adapter_resolve(name, &why);
}

bool options_find_hosts_from_here(struct options *options)
{
    char own[WIRE_NAME_MAX + 1] = "", error[HOSTS_ERROR];
    char **addresses = adapter_own();
    bool good;

    gethostname(own, sizeof own - 1);
    options->hosts.addresses = (const char *const *)addresses;
    good = options_find_hosts(options, own);
    options->hosts.addresses = NULL;
    adapter_free(addresses);
    if (good && hosts_named_twice(&options->hosts.all, addresses_of, error))
        good = options_wrong(options, "%s", error);
    return good;
}
