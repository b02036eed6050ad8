/* requests.h - requests to the dataspace: on the board, and waiting for the agent's answer. */
#ifndef BSPZ_RT_VOLPEX_REQUESTS_H
#define BSPZ_RT_VOLPEX_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "lib/shm/board.h"

#pragma GCC visibility push(hidden)

/* The place in the program that messages name. */
struct bspz_caller {
    const char *function;
    int line;
    const char *file;
};

/* The place for a piece in this process's window; it can be used now. */
unsigned char *bspz_request_piece(const struct bspz_caller *caller);
/* The process has another board now, or is restarted alone. */
void bspz_request_forget(void);
/* Tells the agent how far the process is, as it sees it. */
void bspz_request_begin(void);
/* A request for that tag is on the board; of its first piece all but `piece` is set. */
struct bspz_request *bspz_request_prepare(enum bspz_request_kind kind, const char *tag,
                                          int tag_size, uint64_t size,
                                          const struct bspz_caller *caller);
/* Posts a piece of the request, and waits for the answer.  False: it was withdrawn, as a safe point
 * is wanted.  Leaves when the job is stopped. */
bool bspz_request_exchange(struct bspz_request *request);
/* The call is over: the next request has another number. */
void bspz_request_finish(void);
/* Puts an object, whole.  The call is over then.  False: it was withdrawn before anything was
 * taken, as a safe point is wanted. */
bool bspz_request_put(const char *tag, int tag_size, const void *data, uint64_t size,
                      const struct bspz_caller *caller);

/* objects.c: the objects of a host in a snapshot. */
struct bspz_plane;
extern struct bspz_plane bspz_objects;

#pragma GCC visibility pop

#endif
