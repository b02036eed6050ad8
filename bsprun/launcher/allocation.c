/* allocation.c - asks Slurm for its allocation; see allocation.h.
 *
 * Happy path: ask -> scontrol runs -> its output is read -> known.
 *
 * What can fail: scontrol does not exist, fails or takes too long, or says what is not understood:
 * the nodes are unknown, and all goes on as if they were as before.
 */
#include "bsprun/launcher/allocation.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/hosts/remote_start.h"

#define ANSWER_MS  5000u
#define LOOK_LEAST 1000u /* milliseconds: a controller serves many */
#define OFTEN      20u   /* questions, LOOK_LEAST apart: as long as short grace times */
#define QUESTION   "scontrol --oneliner show job"

/* Asks; there is one answer for all that is asked for before it comes, and it is not older. */
static void ask(struct allocation *allocation);

static void on_look(uv_timer_t *timer)
{
    ask(timer->data);
}

static void on_soon(uv_timer_t *timer)
{
    struct allocation *allocation = timer->data;

    allocation->soon_left--;
    ask(allocation);
}

static void tell(struct allocation *allocation, const struct hosts *nodes, bool preempted)
{
    bool again = allocation->again && nodes; /* who does not answer is not asked again at once */

    allocation->asking = allocation->again = false;
    if (preempted)
        allocation->soon_left = 0;
    if (allocation->soon_left > 0)
        uv_timer_start(&allocation->soon, on_soon, LOOK_LEAST, 0);
    if (again)
        ask(allocation);
    else
        allocation->known(allocation->context, nodes, preempted);
}

static void tell_unknown(struct allocation *allocation, const char *why)
{
    if (!allocation->told && allocation->common->options->verbosity > 0)
        notices_say(&allocation->common->notices, "the nodes of Slurm job %s are not known: %s",
                    allocation->job.name, why);
    allocation->told = true;
    tell(allocation, NULL, false);
}

/* `text` begins as if the job were a host, and has a line for each of scontrol's. */
static void on_failed(void *context, uint32_t host, const char *text)
{
    const char *why = strstr(text, ": ");
    char line[HOSTS_ERROR];

    (void)host;
    snprintf(line, sizeof line, "%s", why ? why + 2 : text);
    for (char *at = line; (at = strchr(at, '\n'));)
        *at = ':';
    tell_unknown(context, line);
}

static void on_ended(void *context, uint32_t host, int wait_status, const char *text)
{
    (void)wait_status; /* never called: what is asked does not become ready */
    on_failed(context, host, text);
}

static void on_output(void *context, uint32_t host, const char *bytes, size_t size)
{
    struct allocation *allocation = context;
    struct hosts nodes = {NULL, 0};
    bool preempted = false;

    (void)host;
    char *text = strndup(bytes, size), error[HOSTS_ERROR] = "out of memory";

    if (text && hosts_from_scontrol(&nodes, text, allocation->job.name, &preempted, error))
        tell(allocation, &nodes, preempted);
    else
        tell_unknown(allocation, error);
    hosts_free(&nodes);
    free(text);
}

/* bsprun's own host may have another name in the list than Slurm's. */
static bool has_own(const struct options_hosts *options)
{
    for (uint32_t i = 0; i < options->all.count; i++)
        if (hosts_is_own(options->all.items[i].name, options->own))
            return true;
    return false;
}

/* Whether the job was given all nodes. */
static bool has_all(const struct options_hosts *options, const struct hosts *nodes)
{
    bool own = has_own(options);

    for (uint32_t i = 0; i < nodes->count; i++)
        if (!hosts_named(&options->all, nodes->items[i].name) &&
            !(own && hosts_is_own(nodes->items[i].name, options->own)))
            return false;
    return true;
}

int allocation_open(struct allocation *allocation, struct common *common, uint64_t look_ms,
                    allocation_known *known, void *context)
{
    static const char *const no_words[] = {NULL};
    const struct options *options = common->options;
    const char *job = options->lookup("SLURM_JOB_ID");
    const struct remote_start_config config = {.kind = LAUNCH_COMMAND,
                                               .launcher = QUESTION,
                                               .words = no_words,
                                               .timeout_ms = ANSWER_MS,
                                               .keep_output = true,
                                               .signals = common->signals,
                                               .failed = on_failed,
                                               .ended = on_ended,
                                               .output = on_output};
    char error[HOSTS_ERROR];

    *allocation = (struct allocation){.common = common, .known = known, .context = context};
    uv_timer_init(&common->loop, &allocation->look);
    allocation->look.data = allocation;
    uv_unref((uv_handle_t *)&allocation->look);
    uv_timer_init(&common->loop, &allocation->soon);
    allocation->soon.data = allocation;
    uv_unref((uv_handle_t *)&allocation->soon);
    if (!job || !*job)
        job = options->lookup("SLURM_JOBID");
    if (!options->hosts.slurm || !hosts_from_slurm(&allocation->begun, options->lookup, error))
        return 0;
    allocation->job.name = strdup(job);
    allocation->all = has_all(&options->hosts, &allocation->begun);
    if (!allocation->job.name)
        return -ENOMEM;
    int failed = remote_start_open(&common->loop, &config, allocation, &allocation->start);
    if (failed || look_ms == 0)
        return failed;
    if (look_ms < LOOK_LEAST)
        look_ms = LOOK_LEAST;
    return uv_timer_start(&allocation->look, on_look, look_ms, look_ms);
}

static void ask(struct allocation *allocation)
{
    const struct remote_start_host question = {.host = &allocation->job};

    if (!allocation->start)
        return;
    allocation->again = allocation->asking;
    if (allocation->asking)
        return;
    allocation->asking = true;
    if (remote_start_add(allocation->start, &question, 1) == 0)
        return;
    allocation->asking = false; /* without memory: later */
    uv_timer_start(&allocation->look, on_look, LOOK_LEAST, uv_timer_get_repeat(&allocation->look));
}

void allocation_ask_often(struct allocation *allocation)
{
    allocation->soon_left = OFTEN;
    ask(allocation);
}

bool allocation_hold(struct allocation *allocation, uint32_t host)
{
    if (!allocation->start)
        return false;
    allocation->held[host] = true;
    ask(allocation);
    return true;
}

uint32_t allocation_slots(const struct allocation *allocation)
{
    uint32_t least = 0;

    for (uint32_t i = 0; i < allocation->begun.count; i++)
        if (i == 0 || allocation->begun.items[i].slots < least)
            least = allocation->begun.items[i].slots;
    return least;
}

const char *allocation_name(const struct allocation *allocation)
{
    return allocation->job.name ? allocation->job.name : "";
}

void allocation_close(struct allocation *allocation)
{
    uv_close((uv_handle_t *)&allocation->look, NULL);
    uv_close((uv_handle_t *)&allocation->soon, NULL);
    if (allocation->start)
        remote_start_close(allocation->start, NULL);
    allocation->start = NULL;
    free(allocation->job.name);
    allocation->job.name = NULL;
    hosts_free(&allocation->begun);
}
