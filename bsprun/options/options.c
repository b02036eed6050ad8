/* options.c - bsprun's command line; see options.h. */
#include "bsprun/options/options.h"

#include <ctype.h>
#include <popt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/options/options_inside.h"
#include "lib/base/buffer.h"

const char options_help[] =
    "Usage: bsprun [OPTION...] PROGRAM [ARGUMENT...]   or   bsprun --restart DIR\n"
    "Runs a BSPlib program, linked with bspcc, on this host or on several hosts.\n"
    "  -np N, -n, -p, -npes  at most N processes (default: BSP_PROCS or all cores)\n"
    "  -x VAR[=VALUE] --export LIST  environment;  --wdir DIR --stdin PID\n"
    "  --bind-to core|hwthread|package|numa|none  default: a core each, if they fit\n"
    "  --timeout SECONDS     end the job after this time, with status 124; --stacks\n"
    "  --tag-output -splitio --timestamp-output --output DIR   form of the output\n"
    "  --report[=FILE] --progress --total-supersteps N  table at the end; progress\n"
    "  --debug PID|all --attach-on-error --xterm        gdb for processes of the job\n"
    "  -v, -vv               report Processor Zero; report all events and decisions\n"
    "  --report-bindings --display-map --dry-run --core --kill-on-bad-exit --version\n"
    "Snapshots, from which the job continues when processes or hosts fail:\n"
    "  --ckpt DIR            store them in DIR;  --max-restarts 10 --grace 30\n"
    "  --every auto|N|30s    optimal interval, every N supersteps, or by time\n"
    "  --restart DIR[@S]     continue from the newest, or that of S; --input-differs\n"
    "  --mtbf 300h --overhead 5% --no-history --async auto|on|off --keep 3|all\n"
    "  --on-refuse stop|continue --ckpt-exclude fd:N|path:GLOB|child --recover one\n"
    "Hosts: --hosts a:4,b:4, --hostfile FILE, the Slurm allocation, or this host.\n"
    "  --map-by slot|node --spares K --rejoin 60 --launcher ssh|slurm|CMD --copies 2\n"
    "  --heartbeat 10 --connect-timeout 30 --ports A-B --encrypt --oversubscribe\n"
    "  --replicas K|0=3,1-7=2 --replicas-on-host --replica-log 256M --on-mismatch end\n"
    "  --replica-files allow --owner-policy nice|yield|leave --dataspace-memory 4G\n"
    "  --load --balance off --precopy off;  as in old scripts: -restart -hostlist\n"
    "  -local -nolocal -noload.  Status: the program's; 128+N: signal N; 123: saved\n";

/* As it is written, and the option that it becomes. */
#define REPORT      "--report="
#define HTML        "html"
#define REPORT_PAGE "report-html"
#define BAD_EXIT    "--kill-on-bad-exit"

/* ---- Unknown options ---- */

static bool unknown(struct options *options, const char *word)
{
    const char *nearest = options_nearest(word);

    if (nearest)
        return options_wrong(options,
                             "unknown option %.80s: did you mean --%s?  bsprun --help shows all",
                             word, nearest);
    return options_wrong(options, "unknown option %.80s: bsprun --help shows them all", word);
}

static bool wrong_option(struct options *options, poptContext context, int error)
{
    const char *word = poptBadOption(context, POPT_BADOPTION_NOALIAS);

    if (strcmp(word, "--" REPORT_PAGE) == 0)
        word = REPORT HTML;
    if (error == POPT_ERROR_NOARG)
        return options_wrong(options, "%.80s needs a value after it; bsprun --help shows them all",
                             word);
    if (error != POPT_ERROR_BADOPT)
        return options_wrong(options, "%.80s: %s", word, poptStrerror(error));
    return unknown(options, word);
}

/* The word that popt has taken for -h, or for -n or -p with this value: -host, -nodes or -ppn,
 * which mpirun and srun have.  NULL: it was none. */
static const char *foreign_word(enum option_code code, const char *text, int argc,
                                const char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];

        if (code == OPT_HELP &&
            (strcmp(word, "-h") == 0 || strcmp(word, "-help") == 0 || strcmp(word, "--help") == 0))
            return NULL;
        if (code == OPT_HELP && strncmp(word, "-h", 2) == 0 &&
            !options_code(word + 1, strcspn(word + 1, "=")))
            return word;
        if (code == OPT_NP && text && isalpha((unsigned char)text[0]) &&
            !isdigit((unsigned char)text[1]) && /* -np4 */
            (strncmp(word, "-n", 2) == 0 || strncmp(word, "-p", 2) == 0) &&
            strcmp(word + 2, text) == 0)
            return word;
    }
    return NULL;
}

/* ---- One option after the other ---- */

static bool keep(struct options *options, enum option_code code, const char *text)
{
    if (!BSPZ_GROW(options->kept, (size_t)options->kept_count) ||
        asprintf(&options->kept[options->kept_count], "%s%s%s", options_name(code), text ? "=" : "",
                 text ? text : "") < 0)
        return options_wrong(options, "out of memory");
    options->kept_count++;
    return true;
}

/* The value of an option of neither hosts nor snapshots. */
static bool take_other(struct options *options, enum option_code code, const char *source,
                       const char *text)
{
    switch (code) {
    case OPT_NP:
        return options_take_processes(options, source, text);
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
        return options_take_export(options, text);
    case OPT_BIND:
        return options_take_bind(options, source, text);
    case OPT_DEBUG:
        return options_take_debug(options, source, text);
    case OPT_TIMEOUT:
        return options_take_timeout(options, source, text);
    case OPT_TOTAL:
        return options_take_total(options, source, text);
    case OPT_REPORT_FILE:
        return options_take_report(options, &options->report_file, REPORT, text);
    case OPT_REPORT_HTML:
        return options_take_report(options, &options->report_page, REPORT HTML " ", text);
    case OPT_HELP:
        options->action = OPTIONS_HELP;
        return false;
    case OPT_VERSION:
        options->action = OPTIONS_VERSION;
        return false;
    default:
        return options_take_run(options, code, source, text);
    }
}

bool options_take(struct options *options, enum option_code code, const char *source,
                  const char *text)
{
    enum option_subject subject = options_subject(code);
    bool *flag = options_flag(options, code);

    if (subject != OF_THIS_RUN && !keep(options, code, text))
        return false;
    if (flag) {
        *flag = true;
        return true;
    }
    if (subject == WHICH_HOSTS || subject == OF_HOSTS)
        return options_take_host(options, code, source, text);
    if (subject == OF_SNAPSHOTS || code == OPT_CKPT || code == OPT_RESTART)
        return options_take_snapshot(options, code, source, text);
    return take_other(options, code, source, text);
}

/* The option approximately as written: -np 4, but --every 5. */
static bool take_from_line(struct options *options, enum option_code code, const char *text)
{
    char source[64];

    if (code == OPT_NP && text[0] == 'p' && text[1] >= '0' && text[1] <= '9')
        text++; /* -np4 is read as -n with the value p4 */
    snprintf(source, sizeof source, "%s%s ", code == OPT_NP ? "-" : "--", options_name(code));
    options->given |= (option_set)1 << code;
    return options_take(options, code, source, text);
}

/* argv: before words were replaced, since those of the program must not be. */
static bool take_command(struct options *options, poptContext context, int argc, const char **argv)
{
    const char **rest = poptGetArgs(context);
    int length = 0;

    while (rest && rest[length])
        length++;
    if (length == 0 && options->snapshots.restart)
        return true; /* the snapshot says which program */
    if (length == 0)
        return options_wrong(options, "no program given: bsprun [OPTION...] PROGRAM [ARGUMENT...]");
    if (rest[0][0] == '\0')
        return options_wrong(options, "the name of the program is empty");
    options->command = calloc((size_t)length + 1, sizeof *options->command);
    if (!options->command)
        return options_wrong(options, "out of memory");
    for (int i = 0; i < length; i++) {
        options->command[i] = strdup(argv[argc - length + i]);
        if (!options->command[i])
            return options_wrong(options, "out of memory");
    }
    options->command_length = length;
    return true;
}

static bool take_environment(struct options *options)
{
    bool restart = options->snapshots.restart || options->snapshots.restart_old;
    const char *limit = restart ? NULL : options->lookup("BSP_PROCS");
    const char *faults = options->lookup(FAULT_VARIABLE);

    if (options->processes == 0 && limit && *limit &&
        !options_take_processes(options, "BSP_PROCS=", limit))
        return false;
    if (!options_complete_run(options) || !options_complete_debug(options))
        return false;
    if (!faults_parse(faults, &options->faults))
        return options_wrong(options, "%s=%.80s is not understood", FAULT_VARIABLE, faults);
    return true;
}

/* Whether it is that option, which is given with two dashes, with two or with one. */
static bool is_option(const char *word, const char *option, size_t length)
{
    return word[0] == '-' && strncmp(word + (word[1] == '-'), option + 1, length - 1) == 0;
}

/* popt does not support optional values: --report with a value is another option.  That of a page
 * has the file as its next word.  --kill-on-bad-exit always has its value. */
static char *replaced(const char *word)
{
    const char *value = strchr(word, '=');
    char *other;

    if (strcmp(word, "-K") == 0 || is_option(word, BAD_EXIT, sizeof BAD_EXIT))
        return strdup(BAD_EXIT "=1");
    if (!value || !is_option(word, REPORT, strlen(REPORT)))
        return strdup(word);
    if (strcmp(value + 1, HTML) == 0)
        return strdup("--" REPORT_PAGE);
    return asprintf(&other, "--report-file=%s", value + 1) < 0 ? NULL : other;
}

static const char **replace_words(int argc, const char **argv)
{
    const char **words = calloc((size_t)argc + 1, sizeof *words);

    for (int i = 0; words && i < argc; i++)
        words[i] = replaced(argv[i]);
    return words;
}

static void free_words(int argc, const char **words)
{
    for (int i = 0; words && i < argc; i++)
        free((char *)words[i]);
    free(words);
}

void options_parse(int argc, const char **argv, options_lookup *lookup, struct options *options)
{
    poptContext context;
    const char **words;
    bool good = true;
    int code;

    memset(options, 0, sizeof *options);
    options->stdio = WIRE_STDIO_INHERIT;
    options->bind = WIRE_BIND_DEFAULT;
    options->lookup = lookup;
    options_snapshot_defaults(&options->snapshots);
    options_host_defaults(&options->hosts);
    words = replace_words(argc, argv);
    context =
        words ? poptGetContext("bsprun", argc, words, options_popt(), POPT_CONTEXT_POSIXMEHARDER)
              : NULL;
    if (!context) {
        free_words(argc, words);
        options_wrong(options, "out of memory");
        return;
    }
    while (good && (code = poptGetNextOpt(context)) > 0) {
        char *text = poptGetOptArg(context);
        const char *foreign = foreign_word((enum option_code)code, text, argc, argv);

        good = foreign ? unknown(options, foreign)
                       : take_from_line(options, (enum option_code)code, text);
        free(text);
    }
    if (good && code < -1)
        good = wrong_option(options, context, code);
    if (good && take_command(options, context, argc, argv))
        take_environment(options);
    poptFreeContext(context);
    free_words(argc, words);
}

void options_free(struct options *options)
{
    for (int i = 0; i < options->export_count; i++)
        free((char *)options->exports[i]);
    free(options->exports);
    for (int i = 0; i < options->command_length; i++)
        free(options->command[i]);
    free(options->command);
    free(options->report_file);
    free(options->report_page);
    for (int i = 0; i < options->kept_count; i++)
        free(options->kept[i]);
    free(options->kept);
    options_free_run(&options->run);
    options_free_debug(&options->debug);
    options_free_snapshots(&options->snapshots);
    options_free_hosts(&options->hosts);
    memset(options, 0, sizeof *options);
}
