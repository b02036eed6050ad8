/* main.c - one simulated job; prints what came of it as a line of JSON.
 *
 *   migration [--ranks N] [--supersteps N] [--seed S] [--balance off|look|on]
 *             [--alpha N | --alpha auto] [--place mixed|best] [--speeds RATIO] [--hold N]
 *             [--leave N] [--budget PERCENT] [--owners alike|unknown|known]
 *
 * look: everything is measured and decided, but nothing is moved.  alpha N: fixed.  speeds: of the
 * quickest cluster by the slowest.  hold: availability changes every N supersteps.  leave: a node
 * with a rank leaves after that superstep; without moves the job starts again.  budget: of the time
 * that has passed, for moves.  owners: half of them leave little, and what a node without ranks
 * leaves is not measured, or is known of earlier jobs. */
#include "tests/sim/migration/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void refuse(const char *option, const char *value)
{
    fprintf(stderr, "migration: %s %s: not an option, or not a value of it\n", option, value);
    exit(2);
}

/* The index of the value in the list, which ends with NULL. */
static unsigned one_of(const char *option, const char *value, const char *const *list)
{
    for (unsigned i = 0; list[i] != NULL; i++)
        if (strcmp(value, list[i]) == 0)
            return i;
    refuse(option, value);
    return 0;
}

static uint64_t number_of(const char *option, const char *value, uint64_t least, uint64_t most)
{
    char *end;
    uint64_t number = strtoull(value, &end, 10);
    if (*value == 0 || *value == '-' || *end != 0 || number < least || number > most)
        refuse(option, value);
    return number;
}

static void set_alpha(struct options *options, const char *value)
{
    if (strcmp(value, "auto") == 0)
        return;
    options->rule.alpha_least = options->rule.alpha_most =
        (uint32_t)number_of("--alpha", value, 1, 100000);
}

static void set(struct options *options, const char *option, const char *value)
{
    static const char *const modes[] = {"off", "look", "on", NULL};
    static const char *const placings[] = {"mixed", "best", NULL};
    static const char *const owners[] = {"alike", "unknown", "known", NULL};

    if (strcmp(option, "--ranks") == 0)
        options->ranks = (uint32_t)number_of(option, value, 2, RANKS_MOST);
    else if (strcmp(option, "--supersteps") == 0)
        options->supersteps = (uint32_t)number_of(option, value, 1, 1000000);
    else if (strcmp(option, "--seed") == 0)
        options->seed = number_of(option, value, 0, UINT64_MAX);
    else if (strcmp(option, "--balance") == 0)
        options->mode = one_of(option, value, modes);
    else if (strcmp(option, "--alpha") == 0)
        set_alpha(options, value);
    else if (strcmp(option, "--place") == 0)
        options->placing = one_of(option, value, placings);
    else if (strcmp(option, "--owners") == 0)
        options->owners = one_of(option, value, owners);
    else if (strcmp(option, "--speeds") == 0)
        options->speeds = (double)number_of(option, value, 100, 1000) / 100;
    else if (strcmp(option, "--hold") == 0)
        options->hold = (uint32_t)number_of(option, value, 1, 100000);
    else if (strcmp(option, "--leave") == 0)
        options->leave = (uint32_t)number_of(option, value, 1, 1000000);
    else if (strcmp(option, "--budget") == 0)
        options->rule.budget = (double)number_of(option, value, 0, 1000) / 100;
    else
        refuse(option, value);
}

int main(int argc, char **argv)
{
    struct options options = {.ranks = 11,
                              .supersteps = 2000,
                              .seed = 1,
                              .mode = MODE_ON,
                              .speeds = 2,
                              .hold = 1,
                              .rule = BALANCE_RULE};
    static struct node nodes[NODES];

    for (int i = 1; i < argc; i += 2)
        set(&options, argv[i], i + 1 < argc ? argv[i + 1] : "");
    platform_begin(argv[0], &options, nodes);
    struct result result = job_run(&options, nodes);
    printf(
        "{\"seconds\": %.6f, \"moves\": %u, \"looks\": %u, \"restarts\": %u, \"deciding\": %.6f, "
        "\"moving\": %.6f, \"at\": {",
        result.seconds, result.moves, result.looks, result.restarts, result.deciding,
        result.moving);
    const char *comma = "";
    for (uint32_t i = 0; i < MARKS; i++)
        if (result.at[i] > 0) {
            printf("%s\"%u\": %.6f", comma, job_marks[i], result.at[i]);
            comma = ", ";
        }
    printf("}}\n");
    return fflush(stdout) == 0 ? 0 : 1;
}
