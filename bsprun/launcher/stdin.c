/* stdin.c - relays bsprun's stdin to process 0; see stdin.h.
 *
 * Happy path: INPUT_TAKEN says where to begin, and how far -> input is read, kept and sent.
 *
 * What can fail: a restarted job has different or shorter input.
 */
#include "bsprun/launcher/stdin.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "bsprun/launcher/input_same.h"

#define INPUT_MEMORY (1u << 18)

static bool is_open(const struct stdin_relay *relay)
{
    return relay->input.spool != NULL;
}

/* Of the process that reads it. */
static uint32_t replicas_of(const struct stdin_relay *relay)
{
    return replica_counts_of(&relay->common->replicas, relay->common->options->run.stdin_pid);
}

static bool is_replicated(const struct stdin_relay *relay)
{
    return is_open(relay) && replicas_of(relay) > 1;
}

static void send_input(struct stdin_relay *relay)
{
    struct wire_message message = {.kind = WIRE_INPUT};

    for (unsigned i = 0; i < WIRE_REPLICAS_MAX; i++) {
        struct launcher_agent *reader = relay->readers[i];

        while (reader && reader->line && input_next(&relay->input, i, &message.input))
            agents_send(reader, &message);
    }
}

static size_t input_wanted(void *context)
{
    const struct stdin_relay *relay = context;

    for (unsigned i = 0; i < WIRE_REPLICAS_MAX; i++)
        if (relay->readers[i] && relay->readers[i]->line)
            return input_room(&relay->input);
    return 0;
}

static void tell_wrong(struct stdin_relay *relay, const char *text)
{
    input_close(&relay->input);
    relay->wrong(relay->context, text);
}

/* The input is shorter than the part that process 0 had read, or different. */
static void wrong_input(struct stdin_relay *relay, bool ends)
{
    struct input_claim claim = {relay->committed->superstep, relay->input.kept_from,
                                relay->input.expected};
    char text[INPUT_TEXT];

    if (relay->common->options->input_differs)
        return;
    input_complaint(&claim, ends ? INPUT_ENDS : INPUT_DIFFERS, text);
    tell_wrong(relay, text);
}

static void on_input(void *context, const char *data, size_t size, int error)
{
    struct stdin_relay *relay = context;

    if (error)
        notices_say(&relay->common->notices, "cannot read the input: %s", strerror(-error));
    if (size == 0 && !input_end(&relay->input))
        wrong_input(relay, true);
    if (size > 0)
        error = input_add(&relay->input, data, size);
    if (size > 0 && error == -EILSEQ)
        wrong_input(relay, false);
    else if (size > 0 && error != 0)
        notices_say(&relay->common->notices, "no room for the input, some of which is lost");
    send_input(relay);
}

/* ---- What agents say ---- */

/* The place of the agent among the readers; a new one, or, where there are no replicas, that of the
 * one before.  WIRE_REPLICAS_MAX: there are too many. */
static unsigned place_of(const struct stdin_relay *relay, const struct launcher_agent *agent)
{
    unsigned place = 0;

    if (!is_replicated(relay))
        return 0;
    for (unsigned i = 0; i < WIRE_REPLICAS_MAX; i++)
        if (relay->readers[i] == agent)
            return i;
    while (place < WIRE_REPLICAS_MAX && relay->readers[place])
        place++;
    return place;
}

/* Whether all replicas have said where they begin: what the first has taken is theirs, too. */
static bool has_all_readers(const struct stdin_relay *relay)
{
    uint32_t count = 0;

    for (unsigned i = 0; i < WIRE_REPLICAS_MAX; i++)
        count += relay->input.readers[i].open;
    return !is_replicated(relay) || count == replicas_of(relay);
}

void stdin_set_reader(struct stdin_relay *relay, struct launcher_agent *agent)
{
    unsigned place = place_of(relay, agent);

    if (place < WIRE_REPLICAS_MAX)
        relay->readers[place] = agent;
}

void stdin_taken(struct stdin_relay *relay, struct launcher_agent *agent,
                 const struct wire_input_taken *taken)
{
    const struct options *options = relay->common->options;
    bool first = is_open(relay) && !input_is_open(&relay->input);
    char text[96];

    if (!is_open(relay))
        return;
    unsigned place = place_of(relay, agent);
    if (place == WIRE_REPLICAS_MAX)
        return;
    relay->readers[place] = agent;
    if (taken->begins)
        input_leave(&relay->input, place);
    if (first && !options->input_differs)
        input_expect(&relay->input, taken->digest);
    if (!input_taken(&relay->input, place, taken->position)) {
        snprintf(text, sizeof text,
                 "what the job had read of its input from position %llu on is no longer kept",
                 (unsigned long long)taken->position);
        tell_wrong(relay, text);
        return;
    }
    if (first && isatty(STDIN_FILENO))
        input_continue(&relay->input);
    relay->complete = relay->complete || has_all_readers(relay);
    if (!saved_recovers(&relay->common->saved) && relay->complete)
        input_forget_taken(&relay->input);
    send_input(relay);
    feed_wake(&relay->feed);
}

void stdin_mark(struct stdin_relay *relay, const struct launcher_agent *agent,
                struct bspz_snapshot_name name, uint64_t position)
{
    unsigned place = place_of(relay, agent);

    if (!is_open(relay) || place == WIRE_REPLICAS_MAX || relay->readers[place] != agent)
        return;
    input_mark(&relay->input, name, position);
    if (bspz_snapshot_same(relay->known, name))
        input_commit(&relay->input, name);
}

void stdin_commit(struct stdin_relay *relay, struct bspz_snapshot_name name,
                  struct bspz_snapshot_name right)
{
    relay->known = name;
    if (!is_open(relay))
        return;
    input_spare(&relay->input, right);
    input_commit(&relay->input, name);
}

void stdin_leave(struct stdin_relay *relay, const struct launcher_agent *agent)
{
    if (!is_open(relay) || !is_replicated(relay))
        return;
    for (unsigned i = 0; i < WIRE_REPLICAS_MAX; i++)
        if (relay->readers[i] == agent) {
            relay->readers[i] = NULL;
            input_leave(&relay->input, i);
        }
    feed_wake(&relay->feed);
}

void stdin_go_back(struct stdin_relay *relay)
{
    input_close(&relay->input);
    relay->complete = false;
    for (unsigned i = is_replicated(relay) ? 0 : 1; i < WIRE_REPLICAS_MAX; i++)
        relay->readers[i] = NULL;
}

void stdin_begin_at(struct stdin_relay *relay, struct bspz_snapshot_name name)
{
    if (is_open(relay))
        input_begin_at(&relay->input, name);
}

/* ---- Life ---- */

static int new_file(void *context)
{
    const struct stdin_relay *relay = context;

    return saved_spill(&relay->common->saved);
}

int stdin_open(struct stdin_relay *relay, struct common *common,
               const struct bspz_snapshot_name *committed,
               void (*wrong)(void *context, const char *text), void *context)
{
    relay->common = common;
    relay->committed = committed;
    relay->wrong = wrong;
    relay->context = context;
    if (!input_init(&relay->input, common->options->snapshots.keep, INPUT_MEMORY, new_file, relay))
        return -ENOMEM;
    return feed_open(&relay->feed, &common->loop, input_wanted, on_input, relay);
}

void stdin_close(struct stdin_relay *relay)
{
    feed_close(&relay->feed);
}

void stdin_free(struct stdin_relay *relay)
{
    input_free(&relay->input);
}
