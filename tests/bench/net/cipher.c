/* cipher.c - what proof and encryption of connections cost: cipher [MILLISECONDS]
 *
 * Sealing and unsealing of chunks by one core, in GB/s of what is sealed, and a whole handshake of
 * both sides without the network.  Each figure is the best of several rounds of that length. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "lib/net/cipher.h"
#include "lib/net/handshake.h"

#define ROUNDS 5

static const unsigned char key[NET_KEY_SIZE] = "the key of this job, 32 bytes..";

/* Time that this process had a core, so that others beside it matter little. */
static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

struct buffers {
    unsigned char *chunk, *sealed, *back;
};

/* Seals chunks of that size for so long, or seals and unseals them; seconds for each. */
static double seconds_each(struct buffers *buffers, size_t size, double seconds, bool unseal)
{
    struct cipher sealer, unsealer;
    unsigned char header[CIPHER_HEADER];
    unsigned long count = 0;
    bool last;
    cipher_seal_begin(&sealer, key, header);
    cipher_unseal_begin(&unsealer, key, header);
    double begin = now(), end;
    do {
        cipher_seal(&sealer, buffers->chunk, size, NULL, 0, false, buffers->sealed);
        if (unseal && cipher_unseal(&unsealer, buffers->sealed, size + CIPHER_EXTRA, NULL, 0,
                                    buffers->back, &last) < 0) {
            fprintf(stderr, "cipher: a chunk does not come back\n");
            exit(1);
        }
        count++;
        end = now();
    } while (end - begin < seconds);
    return (end - begin) / (double)count;
}

static void carry(struct handshake *from, struct handshake *to)
{
    const unsigned char *bytes;
    size_t size = handshake_output(from, &bytes);
    handshake_take(to, bytes, size);
    handshake_sent(from, size);
}

static double handshake_seconds(double seconds)
{
    unsigned char random[HANDSHAKE_RANDOM] = {0};
    struct handshake_setup setup = {.key = key,
                                    .version = 1,
                                    .own = {.role = NET_AGENT, .purpose = NET_DATA},
                                    .wanted = {.role = NET_AGENT},
                                    .accepts = NET_ACCEPTS(NET_AGENT, NET_DATA)};
    unsigned long count = 0;
    double begin = now(), end;
    do {
        struct handshake caller, listener;
        memcpy(random, &count, sizeof(count));
        handshake_call(&caller, &setup, random);
        handshake_listen(&listener, &setup, random);
        carry(&caller, &listener);
        carry(&listener, &caller);
        carry(&caller, &listener);
        if (handshake_state(&listener) != HANDSHAKE_PROVED) {
            fprintf(stderr, "cipher: they do not meet\n");
            exit(1);
        }
        count++;
        end = now();
    } while (end - begin < seconds);
    return (end - begin) / (double)count;
}

int main(int argc, char **argv)
{
    static const size_t sizes[] = {256, 4096, 65536, CIPHER_CHUNK_MAX};
    double seconds = (argc > 1 ? atof(argv[1]) : 300) / 1e3;
    struct buffers buffers = {calloc(1, CIPHER_CHUNK_MAX), malloc(CIPHER_CHUNK_MAX + CIPHER_EXTRA),
                              malloc(CIPHER_CHUNK_MAX)};
    if (!buffers.chunk || !buffers.sealed || !buffers.back)
        return 1;
    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        double seal = 1e9, both = 1e9;
        for (unsigned round = 0; round < ROUNDS; round++) {
            double a = seconds_each(&buffers, sizes[i], seconds, false);
            double b = seconds_each(&buffers, sizes[i], seconds, true);
            seal = a < seal ? a : seal;
            both = b < both ? b : both;
        }
        double size = (double)sizes[i] / 1e9;
        printf("chunks of %7zu bytes: sealed at %.2f GB/s, unsealed at %.2f GB/s\n", sizes[i],
               size / seal, both > seal ? size / (both - seal) : 0);
    }
    double best = 1e9;
    for (unsigned round = 0; round < ROUNDS; round++) {
        double one = handshake_seconds(seconds);
        best = one < best ? one : best;
    }
    printf("handshake, both sides: %.1f us\n", best * 1e6);
    free(buffers.chunk);
    free(buffers.sealed);
    free(buffers.back);
    return 0;
}
