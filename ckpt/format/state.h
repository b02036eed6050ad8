/* state.h - what the decoders of both versions share; see state.c, state_1.c and advance.c.
 * Internal. */
#ifndef CKPT_FORMAT_STATE_H
#define CKPT_FORMAT_STATE_H

#include "ckpt/format/reader.h"

/* Takes all units that newest needs from image; an image of which none are needed is walked, too,
 * to check its digest.  place NULL: nothing is stored. */
int bspz_state_take(const struct bspz_image *newest, const struct bspz_image *image,
                    bspz_image_place_function *place, void *context,
                    struct bspz_image_fault *fault);

/* -ESTALE, *index and the fault when the images are not a chain from chain[0] down to a full
 * image. */
int bspz_state_check_chain(struct bspz_image *const *chain, uint32_t count, uint32_t *index,
                           struct bspz_image_fault *fault);

/* Walks the hashes of all units that chain[0] describes: each must be in the image that is said to
 * hold it, and the hash of them all must be the writer's.  hashes: receives copies, unless NULL. */
int bspz_state_gather_hashes(struct bspz_image *const *chain, uint32_t count,
                             struct bspz_image_hash *hashes, uint32_t *index,
                             struct bspz_image_fault *fault);

/* For images of version 1: takes all units that image holds according to newest.  all: a record
 * with other data is an error.  place NULL: nothing is stored. */
int bspz_state_1_take(const struct bspz_image *newest, const struct bspz_image *image, bool all,
                      bspz_image_place_function *place, void *context,
                      struct bspz_image_fault *fault);

#endif
