/* state.h - what the decoders of both versions share; see state.c and state_1.c.  Internal.
 */
#ifndef CKPT_FORMAT_STATE_H
#define CKPT_FORMAT_STATE_H

#include "ckpt/format/reader.h"

/* For images of version 1: takes all units that image holds according to newest.  all: a record
 * with other data is an error.  place NULL: nothing is stored. */
int bspz_state_1_take(const struct bspz_image *newest, const struct bspz_image *image, bool all,
                      bspz_image_place_function *place, void *context,
                      struct bspz_image_fault *fault);

#endif
