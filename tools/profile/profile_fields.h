/* profile_fields.h - the fields of a line of PROF.bsp, taken one after the other.
 *
 * A large profile has 10^9 of them: these functions are inline, and nothing divides.  Each returns
 * false when the field is not there or not what it must be. */
#ifndef TOOLS_PROFILE_FIELDS_H
#define TOOLS_PROFILE_FIELDS_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "tools/profile/profile.h"

#define PROFILE_DIGITS_SAFE 19 /* so many digits fit into 64 bits */

/* What is left of a line. */
struct rest {
    const char *at, *end;
};

/* Digits, at least one, of a number that is at most `most`. */
static inline bool take_digits(struct rest *rest, uint64_t most, uint64_t *number)
{
    const char *at = rest->at, *end = rest->end;
    uint64_t value = 0;
    unsigned digit;
    while (at < end && (digit = (unsigned)*at - '0') <= 9) {
        if (at - rest->at >= PROFILE_DIGITS_SAFE && (__builtin_mul_overflow(value, 10, &value) ||
                                                     __builtin_add_overflow(value, digit, &value)))
            return false;
        if (at - rest->at < PROFILE_DIGITS_SAFE)
            value = value * 10 + digit;
        at++;
    }
    bool any = at > rest->at;
    rest->at = at;
    *number = value;
    return any && value <= most;
}

/* A blank before each field. */
static inline bool take_blank(struct rest *rest)
{
    if (rest->at == rest->end || *rest->at != ' ')
        return false;
    rest->at++;
    return true;
}

/* A blank, up to seven digits and a blank that is left: nearly every number of a large profile.
 * Without a loop, whose end the processor could not foresee.  False: not that, or too large;
 * nothing is taken. */
static inline bool take_short_number(struct rest *rest, uint64_t most, uint64_t *number)
{
    uint64_t bytes, past;

    if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ || rest->end - rest->at < 9 || *rest->at != ' ')
        return false;
    memcpy(&bytes, rest->at + 1, sizeof bytes);
    bytes ^= 0x3030303030303030; /* a digit is now its value */
    past = (((bytes & 0x7f7f7f7f7f7f7f7f) + 0x7676767676767676) | bytes) & 0x8080808080808080;
    unsigned digits = past ? (unsigned)__builtin_ctzll(past) / 8 : 8;
    if (digits == 0 || digits == 8 || rest->at[1 + digits] != ' ')
        return false;
    bytes <<= 8 * (8 - digits);
    bytes = bytes * 10 + (bytes >> 8); /* pairs of digits, in every other byte */
    bytes = ((bytes & 0x000000ff000000ff) * 0x000f424000000064 +
             (bytes >> 16 & 0x000000ff000000ff) * 0x0000271000000001) >>
            32;
    if (bytes > most)
        return false;
    *number = bytes;
    rest->at += 1 + digits;
    return true;
}

static inline bool take_number(struct rest *rest, uint64_t most, uint64_t *number)
{
    if (take_short_number(rest, most, number))
        return true;
    return take_blank(rest) && take_digits(rest, most, number) &&
           (rest->at == rest->end || *rest->at == ' ');
}

/* Of `count` numbers of one digit at most four at a time; a blank is left.  How many were passed.
 */
static inline uint32_t pass_digits(struct rest *rest, uint32_t count)
{
    uint32_t passed = 0;

    for (; count - passed >= 4 && rest->end - rest->at > 8 && rest->at[8] == ' '; passed += 4) {
        uint64_t bytes;

        memcpy(&bytes, rest->at, sizeof bytes);
        bytes ^= 0x3020302030203020;
        if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__ ||
            ((bytes | (bytes + 0x7600760076007600)) & 0x80ff80ff80ff80ff) != 0)
            break;
        rest->at += 8;
    }
    return passed;
}

/* Seconds with up to nine decimals, to nanoseconds. */
static inline bool take_seconds(struct rest *rest, uint64_t *ns)
{
    static const uint32_t units[] = {1000000000, 100000000, 10000000, 1000000, 100000,
                                     10000,      1000,      100,      10,      1};
    uint64_t seconds, fraction = 0;
    unsigned decimals = 0, digit;
    if (!take_blank(rest) || !take_digits(rest, PROFILE_SECONDS_MAX, &seconds))
        return false;
    if (rest->at < rest->end && *rest->at == '.')
        for (rest->at++; rest->at < rest->end && (digit = (unsigned)*rest->at - '0') <= 9;
             rest->at++) {
            if (++decimals > 9)
                return false;
            fraction = fraction * 10 + digit;
        }
    *ns = seconds * units[0] + fraction * units[decimals];
    return rest->at == rest->end || *rest->at == ' ';
}

/* These very characters. */
static inline bool take_word(struct rest *rest, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(rest->end - rest->at) < length || memcmp(rest->at, word, length) != 0)
        return false;
    rest->at += length;
    return true;
}

#endif
