/* alone_loss.c - see alone_loss.h. */
#include "bsprun/agent/snapshot/alone_loss.h"

void alone_images_begin(struct alone_images *images, enum alone_image kind)
{
    *images = (struct alone_images){.newest = {kind, 1}};
}

void alone_images_recorded(struct alone_images *images, enum alone_image kind, uint64_t request)
{
    images->recorded.kind = kind;
    images->recorded.request = request;
}

bool alone_images_there(struct alone_images *images, enum alone_image kind, uint64_t *request)
{
    if (kind == IMAGE_NONE || images->recorded.kind != kind)
        return false;
    images->newest = images->recorded;
    images->recorded.kind = IMAGE_NONE;
    images->restarts = 0;
    *request = images->newest.request;
    return true;
}

void alone_images_restarted(struct alone_images *images)
{
    images->recorded.kind = IMAGE_NONE;
    images->restarts++;
}

bool alone_writer_is_lost(enum bspz_snap_process_state state, bool watched)
{
    return state == BSPZ_SNAP_REFUSED ||
           ((state == BSPZ_SNAP_HELD || state == BSPZ_SNAP_ENTERED) && !watched);
}

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
        [ALONE_TOO_OFTEN] = "that has failed three times since it was saved",
    };

    return reasons[verdict];
}
