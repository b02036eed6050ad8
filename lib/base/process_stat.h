/* process_stat.h - what the kernel says of a process, in /proc/PID/stat and fdinfo; see proc(5). */
#ifndef BSPZ_BASE_PROCESS_STAT_H
#define BSPZ_BASE_PROCESS_STAT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define BSPZ_STAT_LINE 1024u /* room for any line */

/* Fields by their numbers in proc(5). */
enum bspz_stat_field {
    BSPZ_STAT_STATE = 3, /* a letter */
    BSPZ_STAT_PARENT = 4,
    BSPZ_STAT_FLAGS = 9,
    BSPZ_STAT_USER_TIME = 14,   /* in clock ticks */
    BSPZ_STAT_SYSTEM_TIME = 15, /* the same */
    BSPZ_STAT_THREADS = 20,
    BSPZ_STAT_STARTED = 22, /* in clock ticks since the machine was started */
};

/* The line of the process; false: there is none, or it cannot be read. */
bool bspz_stat_read(pid_t pid, char line[BSPZ_STAT_LINE]);

/* The start of a field, 3 or greater; NULL: the line lacks it.  The second field, the name, may
 * contain anything, but ends with the last parenthesis.  Pure, and async-signal-safe. */
const char *bspz_stat_field(const char *line, int field);
/* The same as a number; 0: missing or negative. */
uint64_t bspz_stat_number(const char *line, int field);

/* Whether the process writes at the end of what it has open as that descriptor (O_APPEND).  False
 * also when that cannot be read. */
bool bspz_process_appends(pid_t pid, int descriptor);

/* Whether the process is a zombie or dead. */
bool bspz_stat_is_dead(const char *line);
/* Whether the process is stopped, by a signal or a debugger. */
bool bspz_stat_is_stopped(const char *line);

#endif
