/* remote_start.c - starts programs on other hosts, and watches them; see remote_start.h.
 *
 * Happy path: add -> the tick starts the child when there is room -> its input is written -> ready
 * -> stop or end_input -> it ends -> its streams end -> everything of it is closed.
 *
 * What can fail: no child (reported by the next tick); the child ends early; it times out, and is
 * terminated; a process it has started holds its streams open (they are closed after a moment).
 */
#include "bsprun/hosts/remote_start.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bsprun/hosts/remote_start_inside.h"
#include "bsprun/verdict.h"

#define AT_ONCE     32u
#define SIGNAL_EXIT 128

static void on_tick(uv_timer_t *timer);

/* Only the tick calls callbacks and starts children. */
static void schedule(struct remote_start *start)
{
    if (!start->closing) /* keeps the tick running */
        uv_timer_start(&start->tick, on_tick, 0, 0);
}

/* ---- Memory ---- */

static void free_start(struct remote_start *start)
{
    void (*closed)(void *) = start->closed;
    void *context = start->context;

    launch_command_free(start->words);
    free(start->launcher);
    free(start);
    if (closed)
        closed(context);
}

static void free_start_if_done(struct remote_start *start)
{
    if (start->closing && start->tick_closed && !start->children)
        free_start(start);
}

static void forget(struct child *child)
{
    struct remote_start *start = child->start;
    struct child **link = &start->children;

    while (*link != child)
        link = &(*link)->next;
    *link = child->next;
    remote_watch_free(child);
    schedule(start);
    free_start_if_done(start);
}

/* ---- What the caller is told ---- */

static bool any(const struct child *child, enum host_state state)
{
    for (uint32_t i = 0; i < child->count; i++)
        if (child->targets[i].state == state)
            return true;
    return false;
}

static void describe_end(const struct child *child, char *text, size_t size)
{
    char name[48];

    if (child->late && child->alive)
        snprintf(text, size, "%s did not start it within %g seconds", child->command[0],
                 (double)child->start->config.timeout_ms / 1000);
    else if (child->known && WIFSIGNALED(child->wait_status)) {
        verdict_signal_text(WTERMSIG(child->wait_status), name, sizeof name);
        snprintf(text, size, "%s was killed by signal %s", child->command[0], name);
    } else if (child->known)
        snprintf(text, size, "%s ended with status %d", child->command[0],
                 WEXITSTATUS(child->wait_status));
    else
        snprintf(text, size, "%s ended", child->command[0]);
}

/* To be freed; the lines of the output are indented. */
static char *failure_text(const struct child *child, const struct target *target)
{
    char how[320] = "", *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);

    if (!file)
        return NULL;
    if (child->failed) {
        fprintf(file, "host %s: %s", target->name, child->said.bytes ? child->said.bytes : "");
    } else {
        describe_end(child, how, sizeof how);
        fprintf(file, "host %s: %s", target->name, how);
        for (const char *line = child->said.bytes; line && *line;) {
            size_t length = strcspn(line, "\r\n");

            if (length > 0)
                fprintf(file, "\n  %.*s", (int)length, line);
            line += length + strspn(line + length, "\r\n");
        }
    }
    return fclose(file) == 0 ? text : NULL;
}

static void tell_failed(struct child *child, struct target *target)
{
    struct remote_start *start = child->start;
    char *text = failure_text(child, target);

    target->state = HOST_DONE;
    start->config.failed(start->context, target->number, text ? text : "out of memory");
    free(text);
}

/* If one call asks several hosts, some may have answered although it failed. */
static bool has_answered(const struct child *child)
{
    return child->start->config.keep_output && (child->count == 1 || child->output.size > 0);
}

static void tell_output(struct child *child, struct target *target)
{
    struct remote_start *start = child->start;

    target->state = HOST_DONE;
    start->config.output(start->context, target->number,
                         child->output.bytes ? child->output.bytes : "", child->output.size);
}

/* True: a callback was called, which may have changed everything. */
static bool tell_end(struct child *child)
{
    struct remote_start *start = child->start;
    bool good =
        has_answered(child) && child->known && (child->wait_status == 0 || child->count > 1);

    for (uint32_t i = 0; i < child->count; i++) {
        struct target *target = &child->targets[i];
        enum host_state before = target->state;

        if (before == HOST_DONE)
            continue;
        target->state = HOST_DONE;
        if (good)
            tell_output(child, target);
        else if (before == HOST_READY)
            start->config.ended(start->context, target->number,
                                child->known ? child->wait_status : SIGNAL_EXIT << 8,
                                child->said.bytes ? child->said.bytes : "");
        else
            tell_failed(child, target);
        return true;
    }
    child->state = CHILD_TOLD;
    remote_watch_close(child);
    return true;
}

static bool tell_late(struct child *child)
{
    for (uint32_t i = 0; i < child->count; i++)
        if (child->targets[i].state == HOST_WAITED_FOR) {
            if (child->count > 1 && has_answered(child))
                tell_output(child, &child->targets[i]);
            else
                tell_failed(child, &child->targets[i]);
            return true;
        }
    child->late = false;
    if (!any(child, HOST_READY))
        remote_watch_end(child);
    return true;
}

/* One action at a time: after a callback, or when memory was freed, the scan begins anew. */
static bool do_something(struct remote_start *start)
{
    uint32_t most = start->config.at_once > 0 ? start->config.at_once : AT_ONCE, busy = 0;

    for (struct child *child = start->children; child; child = child->next) {
        if (child->state == CHILD_ENDED)
            return tell_end(child);
        if (child->state == CHILD_RUNNING && child->late)
            return tell_late(child);
        busy += child->state == CHILD_RUNNING && any(child, HOST_WAITED_FOR);
    }
    for (struct child *child = start->children; child && busy < most; child = child->next)
        if (child->state == CHILD_QUEUED) {
            remote_watch_begin(child);
            return true;
        }
    return false;
}

static void on_tick(uv_timer_t *timer)
{
    struct remote_start *start = timer->data;

    while (!start->closing && do_something(start))
        ;
    /* Ends after `close` are not reported. */
    for (struct child *child = start->children, *next; start->closing && child; child = next) {
        next = child->next;
        if (child->state == CHILD_ENDED)
            remote_watch_close(child);
    }
}

/* ---- The interface ---- */

static char **copy_words(const char *const *words)
{
    size_t count = 0;
    char **copy;

    while (words[count])
        count++;
    copy = calloc(count + 1, sizeof *copy);
    for (size_t i = 0; copy && i < count; i++)
        if (!(copy[i] = strdup(words[i]))) {
            launch_command_free(copy);
            return NULL;
        }
    return copy;
}

int remote_start_open(uv_loop_t *loop, const struct remote_start_config *config, void *context,
                      struct remote_start **start)
{
    struct remote_start *new = calloc(1, sizeof *new);

    if (!new)
        return -ENOMEM;
    new->loop = loop;
    new->config = *config;
    new->context = context;
    new->changed = schedule;
    new->gone = forget;
    new->launcher = config->launcher ? strdup(config->launcher) : NULL;
    new->words = copy_words(config->words);
    if (!new->words || (config->launcher && !new->launcher)) {
        launch_command_free(new->words);
        free(new->launcher);
        free(new);
        return -ENOMEM;
    }
    uv_timer_init(loop, &new->tick);
    new->tick.data = new;
    *start = new;
    return 0;
}

/* A child for these hosts, or NULL. */
static struct child *make_child(struct remote_start *start, const struct remote_start_host *hosts,
                                uint32_t count)
{
    struct child *child = calloc(1, sizeof *child);
    const struct host **list = calloc(count, sizeof *list);
    bool good = child && list;

    if (good) {
        *child = (struct child){.start = start, .count = count, .process.pidfd = -1};
        child->targets = calloc(count, sizeof *child->targets);
        child->input = malloc(hosts[0].size + 1);
        good = child->targets && child->input;
    }
    for (uint32_t i = 0; good && i < count; i++) {
        list[i] = hosts[i].host;
        child->targets[i].number = hosts[i].number;
        child->targets[i].name = strdup(hosts[i].host->name);
        good = child->targets[i].name != NULL;
    }
    if (good) {
        child->input_size = hosts[0].size;
        if (hosts[0].size > 0)
            memcpy(child->input, hosts[0].input, hosts[0].size);
        child->command = launch_command(start->config.kind, start->launcher, list, count,
                                        (const char *const *)start->words);
        good = child->command != NULL;
    }
    free(list);
    if (good)
        return child;
    if (child)
        remote_watch_free(child);
    return NULL;
}

int remote_start_add(struct remote_start *start, const struct remote_start_host *hosts,
                     uint32_t count)
{
    uint32_t each = start->config.kind == LAUNCH_SLURM ? count : 1;
    struct child *first = NULL, **last = &first, **end = &start->children;

    for (uint32_t i = 0; i < count; i += each) {
        *last = make_child(start, hosts + i, each);
        if (!*last) {
            for (struct child *next; first; first = next) {
                next = first->next;
                remote_watch_free(first);
            }
            return -ENOMEM;
        }
        last = &(*last)->next;
    }
    while (*end)
        end = &(*end)->next;
    *end = first;
    schedule(start);
    return 0;
}

/* The newest that is not done, as a host may have been added again. */
static struct target *find_target(struct remote_start *start, uint32_t host, struct child **of)
{
    struct target *found = NULL;

    for (struct child *child = start->children; child; child = child->next)
        for (uint32_t i = 0; i < child->count; i++)
            if (child->targets[i].number == host && child->targets[i].state != HOST_DONE) {
                found = &child->targets[i];
                *of = child;
            }
    return found;
}

void remote_start_ready(struct remote_start *start, uint32_t host)
{
    struct child *child;
    struct target *target = find_target(start, host, &child);

    if (!target || child->state == CHILD_QUEUED)
        return;
    target->state = HOST_READY;
    if (child->state == CHILD_RUNNING && child->alive && !any(child, HOST_WAITED_FOR))
        uv_timer_stop(&child->timer);
    schedule(start);
}

void remote_start_stop(struct remote_start *start, uint32_t host)
{
    struct child *child;
    struct target *target = find_target(start, host, &child);

    if (!target)
        return;
    target->state = HOST_DONE;
    if (any(child, HOST_WAITED_FOR) || any(child, HOST_READY))
        return;
    if (child->state == CHILD_QUEUED)
        child->state = CHILD_ENDED;
    else
        remote_watch_end(child);
    schedule(start);
}

bool remote_start_owns(const struct remote_start *start, pid_t pid)
{
    for (const struct child *child = start->children; child; child = child->next)
        if (child->alive && child->process.pid == pid)
            return true;
    return false;
}

static void on_tick_closed(uv_handle_t *handle)
{
    struct remote_start *start = handle->data;

    start->tick_closed = true;
    free_start_if_done(start);
}

/* The tick runs until all children are gone. */
static void on_last_tick(uv_timer_t *timer)
{
    struct remote_start *start = timer->data;

    on_tick(timer);
    if (!start->children)
        uv_close((uv_handle_t *)timer, on_tick_closed);
}

void remote_start_close(struct remote_start *start, void (*closed)(void *context))
{
    start->closing = true;
    start->closed = closed;
    for (struct child *child = start->children; child; child = child->next) {
        bool ready = any(child, HOST_READY);

        for (uint32_t i = 0; i < child->count; i++)
            child->targets[i].state = HOST_DONE;
        if (child->state == CHILD_QUEUED)
            child->state = CHILD_ENDED;
        else if (ready)
            remote_watch_part(child);
        else
            remote_watch_end(child);
    }
    uv_timer_start(&start->tick, on_last_tick, 0, 10);
}
