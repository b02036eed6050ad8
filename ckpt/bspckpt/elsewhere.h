/* elsewhere.h - parts of jobs that lie in directories of other hosts' own.
 *
 * bspckpt runs itself on those hosts, by the launcher that bsprun starts its agents with:
 *
 *   bspckpt part COMMAND DIR JOB=FINGERPRINT...
 *
 * COMMAND is have, ls, ls-json, verify (also verify@SUPERSTEP[.TERM]) or rm.  A job is looked for
 * in DIR, and in the directory that an agent uses when DIR is not available (bspzero-store-UID-N in
 * $TMPDIR).  A directory with this fingerprint is the one that the caller itself sees.  The answer
 * is
 *
 *   bspckpt part
 *   LINE...
 *   end STATUS
 *
 * where messages, "bspckpt: TEXT", are the last of the lines; the process exits with status 0. */
#ifndef CKPT_BSPCKPT_ELSEWHERE_H
#define CKPT_BSPCKPT_ELSEWHERE_H

#include "bsprun/hosts/ask_hosts.h"
#include "ckpt/bspckpt/command.h"

#define PART_BEGIN       "bspckpt part\n"
#define PART_END         "end "

#define FINGERPRINT_SIZE 64

/* The fingerprint of a job's directory is the same on all hosts that share it, and of two looks
 * while the job takes snapshots; false: stat failed. */
bool fingerprint(const char *path, char text[FINGERPRINT_SIZE]);

/* The other hosts that the jobs have run on. */
struct elsewhere {
    struct hosts hosts;
    bool *wanted;               /* have parts of their own */
    bool *nodes;                /* to be reached by srun, as nodes of the allocation */
    struct ask_answer *answers; /* to the last question */
    char *launcher;             /* NULL: srun for nodes of the allocation, ssh for others */
    bool by_slurm;              /* that is how the newest job was started: no older one counts */
    char **words; /* part, its command, and so on; NULL-terminated.  NULL: there is no other host */
    size_t word_count;
    int status;
};

/* Finds the hosts and asks which have parts of their own of these jobs; without --local.  A host
 * that does not answer is reported.  Requires elsewhere_close also after a failure, which is
 * reported. */
int elsewhere_open(struct elsewhere *elsewhere, const struct request *request,
                   struct target *target, const struct store_job *jobs, size_t count);
/* Asks the hosts that have parts.  Afterwards the answer of each holds its lines; messages among
 * them, and hosts without an answer, are reported. */
int elsewhere_ask(struct elsewhere *elsewhere, const char *command);
void elsewhere_close(struct elsewhere *elsewhere);

/* The remote side: executes the command and prints the answer. */
int part_main(int count, char *const *words);

#endif
