/* keeper.h - all objects that a host owns as a stream of bytes (lib/base/kept.h), for a snapshot.
 * Pure.
 *
 * The stream is of the moment at which it begins: objects do not change, and what is put or got
 * later is not seen.  What can fail: no memory.
 */
#ifndef BSPRUN_DATASPACE_KEEPER_H
#define BSPRUN_DATASPACE_KEEPER_H

#include <stdint.h>

#include "bsprun/dataspace/tags.h"

struct keeper;

/* The objects of so many sets of tags.  NULL: no memory. */
struct keeper *keeper_begin(const struct tags *const *tags, uint32_t count);
/* Harmless for NULL. */
void keeper_end(struct keeper *keeper);

/* Bytes of the stream, and how many of them have been read. */
uint64_t keeper_size(const struct keeper *keeper);
uint64_t keeper_done(const struct keeper *keeper);
/* Copies the next bytes, at most `room`; returns how many. */
uint32_t keeper_read(struct keeper *keeper, void *to, uint32_t room);

#endif
