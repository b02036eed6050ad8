/* inside.h - what the files of the service share; see service.h.
 *
 *   service.c  messages, life
 *   client.c   requests of this host's processes
 *   puts.c     ... their objects on the way to the owner
 *   guest.c    requests of processes of other hosts
 *   lives.c    processes that are restarted alone, here or from a host that is lost
 *   losses.c   hosts that are lost
 *   copying.c  what copies.h says to other hosts, and hears from them
 *   ahead.c    ... of an object that is still coming
 *   chain.c    ... from one of those that back it to the next
 *   gather.c   objects of hosts whose processes are not saved, for those that keep them
 *   gathered.c ... there
 *   turns.c    which replica of a process sends a large object
 *   passing.c  ... and which of them sends what others get, too
 *   behind.c   how far they are, and what has to be kept for them
 *   halt.c     where they stop to be saved
 *   replicas.c what replicas of a process have in common, and which hosts have them
 *   owners.c   which host has which tags
 *   pieces.c   objects that go and come in pieces
 *   invariants.c  what is true before and after every step
 */
#ifndef BSPRUN_DATASPACE_INSIDE_H
#define BSPRUN_DATASPACE_INSIDE_H

#include "bsprun/dataspace/copies.h"
#include "bsprun/dataspace/log.h"
#include "bsprun/dataspace/service.h"

#define NOWHERE UINT32_MAX

/* A request of a process as its own host sees it. */
enum client_state {
    CLIENT_IDLE,      /* no request */
    CLIENT_HELD,      /* posted, but what earlier lives of the process did is not known yet */
    CLIENT_STORING,   /* put: the next piece is to be posted */
    CLIENT_STALLED,   /* put: the posted piece waits for room to the owner */
    CLIENT_SENDING,   /* put: the object is here, and pieces go to the owner while there is room */
    CLIENT_SENT,      /* put: the owner has it all, and is to say that it is stored */
    CLIENT_ASKING,    /* get, read: the owner is to grant it */
    CLIENT_WITHDRAWN, /* ... is to forget it, or has granted it */
    CLIENT_RECEIVING, /* ... has granted it, and its pieces come from another host */
    CLIENT_FETCHING,  /* ... and they come from a host that has another replica of the process */
    CLIENT_TAKING,    /* ... and it is whole: the process is to ask for the next piece */
    CLIENT_STATE_COUNT
};

/* A request of a process of another host as the owner of its tag sees it. */
enum guest_state {
    GUEST_IDLE,
    GUEST_OFFERED,  /* put: another replica is to send the object */
    GUEST_INVITED,  /* ... does not, so that this one is to */
    GUEST_STORING,  /* put: pieces come */
    GUEST_WAITING,  /* get, read: there is no object yet, or none that it was granted */
    GUEST_DEFERRED, /* ... it is granted, and another replica is to be sent the object first */
    GUEST_GRANTING, /* ... its pieces go out */
    GUEST_STATE_COUNT
};

struct process {
    uint32_t home;
    enum client_state client; /* of a process of this host */
    enum guest_state guest;   /* of another one */
    uint32_t life;            /* the newest one that this host knows of: service.h */
    uint32_t moves;           /* how often its host was lost */
    uint64_t behind;          /* of this host: the last request of its earlier lives */
    uint32_t round, missing;  /* the question for that, and how many hosts have not answered it */
    struct dataspace_request request;
    uint32_t asked; /* the host, which owned the tag then */
    /* With replicas: the host from which the object is fetched, and that from which the last one
     * was; NOWHERE: none. */
    uint32_t from, source;
    uint32_t fetch;        /* how many there were */
    uint64_t heard;        /* when something came last of what is fetched */
    struct object *object; /* that is put together or delivered */
    uint64_t done;         /* bytes of it that have come or gone */
    uint64_t gone;         /* ... of a put that is kept here: gone to who is asked */
    uint64_t size;         /* bytes of it that the process gets */
    uint64_t given;        /* ... and has, if it is one of this host */
    uint32_t room;         /* ... and waits for; 0: it is to ask for the next piece */
    uint64_t answered;     /* of this host: the last request that was */
    struct object *put; /* of this host: it went to another one, which may send it back as a copy */
    uint64_t put_number; /* ... until the request of that number is answered */
    /* Without replicas.  Of this host: it repeats no request before this one, and an image is
     * wanted that covers that one (0: none is), as answers to it take too much on another host. */
    uint64_t cut, wanted;
    bool told; /* of another one: that host knows the same of this one */
};

/* A message of copies.h that waits for room. */
struct outgoing;

/* An object of which pieces have gone to a host that will back it, or have come from its owner. */
struct ahead;

/* The same, of an object that goes from one host that will back it to the next. */
struct chain;
struct chained;

/* Objects that replicas get, and that go from one of them to the next. */
struct passing;

/* Another host. */
struct other {
    bool lost; /* ... and what follows from that is done */
    struct dataspace_traffic traffic;
    struct outgoing *first, **last; /* NULL: none is waiting */
    struct object *coming;          /* of a message of copies.h; NULL: none */
    uint64_t come;                  /* bytes of it */
    bool gives;                     /* it sends its objects here for the present snapshot ... */
    uint64_t given;                 /* the newest one for which all have come */
    uint32_t given_up;              /* of its chains: all up to that */
};

/* What is known of a replica of a process. */
struct replica {
    /* Of this host: all calls before the request of that number, up to it, and what it puts. */
    uint64_t before, number, calls, content;
    uint64_t what;                         /* of another host: what it has announced */
    enum { TURN_OFFERS, TURN_SENDS } turn; /* of this host: with what is large */
    /* Of another one: the put that it has offered, and when its turn was last deferred. */
    uint64_t offered, deferred;
    /* ... its newest large object, the newest for which it was referred to another host, and
     * whether those behind it wait for it to be granted theirs. */
    uint64_t granted, referred;
    enum { PASSES_IN_TIME, PASSES_LATE } passes;
    /* Its newest request that this host knows of: it has the answers to all before.  Of this host:
     * the last one that all were told of, and bytes of answers since. */
    uint64_t reached, told, bytes;
    enum { BEHIND_NOT_ASKED, BEHIND_ASKED, BEHIND_ANSWERED, BEHIND_GIVEN_UP } behind;
    uint64_t asked; /* ... when it was so far */
};

struct dataspace {
    const struct dataspace_calls *calls;
    void *context;
    uint32_t host, hosts, nprocs, piece, owner_count, stalled;
    uint32_t *owners; /* the hosts that had processes in the beginning, ascending */
    struct other *others;
    struct process *processes; /* by seat */
    uint32_t most;             /* replicas of a process, at most: so many seats has each */
    uint32_t *leads, *places;  /* by host: whose processes it has, and which of their seats */
    struct replica *replicas;  /* by seat; NULL, as the two before: no process has any */
    struct pool *pool;
    struct copies *copies;
    struct ahead *ahead_out, *ahead_in;
    struct chain *chains;                           /* of parts of this host, ... */
    struct chained *chained;                        /* ... and of others */
    uint32_t rounds;                                /* chains that this host has begun */
    struct passing *passing;                        /* NULL: no process has replicas */
    uint64_t log;                                   /* bytes of answers, of each part */
    uint32_t large, passed, cut_every, behind_most; /* service.h */
    bool copied;                                    /* there are several of each part */
    /* With replicas: whether processes are to stop, and by process the last request that is made.
     */
    enum { HALT_NONE, HALT_ASKED, HALT_KNOWN } halt;
    uint64_t *limits;
    uint64_t snapshot;     /* the newest one for which objects go or come ... */
    struct tags *gathered; /* ... those that have come; NULL: none */
    uint64_t skipped;      /* ... up to that snapshot none is taken any more */
    bool no_room;          /* ... as there was none for one of the newest snapshot */
    uint32_t gave_to;      /* ... where those of this host go */
    bool part_lost;        /* all have to go back: nothing is done any more */
};

/* A piece of an object: its place, and of how many bytes. */
struct piece {
    uint64_t size, offset;
    struct wire_bytes data;
};

static inline uint64_t service_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Bytes of an object of that size that go at a time from one replica to the next: the smaller they
 * are, the earlier its link is free again; the larger, the less time of processors they take. */
static inline uint64_t service_passed_on(const struct dataspace *space, uint64_t size)
{
    uint64_t bytes = size / 64 < 16384 ? 16384 : service_least(size / 64, 65536);

    return service_least(space->piece, bytes);
}

/* The request of a process of this host was answered in an earlier life. */
static inline bool service_repeats(const struct process *process)
{
    return process->request.number < process->behind;
}

/* Where there is what a process of that host asks, or a replica of a process on it. */
static inline uint32_t service_seat(const struct dataspace *space, uint32_t pid, uint32_t host)
{
    return space->replicas ? pid * space->most + space->places[host] : pid;
}

static inline struct process *service_guest(const struct dataspace *space, uint32_t pid,
                                            uint32_t host)
{
    return &space->processes[service_seat(space, pid, host)];
}

static inline struct process *service_own(const struct dataspace *space, uint32_t pid)
{
    return service_guest(space, pid, space->host);
}

static inline uint32_t service_pid(const struct dataspace *space, const struct process *process)
{
    return (uint32_t)(process - space->processes) / space->most;
}

/* Whether the process lives on that host, or a replica of it does. */
static inline bool service_has(const struct dataspace *space, uint32_t pid, uint32_t host)
{
    return service_guest(space, pid, host)->home == host;
}

/* Whether it waits for room to another host, or for a while at most. */
static inline bool service_is_stalled(const struct process *process)
{
    return process->client == CLIENT_STALLED || process->client == CLIENT_SENDING ||
           process->client == CLIENT_FETCHING || process->guest == GUEST_GRANTING ||
           process->guest == GUEST_OFFERED || process->guest == GUEST_DEFERRED;
}

/* ---- owners.c ---- */

/* homes: of each process.  False: no memory. */
bool service_find_owners(struct dataspace *space, const uint32_t *homes);

/* ---- pieces.c ---- */

void service_send(struct dataspace *space, uint32_t host, const struct wire_message *message);
void service_broken(struct dataspace *space, uint32_t host, const char *complaint);
void service_no_memory(struct dataspace *space, uint32_t pid, uint64_t bytes);
/* The object that is put together for the process; false: no memory, and the caller is told. */
bool service_begin_object(struct dataspace *space, struct process *process, uint32_t pid,
                          uint64_t size);
struct object *service_take_object(struct process *process);
bool piece_is_last(const struct piece *piece);
/* Adds the piece that comes next to the object, of which *done bytes are there; false: it is not
 * that. */
bool piece_add(struct object *object, uint64_t *done, const struct piece *piece);

/* ---- requests.c ---- */

/* Changes the state; a transition that the table does not allow is a defect and ends the agent. */
void client_move(struct dataspace *space, struct process *process, enum client_state to);
void guest_move(struct dataspace *space, struct process *process, enum guest_state to);
/* The present request as it goes to this host, the owner of its tag. */
struct copies_request client_request(const struct dataspace *space, uint32_t pid);

/* Whether the process of this host may not make its present request, for now. */
bool halt_holds(const struct dataspace *space, uint32_t pid);
/* The process takes it back, if it is known that it may not. */
void halt_withdraw(struct dataspace *space, uint32_t pid);

/* ---- invariants.c ---- */

/* Checks what is true before and after every step: everything there is, and so only where it is
 * built for that (BSPZ_CHECKED: simulators, unit tests). */
#ifdef BSPZ_CHECKED
void service_check(const struct dataspace *space);
#else
static inline void service_check(const struct dataspace *space)
{
    (void)space;
}
#endif

/* ---- client.c ---- */

/* What the process has posted last may be handled now. */
void client_begin(struct dataspace *space, uint32_t pid);
/* This host has carried out the process's request: takes over the reference; NULL: a put. */
void client_answered(struct dataspace *space, const struct asker *asker, struct object *object);
void client_stored(struct dataspace *space, uint32_t host, const struct wire_data_stored *of);
void client_differs(struct dataspace *space, const struct wire_data_differs *of);
void client_granted(struct dataspace *space, uint32_t host, const struct wire_data_grant *grant);
void client_withdrawn(struct dataspace *space, uint32_t host, const struct wire_data_withdrawn *of);
/* Another host has what the process is granted. */
void client_referred(struct dataspace *space, uint32_t host, const struct wire_data_refer *refer);
void client_passed(struct dataspace *space, uint32_t host, const struct wire_data_pass *pass);
/* It may have waited for that long enough. */
void client_go_on(struct dataspace *space, uint32_t pid);
/* Hosts are lost: if the process has asked one of them, or is to get an object from it, its request
 * is made again. */
void client_losses(struct dataspace *space, uint32_t pid);

/* ---- puts.c ---- */

/* Takes the piece that the process has posted of its object. */
void put_piece(struct dataspace *space, uint32_t pid, const struct dataspace_request *posted);
/* A put waits for room. */
void put_go_on(struct dataspace *space, uint32_t pid);
/* The process was lost in that state, and has its next life: who has got pieces of its object drops
 * them. */
void put_drop(struct dataspace *space, uint32_t pid, enum client_state was);
/* What was offered is to be sent. */
void put_invited(struct dataspace *space, uint32_t pid);
/* Who was asked is lost: all that is here of the object goes to the owner of the moment. */
void put_again(struct dataspace *space, uint32_t pid);

/* ---- guest.c ---- */

/* This host has carried out the request of a process of another one: takes over the reference;
 * NULL: a put. */
void guest_answered(struct dataspace *space, const struct asker *asker, struct object *object);
/* A grant waits for room. */
void guest_go_on(struct dataspace *space, uint32_t seat);
void guest_put(struct dataspace *space, uint32_t host, const struct wire_data_put *put);
void guest_ask(struct dataspace *space, uint32_t host, const struct wire_data_ask *ask);
void guest_withdraw(struct dataspace *space, uint32_t host, const struct wire_data_withdraw *of);
/* Drops what there is of the process's request. */
void guest_forget(struct dataspace *space, struct process *process);

/* ---- lives.c ---- */

/* The answers of an earlier round are not waited for. */
void lives_ask_past(struct dataspace *space, uint32_t pid);
void lives_past(struct dataspace *space, uint32_t host, const struct wire_data_past *past);
void lives_past_is(struct dataspace *space, const struct wire_data_past_is *is);
/* Another host's memory for answers is full of those to the process. */
void lives_asked(struct dataspace *space, const struct wire_data_how_far *of);
/* An image of a process of another host is durable. */
void lives_cut(struct dataspace *space, const struct wire_data_cut *of);

/* ---- losses.c ---- */

/* Does what follows from losses that are new to this host. */
void losses_learn(struct dataspace *space);

/* What the process of this host has put under that number, of any life, if it is not stored yet or
 * was a moment ago.  NULL: nothing. */
struct object *put_kept(const struct process *process, uint64_t number);
/* The request of that number is answered: what was put until then is not kept any more. */
void put_forget(struct process *process, uint64_t number);

/* ---- replicas.c ---- */

/* leads: see service.h; NULL: there are none.  False: no memory. */
bool replicas_open(struct dataspace *space, const struct dataspace_setup *setup);
/* The request that the process of this host has posted, with its number, begins. */
void replicas_begin(struct dataspace *space, uint32_t pid);
/* Bytes of the object that it puts. */
void replicas_add(struct dataspace *space, uint32_t pid, const void *bytes, uint32_t length);
/* Says to the owner what the request is, which follows; nothing if there are no replicas. */
void replicas_announce(struct dataspace *space, uint32_t pid);
void replicas_announced(struct dataspace *space, uint32_t host, const struct wire_data_call *call);
/* What the replica of the process on that host asks for: copies.h; 0: there are none. */
uint64_t replicas_what(const struct dataspace *space, uint32_t pid, uint32_t host);
/* The host whose replica asked for that. */
uint32_t replicas_asker(const struct dataspace *space, uint32_t pid, uint64_t what);
/* Replicas differ. */
void replicas_differ(struct dataspace *space, const struct copies_mismatch *mismatch);

/* ---- turns.c ---- */

/* Whether the put of the process of this host is to be offered to another one before it goes. */
bool turns_offers(const struct dataspace *space, uint32_t pid);
/* ... to that which is asked. */
void turns_offer(struct dataspace *space, uint32_t pid);
void turns_offered(struct dataspace *space, uint32_t host, const struct wire_data_offer *offer);
/* Whether the present put of that process is to be sent now: put_invited. */
bool turns_take(struct dataspace *space, uint32_t host, const struct wire_data_turn *turn);
/* A piece of that put has come: nobody else needs to send it yet. */
void turns_defer(struct dataspace *space, uint32_t pid, uint64_t number);
/* The put has taken effect: what was offered is answered. */
void turns_stored(struct dataspace *space, const struct copies_request *put);
/* A put of a replica of that host came too late. */
void turns_late(struct dataspace *space, uint32_t host, const struct copies_request *put,
                uint64_t size);
/* The replica waits for its turn. */
void turns_go_on(struct dataspace *space, uint32_t seat);
/* Whether the replica on that host has offered the put. */
bool turns_has(const struct dataspace *space, uint32_t pid, uint32_t host, uint64_t number,
               uint64_t what);

/* ---- passing.c ---- */

/* False: no memory. */
bool passing_open(struct dataspace *space);
void passing_close(struct dataspace *space);
/* How the replica on that seat, which is granted what its process has, is to get it. */
enum passing_way {
    PASSING_SENT,     /* from here */
    PASSING_REFERRED, /* from another host, *from */
    PASSING_DEFERRED  /* that is not known yet */
};
/* ... from now on, by the request of that number. */
void passing_granted(struct dataspace *space, uint32_t seat, uint64_t number);
enum passing_way passing_way(struct dataspace *space, uint32_t seat, uint32_t *from);
/* No replica of the process wants what it was granted before that request. */
void passing_cut(struct dataspace *space, uint32_t pid, uint64_t number);
/* Some more bytes of the object are here that the process of this host gets. */
void passing_come(struct dataspace *space, uint32_t pid);
/* ... all of them. */
void passing_whole(struct dataspace *space, uint32_t pid, struct object *object);
/* Sends what waits for room; whether something still does. */
bool passing_go_on(struct dataspace *space);
void passing_asked(struct dataspace *space, uint32_t host, const struct wire_data_fetch *fetch);
/* The host is lost. */
void passing_forget(struct dataspace *space, uint32_t host);
/* The process of this host wants its object from that host. */
void passing_fetch(struct dataspace *space, uint32_t pid, uint32_t from);
/* It asks the owner: what it has got last came from another host, as this may. */
void passing_fetch_early(struct dataspace *space, uint32_t pid);
/* It has got its object, or wants it no more from where it fetches it; what has come is dropped. */
void passing_fetch_no_more(struct dataspace *space, uint32_t pid);

/* ---- behind.c ---- */

/* The request of that number is the newest one of the replica on that host; 0: it has none. */
void behind_reached(struct dataspace *space, uint32_t pid, uint32_t host, uint64_t number);
/* The process of this host has been given bytes of an object. */
void behind_given(struct dataspace *space, uint32_t pid, uint64_t bytes);
void behind_cut(struct dataspace *space, uint32_t host, const struct wire_data_cut *cut);
void behind_asked(struct dataspace *space, uint32_t host, const struct wire_data_how_far *of);
/* Hosts are lost, for whose replicas nothing is kept. */
void behind_lost(struct dataspace *space);
/* Sees to it that not too much is kept. */
void behind_watch(struct dataspace *space);

/* ---- copying.c ---- */

void copying_send(struct dataspace *space, uint32_t host, const struct copy_message *message);
void copying_take(struct dataspace *space, uint32_t host, const struct wire_data_copy *copy);
/* Sends what waits for room to that host. */
void copying_go_on(struct dataspace *space, uint32_t host);
/* The host is lost. */
void copying_forget(struct dataspace *space, uint32_t host);
/* Chains are given up: what has not gone goes with its object. */
void copying_unchain(struct dataspace *space);

/* ---- gathered.c ---- */

/* A snapshot begins, if it is a new one: what was gathered for an earlier one is of no use. */
void gather_begin(struct dataspace *space, uint64_t snapshot);
/* COPY_KEPT from another host. */
void gather_take(struct dataspace *space, uint32_t host, const struct copy_message *message);
/* What has come is not wanted any more. */
void gather_drop(struct dataspace *space);
/* ... and no more is gathered for the newest snapshot. */
void gather_stop(struct dataspace *space);
/* Whether an object of that snapshot is still to be kept. */
bool gather_wants(const struct dataspace *space, uint64_t snapshot);
/* There is no room for one: this host can keep nothing for that snapshot. */
void gather_refuse(struct dataspace *space, uint64_t snapshot);

/* ---- ahead.c ---- */

/* The first bytes of a put to this host, the owner of the tag, are in the object. */
void ahead_begin(struct dataspace *space, const struct copies_request *put, struct object *object);
/* So many bytes are in the object that the process on that host puts: sends them while there is
 * room. */
void ahead_go_on(struct dataspace *space, uint32_t pid, uint32_t from, uint64_t done);
/* How many bytes of the object that is put the host has; it expects no more of them. */
uint64_t ahead_gone(struct dataspace *space, uint32_t host, const struct copy_message *put);
/* The object is put, or never will be: whoever expects more of it is told so. */
void ahead_end(struct dataspace *space, uint32_t pid, uint32_t from);
void ahead_take(struct dataspace *space, uint32_t host, const struct wire_data_ahead *ahead);
/* The object of which *done bytes have come from the owner; its reference goes to the caller.
 * NULL: none has. */
struct object *ahead_come(struct dataspace *space, uint32_t host, uint32_t pid, uint64_t *done);
/* The host is lost. */
void ahead_forget(struct dataspace *space, uint32_t host);

/* ---- chain.c ---- */

/* The first bytes of a put to this host are in the object, which those hosts will back, in that
 * order.  False: it does not go by a chain. */
bool chain_begin(struct dataspace *space, const struct copies_request *put, struct object *object,
                 const uint32_t *hosts, uint32_t count);
/* So many bytes are in the object that the process on that host puts. */
void chain_go_on(struct dataspace *space, uint32_t pid, uint32_t from, uint64_t come);
/* That is put, or never will be. */
void chain_end(struct dataspace *space, uint32_t pid, uint32_t from);
/* The object is put: the round of the chain by which it goes to that host; 0: by none. */
uint32_t chain_put(struct dataspace *space, uint32_t host, const struct copy_message *put);
/* Whether that host has the object, and may be sent the change; it has been. */
bool chain_is_there(struct dataspace *space, uint32_t host, uint32_t round);
void chain_told(struct dataspace *space, uint32_t host, uint32_t round);
/* The changes that wait for that may be sent. */
void chain_has_come(struct dataspace *space, uint32_t host, const struct wire_data_chained *of);
void chain_take(struct dataspace *space, uint32_t host, const struct wire_data_chain *chain);
/* The object that has come by that chain of the owner, which is put; its reference goes to the
 * caller.  NULL: there is none. */
struct object *chain_object(struct dataspace *space, uint32_t owner, uint32_t round);
/* Hosts are lost. */
void chain_losses(struct dataspace *space);
/* Sends what waits for room; whether something still does. */
bool chain_push(struct dataspace *space);
void chain_close(struct dataspace *space);

#endif
