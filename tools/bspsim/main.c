/* bspsim: simulated jobs that take snapshots while hosts fail, and programs on other machines. */

#include "lib/base/stdout.h"
#include "tools/bspsim/command.h"

static int run(const struct arguments *arguments)
{
    switch (arguments->action) {
    case ARGUMENTS_HELP:
        fputs(arguments_help, stdout);
        return STATUS_OK;
    case ARGUMENTS_VERSION:
        puts("bspsim (bspzero) " BSPZ_VERSION);
        return STATUS_OK;
    case ARGUMENTS_PLAN:
        return command_plan(arguments);
    case ARGUMENTS_REPLAY:
        return command_replay(arguments);
    default:
        return command_run(arguments);
    }
}

int main(int argc, const char **argv)
{
    struct arguments arguments;
    char error[ARGUMENTS_ERROR];
    int status;

    if (bspsim_arguments_parse(argc, argv, &arguments, error))
        status = run(&arguments);
    else
        status = bspsim_command_fail(STATUS_WRONG, "%s", error);
    arguments_free(&arguments);
    return bspz_stdout_flushed("bspsim") ? status : STATUS_BAD;
}
