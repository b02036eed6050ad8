/* history_life.h - a record that several tests of the history begin with. */
#ifndef TESTS_UNIT_HISTORY_LIFE_H
#define TESTS_UNIT_HISTORY_LIFE_H

#include <stdio.h>

#include "bsprun/history/history.h"

/* The life of host h of that site. */
static inline struct history_record life(const char *site, double seconds, bool ended)
{
    struct history_record record = {.kind = HISTORY_LIFE,
                                    .time = 1000,
                                    .seconds = seconds,
                                    .ended = ended,
                                    .fault = HISTORY_HOST};

    snprintf(record.site, sizeof record.site, "%s", site);
    snprintf(record.name, sizeof record.name, "h");
    return record;
}

#endif
