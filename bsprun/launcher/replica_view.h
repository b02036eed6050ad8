/* replica_view.h - what bsprun knows of the replicas of its job: how many are wanted, which host
 * has which in this term, what was lost, and what was made anew.
 *
 * Pure.
 */
#ifndef BSPRUN_REPLICA_VIEW_H
#define BSPRUN_REPLICA_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "bsprun/status/status_text.h"
#include "coordinator/core/coord.h"
#include "coordinator/core/placement.h"

#define REPLICA_VIEW_TEXT (PLACEMENT_TEXT_MAX + 128u)

struct replica_view {
    struct replica_counts present; /* of each process in this term */
    struct replica_counts wanted;  /* from the next one on */
    bool any;                      /* some process has had more than one, in some term */
    bool running;                  /* what follows is of this term */
    uint64_t *homes;               /* of each process: the lead of its cell; owned */
    uint32_t processes;
    uint32_t lead[COORD_HOSTS_MAX];    /* of each host, of hosts without replicas itself */
    bool gone[COORD_HOSTS_MAX];        /* lost since the term runs */
    uint32_t missing;                  /* replicas that there should be */
    char why[PLACEMENT_TEXT_MAX + 32]; /* ... and why, as Processor Zero has said; "": it has not */
    uint64_t lost, made;               /* of the whole job */
    struct status_lost *list;          /* the newest answer of replica_view_lost; owned */
};

/* Before the first term. */
void replica_view_begin(struct replica_view *view, const struct replica_counts *counts);
void replica_view_free(struct replica_view *view);
/* Whether some process has more than one in this term. */
bool replica_view_any(const struct replica_view *view);
/* A term begins, with the number that is wanted. */
void replica_view_elect(struct replica_view *view);
/* Processor Zero has said why there will be fewer than were wanted, although hosts suffice. */
void replica_view_explain(struct replica_view *view, const char *why);
/* It runs: the lists of RUNNING. */
void replica_view_run(struct replica_view *view, const struct wire_numbers *homes,
                      const struct wire_numbers *leads);
/* A host is lost, or given up. */
void replica_view_lose(struct replica_view *view, uint32_t host);
/* Whether the host has, or had when the term began, a replica of the process. */
bool replica_view_lives(const struct replica_view *view, uint32_t pid, uint32_t host);
/* Those that are lost in this term, by pid; valid until the next call. */
const struct status_lost *replica_view_lost(struct replica_view *view, uint32_t *count);
/* How many are missing, and why, for the user; false: none is.  As the term began: why others were
 * lost since is another matter. */
bool replica_view_missing(const struct replica_view *view, char text[REPLICA_VIEW_TEXT]);
/* "host a, host c: processes 0-3" for each cell with several hosts, one line each.  To be freed;
 * NULL: no memory.  name: of a host. */
char *replica_view_text(const struct replica_view *view, const char *(*name)(void *, uint32_t host),
                        void *context);

/* early: from reports (REPORT) of so many hosts with the same processes, which processes were ended
 * there early.  Whether each of them has ended by itself on one of those hosts, so that all it has
 * written has come; false without any report. */
bool replica_reports_cover(const struct wire_numbers *early, uint32_t count);

#endif
