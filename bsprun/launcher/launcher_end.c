/* launcher_end.c - messages to the user about the end of the job.
 *
 * Happy path: nothing.
 *
 * What can fail: the job ends by a fault: its cause, and the snapshot to restart from
 * (launcher_left.c).
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/launcher/launcher_inside.h"
#include "bsprun/process.h"
#include "bsprun/verdict.h"

#define SIGNAL_STATUS 128

/* Why a job with snapshots ends with its first fault. */
#define NOTHING_YET   ", before there was a snapshot to restart from"
/* What bspkill --save is told when something else has ended the job. */
#define UNSAVED       "it has ended without a new snapshot"

/* Whether Processor Zero has found no usable snapshot, or no memory for it. */
static bool cannot_go_on(const struct launcher *launcher)
{
    return launcher->last_text && (launcher->last_cause == WIRE_CAUSE_NOTHING_SAVED ||
                                   launcher->last_cause == WIRE_CAUSE_NO_MEMORY);
}

/* Whether what Processor Zero says follows from the newest fault. */
static bool is_of_fault(const struct launcher *launcher)
{
    if (launcher->last_cause == WIRE_CAUSE_NO_MEMORY)
        return job_machine_fault(launcher->machine).restarts > 0;
    return launcher->last_cause == WIRE_CAUSE_NOTHING_SAVED ||
           launcher->last_cause == WIRE_CAUSE_HOST_LOST;
}

/* Reports the fault that has ended the job. */
static void tell_given_up(struct launcher *launcher)
{
    struct job_fault fault = job_machine_fault(launcher->machine);
    uint32_t most = launcher->common.options->snapshots.max_restarts;
    const char *text = launcher_last_fault(launcher);

    if (!launcher_has_snapshots(launcher))
        notices_say(&launcher->common.notices, "%s, which ends the job", text);
    else if (launcher->committed.term == 0)
        notices_say(&launcher->common.notices, "%s%s", text, NOTHING_YET);
    else if (cannot_go_on(launcher))
        notices_say(&launcher->common.notices, "%s, which ends the job: %s", text,
                    launcher->last_text);
    else if (fault.restarts > most)
        notices_say(&launcher->common.notices, "%s; no restarts are left (--max-restarts %u%s)",
                    text, most,
                    launcher->fault_repeats > most && most > 0 ? ", each time the same fault" : "");
    else if (job_machine_closed(launcher->machine))
        notices_say(&launcher->common.notices,
                    "%s, while the job was ending, when nothing can be rolled back any more", text);
    else
        notices_say(&launcher->common.notices, "%s, which ends the job", text);
}

static void tell_stopped(struct launcher *launcher, const struct coord_outcome *outcome)
{
    char signal[64];

    verdict_signal_text((int)outcome->signal, signal, sizeof signal);
    notices_say(&launcher->common.notices, "the job was stopped by signal %s", signal);
}

/* Whether a restart makes sense: not after the program's own end, nor when snapshots were
 * refused. */
static bool may_go_on(const struct coord_outcome *outcome)
{
    switch (outcome->cause) {
    case WIRE_CAUSE_RANK_SIGNALLED:
    case WIRE_CAUSE_HOST_LOST:
    case WIRE_CAUSE_STOPPED:
    case WIRE_CAUSE_TIMEOUT:
    case WIRE_CAUSE_SAVED:
    case WIRE_CAUSE_NOT_WRITTEN:
    case WIRE_CAUSE_INTERNAL:
    case WIRE_CAUSE_NOTHING_SAVED:
    case WIRE_CAUSE_NO_MEMORY:
        return true;
    default:
        return false;
    }
}

/* For these causes the table of processes is irrelevant. */
static bool is_about_snapshots(enum wire_cause cause)
{
    return cause == WIRE_CAUSE_REFUSED || cause == WIRE_CAUSE_NOT_WRITTEN ||
           cause == WIRE_CAUSE_NOT_RESTORED || cause == WIRE_CAUSE_SAVED ||
           cause == WIRE_CAUSE_NOTHING_SAVED || cause == WIRE_CAUSE_NO_MEMORY;
}

static void tell_behind(struct launcher *launcher, int pid)
{
    char who[48] = "what the program has started";

    if (pid >= 0)
        snprintf(who, sizeof who, "process %d", pid);
    notices_say(&launcher->common.notices,
                "%s has not repeated all output that it wrote before a rollback", who);
}

/* Whether a process has already reported the cause on its stderr. */
static bool is_told_by_process(const struct launcher *launcher)
{
    enum wire_cause cause =
        launcher->machine ? job_machine_outcome(launcher->machine).cause : WIRE_CAUSE_NONE;

    return launcher->last_text && launcher->last_cause == cause &&
           (cause == WIRE_CAUSE_ABORT_CALLED || cause == WIRE_CAUSE_RANK_ERROR);
}

/* Whether it is the exit status of process 0 after bsp_end, to be passed on silently as by a shell.
 * Statuses of deaths by signal are reported. */
static bool is_own_status(const struct launcher *launcher, int status)
{
    struct coord_outcome outcome;
    bool like_death = status > SIGNAL_STATUS && status <= SIGNAL_STATUS + SIGSYS;

    if (like_death || !launcher->machine ||
        job_machine_state(launcher->machine) != JOB_MACHINE_OVER)
        return false;
    outcome = job_machine_outcome(launcher->machine);
    return outcome.cause == WIRE_CAUSE_NONE && outcome.status == status;
}

void launcher_tell_reason(struct launcher *launcher, int status)
{
    char text[JOB_REASON_MAX];

    if (launcher->end_told || is_told_by_process(launcher) ||
        (is_own_status(launcher, status) && launcher->common.options->verbosity == 0))
        return;
    if (launcher->output.error)
        notices_say(&launcher->common.notices, "not all of the output could be written");
    else if (launcher->fault_text && launcher->forced_status)
        notices_say(&launcher->common.notices, "%s, which ends the job", launcher->fault_text);
    else if (launcher->machine && job_machine_state(launcher->machine) == JOB_MACHINE_OVER &&
             job_machine_outcome(launcher->machine).status != 0)
        notices_say(&launcher->common.notices, "%s", job_machine_reason(launcher->machine, text));
    else
        notices_say(&launcher->common.notices, "the job ended with status %d", status);
}

/* Whether the reader of the output has gone, as with `| head -1`: no message is wanted then. */
static bool is_reader_gone(const struct launcher *launcher)
{
    return launcher->common.options->verbosity == 0 &&
           launcher->status == SIGNAL_STATUS + SIGPIPE && process_reader_gone(STDOUT_FILENO);
}

/* What an agent or Processor Zero has said.  An agent that saw the death may not have known that
 * the end was decided, without which its words read as if the job could have gone on. */
static void tell_last_text(struct launcher *launcher)
{
    const char *in_vain = "";

    if (launcher->last_unaware)
        in_vain = ", when all processes had reached the end of the job";
    else if (launcher->last_cause == WIRE_CAUSE_RANK_SIGNALLED &&
             launcher_has_snapshots(launcher) && launcher->committed.term == 0)
        in_vain = NOTHING_YET;
    notices_say(&launcher->common.notices, "%s%s", launcher->last_text, in_vain);
}

/* A job that ends by itself needs no snapshot. */
static void tell_who_saves(struct launcher *launcher, const struct coord_outcome *outcome)
{
    bool known = launcher->last_cause == WIRE_CAUSE_SAVED && launcher->last_text;
    char line[512];

    if (outcome->cause == WIRE_CAUSE_NONE || (known && !launcher->last_text[0]))
        return;
    snprintf(line, sizeof line, "%s", known ? launcher->last_text : UNSAVED);
    for (char *at = line; (at = strchr(at, '\n'));)
        *at = ' '; /* it is a line */
    status_socket_tell_all(launcher->status_socket, 1u << STATUS_SAVE, line);
}

/* Reports the cause from Processor Zero, or bsprun's own decision. */
void launcher_tell_end(struct launcher *launcher)
{
    struct coord_outcome outcome = job_machine_outcome(launcher->machine);
    unsigned lines = launcher->common.notices.lines;
    int pid;

    if (outcome.cause == WIRE_CAUSE_NONE && output_behind(&launcher->output, &pid))
        tell_behind(launcher, pid);
    if (is_reader_gone(launcher))
        launcher->end_told = true; /* the status suffices, as for any command */
    if (launcher->output.error && launcher->output.error != -EPIPE)
        launcher->end_told = true; /* why it cannot be written has been said */
    if (launcher->unrecorded_told && outcome.cause == WIRE_CAUSE_NOT_WRITTEN &&
        !launcher->fault_text)
        launcher->end_told = true; /* by record_term; it was no snapshot, as the cause says */
    if (launcher->end_told)
        ; /* reported when it happened */
    else if (outcome.cause == WIRE_CAUSE_SAVED)
        notices_say(&launcher->common.notices, "%s",
                    !launcher->last_text     ? "stopped without a new snapshot"
                    : launcher->last_text[0] ? launcher->last_text
                                             : "stopped after a snapshot, as requested");
    else if (launcher->fault_text && is_of_fault(launcher))
        tell_given_up(launcher);
    else if (launcher->last_cause == WIRE_CAUSE_NO_MEMORY && launcher->last_text)
        notices_say(&launcher->common.notices, "the job cannot continue on these hosts: %s",
                    launcher->last_text);
    else if (launcher->last_text && launcher->last_text[0])
        tell_last_text(launcher);
    else if (!launcher->last_text && outcome.cause == WIRE_CAUSE_STOPPED)
        tell_stopped(launcher, &outcome);
    else if (!launcher->last_text && launcher->fault_text)
        tell_given_up(launcher);
    if (launcher->status != 0 && launcher->common.notices.lines == lines)
        launcher_tell_reason(launcher, launcher->status);
    if (launcher->last_table && !launcher->end_told && !is_about_snapshots(launcher->last_cause))
        fputs(launcher->last_table, stderr);
    if (launcher_has_snapshots(launcher) && outcome.again && may_go_on(&outcome))
        launcher_tell_left(launcher);
    tell_who_saves(launcher, &outcome);
    fflush(stderr);
}
