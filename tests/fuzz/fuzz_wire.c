/* fuzz_wire.c - the decoder of the control protocol: what it accepts must encode to something that
 * it reads as the same message. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/wire_sample.h"

#define VARIANTS 4u

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct wire_message message, again;
    char error[WIRE_ERROR_SIZE] = "";
    const char *field;
    if (wire_decode(bytes, size, &message, error, sizeof(error)) < 0) {
        FUZZ_CHECK(error[0] != '\0');
        return 0;
    }
    struct bspz_buffer frame = {0};
    FUZZ_CHECK(wire_encode(&message, &frame, error, sizeof(error)) == 0);
    FUZZ_CHECK(wire_frame_length(frame.data) == frame.size - WIRE_HEADER);
    FUZZ_CHECK(wire_decode(frame.data + WIRE_HEADER, frame.size - WIRE_HEADER, &again, error,
                           sizeof(error)) == 0);
    FUZZ_CHECK(wire_same(&message, &again, &field));
    wire_message_free(&message);
    wire_message_free(&again);
    bspz_buffer_free(&frame);
    return 0;
}

/* A few variants of every message. */
size_t fuzz_seed(unsigned number, uint8_t *bytes)
{
    if (number >= WIRE_KIND_COUNT * VARIANTS)
        return 0;
    struct wire_message message;
    struct bspz_buffer frame = {0};
    wire_sample((enum wire_kind)(number / VARIANTS), 3 * (number % VARIANTS), &message);
    FUZZ_CHECK(wire_encode(&message, &frame, NULL, 0) == 0);
    size_t size = frame.size - WIRE_HEADER;
    FUZZ_CHECK(size <= FUZZ_SEED_MAX);
    memcpy(bytes, frame.data + WIRE_HEADER, size);
    bspz_buffer_free(&frame);
    return size;
}
