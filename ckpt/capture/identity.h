/* identity.h - what program, library and processor this is. */
#ifndef CKPT_CAPTURE_IDENTITY_H
#define CKPT_CAPTURE_IDENTITY_H

#include <stddef.h>
#include <stdint.h>

#include "ckpt/format/layout.h"

/* Two hashes of some bytes: to distinguish the pages of kernels, not against malice. */
void bspz_hash_bytes(uint64_t hash[2], const void *bytes, size_t size);

/* The features of this processor; queried once per process, since cpuid is slow in virtual
 * machines. */
void bspz_cpu_features(uint64_t features[8]);

/* The name of a feature of `needed` that `offered` lacks; NULL: there is none. */
const char *bspz_cpu_lacks(const uint64_t needed[8], const uint64_t offered[8]);

#endif
