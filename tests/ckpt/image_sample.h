/* image_sample.h - processes that never were, their images in memory, and what comes back of them.
 */
#ifndef TESTS_CKPT_IMAGE_SAMPLE_H
#define TESTS_CKPT_IMAGE_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "ckpt/format/image.h"

/* Bytes that grow: an image as it would lie in a file. */
struct sample_file {
    unsigned char *bytes;
    size_t size;
    size_t capacity;
    uint64_t fail_after; /* writing beyond it fails with -ENOSPC; 0: never */
    uint64_t scattered;  /* calls that read into several places */
};

int sample_write(void *file, const void *bytes, size_t size);
int sample_read(void *file, uint64_t offset, void *bytes, size_t size);
void sample_file_free(struct sample_file *file);

#define SAMPLE_REGIONS_MAX 8

/* A process: its regions, their bytes, and which of their pages are its own. */
struct sample_process {
    struct bspz_image_region regions[SAMPLE_REGIONS_MAX];
    const char *paths[SAMPLE_REGIONS_MAX];
    uint32_t region_count;
    unsigned char *bytes[SAMPLE_REGIONS_MAX];
    unsigned char *present[SAMPLE_REGIONS_MAX]; /* one per page */
    uint64_t pages;                             /* of its own */
    uint32_t pid, nprocs, term;
    uint64_t superstep;
};

/* Made from the seed: about `pages` pages of every kind of content, with gaps. */
void sample_process_make(struct sample_process *process, uint32_t pages, uint64_t seed);
/* One superstep later: changes about one page in `one_in`. */
void sample_process_change(struct sample_process *process, uint32_t one_in, uint64_t seed);
void sample_process_free(struct sample_process *process);

uint64_t sample_random(uint64_t *state);

/* Empty; for free(). */
struct bspz_image_table *sample_table(uint64_t capacity);

struct sample_options {
    const struct bspz_image_table *base;
    struct bspz_image_table *next;
    bool compress;
    const char *shared; /* a file that others have open with it; NULL: none */
    uint32_t mark;
};

/* Writes the process's image; 0 or the writer's error. */
int sample_image(const struct sample_process *process, const struct sample_options *options,
                 struct sample_file *file, struct bspz_image_written *written);

/* An image that has been opened and loaded. */
struct sample_reader {
    struct bspz_image image;
    void *scratch;
    void *memory;
};

int sample_open(struct sample_reader *reader, struct sample_file *file,
                struct bspz_image_fault *fault);
/* The same with scratch memory of the caller's, BSPZ_IMAGE_READER_SCRATCH bytes at a multiple
 * of 64. */
int sample_open_with(struct sample_reader *reader, struct sample_file *file, void *scratch,
                     struct bspz_image_fault *fault);
int sample_load(struct sample_reader *reader, struct bspz_image_fault *fault);
/* Opens, loads and verifies what must be good; else the test program ends. */
void sample_must_open(struct sample_reader *reader, struct sample_file *file);
void sample_reader_free(struct sample_reader *reader);

/* Opens, loads and verifies. */
int sample_check(struct sample_file *file, struct bspz_image_fault *fault);

/* Makes all hashes, sequence numbers and the end right again after sections were changed, taken out
 * or put in: what random damage cannot do. */
void sample_put_right(unsigned char *bytes, size_t size);

/* Decodes the chain and compares with the process: every page once, nothing else.  Returns what
 * bspz_image_decode does, -EILSEQ when it came out otherwise. */
int sample_restore(struct sample_reader *const *chain, uint32_t count,
                   const struct sample_process *process, uint32_t *index,
                   struct bspz_image_fault *fault);

/* Decodes the chain from chain[bases[0]] on, advances to each of the others in turn and then to
 * chain[0], and compares as sample_restore does. */
int sample_advance(struct sample_reader *const *chain, uint32_t count, const uint32_t *bases,
                   uint32_t base_count, const struct sample_process *process, uint32_t *index,
                   struct bspz_image_fault *fault);

#endif
