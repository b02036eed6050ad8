/* options_owner.c - the value of --owner-policy: what is done on a host whose owner is active, and
 * from when on one counts as active: POLICY[:NAME=NUMBER,...]. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/options/options_inside.h"

#define INPUT_DEFAULT 60000u /* milliseconds */
#define QUIET_DEFAULT 60000u
#define LOAD_DEFAULT  0.25 /* cores */
#define SECONDS_LEAST 0.1
#define SECONDS_MOST  86400.0
#define LOAD_LEAST    0.01
#define LOAD_MOST     4096.0

void options_owner_defaults(struct options_owner *owner)
{
    *owner = (struct options_owner){
        .input_ms = INPUT_DEFAULT, .quiet_ms = QUIET_DEFAULT, .load = LOAD_DEFAULT};
}

#define POLICY_NAME(name, text) text,

static bool take_policy(struct options_owner *owner, const char *text, size_t length)
{
    static const char *const names[] = {WIRE_OWNER_POLICIES(POLICY_NAME)};

    for (unsigned i = 0; i < WIRE_POLICY_COUNT; i++)
        if (strlen(names[i]) == length && memcmp(names[i], text, length) == 0) {
            owner->policy = (enum wire_policy)i;
            return true;
        }
    return false;
}

/* A number between the bounds, at the beginning of the text; *end is behind it. */
static bool read_number(const char *text, double least, double most, double *number,
                        const char **end)
{
    char *behind;

    errno = 0;
    *number = strtod(text, &behind);
    *end = behind;
    return behind > text && strspn(text, "0123456789.") == (size_t)(behind - text) && !errno &&
           *number >= least && *number <= most;
}

/* One NAME=NUMBER; *text is behind it. */
static bool take_threshold(struct options_owner *owner, const char **text)
{
    size_t length = strcspn(*text, "=");
    const char *name = *text, *value = name + length + (name[length] != '\0');
    bool load = length == 4 && memcmp(name, "load", length) == 0;
    bool input = length == 5 && memcmp(name, "input", length) == 0;
    bool quiet = length == 5 && memcmp(name, "quiet", length) == 0;
    double number;

    if (!(load || input || quiet) || !read_number(value, load ? LOAD_LEAST : SECONDS_LEAST,
                                                  load ? LOAD_MOST : SECONDS_MOST, &number, text))
        return false;
    if (load)
        owner->load = number;
    else
        *(input ? &owner->input_ms : &owner->quiet_ms) = (uint64_t)(number * 1000);
    return true;
}

bool options_take_owner(struct options *options, const char *source, const char *text)
{
    struct options_owner owner;
    size_t length = strcspn(text, ":");
    const char *at = text + length;

    options_owner_defaults(&owner);
    if (!take_policy(&owner, text, length))
        return options_wrong(options, "%s%.80s: give none, nice, yield or leave", source, text);
    while (*at == (at == text + length ? ':' : ',')) {
        at++;
        if (!take_threshold(&owner, &at))
            break;
        if (*at == '\0') {
            options->hosts.owner = owner;
            return true;
        }
    }
    if (at != text + length || *at)
        return options_wrong(options,
                             "%s%.80s: give thresholds after the policy as "
                             ":input=SECONDS,load=CORES,quiet=SECONDS, seconds from 0.1 to 86400, "
                             "cores from 0.01 to 4096",
                             source, text);
    options->hosts.owner = owner;
    return true;
}
