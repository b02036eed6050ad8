/* kept.h - the objects of a host as one stream of bytes, as the agent gives them to a rank that
 * keeps them in a snapshot: for each object this header, its tag, its bytes; no gaps.
 */
#ifndef BSPZ_BASE_KEPT_H
#define BSPZ_BASE_KEPT_H

#include <stdint.h>

struct bspz_kept_object {
    uint64_t size; /* of the object */
    uint32_t tag_size;
    uint32_t unused; /* 0 */
};

#endif
