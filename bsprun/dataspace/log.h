/* log.h - what one host has answered to requests, so that a process that is restarted alone gets
 * the same answers again.  Pure.
 *
 * Every request has a number, which grows from one request of a process to the next.  A get or read
 * with a number that is known is answered by the object of then (the rule of the identical get), a
 * put with one has no effect (of the single put).  A process repeats what it did since its last
 * image; older answers are cut off.
 *
 * An object is not copied: the log holds one reference more to what does not change, so that it
 * costs memory of its own only once the tag has another object, or none.
 *
 * What can fail: no memory.  Beyond a bound of bytes the answers to a process are given up, and it
 * cannot catch up until its next image.
 *
 * Source of the rules: Kanna, Subhlok, Gabriel, Rohit, Anderson, "A communication framework for
 * fault-tolerant parallel execution" (Volpex), LCPC 2009.
 */
#ifndef BSPRUN_DATASPACE_LOG_H
#define BSPRUN_DATASPACE_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bsprun/dataspace/object.h"

struct log;

/* most: bytes of all answers, each with at least LOG_ENTRY of them.  NULL: no memory. */
#define LOG_ENTRY 64u
struct log *log_open(uint32_t nprocs, uint64_t most);
/* Drops everything.  Harmless for NULL. */
void log_close(struct log *log);

/* What is compared of a request when it is repeated. */
uint64_t log_what(unsigned kind, const void *tag, size_t size);

/* The request has been answered.  object: of a get or read, of which the log takes over a
 * reference, also on failure; NULL: a put.  The number is larger than those before, or 0: nothing
 * is noted.  0 or -ENOMEM. */
int log_add(struct log *log, uint32_t pid, uint64_t number, uint64_t what, struct object *object);

enum log_found {
    LOG_NEW,    /* it has not been answered here */
    LOG_STORED, /* a put that has taken effect */
    LOG_OBJECT, /* a get or read: *object, whose reference the caller owns */
    LOG_DIFFERS /* the process did something else under that number, or the answer is no longer
                   there */
};
/* repeats: the process had an answer to it, from whatever host. */
enum log_found log_find(struct log *log, uint32_t pid, uint64_t number, uint64_t what, bool repeats,
                        struct object **object);

/* What was asked for under that number; false: no answer to it is kept. */
bool log_had(struct log *log, uint32_t pid, uint64_t number, uint64_t *what);

/* The process repeats no request with a smaller number. */
void log_cut(struct log *log, uint32_t pid, uint64_t number);

/* The largest number of the process that has been answered, also if the answer is given up; 0:
 * none. It is at least `number` after log_raise. */
uint64_t log_newest(const struct log *log, uint32_t pid);
void log_raise(struct log *log, uint32_t pid, uint64_t number);

/* Calls show(context, pid, number, what, object) for each answer that is kept, by process, and
 * those of a process in the order of their numbers; object: NULL of a put. */
void log_each(const struct log *log,
              void (*show)(void *context, uint32_t pid, uint64_t number, uint64_t what,
                           struct object *object),
              void *context);

/* Whether answers were given up that the process might still want. */
bool log_gave_up(const struct log *log);

/* How many answers to a process there are. */
uint64_t log_count(const struct log *log, uint32_t pid);
/* Bytes of the answers to a process, and to all. */
uint64_t log_bytes(const struct log *log, uint32_t pid);
uint64_t log_bytes_all(const struct log *log);

#endif
