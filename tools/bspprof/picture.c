/* picture.c - a run as SVG, in panels on one axis of time: bytes out of and into bands of processes
 * stacked on each other, the parts of the time, measured and predicted cost.  See picture.h.
 *
 * Bands go from dark to light, parts differ by a pattern as well: no picture needs colour vision.
 */
#include "tools/bspprof/picture.h"

#include <inttypes.h>
#include <math.h>

#include "lib/base/units.h"
#include "lib/page/page.h"
#include "tools/bspprof/command.h"

#define WIDTH  1000.0
#define LEFT   86.0
#define RIGHT  150.0
#define TOP    44.0
#define STRATA 130.0 /* heights of panels */
#define PARTS  70.0
#define COST   110.0
#define GAP    26.0
#define FOOT   46.0
#define RUN    (2 * STRATA + PARTS + COST + 3 * GAP + FOOT)
#define STEPS  512u

struct picture {
    FILE *file;
    const struct run *run;
    const struct costs *costs;
    double y0;       /* of the panel */
    double from, to; /* of the axis of time, in nanoseconds */
};

/* ---- Pieces --------------------------------------------------------------------------------- */

static double at_x(const struct picture *picture, double ns)
{
    return LEFT + (ns - picture->from) / (picture->to - picture->from) * (WIDTH - LEFT - RIGHT);
}

static void text(const struct picture *picture, double x, double y, const char *style,
                 const char *words)
{
    fprintf(picture->file, "<text x=\"%.1f\" y=\"%.1f\" %s>", x, y, style);
    page_text(picture->file, words);
    fputs("</text>\n", picture->file);
}

static void frame(const struct picture *picture, double height, const char *title, const char *most)
{
    fprintf(picture->file, "<path d=\"M%.1f %.1fv%.1fh%.1f\" fill=\"none\" stroke=\"#333\"/>\n",
            LEFT, picture->y0, height, WIDTH - LEFT - RIGHT);
    text(picture, LEFT, picture->y0 - 6, "font-weight=\"bold\"", title);
    text(picture, LEFT - 6, picture->y0 + 10, "text-anchor=\"end\"", most);
    if (height != STRATA || most[0] != '0') /* a panel that hangs has its 0 at the upper edge */
        text(picture, LEFT - 6, picture->y0 + height, "text-anchor=\"end\"", "0");
}

/* Dark to light, monotone in brightness (the palette "cividis", in straight pieces). */
static const char *band_colour(uint32_t band, uint32_t bands, char colour[8])
{
    static const unsigned stops[][3] = {{0, 32, 76},     {49, 68, 107},   {102, 105, 112},
                                        {149, 143, 120}, {202, 185, 105}, {255, 234, 70}};
    double at = bands > 1 ? 5.0 * band / (bands - 1) : 1;
    unsigned i = at >= 5 ? 4 : (unsigned)at, rgb[3];
    for (int c = 0; c < 3; c++)
        rgb[c] = (unsigned)(stops[i][c] + (at - i) * ((double)stops[i + 1][c] - stops[i][c]));
    snprintf(colour, 8, "#%02x%02x%02x", rgb[0] & 255, rgb[1] & 255, rgb[2] & 255);
    return colour;
}

/* ---- Bytes ---------------------------------------------------------------------------------- */

/* Bytes of a superstep, in the mean over those of a step, of the bands below this one. */
static double below(const struct strata *strata, const struct strata_step *step, uint32_t band,
                    bool in)
{
    double sum = 0;
    (void)strata;
    for (uint32_t b = 0; b < band; b++)
        sum += (double)(in ? step->in[b] : step->out[b]);
    return sum / (double)step->sums.supersteps;
}

static double most_bytes(const struct strata *strata)
{
    double most = 1;
    for (uint32_t i = 0; i < strata->count; i++)
        for (int in = 0; in < 2; in++)
            most = fmax(most, below(strata, &strata->steps[i], strata->bands, in));
    return most;
}

/* A band's outline: there along its upper edge, and back along its lower one. */
static void draw_band(const struct picture *picture, uint32_t band, double most, bool in)
{
    const struct strata *strata = &picture->run->strata;
    char colour[8];
    double foot = in ? picture->y0 : picture->y0 + STRATA, up = in ? STRATA : -STRATA;
    fputs("<path d=\"M", picture->file);
    for (uint32_t i = 0; i < strata->count; i++) {
        const struct strata_step *step = &strata->steps[i];
        double y = foot + up * below(strata, step, band + 1, in) / most;
        fprintf(picture->file, "%.2f %.2fH%.2fL", at_x(picture, (double)step->start), y,
                at_x(picture, (double)step->end));
    }
    for (uint32_t i = strata->count; i-- > 0;) {
        const struct strata_step *step = &strata->steps[i];
        double y = foot + up * below(strata, step, band, in) / most;
        fprintf(picture->file, "%.2f %.2fH%.2f%s", at_x(picture, (double)step->end), y,
                at_x(picture, (double)step->start), i > 0 ? "L" : "Z");
    }
    fprintf(picture->file, "\" fill=\"%s\" stroke=\"white\" stroke-width=\".2\"/>\n",
            band_colour(band, strata->bands, colour));
}

static void draw_bytes(struct picture *picture, bool in)
{
    const struct strata *strata = &picture->run->strata;
    double most = most_bytes(strata);
    char label[BSPZ_BYTES_TEXT];
    bspz_bytes_text((uint64_t)most, label, sizeof(label));
    frame(picture, STRATA,
          in ? "Bytes in, of a superstep (downwards)" : "Bytes out, of a superstep",
          in ? "0" : label);
    if (in) /* this panel hangs from its upper edge */
        text(picture, LEFT - 6, picture->y0 + STRATA, "text-anchor=\"end\"", label);
    for (uint32_t band = 0; band < strata->bands; band++)
        draw_band(picture, band, most, in);
    picture->y0 += STRATA + GAP;
}

/* Those of the first and the last band, and of some between. */
static void draw_bands_legend(const struct picture *picture)
{
    const struct strata *strata = &picture->run->strata;
    uint32_t shown = strata->bands < 8 ? strata->bands : 8;
    double x = WIDTH - RIGHT + 14, y = picture->y0;
    char colour[8], label[64];
    text(picture, x, y + 4, "font-weight=\"bold\"", "process");
    for (uint32_t i = 0; i < shown; i++) {
        uint32_t band = shown > 1 ? (shown - 1 - i) * (strata->bands - 1) / (shown - 1) : 0;
        uint32_t first = strata_band(strata, band), last = strata_band(strata, band + 1) - 1;
        fprintf(picture->file,
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\" fill=\"%s\"/>\n", x,
                y + 12 + 15 * i, band_colour(band, strata->bands, colour));
        snprintf(label, sizeof(label), first == last ? "%u" : "%u to %u", first, last);
        text(picture, x + 18, y + 22 + 15 * i, "", label);
    }
}

/* ---- Parts of the time ---------------------------------------------------------------------- */

static void draw_part(const struct picture *picture, const struct strata_step *step, double from,
                      double part, const char *fill)
{
    double all = (double)(step->end - step->start);
    double x = at_x(picture, (double)step->start), width = at_x(picture, (double)step->end) - x;
    if (all > 0 && part > 0)
        fprintf(picture->file,
                "<rect x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\" fill=\"%s\"/>\n", x,
                picture->y0 + PARTS * (1 - (from + part) / all), width, PARTS * part / all, fill);
}

static void draw_parts(struct picture *picture)
{
    static const char *const names[] = {"communicating", "waiting", "computing"};
    static const char *const fills[] = {"url(#communicating)", "url(#waiting)", "#0072b2"};
    const struct strata *strata = &picture->run->strata;
    double x = WIDTH - RIGHT + 14;
    for (uint32_t i = 0; i < strata->count; i++) {
        const struct strata_step *step = &strata->steps[i];
        double waiting = (double)step->sums.waiting;
        double computing = (double)step->sums.computing - waiting;
        draw_part(picture, step, 0, computing, fills[2]);
        draw_part(picture, step, computing, waiting, fills[1]);
        draw_part(picture, step, computing + waiting, (double)step->sums.communicating, fills[0]);
    }
    frame(picture, PARTS, "Parts of the time", "100 %");
    for (int i = 0; i < 3; i++) {
        fprintf(picture->file,
                "<rect x=\"%.1f\" y=\"%.1f\" width=\"12\" height=\"12\" fill=\"%s\"/>\n", x,
                picture->y0 + 4 + 18 * i, fills[i]);
        text(picture, x + 18, picture->y0 + 14 + 18 * i, "", names[i]);
    }
    picture->y0 += PARTS + GAP;
}

/* ---- Costs ---------------------------------------------------------------------------------- */

static double cost_of(const struct picture *picture, const struct strata_step *step, bool predicted)
{
    double cost = predicted ? costs_all(picture->costs, &step->sums)
                            : (double)(step->sums.computing + step->sums.communicating);
    return cost / (double)step->sums.supersteps;
}

static void draw_curve(const struct picture *picture, double most, bool predicted)
{
    const struct strata *strata = &picture->run->strata;
    fputs("<path d=\"M", picture->file);
    for (uint32_t i = 0; i < strata->count; i++) {
        const struct strata_step *step = &strata->steps[i];
        fprintf(picture->file, "%.2f %.2fH%.2f%s", at_x(picture, (double)step->start),
                picture->y0 + COST * (1 - cost_of(picture, step, predicted) / most),
                at_x(picture, (double)step->end), i + 1 < strata->count ? "L" : "");
    }
    fprintf(picture->file, "\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.5\"%s/>\n",
            predicted ? "#d55e00" : "#0072b2", predicted ? " stroke-dasharray=\"5 2\"" : "");
}

static void draw_costs(struct picture *picture)
{
    const struct strata *strata = &picture->run->strata;
    double most = 1, x = WIDTH - RIGHT + 14, y = picture->y0 + 10;
    char label[COMMAND_TIME_MAX];
    for (uint32_t i = 0; i < strata->count; i++)
        for (int predicted = 0; predicted < 2; predicted++)
            most = fmax(most, cost_of(picture, &strata->steps[i], predicted));
    frame(picture, COST, "Cost of a superstep", bspprof_command_time(most, label));
    draw_curve(picture, most, false);
    draw_curve(picture, most, true);
    for (int predicted = 0; predicted < 2; predicted++, y += 18) {
        fprintf(picture->file, "<path d=\"M%.1f %.1fh24\" stroke=\"%s\" stroke-width=\"2\"%s/>\n",
                x, y, predicted ? "#d55e00" : "#0072b2",
                predicted ? " stroke-dasharray=\"5 2\"" : "");
        text(picture, x + 30, y + 4, "", predicted ? "w + g h + l" : "measured");
    }
    picture->y0 += COST;
}

/* ---- The axis ------------------------------------------------------------------------------- */

static void draw_axis(const struct picture *picture)
{
    double span = picture->to - picture->from, step = pow(10, floor(log10(span / 4)));
    char label[COMMAND_TIME_MAX];
    step = span / step > 20 ? 5 * step : span / step > 8 ? 2 * step : step;
    for (double ns = ceil(picture->from / step) * step; ns <= picture->to * 1.000001; ns += step) {
        double x = at_x(picture, ns);
        fprintf(picture->file, "<path d=\"M%.1f %.1fv5\" stroke=\"#333\"/>\n", x, picture->y0);
        text(picture, x, picture->y0 + 18, "text-anchor=\"middle\"",
             bspprof_command_time(ns, label));
    }
    text(picture, (LEFT + WIDTH - RIGHT) / 2, picture->y0 + 36, "text-anchor=\"middle\"",
         "time since bsp_begin");
}

/* Letters, as symbols of this size are hard to tell apart on paper. */
static const struct sign {
    const char *letter, *colour, *meaning;
} signs[PROFILE_MARK_KINDS] = {
    [PROFILE_SAVED] = {"s", "#666", "snapshot"},
    [PROFILE_RESTORED] = {"B", "#000", "rolled back to a snapshot"},
    [PROFILE_FAILED] = {"F", "#a34700", "failure"},
    [PROFILE_RESTARTED] = {"R", "#000", "restart"},
    [PROFILE_MOVED] = {"M", "#006b4e", "move"},
};

static void draw_marks_legend(const struct picture *picture, double top)
{
    const struct run *run = picture->run;
    bool seen[PROFILE_MARK_KINDS] = {false};
    double x = WIDTH - RIGHT + 14, y = top + STRATA + GAP + 12;
    for (uint64_t i = 0; i < run->mark_count && i < RUN_MARKS; i++)
        seen[run->marks[i].kind] = true;
    for (int kind = 0; kind < PROFILE_MARK_KINDS; kind++) {
        if (!seen[kind])
            continue;
        text(picture, x + 3, y, "font-weight=\"bold\"", signs[kind].letter);
        text(picture, x + 18, y, "", signs[kind].meaning);
        y += 18;
    }
}

static void draw_marks(const struct picture *picture, double top)
{
    const struct run *run = picture->run;
    for (uint64_t i = 0; i < run->mark_count && i < RUN_MARKS; i++) {
        const struct profile_mark *mark = &run->marks[i];
        const struct sign *sign = &signs[mark->kind];
        double x = at_x(picture, (double)mark->at_ns);
        fprintf(picture->file,
                "<path d=\"M%.1f %.1fV%.1f\" stroke=\"%s\"%s><title>%s</title></path>\n", x, top,
                picture->y0, sign->colour,
                mark->kind == PROFILE_SAVED ? " stroke-dasharray=\"1 3\"" : "", sign->meaning);
        text(picture, x, top - 1, "text-anchor=\"middle\" font-size=\"9\"", sign->letter);
    }
    draw_marks_legend(picture, top);
}

static void draw_run(struct picture *picture)
{
    const struct run *run = picture->run;
    const struct costs *costs = picture->costs;
    double top = picture->y0;
    char words[1000];
    snprintf(words, sizeof(words),
             "%.300s: %" PRIu32 " process%s, %" PRIu64 " superstep%s; predicted with s=%g Mflop/s, "
             "l=%g flops, g=%g flops per word (%.200s)",
             run->name, run->file.profile.ranks, run->file.profile.ranks == 1 ? "" : "es",
             run->all.supersteps, run->all.supersteps == 1 ? "" : "s", costs->params.s,
             costs->params.l, costs->params.g, costs->where);
    text(picture, LEFT, top - 24, "", words);
    draw_bands_legend(picture);
    draw_bytes(picture, false);
    draw_bytes(picture, true);
    draw_parts(picture);
    draw_costs(picture);
    draw_axis(picture);
    draw_marks(picture, top);
}

void picture_draw(FILE *file, const char *title, struct run *const *runs, const struct costs *costs,
                  unsigned count)
{
    double height = TOP + count * (RUN + TOP);
    fprintf(file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
            "viewBox=\"0 0 %.0f %.0f\" font-family=\"sans-serif\" font-size=\"11\">\n<title>",
            WIDTH, height, WIDTH, height);
    page_text(file, title);
    fputs("</title>\n<defs>"
          "<pattern id=\"waiting\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\">"
          "<path d=\"M0 0h5v5h-5z\" fill=\"#f0c878\"/><path d=\"M0 5L5 0\" stroke=\"#704c00\"/>"
          "</pattern><pattern id=\"communicating\" width=\"4\" height=\"4\" "
          "patternUnits=\"userSpaceOnUse\"><path d=\"M0 0h4v4h-4z\" fill=\"#8fd6bf\"/>"
          "<circle cx=\"2\" cy=\"2\" r=\".8\" fill=\"#00604a\"/></pattern></defs>\n"
          "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n",
          file);
    for (unsigned i = 0; i < count; i++) {
        struct strata *strata = &runs[i]->strata;
        strata_shrink(strata, STEPS);
        struct picture picture = {
            .file = file, .run = runs[i], .costs = &costs[i], .y0 = 2 * TOP - 20 + i * (RUN + TOP)};
        if (i == 0)
            text(&picture, LEFT, 24, "font-size=\"16\" font-weight=\"bold\"", title);
        if (strata->count == 0)
            continue;
        picture.from = (double)strata->steps[0].start;
        picture.to = fmax((double)strata->steps[strata->count - 1].end, picture.from + 1);
        draw_run(&picture);
    }
    fputs("</svg>\n", file);
}
