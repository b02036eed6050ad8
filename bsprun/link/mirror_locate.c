/* mirror_locate.c - where two contents differ first; see mirror.h.
 *
 * Either may have come from another host: every size is checked before it is believed, and records
 * are copied out, as they may lie at any address. */
#include <stddef.h>
#include <string.h>

#include "bsprun/link/mirror_inside.h"
#include "lib/shm/records.h"

/* One of the two; range, data: what comes next of its data. */
struct side {
    struct mirror_parts parts;
    const struct mirror_range *range;
    const unsigned char *data;
};

static void pass(struct side *side, uint64_t ranges)
{
    for (; ranges > 0; ranges--)
        side->data += side->range++->bytes;
}

/* ---- The record at a place ------------------------------------------------------------------ */

/* Of a record at which so many bytes are left; 0: it does not fit. */
static uint64_t record_size(uint32_t kind, const unsigned char *at, uint64_t left)
{
    struct bspz_message_record message;
    struct bspz_put_record put;
    uint64_t size;

    switch (kind) {
    case BSPZ_PUTS:
        if (left < sizeof put)
            return 0;
        memcpy(&put, at, sizeof put);
        size = sizeof put + bspz_pad(bspz_bytes_of(put.size), 8);
        break;
    case BSPZ_REQUESTS:
        size = BSPZ_REQUEST_BYTES;
        break;
    case BSPZ_REPLIES:
        if (left < sizeof size)
            return 0;
        memcpy(&size, at, sizeof size);
        if (size > left)
            return 0;
        size = sizeof size + bspz_pad(size, 8);
        break;
    default:
        if (left < sizeof message)
            return 0;
        memcpy(&message, at, sizeof message);
        if (message.tag_bytes > left || message.bytes > left)
            return 0;
        size = sizeof message + bspz_pad(message.tag_bytes, 16) + bspz_pad(message.bytes, 16);
    }
    return size <= left ? size : 0;
}

/* `within`: the byte that differs, of the data of the record. */
static void describe_put(const struct bspz_put_record *put, const unsigned char *data,
                         uint64_t within, struct link_place *place)
{
    uint64_t bytes = bspz_bytes_of(put->size), each = put->size >> BSPZ_EACH_SHIFT;

    place->slot = put->slot_flags & BSPZ_SLOT_MASK;
    place->position = put->position;
    place->offset = put->offset;
    place->bytes = bytes;
    if (put->slot_flags & BSPZ_PUT_SCATTER) {
        uint64_t stride = put->offset < bytes ? 8 + bspz_pad(put->offset, 8) : bytes;

        place->bytes = put->offset;
        if (bytes >= 8 && within / stride * stride <= bytes - 8)
            memcpy(&place->offset, data + within / stride * stride, 8);
        else
            place->known = false;
    } else if (each > 0) {
        place->offset += within / each * each;
        place->bytes = each;
    }
}

static void describe(uint32_t kind, const unsigned char *record, uint64_t at,
                     struct link_place *place)
{
    struct bspz_request_record request;
    struct bspz_message_record message;
    struct bspz_put_record put;

    place->known = true;
    switch (kind) {
    case BSPZ_PUTS:
        memcpy(&put, record, sizeof put);
        describe_put(&put, record + sizeof put, at > sizeof put ? at - sizeof put : 0, place);
        break;
    case BSPZ_REQUESTS:
        memcpy(&request, record, sizeof request);
        place->slot = request.slot_flags & BSPZ_SLOT_MASK;
        place->position = request.position;
        place->offset = request.offset;
        place->bytes = bspz_bytes_of(request.size);
        break;
    case BSPZ_REPLIES:
        memcpy(&place->bytes, record, sizeof place->bytes);
        break;
    default:
        memcpy(&message, record, sizeof message);
        place->bytes = message.bytes;
        place->tag_bytes = message.tag_bytes;
    }
}

/* The record at a byte of the chain of so many chunks that comes next. */
static void find_record(struct side side, uint32_t chunks, struct link_place *place)
{
    uint64_t at = place->at;

    for (; chunks > 0; chunks--) {
        const unsigned char *records = side.data + sizeof(struct bspz_chunk);
        uint64_t left = side.range->bytes - sizeof(struct bspz_chunk), size;

        if (at >= left) {
            at -= left;
            pass(&side, 1);
            continue;
        }
        while ((size = record_size(place->kind, records, left)) > 0 && at >= size) {
            records += size;
            left -= size;
            at -= size;
        }
        if (size > 0)
            describe(place->kind, records, at, place);
        return;
    }
}

/* ---- Chains --------------------------------------------------------------------------------- */

/* Reads the records of a chain, whatever its chunks are. */
struct reader {
    struct side side;
    uint32_t chunks;
    const unsigned char *at;
    uint64_t left; /* of the present chunk */
};

static bool next_chunk(struct reader *reader)
{
    while (reader->left == 0 && reader->chunks > 0) {
        reader->at = reader->side.data + sizeof(struct bspz_chunk);
        reader->left = reader->side.range->bytes - sizeof(struct bspz_chunk);
        pass(&reader->side, 1);
        reader->chunks--;
    }
    return reader->left > 0;
}

/* False: nowhere.  *longer: the second one goes on where the first one ends. */
static bool compare_chains(struct reader *one, struct reader *two, struct link_place *place,
                           bool *longer)
{
    bool requests = place->kind == BSPZ_REQUESTS;

    for (place->at = 0;;) {
        bool more = next_chunk(one), also = next_chunk(two);
        uint64_t some = one->left < two->left ? one->left : two->left;

        *longer = also && !more;
        if (!more || !also)
            return more != also;
        for (uint64_t i = 0; i < some; i++)
            if (one->at[i] != two->at[i] &&
                !(requests && (place->at + i) % BSPZ_REQUEST_BYTES >= BSPZ_REQUEST_SHARED)) {
                place->at += i;
                return true;
            }
        one->at += some;
        two->at += some;
        one->left -= some;
        two->left -= some;
        place->at += some;
    }
}

/* The first chain of an entry that only that side has. */
static void locate_alone(struct side side, const struct mirror_entry *entry,
                         struct link_place *place)
{
    uint32_t kind = 0;

    while (kind < BSPZ_KINDS - 1 && entry->chunks[kind] == 0)
        kind++;
    *place = (struct link_place){.what = LINK_PLACE_CHAIN, .kind = kind, .to = entry->to};
    find_record(side, entry->chunks[kind], place);
}

static bool locate_in(struct side *one, const struct mirror_entry *first, struct side *two,
                      const struct mirror_entry *second, struct link_place *place)
{
    bool longer;

    if (first->to != second->to) {
        locate_alone(first->to < second->to ? *one : *two, first->to < second->to ? first : second,
                     place);
        return true;
    }
    for (uint32_t kind = 0; kind < BSPZ_KINDS; kind++) {
        struct reader here = {.side = *one, .chunks = first->chunks[kind]};
        struct reader there = {.side = *two, .chunks = second->chunks[kind]};

        *place = (struct link_place){.what = LINK_PLACE_CHAIN, .kind = kind, .to = first->to};
        if (compare_chains(&here, &there, place, &longer)) {
            find_record(longer ? *two : *one, (longer ? second : first)->chunks[kind], place);
            return true;
        }
        pass(one, first->chunks[kind]);
        pass(two, second->chunks[kind]);
    }
    return false;
}

static bool locate_chain(struct side *one, struct side *two, struct link_place *place)
{
    uint32_t first = one->parts.head->entries, second = two->parts.head->entries, i = 0;

    for (; i < first && i < second; i++)
        if (locate_in(one, &one->parts.entries[i], two, &two->parts.entries[i], place))
            return true;
    if (first == second)
        return false;
    if (i < first)
        locate_alone(*one, &one->parts.entries[i], place);
    else
        locate_alone(*two, &two->parts.entries[i], place);
    return true;
}

/* ---- Calls, areas and lines ----------------------------------------------------------------- */

/* Those of the line, whose range comes next if it has any. */
struct calls {
    const unsigned char *operations;
    uint64_t count;
};

static struct calls calls_of(struct side *side, const struct mirror_line *line)
{
    struct calls calls = {0};
    uint64_t room;

    if (!(line->flags & BSPZ_HAS_SEQUENCE))
        return calls;
    room = side->range->bytes;
    if (room >= sizeof(struct bspz_calls)) {
        memcpy(&calls.count, side->data, sizeof calls.count);
        calls.operations = side->data + sizeof(struct bspz_calls);
        room = (room - sizeof(struct bspz_calls)) / sizeof(struct bspz_operation);
        if (calls.count > room)
            calls.count = room;
    }
    pass(side, 1);
    return calls;
}

static struct bspz_operation call_at(const struct calls *calls, uint64_t i)
{
    struct bspz_operation call;

    memcpy(&call, calls->operations + i * sizeof call, sizeof call);
    return call;
}

static bool has_size(const struct bspz_operation *call, bool made)
{
    return call->kind == BSPZ_OP_TAG_SIZE || (made && call->kind == BSPZ_OP_PUSH);
}

static bool same_call(const struct bspz_operation *one, const struct bspz_operation *two, bool made)
{
    return one->kind == two->kind && one->slot == two->slot && one->position == two->position &&
           one->open == two->open && (!has_size(one, made) || one->value == two->value);
}

static bool locate_call(const struct calls *one, const struct calls *two, bool made,
                        struct link_place *place)
{
    struct bspz_operation call, other;
    uint64_t i = 0;

    for (; i < one->count && i < two->count; i++) {
        call = call_at(one, i);
        other = call_at(two, i);
        if (!same_call(&call, &other, made))
            break;
    }
    if (i == one->count && i == two->count)
        return false;
    call = call_at(i < one->count ? one : two, i);
    *place = (struct link_place){.what = LINK_PLACE_CALL,
                                 .kind = call.kind,
                                 .at = i,
                                 .known = true,
                                 .slot = call.slot,
                                 .bytes = has_size(&call, made) ? (uint64_t)call.value
                                                                : LINK_PLACE_NO_SIZE,
                                 .position = call.position};
    return true;
}

static bool locate_area(const struct side *one, const struct side *two, bool made,
                        struct link_place *place)
{
    uint32_t first = one->parts.head->areas, second = two->parts.head->areas, i = 0;
    const struct mirror_area *area;

    for (; i < first && i < second; i++) {
        const struct mirror_area *other = &two->parts.areas[i];

        area = &one->parts.areas[i];
        if (area->slot != other->slot || area->position != other->position ||
            (made && area->base != other->base))
            break;
    }
    if (i == first && i == second)
        return false;
    area = i < first ? &one->parts.areas[i] : &two->parts.areas[i];
    *place = (struct link_place){.what = LINK_PLACE_AREA,
                                 .kind = BSPZ_OP_PUSH,
                                 .at = i,
                                 .known = true,
                                 .slot = area->slot,
                                 .bytes = made ? area->base : LINK_PLACE_NO_SIZE,
                                 .position = area->position};
    return true;
}

static bool locate_sync(const struct side *one, const struct side *two, struct link_place *place)
{
    for (uint32_t i = 0; i < one->parts.head->lines && i < two->parts.head->lines; i++) {
        const struct mirror_line *line = &one->parts.lines[i], *other = &two->parts.lines[i];

        if ((line->flags ^ other->flags) & ~MIRROR_NOT_COMPARED ||
            line->position != other->position || line->sync_number != other->sync_number) {
            *place = (struct link_place){
                .what = LINK_PLACE_SYNC, .known = true, .position = line->position};
            return true;
        }
    }
    return false;
}

/* ---- Both ----------------------------------------------------------------------------------- */

/* False: it is none. */
static bool open_side(struct side *side, const void *bytes, uint64_t size)
{
    const struct mirror_head *head = bytes;
    uint64_t calls = 0;

    if (size < sizeof *head || head->head_bytes > size ||
        !mirror_is_head(head, head->head_bytes, size - head->head_bytes) ||
        !mirror_take_apart(head, head->head_bytes, &side->parts))
        return false;
    for (uint32_t i = 0; i < head->lines; i++)
        calls += (side->parts.lines[i].flags & BSPZ_HAS_SEQUENCE) != 0;
    for (uint64_t i = calls; i < head->ranges; i++)
        if (side->parts.ranges[i].bytes < sizeof(struct bspz_chunk))
            return false;
    side->range = side->parts.ranges;
    side->data = (const unsigned char *)bytes + head->head_bytes;
    return true;
}

bool mirror_locate(const void *one, uint64_t one_size, const void *two, uint64_t two_size,
                   bool made, struct link_place *place)
{
    struct side first, second;
    bool found = false;

    if (!open_side(&first, one, one_size) || !open_side(&second, two, two_size) ||
        first.parts.head->lines != second.parts.head->lines)
        return false;
    for (uint32_t i = 0; i < first.parts.head->lines; i++) {
        struct calls calls = calls_of(&first, &first.parts.lines[i]);
        struct calls others = calls_of(&second, &second.parts.lines[i]);

        found = found || locate_call(&calls, &others, made, place);
    }
    return found || locate_area(&first, &second, made, place) ||
           locate_chain(&first, &second, place) || locate_sync(&first, &second, place);
}
