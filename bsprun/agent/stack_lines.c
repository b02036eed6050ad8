/* stack_lines.c - see stack_lines.h. */
#include "bsprun/agent/stack_lines.h"

#include <stdlib.h>
#include <string.h>

#define CUT_LINE "    ... (truncated)\n"

static bool begins(const char *line, const char *end, const char *with)
{
    size_t length = strlen(with);

    return (size_t)(end - line) >= length && memcmp(line, with, length) == 0;
}

static bool is_heading(const char *line, const char *end)
{
    return begins(line, end, "TID ") || begins(line, end, "Thread ");
}

static const char *end_of_line(const char *line, const char *end)
{
    const char *newline = memchr(line, '\n', (size_t)(end - line));

    return newline ? newline : end;
}

static int count_threads(const char *output, const char *end)
{
    int count = 0;

    for (const char *line = output; line < end; line = end_of_line(line, end) + 1)
        count += is_heading(line, end_of_line(line, end));
    return count;
}

static void append(char *text, size_t *used, const char *line, const char *end)
{
    for (; line < end; line++) {
        unsigned char byte = (unsigned char)*line;

        text[(*used)++] = byte == '\t' ? ' ' : byte < ' ' || byte == 0x7f ? '?' : *line;
    }
    text[(*used)++] = '\n';
}

char *stack_lines(const char *output, size_t size, size_t most, bool cut)
{
    const char *end = output + size, *line_end;
    bool threads = count_threads(output, end) > 1, within = false, found = false;
    size_t used = 0, room = (size < most ? size + 1 : most) + sizeof CUT_LINE;
    char *text = malloc(room + 1);

    for (const char *line = output; text && line < end; line = line_end + 1) {
        bool heading, frame;

        line_end = end_of_line(line, end);
        heading = threads && is_heading(line, line_end);
        frame = *line == '#';
        within = frame || (within && *line == ' ');
        found = found || frame;
        if (!heading && !within)
            continue;
        if (used + (size_t)(line_end - line) + 1 + sizeof CUT_LINE > most) {
            cut = true;
            break;
        }
        append(text, &used, line, line_end);
    }
    if (!found) {
        free(text);
        return NULL;
    }
    if (cut) {
        memcpy(text + used, CUT_LINE, sizeof CUT_LINE - 1);
        used += sizeof CUT_LINE - 1;
    }
    text[used] = '\0';
    return text;
}

bool stack_refused(const char *output)
{
    return strstr(output, "Operation not permitted") || strstr(output, "not permitted");
}

const char *stack_advice(int scope)
{
    switch (scope) {
    case 2:
        return "kernel.yama.ptrace_scope is 2: only root may trace, or set it to 1 with sysctl";
    case 3:
        return "kernel.yama.ptrace_scope is 3: no tracing is possible until the host is rebooted "
               "with another value";
    default:
        return "a container needs the capability SYS_PTRACE for it; only root may trace a "
               "set-user-ID program";
    }
}
