/* bspckpt: looks at the snapshots of BSP jobs, checks them and removes old ones. */
#include <popt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "ckpt/bspckpt/elsewhere.h"
#include "lib/base/clock.h"
#include "lib/base/stdout.h"
#include "lib/base/units.h"

#define CONNECT_MS      30000u /* as bsprun's */
#define CONNECT_MS_MOST 1000000000u

static const char help_text[] =
    "Usage: bspckpt COMMAND DIR [OPTION...]\n"
    "Shows, verifies and removes the snapshots of BSP jobs in a directory.\n"
    "\n"
    "  ls DIR              list jobs and their snapshots: superstep, age, size, state\n"
    "  show DIR            show the contents: program, processes, memory, files\n"
    "  verify DIR          check every byte of every snapshot\n"
    "  repair DIR          recreate lost records and manifests where that is safe\n"
    "  prune DIR --keep N  remove all but the newest N snapshots of a job\n"
    "  rm DIR/JOB          remove a job and its snapshots\n"
    "  diff DIR S1 S2      show which memory changed between two snapshots, by region\n"
    "\n"
    "DIR may be DIR/JOB (default: the newest job; all jobs for ls, verify and repair)\n"
    "and, for show and verify, DIR@SUPERSTEP or DIR@SUPERSTEP.TERM (default: the newest\n"
    "snapshot; all snapshots for verify).\n"
    "\n"
    "  --pid N             show, diff: only process N\n"
    "  --json              JSON output\n"
    "  --local             ls, verify, rm: do not ask the other hosts of a job\n"
    "  --launcher ssh|slurm|CMD, --connect-timeout SECONDS: how to reach them, as for\n"
    "                      bsprun (default: as when the job was started)\n"
    "  --help, --version\n"
    "\n"
    "The exit status is 0; 1 if something is damaged or missing; 2 for wrong usage.\n";

static const struct {
    const char *name;
    int words; /* number of words after the command */
    int (*run)(const struct request *request);
} commands[] = {
    {"ls", 1, command_ls},       {"show", 1, command_show}, {"verify", 1, command_verify},
    {"prune", 1, command_prune}, {"diff", 3, command_diff}, {"repair", 1, command_repair},
    {"rm", 1, command_rm},
};

enum {
    OPT_PID = 1,
    OPT_KEEP,
    OPT_JSON,
    OPT_LOCAL,
    OPT_LAUNCHER,
    OPT_CONNECT,
    OPT_HELP,
    OPT_VERSION
};

static const struct poptOption table[] = {
    {"pid", '\0', POPT_ARG_STRING, NULL, OPT_PID, NULL, NULL},
    {"keep", '\0', POPT_ARG_STRING, NULL, OPT_KEEP, NULL, NULL},
    {"json", '\0', POPT_ARG_NONE, NULL, OPT_JSON, NULL, NULL},
    {"local", '\0', POPT_ARG_NONE, NULL, OPT_LOCAL, NULL, NULL},
    {"launcher", '\0', POPT_ARG_STRING, NULL, OPT_LAUNCHER, NULL, NULL},
    {"connect-timeout", '\0', POPT_ARG_STRING, NULL, OPT_CONNECT, NULL, NULL},
    {"help", 'h', POPT_ARG_NONE | POPT_ARGFLAG_ONEDASH, NULL, OPT_HELP, NULL, NULL},
    {"version", '\0', POPT_ARG_NONE, NULL, OPT_VERSION, NULL, NULL},
    POPT_TABLEEND,
};

static int wrong(const char *text, const char *word)
{
    fprintf(stderr, "bspckpt: %s%s%.80s; bspckpt --help lists the commands\n", text,
            word ? ": " : "", word ? word : "");
    return STATUS_WRONG;
}

static bool take_seconds(const char *text, uint64_t *milliseconds)
{
    char *end;
    double seconds = strtod(text, &end);

    if (end == text || *end || !(seconds >= 0.1) || seconds > CONNECT_MS_MOST / 1000.0)
        return false;
    *milliseconds = (uint64_t)(seconds * 1000);
    return true;
}

static int take_launcher(struct request *request, const char *value)
{
    if (value[0] == '-' || value[strspn(value, " \t")] == '\0')
        return wrong("--launcher: give ssh, slurm, or a command that is called with a host", value);
    free((char *)request->launcher);
    request->launcher = strdup(value);
    return request->launcher ? -1 : complain("out of memory");
}

/* -1: go on; else the exit status. */
static int take_option(struct request *request, int code, const char *value)
{
    uint64_t number;

    switch (code) {
    case OPT_PID:
        if (!bspz_whole(value, 0, WIRE_RANKS_MAX - 1, &number))
            return wrong("--pid: not the number of a process", value);
        request->pid = (int64_t)number;
        return -1;
    case OPT_KEEP:
        if (!bspz_whole(value, 1, 1000000, &number))
            return wrong("--keep: not a number of snapshots", value);
        request->keep = (uint32_t)number;
        return -1;
    case OPT_JSON:
        request_json(request);
        return -1;
    case OPT_LOCAL:
        request->local = true;
        return -1;
    case OPT_LAUNCHER:
        return take_launcher(request, value);
    case OPT_CONNECT:
        if (!take_seconds(value, &request->connect_ms))
            return wrong("--connect-timeout: give a number of seconds, 0.1 or more", value);
        return -1;
    case OPT_HELP:
        fputs(help_text, stdout);
        return STATUS_OK;
    default:
        puts("bspckpt (bspzero) " BSPZ_VERSION);
        return STATUS_OK;
    }
}

static int take_options(struct request *request, poptContext context)
{
    int code, status = -1;

    while (status < 0 && (code = poptGetNextOpt(context)) > 0) {
        char *value = poptGetOptArg(context);
        status = take_option(request, code, value);
        free(value);
    }
    if (status < 0 && code < -1)
        return wrong(code == POPT_ERROR_NOARG ? "a value is missing after" : poptStrerror(code),
                     poptBadOption(context, POPT_BADOPTION_NOALIAS));
    return status;
}

static int dispatch(struct request *request, const char **words)
{
    if (!words || !words[0])
        return wrong("no command given", NULL);
    for (size_t i = 0; i < sizeof(commands) / sizeof(commands[0]); i++) {
        if (strcmp(commands[i].name, words[0]) != 0)
            continue;
        while (words[1 + request->word_count] && request->word_count < 4) {
            request->words[request->word_count] = words[1 + request->word_count];
            request->word_count++;
        }
        if (request->word_count != commands[i].words)
            return wrong(commands[i].words == 1 ? "give one directory after"
                                                : "give a directory and two supersteps after",
                         words[0]);
        return commands[i].run(request);
    }
    return wrong("there is no command", words[0]);
}

int main(int argc, const char **argv)
{
    struct request request = {.pid = -1, .connect_ms = CONNECT_MS};

    if (argc > 1 && strcmp(argv[1], "part") == 0)
        return part_main(argc - 2, (char *const *)argv + 2);
    request.now = bspz_wall_ns();
    poptContext context = poptGetContext("bspckpt", argc, argv, table, 0);
    int status = take_options(&request, context);
    if (status < 0)
        status = dispatch(&request, poptGetArgs(context));
    poptFreeContext(context);
    free((char *)request.launcher);
    return bspz_stdout_flushed("bspckpt") ? status : STATUS_BAD;
}
