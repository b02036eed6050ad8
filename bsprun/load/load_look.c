/* load_look.c - asks hosts how busy they are; see load.h.
 *
 * On each host bspload --probe is executed, which must lie where it lies here; where it does not, a
 * shell prints what the system says.  Under Slurm one call asks all hosts. */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/hosts/remote_start.h"
#include "bsprun/load/load.h"

struct look {
    struct load *loads;
    const struct hosts *hosts;
    bool one_call; /* all hosts answer together, each in a line that begins with its name */
    uint32_t awaited;
    uv_loop_t loop;
    struct remote_start *start;
};

/* ---- Answers ---- */

static void note_one(struct look *look)
{
    if (--look->awaited == 0)
        remote_start_close(look->start, NULL);
}

static void fail(struct load *load, const char *text)
{
    free(load->failure);
    load->failure = strdup(text);
}

static void on_failed(void *context, uint32_t host, const char *text)
{
    struct look *look = context;

    fail(&look->loads[host], text);
    note_one(look);
}

static void on_ended(void *context, uint32_t host, int wait_status, const char *text)
{
    (void)wait_status; /* never: nothing is ever ready */
    on_failed(context, host, text);
}

static void on_output(void *context, uint32_t host, const char *bytes, size_t size)
{
    struct look *look = context;
    const char *name = look->hosts->items[host].name;
    const char *answer = look->one_call ? load_line_of(bytes, name) : bytes;
    char text[WIRE_NAME_MAX + 64];

    (void)size;
    snprintf(text, sizeof text, "host %s: %s", name,
             answer ? "what it answered is not understood" : "it has not answered");
    if (!answer || !load_read(&look->loads[host], answer))
        fail(&look->loads[host], text);
    note_one(look);
}

/* ---- Questions ---- */

/* A line for the shell there; to be freed.  named: the answer is one line, with the node's name. */
static char *question(bool named)
{
    char self[PATH_MAX], *quoted = NULL, *line = NULL, *path = NULL, *plain = NULL;
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);

    self[length > 0 ? length : 0] = '\0';
    if (asprintf(&path, "%s/bspload", dirname(self)) < 0)
        return NULL;
    quoted = launch_quoted(path);
    if (!quoted ||
        asprintf(&plain, "if test -x %s; then %s --probe; else cat /proc/loadavg; nproc; fi",
                 quoted, quoted) < 0)
        plain = NULL;
    if (plain && asprintf(&line, named ? "echo \"$SLURMD_NODENAME\" $(%s)" : "%s", plain) < 0)
        line = NULL;
    free(path);
    free(quoted);
    free(plain);
    return line;
}

/* False: no memory. */
static bool ask(struct look *look, const struct options_hosts *hosts)
{
    struct remote_start_host others[HOSTS_MAX];

    for (uint32_t i = 0; i < hosts->all.count; i++)
        if (!hosts_is_own(hosts->all.items[i].name, hosts->own))
            others[look->awaited++] =
                (struct remote_start_host){.number = i, .host = &hosts->all.items[i]};
    if (look->awaited > 0 && remote_start_add(look->start, others, look->awaited) != 0)
        return false;
    for (uint32_t i = 0; i < hosts->all.count; i++)
        if (hosts_is_own(hosts->all.items[i].name, hosts->own))
            load_probe(&look->loads[i]);
    return true;
}

static bool run(struct look *look, const struct options_hosts *hosts)
{
    enum launch_kind kind = launch_kind(hosts->launcher, hosts->slurm);
    char *line = question(kind == LAUNCH_SLURM);
    const char *const words[] = {"/bin/sh", "-c", line, NULL};
    struct remote_start_config config = {.kind = kind,
                                         .launcher = hosts->launcher,
                                         .words = words,
                                         .timeout_ms = hosts->connect_ms,
                                         .keep_output = true,
                                         .failed = on_failed,
                                         .ended = on_ended,
                                         .output = on_output};
    bool good = line && uv_loop_init(&look->loop) == 0;

    look->hosts = &hosts->all;
    look->one_call = kind == LAUNCH_SLURM;
    if (good) {
        good = remote_start_open(&look->loop, &config, look, &look->start) == 0;
        if (good) {
            good = ask(look, hosts);
            if (look->awaited == 0 || !good)
                remote_start_close(look->start, NULL);
            uv_run(&look->loop, UV_RUN_DEFAULT);
        }
        uv_loop_close(&look->loop);
    }
    free(line);
    return good;
}

struct load *load_look(const struct options_hosts *hosts)
{
    struct look look = {.loads = calloc(hosts->all.count + 1u, sizeof *look.loads)};
    struct sigaction ignored = {.sa_handler = SIG_IGN}, before;
    bool good;

    if (!look.loads)
        return NULL;
    sigaction(SIGPIPE, &ignored, &before);
    good = run(&look, hosts);
    sigaction(SIGPIPE, &before, NULL);
    if (good)
        return look.loads;
    load_free_all(look.loads, hosts->all.count);
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
