/* plan.c - bspsim plan: how often a job should take snapshots, and how long it will take. */
#include "tools/bspsim/plan.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "tools/bspsim/command.h"
#include "tools/bspsim/report.h"

#define NOTICE_SECONDS                                                                             \
    21.0 /* until a silent host counts as lost, with bsprun's heartbeat of 10 s */
#define LIMIT_BY_WORK 1000
#define FAILURES_MOST (JOB_FAILURES_MOST / 2.0) /* expected in a job that is simulated */

/* ---- What is known ------------------------------------------------------------------------ */

static double unless_given(const struct arguments *arguments, enum argument argument, double given,
                           double reported)
{
    return argument_given(arguments, argument) ? given : reported;
}

/* Takes missing values from the report; returns the status. */
static int take_report(struct arguments *arguments)
{
    struct report report;
    char error[REPORT_ERROR];
    if (!report_read(arguments->report, &report, error))
        return bspsim_command_fail(STATUS_BAD, "%s", error);
    if (!report.has_snapshot && !argument_given(arguments, ARG_SNAPSHOT))
        return bspsim_command_fail(STATUS_BAD, "%s: no snapshot was measured; give --snapshot",
                                   arguments->report);
    if (!report.has_restore && !argument_given(arguments, ARG_RESTORE))
        return bspsim_command_fail(STATUS_BAD, "%s: no restore was measured; give --restore",
                                   arguments->report);
    if (!(report.rate > 0) && !argument_given(arguments, ARG_MTBF))
        return bspsim_command_fail(STATUS_BAD, "%s: no failure was seen; give --mtbf",
                                   arguments->report);
    if (report.hosts > LIVES_HOSTS_MAX)
        return bspsim_command_fail(STATUS_BAD, "%s: more than %u hosts", arguments->report,
                                   LIVES_HOSTS_MAX);
    arguments->snapshot =
        unless_given(arguments, ARG_SNAPSHOT, arguments->snapshot, report.snapshot);
    arguments->restore = unless_given(arguments, ARG_RESTORE, arguments->restore, report.restore);
    arguments->commit = unless_given(arguments, ARG_COMMIT, arguments->commit, report.delay);
    arguments->mtbf = unless_given(arguments, ARG_MTBF, arguments->mtbf,
                                   report.rate > 0 ? report.hosts / report.rate : 0);
    if (!argument_given(arguments, ARG_HOSTS))
        arguments->hosts = (uint32_t)report.hosts;
    return STATUS_OK;
}

/* Costs by the image size: at worst the job pauses while a snapshot is written; a restore is the
 * notice and reading the image. */
static void take_image(struct arguments *arguments)
{
    arguments->snapshot = arguments->image / arguments->bandwidth;
    arguments->restore = NOTICE_SECONDS + arguments->snapshot;
}

/* ---- Rows --------------------------------------------------------------------------------- */

static struct plan_row row_of(const struct plan *plan, const char *name, const char *text,
                              double interval)
{
    return (struct plan_row){.name = name,
                             .text = text,
                             .interval = interval,
                             .utilisation = interval_utilisation(&plan->model, interval),
                             .paper_utilisation =
                                 interval_paper_utilisation(&plan->model, interval),
                             .expected = interval_time(&plan->model, interval, plan->work)};
}

static void make_rows(struct plan *plan)
{
    static const struct {
        const char *name, *text;
        double interval;
    } fixed[] = {{"60 s", "1 min", 60},
                 {"120 s", "2 min", 120},
                 {"300 s", "5 min", 300},
                 {"600 s", "10 min", 600},
                 {"1800 s", "30 min", 1800}};
    const struct interval_model *model = &plan->model;
    struct plan_row *row = plan->rows;
    *row++ = row_of(plan, "best", "best", interval_best(model));
    *row = row_of(plan, "auto", "--every auto", interval_best(model));
    row++->automatic = true;
    *row++ = row_of(plan, "paper", "Ni and Harwood", interval_paper(model));
    *row++ = row_of(plan, "young", "Young", interval_young(model));
    *row++ = row_of(plan, "daly", "Daly", interval_daly(model));
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
        *row++ = row_of(plan, fixed[i].name, fixed[i].text, fixed[i].interval);
}

static bool is_endless(const struct plan *plan, const struct plan_row *row)
{
    /* An interval of 0 is a snapshot at every barrier, too many to simulate. */
    return !(row->expected * plan->model.rate < FAILURES_MOST) ||
           row->expected > LIMIT_BY_WORK * plan->work || row->interval < 1e-3;
}

static bool simulate(struct plan *plan, const struct batch_setup *setup)
{
    for (int i = 0; i < PLAN_ROWS; i++) {
        struct plan_row *row = &plan->rows[i];
        struct batch_setup batch = *setup;
        if (is_endless(plan, row))
            continue;
        if (!row->automatic)
            batch.job.rule =
                (struct policy_rule){.kind = POLICY_TIME,
                                     .every = isfinite(row->interval) && row->interval < 9e9
                                                  ? (uint64_t)(row->interval * 1e9)
                                                  : UINT64_MAX - 1};
        row->simulated = true;
        if (!batch_run(&batch, &row->result, NULL, NULL))
            return false;
    }
    return true;
}

/* To replace a lost host costs at most what a restore does, which begins with noticing a loss. */
static struct replicas_advice advise_replicas(const struct plan *plan)
{
    const struct interval_model *model = &plan->model;
    const struct replicas_model with = {.host_rate = model->rate / plan->hosts,
                                        .cost = model->cost,
                                        .delay = model->delay,
                                        .restore = model->restore,
                                        .replace = model->restore};

    return replicas_advise(&with, plan->hosts);
}

/* ---- The command -------------------------------------------------------------------------- */

static int tell(const struct plan *plan, const struct arguments *arguments,
                const struct batch_setup *setup)
{
    if (arguments->svg && !plan_draw(plan, arguments->svg))
        return bspsim_command_fail(STATUS_BAD, "%s: %s", arguments->svg, strerror(errno));
    if (arguments->json)
        plan_print_json(plan, setup);
    else
        plan_print_text(plan, setup);
    return STATUS_OK;
}

int command_plan(const struct arguments *given)
{
    struct arguments arguments = *given; /* the caller owns the texts */
    int status = arguments.report ? take_report(&arguments) : STATUS_OK;
    if (status != STATUS_OK)
        return status;
    if (argument_given(given, ARG_IMAGE))
        take_image(&arguments);
    struct plan plan = {.work = arguments.work,
                        .mtbf = arguments.mtbf,
                        .hosts = arguments.hosts,
                        .model = {.rate = arguments.hosts / arguments.mtbf,
                                  .cost = arguments.snapshot,
                                  .restore = arguments.restore,
                                  .delay = arguments.commit}};
    arguments.limit = LIMIT_BY_WORK * arguments.work;
    struct batch_setup setup = command_setup(&arguments);
    setup.job.prior = (struct observed_prior){arguments.mtbf, ESTIMATE_GIVEN_LIVES};
    make_rows(&plan);
    plan.advice = interval_advise(&plan.model, plan.hosts);
    plan.replicas = advise_replicas(&plan);
    if (!simulate(&plan, &setup))
        return bspsim_command_fail(STATUS_BAD, "out of memory");
    return tell(&plan, &arguments, &setup);
}
