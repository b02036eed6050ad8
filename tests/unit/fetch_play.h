/* fetch_play.h - an agent of which there is only what fetches and serves files, with a store of its
 * own; what it says to others is noted. */
#ifndef TESTS_UNIT_FETCH_PLAY_H
#define TESTS_UNIT_FETCH_PLAY_H

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/fetch_inside.h"
#include "bsprun/agent/snapshot/inside.h"
#include "bsprun/agent/snapshot/replicas.h"

#define FETCH_PROCS     2u
#define FETCH_SAID_MAX  256u
#define FETCH_SAID_DATA 300000u

/* A message to another host (FETCH, PIECE, KEEP) or to Processor Zero (IMAGE_DURABLE); copied. */
struct said {
    uint32_t host; /* FETCH_ZERO: Processor Zero */
    struct wire_message message;
    unsigned char *data; /* of a PIECE */
};
#define FETCH_ZERO UINT32_MAX

extern struct agent agent;        /* host 0; the others are 1 and 2 */
extern uint32_t fetch_play_lost;  /* the one that cannot be reached; UINT32_MAX: none */
extern uint32_t fetch_play_hosts; /* how many of them there are */
extern struct said said[FETCH_SAID_MAX];
extern unsigned said_count;
extern unsigned dropped;                      /* hosts that were found to break a rule, */
extern uint32_t dropped_host;                 /* the last of them */
extern unsigned failed_images;                /* that could not be kept for others, */
extern struct bspz_snapshot_name failed_name; /* the last of them */
extern unsigned noticed;                      /* lines for the user */
/* What `done` of fetch_play_want was told. */
extern unsigned done_count;
extern int done_error;

/* Fixture; the scratch directory is that of store_sample_scratch.  Without `check`: also for
 * fuzzing.
 */
void fetch_set_up(void);
void fetch_tear_down(void);
/* The job has so many processes; 0: it is not placed yet. */
void fetch_play_place(int nprocs);
/* Forgets and frees what was said. */
void fetch_play_unsay(void);

/* Files of a committed snapshot in another store: of superstep 1, term 1. */
extern const struct bspz_snapshot_name fetch_name;
struct fetch_bytes {
    unsigned char *bytes;
    size_t size;
};
extern struct fetch_bytes fetch_image[FETCH_PROCS], fetch_manifest;

/* The image's digest: what it ends with. */
const unsigned char *fetch_digest(uint32_t pid);

/* The agent wants it; host 1 is asked first. */
void fetch_play_want(enum wire_thing thing, uint32_t pid);
/* A piece for the newest FETCH, which the host sends. */
void fetch_play_piece(uint32_t host, uint64_t offset, const void *bytes, size_t count,
                      uint64_t size);
/* All of a file, in pieces of so many bytes. */
void fetch_play_send(uint32_t host, const struct fetch_bytes *file, size_t piece);
/* Says with that error (errno) that it does not have what the newest FETCH was for. */
void fetch_play_refuse(uint32_t host, uint32_t error);
/* Whether the n-th message was the newest one, and a FETCH to that host. */
bool fetch_play_asked(unsigned number, uint32_t host);
/* Any message of that host; an image that is complete then is checked, too. */
void fetch_play_take(uint32_t host, const struct wire_message *message);
/* Until what is being checked is. */
void fetch_play_settle(void);
extern bool fetch_play_unsettled; /* fetch_play_take does not wait for that */
const struct said *fetch_last_said(uint32_t kind);
/* What lies in the agent's store is what lies in the other one. */
bool fetch_play_has_image(uint32_t pid);
bool fetch_play_has_manifest(void);

/* Makes the image in the agent's store useless: shorter, with another byte at its beginning or its
 * end, the image of another process, or writable by others. */
enum fetch_spoil { SPOIL_CUT, SPOIL_HEADER, SPOIL_END, SPOIL_OTHER, SPOIL_GRANTED, SPOIL_WAYS };
void fetch_play_spoil(uint32_t pid, enum fetch_spoil way);

#endif
