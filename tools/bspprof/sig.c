/* bspsig: the signature of a profiled program: what its supersteps cost on a machine. */
#include <inttypes.h>
#include <stdlib.h>

#include "lib/base/json.h"
#include "tools/bspprof/centres.h"
#include "tools/bspprof/command.h"
#include "tools/bspprof/data.h"

static const char help[] =
    "usage: bspsig [OPTION]... [PROF.bsp]\n"
    "Prints the cost w + g h + l of the supersteps of a profile by the BSP model, for each\n"
    "statement and each size h of its communication, and in total.\n"
    "\n"
    "  -slg S,L,G        the cost on a machine with these parameters\n"
    "  -arch NAME        the cost on this machine in the database of bspparam\n"
    "  -sort KEY         cost (default), comp, comm, hrel, syncs or line\n"
    "  -bucket WORDS     merge sizes that differ by at most this many words\n"
    "  -compress N       merge sizes until at most N lines remain\n"
    "  -ignore PERCENT   omit lines with less than this share of the cost\n"
    "  -sig, -wfm        print the sizes of all statements together, as a formula\n"
    "  -stat             print other sums of the communication as well\n"
    "  -zoom FROM,TO     use only supersteps between these times, in seconds\n"
    "  -json             print JSON\n"
    "  -v                report what is done\n"
    "  -help, -version\n";

struct signature {
    const struct arguments *arguments;
    struct run run;
    struct costs costs;
    struct centres centres;
};

static bool add(void *context, const struct run_superstep *superstep, char error[PROFILE_ERROR])
{
    struct centres *centres = context;
    if (centres_add(centres, superstep))
        return true;
    snprintf(error, PROFILE_ERROR, "out of memory");
    return false;
}

/* ---- Order ---------------------------------------------------------------------------------- */

/* qsort has no context. */
static const struct signature *sorted;

static double key(const struct centre *centre)
{
    switch (sorted->arguments->sort) {
    case ARGUMENTS_BY_COMPUTING:
        return (double)centre->sums.computing;
    case ARGUMENTS_BY_COMMUNICATING:
        return (double)centre->sums.communicating;
    case ARGUMENTS_BY_H:
        return (double)centre->h;
    case ARGUMENTS_BY_SUPERSTEPS:
        return (double)centre->sums.supersteps;
    case ARGUMENTS_BY_STATEMENT:
        return -(double)centre->statement;
    default:
        return costs_all(&sorted->costs, &centre->sums);
    }
}

static int by_key(const void *a, const void *b)
{
    const struct centre *first = a, *second = b;
    double x = key(first), y = key(second);
    if (x != y)
        return x > y ? -1 : 1;
    return first->h != second->h ? (first->h < second->h ? -1 : 1) : 0;
}

/* Whether neither its computing nor its communicating has the part of the cost to be shown. */
static bool is_ignored(const struct signature *signature, const struct centre *centre)
{
    double least =
        costs_all(&signature->costs, &signature->run.all) * signature->arguments->ignore / 100;
    return (double)centre->sums.computing * signature->costs.scale < least &&
           costs_h(&signature->costs, centre->sums.h) +
                   costs_l(&signature->costs, centre->sums.supersteps) <
               least;
}

/* ---- Text ----------------------------------------------------------------------------------- */

static void print_head(const struct signature *signature)
{
    const struct run *run = &signature->run;
    const struct bspz_params *params = &signature->costs.params;
    printf("%s: %" PRIu32 " process%s, %" PRIu64 " superstep%s\n", run->name,
           run->file.profile.ranks, run->file.profile.ranks == 1 ? "" : "es", run->all.supersteps,
           run->all.supersteps == 1 ? "" : "s");
    if (!run->file.profile.complete)
        printf("  it ends early: what followed its last superstep is not known\n");
    printf("s = %g Mflop/s, l = %g flops, g = %g flops per word (%s)\n", params->s, params->l,
           params->g, signature->costs.where);
    if (signature->costs.other && !signature->costs.scaled)
        printf("  computing as it was measured: the machine of the profile has not been measured "
               "(bspparam -measure)\n");
    printf("\n");
}

static void print_time(double ns)
{
    char text[COMMAND_TIME_MAX];
    printf(" %12s", bspprof_command_time(ns, text));
}

static void print_row(const struct signature *signature, const char *name, const char *h,
                      const struct strata_sums *sums)
{
    const struct costs *costs = &signature->costs;
    double all = costs_all(costs, &signature->run.all);
    printf("%-39s %10" PRIu64 " %12s", name, sums->supersteps, h);
    print_time((double)sums->computing * costs->scale);
    print_time(costs_h(costs, sums->h));
    print_time(costs_l(costs, sums->supersteps));
    print_time(costs_all(costs, sums));
    printf(" %5.1f %%", all > 0 ? 100 * costs_all(costs, sums) / all : 0);
    print_time((double)(sums->computing + sums->communicating));
    putchar('\n');
}

static void print_table(const struct signature *signature)
{
    const struct centres *centres = &signature->centres;
    struct strata_sums left = {0};
    char name[COMMAND_NAME_MAX], h[32];
    printf("%-39s %10s %12s %12s %12s %12s %12s %7s %12s\n", "statement", "supersteps", "h (words)",
           "w", "g h", "l", "w + g h + l", "", "measured");
    for (uint32_t i = 0; i < centres->count; i++) {
        const struct centre *centre = &centres->table[i];
        if (is_ignored(signature, centre)) {
            strata_sum(&left, &centre->sums);
            continue;
        }
        snprintf(h, sizeof(h), "%" PRIu64, centre->h);
        print_row(signature, command_name(&signature->run.file.profile, centre->statement, name), h,
                  &centre->sums);
    }
    if (left.supersteps > 0)
        print_row(signature, "(ignored)", "", &left);
    print_row(signature, "together", "", &signature->run.all);
}

/* w + g (n h + n h ...) + n l */
static void print_formula(const struct signature *signature)
{
    const struct centres *centres = &signature->centres;
    char text[COMMAND_TIME_MAX];
    bool any = false;
    printf("%s + g * (", bspprof_command_time(
                             (double)signature->run.all.computing * signature->costs.scale, text));
    for (uint32_t i = 0; i < centres->count; i++)
        if (centres->table[i].h > 0 && !is_ignored(signature, &centres->table[i])) {
            printf("%s%" PRIu64 " * %" PRIu64, any ? " + " : "", centres->table[i].sums.supersteps,
                   centres->table[i].h);
            any = true;
        }
    printf("%s) + %" PRIu64 " * l\n", any ? "" : "0", signature->run.all.supersteps);
    printf("= %s\n", bspprof_command_time(costs_all(&signature->costs, &signature->run.all), text));
}

static void print_statistics(const struct signature *signature)
{
    const struct run *run = &signature->run;
    uint64_t most = 0, least = UINT64_MAX;
    for (uint32_t rank = 0; rank < run->file.profile.ranks; rank++) {
        uint64_t in = run->ranks[rank].in, out = run->ranks[rank].out;
        uint64_t one = in > out ? in : out;
        most = one > most ? one : most;
        least = one < least ? one : least;
    }
    printf("\nsum of h, in words\n"
           "  %-16s %16" PRIu64 "  the largest of each superstep: what the model counts\n"
           "  %-16s %16" PRIu64 "  the process with the most, had there been no supersteps\n"
           "  %-16s %16" PRIu64 "  the mean of the processes\n"
           "  %-16s %16" PRIu64 "  the process with the least, had there been no supersteps\n",
           "max supersteps", run->all.h, "max async", (most + 3) / 4, "volume",
           run->all.bytes / run->file.profile.ranks / 4, "min async", (least + 3) / 4);
}

/* ---- JSON ----------------------------------------------------------------------------------- */

static void write_cost(struct bspz_json *json, const struct signature *signature,
                       const struct strata_sums *sums)
{
    const struct costs *costs = &signature->costs;
    bspz_json_number(json, "supersteps", sums->supersteps);
    bspz_json_real(json, "w", (double)sums->computing * costs->scale / 1e9);
    bspz_json_real(json, "gh", costs_h(costs, sums->h) / 1e9);
    bspz_json_real(json, "l", costs_l(costs, sums->supersteps) / 1e9);
    bspz_json_real(json, "predicted", costs_all(costs, sums) / 1e9);
    bspz_json_real(json, "measured", (double)(sums->computing + sums->communicating) / 1e9);
}

static void write_json(const struct signature *signature)
{
    const struct run *run = &signature->run;
    struct bspz_json json = {.file = stdout, .indented = true};
    char name[DATA_NAME];
    bspz_json_object(&json, NULL);
    bspz_json_text(&json, "profile", run->name);
    bspz_json_number(&json, "processes", run->file.profile.ranks);
    bspz_json_flag(&json, "complete", run->file.profile.complete);
    bspz_json_text(&json, "machine", signature->costs.where);
    bspz_json_real(&json, "scale", signature->costs.scale);
    bspz_json_object(&json, "all");
    write_cost(&json, signature, &run->all);
    bspz_json_number(&json, "h", run->all.h);
    bspz_json_end(&json);
    bspz_json_array(&json, "centres");
    for (uint32_t i = 0; i < signature->centres.count; i++) {
        const struct centre *centre = &signature->centres.table[i];
        if (is_ignored(signature, centre))
            continue;
        bspz_json_object(&json, NULL);
        if (centre->statement != CENTRES_NOBODY)
            bspz_json_text(&json, "statement",
                           data_statement(&run->file.profile, centre->statement, name));
        bspz_json_number(&json, "h", centre->h);
        write_cost(&json, signature, &centre->sums);
        bspz_json_end(&json);
    }
    bspz_json_end(&json);
    bspz_json_end(&json);
}

static void show(struct signature *signature)
{
    const struct arguments *arguments = signature->arguments;
    centres_list(&signature->centres, arguments->compress > 0 ? arguments->compress : UINT64_MAX);
    sorted = signature;
    if (signature->centres.count > 0)
        qsort(signature->centres.table, signature->centres.count, sizeof(*signature->centres.table),
              by_key);
    if (arguments->json) {
        write_json(signature);
        return;
    }
    print_head(signature);
    if (arguments->short_form)
        print_formula(signature);
    else
        print_table(signature);
    if (signature->centres.bucket > arguments->bucket)
        printf("(sizes within %" PRIu64 " words are put together)\n", signature->centres.bucket);
    if (arguments->statistics)
        print_statistics(signature);
}

static int work(const struct arguments *arguments)
{
    struct signature *signature = calloc(1, sizeof(*signature));
    char error[PROFILE_ERROR];
    int status = STATUS_OK;
    if (!signature)
        return bspprof_command_fail(STATUS_BAD, "out of memory");
    signature->arguments = arguments;
    centres_begin(&signature->centres, arguments->bucket, !arguments->short_form);
    const struct run_calls calls = {.superstep = add, .context = &signature->centres};
    if (!run_read(arguments->files[0], arguments->section, &calls, &signature->run, error) ||
        !costs_find(arguments->params, arguments->machine, signature->run.file.profile.ranks,
                    &signature->costs, error, sizeof(error)))
        status = bspprof_command_fail(STATUS_BAD, "%s", error);
    else
        show(signature);
    run_free(&signature->run);
    centres_free(&signature->centres);
    free(signature);
    return status;
}

int main(int argc, char **argv)
{
    return command_main(ARGUMENTS_SIG, "bspsig", help, argc, argv, work);
}
