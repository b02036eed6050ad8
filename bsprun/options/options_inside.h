/* options_inside.h - what the files that read options share.  Internal. */
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
    OPT_OLD_RESTART,
    OPT_RESTART,
    OPT_CKPT,
    OPT_HOSTS, /* from here on: which hosts ... */
    OPT_HOSTFILE,
    OPT_OLD_HOSTLIST,
    OPT_OLD_LOCAL,
    OPT_OLD_NOLOCAL,
    OPT_MAP_BY, /* ... and what becomes of them */
    OPT_SPARES,
    OPT_LAUNCHER,
    OPT_HEARTBEAT,
    OPT_CONNECT_TIMEOUT,
    OPT_PORTS,
    OPT_COPIES,
    OPT_ENCRYPT,
    OPT_OVERSUBSCRIBE,
    OPT_LOAD,
    OPT_EVERY, /* from here on: what snapshots are like */
    OPT_OVERHEAD,
    OPT_MTBF,
    OPT_ASYNC,
    OPT_KEEP,
    OPT_MAX_RESTARTS,
    OPT_EXCLUDE,
    OPT_ON_REFUSE,
    OPT_GRACE,
    OPT_LAST = OPT_GRACE,
};

/* OPTIONS_ERROR with this text; false. */
bool options_wrong(struct options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Adds to what is worth a line. */
void options_note(struct options *options, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The name of an option, without dashes. */
const char *options_name(enum option_code code);
/* Its code; 0: there is none of that name. */
enum option_code options_code(const char *name, size_t length);

static inline bool options_given(const struct options *options, enum option_code code)
{
    return (options->given >> code & 1) != 0;
}

/* Takes the value of an option.  `source` is what stands before the value in a message: "--every "
 * or "BSPZERO_EVERY=".  False when it is wrong. */
bool options_take(struct options *options, enum option_code code, const char *source,
                  const char *text);

/* options_values.c: the values of single options. */
bool options_take_processes(struct options *options, const char *source, const char *text);
bool options_take_timeout(struct options *options, const char *source, const char *text);
bool options_take_total(struct options *options, const char *source, const char *text);
bool options_take_report(struct options *options, const char *source, const char *text);
bool options_take_bind(struct options *options, const char *source, const char *text);
bool options_take_export(struct options *options, const char *text);

/* A variable of the environment that stands for an option that was not given. */
struct options_setting {
    enum option_code code;
    const char *variable;
};

/* Takes those that are set and not empty, each by `take`; false: one is wrong. */
bool options_take_settings(struct options *options, const struct options_setting *settings,
                           size_t count,
                           bool (*take)(struct options *options, enum option_code code,
                                        const char *source, const char *text));

/* options_hosts.c */
void options_host_defaults(struct options_hosts *hosts);
bool options_take_host(struct options *options, enum option_code code, const char *source,
                       const char *text);
void options_free_hosts(struct options_hosts *hosts);

/* options_snapshots.c */
void options_snapshot_defaults(struct options_snapshots *snapshots);
bool options_take_snapshot(struct options *options, enum option_code code, const char *source,
                           const char *text);
void options_free_snapshots(struct options_snapshots *snapshots);

#endif
