/* secret.c - the job's key: memory for it, and the message that brings it. */
#include "lib/net/secret.h"

#include <errno.h>
#include <poll.h>
#include <sodium.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/error_text.h"

struct net_secret {
    unsigned char *key;
};

_Static_assert(WIRE_KEY_MAX == NET_KEY_SIZE, "the key fits into JOIN");

/* ---- The key ------------------------------------------------------------------------------ */

/* A process that is forked, the program above all, gets zeros in the place of the page. */
static void hide_from_children(unsigned char *key)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t at = (uintptr_t)key / page * page;
    madvise((void *)at, (uintptr_t)key + NET_KEY_SIZE - at, MADV_WIPEONFORK);
}

static struct net_secret *make(void)
{
    if (sodium_init() < 0)
        return NULL;
    struct net_secret *secret = malloc(sizeof(*secret));
    if (!secret)
        return NULL;
    secret->key = sodium_malloc(NET_KEY_SIZE);
    if (!secret->key) {
        free(secret);
        return NULL;
    }
    hide_from_children(secret->key);
    return secret;
}

struct net_secret *net_secret_make(void)
{
    struct net_secret *secret = make();
    if (secret)
        randombytes_buf(secret->key, NET_KEY_SIZE);
    return secret;
}

struct net_secret *net_secret_of(const void *key)
{
    struct net_secret *secret = make();
    if (secret)
        memcpy(secret->key, key, NET_KEY_SIZE);
    return secret;
}

const unsigned char *net_secret_key(const struct net_secret *secret)
{
    return secret->key;
}

void net_secret_free(struct net_secret *secret)
{
    if (!secret)
        return;
    sodium_free(secret->key);
    free(secret);
}

/* ---- Sending JOIN ------------------------------------------------------------------------- */

/* At least as much as the message needs, so that the buffer does not move while it is filled and
 * leaves no copy of the key behind. */
static size_t room_for(const struct wire_join *join)
{
    size_t room = 1024;
    for (uint32_t i = 0; i < join->hosts.count; i++)
        room += 32 + (join->hosts.items[i].name ? strlen(join->hosts.items[i].name) : 0);
    for (uint32_t i = 0; i < join->addresses.count; i++)
        room += 16 + (join->addresses.items[i] ? strlen(join->addresses.items[i]) : 0);
    return room;
}

int net_join_encode(const struct wire_message *join, const struct net_secret *secret,
                    struct bspz_buffer *buffer, char *error, size_t error_size)
{
    struct wire_message message = *join;
    struct bspz_buffer frame = {.room = room_for(&join->join)};
    frame.data = malloc(frame.room);
    if (!frame.data)
        return bspz_error_text(error, error_size, -ENOMEM, "out of memory");
    message.join.key = (struct wire_bytes){secret->key, NET_KEY_SIZE};
    int result = wire_encode(&message, &frame, error, error_size);
    if (result == 0 && frame.size > NET_JOIN_MAX) {
        snprintf(error, error_size, "JOIN: longer than %u bytes", NET_JOIN_MAX);
        result = -EMSGSIZE;
    }
    if (result < 0)
        net_secret_wipe_buffer(&frame);
    else
        *buffer = frame;
    return result;
}

void net_secret_wipe_buffer(struct bspz_buffer *buffer)
{
    if (!buffer)
        return;
    if (buffer->data)
        sodium_memzero(buffer->data, buffer->room);
    bspz_buffer_free(buffer);
}

/* ---- Receiving JOIN ----------------------------------------------------------------------- */

void net_join_reader_wipe(struct net_join_reader *reader)
{
    sodium_free(reader->bytes);
    *reader = (struct net_join_reader){0};
}

/* Reads once towards `size` bytes.  1: they are there; 0: not yet; or an error. */
static int fill(int fd, unsigned char *bytes, size_t size, size_t *received, char *error,
                size_t error_size)
{
    ssize_t count;
    do
        count = read(fd, bytes + *received, size - *received);
    while (count < 0 && errno == EINTR);
    if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return 0;
    if (count < 0) {
        int result = -errno;
        snprintf(error, error_size, "%s", strerror(-result));
        return result;
    }
    if (count == 0)
        return bspz_error_text(error, error_size, -EPROTO,
                               "the input ends before what to join has come");
    *received += (size_t)count;
    return *received == size;
}

/* The header is there: memory for the body. */
static int begin_body(struct net_join_reader *reader, char *error, size_t error_size)
{
    reader->size = wire_frame_length(reader->header);
    if (reader->size == 0 || reader->size > NET_JOIN_MAX - WIRE_HEADER)
        return bspz_error_text(error, error_size, -EPROTO,
                               "the input is not what bsprun sends an agent");
    if (sodium_init() < 0 || !(reader->bytes = sodium_malloc(reader->size)))
        return bspz_error_text(error, error_size, -ENOMEM, "out of memory");
    return 0;
}

/* Takes the key out of a message whose memory does not know that it is one. */
static int take_key(struct wire_message *message, struct net_secret **secret, char *error,
                    size_t error_size)
{
    struct wire_bytes *key = &message->join.key;
    if (key->size != NET_KEY_SIZE)
        return bspz_error_text(error, error_size, -EPROTO, "JOIN: a key of %u bytes", key->size);
    *secret = net_secret_of(key->data);
    sodium_memzero((void *)key->data, key->size);
    *key = (struct wire_bytes){NULL, 0};
    if (*secret)
        return 1;
    return bspz_error_text(error, error_size, -ENOMEM, "out of memory");
}

static int decode(const struct net_join_reader *reader, struct wire_message *message,
                  struct net_secret **secret, char *error, size_t error_size)
{
    struct wire_message decoded;
    int result = wire_decode(reader->bytes, reader->size, &decoded, error, error_size);
    if (result < 0)
        return result;
    if (decoded.kind != WIRE_JOIN) {
        snprintf(error, error_size, "%s instead of JOIN", wire_kind_name(decoded.kind));
        result = -EPROTO;
    } else {
        result = take_key(&decoded, secret, error, error_size);
    }
    if (result < 0)
        wire_message_free(&decoded);
    else
        *message = decoded;
    return result;
}

int net_join_read(struct net_join_reader *reader, int fd, struct wire_message *message,
                  struct net_secret **secret, char *error, size_t error_size)
{
    int result;
    if (!reader->bytes) {
        result = fill(fd, reader->header, WIRE_HEADER, &reader->header_received, error, error_size);
        if (result > 0)
            result = begin_body(reader, error, error_size);
    } else {
        result = fill(fd, reader->bytes, reader->size, &reader->received, error, error_size);
        if (result > 0)
            result = decode(reader, message, secret, error, error_size);
    }
    if (result != 0)
        net_join_reader_wipe(reader);
    return result;
}

int net_join_wait(int fd, unsigned timeout_ms, struct wire_message *message,
                  struct net_secret **secret, char *error, size_t error_size)
{
    struct net_join_reader reader = {0};
    uint64_t end = bspz_now_ns() + timeout_ms * BSPZ_NS_PER_MS;
    for (;;) {
        struct pollfd wait = {.fd = fd, .events = POLLIN};
        int left = bspz_ms_until(end);
        int ready = left > 0 ? poll(&wait, 1, left) : 0;
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready == 0) {
            snprintf(error, error_size, "nothing to join has come within %g s", timeout_ms / 1e3);
            net_join_reader_wipe(&reader);
            return -ETIMEDOUT;
        }
        int result = net_join_read(&reader, fd, message, secret, error, error_size);
        if (result != 0)
            return result;
    }
}

int64_t net_join_host(const struct wire_join *join, const char *name)
{
    if (join->host < WIRE_HOSTS_MAX)
        return join->host;
    for (int exact = 1; exact >= 0; exact--) {
        int64_t found = -ENOENT;
        unsigned matches = 0;
        for (uint32_t i = 0; i < join->hosts.count; i++) {
            const char *other = join->hosts.items[i].name;
            size_t a = exact ? strlen(name) : strcspn(name, ".");
            size_t b = exact ? strlen(other) : strcspn(other, ".");
            if (a == 0 || a != b || strncasecmp(name, other, a) != 0)
                continue;
            found = join->hosts.items[i].host;
            matches++;
        }
        if (matches > 0)
            return matches == 1 ? found : -ENOENT;
    }
    return -ENOENT;
}
