/* usage.c - the resource usage of processes; see usage.h. */
#include "bsprun/usage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/units.h"

#define ROW_BYTES 160

void usage_read(const struct bspz_board *board, int pid, uint64_t wall_ns, struct wire_usage *row)
{
    const struct bspz_counters *counters = &bspz_rank_of(board, pid)->counters;

    memset(row, 0, sizeof *row);
    row->pid = (uint32_t)pid;
    row->supersteps = counters->supersteps;
    row->wall_ns = wall_ns;
    row->compute_ns = counters->compute_ns;
    row->communicate_ns = counters->communicate_ns;
    row->wait_ns = counters->wait_ns;
    row->bytes_out = counters->bytes_put + counters->bytes_sent;
    row->bytes_in = counters->bytes_received;
    row->h_max = counters->h_max;
    row->peak_memory = counters->peak_memory_bytes;
}

static int print_row(char *text, size_t size, const char *name, const struct wire_usage *row)
{
    char out[16], in[16], h[16], peak[16];

    bspz_bytes_text(row->bytes_out, out, sizeof out);
    bspz_bytes_text(row->bytes_in, in, sizeof in);
    bspz_bytes_text(row->h_max, h, sizeof h);
    bspz_bytes_text(row->peak_memory, peak, sizeof peak);
    return snprintf(text, size, "%5s %10llu %9.3f %9.3f %9.3f %9s %9s %9s %9s\n", name,
                    (unsigned long long)row->supersteps, (double)row->compute_ns / 1e9,
                    (double)row->communicate_ns / 1e9, (double)row->wait_ns / 1e9, out, in, h,
                    peak);
}

static void add(struct wire_usage *sum, const struct wire_usage *row)
{
    if (row->supersteps > sum->supersteps)
        sum->supersteps = row->supersteps;
    if (row->wall_ns > sum->wall_ns)
        sum->wall_ns = row->wall_ns;
    if (row->h_max > sum->h_max)
        sum->h_max = row->h_max;
    sum->compute_ns += row->compute_ns;
    sum->communicate_ns += row->communicate_ns;
    sum->wait_ns += row->wait_ns;
    sum->bytes_out += row->bytes_out;
    sum->bytes_in += row->bytes_in;
    sum->peak_memory += row->peak_memory;
}

static double useful_seconds(const struct wire_usage *row)
{
    return (double)(row->compute_ns + row->communicate_ns + row->wait_ns) / 1e9;
}

static int print_faults(char *text, size_t size, const char *name, double useful,
                        const struct usage_faults *row)
{
    return snprintf(text, size, "%5s %10.3f %10.3f %10.3f %10.3f %10llu %8u\n", name, useful,
                    row->lost, row->down, row->pauses, (unsigned long long)row->snapshots,
                    row->faults);
}

char *usage_faults_table(const struct wire_usage *rows, size_t count,
                         const struct usage_faults *faults)
{
    size_t capacity = (count + 4) * ROW_BYTES;
    char *table = malloc(capacity);
    struct usage_faults row = *faults;
    double sum = 0;
    size_t used;

    if (!table)
        return NULL;
    used = (size_t)snprintf(
        table, capacity,
        "%s:\n"
        "%5s %10s %10s %10s %10s %10s %8s\n",
        faults->restarted ? "useful since the job began, the rest since this restart"
                          : "since the job began",
        "pid", "useful s", "lost s", "down s", "pauses s", "snapshots", "faults");
    for (size_t i = 0; i < count; i++) {
        char name[16];

        snprintf(name, sizeof name, "%u", rows[i].pid);
        row.faults = rows[i].pid < faults->process_count ? faults->of_processes[rows[i].pid] : 0;
        sum += useful_seconds(&rows[i]);
        used += (size_t)print_faults(table + used, capacity - used, name, useful_seconds(&rows[i]),
                                     &row);
    }
    row.lost *= (double)count;
    row.down *= (double)count;
    row.pauses *= (double)count;
    row.faults = faults->faults;
    used += (size_t)print_faults(table + used, capacity - used, "all", sum, &row);
    table[used - 1] = '\0'; /* the last line break is the printer's */
    return table;
}

char *usage_table(const struct wire_usage *rows, size_t count)
{
    size_t capacity = (count + 4) * ROW_BYTES;
    char *table = malloc(capacity);
    struct wire_usage sum = {0};
    size_t used;

    if (!table)
        return NULL;
    for (size_t i = 0; i < count; i++)
        add(&sum, &rows[i]);
    used = (size_t)snprintf(table, capacity,
                            "%zu processes, %llu supersteps, %.3f s wall time\n"
                            "%5s %10s %9s %9s %9s %9s %9s %9s %9s\n",
                            count, (unsigned long long)sum.supersteps, (double)sum.wall_ns / 1e9,
                            "pid", "supersteps", "compute s", "comm s", "wait s", "bytes out",
                            "bytes in", "h max", "peak mem");
    for (size_t i = 0; i < count; i++) {
        char name[16];

        snprintf(name, sizeof name, "%u", rows[i].pid);
        used += (size_t)print_row(table + used, capacity - used, name, &rows[i]);
    }
    used += (size_t)print_row(table + used, capacity - used, "all", &sum);
    table[used - 1] = '\0'; /* the last line break is the printer's */
    return table;
}
