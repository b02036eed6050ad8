/* memory.h - how much memory there is for more processes, as far as machine and cgroups tell. */
#ifndef BSPRUN_MEMORY_H
#define BSPRUN_MEMORY_H

#include <stdint.h>
#include <sys/types.h>

/* Bytes that can still be had: the machine's, or less where a cgroup allows less.  UINT64_MAX when
 * nothing is known. */
uint64_t memory_available(void);

/* Bytes of a process's own: resident, and not of a file or shared.  0 when it is gone. */
uint64_t memory_of_process(pid_t ospid);

/* ---- Looking at texts, for memory_available ---- */

/* The number behind a word at the beginning of a line ("MemAvailable:", "inactive_file");
 * UINT64_MAX when there is none. */
uint64_t memory_number(const char *text, const char *word);

/* What a cgroup still allows: its limit ("max" or a number), its use, its statistics; pages of
 * files can be had back. */
uint64_t memory_headroom(const char *limit, const char *use, const char *statistics);

#endif
