/* options_inside.h - what the files that read options share.  Internal.
 *
 *   options_sources.c    the environment, and the job to restart
 *   options.c            the command line
 *   options_hosts.c      values of options about hosts, and which hosts these name
 *   options_owner.c      the value of --owner-policy
 *   options_snapshots.c  values of options about snapshots
 *   options_run.c        values of options that mpirun and srun have, too
 *   options_debug.c      values of options about debuggers
 *   options_values.c     all other values
 *   options_table.c      the table of options, and the variables that replace them
 *
 * Each calls only functions of the files below it. */
#ifndef BSPRUN_OPTIONS_INSIDE_H
#define BSPRUN_OPTIONS_INSIDE_H

#include "bsprun/options/options.h"

enum option_code {
    OPT_NP = 1,
    OPT_VERBOSE,
    OPT_SPLIT,
    OPT_TAG,
    OPT_EXPORT,
    OPT_BIND,
    OPT_TIMEOUT,
    OPT_REPORT,
    OPT_PROGRESS,
    OPT_TOTAL,
    OPT_CORE,
    OPT_HELP,
    OPT_VERSION,
    OPT_INPUT_DIFFERS,
    OPT_NO_HISTORY,
    OPT_REPORT_FILE,
    OPT_REPORT_HTML,
    OPT_OLD_RESTART,
    OPT_RESTART,
    OPT_CKPT,
    OPT_HOSTS,
    OPT_HOSTFILE,
    OPT_OLD_HOSTLIST,
    OPT_OLD_LOCAL,
    OPT_OLD_NOLOCAL,
    OPT_MAP_BY,
    OPT_SPARES,
    OPT_LAUNCHER,
    OPT_HEARTBEAT,
    OPT_CONNECT_TIMEOUT,
    OPT_PORTS,
    OPT_COPIES,
    OPT_REPLICAS,
    OPT_REPLICAS_ON_HOST,
    OPT_REPLICA_LOG,
    OPT_ON_MISMATCH,
    OPT_REPLICA_FILES,
    OPT_ENCRYPT,
    OPT_OVERSUBSCRIBE,
    OPT_LOAD,
    OPT_BALANCE,
    OPT_PRECOPY,
    OPT_REJOIN,
    OPT_OWNER_POLICY,
    OPT_EVERY,
    OPT_OVERHEAD,
    OPT_MTBF,
    OPT_ASYNC,
    OPT_KEEP,
    OPT_MAX_RESTARTS,
    OPT_EXCLUDE,
    OPT_ON_REFUSE,
    OPT_RECOVER,
    OPT_GRACE,
    OPT_WDIR,
    OPT_DRY_RUN,
    OPT_DISPLAY_MAP,
    OPT_OUTPUT,
    OPT_TIMES,
    OPT_EXPORT_LIST,
    OPT_STDIN,
    OPT_DATASPACE_MEMORY,
    OPT_BINDINGS,
    OPT_STACKS,
    OPT_DEBUG,
    OPT_XTERM,
    OPT_ATTACH,
    OPT_BAD_EXIT,
    OPT_COUNT
};
_Static_assert(OPT_COUNT <= 128, "options.given has a bit for each");

/* Classes of options. */
enum option_subject {
    OF_THIS_RUN, /* a restart does not take it over, in contrast to all others */
    OF_THE_JOB,
    WHICH_HOSTS, /* these replace each other */
    OF_HOSTS,
    OF_SNAPSHOTS, /* without effect if there are no snapshots */
};

/* Reads the value of an option.  `source` precedes the value in messages: "--every " or
 * "BSPZERO_EVERY=".  False: invalid. */
typedef bool options_taker(struct options *options, enum option_code code, const char *source,
                           const char *text);

static inline bool options_given(const struct options *options, enum option_code code)
{
    return (options->given >> code & 1) != 0;
}

/* ---- options.c ---- */

/* Of any option. */
options_taker options_take;

/* ---- options_values.c ---- */

/* Sets OPTIONS_ERROR with this text; returns false. */
bool options_wrong(struct options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds to the note. */
void options_note(struct options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A restart may be called in another directory than the job was: if it is to take over the option
 * with the text that has just been read, it takes over `other` instead. */
bool options_keep_instead(struct options *options, enum option_code code, const char *text,
                          const char *other);

bool options_take_processes(struct options *options, const char *source, const char *text);
/* what: "bytes of memory", for the message about a value that is none. */
bool options_take_bytes(struct options *options, uint64_t *bytes, const char *source,
                        const char *text, const char *what);
bool options_take_timeout(struct options *options, const char *source, const char *text);
bool options_take_total(struct options *options, const char *source, const char *text);
/* The name of a file of the report; `file` is that member of the options. */
bool options_take_report(struct options *options, char **file, const char *source,
                         const char *text);
bool options_take_bind(struct options *options, const char *source, const char *text);
bool options_take_export(struct options *options, const char *text);

/* ---- options_run.c ---- */

/* The value of an option about how the program is run: where, with which streams. */
options_taker options_take_run;
/* After the last option of the command line: what they mean together. */
bool options_complete_run(struct options *options);
void options_free_run(struct options_run *run);

/* ---- options_debug.c ---- */

bool options_take_debug(struct options *options, const char *source, const char *text);
/* After the last option of the command line: what they mean together. */
bool options_complete_debug(struct options *options);
void options_free_debug(struct options_debug *debug);

/* ---- options_hosts.c ---- */

void options_host_defaults(struct options_hosts *hosts);
options_taker options_take_host;
void options_free_hosts(struct options_hosts *hosts);

/* ---- options_owner.c ---- */

void options_owner_defaults(struct options_owner *owner);
bool options_take_owner(struct options *options, const char *source, const char *text);

/* ---- options_snapshots.c ---- */

void options_snapshot_defaults(struct options_snapshots *snapshots);
options_taker options_take_snapshot;
void options_free_snapshots(struct options_snapshots *snapshots);

/* ---- options_table.c ---- */

/* For popt; `val` is the code. */
const struct poptOption *options_popt(void);
enum option_subject options_subject(enum option_code code);
/* What an option without a value sets to true; NULL: it does something else, or has a value. */
bool *options_flag(struct options *options, enum option_code code);
/* The name of an option, without dashes. */
const char *options_name(enum option_code code);
/* The code of an option; 0: no such name. */
enum option_code options_code(const char *name, size_t length);
/* The name most like a misspelled one; NULL: none is. */
const char *options_nearest(const char *word);

/* Each option of hosts and of snapshots has an environment variable, BSPZERO_ and its name.  Calls
 * `take` for those of the subject that are set and not empty, unless the option is given; false:
 * one is invalid. */
bool options_take_settings(struct options *options, enum option_subject subject,
                           options_taker *take);

#endif
