/* ticker_talk.c - supersteps that use every way of communicating, other ones each time. */
#include <bsp.h>
#include <stdlib.h>
#include <string.h>

#include "tests/recovery/ticker.h"

#define WORDS 64

static uint64_t own[WORDS], put_here[WORDS], hpput_here[WORDS], got[WORDS], hpgot[WORDS];
static uint64_t *extra; /* registered anew every few supersteps */
static size_t extra_words;
static int tag_size;
static long unread; /* messages that nobody looked at */

static int neighbour(int distance)
{
    return (bsp_pid() + distance) % bsp_nprocs();
}

void talk_begin(void)
{
    for (int i = 0; i < WORDS; i++)
        own[i] = (uint64_t)(bsp_pid() * 1000 + i);
    bsp_push_reg(own, sizeof own);
    bsp_push_reg(put_here, sizeof put_here);
    bsp_push_reg(hpput_here, sizeof hpput_here);
    bsp_sync();
}

/* An area that is pushed, is there for two supersteps, is popped and given back. */
static void change_registration(int s)
{
    int phase = (s + 4) % 5; /* the first superstep is 1 */

    if (phase == 0) {
        extra_words = (size_t)(s % 7 + 1) * 3;
        extra = calloc(extra_words, sizeof *extra);
        if (!extra)
            ticker_fail("no memory");
        bsp_push_reg(extra, extra_words * sizeof *extra);
    }
    if (phase == 1 || phase == 2)
        bsp_put(neighbour(2), own, extra, (phase - 1) * (int)sizeof *own, sizeof *own);
    if (phase == 3) {
        ticker_mix(extra, extra_words * sizeof *extra);
        bsp_pop_reg(extra);
    }
    if (phase == 4)
        free(extra);
}

/* Messages to several, of sizes that change, with tags whose size changes. */
static void send_messages(int s)
{
    char tag[16], payload[512];

    memset(tag, s & 127, sizeof tag);
    for (int k = 0; k < 3; k++) {
        int size = (s * 37 + k * 11 + bsp_pid()) % (int)sizeof payload;

        for (int i = 0; i < size; i++)
            payload[i] = (char)(ticker_sum >> i % 8 * 8);
        tag[0] = (char)k;
        bsp_send(neighbour(k * k + s), tag, payload, size);
    }
    if (s % 4 == 3) {
        int size = s / 4 * 4 % 16;

        bsp_set_tagsize(&size);
        if (size != tag_size)
            ticker_fail("the tag size is not what was set last");
        tag_size = s / 4 * 4 % 16;
    }
}

void talk_send(int s)
{
    for (int i = 0; i < WORDS; i++)
        own[i] = own[i] * 6364136223846793005u + ticker_sum + (uint64_t)i;
    bsp_put(neighbour(1), own, put_here, 0, sizeof own / 2);
    for (int i = WORDS / 2; i < WORDS; i += 3)
        bsp_put(neighbour(i), &own[i], put_here, i * (int)sizeof *own, sizeof *own);
    bsp_get(neighbour(2), own, 0, got, sizeof got);
    bsp_hpput(neighbour(3), own, hpput_here, 0, sizeof own);
    bsp_hpget(neighbour(1), put_here, 0, hpgot, s % 2 ? sizeof hpgot / 2 : 0);
    change_registration(s);
    send_messages(s);
}

/* Messages arrive in any order: what is taken from one must not depend on it. */
static uint64_t digest(const char *bytes, int size, uint64_t start)
{
    uint64_t sum = start + 14695981039346656037u;

    for (int i = 0; i < size; i++)
        sum = (sum ^ (unsigned char)bytes[i]) * 1099511628211u;
    return sum;
}

static void receive_messages(int s)
{
    int count, bytes, status;
    uint64_t all = 0;
    char tag[16] = {0}, payload[512];
    void *tag_at, *payload_at;

    bsp_qsize(&count, &bytes);
    ticker_mix(&count, sizeof count);
    ticker_mix(&bytes, sizeof bytes);
    /* Every third time nobody looks: what is in the queue then must not hurt. */
    if (s % 3 == 2) {
        unread += count;
        return;
    }
    for (int i = 0; i < count; i++) {
        if (i % 2) {
            status = bsp_hpmove(&tag_at, &payload_at);
            all += digest(payload_at, status, digest(tag_at, s % 4 == 3 ? 0 : tag_size, 0));
        } else {
            bsp_get_tag(&status, tag);
            bsp_move(payload, sizeof payload);
            all += digest(payload, status, digest(tag, s % 4 == 3 ? 0 : tag_size, 0));
        }
    }
    ticker_mix(&all, sizeof all);
}

void talk_receive(int s)
{
    receive_messages(s);
    ticker_mix(put_here, sizeof put_here);
    ticker_mix(hpput_here, sizeof hpput_here);
    ticker_mix(got, sizeof got);
    if (s % 2)
        ticker_mix(hpgot, sizeof hpgot / 2);
}

void talk_end(void)
{
    ticker_mix(&unread, sizeof unread);
    bsp_pop_reg(hpput_here);
    bsp_pop_reg(put_here);
    bsp_pop_reg(own);
    bsp_sync();
}
