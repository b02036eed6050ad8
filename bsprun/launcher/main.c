/* main.c - bsprun, the launcher the user sees. */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "bsprun/launcher/launcher.h"
#include "lib/base/io.h"
#include "lib/base/stdout.h"

#define STATUS_USAGE 2
/* KiB that suffice for bsprun and the agents. */
#define STACK_LEAST  128u

static const char *variable(const char *name)
{
    return getenv(name);
}

/* With less, bsprun or an agent might die of SIGSEGV, without a word.  stdio would need 8 KiB. */
static bool stack_suffices(void)
{
    struct rlimit limit;
    char text[160];
    int length;

    if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= STACK_LEAST * 1024)
        return true;
    length = snprintf(text, sizeof text,
                      "bsprun: the stack is limited to %llu KiB, and at least %u are needed: raise "
                      "the limit (ulimit -s)\n",
                      (unsigned long long)limit.rlim_cur / 1024, STACK_LEAST);
    bspz_write_all(STDERR_FILENO, text, (size_t)length);
    return false;
}

int main(int argc, char **argv)
{
    static struct process_signals signals; /* 10 KiB: the stack may be small */
    static struct options options;
    int status;

    /* Closed standard descriptors would be reused for other files and written to. */
    if (process_open_standard() != 0) {
        perror("bsprun: /dev/null, in place of a closed standard stream");
        return 1;
    }
    if (!stack_suffices())
        return 1;
    process_signals_save(&signals);
    options_parse(argc, (const char **)argv, variable, &options);
    switch (options.action) {
    case OPTIONS_HELP:
        fputs(options_help, stdout);
        status = bspz_stdout_flushed("bsprun") ? 0 : 1;
        break;
    case OPTIONS_VERSION:
        printf("bsprun (bspzero) %s\n", BSPZ_VERSION);
        status = bspz_stdout_flushed("bsprun") ? 0 : 1;
        break;
    case OPTIONS_ERROR:
        fprintf(stderr, "bsprun: %s\n", options.error);
        status = STATUS_USAGE;
        break;
    default:
        status = launcher_run(&options, &signals);
        break;
    }
    options_free(&options);
    return status;
}
