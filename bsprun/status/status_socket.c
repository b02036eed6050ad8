/* status_socket.c - bsprun's answers to bspstat, bspctl and bspkill; see status_socket.h.
 *
 * Happy path: a connection -> its request -> agents are asked -> all have answered (twice if a rate
 * is needed) -> the answer is written, or what was asked for begins -> the connection closes.
 *
 * What can fail: a client sends nothing, too much or does not read (dropped after a timeout);
 * agents do not answer in time (answered without them).
 */
#include "bsprun/status/status_socket.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bsprun/status/status_directory.h"
#include "bsprun/status/status_metrics.h"
#include "lib/base/buffer.h"
#include "lib/base/clock.h"

#define CLIENTS_MAX 16u
#define REQUEST_MAX 800u /* a host's name, too, or numbers of replicas */
#define DEADLINE_MS 10000u
#define ANSWER_MS   1000u /* timeout for agents */
#define RATE_MS     250u  /* least time between the two samples of a rate */
#define RATE_OLD_MS 5000u /* an older sample is not used */
#define CHECK_MS    10000u

enum client_state {
    CLIENT_READING,
    CLIENT_WAITING,   /* for the agents: a question */
    CLIENT_DECIDING,  /* the same: an order that depends on what they say */
    CLIENT_GATHERING, /* for the stacks */
    CLIENT_WRITING,
    CLIENT_STAYING
};

struct client {
    struct status_socket *status;
    struct client *next;
    enum client_state state;
    enum status_request request; /* that it awaits; also before the answer is written */
    bool asked;
    struct status_order order; /* what it has asked for; its host may be in `line` */
    char *outcome;             /* of what it has asked for; NULL: none yet */
    bool told;                 /* the outcome is being written, or has been */
    char *(*format)(const struct status_facts *facts);
    char line[REQUEST_MAX];
    size_t size;
    char *answer;
    uv_pipe_t pipe;
    uv_timer_t deadline;
    uv_write_t write;
    unsigned open_handles;
};

/* A sample of the job's progress. */
struct look {
    uint64_t ms, superstep;
};

struct status_socket {
    const struct status_calls *calls;
    void *context;
    uv_loop_t *loop;
    char path[STATUS_PATH_MAX];
    uv_pipe_t server;
    bool serves;      /* the handle of the server is open, or closes */
    uv_timer_t timer; /* timeout of agents, or time of the second sample */
    uv_timer_t check; /* whether the socket can still be found */
    unsigned open_handles;
    bool closing;
    struct client *clients;
    uint32_t client_count;

    bool looking;
    uint32_t awaited;           /* answers still awaited */
    bool heard[WIRE_HOSTS_MAX]; /* hosts that have answered */
    bool second;                /* this is the second sample */
    struct look last;
    double rate;
    uint32_t processes;
    double seconds;
    struct status_rank *ranks;
    uint32_t rank_count;
    struct status_coming *coming;
    uint32_t coming_count;
};

/* ---- Memory ---------------------------------------------------------------------------------- */

static void free_ranks(struct status_socket *status)
{
    for (uint32_t i = 0; i < status->rank_count; i++) {
        free((char *)status->ranks[i].function);
        free((char *)status->ranks[i].file);
    }
    status->rank_count = status->coming_count = 0;
}

static void free_if_closed(struct status_socket *status)
{
    if (!status->closing || status->open_handles > 0 || status->clients)
        return;
    free_ranks(status);
    free(status->ranks);
    free(status->coming);
    free(status);
}

static void on_own_handle_closed(uv_handle_t *handle)
{
    struct status_socket *status = handle->data;

    status->open_handles--;
    free_if_closed(status);
}

static void on_client_handle_closed(uv_handle_t *handle)
{
    struct client *client = handle->data;
    struct status_socket *status = client->status;
    struct client **link = &status->clients;

    if (--client->open_handles > 0)
        return;
    while (*link != client)
        link = &(*link)->next;
    *link = client->next;
    status->client_count--;
    free(client->answer);
    free(client->outcome);
    free(client);
    free_if_closed(status);
}

static void drop(struct client *client)
{
    if (uv_is_closing((uv_handle_t *)&client->pipe))
        return;
    uv_close((uv_handle_t *)&client->pipe, on_client_handle_closed);
    uv_close((uv_handle_t *)&client->deadline, on_client_handle_closed);
}

/* ---- Answers --------------------------------------------------------------------------------- */

static void tell_outcome(struct client *client);

static void on_deadline(uv_timer_t *timer)
{
    drop(timer->data);
}

static void on_written(uv_write_t *write, int error)
{
    struct client *client = write->data;

    if (error || client->state != CLIENT_STAYING) {
        drop(client);
        return;
    }
    uv_timer_stop(&client->deadline);
    if (client->outcome)
        tell_outcome(client);
}

/* Takes ownership of the text. */
static void answer(struct client *client, char *text, enum client_state then)
{
    uv_buf_t bytes = uv_buf_init(text, text ? (unsigned)strlen(text) : 0);

    client->state = then;
    free(client->answer);
    client->answer = text;
    client->write.data = client;
    if (!text || uv_write(&client->write, (uv_stream_t *)&client->pipe, &bytes, 1, on_written) != 0)
        drop(client);
}

static void tell_outcome(struct client *client)
{
    char *text = client->outcome;

    client->outcome = NULL;
    client->told = true;
    uv_timer_start(&client->deadline, on_deadline, DEADLINE_MS, 0);
    answer(client, text, CLIENT_WRITING);
}

/* Whether the client waits for the outcome of such a request. */
static bool awaits(const struct client *client, unsigned kinds)
{
    return client->state == CLIENT_STAYING && client->asked && !client->outcome && !client->told &&
           kinds & 1u << client->request;
}

static void take_outcome(struct client *client, const char *text)
{
    if (asprintf(&client->outcome, "%s\n", text) < 0)
        client->outcome = NULL;
    else if (!uv_is_active((uv_handle_t *)&client->deadline)) /* "ok" has been written */
        tell_outcome(client);
}

void status_socket_tell_all(struct status_socket *status, unsigned kinds, const char *outcome)
{
    for (struct client *client = status ? status->clients : NULL; client; client = client->next)
        if (awaits(client, kinds))
            take_outcome(client, outcome);
}

void status_socket_done(struct status_socket *status, unsigned kinds)
{
    status_socket_tell_all(status, kinds, "done");
}

void status_socket_tell_others(struct status_socket *status, unsigned kinds, const char *but,
                               const char *outcome)
{
    for (struct client *client = status ? status->clients : NULL; client; client = client->next)
        if (awaits(client, kinds) && strcmp(client->order.host, but) != 0)
            take_outcome(client, outcome);
}

void status_socket_tell_move(struct status_socket *status, uint32_t pid, const char *but,
                             const char *outcome)
{
    for (struct client *client = status ? status->clients : NULL; client; client = client->next)
        if (awaits(client, 1u << STATUS_MOVE) && client->order.pid == pid &&
            !(but && strcmp(client->order.host, but) == 0))
            take_outcome(client, outcome);
}

void status_socket_tell(struct status_socket *status, unsigned kinds, const char *host,
                        const char *outcome)
{
    for (struct client *client = status ? status->clients : NULL; client; client = client->next)
        if (awaits(client, kinds) && strcmp(client->order.host, host) == 0)
            take_outcome(client, outcome);
}

static int by_host(const void *a, const void *b)
{
    const struct status_coming *left = a, *right = b;
    int order = (left->host > right->host) - (left->host < right->host);

    if (order == 0)
        order = strcmp(left->state, right->state);
    if (order == 0)
        order = (left->superstep > right->superstep) - (left->superstep < right->superstep);
    return order != 0 ? order : (left->pid > right->pid) - (left->pid < right->pid);
}

static void answer_all(struct status_socket *status)
{
    struct status_facts facts = {.program = "", .directory = "", .job = "", .zero = "", .rate = -1};

    status->calls->describe(status->context, &facts);
    facts.processes = status->processes;
    facts.seconds = status->seconds;
    facts.ranks = status->ranks;
    facts.rank_count = status->rank_count;
    if (status->coming_count > 0)
        qsort(status->coming, status->coming_count, sizeof *status->coming, by_host);
    facts.coming = status->coming;
    facts.coming_count = status->coming_count;
    facts.rate = status->rate;
    for (struct client *client = status->clients; client; client = client->next)
        if (client->state == CLIENT_WAITING)
            answer(client, client->format(&facts), CLIENT_WRITING);
}

void status_socket_give_stacks(struct status_socket *status, const char *text)
{
    for (struct client *client = status ? status->clients : NULL; client; client = client->next) {
        if (client->state != CLIENT_GATHERING || uv_is_closing((uv_handle_t *)&client->pipe))
            continue;
        uv_timer_start(&client->deadline, on_deadline, DEADLINE_MS, 0);
        answer(client, text ? strdup(text) : NULL, CLIENT_WRITING);
    }
}

/* ---- Orders ---------------------------------------------------------------------------------- */

static void carry_out(struct client *client)
{
    struct status_socket *status = client->status;
    struct status_order *order = &client->order;
    char *text = NULL;

    client->request = order->what;
    client->asked = true;
    client->state = CLIENT_STAYING; /* it may have failed before the request returns */
    const char *why_not = status->calls->request(status->context, order);
    const char *already = why_not ? NULL : order->already;
    if (asprintf(&text, "%s%s\n", already ? "already " : "",
                 why_not   ? why_not
                 : already ? already
                           : "ok") < 0)
        text = NULL;
    answer(client, text, why_not || already ? CLIENT_WRITING : CLIENT_STAYING);
}

/* Those that waited for what the agents say. */
static void carry_out_all(struct status_socket *status)
{
    for (struct client *client = status->clients; client; client = client->next)
        if (client->state == CLIENT_DECIDING && !uv_is_closing((uv_handle_t *)&client->pipe))
            carry_out(client);
}

static bool is_asked(const struct status_socket *status)
{
    const struct client *client = status->clients;

    while (client && client->state != CLIENT_WAITING)
        client = client->next;
    return client;
}

/* ---- Looks ----------------------------------------------------------------------------------- */

static void look(struct status_socket *status);

static void on_second_look(uv_timer_t *timer)
{
    look(timer->data);
}

/* No more answers are expected. */
static void finish_look(struct status_socket *status)
{
    uint64_t now = uv_now(status->loop), passed = now - status->last.ms;
    status_compare(status->ranks, status->rank_count);
    uint64_t superstep = status_superstep(status->ranks, status->rank_count);
    bool known = status->rank_count > 0;

    uv_timer_stop(&status->timer);
    status->looking = false;
    carry_out_all(status);
    status->rate = -1;
    if (known && status->last.ms > 0 && passed >= RATE_MS && passed <= RATE_OLD_MS &&
        superstep >= status->last.superstep)
        status->rate = (double)(superstep - status->last.superstep) * 1000 / (double)passed;
    bool again = known && status->rate < 0 && !status->second && is_asked(status);
    if (known && (status->last.ms == 0 || passed >= RATE_MS))
        status->last = (struct look){now, superstep};
    status->second = again;
    if (again)
        uv_timer_start(&status->timer, on_second_look, RATE_MS, 0);
    else
        answer_all(status);
}

static void on_no_answer(uv_timer_t *timer)
{
    finish_look(timer->data);
}

static void look(struct status_socket *status)
{
    free_ranks(status);
    memset(status->heard, 0, sizeof status->heard);
    status->looking = true;
    status->awaited = status->calls->ask(status->context, is_asked(status));
    uv_timer_start(&status->timer, on_no_answer, status->awaited > 0 ? ANSWER_MS : 0, 0);
}

static bool add_rank(struct status_socket *status, uint32_t host, const struct wire_where *where)
{
    if (!BSPZ_GROW(status->ranks, status->rank_count))
        return false;
    struct status_rank *rank = &status->ranks[status->rank_count];

    *rank = (struct status_rank){.pid = where->pid,
                                 .host = host,
                                 .state = wire_rank_state_text(where->state),
                                 .superstep = where->superstep,
                                 .function = strdup(where->function),
                                 .file = strdup(where->file),
                                 .line = where->line,
                                 .os_pid = where->os_pid,
                                 .memory = where->memory,
                                 .computing = (double)where->compute_ns / BSPZ_NS_PER_S,
                                 .communicating = (double)where->communicate_ns / BSPZ_NS_PER_S,
                                 .waiting = (double)where->wait_ns / BSPZ_NS_PER_S};
    if (rank->function && rank->file) {
        status->rank_count++;
        return true;
    }
    free((char *)rank->function);
    free((char *)rank->file);
    return false;
}

static bool add_coming(struct status_socket *status, uint32_t host, const struct wire_coming *one)
{
    if (!BSPZ_GROW(status->coming, status->coming_count))
        return false;
    status->coming[status->coming_count++] = (struct status_coming){
        one->pid, host, wire_coming_text(one->state), one->superstep, one->memory};
    return true;
}

void status_socket_take(struct status_socket *status, const struct wire_status *message)
{
    if (!status || !status->looking || status->heard[message->host])
        return;
    /* A job has as many all the time, and an agent that has just come knows of none yet. */
    if (message->processes > status->processes)
        status->processes = message->processes;
    status->heard[message->host] = true;
    if (message->seconds > status->seconds)
        status->seconds = message->seconds;
    for (uint32_t i = 0; i < message->ranks.count; i++)
        if (!add_rank(status, message->host, &message->ranks.items[i]))
            break;
    for (uint32_t i = 0; i < message->coming.count; i++)
        if (!add_coming(status, message->host, &message->coming.items[i]))
            break;
    if (status->awaited > 0)
        status->awaited--;
    if (status->awaited == 0)
        finish_look(status);
}

/* ---- Questions ------------------------------------------------------------------------------- */

static const struct question {
    const char *word;
    char *(*format)(const struct status_facts *facts); /* of a question */
    enum status_request request;                       /* else */
    bool names_host, names_pid;
    bool asks_agents; /* before the request is carried out */
    bool gathers;     /* the stacks */
} questions[] = {
    {.word = "status", .format = status_text},
    {.word = "json", .format = status_json},
    {.word = "metrics", .format = status_metrics},
    {.word = "hosts", .format = status_hosts_text},
    {.word = "stacks", .gathers = true},
    {.word = "stop", .request = STATUS_STOP},
    {.word = "kill", .request = STATUS_KILL},
    {.word = "save", .request = STATUS_SAVE},
    {.word = "snapshot", .request = STATUS_SNAPSHOT},
    {.word = "drain", .request = STATUS_DRAIN, .names_host = true, .asks_agents = true},
    {.word = "remove", .request = STATUS_REMOVE, .names_host = true, .asks_agents = true},
    {.word = "open", .request = STATUS_OPEN, .names_host = true},
    {.word = "place", .request = STATUS_PLACE, .asks_agents = true},
    {.word = "replicas", .request = STATUS_REPLICAS, .names_host = true, .asks_agents = true},
    {.word = "move",
     .request = STATUS_MOVE,
     .names_host = true,
     .names_pid = true,
     .asks_agents = true},
};

/* Takes a line apart, in place.  NULL: it is no request. */
static const struct question *parse(char *line, struct status_order *order)
{
    char *host = strchr(line, ' '), *pid = host ? strchr(host + 1, ' ') : NULL, *end = NULL;

    if (host)
        *host++ = '\0';
    if (pid)
        *pid++ = '\0';
    *order = (struct status_order){.host = host ? host : ""};
    unsigned long number = pid ? strtoul(pid, &end, 10) : 0;
    if (pid && (end == pid || *end || number > UINT32_MAX))
        return NULL;
    order->pid = (uint32_t)number;
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        if (strcmp(questions[i].word, line) == 0 && questions[i].names_host == (host != NULL) &&
            questions[i].names_pid == (pid != NULL)) {
            order->what = questions[i].request;
            return &questions[i];
        }
    return NULL;
}

static void obey(struct client *client)
{
    struct status_socket *status = client->status;
    const struct question *question = parse(client->line, &client->order);

    if (!question) {
        drop(client);
        return;
    }
    if (question->gathers) {
        client->state = CLIENT_GATHERING;
        uv_timer_start(&client->deadline, on_deadline, STATUS_STACKS_MS + DEADLINE_MS, 0);
        status->calls->stacks(status->context);
        return;
    }
    if (!question->format && !question->asks_agents) {
        carry_out(client);
        return;
    }
    client->format = question->format;
    client->state = question->format ? CLIENT_WAITING : CLIENT_DECIDING;
    if (!status->looking && (!question->format || !uv_is_active((uv_handle_t *)&status->timer)))
        look(status);
}

static void on_room(uv_handle_t *handle, size_t suggested, uv_buf_t *buffer)
{
    struct client *client = handle->data;

    (void)suggested;
    *buffer = uv_buf_init(client->line + client->size, (unsigned)(REQUEST_MAX - 1 - client->size));
}

static void on_bytes(uv_stream_t *stream, ssize_t size, const uv_buf_t *buffer)
{
    struct client *client = stream->data;
    char *newline;

    (void)buffer;
    if (size == 0)
        return;
    if (size < 0 || client->state != CLIENT_READING) {
        drop(client);
        return;
    }
    client->size += (size_t)size;
    client->line[client->size] = '\0';
    newline = strchr(client->line, '\n');
    if (newline) {
        *newline = '\0';
        client->size = 0;
        obey(client);
    } else if (client->size == REQUEST_MAX - 1 || strlen(client->line) < client->size) {
        drop(client);
    }
}

/* Root may ask, too. */
static bool is_allowed(const uv_pipe_t *pipe)
{
    struct ucred peer;
    socklen_t size = sizeof peer;
    uv_os_fd_t fd;

    return uv_fileno((const uv_handle_t *)pipe, &fd) == 0 &&
           getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (peer.uid == geteuid() || peer.uid == 0);
}

static void on_connection(uv_stream_t *server, int error)
{
    struct status_socket *status = server->data;
    struct client *client = error ? NULL : calloc(1, sizeof *client);

    if (!client)
        return;
    client->status = status;
    client->next = status->clients;
    status->clients = client;
    status->client_count++;
    uv_pipe_init(status->loop, &client->pipe, 0);
    uv_timer_init(status->loop, &client->deadline);
    client->open_handles = 2;
    client->pipe.data = client->deadline.data = client;
    bool good = uv_accept(server, (uv_stream_t *)&client->pipe) == 0 && is_allowed(&client->pipe);
    if (good && status->client_count > CLIENTS_MAX) {
        uv_buf_t line = uv_buf_init((char *)STATUS_BUSY "\n", sizeof STATUS_BUSY);

        uv_try_write((uv_stream_t *)&client->pipe, &line, 1); /* there is room in a new socket */
        good = false;
    }
    if (!good || uv_read_start((uv_stream_t *)&client->pipe, on_room, on_bytes) != 0) {
        drop(client);
        return;
    }
    uv_timer_start(&client->deadline, on_deadline, DEADLINE_MS, 0);
    /* Clients must not keep bsprun running. */
    uv_unref((uv_handle_t *)&client->pipe);
    uv_unref((uv_handle_t *)&client->deadline);
}

/* ---- Life ------------------------------------------------------------------------------------ */

static void on_server_closed(uv_handle_t *handle)
{
    struct status_socket *status = handle->data;

    status->serves = false;
    on_own_handle_closed(handle);
}

static bool serve(struct status_socket *status)
{
    int fd = status_directory_listen(status->path);

    if (fd < 0)
        return false;
    uv_pipe_init(status->loop, &status->server, 0);
    status->server.data = status;
    status->serves = true;
    status->open_handles++;
    if (uv_pipe_open(&status->server, fd) != 0)
        close(fd);
    else if (uv_listen((uv_stream_t *)&status->server, (int)CLIENTS_MAX, on_connection) == 0) {
        uv_unref((uv_handle_t *)&status->server);
        return true;
    }
    status_directory_leave(status->path);
    uv_close((uv_handle_t *)&status->server, on_server_closed);
    return false;
}

static void on_lost_server_closed(uv_handle_t *handle)
{
    struct status_socket *status = handle->data;

    status->serves = false;
    status->open_handles--;
    if (status->closing)
        free_if_closed(status);
    else
        serve(status);
}

/* A socket that has been removed, or could not be made then, is made where that is possible now. */
static void on_check(uv_timer_t *timer)
{
    struct status_socket *status = timer->data;

    if (!status->serves)
        serve(status);
    else if (!uv_is_closing((uv_handle_t *)&status->server) &&
             status_directory_is_gone(status->path))
        uv_close((uv_handle_t *)&status->server, on_lost_server_closed);
}

struct status_socket *status_socket_open(uv_loop_t *loop, const struct status_calls *calls,
                                         void *context)
{
    struct status_socket *status = calloc(1, sizeof *status);

    if (!status)
        return NULL;
    status->calls = calls;
    status->context = context;
    status->loop = loop;
    if (!serve(status) && !status->serves) {
        free(status);
        return NULL;
    }
    uv_timer_init(loop, &status->timer);
    uv_timer_init(loop, &status->check);
    status->open_handles += 2;
    status->timer.data = status->check.data = status;
    uv_timer_start(&status->check, on_check, CHECK_MS, CHECK_MS);
    uv_unref((uv_handle_t *)&status->timer);
    uv_unref((uv_handle_t *)&status->check);
    return status;
}

void status_socket_close(struct status_socket *status)
{
    if (!status || status->closing)
        return;
    status->closing = true;
    status_directory_leave(status->path);
    if (status->serves && !uv_is_closing((uv_handle_t *)&status->server))
        uv_close((uv_handle_t *)&status->server, on_server_closed);
    uv_close((uv_handle_t *)&status->timer, on_own_handle_closed);
    uv_close((uv_handle_t *)&status->check, on_own_handle_closed);
    for (struct client *client = status->clients; client; client = client->next)
        if (client->state != CLIENT_STAYING)
            drop(client);
}
