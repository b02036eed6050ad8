/* trace_stat.c - STAT.bsp: a report of the whole run in plain text.
 */
#include "lib/rt/trace.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "lib/base/params.h"
#include "lib/rt/costs.h"

#define LARGEST_SIZE (INT64_C(1) << 50) /* the limit of the search for a break-even */

/* Totals of one process over all supersteps. */
struct sums {
    uint64_t compute_ns, wait_ns, communicate_ns;
    uint64_t calls_out, calls_in, bytes_out, bytes_in;
};

static struct {
    struct bspz_trace_file file;
    struct bspz_trace_step total;
    uint64_t supersteps, h_most;
    struct sums *of; /* [p] */
    struct bspz_params params;
    uint64_t g_ps, l_ps; /* what a word and a superstep cost, in picoseconds */
    char params_text[160];
    char date[64];
} report;

/* Flops at that speed (in Mflop/s), in picoseconds. */
static uint64_t picoseconds(double flops, double speed)
{
    double ps = flops / speed * 1e6;

    return ps < 1e18 ? (uint64_t)(ps + 0.5) : (uint64_t)1e18;
}

void bspz_stat_begin(void)
{
    static const char *const sources[] = {
        [BSPZ_PARAMS_ASSUMED] = "assumed: this machine has not been measured",
        [BSPZ_PARAMS_DATABASE] = "from the database of bspparam",
        [BSPZ_PARAMS_ENVIRONMENT] = "from BSP_SLG",
    };
    enum bspz_params_source source = bspz_params_find(bspz_rt.nprocs, &report.params);

    /* Now, as the report may be written in a signal handler, without floating point. */
    report.g_ps = picoseconds(report.params.g, report.params.s);
    report.l_ps = picoseconds(report.params.l, report.params.s);
    bspz_trace_file_open(&report.file, "STAT.bsp");
    bspz_trace_date(report.date, sizeof report.date);
    snprintf(report.params_text, sizeof report.params_text,
             "s=%g Mflop/s, l=%g flops, g=%g flops per word, n1/2=%d words (%s)", report.params.s,
             report.params.l, report.params.g, report.params.n_half, sources[source]);
    report.of = calloc((size_t)bspz_rt.nprocs, sizeof *report.of);
    if (!report.of)
        bspz_fail("bsp_begin", 0, NULL, "out of memory for the statistics of %d processes",
                  bspz_rt.nprocs);
}

void bspz_stat_superstep(uint64_t superstep, const struct bspz_trace_step *step)
{
    uint64_t met_ns = step->start_ns + bspz_rt.begin_ns;

    report.supersteps++;
    bspz_spread_add(&report.total.compute_ns, &step->compute_ns);
    bspz_spread_add(&report.total.wait_ns, &step->wait_ns);
    bspz_spread_add(&report.total.communicate_ns, &step->communicate_ns);
    bspz_spread_add(&report.total.h, &step->h);
    if (step->h.most > report.h_most)
        report.h_most = step->h.most;
    for (int pid = 0; pid < bspz_rt.nprocs; pid++) {
        const struct bspz_trace *one = bspz_trace_of(pid, superstep);
        struct sums *sums = &report.of[pid];

        sums->compute_ns += one->entered_ns - one->began_ns;
        sums->wait_ns += met_ns - one->entered_ns;
        /* Clocks of other hosts are known to some microseconds only. */
        sums->communicate_ns += one->left_ns > met_ns ? one->left_ns - met_ns : 0;
        sums->calls_out += one->calls_out;
        sums->calls_in += one->calls_in;
        sums->bytes_out += one->bytes_out;
        sums->bytes_in += one->bytes_in;
    }
}

/* ---- The report ---------------------------------------------------------------------------- */

static void write_time(const char *what, uint64_t ns)
{
    bspz_trace_file_add(&report.file, "  %-16s" BSPZ_SECONDS " s\n", what, BSPZ_SECONDS_OF(ns));
}

static void write_general(uint64_t total_ns, bool early)
{
    struct bspz_trace_file *file = &report.file;

    bspz_trace_file_add(file, "General\n  %-16s%.200s\n  %-16s%s\n", "program",
                        program_invocation_short_name, "started", report.date);
    bspz_trace_file_add(file, "  %-16s%d\n  %-16s%llu\n  %-16s%s\n", "processes", bspz_rt.nprocs,
                        "supersteps", (unsigned long long)report.supersteps, "ended",
                        early ? "before bsp_end" : "by bsp_end");
    write_time("total time", total_ns);
    write_time("computation", report.total.compute_ns.most);
    write_time("communication", report.total.communicate_ns.most);
    write_time("longest waits", report.total.wait_ns.most);
    bspz_trace_file_add(file, "  %-16s%llu words\n  %-16s%llu words\n\n", "h, sum",
                        (unsigned long long)report.total.h.most, "h, largest",
                        (unsigned long long)report.h_most);
}

/* Nanoseconds; at most 10^18, some 30 years. */
static uint64_t cost_ns(uint64_t count, uint64_t ps)
{
    unsigned __int128 ns = (unsigned __int128)count * ps / 1000;

    return ns < 1000000000000000000u ? (uint64_t)ns : 1000000000000000000u;
}

static void write_model(void)
{
    uint64_t h_ns = cost_ns(report.total.h.most, report.g_ps);
    uint64_t l_ns = cost_ns(report.supersteps, report.l_ps);

    bspz_trace_file_add(&report.file, "Cost by the BSP model, with these parameters\n  %s\n",
                        report.params_text);
    write_time("computation", report.total.compute_ns.most);
    write_time("g * sum of h", h_ns);
    write_time("l * supersteps", l_ns);
    write_time("together", report.total.compute_ns.most + h_ns + l_ns);
    bspz_trace_file_add(&report.file, "\n");
}

static void write_processes(void)
{
    struct bspz_trace_file *file = &report.file;

    bspz_trace_file_add(file, "Processes\n  %4s %12s %12s %16s %16s %17s %17s %17s\n", "pid",
                        "calls out", "calls in", "bytes out", "bytes in", "computation s",
                        "waiting s", "communication s");
    for (int pid = 0; pid < bspz_rt.nprocs; pid++) {
        const struct sums *sums = &report.of[pid];

        bspz_trace_file_add(file, "  %4d %12llu %12llu %16llu %16llu", pid,
                            (unsigned long long)sums->calls_out, (unsigned long long)sums->calls_in,
                            (unsigned long long)sums->bytes_out,
                            (unsigned long long)sums->bytes_in);
        bspz_trace_file_add(file, " %7llu.%09llu %7llu.%09llu %7llu.%09llu\n",
                            BSPZ_SECONDS_OF(sums->compute_ns), BSPZ_SECONDS_OF(sums->wait_ns),
                            BSPZ_SECONDS_OF(sums->communicate_ns));
    }
    bspz_trace_file_add(file, "\n");
}

static bool bcast_changes(ptrdiff_t n)
{
    return bspz_cost_bcast_in_two(&report.params, bspz_rt.nprocs, n);
}

static bool fold_changes(ptrdiff_t n)
{
    return bspz_cost_in_steps(&report.params, bspz_rt.nprocs, bspz_cost_fold_steps(bspz_rt.nprocs),
                              n);
}

static bool scan_changes(ptrdiff_t n)
{
    return bspz_cost_in_steps(&report.params, bspz_rt.nprocs, bspz_cost_scan_steps(bspz_rt.nprocs),
                              n);
}

/* The smallest size for which the other choice is made; LARGEST_SIZE: none. */
static ptrdiff_t break_even(bool (*changes)(ptrdiff_t n))
{
    ptrdiff_t low = 0, high = 1; /* the first choice at low, possibly the other at high */

    if (changes(1))
        return 1;
    while (high < LARGEST_SIZE && !changes(high)) {
        low = high;
        high *= 2;
    }
    while (high < LARGEST_SIZE && high - low > 1) {
        ptrdiff_t middle = low + (high - low) / 2;

        if (changes(middle))
            high = middle;
        else
            low = middle;
    }
    return high;
}

static void write_choice(const char *function, const char *small, int steps, const char *how,
                         ptrdiff_t from)
{
    if (from == LARGEST_SIZE)
        bspz_trace_file_add(&report.file, "  %-12s1 superstep%s, whatever the size\n", function,
                            small);
    else
        bspz_trace_file_add(&report.file,
                            "  %-12s1 superstep%s; from %lld bytes on %d superstep%s%s\n", function,
                            small, (long long)from, steps, steps == 1 ? "" : "s", how);
}

static void write_collectives(void)
{
    int p = bspz_rt.nprocs;

    bspz_trace_file_add(&report.file, "Collectives, %s\n", report.params_text);
    write_choice("bsp_bcast", ", all from the root", 2, " with pieces", break_even(bcast_changes));
    write_choice("bsp_fold", ", all items to all", bspz_cost_fold_steps(p), " with partial results",
                 break_even(fold_changes));
    write_choice("bsp_scan", ", all items to all", bspz_cost_scan_steps(p), " with partial results",
                 break_even(scan_changes));
}

void bspz_stat_end(uint64_t total_ns, bool early)
{
    bspz_trace_file_add(&report.file, "BSP statistics\n\n");
    write_general(total_ns, early);
    write_processes();
    write_model();
    write_collectives();
    bspz_trace_file_close(&report.file);
}
