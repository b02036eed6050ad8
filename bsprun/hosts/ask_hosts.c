/* ask_hosts.c - see ask_hosts.h.
 *
 * Happy path: a child for each host (remote_start.h) -> its output -> the last one closes all.
 *
 * What can fail: a child cannot be started, ends with another status, or times out: that host has a
 * failure instead of an answer.
 */
#include "bsprun/hosts/ask_hosts.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/hosts/remote_start.h"

struct asking {
    struct ask_answer *answers;
    uint32_t awaited;
    uv_loop_t loop;
    struct remote_start *start;
};

static void note_one(struct asking *asking)
{
    if (--asking->awaited == 0)
        remote_start_close(asking->start, NULL);
}

static void on_failed(void *context, uint32_t host, const char *text)
{
    struct asking *asking = context;

    asking->answers[host].failure = strdup(text);
    note_one(asking);
}

static void on_ended(void *context, uint32_t host, int wait_status, const char *text)
{
    (void)wait_status; /* never called: no child becomes ready */
    on_failed(context, host, text);
}

static void on_output(void *context, uint32_t host, const char *bytes, size_t size)
{
    struct asking *asking = context;

    asking->answers[host].output = strndup(bytes, size);
    note_one(asking);
}

static int run(struct asking *asking, const struct ask *ask)
{
    struct remote_start_host *hosts = calloc(ask->hosts->count + 1u, sizeof *hosts);
    struct remote_start_config config = {.kind = ask->kind,
                                         .launcher = ask->launcher,
                                         .words = ask->words,
                                         .timeout_ms = ask->timeout_ms,
                                         .keep_output = true,
                                         .failed = on_failed,
                                         .ended = on_ended,
                                         .output = on_output};
    int error = hosts ? 0 : -ENOMEM;
    uint32_t count = 0;

    for (uint32_t i = 0; i < ask->hosts->count && !error; i++)
        if (ask->wanted[i])
            hosts[count++] = (struct remote_start_host){.number = i, .host = &ask->hosts->items[i]};
    if (!error && count > 0)
        error = remote_start_open(&asking->loop, &config, asking, &asking->start);
    if (!error && count > 0) {
        /* With Slurm, hosts that are added together have one call and one answer. */
        uint32_t step = ask->one_call ? count : 1;

        for (; asking->awaited < count && !error; asking->awaited += error ? 0 : step)
            error = remote_start_add(asking->start, hosts + asking->awaited, step);
        if (error)
            remote_start_close(asking->start, NULL);
        uv_run(&asking->loop, UV_RUN_DEFAULT);
    }
    free(hosts);
    return error;
}

int ask_hosts(const struct ask *ask, struct ask_answer *answers)
{
    struct asking asking = {.answers = answers};
    struct sigaction ignored = {.sa_handler = SIG_IGN}, before;
    int error = uv_loop_init(&asking.loop);

    if (error)
        return error;
    sigaction(SIGPIPE, &ignored, &before);
    error = run(&asking, ask);
    sigaction(SIGPIPE, &before, NULL);
    uv_loop_close(&asking.loop);
    return error;
}
