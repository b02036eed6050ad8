/* learned_text.h - the estimates of failures and costs of a job, as text or JSON.  Pure. */
#ifndef BSPRUN_LEARNED_TEXT_H
#define BSPRUN_LEARNED_TEXT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "coordinator/core/estimate.h"
#include "lib/base/json.h"

struct learned_facts {
    struct estimate estimate;
    struct estimate_units units; /* of the present job */
    bool told;                   /* reported by Processor Zero, and then: */
    uint64_t interval_ns;        /* WIRE_NEVER: none, or not by time */
    const char *why;
    uint64_t image_bytes; /* of all images of the newest snapshot; 0: unknown */
};

/* The name of a kind of failure, enum estimate_kind. */
const char *learned_kind(unsigned kind);

/* The present interval and its reason, without a line feed. */
void learned_interval_text(const struct learned_facts *facts, char *text, size_t size);

/* Lines, each with `margin` and a line feed. */
void learned_print(FILE *file, const struct learned_facts *facts, const char *margin);

/* An object of that name. */
void learned_json(struct bspz_json *json, const char *name, const struct learned_facts *facts);

#endif
