/* alone_loss.c - see alone_loss.h. */
#include "bsprun/agent/snapshot/alone_loss.h"

enum alone_verdict alone_judge(const struct alone_facts *facts)
{
    if (!facts->wanted || !facts->suits || !facts->runs)
        return ALONE_UNWANTED;
    if (!facts->has_image)
        return ALONE_UNSAVED;
    if (facts->at_barrier)
        return ALONE_AT_BARRIER;
    if (facts->shares)
        return ALONE_SHARES;
    if (facts->has_read)
        return ALONE_HAS_READ;
    return facts->restarts < ALONE_MOST ? ALONE_RESTARTED : ALONE_TOO_OFTEN;
}

const char *alone_reason(enum alone_verdict verdict)
{
    static const char *const reasons[ALONE_VERDICTS] = {
        [ALONE_RESTARTED] = "",
        [ALONE_UNWANTED] = "",
        [ALONE_UNSAVED] = "", /* which the end of the job will say */
        [ALONE_AT_BARRIER] = "it was stopping for a snapshot, or had called volpex_finalize",
        [ALONE_SHARES] = "it has files open for writing",
        [ALONE_HAS_READ] = "it has read input since it was saved",
        [ALONE_TOO_OFTEN] = "that has failed three times since it was saved",
    };

    return reasons[verdict];
}
