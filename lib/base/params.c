/* Reads the machine parameters of the BSP model; see params.h for the format. */
#include "lib/base/params.h"

#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct bspz_params bspz_params_assumed = {.s = 10, .l = 3000, .g = 12, .n_half = 8};

static const char separators[] = " \t\r\n";

/* The program may use a locale with a decimal comma; the files have points. */
static bool parse_positive(const char *text, char **end, double *value)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);

    if (plain == (locale_t)0)
        return false;
    *value = strtod_l(text, end, plain);
    freelocale(plain);
    return *end != text && isfinite(*value) && *value > 0;
}

static bool to_count(double value, int maximum, int *count)
{
    if (value < 1 || value > maximum || value != (int)value)
        return false;
    *count = (int)value;
    return true;
}

bool bspz_params_parse_slg(const char *text, struct bspz_params *params)
{
    double values[4] = {0, 0, 0, bspz_params_assumed.n_half};
    int given = 0;
    char *end;

    for (;;) {
        if (!parse_positive(text, &end, &values[given]))
            return false;
        given++;
        end += strspn(end, separators);
        if (*end != ',' || given == 4)
            break;
        text = end + 1;
    }
    int n_half;
    if (*end != '\0' || given < 3 || !to_count(values[3], INT_MAX, &n_half))
        return false;
    *params = (struct bspz_params){values[0], values[1], values[2], n_half};
    return true;
}

enum bspz_params_line bspz_params_parse_line(const char *line, struct bspz_params_row *row)
{
    struct bspz_params_row found = {.processes = 0};
    double values[5]; /* processes, s, l, g, n_half */

    line += strspn(line, separators);
    if (*line == '\0' || *line == '#')
        return BSPZ_PARAMS_BLANK;

    size_t length = strcspn(line, separators);
    if (length > BSPZ_PARAMS_HOST_MAX)
        return BSPZ_PARAMS_MALFORMED;
    memcpy(found.host, line, length);
    line += length;

    for (int i = 0; i < 5; i++) {
        char *end;
        if (!parse_positive(line, &end, &values[i]))
            return BSPZ_PARAMS_MALFORMED;
        if (*end != '\0' && strchr(" \t\r\n#", *end) == NULL)
            return BSPZ_PARAMS_MALFORMED;
        line = end;
    }
    line += strspn(line, separators);
    if (*line != '\0' && *line != '#')
        return BSPZ_PARAMS_MALFORMED;
    if (!to_count(values[0], BSPZ_PARAMS_PROCESSES_MAX, &found.processes) ||
        !to_count(values[4], INT_MAX, &found.params.n_half))
        return BSPZ_PARAMS_MALFORMED;
    found.params.s = values[1];
    found.params.l = values[2];
    found.params.g = values[3];
    *row = found;
    return BSPZ_PARAMS_ROW;
}

static const char *non_empty(const char *variable)
{
    const char *value = getenv(variable);

    return value != NULL && value[0] != '\0' ? value : NULL;
}

bool bspz_params_path(char *path, size_t size)
{
    const char *directory;
    int length = -1;

    if ((directory = non_empty("BSP_INCLUDE_DIR")) != NULL)
        length = snprintf(path, size, "%s/bsp_parameters.ascii", directory);
    else if ((directory = non_empty("XDG_CONFIG_HOME")) != NULL)
        length = snprintf(path, size, "%s/bspzero/parameters", directory);
    else if ((directory = non_empty("HOME")) != NULL)
        length = snprintf(path, size, "%s/.config/bspzero/parameters", directory);
    return length >= 0 && (size_t)length < size;
}

/* Looks for this host and for `*`: a line of the host's own wins. */
static bool find_in_database(FILE *database, const char *host, int processes,
                             struct bspz_params *params)
{
    char line[BSPZ_PARAMS_LINE_MAX + 2];
    struct bspz_params_row row;
    bool found = false, found_own = false;

    while (fgets(line, sizeof(line), database) != NULL) {
        if (bspz_params_parse_line(line, &row) != BSPZ_PARAMS_ROW || row.processes != processes)
            continue;
        bool own = strcmp(row.host, host) == 0;
        if (own || (!found_own && strcmp(row.host, "*") == 0)) {
            *params = row.params;
            found = true;
            found_own = found_own || own;
        }
    }
    return found;
}

bool bspz_params_of(const char *host, int processes, struct bspz_params *params)
{
    char path[PATH_MAX];
    FILE *database;

    if (!bspz_params_path(path, sizeof(path)) || (database = fopen(path, "re")) == NULL)
        return false;
    bool found = find_in_database(database, host, processes, params);
    fclose(database);
    return found;
}

enum bspz_params_source bspz_params_find(int processes, struct bspz_params *params)
{
    const char *slg = getenv("BSP_SLG");
    char host[BSPZ_PARAMS_HOST_MAX + 1];

    if (slg != NULL && bspz_params_parse_slg(slg, params))
        return BSPZ_PARAMS_ENVIRONMENT;

    *params = bspz_params_assumed;
    if (gethostname(host, sizeof(host)) != 0)
        strcpy(host, "*");
    host[sizeof(host) - 1] = '\0';
    return bspz_params_of(host, processes, params) ? BSPZ_PARAMS_DATABASE : BSPZ_PARAMS_ASSUMED;
}
