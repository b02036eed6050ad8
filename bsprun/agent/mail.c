/* mail.c - see mail.h.
 *
 * The thread of the bell sends and takes messages itself, which saves two wake-ups of each
 * (link.h); so all of struct agent_mail but `bytes` belongs to who holds the lock of
 * agent_link_bell.
 *
 * What can fail: no memory: the job ends with a line that says so; another host breaks a rule: its
 * link is dropped, and the term is over for it.
 */
#include "bsprun/agent/mail.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/course.h"
#include "bsprun/agent/core/election.h"
#include "bsprun/agent/core/identity.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "bsprun/agent/quiet.h"
#include "bsprun/agent/snapshot/snapshots.h"
#include "bsprun/link/link.h"
#include "bsprun/verdict.h"
#include "lib/shm/board.h"
#include "lib/shm/mail.h"

#define PIECE (UINT64_C(32) << 10) /* of a ring in a message, at most */

/* Of a process here and one elsewhere: positions. */
struct pair {
    uint64_t sent;     /* in the ring from here: up to here it has been sent there */
    uint64_t reported; /* in the ring to here: up to here the host there knows it to be read */
    uint64_t filled;   /* in that ring: up to here it has come, which its reader may not see yet */
};

struct agent_mail {
    struct bspz_post post;
    uint64_t bytes;      /* of the mapping */
    struct pair **pairs; /* by pid here, then by the other's; NULL for processes elsewhere */
    int nprocs;
    struct agent_quiet_reports reports;
    uint64_t *marks; /* by host: + 1 of the superstep of the snapshot for which one has come */
};

/* ---- Life ------------------------------------------------------------------------------------ */

static void free_mail(struct agent_mail *mail)
{
    for (int pid = 0; mail->pairs && pid < mail->nprocs; pid++)
        free(mail->pairs[pid]);
    free(mail->pairs);
    free(mail->marks);
    if (mail->post.at)
        munmap(mail->post.at, mail->bytes);
    free(mail);
}

void agent_mail_forget(struct agent *agent)
{
    struct agent_mail *mail = agent->mail;

    if (!mail)
        return;
    agent_quiet_watch_mail(agent, NULL, NULL);
    link_bell_lock(agent_link_bell(agent));
    agent->mail = NULL;
    link_bell_unlock(agent_link_bell(agent));
    free_mail(mail);
}

static bool fill(struct agent *agent, struct agent_mail *mail)
{
    const struct bspz_layout *layout = &agent_board(agent)->layout;
    void *at;

    mail->nprocs = agent_nprocs(agent);
    mail->bytes = bspz_post_bytes(layout);
    mail->pairs = calloc((size_t)agent_nprocs(agent), sizeof *mail->pairs);
    mail->marks = calloc(WIRE_HOSTS_MAX, sizeof *mail->marks);
    if (!mail->pairs || !mail->marks)
        return false;
    for (int pid = 0; agent_has_peers(agent) && pid < agent_nprocs(agent); pid++) {
        if (!agent_is_here(agent, pid))
            continue;
        mail->pairs[pid] = calloc((size_t)agent_nprocs(agent), sizeof **mail->pairs);
        if (!mail->pairs[pid])
            return false;
    }
    at = mmap(NULL, mail->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
              agent_board_fd(agent), (off_t)layout->mail);
    if (at == MAP_FAILED)
        return false;
    madvise(at, mail->bytes, MADV_DONTDUMP);
    mail->post = (struct bspz_post){.board = agent_board(agent),
                                    .at = at,
                                    .nprocs = agent_nprocs(agent),
                                    .ring_bytes = layout->ring_bytes};
    return true;
}

static const struct links_express express;

/* By the loop.  False: no memory, and the job is being ended. */
static bool begin(struct agent *agent)
{
    struct verdict verdict = {.cause = WIRE_CAUSE_INTERNAL, .status = 1};
    struct agent_mail *mail;

    if (agent->mail)
        return true;
    mail = calloc(1, sizeof *mail);
    if (mail && fill(agent, mail) && agent_quiet_watch_mail(agent, &mail->post, &mail->reports)) {
        link_bell_lock(agent_link_bell(agent));
        agent->mail = mail;
        link_bell_unlock(agent_link_bell(agent));
        agent_peers_use_express(agent, &express);
        return true;
    }
    if (mail)
        free_mail(mail);
    snprintf(verdict.text, sizeof verdict.text, "no memory for messages of MPI on host %s",
             agent_host_name(agent));
    agent_abort(agent, COORD_NOBODY, &verdict);
    return false;
}

/* ---- From here: with the lock held ----------------------------------------------------------- */

/* Whether there was anything, as for the next two. */
static bool send_written(struct agent *agent, int from, int to, struct pair *pair)
{
    const struct bspz_post *post = &agent->mail->post;
    const struct bspz_ring *ring = bspz_ring_of(post, from, to);
    uint64_t size = bspz_ring_size(post, false);
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    struct wire_message message = {.kind = WIRE_MAIL};

    /* A defect of the program must not make the agent read elsewhere. */
    if (tail <= pair->sent || tail - pair->sent > size)
        return false;
    message.mail.from = (uint32_t)from;
    message.mail.to = (uint32_t)to;
    while (pair->sent < tail) {
        uint64_t bytes = tail - pair->sent < PIECE ? tail - pair->sent : PIECE;

        message.mail.at = pair->sent;
        message.mail.data.data = (void *)bspz_ring_piece(ring, size, pair->sent, &bytes);
        message.mail.data.size = (uint32_t)bytes;
        pair->sent += bytes;
        message.mail.whole = pair->sent == tail;
        agent_peers_put(agent, agent_home(agent, to), &message);
        if (!message.mail.whole)
            agent_peers_put_done(agent); /* it is received while the next piece is put */
    }
    return true;
}

static bool report_read(struct agent *agent, int from, int to, struct pair *pair)
{
    const struct bspz_ring *ring = bspz_ring_of(&agent->mail->post, from, to);
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    struct wire_message message = {.kind = WIRE_MAIL_READ};

    if (head - pair->reported < bspz_ring_size(&agent->mail->post, false) / BSPZ_RING_REPORTS)
        return false;
    message.mail_read.from = (uint32_t)from;
    message.mail_read.to = (uint32_t)to;
    message.mail_read.at = head;
    pair->reported = head;
    agent->mail->reports.sent++;
    agent_peers_put(agent, agent_home(agent, from), &message);
    return true;
}

/* Whether no lower pid lives on that host. */
static bool is_first_of_host(const struct agent *agent, int pid)
{
    for (int other = 0; other < pid; other++)
        if (agent_home(agent, other) == agent_home(agent, pid))
            return false;
    return true;
}

static bool pass_on(struct agent *agent, int pid)
{
    struct bspz_mail *box = bspz_mail_of(&agent->mail->post, pid);
    bool any = false;

    for (int word = 0; word * 64 < agent_nprocs(agent); word++) {
        uint64_t bits = atomic_load(&box->out[word]) ? atomic_exchange(&box->out[word], 0) : 0;

        for (; bits; bits &= bits - 1) {
            int peer = word * 64 + __builtin_ctzll(bits);

            if (peer >= agent_nprocs(agent) || agent_is_here(agent, peer))
                continue;
            any = send_written(agent, pid, peer, &agent->mail->pairs[pid][peer]) || any;
            any = report_read(agent, peer, pid, &agent->mail->pairs[pid][peer]) || any;
        }
    }
    return any;
}

/* ---- Snapshots ------------------------------------------------------------------------------- */

static bool pass_all_on(struct agent *agent)
{
    bool any = false;

    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (agent_is_here(agent, pid))
            any = pass_on(agent, pid) || any;
    return any;
}

void agent_mail_mark(struct agent *agent, uint64_t superstep)
{
    struct wire_message message = {.kind = WIRE_MAIL_MARK};

    if (agent_board(agent)->layout.mail == 0 || !agent_has_peers(agent) || !begin(agent))
        return;
    message.mail_mark.superstep = superstep;
    link_bell_lock(agent_link_bell(agent));
    pass_all_on(agent);
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (is_first_of_host(agent, pid) && !agent_is_here(agent, pid))
            agent_peers_put(agent, agent_home(agent, pid), &message);
    agent_peers_put_done(agent);
    link_bell_unlock(agent_link_bell(agent));
}

static bool all_has_come(const struct agent *agent, uint64_t superstep)
{
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (!agent_is_here(agent, pid) && agent->mail->marks[agent_home(agent, pid)] <= superstep)
            return false;
    return true;
}

/* A program that is saved at its calls has no supersteps that could be counted. */
static void warn_of_rule(struct agent *agent, int pid)
{
    if (pid == 0 && agent_job(agent) == JOB_RUNNING && agent_recovers(agent) &&
        agent_election(agent)->first_of_run && agent_counts_supersteps(agent))
        agent_notice(agent, "--every: a program that begins with MPI_Init has no supersteps to "
                            "count, so no snapshots are taken of it: give a time, or auto");
}

static void answer(struct agent *agent, int pid)
{
    struct bspz_request *request = &bspz_rank_of(agent_board(agent), pid)->request;

    if (atomic_load(&request->state) != BSPZ_REQUEST_POSTED || request->kind < BSPZ_REQUEST_MAIL ||
        agent_board(agent)->layout.mail == 0 || !begin(agent))
        return;
    if (request->kind == BSPZ_REQUEST_MAIL_SETTLED && agent_has_peers(agent) &&
        !all_has_come(agent, request->size))
        return; /* until the last mark */
    if (request->kind == BSPZ_REQUEST_MAIL)
        warn_of_rule(agent, pid);
    bspz_word_set(&request->state, BSPZ_REQUEST_ANSWERED);
}

void agent_mail_scan(struct agent *agent)
{
    /* Processes that are restored say that they have rings before they run. */
    if (agent_job(agent) != JOB_RUNNING && agent_job(agent) != JOB_RESTORING && !agent->mail)
        return;
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (agent_is_here(agent, pid))
            answer(agent, pid);
    if (!agent->mail || !agent_has_peers(agent))
        return;
    link_bell_lock(agent_link_bell(agent));
    pass_all_on(agent);
    agent_peers_put_done(agent);
    link_bell_unlock(agent_link_bell(agent));
}

/* ---- From another host: take_written and take_read with the lock held ------------------------ */

static bool is_pair(const struct agent *agent, uint32_t here, uint32_t there, uint32_t host)
{
    return here < (uint32_t)agent_nprocs(agent) && there < (uint32_t)agent_nprocs(agent) &&
           agent_is_here(agent, (int)here) && agent_home(agent, there) == host;
}

static bool take_written(struct agent *agent, uint32_t host, const struct wire_mail *message)
{
    const struct bspz_post *post = &agent->mail->post;
    uint64_t size = bspz_ring_size(post, false);
    struct bspz_ring *ring;
    struct pair *pair;

    if (!is_pair(agent, message->to, message->from, host))
        return false;
    ring = bspz_ring_of(post, (int)message->from, (int)message->to);
    pair = &agent->mail->pairs[message->to][message->from];
    if (message->at != pair->filled || message->data.size > size ||
        message->at + message->data.size - atomic_load(&ring->head) > size)
        return false;
    bspz_ring_bytes_in(ring, size, message->at, message->data.data, message->data.size);
    pair->filled += message->data.size;
    if (message->whole) {
        atomic_store_explicit(&ring->tail, pair->filled, memory_order_release);
        bspz_mail_tell(post, (int)message->to, (int)message->from);
    }
    return true;
}

static bool take_read(struct agent *agent, uint32_t host, const struct wire_mail_read *message)
{
    const struct bspz_post *post = &agent->mail->post;
    struct bspz_ring *ring;

    if (!is_pair(agent, message->from, message->to, host))
        return false;
    ring = bspz_ring_of(post, (int)message->from, (int)message->to);
    if (message->at < atomic_load(&ring->head) ||
        message->at > agent->mail->pairs[message->from][message->to].sent)
        return false;
    atomic_store(&ring->head, message->at);
    if (atomic_exchange(&ring->wants_room, 0))
        bspz_mail_tell(post, (int)message->from, (int)message->to);
    agent->mail->reports.received++;
    return true;
}

static void take_mark(struct agent *agent, uint32_t host, const struct wire_mail_mark *message)
{
    agent->mail->marks[host] = message->superstep + 1;
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (agent_is_here(agent, pid))
            answer(agent, pid);
}

/* False: another kind, or it breaks a rule. */
static bool take(struct agent *agent, uint32_t host, const struct wire_message *message)
{
    if (message->kind == WIRE_MAIL)
        return take_written(agent, host, &message->mail);
    return message->kind == WIRE_MAIL_READ && take_read(agent, host, &message->mail_read);
}

void agent_mail_message(struct agent *agent, uint32_t host, const struct wire_message *message)
{
    bool right;

    if (agent_board(agent)->layout.mail == 0) {
        agent_peers_drop(agent, host, "a message of MPI for a program that has none");
        return;
    }
    if (!begin(agent))
        return;
    if (message->kind == WIRE_MAIL_MARK) {
        take_mark(agent, host, &message->mail_mark);
        return;
    }
    link_bell_lock(agent_link_bell(agent));
    right = take(agent, host, message);
    link_bell_unlock(agent_link_bell(agent));
    if (!right)
        agent_peers_drop(agent, host, "a message of MPI out of order");
}

/* ---- Without the loop ------------------------------------------------------------------------ */

static bool on_rung(void *context)
{
    struct agent *agent = context;

    return agent->mail && pass_all_on(agent);
}

static bool on_express(void *context, uint32_t host, const struct wire_message *message)
{
    struct agent *agent = context;

    return agent->mail && memcmp(message->envelope.job, agent_job_id(agent), WIRE_JOB_SIZE) == 0 &&
           message->envelope.term == agent_term(agent) && take(agent, host, message);
}

/* With a core for each process and the agent, one that computes loses nothing by the polling. */
static enum links_wait on_waits(void *context)
{
    const struct agent *agent = context;
    bool any = false, all = true;

    for (int pid = 0; agent->mail && pid < agent_nprocs(agent); pid++) {
        const struct bspz_mail *box = bspz_mail_of(&agent->mail->post, pid);
        bool waits = agent_is_here(agent, pid) && atomic_load(&box->waits) != BSPZ_MAIL_AWAKE;

        any = any || waits;
        all = all && (waits || !agent_is_here(agent, pid));
    }
    if (!any)
        return LINKS_WAIT_NONE;
    return all || atomic_load_explicit(&agent_board(agent)->spin_ns, memory_order_relaxed) > 0
               ? LINKS_WAIT_POLL
               : LINKS_WAIT_SOME;
}

static const struct links_express express = {
    .rung = on_rung, .message = on_express, .waits = on_waits};
