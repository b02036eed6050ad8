/* snapshot.h - which snapshot, which image in it, and what an image is: the same in files,
 * messages, on the board and in Processor Zero. */
#ifndef BSPZ_BASE_SNAPSHOT_H
#define BSPZ_BASE_SNAPSHOT_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "lib/base/exact.h"

#define BSPZ_IMAGE_DIGEST_SIZE 16u

struct bspz_snapshot_name {
    uint64_t superstep; /* completed */
    uint32_t term;      /* in which it was taken; 0: no snapshot */
};

static inline bool bspz_snapshot_same(struct bspz_snapshot_name a, struct bspz_snapshot_name b)
{
    return a.superstep == b.superstep && a.term == b.term;
}

/* Newer: later in the program, then in the later term. */
static inline bool bspz_snapshot_newer(struct bspz_snapshot_name a, struct bspz_snapshot_name b)
{
    return a.superstep != b.superstep ? a.superstep > b.superstep : a.term > b.term;
}

/* As a comparison for sorting says it: the older one first. */
static inline int bspz_snapshot_order(struct bspz_snapshot_name a, struct bspz_snapshot_name b)
{
    return bspz_snapshot_newer(a, b) - bspz_snapshot_newer(b, a);
}

/* What a copy that writes an image may take of a core on which others compute. */
enum bspz_writer_share {
    BSPZ_SHARE_IDLE,  /* next to nothing (SCHED_IDLE): it waits for an idle core */
    BSPZ_SHARE_TENTH, /* about a tenth: ten steps nicer than its rank */
    BSPZ_SHARE_EQUAL, /* as much as its rank: somebody waits for the image */
};

BSPZ_EXACT_BEGIN

/* Which image: a snapshot's superstep and term, the process, and the image's digest. */
struct bspz_image_name {
    uint64_t superstep;
    uint32_t term;
    uint32_t pid;
    uint8_t digest[BSPZ_IMAGE_DIGEST_SIZE];
};

BSPZ_EXACT_END

static inline struct bspz_snapshot_name bspz_image_snapshot(const struct bspz_image_name *image)
{
    return (struct bspz_snapshot_name){image->superstep, image->term};
}

/* What is to be known of an image to use it. */
struct bspz_image_facts {
    uint64_t size;
    uint64_t changed;            /* bytes that differed from the base; not in the manifest */
    uint32_t generation;         /* 0: a full image; else one more than its base's */
    struct bspz_image_name base; /* zero in a full image */
    uint8_t digest[BSPZ_IMAGE_DIGEST_SIZE];
};

/* Whether both are of the same bytes. */
static inline bool bspz_image_same(const struct bspz_image_facts *a,
                                   const struct bspz_image_facts *b)
{
    return a->size == b->size && memcmp(a->digest, b->digest, sizeof a->digest) == 0;
}

/* No image has a digest of zeros: it stands for none. */
static inline bool bspz_image_has_digest(const uint8_t digest[BSPZ_IMAGE_DIGEST_SIZE])
{
    static const uint8_t none[BSPZ_IMAGE_DIGEST_SIZE];

    return memcmp(digest, none, sizeof none) != 0;
}

#endif
