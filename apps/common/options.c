/* options.c - command lines of the example programs; see options.h. */
#include "apps/common/options.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apps/common/report.h"

enum { MAX_ROWS = 32, FIRST_LONG_ONLY = 256 };

bool option_json, option_timing;

static const struct option_row common_rows[] = {
    {"json", 0, OPTION_FLAG, &option_json, .help = "print the summary as one JSON object"},
    {"timing", 0, OPTION_FLAG, &option_timing, .help = "add lines that begin with time:"},
    {NULL},
};

static _Noreturn void usage_error(const struct program *program, const char *format, ...)
{
    va_list arguments;

    fprintf(stderr, "%s: ", program->name);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fprintf(stderr, "; try %s --help\n", program->name);
    exit(2);
}

static void print_default(const struct option_row *row)
{
    switch (row->kind) {
    case OPTION_FLAG:
        break;
    case OPTION_INTEGER:
        /* An impossible default means "not given" and is not shown. */
        if ((double)*(int64_t *)row->target >= row->least)
            printf(" [%lld]", (long long)*(int64_t *)row->target);
        break;
    case OPTION_REAL:
        printf(" [%g]", *(double *)row->target);
        break;
    case OPTION_TEXT:
        if (*(const char **)row->target)
            printf(" [%s]", *(const char **)row->target);
        break;
    }
}

static void print_rows(const struct option_row *row)
{
    for (; row->name; row++) {
        char left[64];
        int used = row->letter ? snprintf(left, sizeof left, "-%c, --%s", row->letter, row->name)
                               : snprintf(left, sizeof left, "    --%s", row->name);

        if (row->argument)
            snprintf(left + used, sizeof left - (size_t)used, " %s", row->argument);
        printf("  %-24s %s", left, row->help);
        print_default(row);
        putchar('\n');
    }
}

static _Noreturn void print_help(const struct program *program)
{
    printf("Usage: %s [OPTION]...%s%s\n%s\n\n", program->name, *program->operands ? " " : "",
           program->operands, program->purpose);
    print_rows(program->options);
    print_rows(common_rows);
    printf("  %-24s %s\n", "    --help", "print this text");
    printf("\nThe number of processes is bsprun's -np, or BSP_PROCS for a run without bsprun.\n");
    exit(fflush(stdout) == 0 ? 0 : 1);
}

/* Reads a whole decimal number; false when text is something else. */
static bool parse_real(const char *text, double *value)
{
    char *end;

    errno = 0;
    *value = strtod(text, &end);
    return end != text && *end == '\0' && errno == 0 && isfinite(*value);
}

static bool parse_integer(const char *text, int64_t *value)
{
    char *end;
    double real;

    errno = 0;
    *value = strtoll(text, &end, 10);
    if (end != text && *end == '\0' && errno == 0)
        return true;
    if (!parse_real(text, &real) || real != floor(real) || fabs(real) > 0x1p53)
        return false;
    *value = (int64_t)real;
    return true;
}

static void check_bounds(const struct program *program, const struct option_row *row, double value)
{
    if (value < row->least || value > row->most)
        usage_error(program, "--%s must lie between %.15g and %.15g", row->name, row->least,
                    row->most);
}

static void store(const struct program *program, const struct option_row *row, const char *text)
{
    switch (row->kind) {
    case OPTION_FLAG:
        *(bool *)row->target = true;
        break;
    case OPTION_INTEGER:
        if (!parse_integer(text, row->target))
            usage_error(program, "--%s needs a whole number, not \"%s\"", row->name, text);
        check_bounds(program, row, (double)*(int64_t *)row->target);
        break;
    case OPTION_REAL:
        if (!parse_real(text, row->target))
            usage_error(program, "--%s needs a number, not \"%s\"", row->name, text);
        check_bounds(program, row, *(double *)row->target);
        break;
    case OPTION_TEXT:
        *(const char **)row->target = text;
        break;
    }
}

/* The rows of one program and the common ones, in getopt's form as well. */
struct parser {
    const struct option_row *rows[MAX_ROWS];
    struct option longs[MAX_ROWS + 2];
    char shorts[2 * MAX_ROWS + 2];
    int count;
};

static void add_rows(struct parser *parser, const struct option_row *row)
{
    for (; row->name && parser->count < MAX_ROWS; row++) {
        int takes = row->kind == OPTION_FLAG ? no_argument : required_argument;

        parser->rows[parser->count] = row;
        parser->longs[parser->count] =
            (struct option){row->name, takes, NULL, FIRST_LONG_ONLY + parser->count};
        parser->count++;
        if (row->letter) {
            char *end = parser->shorts + strlen(parser->shorts);

            *end++ = row->letter;
            if (takes == required_argument)
                *end++ = ':';
            *end = '\0';
        }
    }
}

/* How the option that getopt has refused was written.  Where letters stand together argv is not
 * yet past them, and the letter is written into name. */
static const char *refused(char **argv, char *name)
{
    if (optopt <= 0 || optopt >= FIRST_LONG_ONLY)
        return argv[optind - 1];
    name[1] = (char)optopt;
    return name;
}

int options_parse(const struct program *program, int argc, char **argv)
{
    struct parser parser = {.shorts = ":"};
    char name[] = "-?";
    int found;

    complain_as(program->name);
    add_rows(&parser, program->options);
    add_rows(&parser, common_rows);
    parser.longs[parser.count] = (struct option){"help", no_argument, NULL, 'h' + 1024};

    opterr = 0;
    while ((found = getopt_long(argc, argv, parser.shorts, parser.longs, NULL)) != -1) {
        const struct option_row *row = NULL;

        if (found == 'h' + 1024)
            print_help(program);
        if (found == ':')
            usage_error(program, "%s needs a value", refused(argv, name));
        if (found == '?')
            usage_error(program, "unknown option %s", refused(argv, name));
        if (found >= FIRST_LONG_ONLY) {
            row = parser.rows[found - FIRST_LONG_ONLY];
        } else {
            for (int i = 0; i < parser.count && !row; i++)
                if (parser.rows[i]->letter == found)
                    row = parser.rows[i];
        }
        store(program, row, optarg);
    }
    if (argc - optind > program->max_operands)
        usage_error(program, "unexpected argument \"%s\"", argv[optind + program->max_operands]);
    return optind;
}

bool stdin_is_needed_twice(const struct program *program, const char *one, const char *other)
{
    if (!one || !other || strcmp(one, "-") != 0 || strcmp(other, "-") != 0)
        return false;
    complain("standard input can be read only once; try %s --help", program->name);
    return true;
}
