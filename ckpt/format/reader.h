/* reader.h - walking through the sections of an image.  Internal. */
#ifndef CKPT_FORMAT_READER_H
#define CKPT_FORMAT_READER_H

#include "ckpt/format/codec.h"
#include "ckpt/format/image.h"
#include "ckpt/format/section.h"

/* The scratch memory of a reader. */
struct bspz_reader_scratch {
    _Alignas(64) unsigned char stored[BSPZ_IMAGE_OPAQUE_MAX];
    _Alignas(64) unsigned char sorted[BSPZ_IMAGE_RECORD_MAX];
    _Alignas(64) unsigned char raw[BSPZ_IMAGE_RECORD_MAX];
};
_Static_assert(sizeof(struct bspz_reader_scratch) <= BSPZ_IMAGE_READER_SCRATCH, "scratch");

/* A position between two sections and totals of those before it. */
struct bspz_walk {
    const struct bspz_image *image;
    uint64_t offset; /* of the section's bytes, after bspz_walk_next */
    uint64_t next;   /* of the next section's struct */
    uint32_t sequence;
    uint16_t kind;        /* of the section before */
    uint64_t end_of_data; /* of the last record */
    uint64_t records;
    struct bspz_digest digest;
    struct bspz_image_section section;
};

void bspz_walk_start(struct bspz_walk *walk, const struct bspz_image *image);

/* Reads and checks the struct of the next section, not its bytes. 1: there is one; 0: the next is
 * the end section, and its totals are right. */
int bspz_walk_next(struct bspz_walk *walk, struct bspz_image_fault *fault);

/* Reads and checks the bytes of the section. */
int bspz_walk_bytes(const struct bspz_walk *walk, void *bytes, struct bspz_image_fault *fault);

/* The same, decoded into section.raw bytes; `what` names it in the text of a fault. */
int bspz_walk_decode(const struct bspz_walk *walk, void *raw, const char *what,
                     struct bspz_image_fault *fault);

/* Reads an uncoded record without its own check, for bytes that are checked by other hashes
 * next. */
int bspz_record_read(const struct bspz_walk *walk, void *raw, struct bspz_image_fault *fault);

/* Reads bytes of such a record, from its byte `first` on, into places one after the other; likewise
 * without a check. */
int bspz_record_scatter(const struct bspz_walk *walk, uint64_t first, const struct iovec *places,
                        uint32_t count, struct bspz_image_fault *fault);

/* Reads, checks and decodes the record into memory that is at least as large as it. */
int bspz_record_decode(const struct bspz_walk *walk, void *raw, struct bspz_image_fault *fault);

/* Fills fault (unless NULL) and returns code. */
int bspz_image_fail(struct bspz_image_fault *fault, int code, uint64_t first, uint64_t end,
                    const char *format, ...) __attribute__((format(printf, 5, 6)));

#endif
