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
    ON_REFUSAL_FIRST, /* as long as none could be, at a barrier */
    ON_REFUSAL_STOP,
    ON_REFUSAL_CONTINUE, /* never */
};

/* Snapshots, and what comes after a fault. */
struct options_snapshots {
    char *directory;     /* --ckpt; NULL: none; owned */
    char *restart;       /* DIR or DIR/JOB to go on from, NULL: none; owned */
    uint64_t restart_at; /* the superstep, WIRE_NEVER: the newest snapshot */
    bool restart_old;    /* -restart: the directory follows from the program */
    enum wire_rule rule;
    uint64_t every;  /* supersteps, or nanoseconds */
    double overhead; /* between 0 and 1 */
    bool bounded;    /* ... was given: snapshots shall not take more */
    uint64_t mtbf_ns; /* of one host, as the user says; 0: it was not given */
    enum wire_async async;
    uint32_t keep; /* 0: all */
    uint32_t max_restarts;
    const char **excluded; /* owned */
    int excluded_count;
    enum on_refusal on_refusal;
    uint64_t grace_ms;
};

/* Where the processes run. */
struct options_hosts {
    char *list, *file, *old_file; /* --hosts, --hostfile, -hostlist; NULL: not given; owned */
    bool local, nolocal;          /* of old: here, or where the old host file says */
    bool by_node;                 /* --map-by node: the next process on the next host */
    uint32_t spares;              /* so many hosts, the last ones, are kept for later */
    char *launcher;               /* ssh, slurm or a command; NULL: as it fits; owned */
    uint64_t heartbeat_ms;
    uint64_t connect_ms;            /* how long an agent may take to come */
    uint32_t first_port, last_port; /* where the job may listen; 0: anywhere */
    uint32_t copies;                /* of each image, where hosts do not share the directory */
    bool encrypt, oversubscribe, load;

    const char *const *addresses; /* of this host, NULL-terminated; NULL: not known */

    /* Found by options_find_hosts. */
    struct hosts all;
    char own[WIRE_NAME_MAX + 1]; /* what this host is called among them */
    bool slurm;                  /* they are nodes of the Slurm allocation this is in */
    bool only_here;              /* there is but one, and it is this */
};

struct options {
    enum options_action action;
    int processes; /* 0: not given */
    int verbosity;
    enum wire_stdio stdio;
    enum wire_bind bind;
    double timeout; /* seconds; 0: none */
    bool report, progress, core_dumps;
    char *report_file; /* --report=FILE: JSON; NULL: none; owned */
    uint64_t total_supersteps; /* how many the program will make; 0: not known */
    bool no_history;      /* nothing is read or written of what earlier jobs saw */
    bool input_differs;   /* a restart may be given another input than the job had */
    const char **exports; /* NAME=VALUE, for -x; owned */
    int export_count;
    char **command; /* program and arguments, NULL-terminated; owned */
    int command_length;
    struct options_snapshots snapshots;
    struct options_hosts hosts;
    uint64_t given; /* bits: by the command line, or taken over from the job to restart */
    char **kept;    /* NAME=VALUE of what a restart shall take over; owned */
    int kept_count;
    options_lookup *lookup;
    struct faults faults;
    char note[256];                /* worth a line on stderr, "" if nothing */
    char error[HOSTS_ERROR + 112]; /* with OPTIONS_ERROR */
};

/* Reads the command line, and of the environment what does not concern snapshots.  The result is to
 * be freed with options_free, whatever it is. */
void options_parse(int argc, const char **argv, options_lookup *lookup, struct options *options);
void options_free(struct options *options);

/* The four below: false and OPTIONS_ERROR, when something is wrong. */

/* Decides whether there are snapshots: by the command line, the environment, or because the program
 * was linked with -fcheckpointing (that many seconds, 0: it was not).  For a new job also reads
 * what the environment says of them. */
bool options_complete(struct options *options, int linked_seconds);

/* Takes over what the job to restart was started with (`kept` of then), except what was given anew;
 * then the environment. */
bool options_recall(struct options *options, const char *const *words, uint32_t count);

/* Which hosts the job has, seen from the host that calls itself `own`, and what the environment
 * says of them: by the command line, the job to restart, BSPZERO_HOSTS or BSPZERO_HOSTFILE, the
 * Slurm allocation this is in, in this order; else this host alone.  Reads host files. */
bool options_find_hosts(struct options *options, const char *own);
/* The same, seen from this host, whose addresses are known, too. */
bool options_find_hosts_from_here(struct options *options);

extern const char options_help[];

#endif
