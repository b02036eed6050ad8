/* fuzz_handshake.c - a handshake whose messages are changed on the way, and whose sides claim
 * anything: they meet only when nothing was changed and each is what the other wants.
 *
 * Input: 5 bytes that choose identities and who is fooled, then what is XORed to the messages in
 * the order in which they travel; what is left at the end is said to both sides by a stranger. */
#include "tests/fuzz/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/net/handshake.h"

#define CHOICES 5u

static const unsigned char key[NET_KEY_SIZE] = "the key of this job, 32 bytes..";

struct change {
    const uint8_t *bytes;
    size_t size;
    bool changed;
};

/* Carries what `from` says to `to`, XORed with the next bytes of the input. */
static bool carry(struct handshake *from, struct handshake *to, struct change *change)
{
    const unsigned char *bytes;
    unsigned char carried[HANDSHAKE_HELLO];
    size_t size = handshake_output(from, &bytes);
    if (size > handshake_wanted(to))
        size = handshake_wanted(to);
    if (size == 0)
        return false;
    FUZZ_CHECK(size <= sizeof(carried));
    memcpy(carried, bytes, size);
    for (size_t i = 0; i < size && change->size > 0; i++, change->size--) {
        change->changed |= *change->bytes != 0;
        carried[i] ^= *change->bytes++;
    }
    handshake_take(to, carried, size);
    handshake_sent(from, size);
    return true;
}

static void babble(struct handshake *handshake, const uint8_t *bytes, size_t size)
{
    while (size > 0 && handshake_wanted(handshake) > 0) {
        size_t part = handshake_wanted(handshake) < size ? handshake_wanted(handshake) : size;
        handshake_take(handshake, bytes, part);
        bytes += part;
        size -= part;
    }
}

static void check_over(struct handshake *handshake)
{
    handshake_fail(handshake, "the end");
    FUZZ_CHECK(handshake_state(handshake) != HANDSHAKE_GOING);
    if (handshake_state(handshake) == HANDSHAKE_FAILED)
        FUZZ_CHECK(handshake_text(handshake)[0] != '\0');
    handshake_wipe(handshake);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    unsigned char random[2][HANDSHAKE_RANDOM] = {"the caller's", "the listener's"};
    struct handshake caller, listener;
    if (size < CHOICES)
        return 0;
    struct handshake_setup of_caller = {
        .key = key,
        .version = 1 + (bytes[0] == 1),
        .own = {bytes[1] % 4, 3, 0, bytes[2] % 5, 0},
        .wanted = {bytes[3] % 4, bytes[4] % 4 == 0 ? NET_ANY : bytes[4] % 4, NET_ANY, 0, 0}};
    struct handshake_setup of_listener = {.key = key,
                                          .version = 1,
                                          .own = {.role = NET_AGENT, .host = 1},
                                          .accepts = NET_ACCEPTS(NET_AGENT, NET_DATA)};
    bool fits = bytes[0] != 1 && of_caller.own.role == NET_AGENT &&
                of_caller.own.purpose == NET_DATA && of_caller.wanted.role == NET_AGENT &&
                (of_caller.wanted.host == NET_ANY || of_caller.wanted.host == 1);
    struct change change = {bytes + CHOICES, size - CHOICES, false};
    handshake_call(&caller, &of_caller, random[0]);
    handshake_listen(&listener, &of_listener, random[1]);
    while (carry(&caller, &listener, &change) || carry(&listener, &caller, &change))
        ;
    babble(&caller, change.bytes, change.size);
    babble(&listener, change.bytes, change.size);
    bool met = handshake_state(&listener) == HANDSHAKE_PROVED;
    FUZZ_CHECK(met == (fits && !change.changed));
    if (met) {
        FUZZ_CHECK(handshake_state(&caller) == HANDSHAKE_PROVED);
        FUZZ_CHECK(memcmp(handshake_session(&caller)->send, handshake_session(&listener)->receive,
                          NET_KEY_SIZE) == 0);
    }
    check_over(&caller);
    check_over(&listener);
    return 0;
}

/* All choices of identities, without changes; and changes of each message. */
size_t fuzz_seed(unsigned number, uint8_t *bytes)
{
    static const uint8_t good[CHOICES] = {0, NET_AGENT, NET_DATA, NET_AGENT, 1};
    size_t size = CHOICES;
    memcpy(bytes, good, sizeof(good));
    if (number < 2) {
        bytes[0] = (uint8_t)number;
    } else if (number < 18) {
        bytes[1 + (number - 2) / 4] = (uint8_t)(number % 4);
    } else if (number < 18 + HANDSHAKE_HELLO + HANDSHAKE_REPLY + HANDSHAKE_CONFIRM) {
        memset(bytes + size, 0, number - 18);
        size += number - 18;
        bytes[size++] = 0x80;
    } else {
        return 0;
    }
    return size;
}
