/* alone_loss.h - decides whether a process that is lost is restarted alone, while the others go on;
 * pure.
 *
 * It is, if nothing but the dataspace has carried effects of it to others, or of others to it,
 * since its image: not a barrier that it has reached, not an open file, not the input of the job.
 * Otherwise all go back to the last snapshot (rank_loss.h).
 */
#ifndef BSPRUN_AGENT_ALONE_LOSS_H
#define BSPRUN_AGENT_ALONE_LOSS_H

#include <stdbool.h>
#include <stdint.h>

#define ALONE_MOST 3u /* restarts from the same image */

struct alone_facts {
    bool wanted;       /* --recover one */
    bool suits;        /* its program uses only the dataspace */
    bool runs;         /* the job runs, and the process was no child of another program */
    bool has_image;    /* there is one of it, or one of process 0 in bsp_begin */
    bool at_barrier;   /* it has reached a barrier that is not over for it */
    bool shares;       /* it has files open for writing, or shares them with others */
    bool has_read;     /* ... read input since its image */
    uint32_t restarts; /* from that image so far */
};

enum alone_verdict {
    ALONE_RESTARTED,
    ALONE_UNWANTED,
    ALONE_UNSAVED,
    ALONE_AT_BARRIER,
    ALONE_SHARES,
    ALONE_HAS_READ,
    ALONE_TOO_OFTEN,
    ALONE_VERDICTS
};

enum alone_verdict alone_judge(const struct alone_facts *facts);
/* Why it is not restarted alone: "it has ..."; "" if that is not to be told. */
const char *alone_reason(enum alone_verdict verdict);

#endif
