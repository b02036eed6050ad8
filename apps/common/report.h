/* report.h - what the example programs print: a summary as text or as JSON, and messages.
 *
 * Every call may be made by every process; only process 0 prints.  The text form is a line
 * "name: value" per fact and a closing line "verified" or "FAILED"; nothing in it depends on
 * timing or on the number of processes unless --timing asks for the lines that begin with "time:".
 */
#ifndef APPS_COMMON_REPORT_H
#define APPS_COMMON_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Begins the summary.  Between begin and end come facts and lists. */
void report_begin(const char *program);

void report_integer(const char *name, int64_t value);
void report_hex(const char *name, uint64_t value);
void report_real(const char *name, double value);  /* 17 digits: reads back as the same number */
void report_short(const char *name, double value); /* 8 digits */
void report_rough(const char *name, double value); /* 3 digits: errors, rates */
void report_text(const char *name, const char *value);

/* A time or rate, whose name says the unit ("seconds per round"); nothing without --timing. */
void report_time(const char *name, double value);

/* A list of rows with the same facts each, printed as a table or as an array of objects:
 * list_begin, then per row the facts and row_end, then list_end. */
void report_list_begin(const char *name);
void report_row_end(void);
void report_list_end(void);

/* Ends the summary with the verdict and returns the exit status: 0, or 1 when the answer is wrong
 * or could not be printed. */
int report_end(bool verified);

/* Ends a summary of which too little could be checked, whose reason is given as the verdict:
 * neither right nor wrong.  The exit status is 0, or 1 when it could not be printed. */
int report_end_unchecked(const char *reason);

/* One line on stderr, "program: text", from process 0 or from outside the SPMD part. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The name that complain puts in front. */
void complain_as(const char *program);

/* Memory for count items of size bytes, zeroed; never NULL, also for nothing.  Ends the job with
 * a message when there is none. */
void *allocate(int64_t count, size_t size);

#endif
