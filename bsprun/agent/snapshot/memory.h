/* memory.h - the memory available for more processes, by machine and cgroups: the one definition,
 * by which snapshots have frozen copies, processes are placed and moved, and bspstat shows what is
 * left.
 *
 * Of the machine that is MemAvailable of proc(5), what is free or can be had back at once.  Swap is
 * not counted: a superstep is as slow as its slowest process, and one that is swapped is slower
 * than waiting for another host; nor are limits of swap of a cgroup. */
#ifndef BSPRUN_MEMORY_H
#define BSPRUN_MEMORY_H

#include <stdint.h>
#include <sys/types.h>

/* Available bytes of the machine, or less if a cgroup limits it.  UINT64_MAX: unknown. */
uint64_t memory_available(void);

/* The private resident bytes of a process. 0: it has ended. */
uint64_t memory_of_process(pid_t ospid);

/* ---- Looking at texts, for memory_available ---- */

/* The number after a word at the beginning of a line ("MemAvailable:", "inactive_file");
 * UINT64_MAX: none. */
uint64_t memory_number(const char *text, const char *word);

/* What a cgroup still allows: its limit ("max" or a number), its use, how much of that are pages of
 * files, which can be had back. */
uint64_t memory_headroom(const char *limit, const char *use, uint64_t files);

#endif
