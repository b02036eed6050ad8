/* load.c - reads and ranks loads of hosts; see load.h. */
#include "bsprun/load/load.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static bool sensible(const struct load *load)
{
    for (int i = 0; i < 3; i++)
        if (!isfinite(load->load[i]) || load->load[i] < 0)
            return false;
    return load->cores > 0 && load->cores <= WIRE_SLOTS_MAX && isfinite(load->mflops) &&
           load->mflops >= 0;
}

static bool read_here(struct load *load, const char *line)
{
    struct load got = {.known = true};

    if (sscanf(line, "bspload %lf %lf %lf %u %lf", &got.load[0], &got.load[1], &got.load[2],
               &got.cores, &got.mflops) != 5 &&
        sscanf(line, "%lf %lf %lf %*u/%*u %*u %u", &got.load[0], &got.load[1], &got.load[2],
               &got.cores) != 4)
        return false;
    if (!sensible(&got))
        return false;
    *load = got;
    return true;
}

bool load_read(struct load *load, const char *text)
{
    for (const char *line = text; line && *line;) {
        const char *newline = strchr(line, '\n');

        if (read_here(load, line))
            return true;
        line = newline ? newline + 1 : NULL;
    }
    return false;
}

const char *load_line_of(const char *text, const char *name)
{
    size_t length = strlen(name);

    for (const char *line = text; line && *line;) {
        const char *newline = strchr(line, '\n');

        if (strncmp(line, name, length) == 0 && line[length] == ' ')
            return line + length + 1;
        line = newline ? newline + 1 : NULL;
    }
    return NULL;
}

double load_free(const struct load *load, bool with_speed)
{
    double idle = load->cores - load->load[0];

    return idle <= 0 ? 0 : idle * (with_speed ? load->mflops : 1);
}

/* The share of a further process on a host without idle cores. */
static double share(const struct load *load, bool with_speed)
{
    return load->cores / (load->load[0] + 1) * (with_speed ? load->mflops : 1);
}

static bool load_has_speeds(const struct load *loads, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (loads[i].known && loads[i].mflops <= 0)
            return false;
    return true;
}

static bool better(const struct load *a, const struct load *b, bool with_speed)
{
    if (!a->known || !b->known)
        return a->known && !b->known;
    double free_a = load_free(a, with_speed), free_b = load_free(b, with_speed);

    if (free_a > 0 || free_b > 0)
        return free_a > free_b;
    return share(a, with_speed) > share(b, with_speed);
}

static uint32_t at_most(double number, uint32_t most)
{
    return number < most ? (uint32_t)number : most;
}

struct coord_load load_of_others(const struct load *load)
{
    if (!load->known)
        return (struct coord_load){COORD_BUSY_MAX, 1};
    return (struct coord_load){at_most(load->load[0] * 100, COORD_BUSY_MAX),
                               load->mflops > 0 ? at_most(load->mflops + 1, COORD_SPEED_MAX) : 0};
}

void load_rank(const struct load *loads, uint32_t count, uint32_t *order)
{
    bool with_speed = load_has_speeds(loads, count);

    for (uint32_t i = 0; i < count; i++) {
        uint32_t place = i;

        for (; place > 0 && better(&loads[i], &loads[order[place - 1]], with_speed); place--)
            order[place] = order[place - 1];
        order[place] = i;
    }
}
