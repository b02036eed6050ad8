/* calls.h - what the made-up worlds of the dataspace share: the calls of their processes, what is
 * known of them for each tag, and files of objects. */
#ifndef SIM_DATASPACE_CALLS_H
#define SIM_DATASPACE_CALLS_H

#include "bsprun/dataspace/object.h"
#include "tests/sim/dataspace/linear.h"
#include "tests/sim/timeline.h"

/* A call that a process has made, and makes again after a loss. */
struct call {
    enum linear_kind kind;
    uint32_t tag, operation; /* place in the history of the tag */
    uint32_t value;          /* of a put: the number of the object */
    uint64_t size;           /* of the object, or the room for it, where that matters */
};

struct history {
    struct linear_operation operations[LINEAR_MOST];
    unsigned count;
};

/* What has happened so far: so many objects have been put, and so many moments told apart. */
struct calls_seen {
    uint32_t values;
    uint64_t moments;
};

/* A new call, which begins now, of some kind and one of the tags. */
void calls_make(struct timeline *time, struct history *histories, uint32_t tags,
                struct calls_seen *seen, struct call *call);
/* The call returns that object to this life of the process.  Whether it is the first one to which
 * it does; a later one must get the same. */
bool calls_return(struct timeline *time, struct history *histories, struct calls_seen *seen,
                  const struct call *call, uint32_t pid, uint32_t value);

/* Tags by number, the last of which is none of a history. */
#define CALLS_TAGS 4u
extern const char *const calls_tags[CALLS_TAGS + 1];

/* An object begins with its number, from which its size and its other bytes follow. */
#define CALLS_SIZE_LEAST 4u
unsigned char calls_byte(uint32_t value, uint64_t at);
uint64_t calls_size(uint32_t value, uint64_t most);

/* Have the operations on each tag an order that explains them?  `over`: what waits may go on. */
void calls_check(const struct timeline *time, const struct history *histories, uint32_t tags,
                 bool over);

/* Files of a pool are memory, overwritten at the end; the context of the pool counts them. */
extern const struct pool_files calls_files;

#endif
