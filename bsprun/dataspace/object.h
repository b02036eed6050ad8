/* object.h - what a tag stands for in the dataspace: bytes that do not change once they are there,
 * so that several deliveries can share them.
 */
#ifndef BSPRUN_DATASPACE_OBJECT_H
#define BSPRUN_DATASPACE_OBJECT_H

#include <stdint.h>

/* Bytes of an object, and of a tag, at most. */
#define DATASPACE_OBJECT_MOST (UINT64_C(1) << 30)

struct object {
    uint64_t size;
    uint32_t references;
    unsigned char bytes[];
};

/* A new object with one reference, whose bytes the caller writes; NULL: no memory. */
struct object *object_make(uint64_t size);
/* One reference more; returns the object. */
struct object *object_share(struct object *object);
/* One reference less; the last one frees it.  Harmless for NULL. */
void object_drop(struct object *object);

#endif
