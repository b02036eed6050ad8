/* profile.h - PROF.bsp, read superstep by superstep; doc/trace-files.md describes the lines.
 *
 * What is kept grows with the number of processes and of statements, not with that of supersteps.
 * Lines of call stacks (A) are passed over.  Everything in the file is checked; where something is
 * wrong, `error` is FILE:LINE: TEXT. */
#ifndef BSPSIM_PROFILE_H
#define BSPSIM_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "tools/bspsim/traffic.h"

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

struct profile {
    uint32_t ranks; /* 0: the line P has not come yet */
    struct profile_superstep step;
    struct traffic *traffic; /* [ranks] bytes of the superstep */
    uint64_t supersteps;     /* so many lines c have come */
    struct profile_statement *statements;
    uint32_t statement_count; /* one more than the greatest number that has come */
    bool complete;            /* the line E has come */
    uint64_t total_ns;        /* of the line E; the end of the last superstep without one */
};

enum profile_event {
    PROFILE_WRONG,
    PROFILE_NOTHING,   /* a line that says nothing of supersteps */
    PROFILE_RANKS,     /* `ranks` is known */
    PROFILE_SUPERSTEP, /* `step` and `traffic` are those of another superstep */
    PROFILE_END        /* of the file, from profile_next only */
};

/* ---- Pure ---- */

/* Takes a line, without its newline, which is neither empty nor begins with A.  `profile` begins as
 * zeros.  On PROFILE_WRONG, `text` says what is wrong, without the place. */
enum profile_event profile_take(struct profile *profile, const char *line, size_t length,
                                char text[PROFILE_ERROR]);

/* At the end of the file: false and `text` if something is missing. */
bool profile_finish(const struct profile *profile, char text[PROFILE_ERROR]);

/* Frees what the profile owns. */
void profile_free(struct profile *profile);

/* ---- A file ---- */

struct profile_file {
    const char *name;
    FILE *stream;
    uint64_t line; /* number */
    char *text;
    size_t room;
    struct profile profile;
};

/* Opens the file and reads up to the line P.  On failure false and `error`; on success close it
 * with profile_close.  `name` must stay as long. */
bool profile_open(const char *name, struct profile_file *file, char error[PROFILE_ERROR]);

/* PROFILE_SUPERSTEP, PROFILE_END or PROFILE_WRONG with `error`. */
enum profile_event profile_next(struct profile_file *file, char error[PROFILE_ERROR]);

/* Frees the profile as well. */
void profile_close(struct profile_file *file);

#endif
