/* trace.h - failure traces: when which hosts were up, read from a CSV file.
 *
 *     # a comment
 *     host,up,down
 *     pc1,0,3600.5
 *     pc2,120,
 *     pc1,4000,9000
 *
 * The first line that is neither empty nor a comment names the columns, in any order; other columns
 * are ignored.  Times are in seconds since any one instant; the simulated job begins at the
 * earliest `up` of the trace, or of the hosts that are named where only some are read.  A host with
 * an empty `down` was still up when the trace ended, and does not fail.  A life that begins before
 * the host's previous one has ended is an error.
 */
#ifndef BSPSIM_TRACE_H
#define BSPSIM_TRACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TRACE_FOR_EVER    UINT64_MAX /* end of a life that does not end */
#define TRACE_HOSTS_MAX   65536u
#define TRACE_LIVES_MAX   16777216u
#define TRACE_SECONDS_MAX 1e9
#define TRACE_ERROR       512u

struct trace_life {
    uint32_t host;           /* index */
    uint32_t line;           /* line number in the file */
    uint64_t up_ns, down_ns; /* up < down; from the earliest up */
};

struct trace {
    char **names; /* of hosts, in the order of the file */
    uint32_t host_count;
    struct trace_life *lives; /* by host, then by time */
    uint32_t *first;          /* host's lives are first[host] to first[host + 1] - 1 */
    uint32_t life_count;
};

/* Parses the text of the file.  hosts: only these are used, "a,b,c"; NULL: all.  On failure false,
 * and `error` holds FILE:LINE: TEXT.  Else free the trace with trace_free. */
bool trace_parse(const char *file, const char *text, const char *hosts, struct trace *trace,
                 char error[TRACE_ERROR]);

/* Reads a file; "-" is the standard input. */
bool trace_read(const char *file, const char *hosts, struct trace *trace, char error[TRACE_ERROR]);

/* Harmless for NULL and zeros. */
void trace_free(struct trace *trace);

#endif
