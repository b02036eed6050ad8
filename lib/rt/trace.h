/* trace.h - what the sources for -prof, -cgprof and -stat share.
 *
 * All but bspz_trace_file_open and the notes of supersteps may run in a signal handler, when a
 * computing process is told to exit: they do not allocate memory, use streams or floating point.
 */
#ifndef BSPZ_RT_TRACE_H
#define BSPZ_RT_TRACE_H

#include "lib/rt/rt.h"

#pragma GCC visibility push(hidden)

/* ---- trace_file.c: a file that is written in whole lines, or given up with one message ---- */

struct bspz_trace_file {
    const char *name;
    int fd;        /* -1: not to be written, or abandoned */
    uint64_t good; /* bytes written so far */
    size_t used;
    char text[16384];
};

void bspz_trace_file_open(struct bspz_trace_file *file, const char *name);
/* Appends at most BSPZ_TRACE_PIECE bytes. */
#define BSPZ_TRACE_PIECE 1024
void bspz_trace_file_add(struct bspz_trace_file *file, const char *format, ...) BSPZ_PRINTF(2, 3);
void bspz_trace_file_flush(struct bspz_trace_file *file);
void bspz_trace_file_close(struct bspz_trace_file *file);

/* Seconds with nine decimals, as arguments for this format. */
#define BSPZ_SECONDS "%llu.%09llu"
#define BSPZ_SECONDS_OF(ns)                                                                        \
    (unsigned long long)(ns) / 1000000000u, (unsigned long long)(ns) % 1000000000u

/* The local time, as "Sat Nov 21 05:30:07 2026". */
void bspz_trace_date(char *text, size_t size);

/* ---- trace.c: what pid 0 knows of a superstep ---- */

/* Statistics over processes: largest, sum and smallest value. */
struct bspz_spread {
    uint64_t most, sum, least;
};

struct bspz_trace_step {
    uint64_t start_ns, end_ns; /* communication: from the last arrival to the last return; since
                                  bsp_begin */
    struct bspz_spread compute_ns, wait_ns, communicate_ns;
    struct bspz_spread h;         /* 32-bit words, in or out, whichever are more */
    uint64_t words_in, words_out; /* the maximum over processes */
};

/* A snapshot that was taken, or that the process went on from; what NULL: neither. */
struct bspz_trace_mark {
    const char *what;   /* "saved"; or why it was restored: "failed", "restarted", "moved" */
    uint64_t at_ns;     /* when process 0 went on, since bsp_begin */
    uint64_t lasted_ns; /* the pause; or the time since the snapshot was taken */
};

/* The record of a superstep by process pid. */
static inline struct bspz_trace *bspz_trace_of(int pid, uint64_t superstep)
{
    return &bspz_rank_of(bspz_rt.board, pid)->line[(superstep + 1) & 1].trace;
}

static inline void bspz_spread_add(struct bspz_spread *sum, const struct bspz_spread *part)
{
    sum->most += part->most;
    sum->sum += part->sum;
    sum->least += part->least;
}

/* ---- trace_prof.c: PROF.bsp ---- */

void bspz_prof_begin(bool call_stacks);
/* Notes the statement that ends this superstep, and its callers. */
void bspz_prof_note(bspz_position position);
/* Adds the superstep that the statement noted last has ended, and what happened at its end. */
void bspz_prof_superstep(uint64_t superstep, const struct bspz_trace_step *step,
                         const struct bspz_trace_mark *mark);
void bspz_prof_end(uint64_t total_ns);

/* ---- trace_stack.c: the functions that a statement was called from ---- */

#define BSPZ_STACK_MOST 48
/* Return addresses of the callers; their number. */
int bspz_stack_take(void **frames);
/* Their names, innermost first, each followed by ", "; those of libbsp are left out. */
void bspz_stack_name(void *const *frames, int count, char *text, size_t size);

/* ---- trace_stat.c: STAT.bsp ---- */

void bspz_stat_begin(void);
void bspz_stat_superstep(uint64_t superstep, const struct bspz_trace_step *step);
void bspz_stat_end(uint64_t total_ns, bool early);

#pragma GCC visibility pop

#endif
