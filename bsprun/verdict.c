/* verdict.c - the consequences of the death of a process; see verdict.h. */
#include "bsprun/verdict.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define SIGNAL_STATUS 128 /* as shells count: 128 + signal */

void verdict_signal_text(int signal, char *text, size_t size)
{
    const char *name = sigdescr_np(signal);

    if (name)
        snprintf(text, size, "%d (%s)", signal, name);
    else
        snprintf(text, size, "%d", signal);
}

/* "in superstep 5, last call bsp_sync at a.c:12" */
static void place_text(const struct whereabouts *where, char *text, size_t size)
{
    if (where->mark < BSPZ_RANK_RUNNING)
        snprintf(text, size, "in %s", where->begin);
    else if (where->call == BSPZ_CALL_NONE)
        snprintf(text, size, "in superstep %llu", (unsigned long long)where->superstep);
    else
        snprintf(text, size, "in superstep %llu, last call %s at %s:%u",
                 (unsigned long long)where->superstep, where->function, where->file, where->line);
}

/* `text` gets the signal's name. */
static void take_signal(struct verdict *verdict, enum wire_cause cause, int signal, char text[64])
{
    verdict->cause = cause;
    verdict->signal = signal;
    verdict->status = SIGNAL_STATUS + signal;
    verdict_signal_text(signal, text, 64);
}

/* Dead without a mark: determined by the wait status. */
static void explain_unmarked_death(const struct whereabouts *where, const struct death *death,
                                   struct verdict *verdict)
{
    char place[BSPZ_NAME_BYTES + 96];
    char signal[64];

    place_text(where, place, sizeof place);
    verdict->with_table = true;
    if (death->known && death->signal) {
        take_signal(verdict, WIRE_CAUSE_RANK_SIGNALLED, death->signal, signal);
        snprintf(verdict->text, sizeof verdict->text, "pid %d was killed by signal %s %s",
                 where->pid, signal, place);
        return;
    }
    verdict->cause = WIRE_CAUSE_RANK_EXITED;
    if (death->known) {
        verdict->status = death->status ? death->status : 1;
        snprintf(verdict->text, sizeof verdict->text, "pid %d ended with status %d without %s %s",
                 where->pid, death->status, where->end, place);
        return;
    }
    verdict->status = 1;
    snprintf(verdict->text, sizeof verdict->text, "pid %d has died without %s %s", where->pid,
             where->end, place);
}

static void explain_death_after_end(const struct whereabouts *where, const struct death *death,
                                    struct verdict *verdict)
{
    char signal[64];

    verdict->cause = WIRE_CAUSE_NONE;
    if (!death->known)
        return;
    verdict->status = death->status;
    /* With BSP_COMPAT=oxford a process may leave by exit, with any status: that is announced. */
    if (!death->signal &&
        (where->pid == 0 || death->status == 0 || death->status == (where->exit_status & 0xff)))
        return;
    if (!death->signal) {
        verdict->cause = WIRE_CAUSE_EXITED_AFTER_END;
        snprintf(verdict->text, sizeof verdict->text, "pid %d ended with status %d after %s",
                 where->pid, death->status, where->end);
        return;
    }
    take_signal(verdict, WIRE_CAUSE_KILLED_AFTER_END, death->signal, signal);
    snprintf(verdict->text, sizeof verdict->text, "pid %d was killed by signal %s after %s",
             where->pid, signal, where->end);
}

void verdict_of_rank(const struct whereabouts *where, const struct death *death,
                     struct verdict *verdict)
{
    memset(verdict, 0, sizeof *verdict);
    switch (where->mark) {
    case BSPZ_RANK_EXITED:
        verdict->cause = WIRE_CAUSE_RANK_EXITED;
        verdict->status = where->exit_status & 0xff ? where->exit_status & 0xff : 1;
        verdict->with_table = true;
        snprintf(verdict->text, sizeof verdict->text,
                 "pid %d called exit(%d) in superstep %llu before %s", where->pid,
                 where->exit_status, (unsigned long long)where->superstep, where->end);
        break;
    case BSPZ_RANK_ABORTED:
        verdict->cause = WIRE_CAUSE_ABORT_CALLED;
        verdict->status = where->exit_status & 0xff ? where->exit_status & 0xff : 1;
        break;
    case BSPZ_RANK_FAILED:
        verdict->cause = WIRE_CAUSE_RANK_ERROR;
        verdict->status = 1;
        break;
    case BSPZ_RANK_ENDED:
        explain_death_after_end(where, death, verdict);
        break;
    default:
        explain_unmarked_death(where, death, verdict);
        break;
    }
}

void verdict_of_program(const char *program, bool attached, const struct death *death,
                        struct verdict *verdict)
{
    char signal[64];

    memset(verdict, 0, sizeof *verdict);
    if (death->known && death->signal) {
        take_signal(verdict, WIRE_CAUSE_RANK_SIGNALLED, death->signal, signal);
        snprintf(verdict->text, sizeof verdict->text,
                 "%.200s was killed by signal %s before bsp_begin", program, signal);
        return;
    }
    verdict->status = death->known ? death->status : 1;
    /* It may exit so, after --help or because of wrong arguments, and has informed the user. */
    if (attached)
        return;
    verdict->cause = WIRE_CAUSE_RANK_EXITED;
    if (verdict->status == 0)
        verdict->status = 1;
    snprintf(verdict->text, sizeof verdict->text,
             "%.200s ended%s without calling bsp_begin: was it linked with bspcc?", program,
             death->status ? " with an error and" : "");
}

const char *verdict_limit_hint(int error)
{
    if (error == EMFILE)
        return " (the limit of this shell: ulimit -n)";
    return error == EAGAIN || error == ENOMEM ? " (the limits of this shell: ulimit -u, -v)" : "";
}
