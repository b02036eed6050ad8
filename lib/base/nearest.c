/* nearest.c - the word most like a misspelled one; see nearest.h. */
#include "lib/base/nearest.h"

#include <string.h>

#define FARTHEST   2
#define LENGTH_MAX 64

static int smallest(int a, int b, int c)
{
    int ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* The number of insertions, deletions and changes of a letter between two words. */
static int distance(const char *from, size_t from_length, const char *to)
{
    int row[LENGTH_MAX];
    int length = (int)strlen(to);

    if (length >= LENGTH_MAX)
        return LENGTH_MAX;
    for (int i = 0; i <= length; i++)
        row[i] = i;
    for (int line = 1; line <= (int)from_length; from++, line++) {
        int diagonal = row[0];

        row[0] = line;
        for (int i = 1; i <= length; i++) {
            int above = row[i];

            row[i] = smallest(above + 1, row[i - 1] + 1, diagonal + (*from != to[i - 1]));
            diagonal = above;
        }
    }
    return row[length];
}

struct bspz_nearest bspz_nearest_to(const char *word)
{
    word += strspn(word, "-");
    return (struct bspz_nearest){
        .word = word, .length = strcspn(word, "="), .changes = FARTHEST + 1};
}

/* Fewer changes than the word has letters: "--np" has nothing in common with "-q". */
void bspz_nearest_offer(struct bspz_nearest *nearest, const char *candidate)
{
    int changes = distance(nearest->word, nearest->length, candidate);

    if (changes >= nearest->changes || changes >= (int)nearest->length)
        return;
    nearest->changes = changes;
    nearest->best = candidate;
}
