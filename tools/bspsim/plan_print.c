/* plan_print.c - a plan as a table, and as JSON; see plan.h. */
#include "tools/bspsim/plan.h"

#include <math.h>

#include "tools/bspsim/command.h"

static void print_row(const struct plan_row *row)
{
    char interval[COMMAND_TIME_MAX], mean[COMMAND_TIME_MAX], low[COMMAND_TIME_MAX],
        high[COMMAND_TIME_MAX];
    if (row->automatic)
        snprintf(interval, sizeof(interval), "-");
    else if (!isfinite(row->interval))
        snprintf(interval, sizeof(interval), "none");
    else
        bspsim_command_time(row->interval, interval);
    printf("%-14s  %10s  ", row->text, interval);
    if (row->simulated)
        printf("%6.3f", row->result.utilisation);
    else if (row->automatic)
        printf("%6s", "-");
    else
        printf("%6.3f", row->utilisation);
    if (row->simulated)
        printf("  %10s  %10s  %10s\n", bspsim_command_time(row->result.seconds, mean),
               bspsim_command_time(row->result.low, low),
               bspsim_command_time(row->result.high, high));
    else
        printf("  %10s  %10s  %10s\n",
               row->automatic ? "-" : bspsim_command_time(row->expected, mean), "-", "-");
}

static void print_advice(const struct plan *plan)
{
    const struct interval_advice *advice = &plan->advice;
    if (!advice->hardly)
        return;
    printf(
        "The job makes little progress on %u host%s with this failure rate: %.2g %% of the time is "
        "useful.\n",
        plan->hosts, plan->hosts == 1 ? "" : "s", 100 * advice->utilisation);
    if (advice->none)
        printf("No number of hosts would suffice.\n");
    else
        printf("On %u host%s, %.2g %% would be useful.\n", advice->hosts,
               advice->hosts == 1 ? "" : "s", 100 * advice->utilisation_there);
}

/* The time that the work takes with so many replicas on the same hosts. */
static double replicas_time(const struct plan *plan, uint32_t replicas)
{
    double speed = plan->replicas.speed[replicas];

    return speed > 0 ? plan->work * plan->hosts / speed : INFINITY;
}

static void print_replicas(const struct plan *plan)
{
    const struct replicas_advice *advice = &plan->replicas;
    char interval[COMMAND_TIME_MAX], mean[COMMAND_TIME_MAX];

    if (plan->hosts < 2)
        return;
    printf("\nWith replicas of each process on the same hosts (exact):\n"
           "%-14s  %10s  %6s  %10s  %10s\n",
           "", "interval", "util.", "time", "hosts");
    for (uint32_t replicas = 1; replicas <= REPLICAS_MODEL_MOST && advice->cells[replicas] > 0;
         replicas++)
        printf("--replicas %-3u  %10s  %6.3f  %10s  %7u x %u\n", replicas,
               bspsim_command_time(advice->interval[replicas], interval),
               advice->utilisation[replicas],
               bspsim_command_time(replicas_time(plan, replicas), mean), advice->cells[replicas],
               replicas);
    if (advice->replicas == 1)
        printf("Without replicas most gets done.\n");
    else
        printf("With %u replicas %.2g times as much gets done as without.\n", advice->replicas,
               advice->speed[advice->replicas] / advice->speed[1]);
}

void plan_print_text(const struct plan *plan, const struct batch_setup *setup)
{
    const struct interval_model *model = &plan->model;
    const struct plan_row *best = &plan->rows[0];
    char work[COMMAND_TIME_MAX], life[COMMAND_TIME_MAX], job[COMMAND_TIME_MAX],
        cost[COMMAND_TIME_MAX], delay[COMMAND_TIME_MAX], restore[COMMAND_TIME_MAX];
    double paper = interval_paper(model);
    printf("%s of work on %u host%s; a host fails every %s, the job every %s\n",
           bspsim_command_time(plan->work, work), plan->hosts, plan->hosts == 1 ? "" : "s",
           bspsim_command_time(plan->mtbf, life), bspsim_command_time(1 / model->rate, job));
    printf("a snapshot costs %s and is committed %s later; a restore takes %s\n",
           bspsim_command_time(model->cost, cost), bspsim_command_time(model->delay, delay),
           bspsim_command_time(model->restore, restore));
    printf("best interval: %s, utilisation %.3f (exact)\n",
           bspsim_command_time(best->interval, work), best->utilisation);
    printf("  by Ni and Harwood: %s, utilisation %.3f (their approximation)\n\n",
           bspsim_command_time(paper, work), interval_paper_utilisation(model, paper));
    printf("%-14s  %10s  %6s  %10s  %10s  %10s\n", "", "interval", "util.", "time", "5 %", "95 %");
    for (int i = 0; i < PLAN_ROWS; i++)
        print_row(&plan->rows[i]);
    printf("Times of %u simulated jobs each, seed %llu; "
           "without quantiles: the exact expectation.\n",
           setup->runs, (unsigned long long)setup->seed);
    print_advice(plan);
    print_replicas(plan);
}

/* ---- JSON --------------------------------------------------------------------------------- */

static void print_json_row(const struct plan_row *row, bool first)
{
    printf("%s\n  {\"name\": \"%s\"", first ? "" : ",", row->name);
    command_number(stdout, false, "interval", row->automatic ? NAN : row->interval);
    command_number(stdout, false, "exact_utilisation", row->automatic ? NAN : row->utilisation);
    command_number(stdout, false, "paper_utilisation",
                   row->automatic ? NAN : row->paper_utilisation);
    command_number(stdout, false, "expected_seconds", row->automatic ? NAN : row->expected);
    const struct batch_result *result = &row->result;
    command_number(stdout, false, "simulated_seconds", row->simulated ? result->seconds : NAN);
    command_number(stdout, false, "standard_error", row->simulated ? result->error : NAN);
    command_number(stdout, false, "quantile_5", row->simulated ? result->low : NAN);
    command_number(stdout, false, "quantile_95", row->simulated ? result->high : NAN);
    command_number(stdout, false, "failures", row->simulated ? result->failures : NAN);
    command_number(stdout, false, "snapshots", row->simulated ? result->snapshots : NAN);
    command_number(stdout, false, "given_up",
                   row->simulated ? result->runs - result->finished : NAN);
    putchar('}');
}

static void print_json_interval(const char *name, double interval, double utilisation)
{
    printf(", \"%s\": {", name);
    command_number(stdout, true, "interval", interval);
    command_number(stdout, false, "utilisation", utilisation);
    putchar('}');
}

void plan_print_json(const struct plan *plan, const struct batch_setup *setup)
{
    const struct interval_model *model = &plan->model;
    double paper = interval_paper(model);
    putchar('{');
    command_number(stdout, true, "work", plan->work);
    command_number(stdout, false, "hosts", plan->hosts);
    command_number(stdout, false, "mtbf", plan->mtbf);
    command_number(stdout, false, "snapshot", model->cost);
    command_number(stdout, false, "commit", model->delay);
    command_number(stdout, false, "restore", model->restore);
    printf(", \"seed\": %llu", (unsigned long long)setup->seed);
    command_number(stdout, false, "runs", setup->runs);
    print_json_interval("exact", plan->rows[0].interval, plan->rows[0].utilisation);
    print_json_interval("paper", paper, interval_paper_utilisation(model, paper));
    printf(", \"hardly\": %s", plan->advice.hardly ? "true" : "false");
    command_number(stdout, false, "hosts_that_would_do",
                   plan->advice.none ? NAN : plan->advice.hosts);
    printf(", \"rows\": [");
    for (int i = 0; i < PLAN_ROWS; i++)
        print_json_row(&plan->rows[i], i == 0);
    printf("], \"replicas\": [");
    for (uint32_t i = 1; i <= REPLICAS_MODEL_MOST && plan->replicas.cells[i] > 0; i++) {
        printf("%s\n  {", i > 1 ? "," : "");
        command_number(stdout, true, "replicas", i);
        command_number(stdout, false, "cells", plan->replicas.cells[i]);
        command_number(stdout, false, "interval", plan->replicas.interval[i]);
        command_number(stdout, false, "utilisation", plan->replicas.utilisation[i]);
        command_number(stdout, false, "expected_seconds", replicas_time(plan, i));
        putchar('}');
    }
    printf("]");
    command_number(stdout, false, "best_replicas", plan->replicas.replicas);
    puts("}");
}
