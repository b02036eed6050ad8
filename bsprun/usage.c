/* usage.c - the resource usage of processes; see usage.h. */
#include "bsprun/usage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/units.h"

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

static void print_row(FILE *file, const char *name, const struct wire_usage *row)
{
    char out[16], in[16], h[16], peak[16];

    bspz_bytes_text(row->bytes_out, out, sizeof out);
    bspz_bytes_text(row->bytes_in, in, sizeof in);
    bspz_bytes_text(row->h_max, h, sizeof h);
    bspz_bytes_text(row->peak_memory, peak, sizeof peak);
    fprintf(file, "%5s %10llu %9.3f %9.3f %9.3f %9s %9s %9s %9s\n", name,
            (unsigned long long)row->supersteps, (double)row->compute_ns / 1e9,
            (double)row->communicate_ns / 1e9, (double)row->wait_ns / 1e9, out, in, h, peak);
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

static void print_faults(FILE *file, const char *name, double useful,
                         const struct usage_faults *row)
{
    fprintf(file, "%5s %10.3f %10.3f %10.3f %10.3f %10llu %8u\n", name, useful, row->lost,
            row->down, row->pauses, (unsigned long long)row->snapshots, row->faults);
}

/* The table without its last line break, which is the printer's; NULL: no memory. */
static char *finish(FILE *file, char **table)
{
    if (fclose(file) == 0) {
        (*table)[strlen(*table) - 1] = '\0';
        return *table;
    }
    free(*table);
    return NULL;
}

char *usage_faults_table(const struct wire_usage *rows, size_t count,
                         const struct usage_faults *faults)
{
    struct usage_faults row = *faults;
    char *table = NULL, name[16];
    double sum = 0;
    size_t size;
    FILE *file = open_memstream(&table, &size);

    if (!file)
        return NULL;
    fprintf(file,
            "%s:\n"
            "%5s %10s %10s %10s %10s %10s %8s\n",
            faults->restarted ? "useful since the job began, the rest since this restart"
                              : "since the job began",
            "pid", "useful s", "lost s", "down s", "pauses s", "snapshots", "faults");
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "%u", rows[i].pid);
        row.faults = rows[i].pid < faults->process_count ? faults->of_processes[rows[i].pid] : 0;
        sum += useful_seconds(&rows[i]);
        print_faults(file, name, useful_seconds(&rows[i]), &row);
    }
    row.lost *= (double)count;
    row.down *= (double)count;
    row.pauses *= (double)count;
    row.faults = faults->faults;
    print_faults(file, "all", sum, &row);
    return finish(file, &table);
}

char *usage_table(const struct wire_usage *rows, size_t count)
{
    struct wire_usage sum = {0};
    char *table = NULL, name[16];
    size_t size;
    FILE *file = open_memstream(&table, &size);

    if (!file)
        return NULL;
    for (size_t i = 0; i < count; i++)
        add(&sum, &rows[i]);
    fprintf(file,
            "%zu process%s, %llu superstep%s, %.3f s wall time\n"
            "%5s %10s %9s %9s %9s %9s %9s %9s %9s\n",
            count, count == 1 ? "" : "es", (unsigned long long)sum.supersteps,
            sum.supersteps == 1 ? "" : "s", (double)sum.wall_ns / 1e9, "pid", "supersteps",
            "compute s", "comm s", "wait s", "bytes out", "bytes in", "h max", "peak mem");
    for (size_t i = 0; i < count; i++) {
        snprintf(name, sizeof name, "%u", rows[i].pid);
        print_row(file, name, &rows[i]);
    }
    print_row(file, "all", &sum);
    return finish(file, &table);
}
