/* load.h - how busy and how fast hosts are, and which is to be preferred. */
#ifndef BSPRUN_LOAD_H
#define BSPRUN_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "bsprun/options/options.h"

/* What is known of a host. */
struct load {
    bool known;
    double load[3]; /* processes that want to run, on average of 1, 5 and 15 minutes */
    uint32_t cores;
    double mflops; /* of one core, in millions of operations per second; 0: not known */
    char *failure; /* not known: why; owned */
};

/* ---- load.c: pure ---- */

/* Reads what load_print has printed, or /proc/loadavg and the number of cores behind it, with
 * other lines before and behind.  False: neither is there. */
bool load_read(struct load *load, const char *text);
/* Behind "NAME " at the beginning of a line; NULL: there is no such line. */
const char *load_line_of(const char *text, const char *name);
/* Power that is free: cores that nobody uses, times their speed.  If the speed of one of the hosts
 * is not known, speeds do not count (with_speed false). */
double load_free(const struct load *load, bool with_speed);
bool load_has_speeds(const struct load *loads, uint32_t count);
/* The order of the hosts, the one with most free power first, of those without any the one that a
 * process gets most of; equal ones as they were, unknown ones last. */
void load_rank(const struct load *loads, uint32_t count, uint32_t *order);

/* What is to be known of it when processes are placed again: what is not known is as busy as can be.
 */
struct coord_load load_of_others(const struct load *load);

/* ---- load_probe.c: this host ---- */

void load_probe(struct load *load);
/* One line for load_read; 0 or -1. */
int load_print(const struct load *load);

/* ---- load_look.c: all hosts ---- */

/* Asks the hosts at the same time, by the launcher of the options; an item for each, to be freed
 * with load_free_all.  NULL: out of memory. */
struct load *load_look(const struct options_hosts *hosts);
void load_free_all(struct load *loads, uint32_t count);
/* Puts the hosts into the order of their ranks, and notes their loads.  A host that does not answer is the last; `failure`
 * (may be NULL) is called for each of those. */
bool load_sort(struct options_hosts *hosts, void (*failure)(void *context, const char *text),
               void *context);

#endif
