/* arguments_table.c - the names of bspsim's options, and its help; see arguments_inside.h. */
#include "tools/bspsim/arguments_inside.h"

#include <stdarg.h>
#include <stdio.h>

const char arguments_help[] =
    "Usage: bspsim plan [OPTION...]   or   bspsim run [OPTION...]\n"
    "       bspsim replay PROF.bsp --platform FILE [OPTION...]\n"
    "Simulates jobs that take snapshots on hosts that fail, with the decisions of bsprun,\n"
    "and programs on machines that are described by a SimGrid platform.\n"
    "\n"
    "  plan    compute the interval between snapshots and the time to solution\n"
    "  run     simulate many jobs of one kind, and print averages\n"
    "  replay  predict the time of a program elsewhere from its profile (bspcc -prof)\n"
    "\n"
    "plan and run:\n"
    "  --work 100h         time of the job on these hosts without failures\n"
    "  --hosts 32          number of hosts\n"
    "  --mtbf 4h           mean time between failures of one host\n"
    "  --snapshot 20s      pause of the job for a snapshot\n"
    "  --commit 30s        from the end of the pause until the snapshot is committed (0s)\n"
    "  --restore 50s       from a failure until the processes run again\n"
    "  --superstep 1s      from barrier to barrier\n"
    "  --seed 1 --runs 400 seed of the random numbers, and number of jobs\n"
    "  --json              print JSON\n"
    "plan only:\n"
    "  --image 2G --bandwidth 500M\n"
    "                      of each host, in place of --snapshot and --restore\n"
    "  --from-report FILE  estimates of a real job, as bspstat --json prints them\n"
    "  --svg FILE          pictures: time against interval and number of hosts\n"
    "run only:\n"
    "  --every auto|N|30s --overhead 5%\n"
    "                      as for bsprun (auto)\n"
    "  --prior 4h          mean time between failures that is assumed, as by bsprun --mtbf\n"
    "  --lives exponential|weibull|lognormal --shape X\n"
    "  --doubling 20h      time in which the failure rate doubles\n"
    "  --repair 1h         time until a failed host is available again (0s)\n"
    "  --trace FILE        times when hosts are up: CSV with the columns host,up,down;\n"
    "                      --hosts a,b uses only these hosts of it\n"
    "  --calm-restores     no host fails during a restore\n"
    "  --limit 1000h       give up jobs that take longer (100 times the work)\n"
    "  --each              print a line for each job\n"
    "replay only:\n"
    "  --platform FILE     SimGrid platform file of the other machine\n"
    "  --speed 2Gf         speed of a core of the measured machine (as the first host)\n"
    "  --hosts N|a,b       use the first N of its hosts, or these (all)\n"
    "  --ranks-per-host N  processes on each host (one per core)\n"
    "  --json              as above\n"
    "  --help, --version\n"
    "Units: ms, s, m, h, d; k, M, G, T.  The exit status is 0; 1 if a file cannot be\n"
    "read or written; 2 for wrong usage.\n";

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
