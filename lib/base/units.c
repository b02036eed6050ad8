/* units.c - times and sizes as users write them; see units.h. */
#include "lib/base/units.h"

#include <errno.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit {
    const char *name;
    double factor;
};

static const struct unit times[] = {{"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3600}, {"d", 86400}};
static const struct unit sizes[] = {{"", 1},       {"k", 0x1p10}, {"K", 0x1p10},
                                    {"M", 0x1p20}, {"G", 0x1p30}, {"T", 0x1p40}};

#define COUNT(units) (sizeof(units) / sizeof(units[0]))

static bool number_with_unit(const char *text, const struct unit *units, size_t count,
                             double *value)
{
    char *unit;
    /* Rejects signs, "inf" and "0x10". */
    if ((text[0] < '0' || text[0] > '9') && text[0] != '.')
        return false;
    if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
        return false;
    double number = strtod(text, &unit);
    if (unit == text)
        return false;
    for (size_t i = 0; i < count; i++)
        if (strcmp(unit, units[i].name) == 0) {
            number *= units[i].factor;
            if (!isfinite(number))
                return false;
            *value = number;
            return true;
        }
    return false;
}

bool bspz_seconds(const char *text, double *seconds)
{
    return number_with_unit(text, times, COUNT(times), seconds);
}

bool bspz_bytes(const char *text, double *bytes)
{
    return number_with_unit(text, sizes, COUNT(sizes), bytes);
}

bool bspz_whole(const char *text, uint64_t least, uint64_t most, uint64_t *number)
{
    char *end;

    if (text[0] < '0' || text[0] > '9')
        return false;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (errno != 0 || *end != '\0' || value < least || value > most)
        return false;
    *number = value;
    return true;
}

void bspz_bytes_text(uint64_t bytes, char *text, size_t size)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    double value = (double)bytes;
    size_t unit = 0;

    while (value >= 1000.0 && unit + 1 < sizeof units / sizeof *units) {
        value /= 1024.0;
        unit++;
    }
    snprintf(text, size, unit > 0 && value < 10.0 ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

const char *bspz_time_text(double seconds, char text[BSPZ_TIME_TEXT])
{
    static const struct {
        double seconds;
        const char *name;
    } units[] = {{86400 * 365.25, "y"}, {86400, "d"}, {3600, "h"}, {60, "min"}, {1, "s"}};

    if (!(seconds < 1e18)) {
        snprintf(text, BSPZ_TIME_TEXT, "for ever");
        return text;
    }
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (seconds >= (i < 4 ? 2 : 1) * units[i].seconds) {
            snprintf(text, BSPZ_TIME_TEXT, "%.3g %s", seconds / units[i].seconds, units[i].name);
            return text;
        }
    snprintf(text, BSPZ_TIME_TEXT, "%.3g ms", seconds * 1e3);
    return text;
}
