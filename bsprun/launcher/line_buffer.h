/* line_buffer.h - assembles lines that arrive in pieces from several hosts, so that none is
 * interleaved with output of another host.
 *
 * The incomplete last line of a process waits here for its rest.  It is passed on incomplete when
 * - it has LINE bytes, or all waiting lines have more than MEMORY;
 * - its host has reached a later superstep or a snapshot, or sends no more output;
 * - it remains incomplete: a possible prompt soon, a longer one after a long time without output.
 *
 * Pure.
 */
#ifndef BSPRUN_LINE_BUFFER_H
#define BSPRUN_LINE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/wire/wire.h"

#define LINE_BUFFER_LINE      (1u << 20)
#define LINE_BUFFER_MEMORY    (16u << 20)
#define LINE_BUFFER_PROMPT    4096u /* the most bytes of a prompt */
#define LINE_BUFFER_PROMPT_MS 100u
#define LINE_BUFFER_LATE_MS   5000u

/* Takes a piece to be shown in one write. */
typedef void line_buffer_pass(void *context, uint32_t host, uint64_t superstep, int pid, int stream,
                              const char *data, size_t size);

struct partial_line;

/* Initially all zero but these two. */
struct line_buffer {
    line_buffer_pass *pass;
    void *context;
    struct partial_line *first; /* the oldest */
    size_t waiting;             /* bytes, of all */
    bool dropped[WIRE_HOSTS_MAX];
};

void line_buffer_piece(struct line_buffer *buffer, uint64_t now_ms, uint32_t host,
                       uint64_t superstep, int pid, int stream, const char *data, size_t size);
/* Passes on the host's output before that superstep; UINT64_MAX: all. */
void line_buffer_come(struct line_buffer *buffer, uint32_t host, uint64_t superstep);
/* Passes on lines that have waited long enough. */
void line_buffer_release(struct line_buffer *buffer, uint64_t now_ms);
/* Restarts the waiting times, as no output was accepted until now. */
void line_buffer_excuse(struct line_buffer *buffer, uint64_t now_ms);
/* Passes on all lines. */
void line_buffer_flush(struct line_buffer *buffer);
/* Drops the lines of that host, and what it still sends until the next term begins: it may live and
 * not know yet that it was given up, and another host writes the same. */
void line_buffer_drop(struct line_buffer *buffer, uint32_t host);
/* Drops all lines. */
void line_buffer_forget(struct line_buffer *buffer);
/* A term begins: whatever a host sends counts. */
void line_buffer_begin(struct line_buffer *buffer);

#endif
