/* inside.h - the interfaces of the files of the MPI subset.
 *
 * calls_*.c check arguments; collectives.c and reductions.c are made of messages; messages.c knows
 * requests and which message a receive gets; outgoing.c writes to the rings, and doze.c waits.
 */
#ifndef BSPZ_RT_MPI_INSIDE_H
#define BSPZ_RT_MPI_INSIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "include/bspmpi/mpi.h"
#include "lib/rt/mpi/match.h"
#include "lib/rt/rt.h"
#include "lib/shm/mail.h"

#pragma GCC visibility push(hidden)

enum bspz_mpi_context { BSPZ_MPI_USER, BSPZ_MPI_INTERNAL };

/* ---- outgoing.c: the rings ---- */

/* A record, or a series of DATA, that is to be written to a ring, in order. */
struct bspz_outgoing {
    struct bspz_outgoing *next;
    struct bspz_record record;
    const char *content;
    uint64_t left; /* bytes of content that are not written yet */
    bool *written; /* set when all is written; may be NULL */
    bool own;      /* to be freed then */
};

struct bspz_mpi_peer {
    struct bspz_ring_end to, from;
    struct bspz_outgoing *first, **last; /* what waits for room */
    bool near;                           /* on this host */
    uint64_t reported; /* of another host: up to here its agent has been told what is read */
};

struct bspz_mpi {
    struct bspz_post post;
    struct bspz_mail *mail;      /* of this rank */
    struct bspz_mpi_peer *peers; /* by rank; NULL: not begun */
    uint64_t direct_least;       /* bytes that are copied directly from the sender's memory */
    int words;                   /* of mail->in */
    /* The call that the program is in, for error messages. */
    enum bspz_call call;
    int line;
    const char *file;
};
extern struct bspz_mpi bspz_mpi;

/* Once there are processes: makes the rings accessible. */
void bspz_mpi_begin(void);
/* The same in a restored process, where rings are empty; 0 or an errno value. */
int bspz_mpi_open(void);
/* Asks the agent for something about the rings (BSPZ_REQUEST_MAIL*), and waits for its answer. */
void bspz_mpi_ask_agent(enum bspz_request_kind kind);
/* Rings for the links. */
void bspz_mpi_ring(void);
/* A record has been read. */
void bspz_mpi_count_read(void);
/* The longest message that is sent without being asked for. */
uint64_t bspz_mpi_eager(const struct bspz_mpi_peer *peer);
/* Writes it, now or when there is room; it stays in use until then. */
void bspz_mpi_push(int to, struct bspz_outgoing *outgoing);
/* The same for a record without content, which is copied. */
void bspz_mpi_push_record(int to, const struct bspz_record *record);
/* Writes what waited for room in the ring to that rank. */
void bspz_mpi_push_on(int to);
/* Whether anything still waits for room. */
bool bspz_mpi_pushing(void);
/* The ring from that rank has been read: tells the writer, if it waits for room (`wanted`), or the
 * agent when that is much. */
void bspz_mpi_tell_read(int from, bool wanted);

/* ---- kept.c ---- */

/* Before bsp_begin: calls are safe points, at which the messages on their way are kept. */
void bspz_mpi_take_part(void);

/* A record that has been kept for a snapshot. */
struct bspz_mpi_kept {
    struct bspz_mpi_kept *next;
    int source;
    struct bspz_record record;
    char content[];
};

bool bspz_mpi_has_kept(void);
/* The next one, for the caller to free; NULL: none. */
struct bspz_mpi_kept *bspz_mpi_take_kept(void);

/* ---- messages.c ---- */

/* An operation that has begun.  As a receive it may wait to be matched. */
struct bspmpi_request {
    struct match_entry entry; /* the first member: match.h */
    bool done;
    bool is_receive;
    int peer, tag; /* of a receive, when it is matched: of the message */
    char *to;
    const char *from;
    uint64_t size; /* of the message */
    uint64_t room, got;
    struct bspz_outgoing outgoing;
    /* The call that began it. */
    enum bspz_call call;
    int line;
    const char *file;
    struct bspmpi_request *next; /* of those not in use */
};

void bspz_mpi_messages_begin(void);
struct bspmpi_request *bspz_mpi_request_new(void);
void bspz_mpi_request_free(struct bspmpi_request *request);

/* Begin an operation; *request is the caller's and in use until it is done.  sync: done only when
 * the message has been received. */
void bspz_mpi_send(struct bspmpi_request *request, const void *from, uint64_t size, int to, int tag,
                   enum bspz_mpi_context context, bool sync);
void bspz_mpi_receive(struct bspmpi_request *request, void *to, uint64_t room, int from, int tag,
                      enum bspz_mpi_context context);
/* Handles what has come; false: nothing had. */
bool bspz_mpi_progress(void);
void bspz_mpi_wait(const struct bspmpi_request *request);
/* The message that a receive would get, waiting for it or not; false: none. */
struct bspz_mpi_found {
    int source, tag;
    uint64_t size;
};
bool bspz_mpi_probe(int from, int tag, bool waits, struct bspz_mpi_found *found);
/* Waits until everything is written. */
void bspz_mpi_flush(void);

/* ---- doze.c ---- */

/* Waits until something may have come.  What for is for the table of a job that is stuck. */
void bspz_mpi_doze(enum bspz_mail_wait waits, int peer, int tag);
/* Nothing had come for a call that does not wait: lets others have the core if there are too few.
 */
void bspz_mpi_idle(void);

/* ---- types.c ---- */

/* Bytes of an element, or 0: not a (committed) datatype. */
uint64_t bspz_mpi_type_bytes(MPI_Datatype type);
/* The same of one that need not be committed. */
uint64_t bspz_mpi_type_known(MPI_Datatype type);
/* Whether the program has made it. */
bool bspz_mpi_type_is_made(MPI_Datatype type);
/* MPI_DATATYPE_NULL: no memory. */
MPI_Datatype bspz_mpi_type_make(uint64_t bytes);
void bspz_mpi_type_commit(MPI_Datatype type);
void bspz_mpi_type_drop(MPI_Datatype type);

/* ---- operations.c ---- */

/* What is wrong with the operation for that type; NULL: nothing. */
const char *bspz_mpi_operation_fault(MPI_Op op, MPI_Datatype type);
/* into[i] = into[i] op with[i]. */
void bspz_mpi_combine(MPI_Op op, MPI_Datatype type, void *into, const void *with, uint64_t count);

/* ---- collectives.c: arguments are right; sizes in bytes ---- */

void bspz_mpi_barrier(void);
void bspz_mpi_bcast(void *data, uint64_t size, int root);
void bspz_mpi_reduce(const void *from, void *to, uint64_t count, MPI_Datatype type, MPI_Op op,
                     int root);
void bspz_mpi_allreduce(const void *from, void *to, uint64_t count, MPI_Datatype type, MPI_Op op);
/* Where the part of each rank lies: `size` bytes each, or by counts and displacements in units. */
struct bspz_mpi_parts {
    char *at;
    uint64_t size;
    const int *counts, *places; /* NULL: all of one size */
    uint64_t unit;
};
void bspz_mpi_gather(const void *from, uint64_t size, const struct bspz_mpi_parts *parts, int root);
void bspz_mpi_scatter(const struct bspz_mpi_parts *parts, void *to, uint64_t room, int root);
void bspz_mpi_allgather(const void *from, void *to, uint64_t size);
void bspz_mpi_alltoall(const void *from, void *to, uint64_t size);

/* ---- Calls ---- */

#define BSPZ_MPI_FAIL(...)                                                                         \
    bspz_fail(bspz_call_name(bspz_mpi.call), bspz_mpi.line, bspz_mpi.file, __VA_ARGS__)

/* Notes the call; ends the program unless it is between MPI_Init and MPI_Finalize. */
void bspz_mpi_enter(enum bspz_call call, int line, const char *file);
/* Checks of arguments, which end the program. */
void bspz_mpi_check_comm(MPI_Comm comm);
uint64_t bspz_mpi_check_bytes(const void *data, int count, MPI_Datatype type);
void bspz_mpi_check_root(int root);

#pragma GCC visibility pop

#endif
