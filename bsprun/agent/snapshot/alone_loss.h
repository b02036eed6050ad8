/* alone_loss.h - decides whether a process that is lost is restarted alone, while the others go on,
 * and from which image; pure.
 *
 * It is, if nothing but the dataspace has carried effects of it to others, or of others to it,
 * since its image: not a barrier that it has reached, not an open file.  Input of the job it is
 * given again.  Otherwise all go back to the last snapshot (rank_loss.h).
 */
#ifndef BSPRUN_AGENT_ALONE_LOSS_H
#define BSPRUN_AGENT_ALONE_LOSS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/shm/snap.h"

#define ALONE_MOST 3u /* restarts from the same image */

struct alone_facts {
    bool wanted;       /* --recover one */
    bool suits;        /* its program uses only the dataspace */
    bool runs;         /* the job runs, and the process was no child of another program */
    bool has_image;    /* there is one of it, or one of process 0 in bsp_begin */
    bool at_barrier;   /* it has reached a barrier that is not over for it */
    bool shares;       /* it has files open for writing, or shares them with others */
    uint32_t restarts; /* from that image so far */
};

enum alone_verdict {
    ALONE_RESTARTED,
    ALONE_UNWANTED,
    ALONE_UNSAVED,
    ALONE_AT_BARRIER,
    ALONE_SHARES,
    ALONE_TOO_OFTEN,
    ALONE_VERDICTS
};

/* The images of a process, of itself or in a snapshot of all: which one counts.
 *
 * An image is recorded at some moment, and there some time later; only then the answers before it
 * may be given up, and older images.  If the process is lost meanwhile and goes on from an older
 * one, it needs these answers, and the image does not count any more. */
enum alone_image { IMAGE_NONE, IMAGE_OWN, IMAGE_TOGETHER };
struct alone_images {
    struct {
        enum alone_image kind;
        uint64_t request; /* the first one that the process would make after it */
    } newest, recorded;
    uint32_t restarts; /* from the newest */
};

/* The process begins in that image, which is there. */
void alone_images_begin(struct alone_images *images, enum alone_image kind);
/* The process is recorded, before that request. */
void alone_images_recorded(struct alone_images *images, enum alone_image kind, uint64_t request);
/* The image that was recorded is there.  True: it counts, and answers to requests below *request
 * may be given up.  False: the older one still counts. */
bool alone_images_there(struct alone_images *images, enum alone_image kind, uint64_t *request);
/* The process is restarted from the newest image. */
void alone_images_restarted(struct alone_images *images);
/* Whether nobody writes the image any more, unless it is written: the state of the process that was
 * to, and whether that is being watched. */
bool alone_writer_is_lost(enum bspz_snap_process_state state, bool watched);

enum alone_verdict alone_judge(const struct alone_facts *facts);
/* Why it is not restarted alone: "it has ..."; "" if that is not to be told. */
const char *alone_reason(enum alone_verdict verdict);

#endif
