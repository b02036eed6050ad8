/* watch_picture.c - see watch_picture.h.
 *
 * From above: what the job is; how far it is; its snapshots, its failures and its hosts, as far as
 * there is room; the processes; the keys, if there is room; the last answer, or a question.
 */
#include "bsprun/status/watch_picture.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/status/watch_table.h"
#include "lib/base/units.h"

#define LINE_MOST   1024u
#define FIXED       4u  /* the job, how far it is, the names of the columns, the last line */
#define KEYS_ROWS   12u /* with fewer the keys are not shown */
#define TABLE_LEAST 3u

/* ---- Which lines there are ---- */

struct plan {
    bool snapshots, failures, hosts, keys;
    unsigned page; /* processes */
};

static struct plan plan_of(unsigned rows, const struct watch_facts *facts)
{
    struct plan plan = {.keys = rows >= KEYS_ROWS};
    unsigned used = FIXED + plan.keys;
    bool *const wanted[] = {&plan.snapshots, &plan.failures, &plan.hosts};
    bool there[3] = {false, false, false};

    if (facts) {
        there[0] = facts->has_snapshot || facts->why[0];
        there[1] = facts->failure_rate >= 0 || facts->interval >= 0;
        there[2] = facts->host_count > 1;
    }
    for (unsigned i = 0; i < 3; i++)
        if (there[i] && used + TABLE_LEAST < rows) {
            *wanted[i] = true;
            used++;
        }
    plan.page = rows > used ? rows - used : 0;
    return plan;
}

size_t watch_picture_page(unsigned rows, const struct watch_facts *facts)
{
    return plan_of(rows, facts).page;
}

/* ---- Lines ---- */

static void __attribute__((format(printf, 4, 5)))
print(struct watch_canvas *canvas, unsigned row, enum watch_look look, const char *format, ...)
{
    char text[LINE_MOST];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    watch_canvas_put(canvas, row, 0, canvas->columns, text, look);
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void print_job(struct watch_canvas *canvas, unsigned row, const struct watch_scene *scene)
{
    const struct watch_facts *facts = scene->facts;
    char which[64] = "";

    if (scene->job_count > 1)
        snprintf(which, sizeof which, " (%zu of %zu)", scene->job_number, scene->job_count);
    if (facts)
        print(canvas, row, WATCH_BOLD, "job %d%s: %s", facts->pid, which, facts->program);
    else
        print(canvas, row, WATCH_BOLD, "asking the job");
}

static void print_progress(struct watch_canvas *canvas, unsigned row,
                           const struct watch_facts *facts)
{
    char rate[64] = "", passed[BSPZ_TIME_TEXT], restarts[64] = "", alone[64] = "";

    if (facts->processes == 0) {
        print(canvas, row, WATCH_PLAIN, "not yet in bsp_begin");
        return;
    }
    if (facts->rate >= 0)
        snprintf(rate, sizeof rate, ", %.4g per second", facts->rate);
    if (facts->restarts > 0 || facts->restarted_alone > 0)
        snprintf(restarts, sizeof restarts, ", %u restart%s", facts->restarts,
                 plural(facts->restarts));
    if (facts->restarted_alone > 0)
        snprintf(alone, sizeof alone, ", %u alone", facts->restarted_alone);
    print(canvas, row, WATCH_PLAIN, "superstep %llu%s; %u process%s on %zu host%s for %s%s%s",
          (unsigned long long)facts->superstep, rate, facts->processes,
          facts->processes == 1 ? "" : "es", facts->host_count, plural(facts->host_count),
          bspz_time_text(facts->seconds, passed), restarts, alone);
}

static void print_snapshots(struct watch_canvas *canvas, unsigned row,
                            const struct watch_facts *facts)
{
    char age[BSPZ_TIME_TEXT + 8] = "", cost[BSPZ_TIME_TEXT + 16] = "", next[64] = "";
    char time[BSPZ_TIME_TEXT];
    double left = facts->interval - facts->snapshot_age;

    if (facts->snapshot_cost >= 0)
        snprintf(cost, sizeof cost, ", costs %s", bspz_time_text(facts->snapshot_cost, time));
    if (facts->interval >= 0 && facts->snapshot_age >= 0 && facts->has_snapshot && left > 0)
        snprintf(next, sizeof next, "; the next in %s", bspz_time_text(left, time));
    else if (facts->interval >= 0)
        snprintf(next, sizeof next, "; the next at a barrier");
    if (!facts->has_snapshot) {
        print(canvas, row, WATCH_PLAIN, "no snapshot yet%s", next);
        return;
    }
    if (facts->snapshot_age >= 0)
        snprintf(age, sizeof age, ", %s ago", bspz_time_text(facts->snapshot_age, time));
    print(canvas, row, WATCH_PLAIN, "snapshot of superstep %llu%s%s%s; %llu taken",
          (unsigned long long)facts->snapshot_superstep, age, cost, next,
          (unsigned long long)facts->snapshot_count);
}

static void print_failures(struct watch_canvas *canvas, unsigned row,
                           const struct watch_facts *facts)
{
    char failures[80] = "no failure is expected", interval[BSPZ_TIME_TEXT + 24] = "";
    char time[BSPZ_TIME_TEXT];

    if (facts->failure_rate < 0)
        snprintf(failures, sizeof failures, "nothing is known of failures");
    else if (facts->failure_rate > 0)
        snprintf(failures, sizeof failures, "a failure every %s",
                 bspz_time_text(1 / facts->failure_rate, time));
    if (facts->interval >= 0)
        snprintf(interval, sizeof interval, ", a snapshot every %s",
                 bspz_time_text(facts->interval, time));
    print(canvas, row, WATCH_PLAIN, "%s%s%s%s", failures, interval, facts->why[0] ? ": " : "",
          facts->why);
}

static void print_hosts(struct watch_canvas *canvas, unsigned row, const struct watch_facts *facts)
{
    char text[LINE_MOST];
    size_t used = (size_t)snprintf(text, sizeof text, "hosts");

    for (size_t i = 0; i < facts->host_count && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s %s %s", i > 0 ? "," : "",
                                 facts->hosts[i].name, facts->hosts[i].state);
    watch_canvas_put(canvas, row, 0, canvas->columns, text, WATCH_PLAIN);
}

static void print_keys(struct watch_canvas *canvas, unsigned row, const struct watch_scene *scene,
                       unsigned page)
{
    size_t count = scene->facts ? scene->facts->rank_count : 0, top = scene->view->top;
    char shown[96] = "";

    if (count > page)
        snprintf(shown, sizeof shown, "%zu-%zu of %zu  ", top + 1, top + page, count);
    print(canvas, row, WATCH_FAINT, "%ssort p m c w%s  s snapshot  d drain a host  e end  q quit",
          shown, scene->job_count > 1 ? "  n next job" : "");
}

/* The cursor is shown by a reversed cell, for those who type. */
static void print_last(struct watch_canvas *canvas, unsigned row, const struct watch_scene *scene,
                       bool with_keys)
{
    const struct watch_view *view = scene->view;
    int job = scene->facts ? scene->facts->pid : 0;

    if (view->state == WATCH_ASKS_HOST) {
        unsigned end = watch_canvas_put(canvas, row, 0, canvas->columns,
                                        "drain which host (Escape: none)? ", WATCH_BOLD);

        end = watch_canvas_put(canvas, row, end, canvas->columns, view->typed, WATCH_PLAIN);
        watch_canvas_put(canvas, row, end, canvas->columns, " ", WATCH_REVERSE);
    } else if (view->state == WATCH_CONFIRMS_DRAIN)
        print(canvas, row, WATCH_BOLD, "drain host %s of job %d (y/n)?", view->typed, job);
    else if (view->state == WATCH_CONFIRMS_END)
        print(canvas, row, WATCH_BOLD, "end job %d (y/n)?", job);
    else if (view->message[0] || !with_keys)
        print(canvas, row, WATCH_BOLD, "%s", view->message);
    else
        print(canvas, row, WATCH_FAINT, "keys: p m c w s d e q");
}

/* ---- The picture ---- */

static void draw(struct watch_canvas *canvas, unsigned rows, const struct watch_scene *scene)
{
    const struct watch_facts *facts = scene->facts;
    struct plan plan = plan_of(rows, facts);
    unsigned row = 0;

    if (rows > 1) /* the last line is the one that is always there */
        print_job(canvas, row++, scene);
    if (facts && row + 1 < rows)
        print_progress(canvas, row++, facts);
    if (plan.snapshots)
        print_snapshots(canvas, row++, facts);
    if (plan.failures)
        print_failures(canvas, row++, facts);
    if (plan.hosts)
        print_hosts(canvas, row++, facts);
    if (facts && row + 1 < rows)
        watch_table_draw(canvas, row, plan.page, facts, scene->view);
    if (plan.keys)
        print_keys(canvas, rows - 2, scene, plan.page);
    print_last(canvas, rows - 1, scene, !plan.keys);
}

bool watch_picture_draw(struct watch_picture *picture, unsigned rows, unsigned columns,
                        const struct watch_scene *scene)
{
    rows = rows < WATCH_SIDE_MOST ? rows : WATCH_SIDE_MOST;
    columns = columns < WATCH_SIDE_MOST ? columns : WATCH_SIDE_MOST;
    struct watch_cell *cells = calloc((size_t)rows * columns, sizeof *cells);
    struct watch_canvas canvas = {rows, columns, cells, scene->unicode};

    if (!cells)
        return false;
    for (size_t i = 0; i < (size_t)rows * columns; i++)
        cells[i].glyph = L' ';
    draw(&canvas, rows, scene);
    free(picture->cells);
    *picture = (struct watch_picture){rows, columns, cells};
    return true;
}

void watch_picture_free(struct watch_picture *picture)
{
    free(picture->cells);
    *picture = (struct watch_picture){0, 0, NULL};
}

void watch_picture_last_line(const struct watch_facts *facts, int job, char *text, size_t size)
{
    char passed[BSPZ_TIME_TEXT];

    if (!facts || facts->processes == 0)
        snprintf(text, size, "job %d has ended", job);
    else
        snprintf(text, size, "job %d has ended; it was last seen in superstep %llu, after %s", job,
                 (unsigned long long)facts->superstep, bspz_time_text(facts->seconds, passed));
}
