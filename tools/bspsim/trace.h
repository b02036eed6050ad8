/* trace.h - failure traces: when which hosts were up, read from a CSV file.
 *
 *     # a comment
 *     host,up,down
 *     pc1,0,3600.5
 *     pc2,120,
 *     pc1,4000,9000
 *
 * The first line that is neither empty nor a comment names the columns, in any order; others than
 * these three are passed over.  Times are in seconds from any moment, the same for all; at the
 * earliest `up` of the file the simulated job begins.  A host without a name in `down` was still up
 * when the trace ended, and does not fail.  A life that begins before the host's last one has ended
 * is refused, as is whatever else cannot be meant.
 */
#ifndef BSPSIM_TRACE_H
#define BSPSIM_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_FOR_EVER    UINT64_MAX /* for the end of a life */
#define TRACE_HOSTS_MAX   65536u
#define TRACE_LIVES_MAX   16777216u
#define TRACE_SECONDS_MAX 1e9
#define TRACE_ERROR       512u

struct trace_life {
    uint32_t host;           /* index */
    uint32_t line;           /* where it stands in the file */
    uint64_t up_ns, down_ns; /* up < down; from the earliest up */
};

struct trace {
    char **names; /* of hosts, in the order in which they come in the file */
    uint32_t host_count;
    struct trace_life *lives; /* by host, then by time */
    uint32_t *first;          /* host's lives are first[host] to first[host + 1] - 1 */
    uint32_t life_count;
};

/* Reads the text of a file of that name.  hosts: only these are allowed, as "a,b,c"; NULL: all.
 * Where something is wrong: false, and in `error` what, as FILE:LINE: TEXT.  Else the trace is to
 * be given to trace_free. */
bool trace_parse(const char *file, const char *text, const char *hosts, struct trace *trace,
                 char error[TRACE_ERROR]);

/* Reads a file; "-" is the standard input. */
bool trace_read(const char *file, const char *hosts, struct trace *trace, char error[TRACE_ERROR]);

/* Of NULL or zeros: nothing. */
void trace_free(struct trace *trace);

#endif
