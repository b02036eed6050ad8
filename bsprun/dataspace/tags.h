/* tags.h - one host's part of the dataspace: the objects of the tags that belong to this host, and
 * the requests that wait for an object.  Pure: no I/O, no clock.
 *
 * A put replaces the object of its tag.  A read gets the object of its tag and leaves it there; a
 * get takes it away.  Either waits for one if there is none.  All operations on a tag take effect
 * one after the other, in the order of the calls; those that wait take effect at the put that ends
 * their waiting, in the order in which they came, up to and with the first get.
 *
 * Source of the operations: Kanna, Subhlok, Gabriel, Rohit, Anderson, "A communication framework
 * for fault-tolerant parallel execution" (Volpex), LCPC 2009.
 */
#ifndef BSPRUN_DATASPACE_TAGS_H
#define BSPRUN_DATASPACE_TAGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bsprun/dataspace/object.h"

struct tags;

/* Whose request it is: process `pid`, which lives on `host` and has room for so many bytes.  A
 * process has one request at a time.  life, number, what: see service.h and log.h. */
struct asker {
    uint32_t host, pid;
    uint64_t room;
    uint32_t life;
    uint64_t number, what;
    bool removes; /* a get */
};

struct tags_calls {
    /* The request of that process is granted; the callee owns the reference.  Must not call
     * anything of this interface that changes the tags. */
    void (*grant)(void *context, const struct asker *to, struct object *object);
};

/* NULL: no memory. */
struct tags *tags_open(const struct tags_calls *calls, void *context);
/* Drops all objects; nobody is told.  Harmless for NULL. */
void tags_close(struct tags *tags);

/* Takes over the reference to the object, also on failure.  0 or -ENOMEM: nothing has changed. */
int tags_put(struct tags *tags, const void *tag, size_t size, struct object *object);
/* A read, or a get (`removes`): granted before this returns if there is an object, else by a later
 * put.  0 or -ENOMEM. */
int tags_ask(struct tags *tags, const void *tag, size_t size, bool removes,
             const struct asker *asker);

/* The process's request for that tag does not wait any longer.  False: it did not. */
bool tags_withdraw(struct tags *tags, const void *tag, size_t size, uint32_t pid);
/* The same, whatever tag it is for; slow. */
bool tags_forget(struct tags *tags, uint32_t pid);

/* Calls show(context, tag, size, object) for each object, by tag. */
void tags_each_object(const struct tags *tags,
                      void (*show)(void *context, const void *tag, size_t size,
                                   struct object *object),
                      void *context);
/* Calls show(context, asker, tag, size, removes) for each request that waits, by tag. */
void tags_each_waiting(const struct tags *tags,
                       void (*show)(void *context, const struct asker *asker, const void *tag,
                                    size_t size, bool removes),
                       void *context);

/* The number of tags that have an object or are waited for, of objects, of their bytes without what
 * deliveries share with them, and of requests that wait. */
struct tags_totals {
    uint64_t tags, objects, bytes, waiting;
};
struct tags_totals tags_totals(const struct tags *tags);

#endif
