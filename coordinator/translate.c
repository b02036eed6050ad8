/* translate.c - what Processor Zero's shell says and understands: the message for each effect, the
 * event from each message.
 *
 * What can fail: a message is of another job, in the name of another host, or not for Processor
 * Zero.  Then the reason is returned; what the message means for the job is for the machine to
 * check.
 */
#include "coordinator/shell_state.h"

#include <string.h>

/* ---- Effects ------------------------------------------------------------------------------ */

static void list_homes(struct coord_shell *shell)
{
    uint32_t processes = coord_processes(shell->state);
    for (uint32_t pid = 0; pid < processes; pid++)
        shell->numbers[pid] = coord_host_of(shell->state, pid);
}

static void fill_place(struct coord_shell *shell, const struct coord_effect *effect,
                       struct wire_message *message)
{
    list_homes(shell);
    message->kind = WIRE_PLACE;
    message->place.processes = effect->processes;
    message->place.host_of = (struct wire_numbers){shell->numbers, effect->processes};
    message->place.snapshot = effect->flag;
    message->place.copies = coord_copies(shell->state);
}

/* The pids with a frozen copy are listed behind the hosts. */
static void fill_restore(struct coord_shell *shell, const struct coord_effect *effect,
                         struct wire_message *message)
{
    uint64_t *copies = shell->numbers + effect->processes;
    uint32_t count = 0;
    list_homes(shell);
    for (uint32_t pid = 0; pid < effect->processes; pid++)
        if (coord_from_copy(shell->state, pid))
            copies[count++] = pid;
    message->kind = WIRE_RESTORE;
    message->restore.from = effect->name.term;
    message->restore.processes = effect->processes;
    message->restore.host_of = (struct wire_numbers){shell->numbers, effect->processes};
    message->restore.copy = (struct wire_numbers){copies, count};
    message->restore.copies = coord_copies(shell->state);
}

static void fill_persist(struct coord_shell *shell, const struct coord_effect *effect,
                         struct wire_message *message)
{
    for (uint32_t pid = 0; pid < effect->processes; pid++) {
        const struct coord_image *image = coord_image(shell->state, pid);
        shell->images[pid] = (struct wire_image){
            .pid = pid,
            .size = image->size,
            .digest = {image->digest.bytes, image->digest.size},
            .generation = image->generation,
            .base_superstep = image->base.superstep,
            .base_term = image->base.term,
            .base_pid = image->base_pid,
            .base_digest = {image->base_digest.bytes, image->base_digest.size}};
    }
    for (uint32_t i = 0; i < 2 * shell->host_count; i++)
        shell->numbers[i] = coord_position(shell->state, shell->hosts[i / 2], i % 2);
    message->kind = WIRE_PERSIST;
    message->persist.processes = effect->processes;
    message->persist.images = (struct wire_image_list){shell->images, effect->processes};
    message->persist.output = (struct wire_numbers){shell->numbers, 2 * shell->host_count};
    message->persist.input = coord_input(shell->state);
    message->persist.input_digest = coord_input_digest(shell->state);
}

static void fill_release(const struct coord_effect *effect, struct wire_message *message)
{
    message->kind = WIRE_RELEASE;
    message->release.decision = effect->decision;
    message->release.consult = effect->consult;
}

/* The message that tells a host of what happens to a snapshot.  False: it is of another kind. */
static bool make_snapshot_message(struct coord_shell *shell, const struct coord_effect *effect,
                                  struct wire_message *message)
{
    uint64_t barrier = message->envelope.superstep;
    message->envelope.superstep = effect->name.superstep;
    switch (effect->kind) {
    case COORD_EFFECT_PERSIST:
        fill_persist(shell, effect, message);
        return true;
    case COORD_EFFECT_COMMITTED:
        message->kind = WIRE_COMMITTED;
        message->committed.from = effect->name.term;
        return true;
    case COORD_EFFECT_RETIRE:
        message->kind = WIRE_RETIRE;
        message->retire.from = effect->name.term;
        return true;
    case COORD_EFFECT_ABANDON:
        message->kind = WIRE_ABANDON;
        return true;
    case COORD_EFFECT_RESTORE:
        fill_restore(shell, effect, message);
        return true;
    default:
        message->envelope.superstep = barrier;
        return false;
    }
}

void coord_shell_message_of(struct coord_shell *shell, const struct coord_effect *effect,
                            struct wire_message *message)
{
    struct coord_outcome outcome = coord_outcome(shell->state);
    *message = (struct wire_message){0};
    memcpy(message->envelope.job, shell->job, WIRE_JOB_SIZE);
    message->envelope.term = effect->term;
    message->envelope.superstep = effect->superstep;
    if (make_snapshot_message(shell, effect, message))
        return;
    switch (effect->kind) {
    case COORD_EFFECT_PLACE:
        fill_place(shell, effect, message);
        break;
    case COORD_EFFECT_PASS:
        message->kind = WIRE_PASS;
        break;
    case COORD_EFFECT_RESUME:
        message->kind = WIRE_RESUME;
        message->resume.consult = effect->consult;
        break;
    case COORD_EFFECT_CONSULT:
        message->kind = WIRE_CONSULT;
        break;
    case COORD_EFFECT_RUN:
        message->kind = WIRE_RUN;
        message->run.processes = effect->processes;
        message->run.consult = effect->consult;
        break;
    case COORD_EFFECT_RELEASE:
        fill_release(effect, message);
        break;
    case COORD_EFFECT_STOP_RANKS:
        message->kind = WIRE_STOP_RANKS;
        message->stop_ranks.cause = outcome.cause;
        message->stop_ranks.pid = outcome.pid;
        message->stop_ranks.again = effect->flag;
        break;
    default:
        message->kind = WIRE_END;
        message->end.status = outcome.status;
        message->end.cause = outcome.cause;
        break;
    }
}

/* ---- Messages ----------------------------------------------------------------------------- */

/* The messages about snapshots.  False: it is of another kind. */
static bool make_snapshot_event(const struct wire_message *message, struct coord_event *event,
                                uint32_t *named)
{
    uint64_t superstep = message->envelope.superstep;
    *named = message->held.host; /* the first field of all of these */
    switch (message->kind) {
    case WIRE_HELD:
        event->kind = COORD_EVENT_HELD;
        event->held.name = (struct coord_name){message->held.superstep, message->held.from};
        event->held.processes = message->held.processes;
        event->held.manifest = message->held.manifest;
        event->held.all = message->held.all;
        event->held.images = message->held.images;
        event->held.copies = message->held.copies;
        event->held.together = message->held.together;
        return true;
    case WIRE_STAGED:
        event->kind = COORD_EVENT_STAGED;
        event->staged.count = message->staged.count;
        return true;
    case WIRE_CAPTURED:
        event->kind = COORD_EVENT_CAPTURED;
        event->captured.superstep = superstep;
        event->captured.pause_ns = message->captured.pause_ns;
        for (uint32_t i = 0; i < message->captured.output.count && i < 2; i++)
            event->captured.output[i] = message->captured.output.items[i];
        event->captured.input = message->captured.input;
        event->captured.input_digest = message->captured.input_digest;
        return true;
    case WIRE_IMAGE_DURABLE:
        event->kind = COORD_EVENT_IMAGE_DURABLE;
        event->image_durable.superstep = superstep;
        event->image_durable.changed = message->image_durable.changed;
        event->image_durable.image = (struct wire_image){
            .pid = message->image_durable.pid,
            .size = message->image_durable.size,
            .digest = message->image_durable.digest,
            .generation = message->image_durable.generation,
            .base_superstep = message->image_durable.base_superstep,
            .base_term = message->image_durable.base_term,
            .base_pid = message->image_durable.base_pid,
            .base_digest = message->image_durable.base_digest};
        return true;
    case WIRE_IMAGE_FAILED:
        event->kind = COORD_EVENT_IMAGE_FAILED;
        event->image_failed.superstep = superstep;
        event->image_failed.pid = message->image_failed.pid;
        event->image_failed.cause = (enum wire_cause)message->image_failed.cause;
        event->image_failed.text = message->image_failed.text;
        return true;
    case WIRE_PERSISTED:
        event->kind = COORD_EVENT_PERSISTED;
        event->persisted.superstep = superstep;
        event->persisted.error = message->persisted.error;
        return true;
    case WIRE_KNOWN:
        event->kind = COORD_EVENT_KNOWN;
        event->known.superstep = superstep;
        event->known.busy_ns = message->known.busy_ns;
        event->known.copied_ns = message->known.copied_ns;
        event->known.read_bytes = message->known.read_bytes;
        event->known.read_ns = message->known.read_ns;
        return true;
    default:
        return false;
    }
}

const char *coord_shell_event_of(const struct coord_shell *shell, uint32_t host,
                                 const struct wire_message *message, struct coord_event *event)
{
    uint32_t named = host;
    *event = (struct coord_event){.term = message->envelope.term, .host = host};
    if (memcmp(message->envelope.job, shell->job, WIRE_JOB_SIZE) != 0)
        return "a message of another job";
    if (make_snapshot_event(message, event, &named))
        return named == host ? NULL : "a message in the name of another host";
    named = host;
    switch (message->kind) {
    case WIRE_HOST_READY:
        event->kind = COORD_EVENT_HOST_READY;
        event->host_ready.slots = message->host_ready.slots;
        event->host_ready.shared = message->host_ready.shared;
        named = message->host_ready.host;
        break;
    case WIRE_REGISTERED:
        event->kind = COORD_EVENT_REGISTERED;
        event->registered.wanted = message->registered.wanted;
        named = message->registered.host;
        break;
    case WIRE_RANKS_READY:
        event->kind = COORD_EVENT_RANKS_READY;
        event->ranks_ready.count = message->ranks_ready.count;
        named = message->ranks_ready.host;
        break;
    case WIRE_ARRIVE:
        event->kind = COORD_EVENT_ARRIVED;
        event->arrived.superstep = message->envelope.superstep;
        event->arrived.barrier = (enum wire_barrier)message->arrive.barrier;
        for (uint32_t i = 0; i < message->arrive.output.count && i < 2; i++)
            event->arrived.output[i] = message->arrive.output.items[i];
        named = message->arrive.host;
        break;
    case WIRE_RANK_EXITED:
        event->kind = COORD_EVENT_RANK_EXITED;
        event->rank_exited.pid = message->rank_exited.pid;
        event->rank_exited.status = message->rank_exited.status;
        event->rank_exited.signal = message->rank_exited.signal;
        event->rank_exited.text = message->rank_exited.text;
        named = message->rank_exited.host;
        break;
    case WIRE_ABORT:
        event->kind = COORD_EVENT_ABORT;
        event->abort.pid = message->abort.pid;
        event->abort.cause = (enum wire_cause)message->abort.cause;
        event->abort.status = message->abort.status;
        event->abort.text = message->abort.text;
        named = message->abort.host;
        break;
    case WIRE_RANKS_STOPPED:
        event->kind = COORD_EVENT_RANKS_STOPPED;
        named = message->ranks_stopped.host;
        break;
    default:
        return "a message that is not for Processor Zero";
    }
    return named == host ? NULL : "a message in the name of another host";
}
