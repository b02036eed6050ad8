/* report.c - what the example programs print; see report.h. */
#include "apps/common/report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <bsp.h>

#include "apps/common/options.h"

/* The longest cell is a number of 24 characters: sign, 17 digits with a point, e-308. */
enum { CELL = 32, MAX_CELLS = 12 };

static struct {
    const char *program;
    const char *list; /* name of the open list */
    int rows, cells;  /* of the open list; of its current row */
    char names[MAX_CELLS][CELL], values[MAX_CELLS][CELL];
} out = {.program = "app"};

static bool silent(void)
{
    return bsp_pid() > 0;
}

static void print_json_string(const char *text)
{
    putchar('"');
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;

        if (c == '"' || c == '\\')
            printf("\\%c", c);
        else if (c < 0x20)
            printf("\\u%04x", c);
        else
            putchar(c);
    }
    putchar('"');
}

/* JSON names have no spaces. */
static void print_json_name(const char *name)
{
    putchar('"');
    for (; *name; name++)
        putchar(*name == ' ' ? '_' : *name);
    fputs("\": ", stdout);
}

/* One fact whose value is already text; quoted says that JSON must quote it. */
static void fact(const char *name, const char *value, bool quoted)
{
    if (silent())
        return;
    if (out.list && !option_json) {
        if (out.cells < MAX_CELLS) {
            snprintf(out.names[out.cells], CELL, "%s", name);
            snprintf(out.values[out.cells], CELL, "%s", value);
            out.cells++;
        }
        return;
    }
    if (!option_json) {
        printf("%s: %s\n", name, value);
        return;
    }
    if (out.list)
        fputs(out.cells++ > 0 ? ", " : out.rows > 0 ? ", {" : "{", stdout);
    else
        fputs(", ", stdout);
    print_json_name(name);
    if (quoted)
        print_json_string(value);
    else
        fputs(value, stdout);
}

void report_begin(const char *program)
{
    out.program = program;
    if (silent())
        return;
    if (option_json) {
        fputs("{\"program\": ", stdout);
        print_json_string(program);
    } else {
        printf("program: %s\n", program);
    }
}

void report_integer(const char *name, int64_t value)
{
    char text[CELL];

    snprintf(text, sizeof text, "%lld", (long long)value);
    fact(name, text, false);
}

void report_hex(const char *name, uint64_t value)
{
    char text[CELL];

    snprintf(text, sizeof text, "%016llx", (unsigned long long)value);
    fact(name, text, true);
}

static void number(const char *name, double value, int digits)
{
    char text[CELL];

    if (isfinite(value))
        snprintf(text, sizeof text, "%.*g", digits, value);
    else if (option_json)
        snprintf(text, sizeof text, "null");
    else /* the sign of a NaN says nothing */
        snprintf(text, sizeof text, "%s", isnan(value) ? "nan" : value < 0 ? "-inf" : "inf");
    fact(name, text, false);
}

void report_real(const char *name, double value)
{
    number(name, value, 17);
}

void report_short(const char *name, double value)
{
    number(name, value, 8);
}

void report_rough(const char *name, double value)
{
    number(name, value, 3);
}

void report_text(const char *name, const char *value)
{
    fact(name, value, true);
}

void report_time(const char *name, double value)
{
    if (!option_timing || silent())
        return;
    if (option_json) {
        fputs(", ", stdout);
        print_json_name(name);
        printf("%.6g", value);
    } else {
        printf("time: %s %.6g\n", name, value);
    }
}

void report_list_begin(const char *name)
{
    out.list = name;
    out.rows = out.cells = 0;
    if (option_json && !silent()) {
        fputs(", ", stdout);
        print_json_name(name);
        putchar('[');
    }
}

static void print_cells(char cells[MAX_CELLS][CELL])
{
    for (int i = 0; i < out.cells; i++)
        printf("%*s", i == 0 ? 10 : 25, cells[i]);
    putchar('\n');
}

void report_row_end(void)
{
    if (!silent()) {
        if (option_json) {
            putchar('}');
        } else {
            if (out.rows == 0)
                print_cells(out.names);
            print_cells(out.values);
        }
    }
    out.rows++;
    out.cells = 0;
}

void report_list_end(void)
{
    out.list = NULL;
    if (option_json && !silent())
        putchar(']');
}

/* Whether all of the summary has been written. */
static bool summary_is_out(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return true;
    complain("cannot write the summary");
    return false;
}

int report_end(bool verified)
{
    if (silent())
        return verified ? 0 : 1;
    if (option_json)
        printf(", \"verified\": %s}\n", verified ? "true" : "false");
    else
        puts(verified ? "verified" : "FAILED");
    return summary_is_out() && verified ? 0 : 1;
}

int report_end_unchecked(const char *reason)
{
    if (silent())
        return 0;
    if (option_json)
        puts(", \"verified\": null}");
    else
        printf("not verified: %s\n", reason);
    return summary_is_out() ? 0 : 1;
}

void complain_as(const char *program)
{
    out.program = program;
}

void complain(const char *format, ...)
{
    va_list arguments;

    if (silent())
        return;
    fprintf(stderr, "%s: ", out.program);
    va_start(arguments, format);
    vfprintf(stderr, format, arguments);
    va_end(arguments);
    fputc('\n', stderr);
}

void *allocate(int64_t count, size_t size)
{
    void *memory = count < 0 ? NULL : calloc(count > 0 ? (size_t)count : 1, size);

    if (!memory)
        bsp_abort("%s: no memory for %lld items of %zu bytes\n", out.program, (long long)count,
                  size);
    return memory;
}
