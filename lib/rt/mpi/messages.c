/* messages.c - requests, and how messages go from one to the other.
 *
 * A short message goes with its bytes, which are kept here if no receive waits for it.  Of a long
 * one only an offer goes, so that no memory is needed for it: the receiver copies the bytes from
 * the sender's memory and says so (TAKEN), or, on another host or where the kernel does not permit
 * that, asks for them (ASK) and gets them in pieces (DATA).  The sender of a synchronous message
 * learns in the same way that it has been received.
 *
 * What can fail: a message is longer than the receive, no memory: the job ends.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#include "lib/rt/mpi/inside.h"

/* A message that no receive waited for. */
struct kept {
    struct match_entry entry; /* the first member */
    struct bspz_record record;
    char bytes[];
};

static struct match match;
static struct bspmpi_request *unused;

void bspz_mpi_messages_begin(void)
{
    bspz_match_begin(&match);
}

/* ---- Requests -------------------------------------------------------------------------------- */

struct bspmpi_request *bspz_mpi_request_new(void)
{
    struct bspmpi_request *request = unused;

    if (request) {
        unused = request->next;
        return request;
    }
    request = malloc(sizeof *request);
    if (!request)
        BSPZ_MPI_FAIL("out of memory");
    return request;
}

void bspz_mpi_request_free(struct bspmpi_request *request)
{
    request->next = unused;
    unused = request;
}

static uint64_t name_of(const struct bspmpi_request *request)
{
    return (uint64_t)(uintptr_t)request;
}

static struct bspmpi_request *request_named(uint64_t name)
{
    return (struct bspmpi_request *)(uintptr_t)name;
}

static void note_call(struct bspmpi_request *request)
{
    request->call = bspz_mpi.call;
    request->line = bspz_mpi.line;
    request->file = bspz_mpi.file;
    request->done = false;
}

/* ---- The receiving end ----------------------------------------------------------------------- */

static void say_taken(int to, const struct bspz_record *message)
{
    struct bspz_record taken = {.kind = BSPZ_RECORD_TAKEN, .sender = message->sender};

    bspz_mpi_push_record(to, &taken);
}

static void check_room(const struct bspmpi_request *request, int source,
                       const struct bspz_record *record)
{
    if (record->size <= request->room)
        return;
    if (record->context == BSPZ_MPI_INTERNAL)
        bspz_fail(bspz_call_name(request->call), request->line, request->file,
                  "process %d gives %llu bytes, this one expects %llu", source,
                  (unsigned long long)record->size, (unsigned long long)request->room);
    bspz_fail(bspz_call_name(request->call), request->line, request->file,
              "the message of process %d with tag %d has %llu bytes, and there is room for %llu",
              source, record->tag, (unsigned long long)record->size,
              (unsigned long long)request->room);
}

/* The receive gets this message. */
static void pair(struct bspmpi_request *request, int source, const struct bspz_record *record)
{
    check_room(request, source, record);
    request->peer = source;
    request->tag = record->tag;
    request->size = record->size;
    request->got = 0;
}

static bool copy_direct(int source, char *to, uint64_t from, uint64_t bytes)
{
    pid_t ospid =
        atomic_load_explicit(&bspz_rank_of(bspz_rt.board, source)->ospid, memory_order_relaxed);

    if (source == bspz_rt.pid) {
        memcpy(to, (const void *)(uintptr_t)from, bytes);
        return true;
    }
    if (!bspz_mpi.peers[source].near || bytes < bspz_mpi.direct_least || !bspz_rt.direct)
        return false;
    while (bytes > 0) {
        struct iovec here = {to, bytes};
        struct iovec there = {(void *)(uintptr_t)from, bytes};
        ssize_t done = process_vm_readv(ospid, &here, 1, &there, 1, 0);

        if (done <= 0) {
            bspz_rt.direct = false; /* not permitted here: Yama, seccomp, containers */
            return false;
        }
        to += done;
        from += (uint64_t)done;
        bytes -= (uint64_t)done;
    }
    return true;
}

static void accept_offer(struct bspmpi_request *request, int source,
                         const struct bspz_record *record)
{
    struct bspz_record ask = {
        .kind = BSPZ_RECORD_ASK, .sender = record->sender, .receiver = name_of(request)};

    pair(request, source, record);
    if (copy_direct(source, request->to, record->receiver, record->size)) {
        request->done = true;
        say_taken(source, record);
    } else {
        bspz_mpi_push_record(source, &ask);
    }
}

static struct kept *keep(int source, const struct bspz_record *record, uint64_t content)
{
    struct kept *kept = malloc(sizeof *kept + content);

    if (!kept)
        BSPZ_MPI_FAIL("no memory for %llu bytes of a message of process %d that has not been "
                      "received",
                      (unsigned long long)content, source);
    kept->record = *record;
    kept->entry.key = (struct match_key){record->context, source, record->tag};
    return kept;
}

/* The content of a record lies in the ring, unless it has been kept for a snapshot. */
static void copy_content(int source, const char *content, uint64_t size, char *to)
{
    if (!content)
        bspz_ring_copy(&bspz_mpi.peers[source].from, size, to);
    else if (size > 0)
        memcpy(to, content, size);
}

static void take_message(int source, const struct bspz_record *record, const char *content)
{
    struct match_key key = {record->context, source, record->tag};
    struct bspmpi_request *request = (struct bspmpi_request *)bspz_match_arrived(&match, &key);
    struct kept *kept;

    if (!request) {
        kept = keep(source, record, record->size);
        copy_content(source, content, record->size, kept->bytes);
        bspz_match_keep(&match, &kept->entry);
        return;
    }
    pair(request, source, record);
    copy_content(source, content, record->size, request->to);
    request->done = true;
    if (record->wants_taken)
        say_taken(source, record);
}

static void take_offer(int source, const struct bspz_record *record)
{
    struct match_key key = {record->context, source, record->tag};
    struct bspmpi_request *request = (struct bspmpi_request *)bspz_match_arrived(&match, &key);

    if (request)
        accept_offer(request, source, record);
    else
        bspz_match_keep(&match, &keep(source, record, 0)->entry);
}

static void take_data(int source, const struct bspz_record *record, const char *content)
{
    struct bspmpi_request *request = request_named(record->receiver);

    copy_content(source, content, record->size, request->to + request->got);
    request->got += record->size;
    request->done = request->got == request->size;
}

void bspz_mpi_receive(struct bspmpi_request *request, void *to, uint64_t room, int from, int tag,
                      enum bspz_mpi_context context)
{
    struct kept *kept;

    note_call(request);
    request->is_receive = true;
    request->entry.key = (struct match_key){context, from, tag};
    request->to = to;
    request->room = room;
    request->peer = from;
    request->tag = tag;
    kept = (struct kept *)bspz_match_post(&match, &request->entry);
    if (!kept)
        return;
    if (kept->record.kind == BSPZ_RECORD_OFFER) {
        accept_offer(request, kept->entry.key.source, &kept->record);
    } else {
        pair(request, kept->entry.key.source, &kept->record);
        if (kept->record.size > 0)
            memcpy(to, kept->bytes, kept->record.size);
        request->done = true;
        if (kept->record.wants_taken)
            say_taken(request->peer, &kept->record);
    }
    free(kept);
}

/* ---- The sending end ------------------------------------------------------------------------- */

void bspz_mpi_send(struct bspmpi_request *request, const void *from, uint64_t size, int to, int tag,
                   enum bspz_mpi_context context, bool sync)
{
    bool is_short = size <= bspz_mpi_eager(&bspz_mpi.peers[to]);
    struct bspz_outgoing *outgoing = &request->outgoing;

    note_call(request);
    request->is_receive = false;
    request->peer = to;
    request->tag = tag;
    request->from = from;
    request->size = size;
    *outgoing = (struct bspz_outgoing){
        .record = {.kind = is_short ? BSPZ_RECORD_MESSAGE : BSPZ_RECORD_OFFER,
                   .context = (uint8_t)context,
                   .wants_taken = sync,
                   .tag = tag,
                   .size = size,
                   .sender = name_of(request),
                   .receiver = (uint64_t)(uintptr_t)from},
        .content = from,
        .left = is_short ? size : 0,
        .written = is_short && !sync ? &request->done : NULL};
    bspz_mpi_push(to, outgoing);
}

static void give_data(const struct bspz_record *ask)
{
    struct bspmpi_request *request = request_named(ask->sender);

    request->outgoing =
        (struct bspz_outgoing){.record = {.kind = BSPZ_RECORD_DATA, .receiver = ask->receiver},
                               .content = request->from,
                               .left = request->size,
                               .written = &request->done};
    bspz_mpi_push(request->peer, &request->outgoing);
}

/* ---- Progress -------------------------------------------------------------------------------- */

static void take(int source, const struct bspz_record *record, const char *content)
{
    switch (record->kind) {
    case BSPZ_RECORD_MESSAGE:
        take_message(source, record, content);
        break;
    case BSPZ_RECORD_OFFER:
        take_offer(source, record);
        break;
    case BSPZ_RECORD_ASK:
        give_data(record);
        break;
    case BSPZ_RECORD_DATA:
        take_data(source, record, content);
        break;
    case BSPZ_RECORD_TAKEN:
        request_named(record->sender)->done = true;
        break;
    default:
        BSPZ_MPI_FAIL("the messages of process %d are damaged", source);
    }
}

/* Only what is there now: a sender may be as quick as this process, which would never come back.
 * What comes meanwhile has a bit of its own (lib/shm/mail.h).  But the bit of a long message is set
 * when all of it is written, or the ring is full: its pieces, which end, are read as they come. */
static void read_ring(int source)
{
    struct bspz_ring_end *ring = &bspz_mpi.peers[source].from;
    const struct bspz_record *record;

    bspz_ring_look(ring);
    while ((record = bspz_ring_peek(ring))) {
        uint64_t content = bspz_record_content(record);
        bool is_piece = record->kind == BSPZ_RECORD_DATA;

        take(source, record, NULL);
        bspz_mpi_count_read();
        bspz_mpi_tell_read(source, bspz_ring_next(ring, content));
        if (is_piece)
            bspz_ring_look(ring);
    }
}

/* What has been kept came before anything that is in the rings now. */
static void read_kept(void)
{
    struct bspz_mpi_kept *kept;

    while ((kept = bspz_mpi_take_kept())) {
        take(kept->source, &kept->record, kept->content);
        free(kept);
    }
}

bool bspz_mpi_progress(void)
{
    bool any = bspz_mpi_has_kept();

    if (bspz_unlikely(any))
        read_kept();
    for (int word = 0; word < bspz_mpi.words; word++) {
        _Atomic uint64_t *in = &bspz_mpi.mail->in[word];
        uint64_t bits = atomic_load_explicit(in, memory_order_relaxed);

        if (!bits)
            continue;
        any = true;
        for (bits = atomic_exchange(in, 0); bits; bits &= bits - 1) {
            int peer = word * 64 + __builtin_ctzll(bits);

            bspz_mpi_push_on(peer);
            read_ring(peer);
        }
    }
    return any;
}

/* ---- Waiting --------------------------------------------------------------------------------- */

void bspz_mpi_wait(const struct bspmpi_request *request)
{
    while (!request->done)
        if (!bspz_mpi_progress())
            bspz_mpi_doze(request->call >= BSPZ_CALL_MPI_Barrier ? BSPZ_MAIL_COLLECTIVE
                          : request->is_receive                  ? BSPZ_MAIL_FROM
                                                                 : BSPZ_MAIL_TO,
                          request->peer, request->tag);
}

bool bspz_mpi_probe(int from, int tag, bool waits, struct bspz_mpi_found *found)
{
    struct match_key key = {BSPZ_MPI_USER, from, tag};
    const struct kept *kept;

    bspz_mpi_progress();
    while (!(kept = (const struct kept *)bspz_match_probe(&match, &key))) {
        if (!waits)
            return false;
        if (!bspz_mpi_progress())
            bspz_mpi_doze(BSPZ_MAIL_FROM, from, tag);
    }
    *found = (struct bspz_mpi_found){kept->entry.key.source, kept->record.tag, kept->record.size};
    return true;
}

void bspz_mpi_flush(void)
{
    while (bspz_mpi_pushing())
        if (!bspz_mpi_progress())
            bspz_mpi_doze(BSPZ_MAIL_COLLECTIVE, MATCH_ANY, MATCH_ANY);
}
