/* history.h - the history of failures of hosts and costs of snapshots in earlier jobs: a text file,
 * and its use by a new job.
 *
 * A line is a record; its last word is a checksum of the rest, so that a line that was cut, or
 * interleaved with another, is detected and skipped (doc/formats.md).  A life may be recorded in
 * pieces: those marked "alive" are time without a failure.
 *
 * history.c, history_name.c and history_shares.c are pure.  history_file.c reads and writes; its
 * comment lists what can be wrong with a file.
 */
#ifndef BSPRUN_HISTORY_H
#define BSPRUN_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HISTORY_VERSION   1
#define HISTORY_NAME_MAX  64u  /* bytes of the name of a site or host; longer ones are cut */
#define HISTORY_LINE_MAX  320u /* bytes, with the line feed */
#define HISTORY_FILE_MAX  (256u * 1024u)       /* a larger file is condensed */
#define HISTORY_READ_MAX  (4u * 1024u * 1024u) /* a larger file is rejected */
#define HISTORY_SITES_MAX 256u                 /* of more, the least recent are dropped */
#define HISTORY_HOSTS_MAX 256u                 /* the same, of hosts of a site with shares */

/* Kinds of faults; their words in the file are in history.c. */
enum history_fault {
    HISTORY_HOST,
    HISTORY_PROCESS,
    HISTORY_PREEMPTION,
    HISTORY_SPLIT,
    HISTORY_FAULT_COUNT
};

enum history_what {
    HISTORY_SNAPSHOT, /* run time that a snapshot costs */
    HISTORY_COMMIT,   /* from its barrier to its commit */
    HISTORY_RESTORE,  /* from a loss by that fault until the processes run again */
    HISTORY_WHAT_COUNT
};

enum history_kind {
    HISTORY_LIFE,  /* a life of a host, or a piece of it: name, seconds, ended, fault */
    HISTORY_SEEN,  /* of one kind of fault: events, seconds (of all hosts or processes), lives */
    HISTORY_COST,  /* what, fault, seconds (mean), count, bytes (of a whole snapshot) */
    HISTORY_JOB,   /* number of jobs begun, and most hosts of one: count, events */
    HISTORY_SHARE, /* of a host that others left to a job: name, share (mean), spread, seconds */
    HISTORY_KIND_COUNT
};

struct history_record {
    enum history_kind kind;
    int64_t time; /* seconds since 1970; for display only */
    char site[HISTORY_NAME_MAX + 1], name[HISTORY_NAME_MAX + 1];
    double seconds;
    bool ended; /* LIFE: ended by `fault`; false: alive */
    enum history_fault fault;
    enum history_what what;
    uint64_t count; /* SEEN: lives; COST: measurements; JOB: jobs */
    double events;  /* SEEN; JOB: hosts */
    uint64_t bytes;
    double share, spread; /* SHARE: 0 to 1; standard deviation */
};

struct history {
    struct history_record *records; /* oldest first; owned */
    size_t count;
    size_t bad; /* number of skipped lines */
};

/* ---- history.c ---- */

/* Formats a record with its line feed; returns the length.  White space in names becomes '_'. */
size_t history_print(const struct history_record *record, char line[HISTORY_LINE_MAX]);
/* Parses a line without its line feed.  False: damaged or no record. */
bool history_parse(const char *line, size_t length, struct history_record *record);
/* A name as one word: white space and what is no printing ASCII becomes '_'. */
void history_name(char to[HISTORY_NAME_MAX + 1], const char *from);
/* The first line of a file, with its line feed. */
size_t history_head(char line[HISTORY_LINE_MAX]);

enum history_state { HISTORY_GOOD, HISTORY_EMPTY, HISTORY_OTHER_VERSION, HISTORY_STRANGE };
/* Parses the text of a file; invalid lines are skipped and counted.  -ENOMEM or a history_state;
 * unless GOOD, `history` is empty. */
int history_read(const char *text, size_t size, struct history *history);
void history_free(struct history *history);

/* Condenses the history to `room` bytes, including the first line: the newest records unchanged,
 * older ones summed up per site.  To be freed; NULL: no memory. */
char *history_compact(const struct history *history, size_t room, size_t *size);

/* Statistics of a site.  Old observations have less weight: it halves after a number of newer ones
 * of the same kind. */
#define HISTORY_HALF 8.0
struct history_rate {
    double events, seconds; /* weighted */
    double all_events, all_seconds;
    uint64_t lives;
};
struct history_cost {
    double seconds; /* weighted mean */
    double weight;  /* weighted number of measurements; 0: unknown */
    uint64_t count, bytes;
};
struct history_site {
    char name[HISTORY_NAME_MAX + 1];
    uint64_t jobs, hosts; /* hosts: the most of one job */
    int64_t first, last;
    struct history_rate rates[HISTORY_FAULT_COUNT];
    struct history_cost snapshot, commit, restore[HISTORY_FAULT_COUNT];
};
void history_look(const struct history *history, const char *site, struct history_site *found);
/* Lists at most `most` sites, most recent first; returns their number. */
size_t history_sites(const struct history *history, const char **names, size_t most);

/* What others left of the cores of a site's hosts to earlier jobs.  Old observations have less
 * weight: it halves with so many newer seconds of the same host. */
#define HISTORY_SHARE_HALF 86400.0
struct history_share {
    char name[HISTORY_NAME_MAX + 1];
    double seconds, sum, squares; /* weighted; of the share, and of its square, by seconds */
    double all_seconds;
};
/* Lists the hosts, those seen most recently first; to be freed.  NULL: none, or no memory. */
struct history_share *history_shares(const struct history *history, const char *site,
                                     size_t *count);
/* The one of that name; NULL: there is none. */
const struct history_share *history_share_of(const struct history_share *shares, size_t count,
                                             const char *host);

/* The name of the site: the Slurm cluster; else the common domain of all hosts; else the name of
 * this host. */
void history_site_name(const char *cluster, const char *own, const char *const *hosts, size_t count,
                       char name[HISTORY_NAME_MAX + 1]);

const char *history_fault_name(enum history_fault fault);

/* ---- history_file.c ---- */

#define HISTORY_PATH_MAX 4096u

/* The path of the file: BSPZERO_HISTORY (a path, or "off"), else $XDG_STATE_HOME/bspzero/history,
 * else ~/.local/state/bspzero/history.  False: none, with the reason in `why` ("" when off). */
bool history_path(const char *(*lookup)(const char *name), char path[HISTORY_PATH_MAX], char *why,
                  size_t size);

/* Reads the file; a missing one is an empty history. 0, or -1 and `why`: the file is invalid, and
 * must not be written to. */
int history_load(const char *path, struct history *history, char *why, size_t size);

/* ---- history_file.c, writing ---- */

/* Appends whole lines, at most this many bytes at a time; creates the file and its directory;
 * condenses the file when it has become too large. 0, or -1 and `why`. */
#define HISTORY_APPEND_MAX 65536u
int history_append(const char *path, const char *lines, size_t length, char *why, size_t size);

/* ---- history_wait.c ---- */

/* As history_load, with a timeout, as a home directory may be on a server that does not answer. */
int history_load_within(unsigned milliseconds, const char *path, struct history *history, char *why,
                        size_t size);

/* As history_append, of which the caller does not wait for the end: `done`, which is the caller's
 * to close, is readable then.  NULL: no memory, thread or descriptor. */
struct history_writing;
struct history_writing *history_append_begin(const char *path, const char *lines, size_t length,
                                             int *done);
/* The result, or that there is none yet: nothing more is heard of it then. 0, or -1 and `why`. */
int history_append_end(struct history_writing *writing, char *why, size_t size);

#endif
