/* command.c - what the commands of bspsim share; see command.h. */
#include "tools/bspsim/command.h"

#include <float.h>
#include <math.h>
#include <stdarg.h>

#define NS            1e9
#define LIMIT_BY_WORK 100 /* jobs that take this many times their work are abandoned */

static uint64_t in_ns(double seconds)
{
    return (uint64_t)(seconds * NS);
}

struct batch_setup command_setup(const struct arguments *arguments)
{
    double limit = arguments->limit > 0 ? arguments->limit : LIMIT_BY_WORK * arguments->work;
    return (struct batch_setup){
        .job = {.work_ns = in_ns(arguments->work),
                .superstep_ns = in_ns(arguments->superstep),
                .snapshot_ns = in_ns(arguments->snapshot),
                .commit_ns = in_ns(arguments->commit),
                .restore_ns = in_ns(arguments->restore),
                .calm_restores = arguments->calm,
                .limit_ns = in_ns(limit < 9e9 ? limit : 9e9),
                .rule = arguments->rule,
                .prior = {.mean_life = arguments->prior, .lives = ESTIMATE_GIVEN_LIVES}},
        .law = {.kind = arguments->lives,
                .mean = arguments->mtbf,
                .shape = arguments->shape,
                .doubling = arguments->doubling,
                .repair_ns = in_ns(arguments->repair)},
        .hosts = arguments->hosts,
        .seed = arguments->seed,
        .runs = (uint32_t)arguments->runs};
}

int bspsim_command_fail(int status, const char *format, ...)
{
    va_list list;
    fflush(stdout);
    fputs("bspsim: ", stderr);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    return status;
}

const char *bspsim_command_time(double seconds, char text[COMMAND_TIME_MAX])
{
    if (!isfinite(seconds))
        snprintf(text, COMMAND_TIME_MAX, "-");
    else if (seconds < 600)
        snprintf(text, COMMAND_TIME_MAX, "%.1f s", seconds);
    else if (seconds < 4 * 3600)
        snprintf(text, COMMAND_TIME_MAX, "%.1f min", seconds / 60);
    else if (seconds < 1000 * 3600)
        snprintf(text, COMMAND_TIME_MAX, "%.1f h", seconds / 3600);
    else
        snprintf(text, COMMAND_TIME_MAX, "%.4g d", seconds / 86400);
    return text;
}

void command_number(FILE *file, bool first, const char *name, double value)
{
    if (fabs(value) < DBL_MAX) /* what is rounded up from there is infinite to a reader */
        fprintf(file, "%s\"%s\": %.10g", first ? "" : ", ", name, value);
    else
        fprintf(file, "%s\"%s\": null", first ? "" : ", ", name);
}
