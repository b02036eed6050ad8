/* options.c - bsprun's command line; see options.h. */
#include "bsprun/options/options.h"

#include <popt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/options/options_inside.h"
#include "lib/base/buffer.h"
#include "lib/base/nearest.h"

const char options_help[] =
    "Usage: bsprun [OPTION...] PROGRAM [ARGUMENT...]   or   bsprun --restart DIR\n"
    "Runs a BSPlib program, linked with bspcc, on this host or on several hosts.\n"
    "  -np N, -n, -p, -npes  at most N processes (default: BSP_PROCS or all cores)\n"
    "  -x VAR[=VALUE] --export LIST  environment;  --wdir DIR --stdin PID\n"
    "  --bind-to core|hwthread|package|numa|none  default: a core each, if they fit\n"
    "  --timeout SECONDS     end the job after this time, with status 124\n"
    "  --tag-output -splitio --timestamp-output --output DIR   form of the output\n"
    "  --report --progress --total-supersteps N  table at the end; progress line\n"
    "  -v, -vv               report Processor Zero; report all events and decisions\n"
    "  --core --kill-on-bad-exit --display-map --dry-run;  -help, --version\n"
    "Snapshots, from which the job continues when processes or hosts fail:\n"
    "  --ckpt DIR            store them in DIR\n"
    "  --every auto|N|30s    optimal interval, every N supersteps, or by time\n"
    "  --mtbf 300h           mean time between failures of a host;  --no-history\n"
    "  --restart DIR[@S]     continue from the newest, or that of S; --input-differs\n"
    "  --overhead 5% --async auto|on|off --keep 3|all --max-restarts 10 --grace 30\n"
    "  --on-refuse stop|continue --ckpt-exclude fd:N|path:GLOB|child --recover one\n"
    "Hosts: --hosts a:4,b:4, --hostfile FILE, the Slurm allocation, or this host.\n"
    "  --map-by slot|node --spares K --rejoin 60 --launcher ssh|slurm|CMD --copies 2\n"
    "  --heartbeat 10 --ports A-B --encrypt --oversubscribe --load --balance off\n"
    "  --replicas K|0=3,1-7=2 --replicas-on-host --replica-log 256M --on-mismatch end\n"
    "  --replica-files allow --owner-policy nice|yield|leave --precopy off\n"
    "For old scripts: -restart (./PROGRAM.ckpt) -local -nolocal -noload -hostlist.\n"
    "Exit status: the program's; 128+N: killed by signal N; 123: saved; 2: bad usage\n";

#define OLD POPT_ARGFLAG_ONEDASH /* -name as well as --name */

static const struct poptOption table[] = {
    {"np", 'n', POPT_ARG_STRING | OLD, NULL, OPT_NP, NULL, NULL},
    {"npes", 'p', POPT_ARG_STRING | OLD, NULL, OPT_NP, NULL, NULL},
    {"verbose", 'v', POPT_ARG_NONE, NULL, OPT_VERBOSE, NULL, NULL},
    {"splitio", '\0', POPT_ARG_NONE | OLD, NULL, OPT_SPLIT, NULL, NULL},
    {"tag-output", '\0', POPT_ARG_NONE | OLD, NULL, OPT_TAG, NULL, NULL},
    {NULL, 'x', POPT_ARG_STRING, NULL, OPT_EXPORT, NULL, NULL},
    {"bind-to", '\0', POPT_ARG_STRING | OLD, NULL, OPT_BIND, NULL, NULL},
    {"bind", '\0', POPT_ARG_STRING | OLD, NULL, OPT_BIND, NULL, NULL},
    {"report-bindings", '\0', POPT_ARG_NONE | OLD, NULL, OPT_BINDINGS, NULL, NULL},
    {"wdir", '\0', POPT_ARG_STRING | OLD, NULL, OPT_WDIR, NULL, NULL},
    {"dry-run", '\0', POPT_ARG_NONE | OLD, NULL, OPT_DRY_RUN, NULL, NULL},
    {"display-map", '\0', POPT_ARG_NONE | OLD, NULL, OPT_DISPLAY_MAP, NULL, NULL},
    {"output", '\0', POPT_ARG_STRING | OLD, NULL, OPT_OUTPUT, NULL, NULL},
    {"timestamp-output", '\0', POPT_ARG_NONE | OLD, NULL, OPT_TIMES, NULL, NULL},
    {"export", '\0', POPT_ARG_STRING | OLD, NULL, OPT_EXPORT_LIST, NULL, NULL},
    {"stdin", '\0', POPT_ARG_STRING | OLD, NULL, OPT_STDIN, NULL, NULL},
    {"dataspace-memory", '\0', POPT_ARG_STRING | OLD, NULL, OPT_DATASPACE_MEMORY, NULL, NULL},
    {"stacks", '\0', POPT_ARG_NONE | OLD, NULL, OPT_STACKS, NULL, NULL},
    {"debug", '\0', POPT_ARG_STRING | OLD, NULL, OPT_DEBUG, NULL, NULL},
    {"attach-on-error", '\0', POPT_ARG_NONE | OLD, NULL, OPT_ATTACH, NULL, NULL},
    {"xterm", '\0', POPT_ARG_NONE | OLD, NULL, OPT_XTERM, NULL, NULL},
    {"kill-on-bad-exit", 'K', POPT_ARG_STRING, NULL, OPT_BAD_EXIT, NULL, NULL},
    {"timeout", '\0', POPT_ARG_STRING | OLD, NULL, OPT_TIMEOUT, NULL, NULL},
    {"report", '\0', POPT_ARG_NONE | OLD, NULL, OPT_REPORT, NULL, NULL},
    {"progress", '\0', POPT_ARG_NONE | OLD, NULL, OPT_PROGRESS, NULL, NULL},
    {"total-supersteps", '\0', POPT_ARG_STRING, NULL, OPT_TOTAL, NULL, NULL},
    {"core", '\0', POPT_ARG_NONE | OLD, NULL, OPT_CORE, NULL, NULL},
    {"report-file", '\0', POPT_ARG_STRING, NULL, OPT_REPORT_FILE, NULL, NULL},
    {"report-html", '\0', POPT_ARG_STRING, NULL, OPT_REPORT_HTML, NULL, NULL},
    {"no-history", '\0', POPT_ARG_NONE | OLD, NULL, OPT_NO_HISTORY, NULL, NULL},
    {"input-differs", '\0', POPT_ARG_NONE | OLD, NULL, OPT_INPUT_DIFFERS, NULL, NULL},
    {"help", 'h', POPT_ARG_NONE | OLD, NULL, OPT_HELP, NULL, NULL},
    {"version", '\0', POPT_ARG_NONE | OLD, NULL, OPT_VERSION, NULL, NULL},
    {"hosts", '\0', POPT_ARG_STRING | OLD, NULL, OPT_HOSTS, NULL, NULL},
    {"hostfile", '\0', POPT_ARG_STRING | OLD, NULL, OPT_HOSTFILE, NULL, NULL},
    {"map-by", '\0', POPT_ARG_STRING | OLD, NULL, OPT_MAP_BY, NULL, NULL},
    {"spares", '\0', POPT_ARG_STRING | OLD, NULL, OPT_SPARES, NULL, NULL},
    {"launcher", '\0', POPT_ARG_STRING | OLD, NULL, OPT_LAUNCHER, NULL, NULL},
    {"heartbeat", '\0', POPT_ARG_STRING | OLD, NULL, OPT_HEARTBEAT, NULL, NULL},
    {"connect-timeout", '\0', POPT_ARG_STRING | OLD, NULL, OPT_CONNECT_TIMEOUT, NULL, NULL},
    {"ports", '\0', POPT_ARG_STRING | OLD, NULL, OPT_PORTS, NULL, NULL},
    {"copies", '\0', POPT_ARG_STRING | OLD, NULL, OPT_COPIES, NULL, NULL},
    {"replicas", '\0', POPT_ARG_STRING | OLD, NULL, OPT_REPLICAS, NULL, NULL},
    {"replicas-on-host", '\0', POPT_ARG_NONE | OLD, NULL, OPT_REPLICAS_ON_HOST, NULL, NULL},
    {"replica-files", '\0', POPT_ARG_STRING | OLD, NULL, OPT_REPLICA_FILES, NULL, NULL},
    {"on-mismatch", '\0', POPT_ARG_STRING | OLD, NULL, OPT_ON_MISMATCH, NULL, NULL},
    {"replica-log", '\0', POPT_ARG_STRING | OLD, NULL, OPT_REPLICA_LOG, NULL, NULL},
    {"encrypt", '\0', POPT_ARG_NONE | OLD, NULL, OPT_ENCRYPT, NULL, NULL},
    {"oversubscribe", '\0', POPT_ARG_NONE | OLD, NULL, OPT_OVERSUBSCRIBE, NULL, NULL},
    {"balance", '\0', POPT_ARG_STRING | OLD, NULL, OPT_BALANCE, NULL, NULL},
    {"precopy", '\0', POPT_ARG_STRING | OLD, NULL, OPT_PRECOPY, NULL, NULL},
    {"rejoin", '\0', POPT_ARG_STRING | OLD, NULL, OPT_REJOIN, NULL, NULL},
    {"owner-policy", '\0', POPT_ARG_STRING | OLD, NULL, OPT_OWNER_POLICY, NULL, NULL},
    {"load", '\0', POPT_ARG_NONE | OLD, NULL, OPT_LOAD, NULL, NULL},
    {"local", '\0', POPT_ARG_NONE | OLD, NULL, OPT_OLD_LOCAL, NULL, NULL},
    {"nolocal", '\0', POPT_ARG_NONE | OLD, NULL, OPT_OLD_NOLOCAL, NULL, NULL},
    {"noload", '\0', POPT_ARG_NONE | OLD, NULL, OPT_OLD_LOCAL, NULL, NULL},
    {"hostlist", '\0', POPT_ARG_STRING | OLD, NULL, OPT_OLD_HOSTLIST, NULL, NULL},
    {"ckpt", '\0', POPT_ARG_STRING | OLD, NULL, OPT_CKPT, NULL, NULL},
    {"every", '\0', POPT_ARG_STRING | OLD, NULL, OPT_EVERY, NULL, NULL},
    {"overhead", '\0', POPT_ARG_STRING | OLD, NULL, OPT_OVERHEAD, NULL, NULL},
    {"mtbf", '\0', POPT_ARG_STRING | OLD, NULL, OPT_MTBF, NULL, NULL},
    {"async", '\0', POPT_ARG_STRING | OLD, NULL, OPT_ASYNC, NULL, NULL},
    {"keep", '\0', POPT_ARG_STRING | OLD, NULL, OPT_KEEP, NULL, NULL},
    {"max-restarts", '\0', POPT_ARG_STRING | OLD, NULL, OPT_MAX_RESTARTS, NULL, NULL},
    {"ckpt-exclude", '\0', POPT_ARG_STRING | OLD, NULL, OPT_EXCLUDE, NULL, NULL},
    {"on-refuse", '\0', POPT_ARG_STRING | OLD, NULL, OPT_ON_REFUSE, NULL, NULL},
    {"recover", '\0', POPT_ARG_STRING | OLD, NULL, OPT_RECOVER, NULL, NULL},
    {"grace", '\0', POPT_ARG_STRING | OLD, NULL, OPT_GRACE, NULL, NULL},
    /* With two dashes it takes a value; with one it is the Oxford toolset's, without one. */
    {"restart", '\0', POPT_ARG_STRING, NULL, OPT_RESTART, NULL, NULL},
    {"restart", '\0', POPT_ARG_NONE | OLD, NULL, OPT_OLD_RESTART, NULL, NULL},
    POPT_TABLEEND,
};

enum option_subject options_subject(enum option_code code)
{
    static const enum option_subject subjects[OPT_COUNT] = {
        [OPT_DISPLAY_MAP] = OF_THE_JOB,
        [OPT_OUTPUT] = OF_THE_JOB,
        [OPT_TIMES] = OF_THE_JOB,
        [OPT_STDIN] = OF_THE_JOB,
        [OPT_SPLIT] = OF_THE_JOB,
        [OPT_TAG] = OF_THE_JOB,
        [OPT_BIND] = OF_THE_JOB,
        [OPT_TIMEOUT] = OF_THE_JOB,
        [OPT_REPORT] = OF_THE_JOB,
        [OPT_TOTAL] = OF_THE_JOB,
        [OPT_CORE] = OF_THE_JOB,
        [OPT_HOSTS] = WHICH_HOSTS,
        [OPT_HOSTFILE] = WHICH_HOSTS,
        [OPT_OLD_HOSTLIST] = WHICH_HOSTS,
        [OPT_OLD_LOCAL] = WHICH_HOSTS,
        [OPT_OLD_NOLOCAL] = WHICH_HOSTS,
        [OPT_MAP_BY] = OF_HOSTS,
        [OPT_SPARES] = OF_HOSTS,
        [OPT_LAUNCHER] = OF_HOSTS,
        [OPT_HEARTBEAT] = OF_HOSTS,
        [OPT_CONNECT_TIMEOUT] = OF_HOSTS,
        [OPT_PORTS] = OF_HOSTS,
        [OPT_COPIES] = OF_HOSTS,
        [OPT_REPLICAS] = OF_HOSTS,
        [OPT_REPLICAS_ON_HOST] = OF_HOSTS,
        [OPT_REPLICA_LOG] = OF_HOSTS,
        [OPT_ON_MISMATCH] = OF_HOSTS,
        [OPT_REPLICA_FILES] = OF_HOSTS,
        [OPT_ENCRYPT] = OF_HOSTS,
        [OPT_OVERSUBSCRIBE] = OF_HOSTS,
        [OPT_LOAD] = OF_HOSTS,
        [OPT_PRECOPY] = OF_HOSTS,
        [OPT_REJOIN] = OF_HOSTS,
        [OPT_BALANCE] = OF_HOSTS,
        [OPT_OWNER_POLICY] = OF_HOSTS,
        [OPT_EVERY] = OF_SNAPSHOTS,
        [OPT_OVERHEAD] = OF_SNAPSHOTS,
        [OPT_MTBF] = OF_SNAPSHOTS,
        [OPT_ASYNC] = OF_SNAPSHOTS,
        [OPT_KEEP] = OF_SNAPSHOTS,
        [OPT_MAX_RESTARTS] = OF_SNAPSHOTS,
        [OPT_EXCLUDE] = OF_SNAPSHOTS,
        [OPT_ON_REFUSE] = OF_SNAPSHOTS,
        [OPT_RECOVER] = OF_SNAPSHOTS,
        [OPT_GRACE] = OF_SNAPSHOTS,
        [OPT_DATASPACE_MEMORY] = OF_THE_JOB,
        [OPT_BINDINGS] = OF_THE_JOB,
        [OPT_BAD_EXIT] = OF_THE_JOB,
    };

    return subjects[code];
}

/* ---- Unknown options ---- */

static const char *nearest_option(const char *word)
{
    struct bspz_nearest nearest = bspz_nearest_to(word);

    for (const struct poptOption *option = table; option->longName || option->shortName; option++)
        if (option->longName)
            bspz_nearest_offer(&nearest, option->longName);
    return nearest.best;
}

static bool wrong_option(struct options *options, poptContext context, int error)
{
    const char *word = poptBadOption(context, POPT_BADOPTION_NOALIAS);
    const char *nearest = nearest_option(word);

    if (error == POPT_ERROR_NOARG)
        return options_wrong(options, "%.80s needs a value after it; bsprun --help shows them all",
                             word);
    if (error != POPT_ERROR_BADOPT)
        return options_wrong(options, "%.80s: %s", word, poptStrerror(error));
    if (nearest)
        return options_wrong(options,
                             "unknown option %.80s: did you mean --%s?  bsprun --help shows all",
                             word, nearest);
    return options_wrong(options, "unknown option %.80s: bsprun --help shows them all", word);
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

bool options_take(struct options *options, enum option_code code, const char *source,
                  const char *text)
{
    if (options_subject(code) != OF_THIS_RUN && !keep(options, code, text))
        return false;
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
    case OPT_WDIR:
    case OPT_DRY_RUN:
    case OPT_DISPLAY_MAP:
    case OPT_OUTPUT:
    case OPT_TIMES:
    case OPT_EXPORT_LIST:
    case OPT_STDIN:
    case OPT_DATASPACE_MEMORY:
    case OPT_BINDINGS:
    case OPT_STACKS:
    case OPT_BAD_EXIT:
        return options_take_run(options, code, source, text);
    case OPT_DEBUG:
        return options_take_debug(options, source, text);
    case OPT_ATTACH:
        options->debug.attach = true;
        return true;
    case OPT_XTERM:
        options->debug.xterm = true;
        return true;
    case OPT_TIMEOUT:
        return options_take_timeout(options, source, text);
    case OPT_REPORT:
        options->report = true;
        return true;
    case OPT_PROGRESS:
        options->progress = true;
        return true;
    case OPT_TOTAL:
        return options_take_total(options, source, text);
    case OPT_CORE:
        options->core_dumps = true;
        return true;
    case OPT_REPORT_FILE:
        return options_take_report(options, &options->report_file, source, text);
    case OPT_REPORT_HTML:
        return options_take_report(options, &options->report_page, source, text);
    case OPT_NO_HISTORY:
        options->no_history = true;
        return true;
    case OPT_INPUT_DIFFERS:
        options->input_differs = true;
        return true;
    case OPT_HELP:
        options->action = OPTIONS_HELP;
        return false;
    case OPT_VERSION:
        options->action = OPTIONS_VERSION;
        return false;
    default:
        return options_subject(code) == WHICH_HOSTS || options_subject(code) == OF_HOSTS
                   ? options_take_host(options, code, source, text)
                   : options_take_snapshot(options, code, source, text);
    }
}

const char *options_name(enum option_code code)
{
    const struct poptOption *option = table;

    while (option->val != (int)code)
        option++;
    return option->longName ? option->longName : "x";
}

enum option_code options_code(const char *name, size_t length)
{
    for (const struct poptOption *option = table; option->longName || option->shortName; option++)
        if (option->longName && strlen(option->longName) == length &&
            memcmp(option->longName, name, length) == 0)
            return (enum option_code)option->val;
    return (enum option_code)0;
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

/* popt does not support optional values: --report with a value is another option.  That of a page
 * has the file as its next word.  --kill-on-bad-exit always has its value. */
#define REPORT "--report="
#define HTML   "html"
static const char **replace_words(int argc, const char **argv)
{
    const char **words = calloc((size_t)argc + 1, sizeof *words);

    for (int i = 0; words && i < argc; i++)
        if (strcmp(argv[i], "-K") == 0 || strcmp(argv[i], "--kill-on-bad-exit") == 0)
            words[i] = strdup("--kill-on-bad-exit=1");
        else if (strncmp(argv[i], REPORT, strlen(REPORT)) != 0)
            words[i] = strdup(argv[i]);
        else if (strcmp(argv[i] + strlen(REPORT), HTML) == 0)
            words[i] = strdup("--report-html");
        else if (asprintf((char **)&words[i], "--report-file=%s", argv[i] + strlen(REPORT)) < 0)
            words[i] = NULL;
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
        words ? poptGetContext("bsprun", argc, words, table, POPT_CONTEXT_POSIXMEHARDER) : NULL;
    if (!context) {
        free_words(argc, words);
        options_wrong(options, "out of memory");
        return;
    }
    while (good && (code = poptGetNextOpt(context)) > 0) {
        char *text = poptGetOptArg(context);

        good = take_from_line(options, (enum option_code)code, text);
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
