/* options.h - bsprun's command line and environment, read into one struct. */
#ifndef BSPRUN_OPTIONS_H
#define BSPRUN_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "bsprun/fault.h"
#include "bsprun/hosts/hosts.h"
#include "lib/wire/wire.h"

#define OPTIONS_SEPARATOR '\n' /* between rules in BSPZERO_CKPT_EXCLUDE */

/* Looks a variable up; NULL when it is not set. */
typedef const char *options_lookup(const char *name);

enum options_action { OPTIONS_RUN, OPTIONS_HELP, OPTIONS_VERSION, OPTIONS_ERROR };

/* When a snapshot that cannot be taken ends the job. */
enum on_refusal {
    ON_REFUSAL_FIRST, /* as long as none was taken at a barrier */
    ON_REFUSAL_STOP,
    ON_REFUSAL_CONTINUE, /* never */
};

/* Snapshots and recovery. */
struct options_snapshots {
    char *directory;     /* --ckpt; NULL: none; owned */
    char *restart;       /* DIR or DIR/JOB to restart from, NULL: none; owned */
    uint64_t restart_at; /* the superstep, WIRE_NEVER: the newest snapshot */
    bool restart_old;    /* -restart: the directory is derived from the program */
    enum wire_rule rule;
    uint64_t every;   /* supersteps, or nanoseconds */
    double overhead;  /* between 0 and 1 */
    bool bounded;     /* the user set the overhead: an upper bound */
    uint64_t mtbf_ns; /* of one host, set by the user; 0: not set */
    enum wire_async async;
    uint32_t keep; /* 0: all */
    uint32_t max_restarts;
    const char **excluded; /* owned */
    int excluded_count;
    enum on_refusal on_refusal;
    bool together; /* --recover all: no process is restarted alone */
    uint64_t grace_ms;
};

/* What is done on a host whose owner is active; see struct owner_rule. */
struct options_owner {
    enum wire_policy policy;
    uint64_t input_ms, quiet_ms;
    double load; /* cores */
};

/* Where the processes run. */
struct options_hosts {
    char *list, *file, *old_file; /* --hosts, --hostfile, -hostlist; NULL: not set; owned */
    bool local, nolocal;          /* old options: on this host, or on those of the old host file */
    bool by_node;                 /* --map-by node: round robin */
    uint32_t spares;              /* the last so many hosts are spares */
    char *launcher;               /* ssh, slurm or a command; NULL: chosen automatically; owned */
    uint64_t heartbeat_ms;
    uint64_t connect_ms;            /* timeout for an agent to connect */
    uint64_t rejoin_ms;             /* after which a lost host is tried again; 0: never */
    uint32_t first_port, last_port; /* ports on which the job may listen; 0: any */
    uint32_t copies;                /* of each image, where hosts do not share the directory */
    struct replica_counts replicas; /* of each process, on as many hosts */
    bool replicas_on_host;          /* ... all on the same host: each runs so many agents */
    bool any_replica_files;         /* --replica-files allow */
    enum wire_mismatch on_mismatch;
    uint64_t replica_log; /* bytes in memory of what is kept for replicas that are behind */
    bool encrypt, oversubscribe, load;
    bool balance; /* processes move to other hosts by Processor Zero's decision */
    bool at_once; /* they move at the next snapshot, for which nothing is prepared */
    struct options_owner owner;

    const char *const *addresses; /* of this host, NULL-terminated; NULL: unknown */

    /* Found by options_find_hosts. */
    struct hosts all;
    char own[WIRE_NAME_MAX + 1]; /* the name of this host in the list */
    bool slurm;                  /* they are nodes of the present Slurm allocation */
    bool only_here;              /* there is only this host */
};

/* How the program is run. */
struct options_run {
    char *directory; /* --wdir: absolute; NULL: where bsprun is; owned */
    bool dry_run;    /* only the map is shown */
    bool display_map;
    char *output;       /* --output: the directory, absolute; NULL: none; owned */
    bool times;         /* --timestamp-output */
    bool only_named;    /* --export: the program has no other variables than the exported ones */
    bool no_stdin;      /* --stdin none */
    uint32_t stdin_pid; /* --stdin PID: the process that reads it */
    uint64_t dataspace_memory; /* bytes; 0: not set */
    bool report_bindings;
    bool stacks;          /* --stacks: are printed before the job is ended */
    bool end_on_bad_exit; /* --kill-on-bad-exit: also after bsp_end */
};

/* --debug, --attach-on-error. */
struct options_debug {
    bool asked, all;
    bool attach;    /* to processes that fail */
    bool xterm;     /* in windows */
    uint64_t *pids; /* owned */
    uint32_t count;
};

/* A bit for each option. */
__extension__ typedef unsigned __int128 option_set;

struct options {
    enum options_action action;
    int processes; /* 0: not set */
    int verbosity;
    enum wire_stdio stdio;
    enum wire_bind bind; /* after options_find_hosts also as --map-by has it */
    enum wire_map map;
    double timeout; /* seconds; 0: none */
    bool report, progress, core_dumps;
    char *report_file;         /* --report=FILE: JSON; NULL: none; owned */
    char *report_page;         /* --report=html FILE; NULL: none; owned */
    uint64_t total_supersteps; /* of the program; 0: unknown */
    bool no_history;           /* the history is neither read nor written */
    bool input_differs;        /* a restart may have different input */
    const char **exports;      /* NAME=VALUE, for -x; owned */
    int export_count;
    char **command; /* program and arguments, NULL-terminated; owned */
    int command_length;
    struct options_run run;
    struct options_debug debug;
    struct options_snapshots snapshots;
    struct options_hosts hosts;
    option_set given; /* bits: set by the command line, or taken over from the
                                            job to restart */
    char **kept;      /* NAME=VALUE of options that a restart takes over; owned */
    int kept_count;
    options_lookup *lookup;
    struct faults faults;
    char note[256];                /* a line for stderr, or "" */
    char error[HOSTS_ERROR + 112]; /* with OPTIONS_ERROR */
};

/* Reads the command line, and the environment except for snapshots.  Free with options_free,
 * whatever the result. */
void options_parse(int argc, const char **argv, options_lookup *lookup, struct options *options);
void options_free(struct options *options);

/* The functions below, but the last one, return false and OPTIONS_ERROR on failure. */

/* Decides whether there are snapshots: by the command line, the environment, or because the program
 * was linked with -fcheckpointing (linked_seconds, 0: it was not).  For a new job also reads their
 * options from the environment. */
bool options_complete(struct options *options, int linked_seconds);

/* Takes over the options of the job to restart (its `kept`), except those set anew; then reads the
 * environment. */
bool options_recall(struct options *options, const char *const *words, uint32_t count);

/* Finds the hosts of the job, as seen from the host with host name `own`, by the first of: the
 * command line, the job to restart, BSPZERO_HOSTS or BSPZERO_HOSTFILE, the present Slurm
 * allocation; else this host alone.  Also reads their options from the environment.  Reads host
 * files. */
bool options_find_hosts(struct options *options, const char *own);
/* The same, as seen from this host, including its addresses. */
bool options_find_hosts_from_here(struct options *options);

/* Whether --debug goes together with the snapshots, and with the hosts once they are known. */
bool options_check_debug(struct options *options);

/* The number of usable cores of this host: by affinity mask and quota; at least 1. */
uint32_t options_own_cores(void);
/* A job cannot have more, whatever slots its hosts have. */
uint32_t options_most_processes(void);

extern const char options_help[];

#endif
