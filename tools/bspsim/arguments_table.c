/* arguments_table.c - the names of bspsim's options, and its help; see arguments_inside.h. */
#include "tools/bspsim/arguments_inside.h"

#include <stdarg.h>
#include <stdio.h>

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

const struct poptOption arguments_table[] = {
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

bool arguments_wrong(char error[ARGUMENTS_ERROR], const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(error, ARGUMENTS_ERROR, format, list);
    va_end(list);
    return false;
}

const char *arguments_name(enum argument argument)
{
    const struct poptOption *option = arguments_table;
    while (option->val != (int)argument)
        option++;
    return option->longName;
}
