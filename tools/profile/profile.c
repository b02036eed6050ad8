/* profile.c - the lines of PROF.bsp; see profile.h. */
#include "tools/profile/profile.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "tools/profile/profile_fields.h"

static bool wrong(char text[PROFILE_ERROR], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* False, which is PROFILE_WRONG. */
static bool wrong(char text[PROFILE_ERROR], const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(text, PROFILE_ERROR, format, list);
    va_end(list);
    return false;
}

/* ---- Lines --------------------------------------------------------------------------------- */

static bool take_ranks(struct profile *profile, struct rest *rest, char text[PROFILE_ERROR])
{
    uint64_t ranks;
    if (profile->ranks > 0)
        return wrong(text, "a second line P");
    if (!take_number(rest, UINT32_MAX, &ranks) || rest->at != rest->end)
        return wrong(text, "P: this is not a number of processes");
    if (ranks == 0 || ranks > PROFILE_RANKS_MAX)
        return wrong(text, "P %" PRIu64 ": the number of processes must be from 1 to %u", ranks,
                     PROFILE_RANKS_MAX);
    profile->traffic = calloc(ranks, sizeof(*profile->traffic));
    if (!profile->traffic)
        return wrong(text, "out of memory");
    profile->ranks = (uint32_t)ranks;
    return true;
}

/* Makes room for the statement of that number. */
static bool have_statement(struct profile *profile, uint32_t statement, char text[PROFILE_ERROR])
{
    uint32_t count = profile->statement_count;
    if (statement < count)
        return true;
    struct profile_statement *more =
        realloc(profile->statements, ((size_t)statement + 1) * sizeof(*more));
    if (!more)
        return wrong(text, "out of memory");
    memset(more + count, 0, (statement + 1 - count) * sizeof(*more));
    profile->statements = more;
    profile->statement_count = statement + 1;
    return true;
}

static bool take_bytes(struct profile *profile, struct rest *rest, char text[PROFILE_ERROR])
{
    for (uint32_t rank = 0; rank < profile->ranks; rank++)
        if (!take_number(rest, TRAFFIC_BYTES_MAX, &profile->traffic[rank].in) ||
            !take_number(rest, TRAFFIC_BYTES_MAX, &profile->traffic[rank].out))
            return wrong(text,
                         "process %u: the bytes are missing, or not a number up to %" PRIu64
                         ": there must be two for each of %u processes",
                         rank, TRAFFIC_BYTES_MAX, profile->ranks);
    switch (traffic_check(profile->traffic, profile->ranks)) {
    case TRAFFIC_UNEQUAL:
        return wrong(text, "the bytes into all processes are not those out of all");
    case TRAFFIC_TO_ITSELF:
        return wrong(text, "a process sends and receives more bytes than there are: what goes to "
                           "itself does not count");
    default:
        return true;
    }
}

static bool take_superstep(struct profile *profile, struct rest *rest, char text[PROFILE_ERROR])
{
    uint64_t statement, calls, before = profile->total_ns;
    struct profile_superstep *step = &profile->step;
    if (!take_number(rest, PROFILE_STATEMENTS_MAX - 1, &statement))
        return wrong(text, "c: this is not the number of a statement, from 0 to %u",
                     PROFILE_STATEMENTS_MAX - 1);
    if (!take_seconds(rest, &step->start_ns) || !take_seconds(rest, &step->end_ns))
        return wrong(text, "start and end must be seconds, at most %u", PROFILE_SECONDS_MAX);
    if (step->start_ns < before || step->end_ns < step->start_ns)
        return wrong(text,
                     "times run backwards: the superstep before ends at %.9f, this one "
                     "starts at %.9f and ends at %.9f",
                     (double)before / 1e9, (double)step->start_ns / 1e9,
                     (double)step->end_ns / 1e9);
    for (uint32_t i = pass_digits(rest, 2 * profile->ranks); i < 2 * profile->ranks; i++)
        if (!take_number(rest, UINT64_MAX, &calls))
            return wrong(text,
                         "process %u: calls are missing, or not numbers: there must be two "
                         "for each of %u processes",
                         i / 2, profile->ranks);
    if (!take_word(rest, " @@"))
        return wrong(text, "there is no @@ between calls and bytes of %u processes",
                     profile->ranks);
    if (!take_bytes(profile, rest, text))
        return false;
    if (rest->at != rest->end)
        return wrong(text, "more numbers than for %u processes", profile->ranks);
    step->statement = (uint32_t)statement;
    step->computing_ns = step->start_ns - before;
    profile->total_ns = step->end_ns;
    profile->supersteps++;
    return have_statement(profile, step->statement, text);
}

static bool take_spread(struct profile *profile, struct rest *rest, char text[PROFILE_ERROR])
{
    struct profile_spread *spread = &profile->spread;
    if (profile->supersteps == 0 || profile->spread_taken == profile->supersteps)
        return wrong(text, "w: there is no superstep before this line that it could belong to");
    if (!take_seconds(rest, &spread->most) || !take_seconds(rest, &spread->mean) ||
        !take_seconds(rest, &spread->least) || rest->at != rest->end)
        return wrong(text, "w: there must be three times in seconds, at most %u",
                     PROFILE_SECONDS_MAX);
    if (spread->least > spread->mean || spread->mean > spread->most)
        return wrong(text, "w: the times must be the largest, the mean and the smallest");
    profile->spread_taken = profile->supersteps;
    return true;
}

const char *profile_mark_word(enum profile_mark_kind kind)
{
    static const char *const words[PROFILE_MARK_KINDS] = {[PROFILE_SAVED] = "saved",
                                                          [PROFILE_RESTORED] = "restored",
                                                          [PROFILE_FAILED] = "failed",
                                                          [PROFILE_RESTARTED] = "restarted",
                                                          [PROFILE_MOVED] = "moved"};
    return words[kind];
}

static bool take_kind(struct rest *rest, enum profile_mark_kind *kind)
{
    for (*kind = 0; *kind < PROFILE_MARK_KINDS; (*kind)++) {
        char word[16];
        snprintf(word, sizeof(word), " %s", profile_mark_word(*kind));
        if (take_word(rest, word))
            return true;
    }
    return false;
}

static bool take_mark(struct profile *profile, struct rest *rest, char text[PROFILE_ERROR])
{
    struct profile_mark *mark = &profile->mark;
    if (!take_seconds(rest, &mark->at_ns))
        return wrong(text, "m: this is not a time in seconds, at most %u", PROFILE_SECONDS_MAX);
    if (!take_kind(rest, &mark->kind))
        return wrong(text, "m: what happened must be saved, failed, restarted, moved or restored");
    if (!take_seconds(rest, &mark->lasted_ns) || rest->at != rest->end)
        return wrong(text, "m: how long it took is not a time in seconds, at most %u",
                     PROFILE_SECONDS_MAX);
    mark->superstep = profile->supersteps;
    return true;
}

static bool take_statement(struct profile *profile, struct rest *rest, char text[PROFILE_ERROR])
{
    uint64_t number, line;
    if (!take_number(rest, PROFILE_STATEMENTS_MAX - 1, &number) ||
        !take_number(rest, UINT32_MAX, &line) || !take_blank(rest) || rest->at == rest->end)
        return wrong(text,
                     "s: there must be the number of a statement (up to %u), a line and a "
                     "file",
                     PROFILE_STATEMENTS_MAX - 1);
    if (!have_statement(profile, (uint32_t)number, text))
        return false;
    struct profile_statement *statement = &profile->statements[number];
    if (statement->file)
        return wrong(text, "a second line s of statement %" PRIu64, number);
    statement->line = (uint32_t)line;
    statement->file = strndup(rest->at, (size_t)(rest->end - rest->at));
    return statement->file || wrong(text, "out of memory");
}

static bool take_end(struct profile *profile, struct rest *rest, char text[PROFILE_ERROR])
{
    uint64_t total;
    if (!take_seconds(rest, &total) || rest->at != rest->end)
        return wrong(text, "E: this is not a time in seconds, at most %u", PROFILE_SECONDS_MAX);
    if (total < profile->total_ns)
        return wrong(text, "E: less than the end of the last superstep");
    profile->total_ns = total;
    profile->complete = true;
    return true;
}

static bool is_line(const struct profile *profile, const char *line, size_t length,
                    char text[PROFILE_ERROR])
{
    if (length < 2 || memchr(line, 0, length) || !strchr("DFNXPcwmsE", line[0]) || line[1] != ' ')
        return wrong(text, "this is not a line of a profile");
    if (profile->complete)
        return wrong(text, "a line after the line E");
    if (profile->ranks == 0 && strchr("cwmsE", line[0]))
        return wrong(text, "the line P, with the number of processes, is missing before this one");
    return true;
}

enum profile_event profile_take(struct profile *profile, const char *line, size_t length,
                                char text[PROFILE_ERROR])
{
    if (!is_line(profile, line, length, text))
        return PROFILE_WRONG;
    struct rest rest = {line + 1, line + length};
    switch (line[0]) {
    case 'P':
        return take_ranks(profile, &rest, text) ? PROFILE_RANKS : PROFILE_WRONG;
    case 'c':
        return take_superstep(profile, &rest, text) ? PROFILE_SUPERSTEP : PROFILE_WRONG;
    case 'w':
        return take_spread(profile, &rest, text) ? PROFILE_SPREAD : PROFILE_WRONG;
    case 'm':
        return take_mark(profile, &rest, text) ? PROFILE_MARK : PROFILE_WRONG;
    case 's':
        return take_statement(profile, &rest, text) ? PROFILE_NOTHING : PROFILE_WRONG;
    case 'E':
        return take_end(profile, &rest, text) ? PROFILE_NOTHING : PROFILE_WRONG;
    default:
        return PROFILE_NOTHING;
    }
}

bool profile_finish(const struct profile *profile, char text[PROFILE_ERROR])
{
    if (profile->ranks == 0)
        return wrong(text,
                     "this is not a profile: there is no line P, with the number of processes");
    if (!profile->complete && profile->supersteps == 0)
        return wrong(text, "it contains no superstep");
    for (uint32_t i = 0; profile->complete && i < profile->statement_count; i++)
        if (!profile->statements[i].file)
            return wrong(text, "the line s of statement %u is missing", i);
    return true;
}

void profile_free(struct profile *profile)
{
    for (uint32_t i = 0; i < profile->statement_count; i++)
        free(profile->statements[i].file);
    free(profile->statements);
    free(profile->traffic);
    *profile = (struct profile){0};
}
