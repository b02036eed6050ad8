/* restore.h - the parts of a restore; private to this directory.
 *
 * Until `staged` nothing is changed but the memory and the descriptors of this fresh process. */
#ifndef CKPT_CAPTURE_RESTORE_H
#define CKPT_CAPTURE_RESTORE_H

#include "ckpt/capture/restorer.h"
#include "ckpt/capture/snapshot.h"

/* A saved region: where it is staged, and where it belongs. */
struct bspz_staged {
    const struct bspz_image_region *region;
    uint64_t home;
    uint64_t bytes; /* more than was saved for a stack, which can no longer grow */
    uint64_t at;    /* 0: not mapped */
    uint64_t moved; /* bytes from its beginning that came from where they were staged before */
    bool writable;  /* temporarily, while data are decoded into it */
};

/* The images from which the process is restored. */
struct bspz_restore_chain {
    struct bspz_image images[BSPZ_IMAGE_CHAIN_MAX];  /* in the order in which they came */
    struct bspz_image *newest[BSPZ_IMAGE_CHAIN_MAX]; /* newest first */
    uint32_t count;
    void *scratch; /* of their reader */
};

struct bspz_restore {
    struct bspz_restore_plan *plan;
    struct bspz_snapshot *self; /* this process: mappings, descriptors, arena */
    struct bspz_restore_chain chain;
    struct bspz_image *image; /* the newest */
    const struct bspz_thread *thread;
    struct bspz_attributes attributes;
    const struct bspz_range *apart; /* must stay unmapped in the restored process */
    uint32_t apart_count;
    const struct bspz_pending *pending; /* signals */
    uint32_t pending_count;
    struct bspz_staged *staged; /* ascending, as the image's regions */
    uint32_t staged_count;
    struct bspz_range place; /* where all is staged */
    uint64_t block;          /* the restorer's memory, at the beginning of the place */
    uint64_t block_bytes;
    uint64_t park;            /* where the kernel's pages are parked */
    struct bspz_range kernel; /* where they are now */
    uint64_t vdso;            /* address of the vdso itself now; 0: there is none */
    bool same_kernel;
    int *opened;   /* the new number of each descriptor of the image, or -1 */
    bool *lost;    /* whether it gives nothing but EIO */
    int directory; /* the current directory */
    int job_descriptors[BSPZ_JOB_DESCRIPTORS];
};

/* Writes "TEXT NAME: WHAT" into why, parts may be NULL; returns the error. */
int bspz_restore_fail(struct bspz_restore *restore, int error, const char *text, const char *name,
                      const char *what);

/* stage.c: finds the place, maps and fills it. */
int bspz_stage(struct bspz_restore *restore);
/* Lists the regions, and finds and reserves the place; nothing is mapped there yet. */
int bspz_stage_begin(struct bspz_restore *restore);
/* The staged region at an address of the saved process; NULL: none. */
struct bspz_staged *bspz_staged_at(struct bspz_staged *staged, uint32_t count, uint64_t address);
/* Where saved bytes go, which become writable; NULL: nowhere. */
void *bspz_stage_bytes(void *restore, uint64_t address, size_t length);
/* When no more images come: the kernel's functions, protection and advice. */
int bspz_stage_finish(struct bspz_restore *restore);
/* restage.c: after the first `newer` images of the chain were added to those that are staged,
 * stages the state of the newest, with what is unchanged moved. */
int bspz_stage_again(struct bspz_restore *restore, uint32_t newer);
/* staging_area.c: lists the regions with the room that each needs; -ENOMEM.  Then, when the sizes
 * of the restorer's block and the kernel's pages are known, reserves the place and lays it out. */
int bspz_stage_list(struct bspz_restore *restore);
int bspz_stage_place(struct bspz_restore *restore);
/* staged_regions.c: maps the region in the staging area.  At the end all get their saved protection
 * and advice. */
int bspz_staged_map(struct bspz_restore *restore, struct bspz_staged *staged);
int bspz_staged_protect(struct bspz_restore *restore);
/* Makes the region writable until it gets its protection; false: not possible. */
bool bspz_staged_writable(struct bspz_staged *staged);
/* huge_pages.c: makes huge pages where that costs no memory. */
void bspz_stage_huge(struct bspz_restore *restore);

/* compatible.c: checks that processor, program, libraries and files are those of the image. */
int bspz_restore_check_compatible(struct bspz_restore *restore);
/* The path of the file that the region maps: the saved path or, if that file is missing or differs,
 * that of a copy in the plan's directory of binaries, written into `kept`.  On failure NULL and
 * *error (-ESTALE: it is another file). */
#define BSPZ_KEPT_PATH 4224
const char *bspz_restore_file(const struct bspz_restore *restore,
                              const struct bspz_image_region *region, char kept[BSPZ_KEPT_PATH],
                              int *error);

/* elsewhere.c: whether the descriptor, opened by its path or shared with others of this host,
 * certainly is the file in the image. */
bool bspz_same_file(const struct bspz_restore *restore, const struct bspz_image_descriptor *saved,
                    int fd);
/* A descriptor whose reads and writes fail with EIO. */
int bspz_lost_file(const struct bspz_image_descriptor *saved);

/* files.c: opens and checks files; later, when all processes have staged, truncates them and moves
 * the descriptors to their numbers. */
int bspz_files_open(struct bspz_restore *restore);
int bspz_files_place(struct bspz_restore *restore);

#endif
