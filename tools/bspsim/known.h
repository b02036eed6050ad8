/* known.h - how long messages took, by what each process sends and receives. Pure.
 *
 * Programs do the same again and again; what has been simulated once need not be simulated again.
 * The room is bounded: what was known of others is forgotten when there is no more. */
#ifndef BSPSIM_KNOWN_H
#define BSPSIM_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "tools/profile/traffic.h"

struct known;

/* NULL: out of memory.  Takes at most 16 MiB and a little. */
struct known *known_new(uint32_t ranks);
void known_free(struct known *known);

bool known_find(const struct known *known, const struct traffic *traffic, double *seconds);
void known_store(struct known *known, const struct traffic *traffic, double seconds);

#endif
