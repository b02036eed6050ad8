/* agent_inside.h - the inside of a node agent.  Each field belongs to one module, whose source
 * alone mentions it (tests/tools/check_modules): others take the header of that module.  What
 * points to a struct is that module's own; the rest is with the source that the comment names.
 */
#ifndef BSPRUN_AGENT_INSIDE_H
#define BSPRUN_AGENT_INSIDE_H

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/election.h"
#include "bsprun/agent/core/job.h"
#include "bsprun/agent/core/order.h"
#include "bsprun/agent/core/outside.h"
#include "lib/base/snapshot.h"

struct agent_binding;   /* binding.c */
struct agent_roster;    /* roster.c */
struct agent_cells;     /* cells.c */
struct agent_hosting;   /* zero.c */
struct agent_timers;    /* timers.c */
struct agent_decided;   /* decided.c */
struct agent_known;     /* known.c */
struct kept_account;    /* succession.c */
struct agent_peers;     /* peers.c */
struct agent_relay;     /* output.c */
struct agent_snapshots; /* snapshot/inside.c */
struct agent_input;     /* input.c */
struct agent_replicas;  /* snapshot/replicas.c */
struct agent_fence;     /* fence.c */
struct agent_origin;    /* launch.c */
struct agent_wakers;    /* loop.c */
struct agent_ending;    /* stop.c */
struct agent_pause;     /* pause.c */
struct agent_rewinding; /* terms.c */
struct agent_guest;     /* guest.c */
struct agent_dataspace; /* dataspace.c */
struct agent_quiet;     /* quiet.c */
struct agent_mail;      /* mail.c */
struct agent_survival;  /* survive.c */
struct agent_stacks;    /* stacks.c */
struct agent_debug;     /* debug.c */
struct tool;            /* tool.c */
struct fetches;         /* fetch_inside.h */
struct store;           /* ckpt/store.h */

/* What follows when processes have ended what they write. */
struct agent_writing {
    uint64_t until_ns;
    void (*end)(struct agent *agent);
};

/* A replica that does not count: when what it has made has been sent, at the latest then. */
struct agent_parting {
    struct links_mismatch mismatch;
    uint64_t until_ns;
    uint32_t term;
};

/* Where replicas differ, which is said before a term ends for that. */
struct agent_place {
    uint32_t said_in; /* the last term in which this host has said it */
    uint64_t until_ns;
    void (*end)(struct agent *agent);
};

struct agent {
    /* agent.c */
    const struct agent_calls *calls;
    uv_loop_t loop;
    unsigned news;

    /* identity.c */
    unsigned char job_id[WIRE_JOB_SIZE];
    uint32_t host;
    char host_name[WIRE_NAME_MAX];

    /* starter.c */
    bool bare;
    pid_t bsprun;
    struct outside outside;
    const char *view;
    struct net_connection *control;

    /* course.c */
    enum job_state job;
    uint32_t term;
    uint64_t begin_ns, end_ns;
    bool dismissed, finished;
    uint32_t survived;

    struct agent_order order; /* order.c */
    struct election election; /* election.c */
    struct coord_shell *zero; /* zero_here.c */

    /* board.c */
    int board_fd;
    struct bspz_board *first_page, *board;

    /* saved.c */
    struct store *store;
    struct bspz_snapshot_name committed, coming;

    struct agent_roster *roster;   /* the processes of the job */
    struct agent_wakers *wakers;   /* of the loop */
    struct agent_origin *origin;   /* what it was started with, for those that it starts */
    struct agent_cells *cells;     /* which hosts have the same processes; NULL: none */
    struct agent_decided *decided; /* barriers that Processor Zero decides */
    struct agent_known *known;     /* what of decisions, where processes have replicas */
    struct kept_account *accounts; /* of other hosts, before this one is Processor Zero's; a list */
    struct agent_writing writing;  /* replica_files.c: the job has ended */
    struct agent_parting parting;  /* differs.c: as long as its timer runs */
    struct agent_place place;      /* differs.c */
    uint64_t asked_passed;         /* passed.c: + 1; bsprun waits for PASSED of it; 0: none */
    struct agent_timers *timers;   /* that last as long as the loop */
    struct agent_binding *binding; /* of processes to processors */
    struct agent_peers *peers;     /* the other hosts; NULL in a job of one */
    struct link_bell link_bell;    /* peers.c: for the links of the present term */
    struct agent_fence *fence;     /* ends the processes when bsprun is silent; NULL: never */
    struct agent_pause *pause;     /* of processes for the host's owner; NULL: never */
    struct agent_guest *guest;     /* watches that owner; NULL: nobody does */
    struct agent_dataspace *dataspace; /* what processes put there; NULL: nothing yet */
    pthread_mutex_t dataspace_lock;    /* dataspace.c */
    struct agent_mail *mail;           /* messages of MPI; NULL: nothing yet */
    struct agent_quiet *quiet;         /* looks whether all processes wait; NULL: nobody does */
    struct fetches *fetches;           /* file transfers between hosts; NULL: none yet */
    struct agent_survival *survival;   /* of losses of hosts; NULL: none is borne */
    struct agent_stacks *stacks;       /* of the processes here; NULL: nobody has asked for them */
    struct agent_debug *debug;         /* of processes here; NULL: none is to have a debugger */
    struct tool *tools;                /* commands of the system that run; a list */
    struct agent_replicas *replicas;   /* images kept for other hosts; NULL: none yet */
    struct agent_hosting *hosting;     /* what Processor Zero needs when it is here */
    struct agent_relay *relay;         /* of the ranks' output; NULL when they inherit it */
    struct agent_snapshots *snapshots; /* NULL in a job without */
    struct agent_input *input;         /* stdin of process 0, with snapshots */
    struct agent_rewinding *rewinding; /* the end of a term */
    struct agent_ending *ending;       /* how the job ended, as far as known */
};

#endif
