/* fetch_finish.c - checks a received image and makes it durable, in a thread.
 *
 * Hashing and syncing take a second or more per gigabyte, which must not block the agent.  So a
 * thread does it and notifies the loop when done.  Until then it alone uses the file and its
 * directory; of the store it uses only immutable data.
 *
 * What can fail: no thread (then the agent does it); the term ends meanwhile: the thread is told to
 * stop and joined, since its data go with the term.  Large images take longer than a heartbeat, for
 * which the agent would be silent.
 */
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/fetch_inside.h"
#include "bsprun/agent/core/quiet_thread.h"
#include "bsprun/agent/core/saved.h"

struct finishing {
    uv_async_t over;
    pthread_t thread;
    bool has_thread;
    _Atomic bool stop; /* the image is not wanted any more */
    struct agent *agent;
    struct store *store;
    struct store_snapshot *staging;
    int fd; /* -1: closed */
    struct bspz_image_name name;
    int error;
    char why[AGENT_WHY];
    fetch_finished *finished;
};

/* Damage must be found now, not when this copy is the last one. */
static void *work(void *argument)
{
    struct finishing *finishing = argument;

    finishing->error = store_image_check(finishing->store, finishing->fd, &finishing->name,
                                         &finishing->stop, finishing->why);
    if (!finishing->error && !atomic_load(&finishing->stop)) {
        finishing->error = store_image_finish(finishing->staging, finishing->name.pid,
                                              finishing->fd, finishing->why);
        finishing->fd = -1;
    }
    uv_async_send(&finishing->over);
    return NULL;
}

static void on_closed(uv_handle_t *handle)
{
    free(handle->data);
}

/* Returns the file to the incoming transfer. */
static void end(struct finishing *finishing, struct incoming *now)
{
    if (finishing->has_thread)
        pthread_join(finishing->thread, NULL);
    now->fd = finishing->fd;
    now->finishing = NULL;
    uv_close((uv_handle_t *)&finishing->over, on_closed);
}

static void on_over(uv_async_t *over)
{
    struct finishing *finishing = over->data;
    struct agent *agent = finishing->agent;
    fetch_finished *finished = finishing->finished;
    char why[AGENT_WHY];
    int error;

    end(finishing, &fetches_of(agent)->now);
    error = finishing->error;
    memcpy(why, finishing->why, sizeof why);
    finished(agent, error, why);
}

int agent_fetch_finish(struct agent *agent, const struct fetch_want *want, fetch_finished *finished)
{
    struct incoming *now = &fetches_of(agent)->now;
    struct finishing *finishing = calloc(1, sizeof *finishing);
    int error = finishing ? uv_async_init(agent_loop(agent), &finishing->over, on_over) : -ENOMEM;

    if (error) {
        free(finishing);
        return error;
    }
    finishing->over.data = finishing;
    finishing->agent = agent;
    finishing->finished = finished;
    finishing->store = agent_store(agent);
    finishing->staging = now->staging;
    finishing->fd = now->fd;
    now->fd = -1; /* the descriptor may be reused */
    finishing->name = (struct bspz_image_name){
        .superstep = want->name.superstep, .term = want->name.term, .pid = want->pid};
    memcpy(finishing->name.digest, want->digest, sizeof finishing->name.digest);
    now->finishing = finishing;
    finishing->has_thread = quiet_thread_begin(&finishing->thread, work, finishing) == 0;
    if (!finishing->has_thread)
        work(finishing);
    return 0;
}

void agent_fetch_finish_wait(struct incoming *now)
{
    if (!now->finishing)
        return;
    atomic_store(&now->finishing->stop, true);
    end(now->finishing, now);
}
