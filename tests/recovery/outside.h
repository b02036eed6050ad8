/* outside.h - how a test sees and stops a program's supersteps from outside: two kinds of files in
 * a directory that are not part of the job's state.
 *
 * To "witness" each process adds "PID SUPERSTEP OSPID" whenever it executes a superstep, so that
 * one sees what was executed twice.  As long as "hold.PID.SUPERSTEP" exists, the process stays
 * there. */
#ifndef TESTS_RECOVERY_OUTSIDE_H
#define TESTS_RECOVERY_OUTSIDE_H

extern const char *outside_directory;

void outside_superstep(int s);

/* The process goes into bsp_end, after superstep s; held by the file of the one after it. */
void outside_end(int s);

void outside_rest(long milliseconds);

#endif
