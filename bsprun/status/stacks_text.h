/* stacks_text.h - the C stacks of a job's processes: the answers of its agents, put together as
 * text; pure. */
#ifndef BSPRUN_STACKS_TEXT_H
#define BSPRUN_STACKS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/wire/wire.h"

#define STACKS_TEXT_MAX (64u << 20) /* bytes of all stacks of a job that are kept */

struct stacks_row;

/* All zero: none yet. */
struct stacks {
    struct stacks_row *rows;
    size_t count;
    size_t bytes;      /* of the stacks */
    size_t bytes_most; /* 0: STACKS_TEXT_MAX */
    char *advice;      /* what would permit ptrace; NULL: nothing has to */
    char *silent;      /* lines about hosts that have not answered; NULL: none */
};

/* Copies the answer of a host for one process.  host: its name, or "" in a job of one host.  A
 * stack beyond STACKS_TEXT_MAX is left out, which the text says. */
void stacks_add(struct stacks *stacks, const char *host, const struct wire_stack *answer);

/* A host has not answered in time. */
void stacks_add_silent(struct stacks *stacks, const char *host);

/* The text, by pid: for each process a line that says where it is, and its stack.  Before that, if
 * processes compute while all others have waited for them all the time, a line that names them.
 * Lines end with a newline.  For free(); NULL: no memory. */
char *stacks_text(struct stacks *stacks);

/* Frees what it holds, and makes it empty. */
void stacks_free(struct stacks *stacks);

#endif
