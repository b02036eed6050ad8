/* history.h - what earlier jobs saw of hosts that fail and of snapshots that cost: a file of text
 * lines, and what a new job takes from it.
 *
 * A line is a record; its last word is a check of what stands before it, so that a line that was
 * cut, or written into by another job, is known and left out (doc/formats.md).  A life may be told
 * in pieces: the pieces that say "alive" are time in which nothing happened.
 *
 * history.c is pure.  history_file.c reads and writes; see there for what can be wrong with a file.
 */
#ifndef BSPRUN_HISTORY_H
#define BSPRUN_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HISTORY_VERSION   1
#define HISTORY_NAME_MAX  64u  /* bytes of the name of a site or of a host; what is longer is cut */
#define HISTORY_LINE_MAX  320u /* bytes, with the line feed */
#define HISTORY_FILE_MAX  (256u * 1024u)       /* what is larger is made smaller */
#define HISTORY_READ_MAX  (4u * 1024u * 1024u) /* what is larger is none of ours */
#define HISTORY_SITES_MAX 256u /* of more, those that were not heard of for longest are forgotten  \
                                */

/* What can happen; the words of the file are in history.c. */
enum history_fault {
    HISTORY_HOST,
    HISTORY_PROCESS,
    HISTORY_PREEMPTION,
    HISTORY_SPLIT,
    HISTORY_FAULT_COUNT
};

enum history_what {
    HISTORY_SNAPSHOT, /* run time that a snapshot costs */
    HISTORY_COMMIT,   /* from its barrier until it counts */
    HISTORY_RESTORE,  /* from the loss until the processes run again; of the fault it says */
    HISTORY_WHAT_COUNT
};

enum history_kind {
    HISTORY_LIFE, /* of a host, or a piece of it: name, seconds, ended, fault */
    HISTORY_SEEN, /* of one kind of fault: events, seconds (of all hosts or processes), lives */
    HISTORY_COST, /* what, fault, seconds (mean), count, bytes (of a whole snapshot) */
    HISTORY_JOB,  /* so many began, with at most so many hosts: count, events */
    HISTORY_KIND_COUNT
};

struct history_record {
    enum history_kind kind;
    int64_t
        time; /* seconds since 1970 by the clock of then: for people, nothing is computed of it */
    char site[HISTORY_NAME_MAX + 1], name[HISTORY_NAME_MAX + 1];
    double seconds;
    bool ended; /* LIFE: by `fault`; else it was alive */
    enum history_fault fault;
    enum history_what what;
    uint64_t count; /* SEEN: lives; COST: measurements; JOB: jobs */
    double events;  /* SEEN; JOB: hosts */
    uint64_t bytes;
};

struct history {
    struct history_record *records; /* oldest first; owned */
    size_t count;
    size_t bad; /* lines that were left out */
};

/* ---- history.c ---- */

/* A line with its line feed; returns its length.  Blanks and the like in names become '_'. */
size_t history_print(const struct history_record *record, char line[HISTORY_LINE_MAX]);
/* The line without its line feed.  False: it is none, or damaged. */
bool history_parse(const char *line, size_t length, struct history_record *record);
/* The first line of a file, with its line feed. */
size_t history_head(char line[HISTORY_LINE_MAX]);

enum history_state { HISTORY_GOOD, HISTORY_EMPTY, HISTORY_OTHER_VERSION, HISTORY_STRANGE };
/* Reads the text of a file.  What cannot be read of it is left out and counted.  -ENOMEM or a
 * history_state; anything but GOOD leaves `history` empty. */
int history_read(const char *text, size_t size, struct history *history);
void history_free(struct history *history);

/* Makes of it what fits into `room` bytes, the first line included: the newest records as they are,
 * what older ones say summed up for each site.  To be freed; NULL: no memory. */
char *history_compact(const struct history *history, size_t room, size_t *size);

/* What is known of a site.  Old observations count less: each is halved by so many newer ones of
 * its kind. */
#define HISTORY_HALF 8.0
struct history_rate {
    double events, seconds; /* weighted */
    double all_events, all_seconds;
    uint64_t lives;
};
struct history_cost {
    double seconds; /* weighted mean */
    double weight;  /* of how many measurements, weighted; 0: it is not known */
    uint64_t count, bytes;
};
struct history_site {
    char name[HISTORY_NAME_MAX + 1];
    uint64_t jobs, hosts; /* hosts: the most that a job had */
    int64_t first, last;
    struct history_rate rates[HISTORY_FAULT_COUNT];
    struct history_cost snapshot, commit, restore[HISTORY_FAULT_COUNT];
};
void history_look(const struct history *history, const char *site, struct history_site *found);
/* The names of all sites, the one heard of last first; at most `most`.  How many. */
size_t history_sites(const struct history *history, const char **names, size_t most);

/* What the set of hosts is called: the Slurm cluster; else the domain that all hosts have in
 * common; else of which host they are seen; of one host alone its name. */
void history_site_name(const char *cluster, const char *own, const char *const *hosts, size_t count,
                       char name[HISTORY_NAME_MAX + 1]);

const char *history_fault_name(enum history_fault fault);

/* ---- history_file.c ---- */

#define HISTORY_PATH_MAX 4096u

/* Where the file is: BSPZERO_HISTORY (a path, or "off"), else $XDG_STATE_HOME/bspzero/history, else
 * ~/.local/state/bspzero/history.  False: nowhere, and `why` says why ("" when it is off). */
bool history_path(const char *(*lookup)(const char *name), char path[HISTORY_PATH_MAX], char *why,
                  size_t size);

/* Reads the file.  One that is not there is an empty history.  0, or -1 and `why` says what is
 * wrong with it: it is not read, and nothing is written to it. */
int history_load(const char *path, struct history *history, char *why, size_t size);

/* Appends whole lines, at most so many bytes at a time, making the file and its directory; makes it
 * smaller when it has become too large.  0, or -1 and `why`. */
#define HISTORY_APPEND_MAX 65536u
int history_append(const char *path, const char *lines, size_t length, char *why, size_t size);

#endif
