/* link_play.c - see link_play.h. */
#include "tests/unit/link_play.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bsprun/link/mirror_inside.h"

static const int host_of[PROCS] = {0, 0, 1, 1};

uv_loop_t loop;
struct end ends[2];
int fds[2], outputs[2];
uint64_t spin_ns;
uint32_t heartbeat_ms;
bool has_third;
static int open_before;
static pthread_t loop_thread;
const struct net_session sessions[2] = {
    {"from a to b, a key of 32 bytes.", "from b to a, a key of 32 bytes."},
    {"from b to a, a key of 32 bytes.", "from a to b, a key of 32 bytes."},
};

static int count_descriptors(void)
{
    DIR *directory = opendir("/proc/self/fd");
    int count = 0;

    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

void close_end(struct end *end)
{
    links_close(end->links);
    end->links = NULL;
}

static void on_message(void *context, uint32_t host, const struct wire_message *message)
{
    struct end *end = context;

    ck_assert_msg(pthread_equal(pthread_self(), loop_thread), "by a thread that is not the loop's");
    ck_assert_uint_eq(host, end == &ends[0] ? 1 : 0);
    ck_assert_int_eq((int)message->kind, WIRE_INPUT);
    ck_assert_uint_eq(message->input.position, end->next);
    end->next++;
    end->messages++;
    if (end->at_message)
        end->at_message();
    if (end->close_at_message)
        close_end(end);
    if (end->break_at_message)
        links_break(end->links, host, "enough of it");
}

static void on_lost(void *context, uint32_t host, const char *text)
{
    struct end *end = context;

    (void)host;
    end->lost++;
    snprintf(end->why, sizeof end->why, "%s", text);
    if (end->close_at_lost)
        close_end(end);
}

static void on_arrived(void *context, uint64_t superstep)
{
    struct end *end = context;
    char byte;

    end->arrived++;
    end->arrived_at = superstep;
    ck_assert_int_eq(read(outputs[0], &byte, 1), 1);
    for (int pid = 0; pid < 2; pid++)
        ck_assert_msg(
            atomic_load(&bspz_rank_of(ends[1].at.board, pid)->line[superstep & 1].stamp) <=
                superstep,
            "the superstep left before its output was taken");
}

static const struct links_calls calls = {on_message, on_lost, on_arrived};

void open_end(int which, bool encrypt, bool with_output)
{
    const struct links_peer peers[2] = {{which == 0, ""}, {2, ""}};
    struct links_setup setup = {.loop = &loop,
                                .host = (uint32_t)which,
                                .peers = peers,
                                .peer_count = has_third ? 2 : 1,
                                .encrypt = encrypt,
                                .heartbeat_ms = heartbeat_ms,
                                .bell = &ends[which].bell,
                                .spin_ns = spin_ns,
                                .outputs = {with_output ? outputs[0] : -1, -1}};

    ends[which].links = links_open(&setup, &calls, &ends[which]);
    ck_assert_ptr_nonnull(ends[which].links);
}

void take(int which)
{
    links_take(ends[which].links, which == 0, fds[which], &sessions[which]);
    fds[which] = -1;
}

void mirror(int which)
{
    ck_assert_int_eq(links_mirror(ends[which].links, ends[which].at.fd, PROCS, NULL), 0);
}

void link_set_up(void)
{
    signal(SIGPIPE, SIG_IGN);
    loop_thread = pthread_self();
    ck_assert_int_eq(uv_loop_init(&loop), 0);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
    open_before = count_descriptors();
    ck_assert_int_eq(uv_loop_init(&loop), 0);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
    ck_assert_int_eq(pipe(outputs), 0);
    memset(ends, 0, sizeof ends);
    spin_ns = 0;
    heartbeat_ms = 0;
    has_third = false;
    for (int i = 0; i < 2; i++) {
        pthread_mutex_init(&ends[i].bell.lock, NULL);
        board_make(&ends[i].at, i, PROCS, host_of, UINT64_C(256) << 20);
        ends[i].at.board->flags |= BSPZ_BOARD_HOSTS;
    }
}

void begin(bool encrypt)
{
    for (int i = 0; i < 2; i++) {
        open_end(i, encrypt, false);
        take(i);
    }
    mirror(0);
    mirror(1);
}

void link_tear_down(void)
{
    for (int i = 0; i < 2; i++) {
        links_close(ends[i].links);
        if (fds[i] >= 0)
            close(fds[i]);
        close(outputs[i]);
    }
    uv_run(&loop, UV_RUN_DEFAULT);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
    for (int i = 0; i < 2; i++)
        board_free(&ends[i].at);
    ck_assert_int_eq(count_descriptors(), open_before);
}

void turn(void)
{
    uv_run(&loop, UV_RUN_NOWAIT);
}

void post(int which, uint64_t position, uint32_t size)
{
    static unsigned char data[WIRE_CHUNK_MAX];
    struct wire_message message = {.kind = WIRE_INPUT};

    message.input.position = position;
    message.input.data = (struct wire_bytes){data, size};
    ck_assert_int_eq(links_send(ends[which].links, which == 0, &message), 0);
}

bool complete(int which, uint64_t superstep, enum bspz_stage stage)
{
    static const int all[] = {0, 1, 2, 3};

    return bspz_barrier_reached(ends[which].at.board, all, PROCS, superstep, stage);
}

void arrive(int which, uint64_t superstep, uint64_t bytes)
{
    struct board_host *at = &ends[which].at;

    for (int pid = 2 * which; pid < 2 * which + 2; pid++) {
        board_empty(at, pid, superstep);
        for (int to = 0; to < PROCS && bytes > 0; to++)
            board_send(at, pid, to, BSPZ_PUTS, superstep, 2, bytes, 0);
        board_arrive(at, pid, superstep, bytes > 0 ? BSPZ_HAS_PUT : 0);
    }
}

void superstep_of(int which, uint64_t superstep, uint64_t bytes)
{
    arrive(which, superstep, bytes);
    link_bell_rung(&ends[which].bell);
}

uint64_t passed(int which)
{
    struct links *links = ends[which].links;
    uint64_t next;

    links_lock(links);
    next = links->mirror->own.next;
    links_unlock(links);
    return next;
}

void check_data(int which, uint64_t superstep, uint64_t bytes)
{
    for (int pid = 2 - 2 * which; pid < 4 - 2 * which; pid++)
        for (int to = 2 * which; to < 2 * which + 2; to++)
            ck_assert(board_has(&ends[which].at, pid, to, BSPZ_PUTS, superstep, bytes > 0 ? 2 : 0,
                                bytes));
}

void run_superstep(uint64_t superstep, uint64_t bytes)
{
    superstep_of(0, superstep, bytes);
    superstep_of(1, superstep, bytes);
    while (!complete(0, superstep, BSPZ_STAGE_ARRIVED) ||
           !complete(1, superstep, BSPZ_STAGE_ARRIVED))
        uv_run(&loop, UV_RUN_ONCE);
    check_data(0, superstep, bytes);
    check_data(1, superstep, bytes);
    ck_assert_uint_eq(passed(0), superstep + 1);
}
