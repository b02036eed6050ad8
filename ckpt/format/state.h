/* state.h - what the two ways of putting memory together share; see state.c and state_1.c.
 * Internal.
 */
#ifndef CKPT_FORMAT_STATE_H
#define CKPT_FORMAT_STATE_H

#include "ckpt/format/reader.h"

/* Of images of version 1: takes everything that newest says image holds.  all: a record with other
 * data is an error.  place NULL: nowhere. */
int bspz_state_1_take(const struct bspz_image *newest, const struct bspz_image *image, bool all,
                      bspz_image_place_function *place, void *context,
                      struct bspz_image_fault *fault);

#endif
