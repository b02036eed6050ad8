/* options_snapshots.c - the values of bsprun's options about snapshots. */
#include <ctype.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/options/options_inside.h"
#include "lib/base/buffer.h"
#include "lib/base/units.h"

#define SECONDS_MAX      1e9
#define NS_PER_SECOND    1e9
#define DEFAULT_OVERHEAD 0.05
#define DEFAULT_KEEP     3u
#define DEFAULT_RESTARTS 10u
#define DEFAULT_GRACE_MS 30000u

void options_snapshot_defaults(struct options_snapshots *snapshots)
{
    *snapshots = (struct options_snapshots){
        .restart_at = WIRE_NEVER,
        .rule = WIRE_RULE_AUTO,
        .every = 1,
        .overhead = DEFAULT_OVERHEAD,
        .async = WIRE_ASYNC_AUTO,
        .keep = DEFAULT_KEEP,
        .max_restarts = DEFAULT_RESTARTS,
        .grace_ms = DEFAULT_GRACE_MS,
    };
}

void options_free_snapshots(struct options_snapshots *snapshots)
{
    free(snapshots->directory);
    free(snapshots->restart);
    for (int i = 0; i < snapshots->excluded_count; i++)
        free((char *)snapshots->excluded[i]);
    free(snapshots->excluded);
}

/* ---- Values ---- */

/* A number, and its end. */
static bool fraction(const char *text, double *value, const char **end)
{
    char *behind;

    if (!isdigit((unsigned char)text[0]) && text[0] != '.')
        return false;
    *value = strtod(text, &behind);
    *end = behind;
    return behind != text && isfinite(*value);
}

static bool take_every(struct options *options, const char *source, const char *text)
{
    struct options_snapshots *snapshots = &options->snapshots;
    double seconds;
    uint64_t supersteps;

    if (strcmp(text, "auto") == 0) {
        snapshots->rule = WIRE_RULE_AUTO;
        snapshots->every = 1;
    } else if (bspz_whole(text, 1, UINT64_MAX - 1, &supersteps)) {
        snapshots->rule = WIRE_RULE_SUPERSTEPS;
        snapshots->every = supersteps;
    } else if (bspz_seconds(text, &seconds) && seconds * NS_PER_SECOND >= 1 &&
               seconds <= SECONDS_MAX) {
        snapshots->rule = WIRE_RULE_TIME;
        snapshots->every = (uint64_t)(seconds * NS_PER_SECOND);
    } else {
        return options_wrong(options,
                             "%s%.80s: give auto, a number of supersteps, or a time such as 30s "
                             "(units: " BSPZ_SECONDS_UNITS ")",
                             source, text);
    }
    return true;
}

static bool take_overhead(struct options *options, const char *source, const char *text)
{
    double percent;
    const char *end;

    if (!fraction(text, &percent, &end) || strcmp(end, "%") != 0 || percent <= 0 || percent > 100)
        return options_wrong(options, "%s%.80s: give a share of the time such as 5%%", source,
                             text);
    options->snapshots.overhead = percent / 100;
    options->snapshots.bounded = true;
    return true;
}

/* The mean time between failures of a host.  Less than a second is rejected. */
static bool take_mtbf(struct options *options, const char *source, const char *text)
{
    double seconds;

    if (!bspz_seconds(text, &seconds) || seconds < 1 || seconds > SECONDS_MAX)
        return options_wrong(options,
                             "%s%.80s: give the mean time between failures of a host, such as 300h "
                             "or 90m (units: " BSPZ_SECONDS_UNITS "), from 1s to 277000h",
                             source, text);
    options->snapshots.mtbf_ns = (uint64_t)(seconds * NS_PER_SECOND);
    return true;
}

static bool take_async(struct options *options, const char *source, const char *text)
{
    static const char *const words[] = {
        [WIRE_ASYNC_AUTO] = "auto", [WIRE_ASYNC_ON] = "on", [WIRE_ASYNC_OFF] = "off"};

    for (unsigned i = 0; i < WIRE_ASYNC_COUNT; i++)
        if (strcmp(text, words[i]) == 0) {
            options->snapshots.async = (enum wire_async)i;
            return true;
        }
    return options_wrong(options, "%s%.80s: give auto, on or off", source, text);
}

static bool take_keep(struct options *options, const char *source, const char *text)
{
    uint64_t count = 0;

    if (strcmp(text, "all") != 0 && !bspz_whole(text, 1, UINT32_MAX, &count))
        return options_wrong(options,
                             "%s%.80s: give the number of snapshots to retain, at least 1, or all",
                             source, text);
    options->snapshots.keep = (uint32_t)count;
    return true;
}

static bool take_max_restarts(struct options *options, const char *source, const char *text)
{
    uint64_t count;

    if (!bspz_whole(text, 0, UINT32_MAX, &count))
        return options_wrong(options, "%s%.80s: give a number of restarts, 0 or more", source,
                             text);
    options->snapshots.max_restarts = (uint32_t)count;
    return true;
}

static bool take_on_refuse(struct options *options, const char *source, const char *text)
{
    static const char *const words[] = {[ON_REFUSAL_FIRST] = "first",
                                        [ON_REFUSAL_STOP] = "stop",
                                        [ON_REFUSAL_CONTINUE] = "continue"};

    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(text, words[i]) == 0) {
            options->snapshots.on_refusal = (enum on_refusal)i;
            return true;
        }
    return options_wrong(options, "%s%.80s: give first, stop or continue", source, text);
}

static bool take_recover(struct options *options, const char *source, const char *text)
{
    options->snapshots.together = strcmp(text, "all") == 0;
    return options->snapshots.together || strcmp(text, "one") == 0 ||
           options_wrong(options, "%s%.80s: give one or all", source, text);
}

static bool take_grace(struct options *options, const char *source, const char *text)
{
    double seconds;
    const char *end;

    if (!fraction(text, &seconds, &end) || (*end && strcmp(end, "s") != 0) || seconds > SECONDS_MAX)
        return options_wrong(options, "%s%.80s: give a number of seconds", source, text);
    options->snapshots.grace_ms = (uint64_t)(seconds * 1000);
    return true;
}

static bool take_exclude(struct options *options, const char *source, const char *text)
{
    struct options_snapshots *snapshots = &options->snapshots;
    uint64_t number;
    bool good = strncmp(text, "fd:", 3) == 0
                    ? bspz_whole(text + 3, 0, INT_MAX, &number)
                    : strcmp(text, "child") == 0 || (strncmp(text, "path:", 5) == 0 && text[5]);

    if (!good)
        return options_wrong(options, "%s%.80s: give fd:NUMBER, path:PATTERN or child", source,
                             text);
    char *copy = strdup(text);
    if (!copy || !BSPZ_GROW(snapshots->excluded, (size_t)snapshots->excluded_count)) {
        free(copy);
        return options_wrong(options, "out of memory");
    }
    snapshots->excluded[snapshots->excluded_count++] = copy;
    return true;
}

static bool take_text(struct options *options, char **place, const char *source, const char *text,
                      size_t length)
{
    if (length == 0)
        return options_wrong(options, "%s%.80s: the name of the directory is empty", source, text);
    free(*place);
    *place = strndup(text, length);
    return *place || options_wrong(options, "out of memory");
}

/* DIR@SUPERSTEP; a directory whose own name has that form is written with a trailing slash. */
static bool take_restart(struct options *options, const char *source, const char *text)
{
    const char *at = strrchr(text, '@');
    uint64_t superstep = WIRE_NEVER;
    bool named = at && bspz_whole(at + 1, 0, WIRE_NEVER - 1, &superstep);

    options->snapshots.restart_at = superstep;
    return take_text(options, &options->snapshots.restart, source, text,
                     named ? (size_t)(at - text) : strlen(text));
}

bool options_take_snapshot(struct options *options, enum option_code code, const char *source,
                           const char *text)
{
    switch (code) {
    case OPT_CKPT:
        return take_text(options, &options->snapshots.directory, source, text, strlen(text));
    case OPT_RESTART:
        return take_restart(options, source, text);
    case OPT_EVERY:
        return take_every(options, source, text);
    case OPT_OVERHEAD:
        return take_overhead(options, source, text);
    case OPT_MTBF:
        return take_mtbf(options, source, text);
    case OPT_ASYNC:
        return take_async(options, source, text);
    case OPT_KEEP:
        return take_keep(options, source, text);
    case OPT_MAX_RESTARTS:
        return take_max_restarts(options, source, text);
    case OPT_EXCLUDE:
        return take_exclude(options, source, text);
    case OPT_ON_REFUSE:
        return take_on_refuse(options, source, text);
    case OPT_RECOVER:
        return take_recover(options, source, text);
    default:
        return take_grace(options, source, text);
    }
}
