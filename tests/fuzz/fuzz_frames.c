/* fuzz_frames.c - bytes that claim to be a stream of frames, plain and sealed: a plain one hands
 * out what lies in it, a sealed one nothing that was not sealed with its key.
 *
 * Input: a byte that chooses, then the stream.  Choice 2 begins with good frames. */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/net/frames.h"

#define FRAME_MAX 512u

static const unsigned char key[32] = "a key of the session, 32 bytes.";

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
            FUZZ_CHECK(length <= FRAME_MAX && length <= total);
            FUZZ_CHECK(length == 0 || memchr(body, body[length - 1], length)); /* readable */
            frames++;
        }
        FUZZ_CHECK((*result == 0) == (text[0] == '\0'));
        if (*result == 0)
            FUZZ_CHECK(!net_frames_in_ready(in));
        net_frames_in_relax(in);
    }
    return frames;
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
    if (choice > 0)
        net_frames_in_seal(&in, key);
    if (choice == 2) {
        struct wire_message message = {.kind = WIRE_NOTICE};
        FUZZ_CHECK(net_frames_out_seal(&out, key) == 0);
        FUZZ_CHECK(net_frames_out_add(&out, &message, SIZE_MAX) == 0);
        FUZZ_CHECK(net_frames_out_add(&out, &message, SIZE_MAX) == 0);
        good = feed(&in, out.bytes.data, out.bytes.size, &result);
        FUZZ_CHECK(good == 2 && result == 0);
    }
    unsigned frames = feed(&in, bytes + 1, size - 1, &result);
    FUZZ_CHECK(choice == 0 || frames == 0);
    (void)net_frames_in_end(&in);
    net_frames_in_free(&in);
    net_frames_out_free(&out);
    return 0;
}

/* A plain stream; the same bytes as a sealed one; a sealed one with another key behind a good one.
 */
size_t fuzz_seed(unsigned number, uint8_t *bytes)
{
    static const unsigned char other[32] = "another key than the first one.";
    struct wire_message message = {.kind = WIRE_NOTICE};
    struct net_frames_out out = {0};
    if (number > 3)
        return 0;
    message.notice.text = "text";
    if (number >= 2)
        FUZZ_CHECK(net_frames_out_seal(&out, other) == 0);
    FUZZ_CHECK(net_frames_out_add(&out, &message, SIZE_MAX) == 0);
    FUZZ_CHECK(net_frames_out_add(&out, &message, SIZE_MAX) == 0);
    FUZZ_CHECK(net_frames_out_last(&out) == 0);
    bytes[0] = number < 2 ? (uint8_t)number : (uint8_t)(number - 1);
    FUZZ_CHECK(out.bytes.size + 1 <= FUZZ_SEED_MAX);
    memcpy(bytes + 1, out.bytes.data, out.bytes.size);
    size_t size = out.bytes.size + 1;
    net_frames_out_free(&out);
    return size;
}
