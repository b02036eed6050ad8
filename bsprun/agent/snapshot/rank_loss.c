/* rank_loss.c - see rank_loss.h. */
#include "bsprun/agent/snapshot/rank_loss.h"

#include <errno.h>

static bool restores(const struct rank_loss *loss)
{
    return loss->job == JOB_RESTORING || (loss->job == JOB_FORMING && !loss->first_is_here);
}

static bool ended_by_itself(const struct rank_loss *loss)
{
    return loss->death.known && loss->death.signal == 0;
}

bool loss_in_restore(const struct rank_loss *loss)
{
    return restores(loss) && ended_by_itself(loss);
}

/* Whether the error is transient, such as a lack of memory or processes. */
static bool is_transient(int error)
{
    return error == ENOMEM || error == EAGAIN;
}

static enum loss_step classify_restore(const struct rank_loss *loss)
{
    if (loss->job == JOB_FORMING)
        return LOSS_OF_MACHINE;
    if (!loss->said || loss->copied)
        return LOSS_BY_CHANCE;
    if (!loss->refused)
        return LOSS_OF_IMAGE;
    return is_transient(loss->error) ? LOSS_BY_CHANCE : LOSS_OF_MACHINE;
}

enum loss_step loss_judge(const struct rank_loss *loss)
{
    if (loss->job == JOB_REWINDING)
        return LOSS_IS_AN_END; /* of a previous term: the caller checks whether all have ended */
    /* Until Processor Zero has answered, each further death finds this one again; and after
     * bsp_end, which all may have reached meanwhile, it must not be reported twice. */
    if (loss->told)
        return LOSS_IS_KNOWN;
    /* In its place it may have ended by itself before anybody has seen it there. */
    if (loss->alone && loss->mark < BSPZ_RANK_RUNNING)
        return LOSS_OF_LONE;
    if (loss->mark > BSPZ_RANK_RUNNING || (ended_by_itself(loss) && !restores(loss)))
        return LOSS_IS_AN_END;
    return loss_in_restore(loss) ? classify_restore(loss) : LOSS_OF_RANK;
}
