/* fuzz_meet.c - a stranger at a listening port that says anything: it is hung up on, once, and
 * hears nothing that it does not know. */
#include "tests/fuzz/fuzz.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/net/proof.h"

#define INPUT_MAX 4096u

struct seen {
    unsigned done;
};

static void on_done(struct net_proof *proof, bool proved)
{
    struct seen *seen = proof->owner;
    FUZZ_CHECK(!proved && proof->text[0] != '\0');
    seen->done++;
}

/* The first byte: whether the side that is babbled at is a caller. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const unsigned char key[NET_KEY_SIZE] = "the key of this job, 32 bytes..";
    struct net_meet_options options = {
        .setup = {.key = key, .accepts = NET_ACCEPTS(NET_AGENT, NET_DATA)}};
    struct seen seen = {0};
    uv_loop_t loop;
    int fds[2];
    if (size < 1 || size > INPUT_MAX)
        return 0;
    bool listens = bytes[0] % 2 == 0;
    signal(SIGPIPE, SIG_IGN);
    net_meet_defaults(&options);
    FUZZ_CHECK(uv_loop_init(&loop) == 0);
    FUZZ_CHECK(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds) == 0);
    FUZZ_CHECK(write(fds[0], bytes + 1, size - 1) == (ssize_t)size - 1);
    FUZZ_CHECK(shutdown(fds[0], SHUT_WR) == 0);
    struct net_proof *proof = net_proof_start(&loop, fds[1], &options, listens, false, 0);
    FUZZ_CHECK(proof);
    proof->owner = &seen;
    proof->done = on_done;
    FUZZ_CHECK(uv_run(&loop, UV_RUN_DEFAULT) == 0);
    FUZZ_CHECK(seen.done == 1);
    char heard[HANDSHAKE_HELLO + 1];
    ssize_t count = recv(fds[0], heard, sizeof(heard), 0);
    FUZZ_CHECK(listens ? count <= 0 : count <= (ssize_t)HANDSHAKE_HELLO);
    close(fds[0]);
    FUZZ_CHECK(uv_loop_close(&loop) == 0);
    return 0;
}

/* Nothing, and the beginnings of a HELLO that somebody without the key makes. */
size_t fuzz_seed(unsigned number, uint8_t *bytes)
{
    static const unsigned char wrong[NET_KEY_SIZE] = "not the key of this job, though";
    static const unsigned lengths[] = {0, 1, 8, 60, HANDSHAKE_HELLO, HANDSHAKE_HELLO + 40};
    struct handshake handshake;
    struct handshake_setup setup = {.key = wrong, .version = 1};
    const unsigned char *hello;
    if (number >= 2 * sizeof(lengths) / sizeof(lengths[0]))
        return 0;
    unsigned length = lengths[number / 2];
    handshake_call(&handshake, &setup, wrong);
    handshake_output(&handshake, &hello);
    memset(bytes, 0x5a, length + 1);
    bytes[0] = number % 2;
    memcpy(bytes + 1, hello, length < HANDSHAKE_HELLO ? length : HANDSHAKE_HELLO);
    return length + 1;
}
