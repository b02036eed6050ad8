/* known.c - how long messages took; see known.h.  A table with one place for each digest. */
#include "tools/bspsim/known.h"

#include <stdlib.h>
#include <string.h>

#define BYTES_MOST  (UINT64_C(16) << 20)
#define PLACES_MOST 8192u

struct known {
    uint32_t ranks, places;
    double *seconds;         /* [places], below 0: nothing is stored there */
    struct traffic *traffic; /* [places][ranks] */
};

struct known *known_new(uint32_t ranks)
{
    uint64_t fit = BYTES_MOST / (ranks * sizeof(struct traffic));
    struct known *known = calloc(1, sizeof(*known));
    if (!known)
        return NULL;
    known->ranks = ranks;
    known->places = fit < PLACES_MOST ? (uint32_t)fit : PLACES_MOST;
    known->seconds = malloc(known->places * sizeof(*known->seconds));
    known->traffic = calloc((size_t)known->places * ranks, sizeof(*known->traffic));
    if (!known->seconds || !known->traffic) {
        known_free(known);
        return NULL;
    }
    for (uint32_t i = 0; i < known->places; i++)
        known->seconds[i] = -1;
    return known;
}

void known_free(struct known *known)
{
    if (!known)
        return;
    free(known->seconds);
    free(known->traffic);
    free(known);
}

static uint32_t place_of(const struct known *known, const struct traffic *traffic)
{
    uint64_t digest = 0;
    for (uint32_t rank = 0; rank < known->ranks; rank++) {
        digest = (digest ^ traffic[rank].in) * UINT64_C(0x9e3779b97f4a7c15);
        digest = (digest ^ digest >> 29 ^ traffic[rank].out) * UINT64_C(0xbf58476d1ce4e5b9);
        digest ^= digest >> 32;
    }
    return (uint32_t)(digest % known->places);
}

bool known_find(const struct known *known, const struct traffic *traffic, double *seconds)
{
    size_t place = place_of(known, traffic);
    if (known->seconds[place] < 0 || memcmp(known->traffic + place * known->ranks, traffic,
                                            known->ranks * sizeof(*traffic)) != 0)
        return false;
    *seconds = known->seconds[place];
    return true;
}

void known_store(struct known *known, const struct traffic *traffic, double seconds)
{
    size_t place = place_of(known, traffic);
    memcpy(known->traffic + place * known->ranks, traffic, known->ranks * sizeof(*traffic));
    known->seconds[place] = seconds;
}
