/* profile.h - PROF.bsp, read superstep by superstep; doc/trace-files.md describes the lines.
 *
 * What is kept grows with the number of processes and of statements, not with that of supersteps.
 * Lines of call stacks (A) are passed over unless they are asked for.  Everything that is read is
 * checked; where something is wrong, `error` is FILE:LINE: TEXT. */
#ifndef TOOLS_PROFILE_H
#define TOOLS_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tools/profile/traffic.h"

#define PROFILE_RANKS_MAX      TRAFFIC_RANKS_MAX
#define PROFILE_STATEMENTS_MAX 65536u
#define PROFILE_SECONDS_MAX    1000000000u
#define PROFILE_ERROR          512u

struct profile_statement {
    char *file; /* NULL: the file does not say */
    uint32_t line;
};

struct profile_superstep {
    uint32_t statement;
    uint64_t start_ns, end_ns; /* as in the line; previous end <= start <= end */
    uint64_t computing_ns;     /* from the end of the superstep before */
};

/* Over the processes. */
struct profile_spread {
    uint64_t most, mean, least;
};

/* A snapshot was taken at the end of a superstep; or the program went on from one, after a failure,
 * in a restarted job, or because processes moved.  RESTORED: the profile does not say which. */
enum profile_mark_kind {
    PROFILE_SAVED,
    PROFILE_RESTORED,
    PROFILE_FAILED,
    PROFILE_RESTARTED,
    PROFILE_MOVED,
    PROFILE_MARK_KINDS
};

struct profile_mark {
    enum profile_mark_kind kind;
    uint64_t superstep; /* so many had been completed */
    uint64_t at_ns;     /* when process 0 went on */
    uint64_t lasted_ns; /* its pause; or how long ago the snapshot had been taken */
};

/* What was called from one statement through the same functions; sums over its supersteps of the
 * times, in nanoseconds, and of h, in words of 32 bits.  The texts are pieces of the line, without
 * an end of their own. */
struct profile_stack {
    const char *file, *names; /* names: innermost first, each followed by ", " */
    size_t file_length, names_length;
    uint32_t line;
    uint64_t supersteps;
    struct profile_spread computing, communicating, waiting, h;
};

struct profile {
    uint32_t ranks; /* 0: the line P has not come yet */
    struct profile_superstep step;
    struct traffic *traffic; /* [ranks] bytes of the superstep */
    uint64_t supersteps;     /* so many lines c have come */
    struct profile_statement *statements;
    uint32_t statement_count;     /* one more than the greatest number that has come */
    struct profile_spread spread; /* of computing, in nanoseconds, in the newest superstep */
    uint64_t spread_taken;        /* internal: the superstep that has had its line w */
    struct profile_mark mark;     /* the newest */
    bool complete;                /* the line E has come */
    uint64_t total_ns;            /* of the line E; the end of the last superstep without one */
};

enum profile_event {
    PROFILE_WRONG,
    PROFILE_NOTHING,   /* a line that says nothing of supersteps */
    PROFILE_RANKS,     /* `ranks` is known */
    PROFILE_SUPERSTEP, /* `step` and `traffic` are those of another superstep */
    PROFILE_SPREAD,    /* `spread` is that of this superstep; profiles of bspzero 0.1 have none */
    PROFILE_MARK,      /* `mark` is new */
    PROFILE_STACK,     /* `stack` of the file is another one, until the next call */
    PROFILE_END        /* of the file, from profile_next only */
};

/* ---- Pure ---- */

/* Takes a line, without its newline, which is neither empty nor begins with A.  `profile` begins as
 * zeros.  On PROFILE_WRONG, `text` says what is wrong, without the place. */
enum profile_event profile_take(struct profile *profile, const char *line, size_t length,
                                char text[PROFILE_ERROR]);

/* Takes a line of a call stack, which begins with A, up to its word HREL: what follows may be cut
 * off.  False if it is none; `stack` has pieces of the line. */
bool profile_take_stack(const char *line, size_t length, struct profile_stack *stack);

/* The word for it in a profile; static. */
const char *profile_mark_word(enum profile_mark_kind kind);

/* At the end of the file: false and `text` if something is missing. */
bool profile_finish(const struct profile *profile, char text[PROFILE_ERROR]);

/* Frees what the profile owns. */
void profile_free(struct profile *profile);

/* ---- A file ---- */

struct profile_file {
    const char *name;
    FILE *stream;
    bool stacks;   /* to be set after profile_open: lines A are wanted */
    bool ended;    /* internal, as are the next ones: what was read last was the last */
    uint64_t line; /* its number */
    char *text;
    size_t room, begin, end; /* what was read and not taken yet lies from begin to end */
    struct profile_stack stack;
    struct profile profile;
};

/* Opens the file and reads up to the line P.  On failure false and `error`; on success close it
 * with profile_close.  `name` must stay as long. */
bool profile_open(const char *name, struct profile_file *file, char error[PROFILE_ERROR]);

/* Reads up to the next event that is not PROFILE_NOTHING; PROFILE_END, or PROFILE_WRONG with
 * `error`, is the last. */
enum profile_event profile_next(struct profile_file *file, char error[PROFILE_ERROR]);

/* As profile_next, but returns PROFILE_SUPERSTEP, PROFILE_END and PROFILE_WRONG only. */
enum profile_event profile_next_superstep(struct profile_file *file, char error[PROFILE_ERROR]);

/* Frees the profile as well. */
void profile_close(struct profile_file *file);

#endif
