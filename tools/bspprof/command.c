/* command.c - see command.h. */
#include "tools/bspprof/command.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

#include "tools/bspprof/data.h"

static const char *command_name_of_all = "bspprof";

int bspprof_command_fail(int status, const char *format, ...)
{
    va_list list;
    fflush(stdout);
    fprintf(stderr, "%s: ", command_name_of_all);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    return status;
}

int command_main(enum arguments_command command, const char *name, const char *help, int argc,
                 char **argv, int (*work)(const struct arguments *arguments))
{
    struct arguments arguments;
    char error[ARGUMENTS_ERROR];
    int status = STATUS_OK;
    command_name_of_all = name;
    if (!bspprof_arguments_parse(command, argc, argv, &arguments, error))
        return bspprof_command_fail(STATUS_WRONG, "%s", error);
    if (arguments.help)
        fputs(help, stdout);
    else if (arguments.version)
        printf("%s (bspzero) " BSPZ_VERSION "\n", name);
    else
        status = work(&arguments);
    if (fflush(stdout) != 0 || ferror(stdout))
        return bspprof_command_fail(STATUS_BAD, "standard output: %s", strerror(errno));
    return status;
}

const char *bspprof_command_time(double ns, char text[COMMAND_TIME_MAX])
{
    if (ns == 0)
        snprintf(text, COMMAND_TIME_MAX, "0");
    else if (ns >= 600e9)
        snprintf(text, COMMAND_TIME_MAX, "%.4g min", ns / 60e9);
    else if (ns >= 1e9)
        snprintf(text, COMMAND_TIME_MAX, "%.4g s", ns / 1e9);
    else if (ns >= 1e6)
        snprintf(text, COMMAND_TIME_MAX, "%.4g ms", ns / 1e6);
    else
        snprintf(text, COMMAND_TIME_MAX, "%.4g us", ns / 1e3);
    return text;
}

const char *command_name(const struct profile *profile, uint32_t statement,
                         char text[COMMAND_NAME_MAX])
{
    char all[DATA_NAME];
    size_t length = strlen(data_statement(profile, statement, all));
    bool longer = length >= COMMAND_NAME_MAX;
    if (longer)
        snprintf(text, COMMAND_NAME_MAX, "...%.36s", all + length - 36);
    else
        snprintf(text, COMMAND_NAME_MAX, "%.39s", all);
    return text;
}
