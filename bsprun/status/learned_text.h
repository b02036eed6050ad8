/* learned_text.h - what a job has learned of failures and costs, as a text for people or as JSON. Pure. */
#ifndef BSPRUN_LEARNED_TEXT_H
#define BSPRUN_LEARNED_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "coordinator/core/estimate.h"
#include "lib/base/json.h"

struct learned_facts {
    struct estimate estimate;
    struct estimate_units units; /* of the job as it is now */
    bool told;                   /* by Processor Zero: then also: */
    uint64_t interval_ns;        /* WIRE_NEVER: for ever, or no question of time */
    const char *why;
    uint64_t image_bytes; /* of the newest snapshot, all images; 0: not known */
    const char *site;     /* of the history; "" */
};

/* "1.5 s", "3.2 h" and the like; INFINITY: "for ever". */
#define LEARNED_TIME_MAX 32u
const char *learned_time(double seconds, char text[LEARNED_TIME_MAX]);

/* The interval in force and why: without a line feed. */
void learned_interval_text(const struct learned_facts *facts, char *text, size_t size);

/* Lines, each with `margin` before it and a line feed behind it. */
void learned_print(FILE *file, const struct learned_facts *facts, const char *margin);

/* An object of that name. */
void learned_json(struct bspz_json *json, const char *name, const struct learned_facts *facts);

#endif
