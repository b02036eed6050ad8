/* cipher.c - libsodium's secretstream behind an interface that does not need its header. */
#include "lib/net/cipher.h"

#include <errno.h>
#include <sodium.h>

typedef crypto_secretstream_xchacha20poly1305_state stream;

_Static_assert(sizeof(stream) <= sizeof(((struct cipher *)0)->state), "room for the state");
_Static_assert(CIPHER_HEADER == crypto_secretstream_xchacha20poly1305_HEADERBYTES, "header");
_Static_assert(CIPHER_EXTRA == crypto_secretstream_xchacha20poly1305_ABYTES, "extra");

static stream *state_of(struct cipher *cipher)
{
    return (stream *)(void *)cipher->state;
}

/* Without it libsodium works, too, but not with the fast code for this processor. */
static void choose_code(void)
{
    if (sodium_init() < 0)
        return;
}

void cipher_seal_begin(struct cipher *cipher, const unsigned char *key, unsigned char *header)
{
    choose_code();
    crypto_secretstream_xchacha20poly1305_init_push(state_of(cipher), header, key);
}

void cipher_seal(struct cipher *cipher, const void *chunk, size_t size, const void *label,
                 size_t label_size, bool last, unsigned char *sealed)
{
    crypto_secretstream_xchacha20poly1305_push(
        state_of(cipher), sealed, NULL, chunk, size, label, label_size,
        last ? crypto_secretstream_xchacha20poly1305_TAG_FINAL
             : crypto_secretstream_xchacha20poly1305_TAG_MESSAGE);
}

void cipher_unseal_begin(struct cipher *cipher, const unsigned char *key,
                         const unsigned char *header)
{
    choose_code();
    crypto_secretstream_xchacha20poly1305_init_pull(state_of(cipher), header, key);
}

int cipher_unseal(struct cipher *cipher, const unsigned char *sealed, size_t size,
                  const void *label, size_t label_size, void *chunk, bool *last)
{
    unsigned char tag;
    if (size < CIPHER_EXTRA ||
        crypto_secretstream_xchacha20poly1305_pull(state_of(cipher), chunk, NULL, &tag, sealed,
                                                   size, label, label_size) != 0)
        return -EBADMSG;
    *last = tag == crypto_secretstream_xchacha20poly1305_TAG_FINAL;
    return 0;
}

void cipher_wipe(struct cipher *cipher)
{
    sodium_memzero(cipher, sizeof(*cipher));
}
