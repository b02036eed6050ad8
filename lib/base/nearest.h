/* nearest.h - the word that was meant by a misspelled one. */
#ifndef BSPZ_BASE_NEAREST_H
#define BSPZ_BASE_NEAREST_H

#include <stddef.h>

/* Of all words offered so far the one that needs the fewest changes. */
struct bspz_nearest {
    const char *word; /* as it was written, `length` bytes of it count */
    size_t length;
    const char *best; /* NULL: none is near enough */
    int changes;
};

/* Dashes before the word, and what comes behind a '=', do not count. */
struct bspz_nearest bspz_nearest_to(const char *word);

/* Offers a word that could have been meant: it must need at most two insertions, deletions or
 * changes of a letter, and fewer than the word has letters.  Of several the first. */
void bspz_nearest_offer(struct bspz_nearest *nearest, const char *candidate);

#endif
