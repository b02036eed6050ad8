/* Messages: random supersteps of sends with changing tag sizes and partly read queues, against a
 * model that every process computes for the whole machine.
 *
 * OUT-EACH: pid ${i}: ok
 */
#include "../check.h"

enum { ROUNDS = 150, SENDS = 20, MAX_P = 7 };

static unsigned long long state = 4711;

static int below(int bound)
{
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return (int)((state >> 33) % (unsigned)bound);
}

typedef struct {
    int length, tag_size;
    unsigned char first;
} message;

static message queue[MAX_P * SENDS];
static int queued;

/* Draws the sends of everybody, issues the own ones and remembers those that come here. */
static void send_all(int tag_size)
{
    unsigned char data[600], tag[32];

    queued = 0;
    for (int from = 0; from < bsp_nprocs(); from++)
        for (int k = below(SENDS); k > 0; k--) {
            int to = below(bsp_nprocs()), length = below(3) ? below(20) : below(600);
            unsigned char first = (unsigned char)below(256);

            if (from == bsp_pid()) {
                memset(tag, first + 1, sizeof tag);
                memset(data, first, sizeof data);
                bsp_send(to, tag, data, length);
            }
            if (to == bsp_pid())
                queue[queued++] = (message){length, tag_size, first};
        }
}

static void receive_some(void)
{
    int left = queued, bytes = 0, packets, size, reads = queued ? below(1000) % (queued + 1) : 0;

    for (int k = 0; k < queued; k++)
        bytes += queue[k].length;
    for (int k = 0; k < reads; k++) {
        unsigned char data[600], tag[32];
        int status;

        bsp_qsize(&packets, &size);
        CHECK_INT(packets, left);
        CHECK_INT(size, bytes);
        memset(tag, 0, sizeof tag);
        bsp_get_tag(&status, tag);
        CHECK_INT(status, queue[k].length);
        for (int i = 0; i < 32; i++)
            CHECK_INT(tag[i], i < queue[k].tag_size ? (unsigned char)(queue[k].first + 1) : 0);
        bsp_move(data, sizeof data);
        for (int i = 0; i < queue[k].length; i++)
            CHECK_INT(data[i], queue[k].first);
        left--;
        bytes -= queue[k].length;
    }
}

int main(void)
{
    bsp_begin(0);
    int effective = 0, last = 0;

    for (int round = 0; round < ROUNDS; round++) {
        unsigned long long common;
        int wanted = below(33), previous = wanted;

        effective = last;
        send_all(effective);
        common = state; /* what a process reads is its own affair */
        bsp_set_tagsize(&previous);
        CHECK_INT(previous, last);
        last = wanted;
        bsp_sync();
        receive_some();
        state = common;
    }
    conform_done();
    bsp_end();
    return 0;
}
