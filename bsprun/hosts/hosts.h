/* hosts.h - the hosts of a job: where they are named, and their slots.  Pure.
 *
 * A slot is room for one process.  A host that is named more than once is one host with the slots
 * of all its mentions; a mention without a number is one slot, but a single one in a list such as
 * that of --hosts leaves the slots open: the host then has as many slots as usable cores.
 */
#ifndef BSPRUN_HOSTS_H
#define BSPRUN_HOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/core/coord.h"

#define HOSTS_MAX   COORD_HOSTS_MAX
#define HOSTS_ERROR 400u /* bytes of a message */

/* Looks an environment variable up; NULL when it is not set. */
typedef const char *hosts_lookup(const char *name);

/* All members are owned by the list. */
struct host {
    char *name;    /* without brackets */
    char *user;    /* to log in as; NULL: as ssh decides */
    char *adapter; /* another name of the host, for its data connections; NULL: none */
    char
        *reached; /* the name of the host, of which this is one more: "a" of "a#2"; NULL: its own */
    bool here;    /* ... and that is the host of bsprun */
    uint32_t slots;         /* 0: as many as it has usable cores */
    uint32_t plain;         /* mentions without a number, while the list is being made */
    struct coord_load load; /* when last measured; see bsprun/load/load.h */
};

struct hosts {
    struct host *items;
    uint32_t count;
};

void hosts_free(struct hosts *hosts); /* leaves an empty list */

/* The functions below fill an empty list, or return false with a message (of at most HOSTS_ERROR
 * bytes), and the list is empty. */

/* "a:4,user@b,[fe80::1]:2".  `source` precedes the text in messages. */
bool hosts_from_list(struct hosts *hosts, const char *text, const char *source, char *error);

/* The contents of a host file, whose name is for messages.  The format is detected:
 *
 *   host(a) ncpus(4) adapter(a-fast);        the Oxford toolset's; $NAME is looked up
 *   a slots=4 max_slots=8                    Open MPI's
 *   a, or a:4                                names; the last two may be mixed */
bool hosts_from_file(struct hosts *hosts, const char *file, const char *text, size_t size,
                     hosts_lookup *lookup, char *error);

/* Whether this is in a Slurm allocation, and its hosts: slots are the requested tasks, else
 * cores. */
bool hosts_in_slurm(hosts_lookup *lookup);
bool hosts_from_slurm(struct hosts *hosts, hosts_lookup *lookup, char *error);

/* What `scontrol --oneliner show job` says of the job with that number, which is not the only one
 * if it is of an array: the nodes that its allocation has now, with open slots, and whether it has
 * been warned that it must make room for another job.  An error also if it does not run. */
bool hosts_from_scontrol(struct hosts *hosts, const char *text, const char *job, bool *preempted,
                         char *error);

/* The host of that name, without regard to case; NULL: there is none. */
const struct host *hosts_named(const struct hosts *hosts, const char *name);

/* Whether it is a name of the host with host name `own`. */
bool hosts_is_own(const char *name, const char *own);

/* Renames hosts named by an address of this host to localhost.  addresses: numeric,
 * NULL-terminated; NULL: none. */
void hosts_find_own(struct hosts *hosts, const char *const *addresses);

/* Whether one host is listed twice, by its name and by an address; then with a message.  `resolve`
 * returns the addresses of a name, separated by blanks, to be freed, or NULL; it is called only if
 * some hosts are named by addresses. */
bool hosts_named_twice(const struct hosts *hosts, char *(*resolve)(const char *name), char *error);

/* Merges all entries of this host, as if they had one name: slots are added, and open ones count as
 * one. */
void hosts_merge_own(struct hosts *hosts, const char *own);

/* Adds each host so many times that it is there `times` times, after all others: a, b, a#2, b#2.
 * False: no memory, or more than HOSTS_MAX; then with a message. */
bool hosts_multiply(struct hosts *hosts, uint32_t times, const char *own, char *error);

/* Whether bsp_begin(wanted) results in more processes than slots (`limit` by -np, 0: none); then
 * with a message. */
bool hosts_crowded(uint32_t wanted, uint32_t limit, uint64_t slots, char line[HOSTS_ERROR]);

/* ---- Shared by the files that make lists ---- */

enum hosts_alone { HOSTS_ALONE_UNKNOWN, HOSTS_ALONE_ONE };

/* Adds a mention; slots 0: without a number.  NULL and a message that lacks the source. */
struct host *hosts_mention(struct hosts *hosts, const char *user, const char *name, uint32_t slots,
                           char *error);
/* To be called after the last: resolves mentions without a number. */
void hosts_settle(struct hosts *hosts, enum hosts_alone alone);
/* Splits "user@name" or "user@[address]" of that length (both to be freed); user NULL: none. */
bool hosts_cut_name(const char *text, size_t length, char **user, char **name, char *error);
/* Parses a number of slots of that length; 0: malformed. */
uint32_t hosts_slots(const char *text, size_t length);

#endif
