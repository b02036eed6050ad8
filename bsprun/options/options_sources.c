/* options_sources.c - sources of options other than the command line: the environment, the program,
 * the job to restart. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/options/options_inside.h"

#define BIT(code) ((option_set)1 << (code))
#define OUTPUTS   (BIT(OPT_SPLIT) | BIT(OPT_TAG))

/* A variable may have several rules, one per line. */
static bool take_lines(struct options *options, enum option_code code, const char *source,
                       const char *text)
{
    bool good = true;

    while (good && *text) {
        size_t length = strcspn(text, (char[]){OPTIONS_SEPARATOR, '\0'});
        char *line = strndup(text, length);

        good = line ? length == 0 || options_take(options, code, source, line)
                    : options_wrong(options, "out of memory");
        free(line);
        text += length + (text[length] != '\0');
    }
    return good;
}

static bool take_setting(struct options *options, enum option_code code, const char *source,
                         const char *text)
{
    return code == OPT_EXCLUDE ? take_lines(options, code, source, text)
                               : options_take(options, code, source, text);
}

static bool take_settings(struct options *options)
{
    return options_take_settings(options, OF_SNAPSHOTS, take_setting);
}

static char *directory_of_program(const struct options *options)
{
    const char *slash = strrchr(options->command[0], '/');
    char *directory;

    return asprintf(&directory, "./%s.ckpt", slash ? slash + 1 : options->command[0]) < 0
               ? NULL
               : directory;
}

/* Options about snapshots without snapshots are an error. */
static bool check_unused_options(struct options *options)
{
    for (enum option_code code = OPT_NP; code < OPT_COUNT; code++)
        if (options_subject(code) == OF_SNAPSHOTS && options_given(options, code))
            return options_wrong(options, "--%s without --ckpt DIR: no snapshots are taken",
                                 options_name(code));
    return true;
}

static bool complete_restart(struct options *options)
{
    struct options_snapshots *snapshots = &options->snapshots;

    if (snapshots->restart && snapshots->restart_old)
        return options_wrong(options, "-restart and --restart %.200s: give one of them",
                             snapshots->restart);
    if (snapshots->restart_old) {
        snapshots->restart = directory_of_program(options);
        if (!snapshots->restart)
            return options_wrong(options, "out of memory");
    }
    if (options_given(options, OPT_CKPT))
        return options_wrong(options, "--ckpt and --restart: a restarted job keeps its snapshots "
                                      "in the same directory; leave out --ckpt");
    if (options->run.dry_run)
        return options_wrong(options,
                             "--dry-run and --restart: the placement of a restarted job depends on "
                             "its hosts at that time; bspckpt shows the snapshots");
    if (options->run.directory)
        return options_wrong(
            options, "--wdir and --restart: a restarted program keeps its working directory");
    if (options_given(options, OPT_EXPORT_LIST))
        return options_wrong(options,
                             "--export and --restart: a restarted program keeps its environment");
    if (options->export_count > 0)
        return options_wrong(options,
                             "-x and --restart: a restarted program keeps its environment");
    return true;
}

bool options_complete(struct options *options, int linked_seconds)
{
    struct options_snapshots *snapshots = &options->snapshots;
    const char *directory = options->lookup("BSPZERO_CKPT");

    if (snapshots->restart || snapshots->restart_old)
        return complete_restart(options);
    if (options->input_differs)
        return options_wrong(options, "--input-differs is for --restart DIR");
    if (!snapshots->directory && directory && *directory &&
        !options_take_snapshot(options, OPT_CKPT, "BSPZERO_CKPT=", directory))
        return false;
    if (!snapshots->directory && linked_seconds > 0) {
        snapshots->directory = directory_of_program(options);
        if (!snapshots->directory)
            return options_wrong(options, "out of memory");
    }
    if (!snapshots->directory)
        return check_unused_options(options);
    if (!take_settings(options))
        return false;
    if (linked_seconds > 0 && !options_given(options, OPT_EVERY)) {
        char text[32];

        snprintf(text, sizeof text, "%ds", linked_seconds);
        return options_take(options, OPT_EVERY, "-fcheckpointing ", text);
    }
    return true;
}

/* Hosts set anew replace the former ones, by whichever options. */
static option_set which_hosts(void)
{
    option_set bits = 0;

    for (enum option_code code = OPT_NP; code < OPT_COUNT; code++)
        if (options_subject(code) == WHICH_HOSTS)
            bits |= BIT(code);
    return bits;
}

bool options_recall(struct options *options, const char *const *words, uint32_t count)
{
    option_set anew = options->given;

    /* One way of showing output replaces the other. */
    if (anew & OUTPUTS)
        anew |= OUTPUTS;
    if (anew & which_hosts())
        anew |= which_hosts();
    for (uint32_t i = 0; i < count; i++) {
        size_t length = strcspn(words[i], "=");
        enum option_code code = options_code(words[i], length);

        if (code == 0 || anew >> code & 1)
            continue;
        options->given |= (option_set)1 << code;
        if (!options_take(options, code, "as the job was started: ",
                          words[i][length] ? words[i] + length + 1 : ""))
            return false;
    }
    return take_settings(options);
}
