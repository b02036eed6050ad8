/* load_look.c - asks hosts for their load; see load.h.
 *
 * On each host bspload --probe is executed, at the same path as here; if it is missing, a shell
 * prints the system's load.  Under Slurm one call asks all hosts.  A command of the user may pass
 * what it is given to a shell, or not: it gets words that mean the same in both cases. */
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/hosts/ask_hosts.h"
#include "bsprun/load/load.h"

/* To be freed. */
static char *path_of_bspload(void)
{
    char self[PATH_MAX], *path;
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

    self[length > 0 ? length : 0] = '\0';
    return asprintf(&path, "%s/bspload", dirname(self)) < 0 ? NULL : path;
}

/* A command for the remote shell; to be freed.  named: the answer is one line, with the node's
 * name. */
static char *question(const char *path, bool named)
{
    char *quoted = launch_quoted(path), *line = NULL, *plain = NULL;

    if (!quoted ||
        asprintf(&plain, "if test -x %s; then %s --probe; else cat /proc/loadavg; nproc; fi",
                 quoted, quoted) < 0)
        plain = NULL;
    if (plain && asprintf(&line, named ? "echo \"$SLURMD_NODENAME\" $(%s)" : "%s", plain) < 0)
        line = NULL;
    free(quoted);
    free(plain);
    return line;
}

static void take_answer(struct load *load, const char *name, const struct ask_answer *answer,
                        bool one_call)
{
    const char *text = answer->output;

    if (text && one_call)
        text = load_line_of(text, name);
    if (answer->failure)
        load->failure = strdup(answer->failure);
    else if ((!text || !load_read(load, text)) &&
             asprintf(&load->failure, "host %s: %s", name,
                      text ? "its answer is not understood" : "it did not answer") < 0)
        load->failure = NULL;
}

struct load *load_look(const struct options_hosts *hosts)
{
    const enum launch_kind kind = launch_kind(hosts->launcher, hosts->slurm);
    char *path = path_of_bspload(), *line = path ? question(path, kind == LAUNCH_SLURM) : NULL;
    const char *const by_shell[] = {"/bin/sh", "-c", line, NULL};
    const char *const plain[] = {path, "--probe", NULL};
    struct load *loads = calloc(hosts->all.count + 1u, sizeof *loads);
    struct ask_answer *answers = calloc(hosts->all.count + 1u, sizeof *answers);
    bool wanted[HOSTS_MAX];
    const struct ask question = {.hosts = &hosts->all,
                                 .wanted = wanted,
                                 .kind = kind,
                                 .one_call = kind == LAUNCH_SLURM,
                                 .launcher = hosts->launcher,
                                 .words = kind == LAUNCH_COMMAND ? plain : by_shell,
                                 .timeout_ms = hosts->connect_ms};

    for (uint32_t i = 0; i < hosts->all.count; i++)
        wanted[i] = !hosts_is_own(hosts->all.items[i].name, hosts->own);
    bool good = line && loads && answers && ask_hosts(&question, answers) == 0;
    for (uint32_t i = 0; i < hosts->all.count && good; i++)
        if (wanted[i])
            take_answer(&loads[i], hosts->all.items[i].name, &answers[i], kind == LAUNCH_SLURM);
        else
            load_probe(&loads[i]);
    for (uint32_t i = 0; answers && i < hosts->all.count; i++) {
        free(answers[i].output);
        free(answers[i].failure);
    }
    free(answers);
    free(line);
    free(path);
    if (good)
        return loads;
    load_free_all(loads, hosts->all.count);
    return NULL;
}

void load_free_all(struct load *loads, uint32_t count)
{
    for (uint32_t i = 0; loads && i < count; i++)
        free(loads[i].failure);
    free(loads);
}

bool load_sort(struct options_hosts *hosts, void (*failure)(void *context, const char *text),
               void *context)
{
    uint32_t count = hosts->all.count;
    struct load *loads = load_look(hosts);
    uint32_t *order = calloc(count + 1u, sizeof *order);
    struct host *sorted = calloc(count + 1u, sizeof *sorted);
    bool good = loads && order && sorted;

    if (good) {
        load_rank(loads, count, order);
        for (uint32_t i = 0; i < count; i++) {
            sorted[i] = hosts->all.items[order[i]];
            sorted[i].load = load_of_others(&loads[order[i]]);
            if (failure && loads[order[i]].failure)
                failure(context, loads[order[i]].failure);
        }
        memcpy(hosts->all.items, sorted, count * sizeof *sorted);
    }
    load_free_all(loads, count);
    free(order);
    free(sorted);
    return good;
}
