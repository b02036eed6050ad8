/* arguments.c - see arguments.h. */
#include "tools/bspprof/arguments.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/nearest.h"
#include "lib/base/units.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

static bool wrong(char error[ARGUMENTS_ERROR], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static bool wrong(char error[ARGUMENTS_ERROR], const char *format, ...)
{
    va_list list;
    va_start(list, format);
    vsnprintf(error, ARGUMENTS_ERROR, format, list);
    va_end(list);
    return false;
}

/* ---- Values --------------------------------------------------------------------------------- */

static bool take_seconds(const char *text, const char **rest, uint64_t *ns)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || strchr("+-nNiI", *text) || !(value >= 0) || value > PROFILE_SECONDS_MAX)
        return false;
    *ns = (uint64_t)(value * 1e9 + 0.5);
    *rest = *end == 's' ? end + 1 : end;
    return true;
}

static bool take_zoom(struct arguments *arguments, const char *text, char error[ARGUMENTS_ERROR])
{
    struct run_section section;
    const char *rest;
    if (take_seconds(text, &rest, &section.from) && *rest == ',' &&
        take_seconds(rest + 1, &rest, &section.to) && *rest == '\0' && section.from < section.to) {
        arguments->section = section;
        return true;
    }
    return wrong(error,
                 "-zoom %.100s: give two times in seconds, the earlier one first, such as "
                 "1.5,2.25",
                 text);
}

static bool take_count(const char *option, const char *text, uint64_t *count,
                       char error[ARGUMENTS_ERROR])
{
    return bspz_whole(text, 1, 1000000000000, count) ||
           wrong(error, "-%s %.100s: give a number from 1 to 10^12", option, text);
}

static bool take_percent(const char *text, double *percent, char error[ARGUMENTS_ERROR])
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= 0) || value > 100)
        return wrong(error, "-ignore %.100s: give a percentage from 0 to 100", text);
    *percent = value;
    return true;
}

static bool take_sort(const char *text, enum arguments_sort *sort, char error[ARGUMENTS_ERROR])
{
    static const char *const keys[] = {"cost", "comp", "comm", "hrel", "syncs", "line"};
    for (unsigned i = 0; i < COUNT(keys); i++)
        if (strcmp(text, keys[i]) == 0) {
            *sort = (enum arguments_sort)i;
            return true;
        }
    return wrong(error, "-sort %.100s: give cost, comp, comm, hrel, syncs or line", text);
}

static bool take_params(struct arguments *arguments, const char *text, char error[ARGUMENTS_ERROR])
{
    struct bspz_params params;
    arguments->params = text;
    if (bspz_params_parse_slg(text, &params))
        return true;
    return wrong(error, "-slg %.100s: give s,l,g of a machine: Mflop/s, flops, flops per word",
                 text);
}

/* ---- Options -------------------------------------------------------------------------------- */

enum option {
    OPTION_ARCH,
    OPTION_BUCKET,
    OPTION_COMPRESS,
    OPTION_HELP,
    OPTION_HTML,
    OPTION_IGNORE,
    OPTION_JSON,
    OPTION_OUTPUT,
    OPTION_SIG,
    OPTION_SLG,
    OPTION_SORT,
    OPTION_STAT,
    OPTION_SVG,
    OPTION_TITLE,
    OPTION_VERBOSE,
    OPTION_VERSION,
    OPTION_ZOOM
};

#define ALL (ARGUMENTS_PROF | ARGUMENTS_SIG | ARGUMENTS_CGPROF)

static const struct {
    const char *name;
    enum option option;
    unsigned commands;
    bool value;
} options[] = {
    {"arch", OPTION_ARCH, ARGUMENTS_PROF | ARGUMENTS_SIG, true},
    {"bucket", OPTION_BUCKET, ARGUMENTS_SIG, true},
    {"compress", OPTION_COMPRESS, ARGUMENTS_SIG, true},
    {"help", OPTION_HELP, ALL, false},
    {"h", OPTION_HELP, ALL, false},
    {"html", OPTION_HTML, ARGUMENTS_PROF, false},
    {"ignore", OPTION_IGNORE, ARGUMENTS_SIG, true},
    {"json", OPTION_JSON, ARGUMENTS_SIG | ARGUMENTS_CGPROF, false},
    {"o", OPTION_OUTPUT, ARGUMENTS_PROF, true},
    {"sig", OPTION_SIG, ARGUMENTS_SIG, false},
    {"wfm", OPTION_SIG, ARGUMENTS_SIG, false},
    {"slg", OPTION_SLG, ARGUMENTS_PROF | ARGUMENTS_SIG, true},
    {"sort", OPTION_SORT, ARGUMENTS_SIG, true},
    {"stat", OPTION_STAT, ARGUMENTS_SIG, false},
    {"svg", OPTION_SVG, ARGUMENTS_PROF, false},
    {"title", OPTION_TITLE, ARGUMENTS_PROF, true},
    {"v", OPTION_VERBOSE, ALL, false},
    {"version", OPTION_VERSION, ALL, false},
    {"zoom", OPTION_ZOOM, ARGUMENTS_PROF | ARGUMENTS_SIG, true},
};

static bool take_option(struct arguments *arguments, unsigned i, const char *value,
                        char error[ARGUMENTS_ERROR])
{
    switch (options[i].option) {
    case OPTION_ARCH:
        arguments->machine = value;
        return true;
    case OPTION_BUCKET:
        return take_count("bucket", value, &arguments->bucket, error);
    case OPTION_COMPRESS:
        return take_count("compress", value, &arguments->compress, error);
    case OPTION_HELP:
        return arguments->help = true;
    case OPTION_HTML:
        arguments->svg = false;
        return true;
    case OPTION_IGNORE:
        return take_percent(value, &arguments->ignore, error);
    case OPTION_JSON:
        return arguments->json = true;
    case OPTION_OUTPUT:
        arguments->output = value;
        return true;
    case OPTION_SIG:
        return arguments->short_form = true;
    case OPTION_SLG:
        return take_params(arguments, value, error);
    case OPTION_SORT:
        return take_sort(value, &arguments->sort, error);
    case OPTION_STAT:
        return arguments->statistics = true;
    case OPTION_SVG:
        return arguments->svg = true;
    case OPTION_TITLE:
        arguments->title = value;
        return true;
    case OPTION_VERBOSE:
        return arguments->verbose = true;
    case OPTION_VERSION:
        return arguments->version = true;
    default:
        return take_zoom(arguments, value, error);
    }
}

static bool unknown(enum arguments_command command, const char *word, char error[ARGUMENTS_ERROR])
{
    struct bspz_nearest nearest = bspz_nearest_to(word);
    for (unsigned i = 0; i < COUNT(options); i++)
        if (options[i].commands & command)
            bspz_nearest_offer(&nearest, options[i].name);
    return wrong(error, "unknown option %.100s%s%s%s", word, nearest.best ? ": did you mean -" : "",
                 nearest.best ? nearest.best : "",
                 nearest.best ? "?" : "; -help lists the options");
}

/* ---- Files ---------------------------------------------------------------------------------- */

static bool ends_with(const char *name, const char *ending)
{
    size_t length = strlen(name), size = strlen(ending);
    return length > size && strcmp(name + length - size, ending) == 0;
}

/* bspprof of the Oxford toolset took the name of its output as a second word. */
static bool is_output(const char *word)
{
    return ends_with(word, ".html") || ends_with(word, ".svg") || ends_with(word, ".ps") ||
           ends_with(word, ".eps");
}

static bool take_file(enum arguments_command command, struct arguments *arguments, const char *word,
                      char error[ARGUMENTS_ERROR])
{
    unsigned most = command == ARGUMENTS_PROF ? 2 : 1;
    if (command == ARGUMENTS_PROF && arguments->file_count > 0 && is_output(word) &&
        !arguments->output) {
        arguments->output = word;
        return true;
    }
    if (arguments->file_count == most)
        return wrong(error, "%.100s: too many arguments: at most %u profile%s", word, most,
                     most == 1 ? "" : "s");
    arguments->files[arguments->file_count++] = word;
    return true;
}

static bool check(struct arguments *arguments, char error[ARGUMENTS_ERROR])
{
    const char *output = arguments->output;
    if (arguments->params && arguments->machine)
        return wrong(error, "-slg and -arch both say what the machine is: give one of them");
    if (arguments->file_count == 0) {
        arguments->files[arguments->file_count++] = "PROF.bsp";
    }
    if (!output)
        return true;
    if (ends_with(output, ".ps") || ends_with(output, ".eps"))
        return wrong(error, "%.100s: PostScript is not written: give a name that ends with .svg",
                     output);
    if (ends_with(output, ".svg"))
        arguments->svg = true;
    for (unsigned i = 0; i < arguments->file_count; i++)
        if (strcmp(output, arguments->files[i]) == 0)
            return wrong(error, "-o %.100s: this is the profile itself", output);
    return true;
}

bool bspprof_arguments_parse(enum arguments_command command, int argc, char **argv,
                             struct arguments *arguments, char error[ARGUMENTS_ERROR])
{
    bool words_only = false;
    *arguments = (struct arguments){.section = {0, UINT64_MAX}, .bucket = 1};
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i], *name = word + 1 + (word[0] == '-' && word[1] == '-');
        unsigned option = 0;
        if (words_only || word[0] != '-' || word[1] == '\0') {
            if (!take_file(command, arguments, word, error))
                return false;
            continue;
        }
        if (strcmp(word, "--") == 0) {
            words_only = true;
            continue;
        }
        size_t length = strcspn(name, "=");
        while (option < COUNT(options) &&
               !((options[option].commands & command) && strlen(options[option].name) == length &&
                 memcmp(options[option].name, name, length) == 0))
            option++;
        if (option == COUNT(options))
            return unknown(command, word, error);
        const char *value = name[length] == '=' ? name + length + 1 : NULL;
        if (value && !options[option].value)
            return wrong(error, "-%s takes no value", options[option].name);
        if (!value && options[option].value && i + 1 == argc)
            return wrong(error, "-%s: the value is missing", options[option].name);
        if (!value && options[option].value)
            value = argv[++i];
        if (!take_option(arguments, option, value, error))
            return false;
    }
    return check(arguments, error);
}
