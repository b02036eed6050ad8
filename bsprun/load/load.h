/* load.h - load and speed of hosts, and their ranking. */
#ifndef BSPRUN_LOAD_H
#define BSPRUN_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bsprun/options/options.h"

/* The load of a host. */
struct load {
    bool known;
    double load[3]; /* runnable processes, averages over 1, 5 and 15 minutes */
    uint32_t cores;
    double mflops; /* of one core, in millions of operations per second; 0: unknown */
    char *failure; /* why the load is unknown; owned */
};

/* ---- load.c: pure ---- */

/* Reads the output of load_print, or /proc/loadavg followed by the number of cores, among other
 * lines.  False: neither is present. */
bool load_read(struct load *load, const char *text);
/* The text after "NAME " at the beginning of a line; NULL: there is no such line. */
const char *load_line_of(const char *text, const char *name);
/* Free power: idle cores times their speed.  If the speed of a host is unknown, speeds are ignored
 * (with_speed false). */
double load_free(const struct load *load, bool with_speed);
/* Ranks the hosts by free power, and those without any by the share of a further process; equal
 * ones keep their order, unknown ones are last. */
void load_rank(const struct load *loads, uint32_t count, uint32_t *order);

/* The load for the placement of processes: unknown ones count as fully busy. */
struct coord_load load_of_others(const struct load *load);

/* ---- load_probe.c: this host ---- */

void load_probe(struct load *load);
/* One line for load_read; 0 or -1. */
int load_print(const struct load *load);

/* ---- load_look.c: all hosts ---- */

/* Asks the hosts simultaneously, by the launcher of the options; returns an item for each, to be
 * freed with load_free_all.  NULL: out of memory. */
struct load *load_look(const struct options_hosts *hosts);
void load_free_all(struct load *loads, uint32_t count);
/* Sorts the hosts by rank, and stores their loads.  Hosts that do not answer are last; `failure`
 * (may be NULL) is called for each. */
bool load_sort(struct options_hosts *hosts, void (*failure)(void *context, const char *text),
               void *context);

#endif
