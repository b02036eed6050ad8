/* output.c - relays the output of the ranks when bsprun needs to attribute it.
 *
 * One stream socket per output, shared by all ranks: the order of writes is kept, and the kernel
 * says who wrote each piece.  If the user has a terminal, so has the program, outside its SPMD
 * part: a pseudo terminal, to which only process 0 and its children write.
 *
 * Happy path: readable -> a piece and its writer -> OUTPUT -> ... -> the job is over -> read until
 * empty -> agent_finish goes on.
 *
 * What can fail: bsprun is slow (reading pauses until `drained`); a writer is not a rank (its
 * ancestors are looked up); bsprun is dead (the output is dropped).
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bsprun/agent/core/agent_inside.h"
#include "bsprun/agent/core/board.h"
#include "bsprun/agent/core/cells.h"
#include "bsprun/agent/core/members.h"
#include "bsprun/agent/core/output.h"
#include "bsprun/agent/core/repeats.h"
#include "bsprun/agent/core/roster.h"
#include "bsprun/agent/core/starter.h"
#include "bsprun/agent/core/terminal.h"
#include "bsprun/agent/core/to_bsprun.h"
#include "lib/base/process_stat.h"
#include "lib/net/net.h"
#include "lib/shm/board.h"

#define SOCKETS       2
#define STREAMS       4 /* two sockets, then two pseudo terminals */
#define QUEUE_HIGH    (NET_QUEUE_MAX / 2)
#define ANCESTORS_MAX 64
#define QUEUE_TOP     (NET_QUEUE_MAX / 4 * 3)

struct stream {
    struct agent *agent;
    int number;         /* 1 or 2 */
    int reader, writer; /* -1: none */
    uv_poll_t poll;
    bool open; /* the poll handle is open */
    bool ended;
};

struct agent_relay {
    struct repeats *repeats; /* NULL: no process is restarted alone */
    struct stream streams[STREAMS];
    bool paused;
    bool finishing; /* agent_finish waits for it */
    uint64_t counts[SOCKETS];
    uint64_t superstep; /* of the output read last; several hosts */
    char chunk[WIRE_CHUNK_MAX];
};

static int member_of(const struct agent *agent, pid_t ospid)
{
    if (ospid == agent_root(agent)->ospid)
        return 0;
    for (int pid = 0; pid < agent_nprocs(agent); pid++)
        if (agent_process(agent, pid)->ospid == ospid)
            return pid;
    return -1;
}

/* The rank that wrote, or whose descendant did; -1: no longer known.  Of a rank with replicas only
 * what it writes itself: on each host other descendants may be gone by now. */
static int writer_rank(const struct agent *agent, pid_t ospid)
{
    char line[BSPZ_STAT_LINE];

    if (agent_has_replicas(agent))
        return member_of(agent, ospid);
    for (int i = 0; i < ANCESTORS_MAX && ospid > 1; i++) {
        int pid = member_of(agent, ospid);

        if (pid >= 0)
            return pid;
        ospid = bspz_stat_read(ospid, line) ? (pid_t)bspz_stat_number(line, BSPZ_STAT_PARENT) : 0;
    }
    return agent_nprocs(agent) <= 1 ? 0 : -1;
}

static pid_t sender_of(struct msghdr *header)
{
    for (struct cmsghdr *item = CMSG_FIRSTHDR(header); item; item = CMSG_NXTHDR(header, item)) {
        if (item->cmsg_level == SOL_SOCKET && item->cmsg_type == SCM_CREDENTIALS) {
            struct ucred who;

            memcpy(&who, CMSG_DATA(item), sizeof who);
            return who.pid;
        }
    }
    return 0;
}

static bool is_terminal(const struct stream *stream)
{
    return stream - stream->agent->relay->streams >= SOCKETS;
}

/* The number of supersteps that all processes of this host have completed. */
static uint64_t passed(const struct agent *agent)
{
    uint64_t least = UINT64_MAX;

    for (int pid = 0; pid < agent_nprocs(agent); pid++) {
        const struct bspz_rank *rank = bspz_rank_of(agent_board(agent), pid);

        if (!agent_is_here(agent, pid))
            continue;
        uint64_t even = atomic_load(&rank->line[0].stamp), odd = atomic_load(&rank->line[1].stamp);
        uint64_t stamp = even > odd ? even : odd;

        if (stamp < least)
            least = stamp;
    }
    return least;
}

static void raise_superstep(struct agent *agent)
{
    uint64_t now = agent_has_peers(agent) && agent_here(agent) > 0 ? passed(agent) : 0;

    if (now > agent->relay->superstep)
        agent->relay->superstep = now;
}

/* With several hosts, output of process 0 here comes after the last superstep. */
static ssize_t read_terminal(struct stream *stream, int *pid)
{
    ssize_t got;

    do
        got = read(stream->reader, stream->agent->relay->chunk, sizeof stream->agent->relay->chunk);
    while (got < 0 && errno == EINTR);
    if (got > 0)
        raise_superstep(stream->agent);
    *pid = 0;
    return got;
}

/* Several hosts: ranks do not arrive at a barrier before their output is read, so the contents of
 * the stream are of the present superstep.  Returns their size, or the result of recv. */
static ssize_t note_superstep(const struct stream *stream)
{
    struct agent *agent = stream->agent;
    ssize_t most = sizeof agent->relay->chunk, got;
    int waiting;
    char byte;

    if (!agent_has_peers(agent) || agent_here(agent) == 0)
        return most;
    got = recv(stream->reader, &byte, 1, MSG_PEEK | MSG_DONTWAIT);
    if (got <= 0)
        return got;
    if (ioctl(stream->reader, SIOCINQ, &waiting) == 0 && waiting > 0 && waiting < most)
        most = waiting;
    raise_superstep(agent);
    return most;
}

static ssize_t read_socket(struct stream *stream, int *pid)
{
    struct agent *agent = stream->agent;
    ssize_t most = note_superstep(stream);
    char control[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(64 * sizeof(int))];
    struct iovec room = {agent->relay->chunk, (size_t)most};
    struct msghdr header = {.msg_iov = &room,
                            .msg_iovlen = 1,
                            .msg_control = control,
                            .msg_controllen = sizeof control};
    ssize_t got;

    *pid = -1;
    if (most <= 0)
        return most;
    do
        got = recvmsg(stream->reader, &header, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    while (got < 0 && errno == EINTR);
    *pid = got > 0 ? writer_rank(agent, sender_of(&header)) : -1;
    return got;
}

/* Reads one piece; false: there is none now. */
static bool read_piece(struct stream *stream)
{
    struct agent *agent = stream->agent;
    struct wire_message message = {.kind = WIRE_OUTPUT};
    bool differs = false;
    size_t known;
    int pid;
    ssize_t got = is_terminal(stream) ? read_terminal(stream, &pid) : read_socket(stream, &pid);

    if (got <= 0) {
        stream->ended |= got == 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
        return false;
    }
    known = repeats_take(agent->relay->repeats, pid, stream->number, agent->relay->chunk,
                         (size_t)got, &differs);
    if (differs)
        agent_notice(agent,
                     "process %d has not written the same output as before it was restarted: "
                     "some of it may be missing",
                     pid);
    if (known == (size_t)got)
        return true;
    message.envelope.superstep = agent->relay->superstep;
    message.output.pid = pid;
    message.output.stream = (uint32_t)stream->number;
    message.output.data =
        (struct wire_bytes){agent->relay->chunk + known, (uint32_t)((size_t)got - known)};
    agent->relay->counts[stream->number - 1] += (uint64_t)got - known;
    agent_send(agent, &message);
    return true;
}

static bool queue_full(const struct agent *agent)
{
    return agent_control(agent) && net_queued(agent_control(agent)) > QUEUE_HIGH;
}

/* Beyond this limit even output that must be passed on now could be lost. */
static bool queue_overfull(const struct agent *agent)
{
    return agent_control(agent) && net_queued(agent_control(agent)) > QUEUE_TOP;
}

static void on_readable(uv_poll_t *handle, int status, int events);

static void listen_on(struct stream *stream)
{
    if (!stream->ended && stream->open)
        uv_poll_start(&stream->poll, UV_READABLE, on_readable);
}

static void pause_reading(struct agent *agent)
{
    agent->relay->paused = true;
    for (int i = 0; i < STREAMS; i++)
        if (agent->relay->streams[i].open)
            uv_poll_stop(&agent->relay->streams[i].poll);
}

/* Reads everything; false: bsprun must take some of it first. */
static bool read_all(struct stream *stream)
{
    while (!stream->ended && stream->open) {
        if (queue_full(stream->agent))
            return false;
        if (!read_piece(stream))
            break;
    }
    return true;
}

/* Process 0 writes to its terminal before bsp_begin, when there is no other output, and after
 * bsp_end: the ranks' output up to then comes first. */
static bool read_sockets_first(const struct stream *stream)
{
    struct agent_relay *relay = stream->agent->relay;

    return !is_terminal(stream) || (read_all(&relay->streams[0]) && read_all(&relay->streams[1]));
}

/* Processes that write no more in those supersteps have written all of it before `now` is known. */
static void close_supersteps(struct agent *agent)
{
    uint64_t now = agent_here(agent) > 0 ? passed(agent) : 0;

    if (now <= agent->relay->superstep)
        return;
    agent_relay_pass_on(agent);
    if (!queue_overfull(agent))
        agent->relay->superstep = now;
}

bool agent_relay_passed(struct agent *agent, uint64_t superstep)
{
    if (agent->relay && agent_nprocs(agent) > 0 && !queue_overfull(agent))
        close_supersteps(agent);
    return agent_nprocs(agent) > 0 &&
           (agent_here(agent) == 0 || !agent->relay || agent->relay->superstep > superstep);
}

static void on_readable(uv_poll_t *handle, int status, int events)
{
    struct stream *stream = handle->data;
    struct agent *agent = stream->agent;

    (void)status;
    (void)events;
    if (queue_full(agent) || !read_sockets_first(stream)) {
        pause_reading(agent);
        return;
    }
    read_piece(stream);
    if (stream->ended)
        uv_poll_stop(handle);
}

static int open_poll(struct stream *stream)
{
    int error = uv_poll_init(agent_loop(stream->agent), &stream->poll, stream->reader);

    if (error)
        return error;
    stream->poll.data = stream;
    stream->open = true;
    listen_on(stream);
    return 0;
}

static int open_socket(struct agent *agent, struct stream *stream, int number)
{
    int ends[2];
    const int on = 1;

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
        return -errno;
    stream->agent = agent;
    stream->number = number;
    stream->reader = ends[0];
    stream->writer = ends[1];
    if (setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0)
        return -errno;
    shutdown(ends[0], SHUT_WR);
    return open_poll(stream);
}

/* Output to /dev/null is not relayed: the program gets /dev/null, too. */
static int open_null(struct agent *agent, struct stream *stream, int number)
{
    stream->agent = agent;
    stream->number = number;
    stream->writer = open("/dev/null", O_WRONLY | O_CLOEXEC);
    return stream->writer < 0 ? -errno : 0;
}

/* Without pseudo terminals the program gets the common stream. */
static void open_terminal(struct agent *agent, struct stream *stream, int number,
                          const struct wire_start *start)
{
    struct stream *socket = &agent->relay->streams[number - 1];

    if (terminal_open(start->rows, start->columns, &stream->reader, &stream->writer) != 0)
        return;
    stream->agent = agent;
    stream->number = number;
    if (open_poll(stream) != 0)
        return;
    socket->writer = bspz_move_to_top(socket->writer);
    agent_board(agent)->relay_terminal[number - 1] = terminal_device(stream->writer);
    agent_board(agent)->relay_fd[number - 1] = socket->writer;
}

int agent_relay_open(struct agent *agent, const struct wire_start *start)
{
    agent->relay = calloc(1, sizeof *agent->relay);
    if (!agent->relay)
        return -ENOMEM;
    for (int i = 0; i < STREAMS; i++)
        agent->relay->streams[i].reader = agent->relay->streams[i].writer = -1;
    for (int i = 0; i < SOCKETS; i++) {
        int error = start->discards & 1u << i
                        ? open_null(agent, &agent->relay->streams[i], i + 1)
                        : open_socket(agent, &agent->relay->streams[i], i + 1);

        if (error)
            return error;
        if (start->terminals & 1u << i)
            open_terminal(agent, &agent->relay->streams[SOCKETS + i], i + 1, start);
    }
    return 0;
}

int agent_relay_writer(const struct agent *agent, int stream)
{
    const struct stream *terminal = &agent->relay->streams[SOCKETS + stream - 1];

    return terminal->open ? terminal->writer : agent->relay->streams[stream - 1].writer;
}

int agent_relay_writer_of_ranks(const struct agent *agent, int stream)
{
    const struct agent_relay *relay = agent->relay;

    return relay && relay->streams[SOCKETS + stream - 1].open ? relay->streams[stream - 1].writer
                                                              : -1;
}

int agent_relay_socket(const struct agent *agent, int stream)
{
    const struct agent_relay *relay = agent->relay;

    return relay ? relay->streams[stream - 1].writer : -1;
}

/* The writing end of a terminal stays open, as its reader would see an error whenever it has no
 * writer.  All stay open for processes to be restored. */
void agent_relay_started(struct agent *agent)
{
    for (int i = 0; agent->relay && !agent_has_snapshots(agent) && i < SOCKETS; i++) {
        close(agent->relay->streams[i].writer);
        agent->relay->streams[i].writer = -1;
    }
}

int agent_relay_reader(const struct agent *agent, int stream)
{
    const struct agent_relay *relay = agent->relay;

    return relay ? relay->streams[stream - 1].reader : -1;
}

bool agent_relay_drained(struct agent *agent)
{
    if (!agent->relay)
        return true;
    for (int i = 0; i < STREAMS; i++) {
        if (!read_all(&agent->relay->streams[i])) {
            agent->relay->paused = agent->relay->finishing = true;
            return false;
        }
    }
    return true;
}

void agent_relay_pass_on(struct agent *agent)
{
    for (int i = 0; agent->relay && i < STREAMS; i++) {
        struct stream *stream = &agent->relay->streams[i];

        while (stream->open && !queue_overfull(agent) && read_piece(stream))
            continue;
    }
}

void agent_relay_counts(const struct agent *agent, uint64_t counts[SOCKETS])
{
    for (int i = 0; i < SOCKETS; i++)
        counts[i] = agent->relay ? agent->relay->counts[i] : 0;
}

void agent_relay_set_superstep(struct agent *agent, uint64_t superstep)
{
    if (agent->relay)
        agent->relay->superstep = superstep;
}

void agent_relay_set_counts(struct agent *agent, const uint64_t counts[SOCKETS])
{
    for (int i = 0; agent->relay && i < SOCKETS; i++)
        agent->relay->counts[i] = counts[i];
    if (agent->relay)
        repeats_clear(agent->relay->repeats);
}

/* ---- Processes that are restarted alone (repeats.h) ---- */

bool agent_relay_watch(struct agent *agent)
{
    if (agent->relay && !agent->relay->repeats)
        agent->relay->repeats = repeats_new((uint32_t)agent_nprocs(agent));
    return !agent->relay || agent->relay->repeats;
}

/* Whether the streams of the ranks are empty. */
static bool is_passed_on(struct agent *agent)
{
    agent_relay_pass_on(agent);
    for (int i = 0; i < SOCKETS; i++) {
        const struct stream *stream = &agent->relay->streams[i];
        int waiting;

        if (stream->open && !stream->ended && ioctl(stream->reader, SIOCINQ, &waiting) == 0 &&
            waiting > 0)
            return false;
    }
    return true;
}

bool agent_relay_saving(struct agent *agent, int pid)
{
    if (!agent->relay)
        return true;
    if (!is_passed_on(agent))
        return false;
    repeats_mark(agent->relay->repeats, pid);
    return true;
}

void agent_relay_saved(struct agent *agent, int pid)
{
    if (agent->relay)
        repeats_forget(agent->relay->repeats, pid);
}

bool agent_relay_again(struct agent *agent, int pid)
{
    if (!agent->relay)
        return true;
    if (!is_passed_on(agent))
        return false;
    repeats_begin(agent->relay->repeats, pid);
    return true;
}

/* The kernel buffers less for a terminal than the queue has room for. */
void agent_relay_begin(struct agent *agent)
{
    for (int i = SOCKETS; agent->relay && i < STREAMS; i++)
        while (agent->relay->streams[i].open && read_piece(&agent->relay->streams[i]))
            continue;
}

void agent_relay_resize(struct agent *agent, unsigned rows, unsigned columns)
{
    for (int i = SOCKETS; agent->relay && i < STREAMS; i++)
        if (agent->relay->streams[i].open)
            terminal_resize(agent->relay->streams[i].reader, rows, columns);
}

void agent_relay_resume(struct agent *agent)
{
    if (!agent->relay || !agent->relay->paused)
        return;
    agent->relay->paused = false;
    if (agent->relay->finishing) {
        agent_post(agent, AGENT_JOB_OVER);
        return;
    }
    for (int i = 0; i < STREAMS; i++)
        listen_on(&agent->relay->streams[i]);
}

static void close_ends(struct stream *stream)
{
    if (stream->reader >= 0)
        close(stream->reader);
    if (stream->writer >= 0)
        close(stream->writer);
    stream->reader = stream->writer = -1;
}

static void on_closed(uv_handle_t *handle)
{
    close_ends(handle->data);
}

void agent_relay_close(struct agent *agent)
{
    for (int i = 0; agent->relay && i < STREAMS; i++) {
        struct stream *stream = &agent->relay->streams[i];

        if (stream->open)
            uv_close((uv_handle_t *)&stream->poll, on_closed);
        else
            close_ends(stream);
        stream->open = false;
    }
}

void agent_relay_free(struct agent *agent)
{
    if (agent->relay)
        repeats_free(agent->relay->repeats);
    free(agent->relay);
    agent->relay = NULL;
}
