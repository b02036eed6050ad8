/* bsmp.c - bulk synchronous message passing: bsp_send and the receive queue.
 *
 * Messages are read where their senders wrote them: the queue is a walk over the senders' outboxes,
 * ascending by source, first in first out per source.
 */
#include <limits.h>
#include <stdlib.h>

#include "include/bsp.h"
#include "lib/rt/outbox.h"
#include "lib/rt/registration.h"
#include "lib/rt/rt.h"
#include "lib/rt/warn.h"

/* Sizes of tags: for present sends, and as last set.  A message carries its own size. */
static struct {
    int64_t sending, set;
    bool set_this_superstep; /* a set that changed the value */
    bool look;               /* check sends: a warning may be due */
} tag;

/* The first unread message; source = nprocs when the queue is empty. */
static struct {
    int source;
    const struct bspz_chunk *chunk;
    const char *at;
    const char *end;    /* of the chunk */
    uint64_t superstep; /* whose sync made it readable */
    uint64_t count, bytes;
} queue;

void bspz_queue_clear(void)
{
    queue.count = 0;
    queue.bytes = 0;
}

uint64_t bspz_queue_left(uint64_t *bytes)
{
    if (bytes)
        *bytes = queue.bytes;
    return queue.count;
}

/* Sends that need the slow path: after a set and, with warnings, those that could have a tag
 * although tags have no bytes. */
static void look_at_sends(void)
{
    tag.look = tag.set_this_superstep || (bspz_rt.warn && tag.sending == 0);
}

void bspz_tag_shift(void)
{
    tag.sending = tag.set;
    tag.set_this_superstep = false;
    look_at_sends();
}

/* Finds the next message at or after the queue's position; there is one. */
static void settle(void)
{
    while (!queue.chunk || queue.at >= (const char *)(queue.chunk + 1) + queue.chunk->used) {
        if (queue.chunk)
            queue.chunk = bspz_next_chunk(queue.chunk);
        while (!queue.chunk)
            queue.chunk = bspz_incoming(++queue.source, queue.superstep, BSPZ_MESSAGES);
        queue.at = (const char *)(queue.chunk + 1);
        queue.end = queue.at + queue.chunk->used;
    }
}

void bspz_bsmp_begin(void)
{
    look_at_sends();
}

void bspz_queue_swap(bool any_messages)
{
    bspz_queue_clear();
    if (!any_messages)
        return;
    for (int source = 0; source < bspz_rt.nprocs; source++) {
        const struct bspz_chunk *messages = bspz_incoming(source, bspz_rt.superstep, BSPZ_MESSAGES);

        if (!messages)
            continue;
        queue.count += messages->count;
        queue.bytes += messages->bytes;
        if (source != bspz_rt.pid)
            bspz_rt.received_bytes += messages->bytes;
    }
    queue.source = -1;
    queue.chunk = NULL;
    queue.superstep = bspz_rt.superstep;
    if (queue.count > 0)
        settle();
}

/* ---- Snapshots ---------------------------------------------------------------------------- */

/* Visits the rest of the queue, chunk by chunk, and copies it to `to` unless that is NULL; returns
 * the bytes. */
static uint64_t walk_left(char *to)
{
    const struct bspz_chunk *chunk = queue.chunk;
    const char *at = queue.at;
    uint64_t bytes = 0;
    int source = queue.source;

    if (queue.count == 0)
        return 0;
    for (;;) {
        uint64_t here = (uint64_t)((const char *)(chunk + 1) + chunk->used - at);

        if (to)
            memcpy(to + bytes, at, here);
        bytes += here;
        chunk = bspz_next_chunk(chunk);
        while (!chunk && ++source < bspz_rt.nprocs)
            chunk = bspz_incoming(source, queue.superstep, BSPZ_MESSAGES);
        if (!chunk)
            return bytes;
        at = (const char *)(chunk + 1);
    }
}

uint64_t bspz_queue_left_bytes(void)
{
    return sizeof(struct bspz_chunk) + walk_left(NULL);
}

void bspz_queue_keep(void *memory)
{
    struct bspz_chunk *chunk = memory;

    *chunk = (struct bspz_chunk){.used = walk_left((char *)(chunk + 1))};
}

/* Presented as the last chunk of the last source. */
void bspz_queue_put_back(const void *memory)
{
    const struct bspz_chunk *chunk = memory;

    queue.source = bspz_rt.nprocs;
    queue.chunk = chunk;
    queue.at = (const char *)(chunk + 1);
    queue.end = queue.at + chunk->used;
}

static inline const struct bspz_message_record *first_message(void)
{
    return (const struct bspz_message_record *)queue.at;
}

static inline const char *payload_of(const struct bspz_message_record *message)
{
    return (const char *)(message + 1) + bspz_pad(message->tag_bytes, 16);
}

static inline void drop_first(void)
{
    const struct bspz_message_record *message = first_message();

    queue.count--;
    queue.bytes -= message->bytes;
    queue.at = payload_of(message) + bspz_pad(message->bytes, 16);
    if (queue.at >= queue.end && queue.count > 0)
        settle();
}

/* ---- Tag size ----------------------------------------------------------------------------- */

static int64_t set_tag_size(int64_t bytes, int line, const char *file)
{
    static const char function[] = "bsp_set_tagsize";
    int64_t before = tag.set;
    bspz_position position;

    position = bspz_here(file, line);
    bspz_note(BSPZ_CALL_SET_TAGSIZE, position);
    if (bytes < 0)
        bspz_fail(function, line, file, "negative tag size %lld", (long long)bytes);
    if (bytes >> BSPZ_EACH_SHIFT)
        bspz_fail(function, line, file, "a tag of %lld bytes exceeds the memory of a process",
                  (long long)bytes);
    bspz_sequence_add(BSPZ_OP_TAG_SIZE, 0, bytes, position, function, line, file);
    tag.set = bytes;
    if (bspz_rt.oxford)
        tag.sending = bytes;
    else if (bytes != before)
        tag.set_this_superstep = true;
    look_at_sends();
    return before;
}

static void check_tag_pointer(const void *tag_nbytes, int line, const char *file)
{
    if (bspz_rt.life != BSPZ_LIFE_SPMD)
        bspz_fail_outside("bsp_set_tagsize", line, file);
    if (!tag_nbytes)
        bspz_fail("bsp_set_tagsize", line, file, "NULL given as the tag size's address");
}

void bsp_set_tagsize_cpp(int *tag_nbytes, int line, const char *file)
{
    int64_t before;

    check_tag_pointer(tag_nbytes, line, file);
    before = set_tag_size(*tag_nbytes, line, file);
    if (before > INT_MAX)
        bspz_fail("bsp_set_tagsize", line, file,
                  "the previous tag size %lld does not fit an int: use size_t", (long long)before);
    *tag_nbytes = (int)before;
}

void bsp_set_tagsize_size_cpp(size_t *tag_nbytes, int line, const char *file)
{
    check_tag_pointer(tag_nbytes, line, file);
    *tag_nbytes = (size_t)set_tag_size((int64_t)*tag_nbytes, line, file);
}

/* ---- Sending ------------------------------------------------------------------------------ */

static BSPZ_COLD BSPZ_NORETURN void fail_send(const char *function, int pid, const void *tag_at,
                                              ptrdiff_t nbytes, uint64_t tag_bytes, int line,
                                              const char *file)
{
    if (pid < 0 || pid >= bspz_rt.nprocs)
        bspz_fail(function, line, file, "process %d does not exist: numbers run from 0 to %d", pid,
                  bspz_rt.nprocs - 1);
    if (nbytes < 0)
        bspz_fail(function, line, file, "negative payload size %td", nbytes);
    if (!tag_at && tag_bytes > 0)
        bspz_fail(function, line, file, "NULL given as the tag, but the tag size is %llu",
                  (unsigned long long)tag_bytes);
    bspz_fail(function, line, file, "NULL given as the payload of %td bytes", nbytes);
}

static BSPZ_COLD void look_at_send(const char *function, const void *tag_at, int line,
                                   const char *file)
{
    if (tag.set_this_superstep && bspz_rt.checks)
        bspz_warn_later(
            BSPZ_WARN_TAG_SIZE, function, line, file,
            "this message still has a tag of %lld bytes: the tag size %lld set in this "
            "superstep applies after the next bsp_sync (BSP_COMPAT=oxford applies it immediately)",
            (long long)tag.sending, (long long)tag.set);
    else if (tag_at && tag.sending == 0 && bspz_rt.warn)
        bspz_warn_later(BSPZ_WARN_TAG_UNUSED, function, line, file,
                        "a tag is given, but the tag size is 0: it is not sent "
                        "(bsp_set_tagsize sets the size for the supersteps that follow)");
}

/* Copies up to SMALL bytes without a call. */
#define SMALL 32u
static inline void copy_small(char *to, const char *from, size_t bytes)
{
    if (bytes >= 16) {
        memcpy(to, from, 16);
        memcpy(to + bytes - 16, from + bytes - 16, 16);
    } else if (bytes >= 8) {
        memcpy(to, from, 8);
        memcpy(to + bytes - 8, from + bytes - 8, 8);
    } else if (bytes >= 4) {
        memcpy(to, from, 4);
        memcpy(to + bytes - 4, from + bytes - 4, 4);
    } else {
        for (; bytes > 0; bytes--)
            *to++ = *from++;
    }
}

static BSPZ_INLINED void send_with(const char *function, int pid, const void *tag_at,
                                   const void *payload, ptrdiff_t nbytes, int line,
                                   const char *file)
{
    struct bspz_cursor *cursor;
    struct bspz_message_record *message;
    uint64_t tag_bytes = (uint64_t)tag.sending;
    bspz_position position;
    uint64_t tag_room, room;
    char *at;

    if (bspz_unlikely(bspz_rt.life != BSPZ_LIFE_SPMD))
        bspz_fail_outside(function, line, file);
    position = bspz_here(file, line);
    bspz_note(BSPZ_CALL_SEND, position);
    if (bspz_unlikely(tag.look))
        look_at_send(function, tag_at, line, file);
    if (bspz_unlikely(nbytes < 0 && bspz_rt.oxford))
        return;
    if (bspz_unlikely((unsigned)pid >= (unsigned)bspz_rt.nprocs || nbytes < 0 ||
                      (!tag_at && tag_bytes > 0) || (!payload && nbytes > 0)))
        fail_send(function, pid, tag_at, nbytes, tag_bytes, line, file);
    tag_room = bspz_pad(tag_bytes, 16);
    room = sizeof *message + tag_room + bspz_pad((uint64_t)nbytes, 16);
    cursor = &bspz_cursors[BSPZ_MESSAGES][pid];
    at = cursor->tail;
    if (bspz_unlikely(room > (uint64_t)(cursor->limit - at)))
        at = bspz_outbox_room(BSPZ_MESSAGES, pid, room, function, line, file);
    message = (struct bspz_message_record *)at;
    message->bytes = (uint64_t)nbytes;
    message->tag_bytes = tag_bytes;
    at += sizeof *message;
    if (tag_bytes > 0)
        memcpy(at, tag_at, tag_bytes);
    if (nbytes == 16)
        memcpy(at + tag_room, payload, 16);
    else if (nbytes > 0)
        bspz_copy_in(at + tag_room, payload, (uint64_t)nbytes);
    cursor->tail = (char *)message + room;
    cursor->count++;
    cursor->bytes += (uint64_t)nbytes;
}

static BSPZ_NOINLINE void send_any(int pid, const void *tag_at, const void *payload,
                                   ptrdiff_t nbytes, int line, const char *file)
{
    send_with("bsp_send", pid, tag_at, payload, nbytes, line, file);
}

static BSPZ_NOINLINE void hpsend_any(int pid, const void *tag_at, const void *payload,
                                     ptrdiff_t nbytes, int line, const char *file)
{
    send_with("bsp_hpsend", pid, tag_at, payload, nbytes, line, file);
}

/* Small messages are handled here without calls; false: others, elsewhere. */
static BSPZ_INLINED bool send_small(int pid, const void *tag_at, const void *payload,
                                    ptrdiff_t nbytes, int line, const char *file)
{
    uint64_t tag_bytes = (uint64_t)tag.sending;

    if (bspz_likely((uint64_t)nbytes <= SMALL && tag_bytes <= SMALL &&
                    (unsigned)pid < (unsigned)bspz_rt.nprocs && bspz_rt.life == BSPZ_LIFE_SPMD &&
                    file == bspz_last_file.file && !tag.look && (tag_at || tag_bytes == 0) &&
                    (payload || nbytes == 0))) {
        struct bspz_cursor *cursor = &bspz_cursors[BSPZ_MESSAGES][pid];
        struct bspz_message_record *message = (struct bspz_message_record *)cursor->tail;
        uint64_t tag_room = bspz_pad(tag_bytes, 16);
        uint64_t room = sizeof *message + tag_room + bspz_pad((uint64_t)nbytes, 16);

        if (bspz_likely(room <= (uint64_t)(cursor->limit - cursor->tail))) {
            char *at = (char *)(message + 1);

            message->bytes = (uint64_t)nbytes;
            message->tag_bytes = tag_bytes;
            copy_small(at, tag_at, tag_bytes);
            copy_small(at + tag_room, payload, (size_t)nbytes);
            cursor->tail += room;
            cursor->count++;
            cursor->bytes += (uint64_t)nbytes;
            bspz_note(BSPZ_CALL_SEND, bspz_last_file.shifted_index | ((uint32_t)line & 0xffffffu));
            return true;
        }
    }
    return false;
}

void bsp_send_cpp(int pid, const void *tag_at, const void *payload, ptrdiff_t nbytes, int line,
                  const char *file)
{
    if (!send_small(pid, tag_at, payload, nbytes, line, file))
        send_any(pid, tag_at, payload, nbytes, line, file);
}

void bsp_hpsend_cpp(int pid, const void *tag_at, const void *payload, ptrdiff_t nbytes, int line,
                    const char *file)
{
    if (!send_small(pid, tag_at, payload, nbytes, line, file))
        hpsend_any(pid, tag_at, payload, nbytes, line, file);
}

/* ---- Reading ------------------------------------------------------------------------------ */

static inline void enter(enum bspz_call call, const char *function, int line, const char *file)
{
    if (bspz_unlikely(bspz_rt.life != BSPZ_LIFE_SPMD))
        bspz_fail_outside(function, line, file);
    bspz_note(call, bspz_here(file, line));
}

/* A result that is not wanted (NULL) need not fit. */
static void check_qsize(bool packets_fit, bool bytes_fit, int line, const char *file)
{
    static const char function[] = "bsp_qsize";

    enter(BSPZ_CALL_QSIZE, function, line, file);
    if (!packets_fit || !bytes_fit)
        bspz_fail(function, line, file,
                  "%llu messages with %llu bytes do not fit the variables: use size_t",
                  (unsigned long long)queue.count, (unsigned long long)queue.bytes);
}

void bsp_qsize_cpp(int *packets, int *nbytes, int line, const char *file)
{
    check_qsize(!packets || queue.count <= INT_MAX, !nbytes || queue.bytes <= INT_MAX, line, file);
    if (packets)
        *packets = (int)queue.count;
    if (nbytes)
        *nbytes = (int)queue.bytes;
}

void bsp_qsize_int_size_cpp(int *packets, size_t *nbytes, int line, const char *file)
{
    check_qsize(!packets || queue.count <= INT_MAX, true, line, file);
    if (packets)
        *packets = (int)queue.count;
    if (nbytes)
        *nbytes = queue.bytes;
}

void bsp_qsize_unsigned_size_cpp(unsigned *packets, size_t *nbytes, int line, const char *file)
{
    check_qsize(!packets || queue.count <= UINT_MAX, true, line, file);
    if (packets)
        *packets = (unsigned)queue.count;
    if (nbytes)
        *nbytes = queue.bytes;
}

void bsp_qsize_size_size_cpp(size_t *packets, size_t *nbytes, int line, const char *file)
{
    check_qsize(true, true, line, file);
    if (packets)
        *packets = queue.count;
    if (nbytes)
        *nbytes = queue.bytes;
}

/* Copies the first message's tag; its payload size, or -1 when the queue is empty. */
static int64_t get_tag(const void *status, void *tag_at, int line, const char *file)
{
    static const char function[] = "bsp_get_tag";
    uint64_t tag_bytes;

    enter(BSPZ_CALL_GET_TAG, function, line, file);
    if (!status)
        bspz_fail(function, line, file, "NULL given as the status");
    if (queue.count == 0)
        return -1;
    tag_bytes = first_message()->tag_bytes;
    if (!tag_at && tag_bytes > 0)
        bspz_fail(function, line, file, "NULL given as the tag, but tags have %llu bytes",
                  (unsigned long long)tag_bytes);
    if (tag_bytes > 0)
        memcpy(tag_at, first_message() + 1, tag_bytes);
    return (int64_t)first_message()->bytes;
}

static void check_int(int64_t bytes, const char *function, int line, const char *file)
{
    if (bytes > INT_MAX)
        bspz_fail(function, line, file, "a payload of %lld bytes does not fit an int: use size_t",
                  (long long)bytes);
}

void bsp_get_tag_cpp(int *status, void *tag_at, int line, const char *file)
{
    int64_t bytes = get_tag(status, tag_at, line, file);

    check_int(bytes, "bsp_get_tag", line, file);
    *status = (int)bytes;
}

void bsp_get_tag_size_cpp(size_t *status, void *tag_at, int line, const char *file)
{
    *status = (size_t)get_tag(status, tag_at, line, file);
}

static BSPZ_NOINLINE void move_any(void *payload, ptrdiff_t reception_nbytes, int line,
                                   const char *file)
{
    static const char function[] = "bsp_move";
    uint64_t bytes;

    enter(BSPZ_CALL_MOVE, function, line, file);
    if (reception_nbytes < 0) {
        if (bspz_rt.oxford)
            return;
        bspz_fail(function, line, file, "negative size %td of the reception area",
                  reception_nbytes);
    }
    if (queue.count == 0) {
        if (bspz_rt.oxford)
            return;
        bspz_fail(function, line, file,
                  "the queue is empty: check the number of messages with bsp_qsize");
    }
    if (!payload && reception_nbytes > 0)
        bspz_fail(function, line, file, "NULL given as the reception area of %td bytes",
                  reception_nbytes);
    bytes = first_message()->bytes;
    if (bytes > (uint64_t)reception_nbytes) {
        /* A size of 0 drops the message on purpose. */
        if (bspz_rt.warn && reception_nbytes > 0)
            bspz_warn_later(BSPZ_WARN_CUT, function, line, file,
                            "the reception area of %td bytes is smaller than the payload of %llu "
                            "bytes: the rest is lost (bsp_get_tag returns the size)",
                            reception_nbytes, (unsigned long long)bytes);
        bytes = (uint64_t)reception_nbytes;
    }
    if (bytes == 16)
        memcpy(payload, payload_of(first_message()), 16);
    else if (bytes > 0)
        bspz_copy_out(payload, payload_of(first_message()), bytes);
    drop_first();
}

void bsp_move_cpp(void *payload, ptrdiff_t reception_nbytes, int line, const char *file)
{
    if (bspz_likely(queue.count > 0 && bspz_rt.life == BSPZ_LIFE_SPMD && payload &&
                    file == bspz_last_file.file)) {
        const struct bspz_message_record *message = first_message();
        const char *at = payload_of(message);
        const char *next = at + bspz_pad(message->bytes, 16);

        if (bspz_likely(message->bytes <= SMALL && reception_nbytes >= (int64_t)message->bytes &&
                        next < queue.end)) {
            copy_small(payload, at, message->bytes);
            queue.count--;
            queue.bytes -= message->bytes;
            queue.at = next;
            bspz_note(BSPZ_CALL_MOVE, bspz_last_file.shifted_index | ((uint32_t)line & 0xffffffu));
            return;
        }
    }
    move_any(payload, reception_nbytes, line, file);
}

int bsp_hpmove_cpp(void **tag_at, void **payload, int line, const char *file)
{
    static const char function[] = "bsp_hpmove";
    const struct bspz_message_record *message;

    enter(BSPZ_CALL_HPMOVE, function, line, file);
    if (!tag_at || !payload)
        bspz_fail(function, line, file, "NULL given for the address of the %s",
                  tag_at ? "payload" : "tag");
    if (queue.count == 0)
        return -1;
    message = first_message();
    check_int((int64_t)message->bytes, function, line, file);
    *tag_at = (void *)(message + 1);
    *payload = (void *)payload_of(message);
    drop_first();
    return (int)message->bytes;
}
