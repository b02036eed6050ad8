/* match.h - which message a receive gets.  Pure: no memory, no clock; entries belong to the caller.
 *
 * A receive matches a message of its context with its source and tag, either of which may be
 * MATCH_ANY.  A receive gets the earliest message that it matches, and a message goes to the
 * earliest receive that matches it; so messages of one process, which arrive in the order in which
 * they were sent, do not overtake each other.
 */
#ifndef BSPZ_RT_MPI_MATCH_H
#define BSPZ_RT_MPI_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#define MATCH_ANY (-1)

/* Of a message, or what a receive is for. */
struct match_key {
    uint32_t context;
    int32_t source, tag; /* of a receive MATCH_ANY: all */
};

/* A message or a receive that waits; part of a struct of the caller's, to be the first in it. */
struct match_entry {
    struct match_key key;
    struct match_entry *next;
};

struct match_list {
    struct match_entry *first, **last;
};

struct match {
    struct match_list receives, messages; /* that wait, in the order in which they came */
};

void bspz_match_begin(struct match *match);

/* A receive is posted: returns the message that it gets, which waits no longer; NULL: none, and the
 * receive waits until bspz_match_arrived returns it. */
struct match_entry *bspz_match_post(struct match *match, struct match_entry *receive);

/* A message has arrived: returns the receive that gets it, which waits no longer; NULL: none, and
 * the caller is to keep the message with bspz_match_keep. */
struct match_entry *bspz_match_arrived(struct match *match, const struct match_key *message);
void bspz_match_keep(struct match *match, struct match_entry *message);

/* The message that a receive for `key` would get; NULL: none. */
const struct match_entry *bspz_match_probe(const struct match *match, const struct match_key *key);

#endif
