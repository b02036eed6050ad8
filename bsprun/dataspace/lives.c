/* lives.c - processes that are restarted alone, and make again the requests since their last image;
 * see inside.h and log.h. */
#include "bsprun/dataspace/inside.h"

/* ---- The owner of the tag -------------------------------------------------------------------- */

/* What the process asks for is not what it once was. */
static void refuse(struct dataspace *space, const struct asker *asker)
{
    struct wire_message message = {.kind = WIRE_DATA_DIFFERS};

    if (asker->host == space->host) {
        space->calls->differs(space->context, asker->pid);
        return;
    }
    message.data_differs.pid = asker->pid;
    message.data_differs.life = asker->life;
    service_send(space, asker->host, &message);
}

/* Sets asker.what, too. */
static enum log_found look_up(struct dataspace *space, struct asker *asker,
                              const struct arrival *arrival, enum dataspace_kind kind,
                              struct object **object)
{
    if (asker->number == 0)
        return LOG_NEW;
    asker->what = log_what(kind, arrival->tag, arrival->tag_size);
    return log_find(space->log, asker->pid, asker->number, asker->what, arrival->repeats, object);
}

bool lives_store(struct dataspace *space, const struct arrival *put, struct object *object)
{
    struct asker asker = put->asker;
    struct object *unused;

    switch (look_up(space, &asker, put, DATASPACE_PUT, &unused)) {
    case LOG_STORED:
        object_drop(object);
        return true;
    case LOG_NEW:
        break;
    default:
        object_drop(object);
        refuse(space, &asker);
        return false;
    }
    if (tags_put(space->tags, put->tag, put->tag_size, object) == 0 &&
        log_add(space->log, asker.pid, asker.number, asker.what, NULL) == 0)
        return true;
    service_no_memory(space, asker.pid, put->tag_size);
    return false;
}

enum lives_answer lives_ask(struct dataspace *space, struct arrival *ask, bool removes,
                            struct object **object)
{
    switch (look_up(space, &ask->asker, ask, removes ? DATASPACE_GET : DATASPACE_READ, object)) {
    case LOG_OBJECT:
        return LIVES_KNOWN;
    case LOG_NEW:
        break;
    default:
        refuse(space, &ask->asker);
        return LIVES_REFUSED;
    }
    if (tags_ask(space->tags, ask->tag, ask->tag_size, removes, &ask->asker) == 0)
        return LIVES_ASKED;
    service_no_memory(space, ask->asker.pid, ask->tag_size);
    return LIVES_REFUSED;
}

/* ---- The process's own host ------------------------------------------------------------------ */

bool lives_is_present(const struct dataspace *space, uint32_t pid, uint32_t life)
{
    return space->processes[pid].life == life;
}

bool dataspace_repeats(const struct dataspace *space, uint32_t pid)
{
    return service_repeats(&space->processes[pid]);
}

uint64_t dataspace_number(const struct dataspace *space, uint32_t pid)
{
    return space->processes[pid].request.number;
}

void dataspace_cut(struct dataspace *space, uint32_t pid, uint64_t number)
{
    struct wire_message message = {.kind = WIRE_DATA_CUT};

    log_cut(space->log, pid, number);
    message.data_cut.pid = pid;
    message.data_cut.request = number;
    for (uint32_t i = 0; i < space->owner_count; i++)
        if (space->owners[i] != space->host)
            service_send(space, space->owners[i], &message);
}

uint64_t dataspace_logged(const struct dataspace *space, uint32_t *pid)
{
    *pid = 0;
    for (uint32_t i = 1; i < space->nprocs; i++)
        if (log_bytes(space->log, i) > log_bytes(space->log, *pid))
            *pid = i;
    return log_bytes_all(space->log);
}
