/* options.c - bsprun's command line; see options.h. */
#include "bsprun/options.h"

#include <errno.h>
#include <math.h>
#include <popt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/shm/board.h"

#define TIMEOUT_MAX         1e9 /* seconds */
#define SUGGESTION_DISTANCE 2

const char options_help[] =
    "Usage: bsprun [OPTION...] PROGRAM [ARGUMENT...]\n"
    "Runs a BSPlib program, linked with bspcc, on the cores of this machine.\n"
    "\n"
    "  -np N, -n, -p, -npes  at most N processes (else BSP_PROCS, else one per core)\n"
    "  -x VAR[=VALUE]        pass or set an environment variable\n"
    "  --bind core|none      one core per process (default if they fit), or none\n"
    "  --timeout SECONDS     end the job after that time, with status 124\n"
    "\n"
    "  --tag-output          put the process number before every line of output\n"
    "  -splitio              a banner wherever output of another process begins\n"
    "  --report              table at the end: time, supersteps, bytes, memory\n"
    "  --progress            superstep, rate and time while the job runs\n"
    "  -v, -vv               say who is Processor Zero; all that it sees and decides\n"
    "  --core                allow core dumps\n"
    "  -help, --version\n"
    "\n"
    "Also taken, for old scripts: -local -nolocal -noload (there is but one host),\n"
    "-hostlist FILE (not read), -restart (nothing is saved, so it starts anew).\n"
    "\n"
    "The exit status is the program's; 128+N when a process died of signal N; 2 for a\n"
    "wrong call, 126 or 127 when the program cannot be started.  Ctrl-C ends the job,\n"
    "a second one at once.\n";

enum option_code {
    OPT_NP = 1,
    OPT_VERBOSE,
    OPT_SPLIT,
    OPT_TAG,
    OPT_EXPORT,
    OPT_BIND,
    OPT_TIMEOUT,
    OPT_REPORT,
    OPT_PROGRESS,
    OPT_CORE,
    OPT_HELP,
    OPT_VERSION,
    OPT_OLD_HARMLESS,
    OPT_OLD_HOSTLIST,
    OPT_OLD_RESTART,
};

#define OLD POPT_ARGFLAG_ONEDASH /* -name as well as --name */

static const struct poptOption table[] = {
    {"np", 'n', POPT_ARG_STRING | OLD, NULL, OPT_NP, NULL, NULL},
    {"npes", 'p', POPT_ARG_STRING | OLD, NULL, OPT_NP, NULL, NULL},
    {"verbose", 'v', POPT_ARG_NONE, NULL, OPT_VERBOSE, NULL, NULL},
    {"splitio", '\0', POPT_ARG_NONE | OLD, NULL, OPT_SPLIT, NULL, NULL},
    {"tag-output", '\0', POPT_ARG_NONE | OLD, NULL, OPT_TAG, NULL, NULL},
    {NULL, 'x', POPT_ARG_STRING, NULL, OPT_EXPORT, NULL, NULL},
    {"bind", '\0', POPT_ARG_STRING | OLD, NULL, OPT_BIND, NULL, NULL},
    {"timeout", '\0', POPT_ARG_STRING | OLD, NULL, OPT_TIMEOUT, NULL, NULL},
    {"report", '\0', POPT_ARG_NONE | OLD, NULL, OPT_REPORT, NULL, NULL},
    {"progress", '\0', POPT_ARG_NONE | OLD, NULL, OPT_PROGRESS, NULL, NULL},
    {"core", '\0', POPT_ARG_NONE | OLD, NULL, OPT_CORE, NULL, NULL},
    {"help", 'h', POPT_ARG_NONE | OLD, NULL, OPT_HELP, NULL, NULL},
    {"version", '\0', POPT_ARG_NONE | OLD, NULL, OPT_VERSION, NULL, NULL},
    {"local", '\0', POPT_ARG_NONE | OLD, NULL, OPT_OLD_HARMLESS, NULL, NULL},
    {"nolocal", '\0', POPT_ARG_NONE | OLD, NULL, OPT_OLD_HARMLESS, NULL, NULL},
    {"noload", '\0', POPT_ARG_NONE | OLD, NULL, OPT_OLD_HARMLESS, NULL, NULL},
    {"hostlist", '\0', POPT_ARG_STRING | OLD, NULL, OPT_OLD_HOSTLIST, NULL, NULL},
    {"restart", '\0', POPT_ARG_NONE | OLD, NULL, OPT_OLD_RESTART, NULL, NULL},
    POPT_TABLEEND,
};

__attribute__((format(printf, 2, 3))) static bool wrong(struct options *options, const char *format,
                                                        ...)
{
    va_list arguments;

    options->action = OPTIONS_ERROR;
    va_start(arguments, format);
    vsnprintf(options->error, sizeof options->error, format, arguments);
    va_end(arguments);
    return false;
}

__attribute__((format(printf, 2, 3))) static void add_note(struct options *options,
                                                           const char *format, ...)
{
    size_t used = strlen(options->note);
    va_list arguments;

    if (used > 0)
        used += (size_t)snprintf(options->note + used, sizeof options->note - used, "; ");
    if (used >= sizeof options->note)
        return;
    va_start(arguments, format);
    vsnprintf(options->note + used, sizeof options->note - used, format, arguments);
    va_end(arguments);
}

/* ---- Values ---- */

/* `source` is what stands before the value in the message: "-np " or "BSP_PROCS=". */
static bool take_processes(struct options *options, const char *source, const char *text)
{
    char *end;
    long value;

    errno = 0;
    value = strtol(text, &end, 10);
    if (end == text || *end)
        return wrong(options, "%s%.80s is not a number of processes: give 1 to %d", source, text,
                     BSPZ_MAX_PROCS);
    if (errno || value < 1 || value > BSPZ_MAX_PROCS)
        return wrong(options, "%s%.80s: the number of processes must be from 1 to %d", source, text,
                     BSPZ_MAX_PROCS);
    options->processes = (int)value;
    return true;
}

static bool take_timeout(struct options *options, const char *text)
{
    char *end;
    double value;

    errno = 0;
    value = strtod(text, &end);
    if (end == text || *end || errno || !isfinite(value) || value <= 0 || value > TIMEOUT_MAX)
        return wrong(options, "--timeout %.80s: give a number of seconds greater than 0", text);
    options->timeout = value;
    return true;
}

static bool take_bind(struct options *options, const char *text)
{
    if (strcmp(text, "core") == 0)
        options->bind = WIRE_BIND_CORE;
    else if (strcmp(text, "none") == 0)
        options->bind = WIRE_BIND_NONE;
    else
        return wrong(options, "--bind %.80s: give core or none", text);
    return true;
}

static bool take_export(struct options *options, options_lookup *lookup, const char *text)
{
    size_t length = strcspn(text, "=");
    const char *value;
    const char **more;
    char *assignment;

    if (length == 0)
        return wrong(options, "-x %.80s: give a variable, as in -x VAR or -x VAR=value", text);
    value = text[length] ? text + length + 1 : lookup(text);
    if (!value)
        return wrong(options,
                     "-x %.80s: no such variable in the environment; -x %.80s=value sets it", text,
                     text);
    more = realloc(options->exports, ((size_t)options->export_count + 1) * sizeof *more);
    if (!more)
        return wrong(options, "out of memory");
    options->exports = more;
    if (asprintf(&assignment, "%.*s=%s", (int)length, text, value) < 0)
        return wrong(options, "out of memory");
    options->exports[options->export_count++] = assignment;
    return true;
}

/* ---- Unknown options ---- */

static int smallest(int a, int b, int c)
{
    int ab = a < b ? a : b;

    return ab < c ? ab : c;
}

/* Insertions, deletions and changes of a letter that lead from one word to the other. */
static int distance(const char *from, const char *to)
{
    int row[64];
    int length = (int)strlen(to);

    if (length >= 64)
        return 64;
    for (int i = 0; i <= length; i++)
        row[i] = i;
    for (int line = 1; *from; from++, line++) {
        int diagonal = row[0];

        row[0] = line;
        for (int i = 1; i <= length; i++) {
            int above = row[i];

            row[i] = smallest(above + 1, row[i - 1] + 1, diagonal + (*from != to[i - 1]));
            diagonal = above;
        }
    }
    return row[length];
}

static const char *nearest_option(const char *word)
{
    const char *nearest = NULL;
    int best = SUGGESTION_DISTANCE + 1;

    word += strspn(word, "-");
    for (const struct poptOption *option = table; option->longName || option->shortName; option++) {
        int d = option->longName ? distance(word, option->longName) : best;

        if (d < best) {
            best = d;
            nearest = option->longName;
        }
    }
    return nearest;
}

static bool wrong_option(struct options *options, poptContext context, int error)
{
    const char *word = poptBadOption(context, POPT_BADOPTION_NOALIAS);
    const char *nearest = nearest_option(word);

    if (error == POPT_ERROR_NOARG)
        return wrong(options, "%.80s needs a value after it; bsprun --help shows them all", word);
    if (error != POPT_ERROR_BADOPT)
        return wrong(options, "%.80s: %s", word, poptStrerror(error));
    if (nearest)
        return wrong(options, "unknown option %.80s: did you mean --%s?  bsprun --help shows all",
                     word, nearest);
    return wrong(options, "unknown option %.80s: bsprun --help shows them all", word);
}

/* ---- One option after the other ---- */

static bool take_option(struct options *options, options_lookup *lookup, int code, const char *text)
{
    switch ((enum option_code)code) {
    case OPT_NP:
        return take_processes(options, "-np ", text);
    case OPT_VERBOSE:
        if (options->verbosity < 2)
            options->verbosity++;
        return true;
    case OPT_SPLIT:
        options->stdio = WIRE_STDIO_SPLIT;
        return true;
    case OPT_TAG:
        options->stdio = WIRE_STDIO_TAG;
        return true;
    case OPT_EXPORT:
        return take_export(options, lookup, text);
    case OPT_BIND:
        return take_bind(options, text);
    case OPT_TIMEOUT:
        return take_timeout(options, text);
    case OPT_REPORT:
        options->report = true;
        return true;
    case OPT_PROGRESS:
        options->progress = true;
        return true;
    case OPT_CORE:
        options->core_dumps = true;
        return true;
    case OPT_HELP:
        options->action = OPTIONS_HELP;
        return false;
    case OPT_VERSION:
        options->action = OPTIONS_VERSION;
        return false;
    case OPT_OLD_HARMLESS:
        return true;
    case OPT_OLD_HOSTLIST:
        add_note(options, "-hostlist %.80s is not read: all processes run on this host", text);
        return true;
    case OPT_OLD_RESTART:
        add_note(options, "-restart: no saved state exists, the program starts from the beginning");
        return true;
    }
    return true;
}

static bool take_command(struct options *options, poptContext context)
{
    const char **rest = poptGetArgs(context);
    int length = 0;

    while (rest && rest[length])
        length++;
    if (length == 0)
        return wrong(options, "no program given: bsprun [OPTION...] PROGRAM [ARGUMENT...]");
    if (rest[0][0] == '\0')
        return wrong(options, "the name of the program is empty");
    options->command = calloc((size_t)length + 1, sizeof *options->command);
    if (!options->command)
        return wrong(options, "out of memory");
    for (int i = 0; i < length; i++) {
        options->command[i] = strdup(rest[i]);
        if (!options->command[i])
            return wrong(options, "out of memory");
    }
    options->command_length = length;
    return true;
}

static bool take_environment(struct options *options, options_lookup *lookup)
{
    const char *limit = lookup("BSP_PROCS");
    const char *faults = lookup(FAULT_VARIABLE);

    if (options->processes == 0 && limit && *limit && !take_processes(options, "BSP_PROCS=", limit))
        return false;
    if (!faults_parse(faults, &options->faults))
        return wrong(options, "%s=%.80s is not understood", FAULT_VARIABLE, faults);
    return true;
}

void options_parse(int argc, const char **argv, options_lookup *lookup, struct options *options)
{
    poptContext context;
    bool good = true;
    int code;

    memset(options, 0, sizeof *options);
    options->stdio = WIRE_STDIO_INHERIT;
    options->bind = WIRE_BIND_DEFAULT;
    context = poptGetContext("bsprun", argc, argv, table, POPT_CONTEXT_POSIXMEHARDER);
    if (!context) {
        wrong(options, "out of memory");
        return;
    }
    while (good && (code = poptGetNextOpt(context)) > 0) {
        char *text = poptGetOptArg(context);

        good = take_option(options, lookup, code, text);
        free(text);
    }
    if (good && code < -1)
        good = wrong_option(options, context, code);
    if (good && take_command(options, context))
        take_environment(options, lookup);
    poptFreeContext(context);
}

void options_free(struct options *options)
{
    for (int i = 0; i < options->export_count; i++)
        free((char *)options->exports[i]);
    free(options->exports);
    for (int i = 0; i < options->command_length; i++)
        free(options->command[i]);
    free(options->command);
    memset(options, 0, sizeof *options);
}
