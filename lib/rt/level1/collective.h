/* What the collective operations share: a description of the call, supersteps that check that all
 * processes make the same call, memory that every process can put to, and the choice of algorithms.
 *
 * Everything here is built on the public primitives, entered with the line and file of the user's
 * statement, and never through a level-1 name: those may belong to the program.
 */
#ifndef BSPZ_RT_LEVEL1_COLLECTIVE_H
#define BSPZ_RT_LEVEL1_COLLECTIVE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#include "include/bsp.h"
#include "lib/base/params.h"
#include "lib/shm/board.h"

#pragma GCC visibility push(hidden)

#define BSPZ_NO_ROOT INT_MIN

/* One call of a collective operation. */
struct bspz_collective {
    enum bspz_call id;
    const char *function;
    int root; /* BSPZ_NO_ROOT: none */
    ptrdiff_t n;
    int line;
    const char *file;
    bool agreed; /* all processes make this call; set by the first superstep */
};

/* An operator in either of its two calling conventions; exactly one is set. */
struct bspz_operator {
    void (*by_reference)(void *, void *, void *, int *);
    void (*by_value)(void *, void *, void *, int);
};

/* Memory for one call, of the same size in all processes.  Put to (registered, offset + ...), read
 * at `bytes`.  It is aligned to 16 bytes. */
struct bspz_work {
    void *registered;
    ptrdiff_t offset;
    unsigned char *bytes;
    bool temporary;
};

#define BSPZ_COLLECTIVE(name) .id = BSPZ_IN_##name, .function = #name

/* The parameters of this process's machine, see lib/base/params.h. */
void bspz_machine_params(struct bspz_params *params);

/* Checks root and n on this process and, in the first collective of all, prepares the shared area
 * (two supersteps).  To be called before anything else. */
void bspz_collective_begin(const struct bspz_collective *call);

/* To be called last. */
void bspz_collective_end(void);

/* A bsp_sync.  The first one of a call also compares the call with that of the left neighbour,
 * unless checks are off; if all p comparisons succeed, all calls are the same. */
void bspz_collective_sync(struct bspz_collective *call);

/* Makes that comparison, in a superstep of its own, if it has not been made: before a put to the
 * user's memory, whose bounds would otherwise be reported as the error. */
void bspz_collective_agree(struct bspz_collective *call);

/* Ends the job unless n bytes fit the area that this process registered under `base`; for copies to
 * itself, and areas to which no process puts. */
void bspz_collective_area(const struct bspz_collective *call, const void *base);

/* Ends the job when n > 0 and the pointer is NULL. */
void bspz_collective_pointer(const struct bspz_collective *call, const char *name,
                             const void *pointer);

/* Ends the job unless an operator or order was given. */
void bspz_collective_operator(const struct bspz_collective *call, bool given);

/* Ends the job unless n fits the int argument of operators. */
void bspz_collective_int(const struct bspz_collective *call);

/* Memory for `count` items of n bytes and `extra` bytes.  If it does not fit the shared area, it is
 * allocated and registered, which costs a superstep. */
struct bspz_work bspz_work_open(struct bspz_collective *call, ptrdiff_t count, ptrdiff_t extra);
void bspz_work_close(const struct bspz_collective *call, struct bspz_work *work);

/* One superstep that copies process i's n bytes to offset i*n of the work memory of all
 * processes. */
void bspz_collect(struct bspz_collective *call, const struct bspz_work *work, const void *src);

/* The parameters of process 0's machine, by which all processes choose their algorithms. */
const struct bspz_params *bspz_agreed_params(void);

/* The bodies of the operations. */
void bspz_bcast(struct bspz_collective *call, const void *src, void *dst);
void bspz_fold(struct bspz_collective *call, const struct bspz_operator *op, const void *src,
               void *dst);
void bspz_scan(struct bspz_collective *call, const struct bspz_operator *op, const void *src,
               void *dst);
void bspz_sort(struct bspz_collective *call, int (*before)(void *, void *, int *), const void *src,
               void *dst);

#pragma GCC visibility pop

#endif
