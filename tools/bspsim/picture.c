/* picture.c - pictures of a plan, as SVG: time against interval, time against number of hosts. */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "tools/bspsim/command.h"
#include "tools/bspsim/plan.h"

#define WIDTH  420.0 /* of one picture, and of its contents */
#define HEIGHT 300.0
#define LEFT   58.0
#define RIGHT  12.0
#define TOP    30.0
#define BOTTOM 44.0
#define POINTS 120
#define WIDE   8.0 /* intervals are shown from the best divided by this to the best times this */
#define HIGH   3.0 /* times are shown up to this many times the best */

/* A picture's axes: x logarithmic. */
struct axes {
    FILE *file;
    double x0, low, high; /* position of the picture; values at both ends of x */
    double top;           /* the value at the upper end of y, which begins at 0 */
};

static double at_x(const struct axes *axes, double value)
{
    double share = log(value / axes->low) / log(axes->high / axes->low);
    return axes->x0 + LEFT + share * (WIDTH - LEFT - RIGHT);
}

static double at_y(const struct axes *axes, double value)
{
    double share = fmin(value / axes->top, 1);
    return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM);
}

static void line(const struct axes *axes, double x1, double y1, double x2, double y2,
                 const char *style)
{
    fprintf(axes->file, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" %s/>\n", x1, y1, x2,
            y2, style);
}

static void text(const struct axes *axes, double x, double y, const char *anchor, const char *words)
{
    fprintf(axes->file, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, y, anchor,
            words);
}

/* The largest of 1, 2, 5, 10 ... that is at most about a fifth of the whole. */
static double step_of(double whole)
{
    double step = pow(10, floor(log10(whole / 4)));
    return whole / step > 20 ? 5 * step : whole / step > 8 ? 2 * step : step;
}

static void draw_frame(const struct axes *axes, const char *title, const char *below, double unit)
{
    double right = axes->x0 + WIDTH - RIGHT, bottom = HEIGHT - BOTTOM;
    double step = step_of(axes->top / unit);
    char label[32];
    text(axes, axes->x0 + WIDTH / 2, 18, "middle", title);
    text(axes, axes->x0 + (LEFT + WIDTH - RIGHT) / 2, HEIGHT - 8, "middle", below);
    for (double y = 0; y <= axes->top / unit * 1.0001; y += step) {
        line(axes, axes->x0 + LEFT, at_y(axes, y * unit), right, at_y(axes, y * unit),
             "stroke=\"#ddd\"");
        snprintf(label, sizeof(label), "%g", y);
        text(axes, axes->x0 + LEFT - 6, at_y(axes, y * unit) + 4, "end", label);
    }
    line(axes, axes->x0 + LEFT, bottom, right, bottom, "stroke=\"black\"");
    line(axes, axes->x0 + LEFT, TOP, axes->x0 + LEFT, bottom, "stroke=\"black\"");
}

static void tick(const struct axes *axes, double value, const char *label)
{
    double x = at_x(axes, value), bottom = HEIGHT - BOTTOM;
    if (value < axes->low || value > axes->high)
        return;
    line(axes, x, bottom, x, bottom + 4, "stroke=\"black\"");
    text(axes, x, bottom + 17, "middle", label);
}

static void draw_curve(const struct axes *axes, double (*value)(const struct plan *, double),
                       const struct plan *plan)
{
    fprintf(axes->file, "<polyline fill=\"none\" stroke=\"#1f5fa8\" stroke-width=\"2\" points=\"");
    for (int i = 0; i <= POINTS; i++) {
        double x = axes->low * pow(axes->high / axes->low, (double)i / POINTS);
        double y = value(plan, x);
        if (y <= axes->top)
            fprintf(axes->file, "%.1f,%.1f ", at_x(axes, x), at_y(axes, y));
    }
    fprintf(axes->file, "\"/>\n");
}

static void mark(const struct axes *axes, double x, double y, const char *words)
{
    line(axes, at_x(axes, x), TOP, at_x(axes, x), HEIGHT - BOTTOM,
         "stroke=\"#b03020\" stroke-dasharray=\"4 3\"");
    fprintf(axes->file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"#b03020\"/>\n",
            at_x(axes, x), at_y(axes, y));
    bool right = at_x(axes, x) > axes->x0 + WIDTH * 0.6;
    text(axes, at_x(axes, x) + (right ? -6 : 6), TOP + 12, right ? "end" : "start", words);
}

static double unit_of(double seconds, const char **name)
{
    *name = seconds < 600 ? "s" : seconds < 4 * 3600 ? "min" : seconds < 1e7 ? "h" : "d";
    return seconds < 600 ? 1 : seconds < 4 * 3600 ? 60 : seconds < 1e7 ? 3600 : 86400;
}

/* ---- Time against interval ---------------------------------------------------------------- */

static double time_with(const struct plan *plan, double interval)
{
    return interval_time(&plan->model, interval, plan->work);
}

static void draw_simulated(const struct axes *axes, const struct plan_row *row)
{
    double x = at_x(axes, row->interval);
    if (!row->simulated || row->automatic || row->interval < axes->low ||
        row->interval > axes->high || row->result.seconds > axes->top)
        return;
    line(axes, x, at_y(axes, row->result.low), x, at_y(axes, row->result.high),
         "stroke=\"#555\" stroke-width=\"1.5\"");
    fprintf(axes->file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"2.5\" fill=\"#555\"/>\n", x,
            at_y(axes, row->result.seconds));
}

static void draw_intervals(FILE *file, const struct plan *plan)
{
    static const struct {
        double interval;
        const char *label;
    } ticks[] = {{1, "1 s"},     {3, "3 s"},     {10, "10 s"},    {30, "30 s"},     {60, "1 min"},
                 {120, "2 min"}, {300, "5 min"}, {600, "10 min"}, {1800, "30 min"}, {7200, "2 h"},
                 {21600, "6 h"}, {86400, "1 d"}, {345600, "4 d"}, {2592000, "30 d"}};
    double best = plan->rows[0].interval, time = plan->rows[0].expected;
    const char *unit;
    struct axes axes = {file, 0, best / WIDE, best * WIDE, HIGH * time};
    char words[96], length[COMMAND_TIME_MAX];
    double scale = unit_of(time, &unit);
    snprintf(words, sizeof(words), "time to solution (%s) on %u host%s", unit, plan->hosts,
             plan->hosts == 1 ? "" : "s");
    draw_frame(&axes, words, "interval between snapshots", scale);
    for (size_t i = 0; i < sizeof(ticks) / sizeof(ticks[0]); i++)
        tick(&axes, ticks[i].interval, ticks[i].label);
    draw_curve(&axes, time_with, plan);
    for (int i = 0; i < PLAN_ROWS; i++)
        draw_simulated(&axes, &plan->rows[i]);
    snprintf(words, sizeof(words), "best: %s", bspsim_command_time(best, length));
    mark(&axes, best, time, words);
}

/* ---- Time against number of hosts --------------------------------------------------------- */

/* The time of the work, divided evenly among so many hosts, at the best interval for their number;
 * the costs of snapshot and restore are assumed not to depend on it. */
static double time_on(const struct plan *plan, double hosts)
{
    struct interval_model model = plan->model;
    model.rate = hosts / plan->mtbf;
    double work = plan->work * plan->hosts / hosts;
    return interval_time(&model, interval_best(&model), work);
}

/* The number of hosts with the shortest time. */
static uint32_t best_hosts(const struct plan *plan)
{
    double best = 1, hosts = 1;
    while (hosts <= LIVES_HOSTS_MAX) {
        if (time_on(plan, hosts) < time_on(plan, best))
            best = hosts;
        hosts = ceil(hosts * 1.01 + 0.5);
    }
    return (uint32_t)best;
}

static void draw_hosts(FILE *file, const struct plan *plan)
{
    uint32_t best = best_hosts(plan), most = 4 * (best > plan->hosts ? best : plan->hosts);
    double time = time_on(plan, best), here = time_on(plan, plan->hosts);
    const char *unit;
    char words[96], label[16];
    struct axes axes = {file, WIDTH, 1, most, HIGH * (here < 4 * time ? here : time)};
    double scale = unit_of(time, &unit);
    snprintf(words, sizeof(words), "time to solution (%s), each at its best interval", unit);
    draw_frame(&axes, words, "number of hosts", scale);
    for (uint32_t hosts = 1; hosts <= most; hosts *= 4) {
        snprintf(label, sizeof(label), "%u", hosts);
        tick(&axes, hosts, label);
    }
    draw_curve(&axes, time_on, plan);
    snprintf(words, sizeof(words), best == plan->hosts ? "best and asked for: %u" : "best: %u",
             best);
    mark(&axes, best, time, words);
    if (best != plan->hosts && here <= axes.top)
        fprintf(file, "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"4\" fill=\"#1f5fa8\"/>\n",
                at_x(&axes, plan->hosts), at_y(&axes, here));
}

bool plan_draw(const struct plan *plan, const char *name)
{
    FILE *file = fopen(name, "we");
    if (!file)
        return false;
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
            "viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" font-size=\"11\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"white\"/>\n",
            2 * WIDTH, HEIGHT, 2 * WIDTH, HEIGHT);
    if (isfinite(plan->rows[0].expected) && plan->rows[0].interval > 0 &&
        isfinite(plan->rows[0].interval)) {
        draw_intervals(file, plan);
        draw_hosts(file, plan);
    } else {
        fprintf(file, "<text x=\"20\" y=\"40\">There is no finite best interval.</text>\n");
    }
    fputs("</svg>\n", file);
    bool good = fflush(file) == 0 && !ferror(file);
    int error = errno;
    if (fclose(file) != 0)
        good = false;
    else
        errno = error;
    return good;
}
