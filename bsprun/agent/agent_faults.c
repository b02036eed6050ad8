/* agent_faults.c - what the death of a rank means in a job with snapshots.
 *
 * A rank that dies by a signal is a fault: Processor Zero goes back to a snapshot, if there is one.
 * In a restore it depends: another snapshot is worth trying when the image is damaged, the same one
 * when it was chance, and none when the machine is not as it was (another program, a file that is
 * gone): that is for the user.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "bsprun/agent/snapshots_inside.h"
#include "bsprun/agent/stop.h"
#include "bsprun/agent/to_zero.h"

/* It has ended by itself before it was a rank again. */
static void not_restored(struct agent *agent, int pid, const struct death *death)
{
    const struct bspz_snap *snap = agent_snap_of(agent, pid);
    bool has_said = atomic_load(&snap->staged) == 2;
    int error = snap->error;
    char why[AGENT_WHY], what[80];

    snprintf(what, sizeof what, "cannot be restored from snapshot %llu.%u",
             (unsigned long long)agent->snapshots->committed.superstep,
             agent->snapshots->committed.term);
    if (has_said)
        agent_snap_text(agent, pid, what, why);
    else
        snprintf(why, sizeof why, "process %d ended with status %d while it was restored", pid,
                 death->status);
    if (agent->job == JOB_FORMING) {
        agent_cannot_go_on(agent, pid, why);
    } else if (has_said && !agent->snapshots->kept[pid].copied && !snap->refused) {
        agent_blame(agent, why, false);
        agent_note_bad_image(agent, pid, snap->bad_image);
        agent_image_failed(agent, pid, WIRE_CAUSE_NOT_RESTORED, why);
    } else if (has_said && !agent->snapshots->kept[pid].copied && error != ENOMEM &&
               error != EAGAIN) {
        agent_cannot_go_on(agent, pid, why);
    } else {
        agent_blame(agent, why, false);
        agent_rank_exited(agent, pid, death, why);
    }
}

bool agent_snapshots_fault(struct agent *agent, int pid, const struct verdict *verdict)
{
    struct death death = agent->members[pid].process.death;
    bool forming = agent->job == JOB_FORMING && !agent_is_here(agent, 0);
    bool restoring = agent->job == JOB_RESTORING || forming;
    enum bspz_rank_state mark;

    if (!agent->snapshots || !agent_zero_decides(agent) || agent->job == JOB_REWINDING)
        return false;
    /* Until Processor Zero has answered, each further death finds this one again; and past bsp_end,
     * which all may have reached meanwhile, it would not bear to hear of it twice. */
    if (agent->members[pid].exit_reported)
        return true;
    mark = (enum bspz_rank_state)atomic_load(&bspz_rank_of(agent->board, pid)->state);
    if (mark > BSPZ_RANK_RUNNING || (death.known && death.signal == 0 && !restoring))
        return false; /* its own doing */
    if (restoring && death.known && death.signal == 0) {
        not_restored(agent, pid, &death);
        return true;
    }
    agent_opened_look(agent);
    if (!death.known)
        death = (struct death){.known = true, .signal = SIGKILL}; /* below a wrapper nobody knows */
    agent_blame(agent, verdict->text, verdict->with_table);
    agent->members[pid].exit_reported = true;
    agent_rank_exited(agent, pid, &death, verdict->text);
    return true;
}
