/* mail.c - see mail.h.
 *
 * What can fail: no memory: the job ends with a line that says so; another host breaks a rule: its
 * link is dropped, and the term is over for it.
 */
#include "bsprun/agent/mail.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "bsprun/agent/core/agent.h"
#include "bsprun/agent/core/peers.h"
#include "bsprun/agent/core/stop.h"
#include "bsprun/agent/quiet.h"
#include "lib/shm/mail.h"

/* Of a process here and one elsewhere: positions. */
struct pair {
    uint64_t sent;     /* in the ring from here: up to here it has been sent there */
    uint64_t reported; /* in the ring to here: up to here the host there knows it to be read */
};

struct agent_mail {
    struct bspz_post post;
    uint64_t bytes;       /* of the mapping */
    unsigned char *piece; /* BSPZ_RING_MOST */
    struct pair **pairs;  /* by pid here, then by the other's; NULL for processes elsewhere */
    int nprocs;
    struct agent_quiet_reports reports;
    /* Snapshots: + 1 of the superstep of the newest one for which MAIL_MARK has been sent; and by
     * host the same of the marks that have come. */
    uint64_t marked, *marks;
};

/* ---- Life ------------------------------------------------------------------------------------ */

static void free_mail(struct agent_mail *mail)
{
    for (int pid = 0; mail->pairs && pid < mail->nprocs; pid++)
        free(mail->pairs[pid]);
    free(mail->pairs);
    free(mail->marks);
    free(mail->piece);
    if (mail->post.at)
        munmap(mail->post.at, mail->bytes);
    free(mail);
}

void agent_mail_forget(struct agent *agent)
{
    if (!agent->mail)
        return;
    agent_quiet_watch_mail(agent, NULL, NULL);
    free_mail(agent->mail);
    agent->mail = NULL;
}

static bool fill(struct agent *agent, struct agent_mail *mail)
{
    const struct bspz_layout *layout = &agent->board->layout;
    void *at;

    mail->nprocs = agent->nprocs;
    mail->bytes = bspz_post_bytes(layout);
    mail->piece = malloc(BSPZ_RING_MOST);
    mail->pairs = calloc((size_t)agent->nprocs, sizeof *mail->pairs);
    mail->marks = calloc(WIRE_HOSTS_MAX, sizeof *mail->marks);
    if (!mail->piece || !mail->pairs || !mail->marks)
        return false;
    for (int pid = 0; agent->peers && pid < agent->nprocs; pid++) {
        if (!agent_is_here(agent, pid))
            continue;
        mail->pairs[pid] = calloc((size_t)agent->nprocs, sizeof **mail->pairs);
        if (!mail->pairs[pid])
            return false;
    }
    at = mmap(NULL, mail->bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
              agent->board_fd, (off_t)layout->mail);
    if (at == MAP_FAILED)
        return false;
    madvise(at, mail->bytes, MADV_DONTDUMP);
    mail->post = (struct bspz_post){
        .board = agent->board, .at = at, .nprocs = agent->nprocs, .ring_bytes = layout->ring_bytes};
    return true;
}

/* False: no memory, and the job is being ended. */
static bool begin(struct agent *agent)
{
    struct verdict verdict = {.cause = WIRE_CAUSE_INTERNAL, .status = 1};
    struct agent_mail *mail;

    if (agent->mail)
        return true;
    mail = calloc(1, sizeof *mail);
    if (mail && fill(agent, mail) &&
        agent_quiet_watch_mail(agent, &mail->post, &mail->reports)) {
        agent->mail = mail;
        return true;
    }
    if (mail)
        free_mail(mail);
    snprintf(verdict.text, sizeof verdict.text, "no memory for messages of MPI on host %s",
             agent->host_name);
    agent_abort(agent, COORD_NOBODY, &verdict);
    return false;
}

/* ---- From here ------------------------------------------------------------------------------- */

static void send_written(struct agent *agent, int from, int to, struct pair *pair)
{
    struct agent_mail *mail = agent->mail;
    const struct bspz_ring *ring = bspz_ring_of(&mail->post, from, to);
    uint64_t size = bspz_ring_size(&mail->post, false);
    uint64_t tail = atomic_load_explicit(&ring->tail, memory_order_acquire);
    struct wire_message message = {.kind = WIRE_MAIL};

    /* A defect of the program must not make the agent read elsewhere. */
    if (tail <= pair->sent || tail - pair->sent > size)
        return;
    bspz_ring_bytes_out(ring, size, pair->sent, mail->piece, tail - pair->sent);
    message.mail.from = (uint32_t)from;
    message.mail.to = (uint32_t)to;
    message.mail.at = pair->sent;
    message.mail.data.data = mail->piece;
    message.mail.data.size = (uint32_t)(tail - pair->sent);
    pair->sent = tail;
    agent_peers_send(agent, agent->home[to], &message);
}

static void report_read(struct agent *agent, int from, int to, struct pair *pair)
{
    const struct bspz_ring *ring = bspz_ring_of(&agent->mail->post, from, to);
    uint64_t head = atomic_load_explicit(&ring->head, memory_order_acquire);
    struct wire_message message = {.kind = WIRE_MAIL_READ};

    if (head == pair->reported)
        return;
    message.mail_read.from = (uint32_t)from;
    message.mail_read.to = (uint32_t)to;
    message.mail_read.at = head;
    pair->reported = head;
    agent->mail->reports.sent++;
    agent_peers_send(agent, agent->home[from], &message);
}

/* Whether no lower pid lives on that host. */
static bool is_first_of_host(const struct agent *agent, int pid)
{
    for (int other = 0; other < pid; other++)
        if (agent->home[other] == agent->home[pid])
            return false;
    return true;
}

static void pass_on(struct agent *agent, int pid)
{
    struct bspz_mail *box = bspz_mail_of(&agent->mail->post, pid);

    for (int word = 0; word * 64 < agent->nprocs; word++) {
        uint64_t bits = atomic_load(&box->out[word]) ? atomic_exchange(&box->out[word], 0) : 0;

        for (; bits; bits &= bits - 1) {
            int peer = word * 64 + __builtin_ctzll(bits);

            if (peer >= agent->nprocs || agent_is_here(agent, peer))
                continue;
            send_written(agent, pid, peer, &agent->mail->pairs[pid][peer]);
            report_read(agent, peer, pid, &agent->mail->pairs[pid][peer]);
        }
    }
}

/* ---- Snapshots ------------------------------------------------------------------------------- */

/* A process here has stopped for the snapshot, so all of the job have, and write nothing. */
static void send_marks(struct agent *agent, uint64_t superstep)
{
    struct wire_message message = {.kind = WIRE_MAIL_MARK};
    struct agent_mail *mail = agent->mail;

    if (mail->marked > superstep)
        return;
    mail->marked = superstep + 1;
    message.mail_mark.superstep = superstep;
    for (int pid = 0; pid < agent->nprocs; pid++)
        if (agent_is_here(agent, pid))
            pass_on(agent, pid);
    for (int pid = 0; pid < agent->nprocs; pid++)
        if (is_first_of_host(agent, pid) && !agent_is_here(agent, pid))
            agent_peers_send(agent, agent->home[pid], &message);
}

static bool all_has_come(const struct agent *agent, uint64_t superstep)
{
    for (int pid = 0; pid < agent->nprocs; pid++)
        if (!agent_is_here(agent, pid) && agent->mail->marks[agent->home[pid]] <= superstep)
            return false;
    return true;
}

static void answer(struct agent *agent, int pid)
{
    struct bspz_request *request = &bspz_rank_of(agent->board, pid)->request;

    if (atomic_load(&request->state) != BSPZ_REQUEST_POSTED || request->kind < BSPZ_REQUEST_MAIL ||
        agent->board->layout.mail == 0 || !begin(agent))
        return;
    if (request->kind == BSPZ_REQUEST_MAIL_SETTLED && agent->peers) {
        send_marks(agent, request->size);
        if (!all_has_come(agent, request->size))
            return; /* until the last mark */
    }
    bspz_word_set(&request->state, BSPZ_REQUEST_ANSWERED);
}

void agent_mail_scan(struct agent *agent)
{
    /* Processes that are restored say that they have rings before they run. */
    if (agent->job != JOB_RUNNING && agent->job != JOB_RESTORING && !agent->mail)
        return;
    for (int pid = 0; pid < agent->nprocs; pid++) {
        if (!agent_is_here(agent, pid))
            continue;
        answer(agent, pid);
        if (agent->mail && agent->peers)
            pass_on(agent, pid);
    }
}

/* ---- From another host ----------------------------------------------------------------------- */

static bool is_pair(const struct agent *agent, uint32_t here, uint32_t there, uint32_t host)
{
    return here < (uint32_t)agent->nprocs && there < (uint32_t)agent->nprocs &&
           agent_is_here(agent, (int)here) && agent->home[there] == host;
}

static bool take_written(struct agent *agent, uint32_t host, const struct wire_mail *message)
{
    const struct bspz_post *post = &agent->mail->post;
    uint64_t size = bspz_ring_size(post, false);
    struct bspz_ring *ring;
    uint64_t tail;

    if (!is_pair(agent, message->to, message->from, host))
        return false;
    ring = bspz_ring_of(post, (int)message->from, (int)message->to);
    tail = atomic_load(&ring->tail);
    if (message->at != tail || message->data.size > size ||
        tail + message->data.size - atomic_load(&ring->head) > size)
        return false;
    bspz_ring_bytes_in(ring, size, tail, message->data.data, message->data.size);
    atomic_store_explicit(&ring->tail, tail + message->data.size, memory_order_release);
    bspz_mail_tell(post, (int)message->to, (int)message->from);
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
    for (int pid = 0; pid < agent->nprocs; pid++)
        if (agent_is_here(agent, pid))
            answer(agent, pid);
}

void agent_mail_message(struct agent *agent, uint32_t host, const struct wire_message *message)
{
    bool right = true;

    if (agent->board->layout.mail == 0) {
        agent_peers_drop(agent, host, "a message of MPI for a program that has none");
        return;
    }
    if (!begin(agent))
        return;
    if (message->kind == WIRE_MAIL)
        right = take_written(agent, host, &message->mail);
    else if (message->kind == WIRE_MAIL_READ)
        right = take_read(agent, host, &message->mail_read);
    else
        take_mark(agent, host, &message->mail_mark);
    if (!right)
        agent_peers_drop(agent, host, "a message of MPI out of order");
}
