/* traffic.c - who sends to whom; see traffic.h. */
#include "tools/profile/traffic.h"

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

enum traffic_fault traffic_check(const struct traffic *sums, uint32_t ranks)
{
    uint64_t in = 0, out = 0;
    for (uint32_t rank = 0; rank < ranks; rank++) {
        in += sums[rank].in;
        out += sums[rank].out;
    }
    if (in != out)
        return TRAFFIC_UNEQUAL;
    for (uint32_t rank = 0; rank < ranks; rank++)
        if (sums[rank].in + sums[rank].out > out)
            return TRAFFIC_TO_ITSELF;
    return TRAFFIC_GOOD;
}

/* The next process after this one that still receives; there is one. */
static uint32_t receiver_after(const struct traffic *sums, uint32_t ranks, uint32_t rank)
{
    uint32_t next = rank;
    do
        next = next + 1 < ranks ? next + 1 : 0;
    while (sums[next].in == 0);
    return next;
}

/* How much may go from one to the other before a third process has a part in all that is left. */
static uint64_t slack(const struct traffic *sums, uint32_t ranks, uint64_t left,
                      const struct traffic_message *message)
{
    uint64_t most = 0;
    for (uint32_t rank = 0; rank < ranks; rank++)
        if (rank != message->from && rank != message->to && sums[rank].in + sums[rank].out > most)
            most = sums[rank].in + sums[rank].out;
    return left - most;
}

/* The process that has a part in all that is left, or `ranks`. */
static uint32_t critical(const struct traffic *sums, uint32_t ranks, uint64_t left)
{
    uint32_t rank = 0;
    while (rank < ranks && sums[rank].in + sums[rank].out < left)
        rank++;
    return rank;
}

uint32_t traffic_assign(struct traffic *sums, uint32_t ranks, struct traffic_message *messages)
{
    uint64_t left = 0;
    uint32_t count = 0, sender = 0;
    for (uint32_t rank = 0; rank < ranks; rank++)
        left += sums[rank].out;
    while (left > 0) {
        struct traffic_message *message = &messages[count++];
        uint32_t hub = critical(sums, ranks, left);
        while (sums[sender].out == 0)
            sender++;
        message->from = hub < ranks && sums[hub].out > 0 ? hub : sender;
        message->to =
            hub < ranks && sums[hub].out == 0 ? hub : receiver_after(sums, ranks, message->from);
        message->bytes = least(sums[message->from].out, sums[message->to].in);
        message->bytes = least(message->bytes, slack(sums, ranks, left, message));
        sums[message->from].out -= message->bytes;
        sums[message->to].in -= message->bytes;
        left -= message->bytes;
    }
    return count;
}
