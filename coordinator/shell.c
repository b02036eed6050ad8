/* shell.c - Processor Zero inside an agent.
 *
 * Happy path: coord_shell_message -> a step of the machine -> trace, and each effect through the
 * agent's functions.  Messages from these are queued until all effects are carried out.
 *
 * What can fail: a message breaks a rule, or there is no memory to queue it.  Its sender is dropped
 * and counts as lost; the machine then ends the job.
 */
#include "coordinator/shell.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

/* A queued message. */
struct queued {
    struct queued *next;
    uint32_t from;
    struct wire_message message; /* a copy that owns what it points to */
};

struct coord_shell {
    struct coord *state;
    struct coord_shell_calls calls;
    void *context;
    struct queued *first, **last;
    bool busy;
};

static void trace(struct coord_shell *shell, const char *text)
{
    if (shell->calls.trace && text[0])
        shell->calls.trace(shell->context, text);
}

static void on_moved(void *context, enum coord_phase from, enum coord_phase to)
{
    char text[80];
    snprintf(text, sizeof(text), "coord %s -> %s", coord_phase_name(from), coord_phase_name(to));
    trace(context, text);
}

/* ---- Effects ------------------------------------------------------------------------------ */

static void send_to_all(struct coord_shell *shell, const struct wire_message *message)
{
    for (uint32_t i = 0; i < coord_host_count(shell->state); i++) {
        uint32_t host = coord_host_at(shell->state, i);
        if (coord_is_addressed(shell->state, host, message->kind))
            shell->calls.send(shell->context, host, message);
    }
}

static void carry_out(struct coord_shell *shell, const struct coord_effect *effect)
{
    struct coord_outcome outcome;
    switch (effect->kind) {
    case COORD_EFFECT_TELL:
        shell->calls.send(shell->context, COORD_BSPRUN, &effect->message);
        break;
    case COORD_EFFECT_SEND:
        send_to_all(shell, &effect->message);
        break;
    case COORD_EFFECT_SET_TIMER:
        shell->calls.set_timer(shell->context, effect->timer, effect->milliseconds);
        break;
    case COORD_EFFECT_CANCEL_TIMER:
        shell->calls.cancel_timer(shell->context, effect->timer);
        break;
    default:
        outcome = coord_outcome(shell->state);
        shell->calls.finish(shell->context, &outcome);
        break;
    }
}

/* Glances are many, and those that find nothing are not worth a line. */
static bool is_glance(const struct coord_effect *effect)
{
    return effect->kind == COORD_EFFECT_SET_TIMER && effect->timer == COORD_TIMER_GLANCE;
}

static void carry_out_all(struct coord_shell *shell, const struct coord_effects *effects)
{
    char text[256];
    if (effects->dropped)
        trace(shell, "event dropped: too late");
    for (uint32_t i = 0; i < effects->count; i++) {
        if (shell->calls.trace && !is_glance(&effects->items[i])) {
            coord_effect_text(&effects->items[i], text, sizeof(text));
            trace(shell, text);
        }
        carry_out(shell, &effects->items[i]);
    }
}

/* ---- Steps -------------------------------------------------------------------------------- */

static uint64_t now_ns(struct coord_shell *shell)
{
    return shell->calls.now_ns ? shell->calls.now_ns(shell->context) : 0;
}

static void step(struct coord_shell *shell, uint32_t from, const struct wire_message *message)
{
    struct coord_effects effects;
    char text[256];
    if (shell->calls.trace) {
        coord_message_text(from, message, text, sizeof(text));
        trace(shell, text);
    }
    if (coord_step(shell->state, now_ns(shell), from, message, &effects) == 0) {
        carry_out_all(shell, &effects);
        return;
    }
    trace(shell, effects.complaint);
    if (from == COORD_BSPRUN)
        return;
    coord_shell_host_lost(shell, from);
    shell->calls.drop_host(shell->context, from, effects.complaint);
}

/* Handles the messages that the effects of a step have queued. */
static void handle_queued(struct coord_shell *shell)
{
    while (shell->first) {
        struct queued *queued = shell->first;
        shell->first = queued->next;
        if (!shell->first)
            shell->last = &shell->first;
        step(shell, queued->from, &queued->message);
        wire_message_free(&queued->message);
        free(queued);
    }
    shell->busy = false;
}

static void enqueue(struct coord_shell *shell, uint32_t from, const struct wire_message *message)
{
    struct queued *queued = calloc(1, sizeof(*queued));
    char error[WIRE_ERROR_SIZE] = "out of memory";
    if (!queued || wire_copy(message, &queued->message, error, sizeof(error)) < 0) {
        free(queued);
        shell->calls.drop_host(shell->context, from, error);
        return;
    }
    queued->from = from;
    *shell->last = queued;
    shell->last = &queued->next;
}

void coord_shell_message(struct coord_shell *shell, uint32_t host,
                         const struct wire_message *message)
{
    if (shell->busy) {
        enqueue(shell, host, message);
        return;
    }
    shell->busy = true;
    step(shell, host, message);
    handle_queued(shell);
}

void coord_shell_order(struct coord_shell *shell, const struct wire_message *order)
{
    struct wire_message message = *order;
    coord_address(shell->state, &message.envelope);
    coord_shell_message(shell, COORD_BSPRUN, &message);
}

void coord_shell_host_lost(struct coord_shell *shell, uint32_t host)
{
    coord_shell_order(shell,
                      &(struct wire_message){.kind = WIRE_LINK_LOST, .link_lost.peer = host});
}

static void glance(struct coord_shell *shell, struct coord_effects *effects)
{
    uint64_t superstep =
        shell->calls.superstep ? shell->calls.superstep(shell->context) : COORD_NEVER;

    coord_glance(shell->state, now_ns(shell), superstep, effects);
}

void coord_shell_timer(struct coord_shell *shell, enum coord_timer timer)
{
    struct coord_effects effects;
    char text[80];
    assert(!shell->busy);
    shell->busy = true;
    if (timer == COORD_TIMER_GLANCE) {
        glance(shell, &effects);
    } else {
        coord_timer_text(coord_term(shell->state), timer, text, sizeof(text));
        trace(shell, text);
        coord_expire(shell->state, now_ns(shell), timer, &effects);
    }
    carry_out_all(shell, &effects);
    handle_queued(shell);
}

/* ---- Life --------------------------------------------------------------------------------- */

struct coord_shell *coord_shell_new(const struct coord_config *config,
                                    const struct coord_shell_calls *calls, void *context)
{
    struct coord_shell *shell = calloc(1, sizeof(*shell));
    if (!shell)
        return NULL;
    struct coord_config own = *config;
    own.moved = calls->trace ? on_moved : NULL;
    own.context = shell;
    shell->state = coord_new(&own);
    if (!shell->state) {
        free(shell);
        return NULL;
    }
    shell->calls = *calls;
    shell->context = context;
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
        wire_message_free(&queued->message);
        free(queued);
    }
    coord_free(shell->state);
    free(shell);
}

const struct coord *coord_shell_state(const struct coord_shell *shell)
{
    return shell->state;
}
