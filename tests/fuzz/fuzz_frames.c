/* fuzz_frames.c - bytes that claim to be a stream of frames, plain and sealed: a plain one hands
 * out what lies in it, a sealed one nothing that was not sealed with its key.
 *
 * Input: a byte that chooses, then the stream.  Choices 2 and 5 begin with good frames; from 3 on
 * blocks are taken, too. */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/net/frames.h"

#define FRAME_MAX 512u

static const unsigned char key[32] = "a key of the session, 32 bytes.";

/* The bytes of all that was added. */
static size_t take_out(struct net_frames_out *out, uint8_t *bytes)
{
    int sink = memfd_create("sink", MFD_CLOEXEC);

    FUZZ_CHECK(sink >= 0 && net_frames_out_write(out, sink) == 0);
    FUZZ_CHECK(out->written == out->accepted && out->written <= FUZZ_SEED_MAX - 1);
    FUZZ_CHECK(pread(sink, bytes, FUZZ_SEED_MAX - 1, 0) == (ssize_t)out->written);
    close(sink);
    return out->written;
}

/* Feeds the bytes in pieces and counts the frames. */
static unsigned feed(struct net_frames_in *in, const uint8_t *bytes, size_t size, int *result)
{
    unsigned frames = 0;
    size_t total = 0;
    *result = 0;
    while (size > 0 && *result == 0) {
        size_t room, part = 1 + bytes[0] % 64u;
        unsigned char *to = net_frames_in_room(in, &room);
        FUZZ_CHECK(to && room >= 64);
        part = part < size ? part : size;
        memcpy(to, bytes, part);
        net_frames_in_filled(in, part);
        total += part;
        bytes += part;
        size -= part;
        const unsigned char *body;
        uint32_t length;
        char text[WIRE_ERROR_SIZE] = "";
        while ((*result = net_frames_in_next(in, &body, &length, text, sizeof(text))) > 0) {
            bool block = *result == NET_FRAME_OF_BLOCK;
            FUZZ_CHECK(!block || in->blocks);
            FUZZ_CHECK(length <= (block ? NET_BLOCK_MAX : FRAME_MAX) && length <= total);
            FUZZ_CHECK(length == 0 || memchr(body, body[length - 1], length)); /* readable */
            frames++;
        }
        FUZZ_CHECK((*result == 0) == (text[0] == '\0'));
        if (*result == 0)
            FUZZ_CHECK(!net_frames_in_ready(in) && net_frames_in_direct(in) <= NET_BLOCK_MAX);
        net_frames_in_relax(in);
    }
    return frames;
}

/* A message, a block in two frames, a message. */
static void add_good(struct net_frames_out *out, bool block)
{
    struct wire_message message = {.kind = WIRE_NOTICE};
    static unsigned char place[100];
    unsigned char *head = malloc(8);
    struct iovec *data = malloc(2 * sizeof(*data));
    memset(head, 'h', 8);
    data[0] = (struct iovec){place, 40};
    data[1] = (struct iovec){place + 60, 30};
    FUZZ_CHECK(net_frames_out_add(out, &message, SIZE_MAX) == 0);
    if (!block || net_frames_out_block(out, head, 8, data, 2) != 0) {
        free(head);
        free(data);
    }
    FUZZ_CHECK(net_frames_out_add(out, &message, SIZE_MAX) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct net_frames_in in = {.frame_max = FRAME_MAX};
    struct net_frames_out out = {0};
    int result;
    if (size < 1)
        return 0;
    unsigned choice = bytes[0] % 3u;
    unsigned good = 0;
    in.blocks = bytes[0] % 6u >= 3;
    if (choice > 0)
        net_frames_in_seal(&in, key);
    if (choice == 2) {
        uint8_t sealed[FUZZ_SEED_MAX];
        FUZZ_CHECK(net_frames_out_seal(&out, key) == 0);
        add_good(&out, in.blocks);
        good = feed(&in, sealed, take_out(&out, sealed), &result);
        FUZZ_CHECK(good == (in.blocks ? 4 : 2) && result == 0);
    }
    unsigned frames = feed(&in, bytes + 1, size - 1, &result);
    FUZZ_CHECK(choice == 0 || frames == 0);
    (void)net_frames_in_end(&in);
    net_frames_in_free(&in);
    net_frames_out_free(&out);
    return 0;
}

/* A plain stream; the same bytes as a sealed one; a sealed one with another key behind a good one;
 * the same with blocks. */
size_t fuzz_seed(unsigned number, uint8_t *bytes)
{
    static const unsigned char other[32] = "another key than the first one.";
    struct net_frames_out out = {0};
    unsigned kind = number % 4;
    if (number > 7)
        return 0;
    if (kind >= 2)
        FUZZ_CHECK(net_frames_out_seal(&out, other) == 0);
    add_good(&out, number >= 4);
    net_frames_out_last(&out);
    bytes[0] = (uint8_t)((kind < 2 ? kind : kind - 1) + (number >= 4 ? 3 : 0));
    size_t size = take_out(&out, bytes + 1) + 1;
    net_frames_out_free(&out);
    return size;
}
