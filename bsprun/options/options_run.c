/* options_run.c - the values of options about how the program is run, which mpirun and srun have,
 * too: its directory. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/options/options_inside.h"
#include "lib/shm/board.h"

/* A relative name is one below the directory in which bsprun was called.  Whether it exists is seen
 * later, that of --wdir where the program begins, which may be another host. */
static bool take_directory(struct options *options, char **place, const char *source,
                           const char *text)
{
    char *here = NULL, *whole;
    int length;

    if (!*text)
        return options_wrong(options, "%sneeds the name of a directory", source);
    if (text[0] != '/' && !(here = getcwd(NULL, 0)))
        return options_wrong(options,
                             "%s%.80s: the current directory has no name: give an absolute path",
                             source, text);
    length = asprintf(&whole, "%s%s%s", here ? here : "", here ? "/" : "", text);
    free(here);
    if (length < 0)
        return options_wrong(options, "out of memory");
    free(*place);
    *place = whole;
    return length <= (int)WIRE_PATH_MAX ||
           options_wrong(options, "%s%.80s: the name of the directory is too long", source, text);
}

/* ---- Variables ---- */

static bool export_all(struct options *options)
{
    for (char **entry = environ; *entry; entry++)
        if (strchr(*entry, '=') > *entry && !options_take_export(options, *entry))
            return false;
    return true;
}

/* One word of --export. */
static bool take_exported(struct options *options, const char *source, const char *word)
{
    size_t length = strcspn(word, "=");

    if (length == 0)
        return options_wrong(options, "%s: give ALL, NONE, or variables such as VAR,VAR=value",
                             source);
    if (!word[length] && !options->lookup(word))
        return options_wrong(options,
                             "%s%.80s: no such variable in the environment; %.80s=value sets it",
                             source, word, word);
    return options_take_export(options, word);
}

/* As srun has it: what is named is all that there is, but with ALL. */
static bool take_export_list(struct options *options, const char *source, const char *text)
{
    char *copy = strdup(text), *rest = copy, *word;
    bool good = copy != NULL, all = false;

    if (!copy)
        return options_wrong(options, "out of memory");
    if (strcmp(text, "NONE") != 0)
        while (good && (word = strsep(&rest, ","))) {
            if (strcmp(word, "ALL") == 0)
                good = all = export_all(options);
            else
                good = take_exported(options, source, word);
        }
    free(copy);
    options->run.only_named = !all;
    return good;
}

static bool take_stdin(struct options *options, const char *source, const char *text)
{
    char *end = NULL;
    unsigned long pid = 0;

    options->run.no_stdin = strcmp(text, "none") == 0;
    if (!options->run.no_stdin && text[0] >= '0' && text[0] <= '9')
        pid = strtoul(text, &end, 10);
    if (!options->run.no_stdin && (!end || *end || pid >= WIRE_RANKS_MAX))
        return options_wrong(options,
                             "%s%.80s: give none, or the number of the process that reads it, from "
                             "0, which has it by default, to %u",
                             source, text, (unsigned)WIRE_RANKS_MAX - 1);
    options->run.stdin_pid = (uint32_t)pid;
    return true;
}

static bool take_memory(struct options *options, const char *source, const char *text)
{
    return options_take_bytes(options, &options->run.dataspace_memory, source, text,
                              "bytes for objects in memory on each host");
}

static bool take_bad_exit(struct options *options, const char *source, const char *text)
{
    options->run.end_on_bad_exit = strcmp(text, "1") == 0;
    return options->run.end_on_bad_exit || strcmp(text, "0") == 0 ||
           options_wrong(options,
                         "%s%.80s: give 1 (a failure after bsp_end ends the job, too), or 0",
                         source, text);
}

bool options_take_run(struct options *options, enum option_code code, const char *source,
                      const char *text)
{
    switch (code) {
    case OPT_EXPORT_LIST:
        return take_export_list(options, source, text);
    case OPT_DATASPACE_MEMORY:
        return take_memory(options, source, text);
    case OPT_STDIN:
        return take_stdin(options, source, text);
    case OPT_BAD_EXIT:
        return take_bad_exit(options, source, text);
    case OPT_OUTPUT:
        return take_directory(options, &options->run.output, source, text) &&
               options_keep_instead(options, code, text, options->run.output);
    default:
        return take_directory(options, &options->run.directory, source, text);
    }
}

static bool is_exported(const struct options *options, const char *name)
{
    size_t length = strlen(name);

    for (int i = 0; i < options->export_count; i++)
        if (strncmp(options->exports[i], name, length) == 0 && options->exports[i][length] == '=')
            return true;
    return false;
}

/* PWD names the directory, as a shell would set it. */
bool options_complete_run(struct options *options)
{
    char *assignment;

    if (options->processes > 0 && options->run.stdin_pid >= (uint32_t)options->processes)
        return options_wrong(options, "--stdin %u: there is no such process: -np %d",
                             options->run.stdin_pid, options->processes);
    if (options->run.stacks && options->timeout <= 0 && options->verbosity == 0)
        options_note(options, "--stacks prints nothing without --timeout or -v");
    if (!options->run.directory || is_exported(options, "PWD"))
        return true;
    if (asprintf(&assignment, "PWD=%s", options->run.directory) < 0)
        return options_wrong(options, "out of memory");
    bool good = options_take_export(options, assignment);
    free(assignment);
    return good;
}

uint32_t options_own_cores(void)
{
    return (uint32_t)bspz_usable_cores();
}

uint32_t options_most_processes(void)
{
    return BSPZ_MAX_PROCS;
}

void options_free_run(struct options_run *run)
{
    free(run->directory);
    free(run->output);
}
