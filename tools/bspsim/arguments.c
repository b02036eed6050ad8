/* arguments.c - bspsim's command line; see arguments.h. */
#include "tools/bspsim/arguments_inside.h"

#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/nearest.h"
#include "lib/base/units.h"

#define SECONDS_MAX 1e9
#define RUNS_MAX    10000000u
#define BIT(code)   (UINT64_C(1) << (code))

/* The target and range of each option whose value is a time, a size or a number. */
static const struct amount {
    enum argument argument;
    enum { A_TIME, A_SIZE, A_NUMBER } kind;
    double least, most;
    size_t offset;
} amounts[] = {
    {ARG_WORK, A_TIME, 1, SECONDS_MAX, offsetof(struct arguments, work)},
    {ARG_MTBF, A_TIME, 1, SECONDS_MAX, offsetof(struct arguments, mtbf)},
    {ARG_SNAPSHOT, A_TIME, 0, SECONDS_MAX, offsetof(struct arguments, snapshot)},
    {ARG_COMMIT, A_TIME, 0, SECONDS_MAX, offsetof(struct arguments, commit)},
    {ARG_RESTORE, A_TIME, 0, SECONDS_MAX, offsetof(struct arguments, restore)},
    {ARG_SUPERSTEP, A_TIME, 1e-3, SECONDS_MAX, offsetof(struct arguments, superstep)},
    {ARG_PRIOR, A_TIME, 1, SECONDS_MAX, offsetof(struct arguments, prior)},
    {ARG_SHAPE, A_NUMBER, 0.1, 10, offsetof(struct arguments, shape)},
    {ARG_DOUBLING, A_TIME, 1, SECONDS_MAX, offsetof(struct arguments, doubling)},
    {ARG_REPAIR, A_TIME, 0, SECONDS_MAX, offsetof(struct arguments, repair)},
    {ARG_LIMIT, A_TIME, 1, SECONDS_MAX, offsetof(struct arguments, limit)},
    {ARG_IMAGE, A_SIZE, 1, 0x1p60, offsetof(struct arguments, image)},
    {ARG_BANDWIDTH, A_SIZE, 1, 0x1p60, offsetof(struct arguments, bandwidth)},
};

/* ---- Values ------------------------------------------------------------------------------- */

static bool take_amount(struct arguments *arguments, const struct amount *amount, const char *text,
                        char error[ARGUMENTS_ERROR])
{
    const char *name = arguments_name(amount->argument);
    double value;
    char *end;
    bool good;
    if (amount->kind == A_TIME)
        good = bspz_seconds(text, &value);
    else if (amount->kind == A_SIZE)
        good = bspz_bytes(text, &value);
    else {
        value = strtod(text, &end);
        good = end != text && *end == '\0' && isfinite(value);
    }
    if (!good && amount->kind == A_TIME)
        return arguments_wrong(
            error, "--%s %.80s: give a time such as 90s or 4h (units: " BSPZ_SECONDS_UNITS ")",
            name, text);
    if (!good && amount->kind == A_SIZE)
        return arguments_wrong(error,
                               "--%s %.80s: give a size such as 500M (units: " BSPZ_BYTES_UNITS ")",
                               name, text);
    if (!good)
        return arguments_wrong(error, "--%s %.80s: give a number from %g to %g", name, text,
                               amount->least, amount->most);
    if (value < amount->least || value > amount->most) {
        const char *unit = amount->kind == A_TIME ? "s" : "";
        return arguments_wrong(error, "--%s %.80s: it must be from %g%s to %g%s", name, text,
                               amount->least, unit, amount->most, unit);
    }
    *(double *)((char *)arguments + amount->offset) = value;
    return true;
}

static bool take_hosts(struct arguments *arguments, const char *text, char error[ARGUMENTS_ERROR])
{
    uint64_t number;
    if (text[strspn(text, "0123456789.+-")] != '\0') {
        arguments->host_names = strdup(text);
        return arguments->host_names || arguments_wrong(error, "out of memory");
    }
    if (!bspz_whole(text, 1, LIVES_HOSTS_MAX, &number))
        return arguments_wrong(error, "--hosts %.80s: give a number of hosts from 1 to %u", text,
                               LIVES_HOSTS_MAX);
    arguments->hosts = (uint32_t)number;
    return true;
}

static bool take_every(struct arguments *arguments, const char *text, char error[ARGUMENTS_ERROR])
{
    struct policy_rule *rule = &arguments->rule;
    double seconds;
    if (strcmp(text, "auto") == 0)
        rule->kind = POLICY_AUTO;
    else if (bspz_whole(text, 1, UINT64_MAX - 1, &rule->every))
        rule->kind = POLICY_SUPERSTEPS;
    else if (bspz_seconds(text, &seconds) && seconds >= 1e-9 && seconds <= SECONDS_MAX) {
        rule->kind = POLICY_TIME;
        rule->every = (uint64_t)(seconds * 1e9);
    } else
        return arguments_wrong(
            error,
            "--every %.80s: give auto, a number of supersteps, or a time such as "
            "30s (units: " BSPZ_SECONDS_UNITS ")",
            text);
    return true;
}

static bool take_overhead(struct arguments *arguments, const char *text,
                          char error[ARGUMENTS_ERROR])
{
    char *end;
    double percent = strtod(text, &end);
    if (end == text || strcmp(end, "%") != 0 || !(percent > 0) || percent > 100)
        return arguments_wrong(error, "--overhead %.80s: give a share of the time such as 5%%",
                               text);
    arguments->rule.overhead = percent / 100;
    arguments->rule.bounded = true;
    return true;
}

/* As SimGrid writes speeds: 1e9, 2.5Gf; prefixes are powers of 1000, or with i of 1024. */
static bool take_speed(struct arguments *arguments, const char *text, char error[ARGUMENTS_ERROR])
{
    static const char prefixes[] = "kMGTPE";
    const char *prefix;
    char *end;
    double speed = strtod(text, &end), base = 1000;
    bool good = text[0] >= '0' && text[0] <= '9' && text[1] != 'x' && text[1] != 'X';
    if (*end != '\0' && (prefix = strchr(prefixes, *end))) {
        end++;
        base += *end == 'i' ? 24 : 0;
        end += *end == 'i';
        speed *= pow(base, (double)(prefix - prefixes + 1));
    }
    end += *end == 'f';
    if (!good || *end != '\0' || !(speed >= 1 && speed <= 1e21))
        return arguments_wrong(
            error, "--speed %.80s: give the flop/s of a core such as 2.5Gf, from 1f to 1000Ef",
            text);
    arguments->speed = speed;
    return true;
}

static bool take_per_host(struct arguments *arguments, const char *text,
                          char error[ARGUMENTS_ERROR])
{
    uint64_t number;
    if (!bspz_whole(text, 1, LIVES_HOSTS_MAX, &number))
        return arguments_wrong(error,
                               "--ranks-per-host %.80s: give a number of processes from 1 to %u",
                               text, LIVES_HOSTS_MAX);
    arguments->per_host = (uint32_t)number;
    return true;
}

static bool take_lives(struct arguments *arguments, const char *text, char error[ARGUMENTS_ERROR])
{
    static const char *const names[] = {[LIVES_EXPONENTIAL] = "exponential",
                                        [LIVES_WEIBULL] = "weibull",
                                        [LIVES_LOGNORMAL] = "lognormal"};
    struct bspz_nearest nearest = bspz_nearest_to(text);
    for (int kind = 0; kind < LIVES_TRACE; kind++) {
        bspz_nearest_offer(&nearest, names[kind]);
        if (strcmp(text, names[kind]) != 0)
            continue;
        arguments->lives = (enum lives_kind)kind;
        return true;
    }
    return arguments_wrong(error, "--lives %.80s: %s%s%sgive exponential, weibull or lognormal",
                           text, nearest.best ? "did you mean " : "",
                           nearest.best ? nearest.best : "", nearest.best ? "?  " : "");
}

static bool take_text(char **place, const char *text, char error[ARGUMENTS_ERROR])
{
    free(*place);
    *place = strdup(text);
    return *place || arguments_wrong(error, "out of memory");
}

static bool take(struct arguments *arguments, enum argument argument, const char *text,
                 char error[ARGUMENTS_ERROR])
{
    arguments->given |= BIT(argument);
    for (size_t i = 0; i < sizeof(amounts) / sizeof(amounts[0]); i++)
        if (amounts[i].argument == argument)
            return take_amount(arguments, &amounts[i], text, error);
    switch (argument) {
    case ARG_HOSTS:
        return take_hosts(arguments, text, error);
    case ARG_SEED:
        return bspz_whole(text, 0, UINT64_MAX, &arguments->seed) ||
               arguments_wrong(error, "--seed %.80s: give a whole number", text);
    case ARG_RUNS:
        return bspz_whole(text, 1, RUNS_MAX, &arguments->runs) ||
               arguments_wrong(error, "--runs %.80s: give a number of jobs from 1 to %u", text,
                               RUNS_MAX);
    case ARG_EVERY:
        return take_every(arguments, text, error);
    case ARG_OVERHEAD:
        return take_overhead(arguments, text, error);
    case ARG_LIVES:
        return take_lives(arguments, text, error);
    case ARG_REPORT:
        return take_text(&arguments->report, text, error);
    case ARG_SVG:
        return take_text(&arguments->svg, text, error);
    case ARG_SPEED:
        return take_speed(arguments, text, error);
    case ARG_PER_HOST:
        return take_per_host(arguments, text, error);
    case ARG_PLATFORM:
        return take_text(&arguments->platform, text, error);
    case ARG_TRACE:
        return take_text(&arguments->trace, text, error);
    case ARG_JSON:
        return arguments->json = true;
    case ARG_CALM:
        return arguments->calm = true;
    default:
        return arguments->each = true;
    }
}

/* ---- The line ----------------------------------------------------------------------------- */

static bool wrong_option(poptContext context, int code, char error[ARGUMENTS_ERROR])
{
    const char *word = poptBadOption(context, POPT_BADOPTION_NOALIAS);
    struct bspz_nearest nearest = bspz_nearest_to(word);
    if (code == POPT_ERROR_NOARG)
        return arguments_wrong(error, "%.80s needs a value after it; bspsim --help shows them all",
                               word);
    if (code != POPT_ERROR_BADOPT)
        return arguments_wrong(error, "%.80s: %s", word, poptStrerror(code));
    for (const struct poptOption *option = arguments_table; option->longName; option++)
        bspz_nearest_offer(&nearest, option->longName);
    if (nearest.best)
        return arguments_wrong(error,
                               "unknown option %.80s: did you mean --%s?  bspsim --help shows all",
                               word, nearest.best);
    return arguments_wrong(error, "unknown option %.80s: bspsim --help shows them all", word);
}

static bool take_command(struct arguments *arguments, const char **words,
                         char error[ARGUMENTS_ERROR])
{
    static const char *const commands[] = {
        [ARGUMENTS_PLAN] = "plan", [ARGUMENTS_RUN] = "run", [ARGUMENTS_REPLAY] = "replay"};
    if (!words || !words[0])
        return arguments_wrong(error, "no command given: bspsim plan, bspsim run or bspsim replay; "
                                      "see bspsim --help");
    struct bspz_nearest nearest = bspz_nearest_to(words[0]);
    unsigned action = ARGUMENTS_PLAN;
    while (action <= ARGUMENTS_REPLAY && strcmp(words[0], commands[action]) != 0)
        bspz_nearest_offer(&nearest, commands[action++]);
    if (action > ARGUMENTS_REPLAY)
        return arguments_wrong(error, "there is no command %.80s%s%s; see bspsim --help", words[0],
                               nearest.best ? ": did you mean " : "",
                               nearest.best ? nearest.best : "");
    arguments->action = (enum arguments_action)action;
    const char **more = words + 1;
    if (action == ARGUMENTS_REPLAY && *more && !take_text(&arguments->profile, *more++, error))
        return false;
    if (*more)
        return arguments_wrong(error, "%.80s: too many arguments; see bspsim --help", *more);
    return arguments_check(arguments, error);
}

/* Sets defaults; that of the shape depends on the kind of lives. */
static void complete(struct arguments *arguments)
{
    if (!argument_given(arguments, ARG_SHAPE))
        arguments->shape = arguments->lives == LIVES_LOGNORMAL ? 1.5 : 0.7;
    if (arguments->trace)
        arguments->lives = LIVES_TRACE;
    if (arguments->trace)
        arguments->runs = 1;
}

bool bspsim_arguments_parse(int argc, const char **argv, struct arguments *arguments,
                            char error[ARGUMENTS_ERROR])
{
    *arguments = (struct arguments){.superstep = 1,
                                    .seed = 1,
                                    .runs = 400,
                                    .rule = {.kind = POLICY_AUTO, .every = 1, .overhead = 0.05}};
    poptContext context = poptGetContext("bspsim", argc, argv, arguments_table, 0);
    if (!context)
        return arguments_wrong(error, "out of memory");
    bool good = true, asked = false;
    int code = 0;
    while (good && !asked && (code = poptGetNextOpt(context)) > 0) {
        char *text = poptGetOptArg(context);
        asked = code == ARG_HELP || code == ARG_VERSION;
        if (asked)
            arguments->action = code == ARG_HELP ? ARGUMENTS_HELP : ARGUMENTS_VERSION;
        else
            good = take(arguments, (enum argument)code, text, error);
        free(text);
    }
    if (good && !asked && code < -1)
        good = wrong_option(context, code, error);
    if (good && !asked)
        good = take_command(arguments, poptGetArgs(context), error);
    poptFreeContext(context);
    complete(arguments);
    return good;
}

void arguments_free(struct arguments *arguments)
{
    free(arguments->host_names);
    free(arguments->trace);
    free(arguments->report);
    free(arguments->svg);
    free(arguments->profile);
    free(arguments->platform);
}
