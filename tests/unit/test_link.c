/* test_link.c - two agents' links over a socket pair: supersteps between their boards, messages
 * among them, and every way to end.
 *
 * Both ends live on one loop; the ranks only pretend.  Fixtures fail a test that leaks a
 * descriptor. */
#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "bsprun/link/link_inside.h"
#include "tests/unit/boards.h"
#include "tests/unit/suite.h"

#define PROCS 4
static const int host_of[PROCS] = {0, 0, 1, 1};

struct end {
    struct links *links;
    struct board_host at;
    struct link_bell bell;
    unsigned messages, lost, up, arrived;
    uint64_t next; /* position expected in the next message */
    char why[LINK_TEXT];
    bool close_at_message, close_at_lost, break_at_message;
    uint64_t arrived_at;
};

static uv_loop_t loop;
static struct end ends[2];
static int fds[2], outputs[2];
static uint32_t heartbeat_ms; /* of ends that are opened */
static int open_before;
static const struct net_session sessions[2] = {
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

static void close_end(struct end *end)
{
    links_close(end->links);
    end->links = NULL;
}

static void on_message(void *context, uint32_t host, const struct wire_message *message)
{
    struct end *end = context;

    ck_assert_uint_eq(host, end == &ends[0] ? 1 : 0);
    ck_assert_int_eq((int)message->kind, WIRE_INPUT);
    ck_assert_uint_eq(message->input.position, end->next);
    end->next++;
    end->messages++;
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

static void on_up(void *context)
{
    ((struct end *)context)->up++;
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

static const struct links_calls calls = {on_message, on_lost, on_up, on_arrived};

static void open_end(int which, bool encrypt, bool with_output)
{
    struct links_peer peer = {.host = which == 0, .addresses = ""};
    struct links_setup setup = {.loop = &loop,
                                .host = (uint32_t)which,
                                .term = 3,
                                .peers = &peer,
                                .peer_count = 1,
                                .encrypt = encrypt,
                                .heartbeat_ms = heartbeat_ms,
                                .bell = &ends[which].bell,
                                .outputs = {with_output ? outputs[0] : -1, -1}};

    ends[which].links = links_open(&setup, &calls, &ends[which]);
    ck_assert_ptr_nonnull(ends[which].links);
}

static void take(int which)
{
    links_take(ends[which].links, which == 0, fds[which], &sessions[which]);
    fds[which] = -1;
}

static void mirror(int which)
{
    ck_assert_int_eq(links_mirror(ends[which].links, ends[which].at.fd, PROCS), 0);
}

static void set_up(void)
{
    signal(SIGPIPE, SIG_IGN);
    ck_assert_int_eq(uv_loop_init(&loop), 0);
    ck_assert_int_eq(uv_loop_close(&loop), 0);
    open_before = count_descriptors();
    ck_assert_int_eq(uv_loop_init(&loop), 0);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
    ck_assert_int_eq(pipe(outputs), 0);
    memset(ends, 0, sizeof ends);
    heartbeat_ms = 0;
    for (int i = 0; i < 2; i++) {
        pthread_mutex_init(&ends[i].bell.lock, NULL);
        board_make(&ends[i].at, i, PROCS, host_of, UINT64_C(256) << 20);
    }
}

static void begin(bool encrypt)
{
    for (int i = 0; i < 2; i++) {
        open_end(i, encrypt, false);
        take(i);
    }
    mirror(0);
    mirror(1);
}

static void tear_down(void)
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

static void turn(void)
{
    uv_run(&loop, UV_RUN_NOWAIT);
}

static void post(int which, uint64_t position, uint32_t size)
{
    static unsigned char data[WIRE_CHUNK_MAX];
    struct wire_message message = {.kind = WIRE_INPUT};

    message.input.position = position;
    message.input.data = (struct wire_bytes){data, size};
    ck_assert_int_eq(links_send(ends[which].links, which == 0, &message), 0);
}

static bool complete(int which, uint64_t superstep, enum bspz_stage stage)
{
    static const int all[] = {0, 1, 2, 3};

    return bspz_barrier_reached(ends[which].at.board, all, PROCS, superstep, stage);
}

/* Both ranks of an end send to all and arrive. */
static void superstep_of(int which, uint64_t superstep, uint64_t bytes)
{
    struct board_host *at = &ends[which].at;

    for (int pid = 2 * which; pid < 2 * which + 2; pid++) {
        board_empty(at, pid, superstep);
        for (int to = 0; to < PROCS && bytes > 0; to++)
            board_send(at, pid, to, BSPZ_PUTS, superstep, 2, bytes, 0);
        board_arrive(at, pid, superstep, bytes > 0 ? BSPZ_HAS_PUT : 0);
    }
    link_bell_rung(&ends[which].bell);
}

static void check_data(int which, uint64_t superstep, uint64_t bytes)
{
    for (int pid = 2 - 2 * which; pid < 4 - 2 * which; pid++)
        for (int to = 2 * which; to < 2 * which + 2; to++)
            ck_assert(board_has(&ends[which].at, pid, to, BSPZ_PUTS, superstep, bytes > 0 ? 2 : 0,
                                bytes));
}

static void run_superstep(uint64_t superstep, uint64_t bytes)
{
    superstep_of(0, superstep, bytes);
    superstep_of(1, superstep, bytes);
    while (!complete(0, superstep, BSPZ_STAGE_ARRIVED) ||
           !complete(1, superstep, BSPZ_STAGE_ARRIVED))
        uv_run(&loop, UV_RUN_ONCE);
    check_data(0, superstep, bytes);
    check_data(1, superstep, bytes);
    ck_assert_uint_eq(links_passed(ends[0].links), superstep + 1);
}

START_TEST(supersteps)
{
    static const uint64_t sizes[] = {0, 8, 0, 4096, 1 << 20, 24, 10 << 20, 80000, 0};

    begin(_i == 1);
    for (uint64_t i = 0; i < 90; i++)
        run_superstep(i, i < 9 ? sizes[i] : sizes[i % 4]);
    ck_assert_uint_eq(ends[0].up, 1);
    ck_assert_uint_eq(ends[0].lost + ends[1].lost, 0);
}
END_TEST

START_TEST(messages_in_order)
{
    begin(_i == 1);
    for (uint64_t i = 0; i < 300; i++) {
        post(0, i, (uint32_t)(i * 211 % WIRE_CHUNK_MAX));
        post(1, i, 3);
        if (i % 50 == 0)
            run_superstep(i / 50, 100000);
    }
    while (ends[0].messages < 300 || ends[1].messages < 300)
        uv_run(&loop, UV_RUN_ONCE);
    ck_assert_uint_eq(links_waiting(ends[0].links, 1), 0);
}
END_TEST

/* A message does not wait for all of a large superstep. */
START_TEST(messages_overtake)
{
    begin(false);
    superstep_of(0, 0, 20 << 20);
    post(0, 0, 10);
    while (ends[1].messages == 0)
        uv_run(&loop, UV_RUN_ONCE);
    ck_assert(!complete(1, 0, BSPZ_STAGE_ARRIVED) &&
              atomic_load(&bspz_rank_of(ends[1].at.board, 0)->line[0].stamp) == 0);
    superstep_of(1, 0, 8);
    while (!complete(1, 0, BSPZ_STAGE_ARRIVED))
        uv_run(&loop, UV_RUN_ONCE);
}
END_TEST

/* What comes before this host is ready is kept, and nothing behind it is lost. */
START_TEST(waits_for_the_mirror)
{
    open_end(0, false, false);
    open_end(1, false, false);
    post(0, 0, 10);
    take(0);
    take(1);
    mirror(0);
    superstep_of(0, 0, 5 << 20);
    for (int i = 0; i < 100; i++)
        turn();
    ck_assert_uint_eq(ends[1].messages, 1);
    post(0, 1, 10);
    for (int i = 0; i < 20; i++)
        turn();
    mirror(1);
    superstep_of(1, 0, 8);
    while (!complete(1, 0, BSPZ_STAGE_ARRIVED) || ends[1].messages < 2)
        uv_run(&loop, UV_RUN_ONCE);
    ck_assert(board_has(&ends[1].at, 0, 2, BSPZ_PUTS, 0, 2, 5 << 20));
}
END_TEST

START_TEST(output_goes_first)
{
    open_end(0, false, true);
    open_end(1, false, false);
    take(0);
    take(1);
    mirror(0);
    mirror(1);
    superstep_of(1, 0, 0);
    ck_assert_int_eq(write(outputs[1], "x", 1), 1);
    superstep_of(0, 0, 100);
    while (!complete(1, 0, BSPZ_STAGE_ARRIVED))
        uv_run(&loop, UV_RUN_ONCE);
    ck_assert_uint_eq(ends[0].arrived, 1);
    run_superstep(1, 8);
    ck_assert_uint_eq(ends[0].arrived, 1);
}
END_TEST

START_TEST(peer_goes)
{
    begin(false);
    post(0, 0, 10);
    ends[1].close_at_message = true;
    ends[0].close_at_lost = _i == 1;
    while (ends[0].lost == 0)
        uv_run(&loop, UV_RUN_ONCE);
    for (int i = 0; i < 10; i++)
        turn();
    ck_assert_uint_eq(ends[0].lost, 1);
    ck_assert_uint_eq(ends[1].lost, 0);
    ck_assert(strstr(ends[0].why, "closed") || strstr(ends[0].why, "reset"));
    if (_i == 0) {
        post(0, 1, 10); /* to nobody */
        superstep_of(0, 0, 100);
    }
}
END_TEST

/* The loop turns for so many times the time that a peer may be silent. */
static void turn_for(unsigned times)
{
    uint64_t end = uv_now(&loop) + (uint64_t)times * heartbeat_ms;

    while (uv_now(&loop) < end)
        uv_run(&loop, UV_RUN_ONCE);
}

/* Nobody is lost who has nothing to say, or who is waited for. */
START_TEST(quiet_peers_are_heard)
{
    heartbeat_ms = 40;
    open_end(0, _i == 1, false);
    open_end(1, _i == 1, false);
    take(0);
    take(1);
    turn_for(10);
    mirror(0);
    superstep_of(0, 0, 5 << 20); /* which the other cannot take yet */
    turn_for(10);
    ck_assert_uint_eq(ends[0].lost + ends[1].lost, 0);
    ck_assert_uint_eq(ends[0].messages + ends[1].messages, 0);
    mirror(1);
    superstep_of(1, 0, 8);
    while (!complete(1, 0, BSPZ_STAGE_ARRIVED))
        uv_run(&loop, UV_RUN_ONCE);
}
END_TEST

/* A connection that stands and brings nothing. */
START_TEST(silent_peers_are_lost)
{
    heartbeat_ms = 40;
    open_end(0, false, false);
    open_end(1, false, false);
    take(0);
    ends[0].close_at_lost = _i == 1;
    while (ends[0].lost == 0)
        uv_run(&loop, UV_RUN_ONCE);
    ck_assert_str_eq(ends[0].why, "nothing has come from it for 0.04 s");
    turn_for(3);
    ck_assert_uint_eq(ends[0].lost, 1);
    ck_assert_uint_eq(ends[1].lost, 0); /* it was not there yet */
}
END_TEST

/* Whoever uses the links can have enough of a peer: nothing is delivered any more that it sent. */
START_TEST(breaks_on_demand)
{
    begin(false);
    post(0, 0, 10);
    post(0, 1, 10);
    ends[1].break_at_message = true;
    while (ends[0].lost == 0 || ends[1].lost == 0)
        uv_run(&loop, UV_RUN_ONCE);
    ck_assert_uint_eq(ends[1].messages, 1);
    ck_assert_str_eq(ends[1].why, "enough of it");
    links_break(ends[1].links, 0, "again");
    links_break(ends[1].links, 7, "nobody");
    for (int i = 0; i < 10; i++)
        turn();
    ck_assert_uint_eq(ends[1].lost, 1);
}
END_TEST

/* Closed while a large superstep is half there. */
START_TEST(close_halfway)
{
    begin(_i == 1);
    superstep_of(0, 0, 20 << 20);
    for (int i = 0; i < 3; i++)
        turn();
    close_end(&ends[_i]);
    for (int i = 0; i < 100; i++)
        turn();
    ck_assert_uint_eq(ends[_i].lost, 0);
    ck_assert_uint_eq(atomic_load(&bspz_rank_of(ends[1].at.board, 0)->line[0].stamp), 0);
}
END_TEST

static const struct {
    uint32_t kind, bytes;
} garbage[] = {
    {0, 0},
    {LINK_MESSAGE, 0},
    {LINK_MESSAGE, LINK_MESSAGE_MAX + 1},
    {LINK_DATA, 16},
    {LINK_HEAD, UINT32_MAX},
    {LINK_HEAD, LINK_FRAME_MAX},
    {LINK_DATA + 1, 1},
    {LINK_MESSAGE, 12},
};

/* A proved peer that says what is no frame, and what is no message or head. */
START_TEST(garbage_is_refused)
{
    unsigned char junk[4096];
    int fd = fds[1];

    open_end(0, false, false);
    open_end(1, false, false);
    take(0);
    mirror(0);
    memset(junk, 0xa5, sizeof junk);
    memcpy(junk, &garbage[_i], sizeof garbage[_i]);
    ck_assert_int_eq(write(fd, junk, sizeof junk), sizeof junk);
    while (ends[0].lost == 0)
        uv_run(&loop, UV_RUN_ONCE);
    ck_assert_uint_eq(ends[0].messages, 0);
}
END_TEST

/* A flipped bit in a sealed connection. */
START_TEST(forged_frames_are_refused)
{
    unsigned char bytes[65536];
    int other[2];
    ssize_t got;

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, other), 0);
    open_end(0, true, false);
    open_end(1, true, false);
    links_take(ends[1].links, 0, other[1], &sessions[1]);
    take(0);
    post(0, 0, 500);
    turn();
    got = read(fds[1], bytes, sizeof bytes);
    ck_assert_int_gt(got, 500);
    bytes[_i == 0 ? got - 30 : 26] ^= 4;
    ck_assert_int_eq(write(other[0], bytes, (size_t)got), got);
    while (ends[1].lost == 0)
        uv_run(&loop, UV_RUN_ONCE);
    ck_assert_uint_eq(ends[1].messages, 0);
    close(other[0]);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("link");
    TCase *cases = tcase_create("link");

    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_set_timeout(cases, 60);
    tcase_add_loop_test(cases, supersteps, 0, 2);
    tcase_add_loop_test(cases, messages_in_order, 0, 2);
    tcase_add_test(cases, messages_overtake);
    tcase_add_test(cases, waits_for_the_mirror);
    tcase_add_test(cases, output_goes_first);
    tcase_add_loop_test(cases, peer_goes, 0, 2);
    tcase_add_loop_test(cases, quiet_peers_are_heard, 0, 2);
    tcase_add_loop_test(cases, silent_peers_are_lost, 0, 2);
    tcase_add_test(cases, breaks_on_demand);
    tcase_add_loop_test(cases, close_halfway, 0, 2);
    tcase_add_loop_test(cases, garbage_is_refused, 0, sizeof garbage / sizeof *garbage);
    tcase_add_loop_test(cases, forged_frames_are_refused, 0, 2);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
