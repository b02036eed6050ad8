/* fuzz_join.c - what an agent reads from its standard input before it trusts anybody. */
#include "tests/fuzz/fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/net/addresses.h"
#include "lib/net/secret.h"

/* What fits into a pipe. */
#define INPUT_MAX 65536u

/* An address that can be read is written so that it reads the same. */
static void check_address(const char *text)
{
    struct sockaddr_storage address, again;
    char written[NET_ADDRESS_SIZE];
    if (net_address_parse(text, &address) < 0)
        return;
    net_address_text(&address, written);
    FUZZ_CHECK(net_address_parse(written, &again) == 0);
    char rewritten[NET_ADDRESS_SIZE];
    net_address_text(&again, rewritten);
    FUZZ_CHECK(strcmp(written, rewritten) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    struct net_join_reader reader = {0};
    struct wire_message message;
    struct net_secret *secret = NULL;
    char error[WIRE_ERROR_SIZE] = "";
    int fds[2], result;
    if (size > INPUT_MAX)
        return 0;
    FUZZ_CHECK(pipe2(fds, O_CLOEXEC | O_NONBLOCK) == 0);
    FUZZ_CHECK(write(fds[1], bytes, size) == (ssize_t)size);
    close(fds[1]);
    while ((result = net_join_read(&reader, fds[0], &message, &secret, error, sizeof(error))) == 0)
        ;
    close(fds[0]);
    FUZZ_CHECK(!reader.bytes);
    if (result < 0) {
        FUZZ_CHECK(!secret && error[0] != '\0');
        return 0;
    }
    FUZZ_CHECK(secret && message.kind == WIRE_JOIN && message.join.key.size == 0);
    for (uint32_t i = 0; i < message.join.addresses.count; i++)
        check_address(message.join.addresses.items[i]);
    for (uint32_t i = 0; i < message.join.hosts.count; i++)
        (void)net_join_host(&message.join, message.join.hosts.items[i].name);
    net_secret_free(secret);
    wire_message_free(&message);
    return 0;
}

size_t fuzz_seed(unsigned number, uint8_t *bytes)
{
    static const struct wire_host hosts[] = {{0, 2, "alpha.example.org"}, {1, 0, "beta"}};
    static const char *const addresses[] = {"10.0.0.1:4711", "[fd00::1]:4711", "[::ffff:1.2.3.4]:5",
                                            "1.2.3.4:65536", "[::1",           "::1:2"};
    struct wire_message message = {.kind = WIRE_JOIN, .envelope = {.job = "a job"}};
    struct bspz_buffer frame = {0};
    char error[WIRE_ERROR_SIZE];
    if (number > 2)
        return 0;
    message.join.host = number == 0 ? WIRE_HOSTS_MAX : number;
    message.join.hosts.items = hosts;
    message.join.hosts.count = number;
    message.join.addresses.items = addresses;
    message.join.addresses.count = 3 * number;
    struct net_secret *secret = net_secret_of("the key of this job, 32 bytes..");
    FUZZ_CHECK(secret);
    FUZZ_CHECK(net_join_encode(&message, secret, &frame, error, sizeof(error)) == 0);
    FUZZ_CHECK(frame.size <= FUZZ_SEED_MAX);
    memcpy(bytes, frame.data, frame.size);
    size_t size = frame.size;
    net_secret_wipe_buffer(&frame);
    net_secret_free(secret);
    return size;
}
