/* nearest.h - the word most like a misspelled one. */
#ifndef BSPZ_BASE_NEAREST_H
#define BSPZ_BASE_NEAREST_H

#include <stddef.h>

/* The best of all words offered so far. */
struct bspz_nearest {
    const char *word; /* as the user wrote it; the first `length` bytes count */
    size_t length;
    const char *best; /* NULL: none is similar enough */
    int changes;
};

/* Leading dashes, and '=' with what follows, are ignored. */
struct bspz_nearest bspz_nearest_to(const char *word);

/* Offers a word that could have been meant: it must need at most two insertions, deletions or
 * changes of a letter, and fewer than the word has letters.  The first of equal ones wins. */
void bspz_nearest_offer(struct bspz_nearest *nearest, const char *candidate);

#endif
