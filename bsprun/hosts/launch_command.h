/* launch_command.h - local commands that start programs on other hosts.  Pure.
 *
 *   ssh        ssh -o BatchMode=yes ... HOST 'exec /path/bspnode --join'
 *   slurm      srun --overlap --no-kill ... --nodelist=HOST,... /path/bspnode --join --slurm
 *   a command  CMD HOST /path/bspnode --join
 *
 * A command whose first word is a program named ssh is treated as ssh with these words. */
#ifndef BSPRUN_LAUNCH_COMMAND_H
#define BSPRUN_LAUNCH_COMMAND_H

#include <stdbool.h>
#include <stdint.h>

#include "bsprun/hosts/hosts.h"

enum launch_kind { LAUNCH_SSH, LAUNCH_SLURM, LAUNCH_COMMAND };

/* The words of a value of --launcher, separated as by a shell: blanks within quotes or behind a
 * backslash are part of a word.  NULL-terminated, in one block, to be freed.  NULL: the
 * text ends in a backslash, or no memory. */
const char **launch_words(const char *text);

/* The kind of launcher for the value of --launcher (NULL: none). */
enum launch_kind launch_kind(const char *launcher, bool in_slurm);

/* Words, NULL-terminated; to be freed with launch_command_free.  NULL: no memory.  `words` are
 * executed on the host(s): a program and its arguments, NULL-terminated; they are quoted, so that
 * blanks and characters special to a shell are preserved (except by a CMD that passes them to a
 * shell).  Several hosts with slurm only, by one call. */
char **launch_command(enum launch_kind kind, const char *launcher, const struct host *const *hosts,
                      uint32_t count, const char *const *words);
void launch_command_free(char **command);

/* The word quoted for a shell; to be freed, NULL: no memory. */
char *launch_quoted(const char *word);

#endif
