/* attributes.c - which attributes the program has set, and which of them cannot be restored. */
#include "ckpt/capture/attributes.h"

#include <errno.h>
#include <linux/prctl.h>
#include <string.h>

#include "ckpt/capture/arena.h"
#include "ckpt/capture/attributes_inside.h"
#include "ckpt/capture/capture.h"
#include "ckpt/capture/linux.h"

static const struct {
    const char *name;
    uint16_t first, words;
    enum bspz_attribute_kind kind;
} attributes[BSPZ_ATTRIBUTE_COUNT] = {
#define X(name, words, kind, text) {text, BSPZ_WORD_##name, words, BSPZ_ATTRIBUTE_##kind},
    BSPZ_ATTRIBUTE_TABLE(X)
#undef X
};

const char *bspz_attribute_name(enum bspz_attribute attribute)
{
    return attributes[attribute].name;
}

long bspz_dumpable_begin(void)
{
    long before = bspz_sys1(SYS_prctl, PR_GET_DUMPABLE);

    if (before != 1)
        bspz_sys2(SYS_prctl, PR_SET_DUMPABLE, 1);
    return before;
}

/* Only the kernel can set 2; it becomes 0, which differs little. */
void bspz_dumpable_end(long before)
{
    if (before != 1)
        bspz_sys2(SYS_prctl, PR_SET_DUMPABLE, 0);
}

bool bspz_attribute_same(const struct bspz_attributes *a, const struct bspz_attributes *b,
                         enum bspz_attribute which)
{
    return memcmp(&a->word[attributes[which].first], &b->word[attributes[which].first],
                  attributes[which].words * sizeof a->word[0]) == 0;
}

bool bspz_attribute_is_own(const struct bspz_attributes *all, enum bspz_attribute which,
                           enum bspz_attribute_kind kind)
{
    return attributes[which].kind == kind && all->own >> which & 1;
}

const uint64_t *bspz_attribute_words(const struct bspz_attributes *all, enum bspz_attribute which)
{
    return &all->word[attributes[which].first];
}

/* ---- What cannot be kept --------------------------------------------------------------------- */

static const char *complaint(enum bspz_attribute which)
{
    switch (which) {
    case BSPZ_ATTRIBUTE_USERS:
        return "other user ids than its node agent";
    case BSPZ_ATTRIBUTE_GROUPS:
        return "other group ids than its node agent";
    case BSPZ_ATTRIBUTE_MORE_GROUPS:
        return "other supplementary groups than its node agent";
    case BSPZ_ATTRIBUTE_CAPABILITIES:
        return "other capabilities than its node agent";
    case BSPZ_ATTRIBUTE_BOUNDING:
        return "another capability bounding set than its node agent";
    case BSPZ_ATTRIBUTE_FILTERS:
        return "a filter of system calls (seccomp) that its node agent does not have";
    case BSPZ_ATTRIBUTE_LABEL:
        return "another security label (/proc/self/attr/current) than its node agent";
    case BSPZ_ATTRIBUTE_ROOT:
        return "another root directory (chroot, pivot_root) than its node agent";
    case BSPZ_ATTRIBUTE_KEYRINGS:
        return "a keyring of its own (keyctl)";
    case BSPZ_ATTRIBUTE_SEGMENTS:
        return "a local descriptor table (modify_ldt)";
    default:
        return NULL; /* a namespace */
    }
}

static void add_word(struct bspz_text *why, enum bspz_attribute which, uint64_t word)
{
    if (which == BSPZ_ATTRIBUTE_CAPABILITIES || which == BSPZ_ATTRIBUTE_BOUNDING)
        bspz_text_hex(why, word);
    else
        bspz_text_decimal(why, (int64_t)word);
}

static void add_words(struct bspz_text *why, enum bspz_attribute which,
                      const struct bspz_attributes *all)
{
    for (unsigned i = 0; i < attributes[which].words; i++) {
        if (i > 0)
            bspz_text_add(why, " ");
        add_word(why, which, all->word[attributes[which].first + i]);
    }
}

static bool has_numbers(enum bspz_attribute which)
{
    return which == BSPZ_ATTRIBUTE_USERS || which == BSPZ_ATTRIBUTE_GROUPS ||
           which == BSPZ_ATTRIBUTE_CAPABILITIES || which == BSPZ_ATTRIBUTE_BOUNDING;
}

static int refuse(const struct bspz_attributes *now, const struct bspz_attributes *initial,
                  enum bspz_attribute which, char *text)
{
    const char *what = complaint(which);
    struct bspz_text why;

    bspz_text_begin(&why, text, BSPZ_WHY_SIZE);
    bspz_text_add(&why, "the process has ");
    if (what) {
        bspz_text_add(&why, what);
    } else {
        bspz_text_add(&why, "another ");
        bspz_text_add(&why, attributes[which].name);
        bspz_text_add(&why, " (unshare, setns) than its node agent");
    }
    if (has_numbers(which)) {
        bspz_text_add(&why, " (");
        add_words(&why, which, now);
        bspz_text_add(&why, " instead of ");
        add_words(&why, which, initial);
        bspz_text_add(&why, ")");
    }
    bspz_text_add(&why, ", which cannot be restored");
    return -EBUSY;
}

/* ---- What is the program's own --------------------------------------------------------------- */

static void mark_limits(struct bspz_attributes *now, const struct bspz_attributes *initial)
{
    uint64_t *limit = &now->word[BSPZ_WORD_LIMITS];
    const uint64_t *was = &initial->word[BSPZ_WORD_LIMITS];

    limit[2 * BSPZ_LIMITS] = 0;
    for (unsigned i = 0; i < 2 * BSPZ_LIMITS; i++)
        if (limit[i] != was[i])
            limit[2 * BSPZ_LIMITS] |= UINT64_C(1) << i;
}

static bool is_bound(const struct bspz_attributes *now, const uint64_t *bound)
{
    return bound &&
           memcmp(&now->word[BSPZ_WORD_AFFINITY], bound, BSPZ_AFFINITY_WORDS * sizeof *bound) == 0;
}

/* Mount numbers differ between mount namespaces. */
static bool is_same_root(const struct bspz_attributes *a, const struct bspz_attributes *b)
{
    return !bspz_attribute_same(a, b, BSPZ_ATTRIBUTE_MOUNTS) &&
           memcmp(&a->word[BSPZ_WORD_ROOT], &b->word[BSPZ_WORD_ROOT], 2 * sizeof a->word[0]) == 0;
}

int bspz_attributes_compare(struct bspz_attributes *now, const struct bspz_attributes *initial,
                            const uint64_t *bound, char *why)
{
    int error = 0;

    now->own = 0;
    if (!initial || !initial->known)
        return 0;
    for (unsigned which = 0; which < BSPZ_ATTRIBUTE_COUNT; which++) {
        if (!(now->known & initial->known & UINT64_C(1) << which) ||
            bspz_attribute_same(now, initial, which) ||
            (which == BSPZ_ATTRIBUTE_AFFINITY && is_bound(now, bound)) ||
            (which == BSPZ_ATTRIBUTE_ROOT && is_same_root(now, initial)))
            continue;
        now->own |= UINT64_C(1) << which;
        if (attributes[which].kind == BSPZ_ATTRIBUTE_REFUSED && !error)
            error = refuse(now, initial, which, why);
    }
    mark_limits(now, initial);
    return error;
}
