/* check.c - checks that a body is well-formed msgpack of bounded shape, before msgpack-c reads
 * it. */
#include "lib/wire/schema.h"

#include <errno.h>

#include "lib/base/error_text.h"

/* Arrays inside arrays: message, list, record. */
#define DEPTH_MAX  3u
/* The most values of a body: more than any message within its limits has (the largest START or
 * REPORT has some 800,000), and a bound on the memory of msgpack-c. */
#define VALUES_MAX (1u << 20)

struct walk {
    const unsigned char *at;
    const unsigned char *end;
    char *error;
    size_t error_size;
};

/* The head of a value. */
struct head {
    enum { SCALAR, ARRAY } kind;
    uint32_t elements; /* of an array */
};

static int read_length(struct walk *walk, unsigned width, uint32_t *length)
{
    if ((size_t)(walk->end - walk->at) < width)
        return bspz_error_text(walk->error, walk->error_size, -EPROTO,
                               "the frame ends inside a value");
    uint32_t value = 0;
    for (unsigned i = 0; i < width; i++)
        value = value << 8 | *walk->at++;
    *length = value;
    return 0;
}

static int skip(struct walk *walk, uint32_t length)
{
    if ((size_t)(walk->end - walk->at) < length)
        return bspz_error_text(walk->error, walk->error_size, -EPROTO,
                               "the frame ends inside a value");
    walk->at += length;
    return 0;
}

/* A string, byte string or array whose length field has the given width. */
static int sized(struct walk *walk, unsigned width, bool array, struct head *head)
{
    uint32_t length = 0;
    int result = read_length(walk, width, &length);
    if (result < 0)
        return result;
    if (!array)
        return skip(walk, length);
    head->kind = ARRAY;
    head->elements = length;
    return 0;
}

/* Takes one value, or the head of an array, from the body. */
static int take(struct walk *walk, struct head *head)
{
    if (walk->at == walk->end)
        return bspz_error_text(walk->error, walk->error_size, -EPROTO,
                               "the frame ends inside an array");
    unsigned char tag = *walk->at++;
    *head = (struct head){.kind = SCALAR};
    if (tag <= 0x7f || tag >= 0xe0) /* small numbers */
        return 0;
    if (tag >= 0xa0 && tag <= 0xbf) /* short strings */
        return skip(walk, tag & 0x1f);
    if (tag >= 0x90 && tag <= 0x9f) { /* short arrays */
        head->kind = ARRAY;
        head->elements = tag & 0x0f;
        return 0;
    }
    switch (tag) {
    case 0xc2: /* false */
    case 0xc3: /* true */
        return 0;
    case 0xc4: /* bytes */
    case 0xd9: /* string */
        return sized(walk, 1, false, head);
    case 0xc5:
    case 0xda:
        return sized(walk, 2, false, head);
    case 0xc6:
    case 0xdb:
        return sized(walk, 4, false, head);
    case 0xcc: /* numbers of 1, 2, 4, 8 bytes, unsigned and signed */
    case 0xd0:
        return skip(walk, 1);
    case 0xcd:
    case 0xd1:
        return skip(walk, 2);
    case 0xce:
    case 0xd2:
        return skip(walk, 4);
    case 0xcb: /* double */
    case 0xcf:
    case 0xd3:
        return skip(walk, 8);
    case 0xdc: /* array */
        return sized(walk, 2, true, head);
    case 0xdd:
        return sized(walk, 4, true, head);
    default:
        return bspz_error_text(walk->error, walk->error_size, -EPROTO,
                               "a value of type 0x%02x, which no message has", tag);
    }
}

int wire_check(const void *body, size_t size, char *error, size_t error_size)
{
    struct walk walk = {body, (const unsigned char *)body + size, error, error_size};
    uint32_t open[DEPTH_MAX]; /* elements still missing from each open array */
    unsigned depth = 0;
    uint32_t values = 0;

    do {
        struct head head;
        int result = take(&walk, &head);
        if (result < 0)
            return result;
        if (++values > VALUES_MAX)
            return bspz_error_text(error, error_size, -EPROTO, "more than %u values", VALUES_MAX);
        if (depth == 0 && head.kind != ARRAY)
            return bspz_error_text(error, error_size, -EPROTO, "the body is not an array");
        if (depth > 0)
            open[depth - 1]--;
        if (head.kind == ARRAY) {
            if (depth == DEPTH_MAX)
                return bspz_error_text(error, error_size, -EPROTO, "arrays nested too deep");
            open[depth++] = head.elements;
        }
        while (depth > 0 && open[depth - 1] == 0)
            depth--;
    } while (depth > 0);

    if (walk.at != walk.end)
        return bspz_error_text(error, error_size, -EPROTO, "%zu bytes behind the message",
                               (size_t)(walk.end - walk.at));
    return 0;
}
