/* launch_command.h - what is executed here to start something on other hosts.  Pure.
 *
 *   ssh        ssh -o BatchMode=yes ... HOST 'exec /path/bspnode --join'
 *   slurm      srun --overlap --no-kill ... --nodelist=HOST,... /path/bspnode --join --slurm
 *   a command  CMD HOST /path/bspnode --join
 *
 * A command whose first word is a program called ssh is ssh with these words. */
#ifndef BSPRUN_LAUNCH_COMMAND_H
#define BSPRUN_LAUNCH_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "bsprun/hosts/hosts.h"

enum launch_kind { LAUNCH_SSH, LAUNCH_SLURM, LAUNCH_COMMAND };

/* What --launcher says (NULL: nothing). */
enum launch_kind launch_kind(const char *launcher, bool in_slurm);

/* Words, NULL-terminated; to be freed with launch_command_free.  NULL: no memory.
 * `words` are executed on the host(s): a program and its arguments, NULL-terminated; they come
 * there as they are, also those with blanks and other letters that mean something to a shell (but
 * for a CMD that hands them to one).  Several hosts with slurm only, which starts them by one
 * call. */
char **launch_command(enum launch_kind kind, const char *launcher, const struct host *const *hosts,
                      uint32_t count, const char *const *words);
void launch_command_free(char **command);

/* The word as a shell has to be given it; to be freed, NULL: no memory. */
char *launch_quoted(const char *word);

#endif
