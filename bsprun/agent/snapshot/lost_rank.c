/* lost_rank.c - handles the death of a rank in a job with snapshots; see rank_loss.h.
 */
#include <stdio.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/saved.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/core/to_zero.h"
#include "bsprun/agent/snapshot/alone.h"
#include "bsprun/agent/snapshot/inside.h"
#include "bsprun/agent/snapshot/rank_loss.h"
#include "lib/shm/board.h"

static struct rank_loss look_at(const struct agent *agent, int pid)
{
    const struct member *member = agent_member(agent, pid);
    const struct bspz_snap *snap = agent_snap_of(agent, pid);

    return (struct rank_loss){
        .job = agent_job(agent),
        .first_is_here = agent_is_here(agent, 0),
        .told = member->state == MEMBER_REPORTED,
        .alone = agent_alone_is_restored(agent, pid),
        .mark = (enum bspz_rank_state)atomic_load(&bspz_rank_of(agent_board(agent), pid)->state),
        .death = member->process.death,
        .said = atomic_load(&snap->staged) == 2,
        .refused = snap->refused,
        .error = snap->error,
        .copied = snapshots_of(agent)->kept[pid].copied,
    };
}

static void say_why_not_restored(const struct agent *agent, int pid, const struct rank_loss *loss,
                                 char why[AGENT_WHY])
{
    char what[80];

    snprintf(what, sizeof what, "cannot be restored from snapshot %llu.%u",
             (unsigned long long)agent_committed(agent).superstep, agent_committed(agent).term);
    if (loss->said)
        agent_snap_text(agent, pid, what, why);
    else
        snprintf(why, AGENT_WHY, "process %d ended with status %d while it was restored", pid,
                 loss->death.status);
}

static void tell_of_loss(struct agent *agent, int pid, struct death death,
                         const struct verdict *verdict)
{
    agent_opened_look(agent);
    if (!death.known)
        death = (struct death){.known = true, .signal = SIGKILL}; /* unknown below a wrapper */
    agent_blame(agent, verdict->text, verdict->with_table);
    agent_member_move(agent, pid, MEMBER_REPORTED);
    agent_rank_exited(agent, pid, &death, verdict->cause == WIRE_CAUSE_KILLED_AFTER_END,
                      verdict->text);
}

/* A process that was being restored alone: if it was killed it may be tried again. */
static void lone_is_lost(struct agent *agent, int pid, const struct rank_loss *loss,
                         const struct verdict *verdict)
{
    char why[AGENT_WHY];

    if (loss->death.known && loss->death.signal != 0 && agent_alone_restart(agent, pid, verdict))
        return;
    if (loss->said) {
        agent_snap_text(agent, pid, "cannot be restarted alone", why);
        agent_notice(agent, "%s", why);
    }
    tell_of_loss(agent, pid, (struct death){0}, verdict);
}

bool agent_snapshots_fault(struct agent *agent, int pid, const struct verdict *verdict)
{
    struct rank_loss loss;
    char why[AGENT_WHY];
    enum loss_step step;

    if (!snapshots_of(agent) || !agent_zero_decides(agent))
        return false;
    loss = look_at(agent, pid);
    step = loss_judge(&loss);
    if (loss_in_restore(&loss))
        say_why_not_restored(agent, pid, &loss, why);
    switch (step) {
    case LOSS_IS_AN_END:
    case LOSS_IS_KNOWN:
        break;
    case LOSS_OF_RANK:
        if (agent_alone_restart(agent, pid, verdict))
            break;
        tell_of_loss(agent, pid, loss.death, verdict);
        break;
    case LOSS_OF_LONE:
        lone_is_lost(agent, pid, &loss, verdict);
        break;
    case LOSS_OF_IMAGE:
        agent_blame(agent, why, false);
        agent_note_bad_image(agent, pid, agent_snap_of(agent, pid)->bad_image);
        agent_image_failed(agent, pid, WIRE_CAUSE_NOT_RESTORED, why);
        break;
    case LOSS_BY_CHANCE:
        agent_blame(agent, why, false);
        agent_rank_exited(agent, pid, &loss.death, false, why);
        break;
    case LOSS_OF_MACHINE:
        agent_cannot_go_on(agent, pid, why);
        break;
    }
    return step != LOSS_IS_AN_END;
}
