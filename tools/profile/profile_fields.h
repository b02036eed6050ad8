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

static inline bool take_number(struct rest *rest, uint64_t most, uint64_t *number)
{
    return take_blank(rest) && take_digits(rest, most, number) &&
           (rest->at == rest->end || *rest->at == ' ');
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
