/* shell.c - Processor Zero inside an agent.
 *
 * Happy path: coord_shell_message makes an event of a message and queues it; the first caller
 * works the queue off: step, trace, carry out each effect through the agent's functions.
 *
 * What can fail: a message breaks a rule, or there is no memory to queue it.  The host it came
 * from is dropped and counted as lost; the machine then ends the job.
 */
#include "coordinator/shell_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* An event that waits for its turn, with its own copy of everything it points to. */
struct queued {
    struct queued *next;
    struct coord_event event;
    uint64_t *lists;
    char text[];
};

/* ---- Effects ------------------------------------------------------------------------------ */

static void send_to_all(struct coord_shell *shell, const struct coord_effect *effect)
{
    struct wire_message message;
    coord_shell_message_of(shell, effect, &message);
    for (uint32_t i = 0; i < shell->host_count; i++) {
        if (!coord_host_alive(shell->state, shell->hosts[i]) ||
            (effect->kind == COORD_EFFECT_PERSIST &&
             !coord_host_persists(shell->state, shell->hosts[i])))
            continue;
        shell->calls.send(shell->context, shell->hosts[i], &message);
    }
}

static void carry_out(struct coord_shell *shell, const struct coord_effect *effect)
{
    struct coord_outcome outcome;
    switch (effect->kind) {
    case COORD_EFFECT_SET_TIMER:
        shell->calls.set_timer(shell->context, effect->timer, effect->milliseconds);
        break;
    case COORD_EFFECT_CANCEL_TIMER:
        shell->calls.cancel_timer(shell->context, effect->timer);
        break;
    case COORD_EFFECT_CHOOSE:
    case COORD_EFFECT_CLOSE:
        shell->calls.tell(shell->context, effect);
        break;
    case COORD_EFFECT_COMMITTED:
    case COORD_EFFECT_RETIRE:
        shell->calls.tell(shell->context, effect);
        send_to_all(shell, effect);
        break;
    case COORD_EFFECT_FINISH:
        outcome = coord_outcome(shell->state);
        shell->calls.finish(shell->context, &outcome);
        break;
    default:
        send_to_all(shell, effect);
    }
}

/* ---- Events ------------------------------------------------------------------------------- */

static void on_moved(void *context, enum coord_phase from, enum coord_phase to)
{
    struct coord_shell *shell = context;
    if (!shell->calls.trace)
        return;
    char text[80];
    snprintf(text, sizeof(text), "coord %s -> %s", coord_phase_name(from), coord_phase_name(to));
    shell->calls.trace(shell->context, text);
}

static bool is_member(const struct coord_shell *shell, uint32_t host)
{
    for (uint32_t i = 0; i < shell->host_count; i++)
        if (shell->hosts[i] == host)
            return true;
    return false;
}

/* The sender of a wrong event is dropped; its place in the job, if it has one, is given up. */
static void complain(struct coord_shell *shell, const struct coord_event *event,
                     const char *complaint)
{
    if (shell->calls.trace)
        shell->calls.trace(shell->context, complaint);
    if (event->kind == COORD_EVENT_STOP || event->kind == COORD_EVENT_TIMER ||
        event->kind == COORD_EVENT_SAVE || event->kind == COORD_EVENT_CLOSED ||
        event->kind == COORD_EVENT_TERM_RECORDED)
        return; /* from no host */
    if (is_member(shell, event->host) && event->kind != COORD_EVENT_HOST_LOST)
        coord_shell_host_lost(shell, event->host);
    shell->calls.drop_host(shell->context, event->host, complaint);
}

static void step(struct coord_shell *shell, const struct coord_event *event)
{
    char text[256];
    if (shell->calls.trace) {
        coord_event_text(event, text, sizeof(text));
        shell->calls.trace(shell->context, text);
    }
    struct coord_effects effects;
    struct coord_event timed = *event;
    timed.now_ns = shell->calls.now_ns ? shell->calls.now_ns(shell->context) : 0;
    if (coord_step(shell->state, &timed, &effects) < 0) {
        complain(shell, event, effects.complaint);
        return;
    }
    if (shell->calls.trace && effects.dropped)
        shell->calls.trace(shell->context, "event dropped: too late");
    for (uint32_t i = 0; i < effects.count; i++) {
        if (shell->calls.trace) {
            coord_effect_text(&effects.items[i], text, sizeof(text));
            shell->calls.trace(shell->context, text);
        }
        carry_out(shell, &effects.items[i]);
    }
}

/* A step's effects may bring new events; they wait until all effects are carried out. */
static void work_off(struct coord_shell *shell)
{
    if (shell->busy)
        return;
    shell->busy = true;
    while (shell->first) {
        struct queued *queued = shell->first;
        shell->first = queued->next;
        if (!shell->first)
            shell->last = &shell->first;
        step(shell, &queued->event);
        free(queued->lists);
        free(queued);
    }
    shell->busy = false;
}

static const char *text_of(const struct coord_event *event)
{
    const char *text = event->kind == COORD_EVENT_ABORT          ? event->abort.text
                       : event->kind == COORD_EVENT_STOP         ? event->stop.text
                       : event->kind == COORD_EVENT_IMAGE_FAILED ? event->image_failed.text
                       : event->kind == COORD_EVENT_RANK_EXITED  ? event->rank_exited.text
                                                                 : NULL;
    return text ? text : "";
}

/* Copies a list into `at` and makes `list` point there. */
static uint64_t *copy_numbers(struct wire_numbers *list, uint64_t *at)
{
    if (list->count > 0)
        memcpy(at, list->items, list->count * sizeof(*at));
    list->items = at;
    return at + list->count;
}

static struct wire_bytes copy_bytes(struct wire_bytes bytes, uint64_t *at)
{
    if (bytes.size > 0)
        memcpy(at, bytes.data, bytes.size);
    return (struct wire_bytes){at, bytes.size};
}

#define DIGEST_WORDS (WIRE_DIGEST_MAX / sizeof(uint64_t))

/* A copy that owns the text and the lists; NULL when memory is short. */
static struct queued *copy_event(const struct coord_event *event)
{
    const char *text = text_of(event);
    size_t length = strlen(text), count = 0;
    if (event->kind == COORD_EVENT_HELD)
        count = (size_t)event->held.images.count + event->held.copies.count +
                event->held.together.count;
    else if (event->kind == COORD_EVENT_IMAGE_DURABLE)
        count = 2 * DIGEST_WORDS;
    struct queued *queued = malloc(sizeof(*queued) + length + 1);
    uint64_t *lists = count > 0 ? malloc(count * sizeof(*lists)) : NULL;
    if (!queued || (count > 0 && !lists)) {
        free(queued);
        free(lists);
        return NULL;
    }
    *queued = (struct queued){.event = *event, .lists = lists};
    memcpy(queued->text, text, length + 1);
    if (event->kind == COORD_EVENT_ABORT) {
        queued->event.abort.text = queued->text;
    } else if (event->kind == COORD_EVENT_STOP) {
        queued->event.stop.text = queued->text;
    } else if (event->kind == COORD_EVENT_IMAGE_FAILED) {
        queued->event.image_failed.text = queued->text;
    } else if (event->kind == COORD_EVENT_RANK_EXITED) {
        queued->event.rank_exited.text = queued->text;
    } else if (event->kind == COORD_EVENT_HELD) {
        uint64_t *next = copy_numbers(&queued->event.held.images, lists);
        next = copy_numbers(&queued->event.held.copies, next);
        copy_numbers(&queued->event.held.together, next);
    } else if (event->kind == COORD_EVENT_IMAGE_DURABLE) {
        struct wire_image *image = &queued->event.image_durable.image;
        image->digest = copy_bytes(image->digest, lists);
        image->base_digest = copy_bytes(image->base_digest, lists + DIGEST_WORDS);
    }
    return queued;
}

static void post(struct coord_shell *shell, const struct coord_event *event)
{
    struct queued *queued = copy_event(event);
    if (!queued) {
        shell->calls.drop_host(shell->context, event->host, "out of memory");
        return;
    }
    *shell->last = queued;
    shell->last = &queued->next;
    work_off(shell);
}

void coord_shell_message(struct coord_shell *shell, uint32_t host,
                         const struct wire_message *message)
{
    struct coord_event event;
    const char *complaint = coord_shell_event_of(shell, host, message, &event);
    if (!complaint) {
        post(shell, &event);
        return;
    }
    event.kind = COORD_EVENT_KIND_COUNT; /* none that the machine would know */
    complain(shell, &event, complaint);
}

void coord_shell_stop(struct coord_shell *shell, enum wire_stop_how how, uint32_t signal,
                      const char *text)
{
    struct coord_event event = {.kind = COORD_EVENT_STOP, .term = coord_term(shell->state)};
    event.stop.how = how;
    event.stop.signal = signal;
    event.stop.text = text;
    post(shell, &event);
}

void coord_shell_host_lost(struct coord_shell *shell, uint32_t host)
{
    struct coord_event event = {
        .kind = COORD_EVENT_HOST_LOST, .term = coord_term(shell->state), .host = host};
    post(shell, &event);
}

void coord_shell_timer(struct coord_shell *shell, enum coord_timer timer)
{
    struct coord_event event = {.kind = COORD_EVENT_TIMER, .term = coord_term(shell->state)};
    event.timer.timer = timer;
    post(shell, &event);
}

void coord_shell_save(struct coord_shell *shell, bool stop, uint32_t signal, uint64_t grace_ms)
{
    struct coord_event event = {.kind = COORD_EVENT_SAVE, .term = coord_term(shell->state)};
    event.save.stop = stop;
    event.save.signal = signal;
    event.save.grace_ms = grace_ms;
    post(shell, &event);
}

void coord_shell_term_recorded(struct coord_shell *shell, uint32_t term)
{
    struct coord_event event = {.kind = COORD_EVENT_TERM_RECORDED, .term = term};
    post(shell, &event);
}

void coord_shell_closed(struct coord_shell *shell, uint32_t term)
{
    struct coord_event event = {.kind = COORD_EVENT_CLOSED, .term = term};
    post(shell, &event);
}

/* ---- Life --------------------------------------------------------------------------------- */

struct coord_shell *coord_shell_new(const struct coord_config *config,
                                    const unsigned char job[WIRE_JOB_SIZE],
                                    const struct coord_shell_calls *calls, void *context)
{
    struct coord_shell *shell = calloc(1, sizeof(*shell));
    if (!shell)
        return NULL;
    struct coord_config own = *config;
    own.moved = on_moved;
    own.context = shell;
    shell->state = coord_new(&own);
    uint32_t processes_max = config->processes_max ? config->processes_max : WIRE_RANKS_MAX;
    uint32_t numbers = processes_max > config->host_count ? processes_max : config->host_count;
    shell->hosts = calloc(config->host_count + 1u, sizeof(*shell->hosts));
    shell->numbers = calloc(2 * (size_t)numbers, sizeof(*shell->numbers));
    shell->images = calloc(config->snapshots ? processes_max : 1, sizeof(*shell->images));
    if (!shell->state || !shell->hosts || !shell->numbers || !shell->images) {
        coord_shell_free(shell);
        return NULL;
    }
    memcpy(shell->job, job, WIRE_JOB_SIZE);
    shell->calls = *calls;
    shell->context = context;
    shell->host_count = config->host_count;
    for (uint32_t i = 0; i < config->host_count; i++)
        shell->hosts[i] = config->hosts[i].host;
    shell->last = &shell->first;
    return shell;
}

void coord_shell_free(struct coord_shell *shell)
{
    if (!shell)
        return;
    while (shell->first) {
        struct queued *queued = shell->first;
        shell->first = queued->next;
        free(queued->lists);
        free(queued);
    }
    coord_free(shell->state);
    free(shell->hosts);
    free(shell->numbers);
    free(shell->images);
    free(shell);
}

const struct coord *coord_shell_state(const struct coord_shell *shell)
{
    return shell->state;
}
