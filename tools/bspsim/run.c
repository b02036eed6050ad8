/* run.c - bspsim run: many jobs of one kind. */
#include <math.h>

#include "tools/bspsim/command.h"

#define NS 1e9

static void print_each(void *context, uint32_t number, const struct job_result *job)
{
    (void)context;
    printf("%u,%.3f,%s,%llu,%llu,%.3f,%.3f,%.3f\n", number, (double)job->total_ns / NS,
           job->finished ? "finished" : "given up", (unsigned long long)job->failures,
           (unsigned long long)job->snapshots, (double)job->saving_ns / NS,
           (double)job->down_ns / NS, (double)job->waiting_ns / NS);
}

static void print_json(const struct batch_setup *setup, const struct batch_result *result)
{
    double bias, spread;
    observed_error_tell(&result->estimate, &bias, &spread);
    printf("{\"seed\": %llu", (unsigned long long)setup->seed);
    command_number(stdout, false, "runs", result->runs);
    command_number(stdout, false, "finished", result->finished);
    command_number(stdout, false, "seconds", result->seconds);
    command_number(stdout, false, "standard_error", result->error);
    command_number(stdout, false, "quantile_5", result->low);
    command_number(stdout, false, "median", result->median);
    command_number(stdout, false, "quantile_95", result->high);
    command_number(stdout, false, "utilisation", result->utilisation);
    command_number(stdout, false, "utilisation_error", result->utilisation_error);
    command_number(stdout, false, "failures", result->failures);
    command_number(stdout, false, "snapshots", result->snapshots);
    command_number(stdout, false, "restores", result->restores);
    command_number(stdout, false, "in_snapshots", result->saving);
    command_number(stdout, false, "in_restores", result->down);
    command_number(stdout, false, "without_hosts", result->waiting);
    command_number(stdout, false, "lost", result->lost);
    command_number(stdout, false, "rate_estimates", (double)result->estimate.count);
    command_number(stdout, false, "rate_estimate_bias", bias);
    command_number(stdout, false, "rate_estimate_spread", spread);
    puts("}");
}

static void print_share(const char *name, double seconds, double all)
{
    char text[COMMAND_TIME_MAX];
    printf("  %-22s %10s  %5.1f %%\n", name, bspsim_command_time(seconds, text),
           100 * seconds / all);
}

static void print_text(const struct batch_setup *setup, const struct batch_result *result)
{
    char mean[COMMAND_TIME_MAX], low[COMMAND_TIME_MAX], high[COMMAND_TIME_MAX];
    double bias, spread;
    printf("%u job%s, seed %llu: %s (5 %%: %s, 95 %%: %s), utilisation %.4f +- %.4f\n",
           result->runs, result->runs == 1 ? "" : "s", (unsigned long long)setup->seed,
           bspsim_command_time(result->seconds, mean), bspsim_command_time(result->low, low),
           bspsim_command_time(result->high, high), result->utilisation, result->utilisation_error);
    if (result->finished < result->runs)
        printf("%u of them %s given up before they ended: the times are too low\n",
               result->runs - result->finished,
               result->runs - result->finished == 1 ? "was" : "were");
    print_share("useful", fmin(result->useful, result->seconds), result->seconds);
    print_share("in snapshots", result->saving, result->seconds);
    print_share("lost by failures", result->lost, result->seconds);
    print_share("being restored", result->down, result->seconds);
    if (result->waiting > 0)
        print_share("waiting for a host", result->waiting, result->seconds);
    printf("  on average %.4g failures, %.4g snapshots\n", result->failures, result->snapshots);
    observed_error_tell(&result->estimate, &bias, &spread);
    if (result->estimate.count > 0)
        printf("  the estimated rate of failures was %.3f times the true one, give or take a "
               "factor of %.3f\n",
               bias, spread);
}

static int simulate(const struct arguments *arguments, const struct batch_setup *setup)
{
    struct batch_result result;
    if (arguments->each)
        puts("job,seconds,end,failures,snapshots,in_snapshots,in_restores,without_hosts");
    if (!batch_run(setup, &result, arguments->each ? print_each : NULL, NULL))
        return bspsim_command_fail(STATUS_BAD, "out of memory");
    if (arguments->json)
        print_json(setup, &result);
    else if (!arguments->each)
        print_text(setup, &result);
    return STATUS_OK;
}

int command_run(const struct arguments *arguments)
{
    struct batch_setup setup = command_setup(arguments);
    struct trace trace = {0};
    char error[TRACE_ERROR];
    if (arguments->trace) {
        if (!trace_read(arguments->trace, arguments->host_names, &trace, error))
            return bspsim_command_fail(STATUS_BAD, "%s", error);
        if (arguments->hosts > trace.host_count) {
            int status = bspsim_command_fail(STATUS_WRONG, "--hosts %u: %s has only %u",
                                             arguments->hosts, arguments->trace, trace.host_count);
            trace_free(&trace);
            return status;
        }
        setup.law.trace = &trace;
        setup.hosts = arguments->hosts > 0 ? arguments->hosts : trace.host_count;
    }
    int status = simulate(arguments, &setup);
    trace_free(&trace);
    return status;
}
