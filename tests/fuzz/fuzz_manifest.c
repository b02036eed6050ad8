/* fuzz_manifest.c - the readers of manifests, terms and ends: what they accept must be written as
 * the same bytes again, or at least be read as the same; also with the checksum put right. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ckpt/format/codec.h"
#include "ckpt/sealed.h"
#include "tests/ckpt/manifest_sample.h"

#define KINDS 3u

static const char *const marks[KINDS] = {"BSPZman\n", "BSPZtrm\n", "BSPZfin\n"};

/* Reads the bytes as that kind and writes what was read; 0, or what was wrong. */
static int read_and_write(unsigned kind, const uint8_t *bytes, size_t size,
                          struct bspz_buffer *again)
{
    char error[MANIFEST_ERROR_SIZE] = "";
    struct manifest manifest = {0};
    struct manifest_terms terms = {0};
    struct manifest_finish finish = {0};

    int status = kind == 0   ? manifest_decode(bytes, size, &manifest, error)
                 : kind == 1 ? manifest_terms_decode(bytes, size, &terms, error)
                             : manifest_finish_decode(bytes, size, &finish, error);
    FUZZ_CHECK(status == 0 || error[0] != '\0');
    if (status == 0) {
        int written = kind == 0   ? manifest_encode(&manifest, again, error)
                      : kind == 1 ? manifest_terms_encode(&terms, again, error)
                                  : manifest_finish_encode(&finish, again, error);
        FUZZ_CHECK(written == 0);
    }
    manifest_free(&manifest);
    manifest_terms_free(&terms);
    manifest_finish_free(&finish);
    return status;
}

static void try_kind(unsigned kind, const uint8_t *bytes, size_t size)
{
    struct bspz_buffer again = {0}, third = {0};

    if (read_and_write(kind, bytes, size, &again) == 0) {
        FUZZ_CHECK(read_and_write(kind, again.data, again.size, &third) == 0);
        FUZZ_CHECK(again.size == third.size && memcmp(again.data, third.data, third.size) == 0);
    }
    bspz_buffer_free(&again);
    bspz_buffer_free(&third);
}

static void put(uint8_t *at, uint64_t number, unsigned width)
{
    for (unsigned i = 0; i < width; i++)
        at[i] = (uint8_t)(number >> (8 * i));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    for (unsigned kind = 0; kind < KINDS; kind++)
        try_kind(kind, bytes, size);
    if (size < SEALED_HEADER)
        return 0;
    uint8_t *copy = malloc(size);
    FUZZ_CHECK(copy);
    memcpy(copy, bytes, size);
    for (unsigned kind = 0; kind < KINDS; kind++) {
        memcpy(copy, marks[kind], 8);
        put(copy + 8, 1, 4);
        put(copy + 12, size - SEALED_HEADER, 4);
        put(copy + 16,
            bspz_hash64(copy + SEALED_HEADER, size - SEALED_HEADER, bspz_hash64(copy, 16, 0)), 8);
        try_kind(kind, copy, size);
    }
    free(copy);
    return 0;
}

size_t fuzz_seed(unsigned number, uint8_t *bytes)
{
    static struct manifest_sample sample;
    struct bspz_buffer buffer = {0};

    if (number >= 5)
        return 0;
    manifest_sample(&sample, 1 + number, number, 3, number > 1 ? 2 : 0);
    int status = number < 3    ? manifest_encode(&sample.manifest, &buffer, NULL)
                 : number == 3 ? manifest_terms_encode(&sample.terms, &buffer, NULL)
                               : manifest_finish_encode(&sample.finish, &buffer, NULL);
    FUZZ_CHECK(status == 0 && buffer.size <= FUZZ_SEED_MAX);
    memcpy(bytes, buffer.data, buffer.size);
    size_t size = buffer.size;
    bspz_buffer_free(&buffer);
    return size;
}
