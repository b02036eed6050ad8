/* options_debug.c - the values of --debug and --xterm, and what does not go together with them. */
#include <stdlib.h>
#include <string.h>

#include "bsprun/options/options_inside.h"
#include "lib/base/buffer.h"
#include "lib/shm/board.h"

static bool add_pid(struct options_debug *debug, uint64_t pid)
{
    if (!BSPZ_GROW(debug->pids, debug->count))
        return false;
    debug->pids[debug->count++] = pid;
    return true;
}

static bool has_pid(const struct options_debug *debug, uint64_t pid)
{
    for (uint32_t i = 0; i < debug->count; i++)
        if (debug->pids[i] == pid)
            return true;
    return false;
}

bool options_take_debug(struct options *options, const char *source, const char *text)
{
    struct options_debug *debug = &options->debug;
    const char *at = text;
    char *end;

    debug->asked = true;
    debug->all = strcmp(text, "all") == 0;
    debug->count = 0;
    while (!debug->all) {
        unsigned long pid = strtoul(at, &end, 10);

        if (*at < '0' || *at > '9' || (*end && *end != ','))
            return options_wrong(options, "%s%.80s: give pids of the job, such as 0 or 1,3, or all",
                                 source, text);
        if (pid >= BSPZ_MAX_PROCS)
            return options_wrong(options, "%s%.80s: a job has at most %d processes", source, text,
                                 BSPZ_MAX_PROCS);
        if (!has_pid(debug, pid) && !add_pid(debug, pid))
            return options_wrong(options, "out of memory");
        if (!*end)
            break;
        at = end + 1;
    }
    return true;
}

bool options_complete_debug(struct options *options)
{
    struct options_debug *debug = &options->debug;

    if (!debug->asked)
        return !debug->xterm || debug->attach ||
               options_wrong(options, "--xterm is for --debug PID and --attach-on-error: it gives "
                                      "their debuggers windows");
    if (!debug->xterm && (debug->all || debug->count > 1))
        return options_wrong(options, "--debug: the terminal has room for one debugger; --xterm "
                                      "gives each a window");
    if (options->timeout > 0)
        options_note(options, "--timeout has no effect with --debug");
    options->timeout = 0;
    if (!debug->xterm)
        options->run.no_stdin = true; /* the terminal is the debugger's */
    return true;
}

bool options_check_debug(struct options *options)
{
    const struct options_snapshots *snapshots = &options->snapshots;
    const char *name = options->debug.asked ? "--debug" : "--attach-on-error";

    if (!options->debug.asked && !options->debug.attach)
        return true;
    if (snapshots->directory || snapshots->restart)
        return options_wrong(options,
                             "%s in a job with snapshots: a process cannot be saved "
                             "while it is debugged; run it without --ckpt",
                             name);
    return options->hosts.all.count == 0 || options->hosts.only_here ||
           options_wrong(options,
                         "%s on several hosts: it reaches processes of this host "
                         "only; run the job on this one, or start gdb -p there "
                         "(bspstat --json has host and os_pid)",
                         name);
}

void options_free_debug(struct options_debug *debug)
{
    free(debug->pids);
}
