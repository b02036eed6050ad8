/* state.h - what the two ways of putting memory together share; see state.c and state_1.c.
 * Internal.
 */
#ifndef CKPT_FORMAT_STATE_H
#define CKPT_FORMAT_STATE_H

#include "ckpt/format/reader.h"

/* Reads a record that is stored as it is, without its own check: for bytes of which each is checked
 * by another hash next. */
int bspz_record_read(const struct bspz_walk *walk, void *raw, struct bspz_image_fault *fault);

/* Reads, checks and decodes the record into memory that is at least as large as it. */
int bspz_record_decode(const struct bspz_walk *walk, void *raw, struct bspz_image_fault *fault);

/* Of images of version 1: takes everything that newest says image holds.  all: a record with other
 * data is an error.  place NULL: nowhere. */
int bspz_state_1_take(const struct bspz_image *newest, const struct bspz_image *image, bool all,
                      bspz_image_place_function *place, void *context,
                      struct bspz_image_fault *fault);

#endif
