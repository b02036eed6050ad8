/* report.h - what a real job has learned of failures and costs, from the JSON that it printed. */
#ifndef BSPSIM_REPORT_H
#define BSPSIM_REPORT_H

#include <stdbool.h>

#define REPORT_ERROR 512u

struct report {
    double hosts;                    /* 0: not there, as those below */
    double rate;                     /* failures of the job per second */
    double snapshot, delay, restore; /* seconds; a delay of 0 is 0 */
    bool has_snapshot, has_restore;
};

/* Reads the text of a file of that name, one or more values of JSON: in it, at any place, an object
 * "failures" with the number "hosts" and the object "model" with the numbers rate, cost, restore
 * and delay.  False: it is none, has none, or more than one; `error` says what and where. */
bool report_parse(const char *file, const char *text, struct report *report,
                  char error[REPORT_ERROR]);

/* The same of a file; "-" is the standard input. */
bool report_read(const char *file, struct report *report, char error[REPORT_ERROR]);

#endif
