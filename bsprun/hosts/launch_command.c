/* launch_command.c - local commands that start programs on other hosts; see launch_command.h. */
#include "bsprun/hosts/launch_command.h"

#include <popt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A list of words; items is NULL after an allocation failure. */
struct words {
    char **items;
    size_t count;
    bool short_of_memory;
};

/* Adds the word and takes ownership of it. */
static void add(struct words *words, char *word)
{
    char **more = realloc(words->items, (words->count + 2) * sizeof *more);

    if (!more || !word) {
        words->items = more ? more : words->items;
        words->short_of_memory = true;
        free(word);
        return;
    }
    words->items = more;
    more[words->count++] = word;
    more[words->count] = NULL;
}

static void add_copy(struct words *words, const char *word)
{
    add(words, strdup(word));
}

static void add_all(struct words *words, const char *const *more)
{
    for (; *more; more++)
        add_copy(words, *more);
}

__attribute__((format(printf, 2, 3))) static void add_format(struct words *words,
                                                             const char *format, ...)
{
    va_list arguments;
    char *word;

    va_start(arguments, format);
    if (vasprintf(&word, format, arguments) < 0)
        word = NULL;
    va_end(arguments);
    add(words, word);
}

const char **launch_words(const char *text)
{
    const char **parts = NULL;
    int count;

    return poptParseArgvString(text, &count, &parts) == 0 ? parts : NULL;
}

static void add_parts(struct words *words, const char *text)
{
    const char **parts = launch_words(text);

    if (parts)
        add_all(words, parts);
    else
        words->short_of_memory = true; /* the option was checked */
    free(parts);
}

void launch_command_free(char **command)
{
    for (char **word = command; word && *word; word++)
        free(*word);
    free(command);
}

/* ---- Kinds ---- */

/* Whether the first word is the path of a program of that name. */
static bool is_called(const char *launcher, const char *name)
{
    const char **words = launch_words(launcher);
    const char *first = words && words[0] ? words[0] : "";
    const char *slash = strrchr(first, '/');
    bool is = strcmp(slash ? slash + 1 : first, name) == 0;

    free(words);
    return is;
}

enum launch_kind launch_kind(const char *launcher, bool in_slurm)
{
    if (!launcher)
        return in_slurm ? LAUNCH_SLURM : LAUNCH_SSH;
    if (strcmp(launcher, "slurm") == 0)
        return LAUNCH_SLURM;
    return is_called(launcher, "ssh") ? LAUNCH_SSH : LAUNCH_COMMAND;
}

/* ---- Commands ---- */

char *launch_quoted(const char *word)
{
    size_t plain = strspn(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
                                "_./:@%+,-");
    char *quoted = malloc(4 * strlen(word) + 3), *to = quoted;

    if (!quoted)
        return NULL;
    if (*word && !word[plain])
        return strcpy(quoted, word);
    *to++ = '\'';
    for (; *word; word++) {
        if (*word == '\'')
            to = stpcpy(to, "'\\''");
        else
            *to++ = *word;
    }
    strcpy(to, "'");
    return quoted;
}

/* One line for the user's login shell there, whichever that is. */
static char *shell_line(const char *const *words)
{
    char *line = strdup("exec");

    for (; line && *words; words++) {
        char *quoted = launch_quoted(*words), *longer = NULL;

        if (quoted && asprintf(&longer, "%s %s", line, quoted) < 0)
            longer = NULL;
        free(quoted);
        free(line);
        line = longer;
    }
    return line;
}

/* No prompts, no terminal, no forwarding; otherwise the user's configuration applies. */
static void make_ssh(struct words *command, const char *launcher, const struct host *host,
                     const char *const *words)
{
    static const char *const options[] = {"-T",
                                          "-a",
                                          "-x",
                                          "-o",
                                          "BatchMode=yes",
                                          "-o",
                                          "ControlMaster=no",
                                          "-o",
                                          "ClearAllForwardings=yes",
                                          NULL};

    add_parts(command, launcher ? launcher : "ssh");
    add_all(command, options);
    if (host->user) {
        add_copy(command, "-l");
        add_copy(command, host->user);
    }
    add_copy(command, host->reached ? host->reached : host->name);
    add(command, shell_line(words));
}

static char *joined_names(const struct host *const *hosts, uint32_t count)
{
    size_t size = 1;
    char *names, *to;

    for (uint32_t i = 0; i < count; i++)
        size += strlen(hosts[i]->name) + 1;
    names = to = malloc(size);
    if (!names)
        return NULL;
    *to = '\0';
    for (uint32_t i = 0; i < count; i++) {
        if (i > 0)
            *to++ = ',';
        to = stpcpy(to, hosts[i]->name);
    }
    return names;
}

/* One step with one task on each node, overlapping other steps of the allocation; a lost node, or a
 * task that ends, does not affect the others. */
static void make_srun(struct words *command, const struct host *const *hosts, uint32_t count,
                      const char *const *words)
{
    static const char *const options[] = {"--ntasks-per-node=1",  "--overlap",   "--no-kill",
                                          "--kill-on-bad-exit=0", "--wait=0",    "--cpu-bind=none",
                                          "--mpi=none",           "--input=all", "--unbuffered",
                                          "--export=ALL",         "--chdir=/",   NULL};
    char *names = joined_names(hosts, count);

    add_copy(command, "srun");
    add_format(command, "--nodes=%u", count);
    add_format(command, "--ntasks=%u", count);
    if (names)
        add_format(command, "--nodelist=%s", names);
    else
        command->short_of_memory = true;
    free(names);
    add_all(command, options);
    add_all(command, words);
}

static void make_other(struct words *command, const char *launcher, const struct host *host,
                       const char *const *words)
{
    add_parts(command, launcher);
    const char *name = host->reached ? host->reached : host->name;

    if (host->user)
        add_format(command, "%s@%s", host->user, name);
    else
        add_copy(command, name);
    add_all(command, words);
}

char **launch_command(enum launch_kind kind, const char *launcher, const struct host *const *hosts,
                      uint32_t count, const char *const *words)
{
    struct words command = {NULL, 0, false}, named = {NULL, 0, false};

    /* One more agent on a host says under which name it is known. */
    if (hosts[0]->reached) {
        add_copy(&named, "env");
        add_format(&named, "BSPZERO_HOST_NAME=%s", hosts[0]->name);
        add_all(&named, words);
        command.short_of_memory = named.short_of_memory;
        words = (const char *const *)named.items;
    }
    if (command.short_of_memory)
        ; /* said below */
    else if (hosts[0]->here)
        add_all(&command, words);
    else if (kind == LAUNCH_SLURM)
        make_srun(&command, hosts, count, words);
    else if (kind == LAUNCH_SSH)
        make_ssh(&command, launcher, hosts[0], words);
    else
        make_other(&command, launcher, hosts[0], words);
    launch_command_free(named.items);
    if (!command.short_of_memory)
        return command.items;
    launch_command_free(command.items);
    return NULL;
}
