/* report.h - what a real job has learned of failures and costs, from the JSON that it printed. */
#ifndef BSPSIM_REPORT_H
#define BSPSIM_REPORT_H

#include <stdbool.h>

#define REPORT_ERROR 512u

struct report {
    double hosts;                    /* 0: missing, as for those below */
    double rate;                     /* failures of the job per second */
    double snapshot, delay, restore; /* seconds; a delay of 0 is valid */
    bool has_snapshot, has_restore;
};

/* Parses the text of the file, one or more JSON values.  Somewhere in it there must be one object
 * "failures" with the number "hosts" and the object "model" with the numbers rate, cost, restore
 * and delay.  False: not JSON, no such object, or more than one; `error` says what and where. */
bool report_parse(const char *file, const char *text, struct report *report,
                  char error[REPORT_ERROR]);

/* The same for a file; "-" is the standard input. */
bool report_read(const char *file, struct report *report, char error[REPORT_ERROR]);

#endif
