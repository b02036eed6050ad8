/* traffic.h - who sends to whom, made up from what each process sends and receives. Pure.
 *
 * A profile has the sums of each process, but not the messages.  Those made up here have exactly
 * these sums, none goes from a process to itself, and there are fewer than two for each process,
 * so that large jobs can be simulated.  The same sums give the same messages.
 *
 * Each process sends to those that follow it, as in a ring, as much as they still take.  When one
 * process has a part in all that is left, it has a part in each further message: else it would
 * have to send to itself in the end.
 */
#ifndef TOOLS_TRAFFIC_H
#define TOOLS_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

#define TRAFFIC_BYTES_MAX (UINT64_C(1) << 48) /* into or out of a process */
#define TRAFFIC_RANKS_MAX 4096u

struct traffic {
    uint64_t in, out; /* bytes of a process */
};

struct traffic_message {
    uint32_t from, to;
    uint64_t bytes;
};

enum traffic_fault {
    TRAFFIC_GOOD,
    TRAFFIC_UNEQUAL,  /* all together do not receive what they send */
    TRAFFIC_TO_ITSELF /* a process would have to send to itself */
};

/* Whether there are messages with these sums, each of which is at most TRAFFIC_BYTES_MAX, of at
 * most TRAFFIC_RANKS_MAX processes. */
enum traffic_fault traffic_check(const struct traffic *sums, uint32_t ranks);

/* Stores the messages in the order of their making and returns how many: fewer than 2 * ranks, for
 * which there must be room.  The sums must be good; they are used up.  Takes time of the order of
 * ranks * ranks. */
uint32_t traffic_assign(struct traffic *sums, uint32_t ranks, struct traffic_message *messages);

#endif
