/* section.h - what writer and reader of images share: seals of sections, rules for table entries.
 * Internal. */
#ifndef CKPT_FORMAT_SECTION_H
#define CKPT_FORMAT_SECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ckpt/format/layout.h"

/* The seed for the hash of the section's bytes.  It depends on the kind, coding, number, place and
 * sizes and on the image (salt: the header's hash), so a section that was moved, exchanged or taken
 * from another image does not match. */
uint64_t bspz_section_seed(const struct bspz_image_section *section, uint64_t salt);

/* The check of the struct itself, its hash included. */
uint32_t bspz_section_check(const struct bspz_image_section *section, uint64_t salt);

/* Bytes that an entry with a path takes in its table. */
static inline size_t bspz_entry_size(size_t entry_size, uint32_t path_size)
{
    return entry_size + ((size_t)path_size + 1 + 7) / 8 * 8;
}

bool bspz_page_size_possible(uint32_t page_size);

/* A text that says what is wrong with an entry, or NULL. */
const char *bspz_region_complaint(const struct bspz_image_region *region, uint32_t page_size);
const char *bspz_descriptor_complaint(const struct bspz_image_descriptor *descriptor);

#endif
