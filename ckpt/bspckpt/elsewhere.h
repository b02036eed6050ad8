/* elsewhere.h - parts of jobs that lie in directories of other hosts' own.
 *
 * bspckpt executes itself there, over what bsprun starts its agents with:
 *
 *   bspckpt part COMMAND DIR JOB=FINGERPRINT...
 *
 * COMMAND is have, ls, ls-json, verify (also verify@SUPERSTEP[.TERM]) or rm.  A job is looked for
 * in DIR, and where an agent keeps it that cannot have that path (bspzero-store-UID-N in $TMPDIR).
 * A folder with this fingerprint is the very one that the caller sees.  The answer is
 *
 *   bspckpt part
 *   LINE...
 *   end STATUS
 *
 * where a message on standard error is a line, too; the process ends with status 0. */
#ifndef CKPT_BSPCKPT_ELSEWHERE_H
#define CKPT_BSPCKPT_ELSEWHERE_H

#include "bsprun/hosts/ask_hosts.h"
#include "ckpt/bspckpt/command.h"

#define PART_BEGIN       "bspckpt part\n"
#define PART_END         "end "

#define FINGERPRINT_SIZE 64

/* Of a folder, as every host gives it that sees the folder; false: it cannot be looked at. */
bool fingerprint(const char *path, char text[FINGERPRINT_SIZE]);

/* The other hosts that the jobs have run on. */
struct elsewhere {
    struct hosts hosts;
    bool *wanted;               /* have parts of their own */
    struct ask_answer *answers; /* to the last question */
    char *launcher;
    char **words; /* part, its command, and so on; NULL-terminated.  NULL: there is no other host */
    size_t word_count;
    int status;
    uint32_t unreached; /* hosts that have not answered */
};

/* Finds the hosts and asks which have parts of their own of these jobs; without --local.  A host
 * that does not answer is told, and counts in `unreached`.  To be given to elsewhere_close also
 * after failure, which is told. */
int elsewhere_open(struct elsewhere *elsewhere, const struct request *request,
                   struct target *target, const struct store_job *jobs, size_t count);
/* Asks those that have parts.  Afterwards each that answered has the lines in its answer; others
 * are told. */
int elsewhere_ask(struct elsewhere *elsewhere, const char *command);
void elsewhere_close(struct elsewhere *elsewhere);

/* The other end: executes the command and says all that is to be said. */
int part_main(int count, char *const *words);

#endif
