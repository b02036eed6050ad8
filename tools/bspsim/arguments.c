/* arguments.c - bspsim's command line; see arguments.h. */
#include "tools/bspsim/arguments.h"

#include <errno.h>
#include <math.h>
#include <popt.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/nearest.h"
#include "lib/base/units.h"

#define SECONDS_MAX 1e9
#define RUNS_MAX    10000000u
#define BIT(code)   (UINT64_C(1) << (code))

const char arguments_help[] =
    "Usage: bspsim plan [OPTION...]   or   bspsim run [OPTION...]\n"
    "       bspsim replay PROF.bsp --platform FILE [OPTION...]\n"
    "Simulated jobs that take snapshots while hosts fail, with bsprun's own decisions;\n"
    "and programs on machines that are described to SimGrid.\n"
    "\n"
    "  plan    how often to take snapshots, and how long the job will take\n"
    "  run     many jobs of one kind, and what became of them on average\n"
    "  replay  what a program takes elsewhere, by its profile (see bspcc -prof)\n"
    "\n"
    "plan and run:\n"
    "  --work 100h         what the job takes on these hosts when nothing fails\n"
    "  --hosts 32          so many of them\n"
    "  --mtbf 4h           mean time between failures of one host\n"
    "  --snapshot 20s      what a snapshot costs the job\n"
    "  --commit 30s        after it has gone on, until the snapshot counts (0s)\n"
    "  --restore 50s       from a failure to the processes running again\n"
    "  --superstep 1s      from barrier to barrier\n"
    "  --seed 1 --runs 400 chance, and how many jobs\n"
    "  --json              for programs\n"
    "plan only:\n"
    "  --image 2G --bandwidth 500M\n"
    "                      of each host, for --snapshot and --restore\n"
    "  --from-report FILE  what bspstat --json said of a real job\n"
    "  --svg FILE          pictures: time against interval and number of hosts\n"
    "run only:\n"
    "  --every auto|N|30s --overhead 5%\n"
    "                      as for bsprun (auto)\n"
    "  --prior 4h          what the job is told beforehand, as by bsprun --mtbf\n"
    "  --lives exponential|weibull|lognormal --shape X\n"
    "  --doubling 20h      the rate of failures doubles in that time\n"
    "  --repair 1h         until a host comes back (at once)\n"
    "  --trace FILE        when hosts are up: CSV with the columns host,up,down;\n"
    "                      --hosts a,b takes only these, and there are no others\n"
    "  --calm-restores     no host fails during a restore\n"
    "  --limit 1000h       jobs that take longer are given up (100 times the work)\n"
    "  --each              a line for each job\n"
    "replay only:\n"
    "  --platform FILE     the other machine, as SimGrid reads it\n"
    "  --speed 2Gf         flop/s of a core of the measured machine (as the first host)\n"
    "  --hosts N|a,b       the first N of its hosts, or these (all)\n"
    "  --ranks-per-host N  processes on each host (as many as it has cores)\n"
    "  --json              as above\n"
    "  --help, --version\n"
    "Units: ms, s, m, h, d; k, M, G, T.  The exit status is 0, 1 when a file cannot be\n"
    "read or written, 2 for a wrong call.\n";

/* Those of replay may be written with one dash, as the options of bspcc may. */
#define EITHER_DASH(kind) ((kind) | POPT_ARGFLAG_ONEDASH)

static const struct poptOption table[] = {
    {"work", '\0', POPT_ARG_STRING, NULL, ARG_WORK, NULL, NULL},
    {"hosts", '\0', EITHER_DASH(POPT_ARG_STRING), NULL, ARG_HOSTS, NULL, NULL},
    {"mtbf", '\0', POPT_ARG_STRING, NULL, ARG_MTBF, NULL, NULL},
    {"snapshot", '\0', POPT_ARG_STRING, NULL, ARG_SNAPSHOT, NULL, NULL},
    {"commit", '\0', POPT_ARG_STRING, NULL, ARG_COMMIT, NULL, NULL},
    {"restore", '\0', POPT_ARG_STRING, NULL, ARG_RESTORE, NULL, NULL},
    {"superstep", '\0', POPT_ARG_STRING, NULL, ARG_SUPERSTEP, NULL, NULL},
    {"seed", '\0', POPT_ARG_STRING, NULL, ARG_SEED, NULL, NULL},
    {"runs", '\0', POPT_ARG_STRING, NULL, ARG_RUNS, NULL, NULL},
    {"json", '\0', EITHER_DASH(POPT_ARG_NONE), NULL, ARG_JSON, NULL, NULL},
    {"image", '\0', POPT_ARG_STRING, NULL, ARG_IMAGE, NULL, NULL},
    {"bandwidth", '\0', POPT_ARG_STRING, NULL, ARG_BANDWIDTH, NULL, NULL},
    {"from-report", '\0', POPT_ARG_STRING, NULL, ARG_REPORT, NULL, NULL},
    {"svg", '\0', POPT_ARG_STRING, NULL, ARG_SVG, NULL, NULL},
    {"every", '\0', POPT_ARG_STRING, NULL, ARG_EVERY, NULL, NULL},
    {"overhead", '\0', POPT_ARG_STRING, NULL, ARG_OVERHEAD, NULL, NULL},
    {"prior", '\0', POPT_ARG_STRING, NULL, ARG_PRIOR, NULL, NULL},
    {"lives", '\0', POPT_ARG_STRING, NULL, ARG_LIVES, NULL, NULL},
    {"shape", '\0', POPT_ARG_STRING, NULL, ARG_SHAPE, NULL, NULL},
    {"doubling", '\0', POPT_ARG_STRING, NULL, ARG_DOUBLING, NULL, NULL},
    {"repair", '\0', POPT_ARG_STRING, NULL, ARG_REPAIR, NULL, NULL},
    {"trace", '\0', POPT_ARG_STRING, NULL, ARG_TRACE, NULL, NULL},
    {"calm-restores", '\0', POPT_ARG_NONE, NULL, ARG_CALM, NULL, NULL},
    {"limit", '\0', POPT_ARG_STRING, NULL, ARG_LIMIT, NULL, NULL},
    {"each", '\0', POPT_ARG_NONE, NULL, ARG_EACH, NULL, NULL},
    {"platform", '\0', EITHER_DASH(POPT_ARG_STRING), NULL, ARG_PLATFORM, NULL, NULL},
    {"speed", '\0', EITHER_DASH(POPT_ARG_STRING), NULL, ARG_SPEED, NULL, NULL},
    {"ranks-per-host", '\0', EITHER_DASH(POPT_ARG_STRING), NULL, ARG_PER_HOST, NULL, NULL},
    {"help", 'h', POPT_ARG_NONE | POPT_ARGFLAG_ONEDASH, NULL, ARG_HELP, NULL, NULL},
    {"version", '\0', POPT_ARG_NONE | POPT_ARGFLAG_ONEDASH, NULL, ARG_VERSION, NULL, NULL},
    POPT_TABLEEND,
};

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

static bool wrong(char error[ARGUMENTS_ERROR], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool wrong(char error[ARGUMENTS_ERROR], const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(error, ARGUMENTS_ERROR, format, list);
    va_end(list);
    return false;
}

static const char *name_of(enum argument argument)
{
    const struct poptOption *option = table;
    while (option->val != (int)argument)
        option++;
    return option->longName;
}

/* ---- Values ------------------------------------------------------------------------------- */

static bool take_amount(struct arguments *arguments, const struct amount *amount, const char *text,
                        char error[ARGUMENTS_ERROR])
{
    const char *name = name_of(amount->argument);
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
        return wrong(error,
                     "--%s %.80s: give a time such as 90s or 4h (units: " BSPZ_SECONDS_UNITS ")",
                     name, text);
    if (!good && amount->kind == A_SIZE)
        return wrong(error, "--%s %.80s: give a size such as 500M (units: " BSPZ_BYTES_UNITS ")",
                     name, text);
    if (!good)
        return wrong(error, "--%s %.80s: give a number from %g to %g", name, text, amount->least,
                     amount->most);
    if (value < amount->least || value > amount->most) {
        const char *unit = amount->kind == A_TIME ? "s" : "";
        return wrong(error, "--%s %.80s: it must be from %g%s to %g%s", name, text, amount->least,
                     unit, amount->most, unit);
    }
    *(double *)((char *)arguments + amount->offset) = value;
    return true;
}

static bool whole(const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
    char *end;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (errno || text[0] < '0' || text[0] > '9' || *end || number < least || number > most)
        return false;
    *value = number;
    return true;
}

static bool take_hosts(struct arguments *arguments, const char *text, char error[ARGUMENTS_ERROR])
{
    uint64_t number;
    if (text[strspn(text, "0123456789.+-")] != '\0') {
        arguments->host_names = strdup(text);
        return arguments->host_names || wrong(error, "out of memory");
    }
    if (!whole(text, 1, LIVES_HOSTS_MAX, &number))
        return wrong(error, "--hosts %.80s: give a number of hosts from 1 to %u", text,
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
    else if (whole(text, 1, UINT64_MAX - 1, &rule->every))
        rule->kind = POLICY_SUPERSTEPS;
    else if (bspz_seconds(text, &seconds) && seconds >= 1e-9 && seconds <= SECONDS_MAX) {
        rule->kind = POLICY_TIME;
        rule->every = (uint64_t)(seconds * 1e9);
    } else
        return wrong(error,
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
        return wrong(error, "--overhead %.80s: give a share of the time such as 5%%", text);
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
        return wrong(error,
                     "--speed %.80s: give the flop/s of a core such as 2.5Gf, from 1f to 1000Ef",
                     text);
    arguments->speed = speed;
    return true;
}

static bool take_per_host(struct arguments *arguments, const char *text,
                          char error[ARGUMENTS_ERROR])
{
    uint64_t number;
    if (!whole(text, 1, LIVES_HOSTS_MAX, &number))
        return wrong(error, "--ranks-per-host %.80s: give a number of processes from 1 to %u", text,
                     LIVES_HOSTS_MAX);
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
    return wrong(error, "--lives %.80s: %s%s%sgive exponential, weibull or lognormal", text,
                 nearest.best ? "did you mean " : "", nearest.best ? nearest.best : "",
                 nearest.best ? "?  " : "");
}

static bool take_text(char **place, const char *text, char error[ARGUMENTS_ERROR])
{
    free(*place);
    *place = strdup(text);
    return *place || wrong(error, "out of memory");
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
        return whole(text, 0, UINT64_MAX, &arguments->seed) ||
               wrong(error, "--seed %.80s: give a whole number", text);
    case ARG_RUNS:
        return whole(text, 1, RUNS_MAX, &arguments->runs) ||
               wrong(error, "--runs %.80s: give a number of jobs from 1 to %u", text, RUNS_MAX);
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

/* ---- What goes together ------------------------------------------------------------------- */

static bool missing(enum argument argument, const char *example, char error[ARGUMENTS_ERROR])
{
    return wrong(error, "--%s is missing: give it, such as --%s %s", name_of(argument),
                 name_of(argument), example);
}

static bool given(const struct arguments *arguments, enum argument argument)
{
    return argument_given(arguments, argument);
}

static bool exclude(const struct arguments *arguments, enum argument one, enum argument other,
                    const char *why, char error[ARGUMENTS_ERROR])
{
    if (!given(arguments, one) || !given(arguments, other))
        return true;
    return wrong(error, "--%s and --%s: %s", name_of(one), name_of(other), why);
}

/* The command that an option is for, when it is not for this one; else NULL. */
static const char *other_command(enum arguments_action action, enum argument argument)
{
    if (argument <= ARG_JSON)
        return action != ARGUMENTS_REPLAY || argument == ARG_HOSTS || argument == ARG_JSON
                   ? NULL
                   : "plan and run";
    if (argument <= ARG_SVG)
        return action == ARGUMENTS_PLAN ? NULL : "plan";
    if (argument <= ARG_EACH)
        return action == ARGUMENTS_RUN ? NULL : "run";
    return action == ARGUMENTS_REPLAY ? NULL : "replay";
}

static bool is_for_command(const struct arguments *arguments, char error[ARGUMENTS_ERROR])
{
    for (enum argument argument = ARG_WORK; argument <= ARG_PER_HOST; argument++) {
        const char *other = other_command(arguments->action, argument);
        if (other && given(arguments, argument))
            return wrong(error, "--%s is for bspsim %s", name_of(argument), other);
    }
    return true;
}

static bool check_plan(const struct arguments *arguments, char error[ARGUMENTS_ERROR])
{
    if (arguments->host_names)
        return wrong(error, "--hosts %.200s: give a number of hosts", arguments->host_names);
    if (!exclude(arguments, ARG_IMAGE, ARG_SNAPSHOT, "give one of them", error) ||
        !exclude(arguments, ARG_IMAGE, ARG_RESTORE, "give one of them", error) ||
        !exclude(arguments, ARG_IMAGE, ARG_REPORT, "give one of them", error))
        return false;
    if (given(arguments, ARG_IMAGE) != given(arguments, ARG_BANDWIDTH))
        return given(arguments, ARG_IMAGE) ? missing(ARG_BANDWIDTH, "500M", error)
                                           : missing(ARG_IMAGE, "2G", error);
    if (!given(arguments, ARG_WORK))
        return missing(ARG_WORK, "100h", error);
    if (arguments->report)
        return true; /* the others are optional */
    if (!given(arguments, ARG_HOSTS))
        return missing(ARG_HOSTS, "32", error);
    if (!given(arguments, ARG_MTBF))
        return missing(ARG_MTBF, "4h", error);
    if (given(arguments, ARG_IMAGE))
        return true;
    return given(arguments, ARG_SNAPSHOT)
               ? given(arguments, ARG_RESTORE) || missing(ARG_RESTORE, "50s", error)
               : missing(ARG_SNAPSHOT, "20s", error);
}

static bool check_trace(const struct arguments *arguments, char error[ARGUMENTS_ERROR])
{
    static const enum argument drawn[] = {ARG_MTBF, ARG_LIVES, ARG_SHAPE, ARG_DOUBLING, ARG_REPAIR};
    for (size_t i = 0; i < sizeof(drawn) / sizeof(drawn[0]); i++)
        if (!exclude(arguments, ARG_TRACE, drawn[i], "the trace says when hosts are up", error))
            return false;
    return exclude(arguments, ARG_TRACE, ARG_RUNS,
                   "there is one job of a trace, as nothing is left to chance", error);
}

static bool check_run(const struct arguments *arguments, char error[ARGUMENTS_ERROR])
{
    if (arguments->trace ? !check_trace(arguments, error) : !given(arguments, ARG_MTBF))
        return arguments->trace ? false : missing(ARG_MTBF, "4h", error);
    if (!arguments->trace && !given(arguments, ARG_HOSTS))
        return missing(ARG_HOSTS, "32", error);
    if (!arguments->trace && arguments->host_names)
        return wrong(error, "--hosts %.200s: names are for --trace; give a number of hosts",
                     arguments->host_names);
    if (given(arguments, ARG_SHAPE) && arguments->lives == LIVES_EXPONENTIAL)
        return wrong(error, "--shape is for --lives weibull or lognormal");
    if (arguments->calm && (arguments->trace || arguments->repair > 0))
        return wrong(error, "--calm-restores and --%s: a host that fails is missing afterwards",
                     name_of(arguments->trace ? ARG_TRACE : ARG_REPAIR));
    if (given(arguments, ARG_OVERHEAD) && arguments->rule.kind != POLICY_AUTO)
        return wrong(error, "--overhead is for --every auto");
    if (given(arguments, ARG_PRIOR) && arguments->rule.kind != POLICY_AUTO)
        return wrong(error, "--prior is for --every auto");
    if (!given(arguments, ARG_WORK))
        return missing(ARG_WORK, "100h", error);
    if (!given(arguments, ARG_SNAPSHOT))
        return missing(ARG_SNAPSHOT, "20s", error);
    if (!given(arguments, ARG_RESTORE))
        return missing(ARG_RESTORE, "50s", error);
    if (given(arguments, ARG_LIMIT) && arguments->limit < arguments->work)
        return wrong(error, "--limit is less than --work: no job would end");
    return true;
}

static bool check_replay(const struct arguments *arguments, char error[ARGUMENTS_ERROR])
{
    if (!arguments->profile)
        return wrong(error, "no profile given: bspsim replay PROF.bsp --platform FILE");
    return given(arguments, ARG_PLATFORM) || missing(ARG_PLATFORM, "cluster.xml", error);
}

/* ---- The line ----------------------------------------------------------------------------- */

static bool wrong_option(poptContext context, int code, char error[ARGUMENTS_ERROR])
{
    const char *word = poptBadOption(context, POPT_BADOPTION_NOALIAS);
    struct bspz_nearest nearest = bspz_nearest_to(word);
    if (code == POPT_ERROR_NOARG)
        return wrong(error, "%.80s needs a value after it; bspsim --help shows them all", word);
    if (code != POPT_ERROR_BADOPT)
        return wrong(error, "%.80s: %s", word, poptStrerror(code));
    for (const struct poptOption *option = table; option->longName; option++)
        bspz_nearest_offer(&nearest, option->longName);
    if (nearest.best)
        return wrong(error, "unknown option %.80s: did you mean --%s?  bspsim --help shows all",
                     word, nearest.best);
    return wrong(error, "unknown option %.80s: bspsim --help shows them all", word);
}

static bool check(const struct arguments *arguments, char error[ARGUMENTS_ERROR])
{
    if (!is_for_command(arguments, error))
        return false;
    switch (arguments->action) {
    case ARGUMENTS_PLAN:
        return check_plan(arguments, error);
    case ARGUMENTS_RUN:
        return check_run(arguments, error);
    default:
        return check_replay(arguments, error);
    }
}

static bool take_command(struct arguments *arguments, const char **words,
                         char error[ARGUMENTS_ERROR])
{
    static const char *const commands[] = {
        [ARGUMENTS_PLAN] = "plan", [ARGUMENTS_RUN] = "run", [ARGUMENTS_REPLAY] = "replay"};
    if (!words || !words[0])
        return wrong(error, "no command given: bspsim plan, bspsim run or bspsim replay; "
                            "bspsim --help says more");
    struct bspz_nearest nearest = bspz_nearest_to(words[0]);
    unsigned action = ARGUMENTS_PLAN;
    while (action <= ARGUMENTS_REPLAY && strcmp(words[0], commands[action]) != 0)
        bspz_nearest_offer(&nearest, commands[action++]);
    if (action > ARGUMENTS_REPLAY)
        return wrong(error, "there is no command %.80s%s%s; bspsim --help says more", words[0],
                     nearest.best ? ": did you mean " : "", nearest.best ? nearest.best : "");
    arguments->action = (enum arguments_action)action;
    const char **more = words + 1;
    if (action == ARGUMENTS_REPLAY && *more && !take_text(&arguments->profile, *more++, error))
        return false;
    if (*more)
        return wrong(error, "%.80s: a word too many; bspsim --help says more", *more);
    return check(arguments, error);
}

/* Sets defaults; that of the shape depends on the kind of lives. */
static void complete(struct arguments *arguments)
{
    if (!given(arguments, ARG_SHAPE))
        arguments->shape = arguments->lives == LIVES_LOGNORMAL ? 1.5 : 0.7;
    if (arguments->trace)
        arguments->lives = LIVES_TRACE;
    if (arguments->trace)
        arguments->runs = 1;
}

bool arguments_parse(int argc, const char **argv, struct arguments *arguments,
                     char error[ARGUMENTS_ERROR])
{
    *arguments = (struct arguments){.superstep = 1,
                                    .seed = 1,
                                    .runs = 400,
                                    .rule = {.kind = POLICY_AUTO, .every = 1, .overhead = 0.05}};
    poptContext context = poptGetContext("bspsim", argc, argv, table, 0);
    if (!context)
        return wrong(error, "out of memory");
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
