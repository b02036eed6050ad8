/* attributes_inside.h - what attributes_read.c and attributes_put.c share; private to the two. */
#ifndef CKPT_CAPTURE_ATTRIBUTES_INSIDE_H
#define CKPT_CAPTURE_ATTRIBUTES_INSIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "ckpt/capture/attributes.h"

#define BSPZ_LIMITS              16u
#define BSPZ_LISTED_GROUPS       64u

/* Numbers of the kernel's interface that older headers lack. */
#define BSPZ_PR_SET_IO_FLUSHER   57
#define BSPZ_PR_GET_IO_FLUSHER   58
#define BSPZ_PR_SET_MDWE         65
#define BSPZ_PR_GET_MDWE         66
#define BSPZ_PR_SET_MEMORY_MERGE 67
#define BSPZ_PR_GET_MEMORY_MERGE 68
#define BSPZ_MEMBARRIER_GET      (1 << 9) /* returns the commands that are registered */
#define BSPZ_ARCH_GET_CPUID      0x1011
#define BSPZ_ARCH_SET_CPUID      0x1012
#define BSPZ_ARCH_GET_XCOMP_PERM 0x1022
#define BSPZ_ARCH_REQ_XCOMP_PERM 0x1023

#define BSPZ_KEEP_CAPS           16 /* the only securebit that needs no privilege */

/* As for the kernel's sched_setattr. */
struct bspz_scheduling {
    uint32_t size;
    uint32_t policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
    uint32_t least, most; /* of the utilisation */
};

#define BSPZ_SCHED_DEADLINE 6u
#define BSPZ_SCHED_FLAGS    0x7u /* reset on fork, reclaim, tell overruns */
#define BSPZ_SCHED_KEEP_ALL 0x18u
#define BSPZ_SCHED_CLAMPS   0x60u

bool bspz_attribute_same(const struct bspz_attributes *a, const struct bspz_attributes *b,
                         enum bspz_attribute which);
/* Whether the program has set the attribute and it is of that kind. */
bool bspz_attribute_is_own(const struct bspz_attributes *all, enum bspz_attribute which,
                           enum bspz_attribute_kind kind);
const uint64_t *bspz_attribute_words(const struct bspz_attributes *all, enum bspz_attribute which);

#endif
