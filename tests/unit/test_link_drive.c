/* test_link_drive.c - the thread that waits for the doorbell receives by itself while all ranks of
 * its host wait for others, and leaves to the loop what is the loop's. */
#include <check.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "bsprun/link/link_tune.h"
#include "tests/unit/link_play.h"
#include "tests/unit/suite.h"

#define LONG_NS UINT64_C(3600000000000)

static struct ringer {
    pthread_t thread;
    _Atomic bool stop, runs;
} ringers[2];

/* As an agent's thread does it. */
static void *ring(void *argument)
{
    int which = (int)((struct ringer *)argument - ringers);
    struct bspz_board *board = ends[which].at.board;
    uint32_t seen = atomic_load(&board->doorbell);

    link_bell_rung(&ends[which].bell);
    while (!atomic_load(&ringers[which].stop)) {
        link_bell_wait(&ends[which].bell, board, seen);
        seen = atomic_load(&board->doorbell);
        link_bell_rung(&ends[which].bell);
    }
    return NULL;
}

static void start_ringer(int which)
{
    atomic_store(&ringers[which].stop, false);
    ck_assert_int_eq(pthread_create(&ringers[which].thread, NULL, ring, &ringers[which]), 0);
    ringers[which].runs = true;
}

static void stop_ringer(int which)
{
    if (!ringers[which].runs)
        return;
    atomic_store(&ringers[which].stop, true);
    bspz_board_ring(ends[which].at.board);
    pthread_join(ringers[which].thread, NULL);
    ringers[which].runs = false;
}

static void set_up(void)
{
    link_set_up();
    spin_ns = LONG_NS;
}

static void tear_down(void)
{
    for (int i = 0; i < 2; i++)
        close_end(&ends[i]);
    for (int i = 0; i < 2; i++)
        stop_ringer(i);
    link_tear_down();
}

static void begin_ringing(bool encrypt)
{
    begin(encrypt);
    for (int i = 0; i < 10; i++)
        turn();
    start_ringer(0);
    start_ringer(1);
}

/* On a loaded machine the thread would leave the next supersteps to the loop. */
static void arrive_alone(int which, uint64_t superstep, uint64_t bytes)
{
    links_lock(ends[which].links);
    ends[which].links->spin.pause = 0;
    links_unlock(ends[which].links);
    arrive(which, superstep, bytes);
}

static void wait_for_stage(int which, uint64_t superstep, enum bspz_stage stage)
{
    const struct timespec moment = {0, 100000};

    while (!complete(which, superstep, stage))
        nanosleep(&moment, NULL);
}

static void wait_for(int which, uint64_t superstep)
{
    wait_for_stage(which, superstep, BSPZ_STAGE_ARRIVED);
}

/* All ranks of an end reach a stage behind the first. */
static void go_on(int which, uint64_t superstep, enum bspz_stage stage)
{
    links_lock(ends[which].links);
    ends[which].links->spin.pause = 0;
    links_unlock(ends[which].links);
    for (int pid = 2 * which; pid < 2 * which + 2; pid++)
        bspz_barrier_arrive(ends[which].at.board, PROCS, pid, superstep, stage);
}

/* Nobody turns the loop: what an end knows comes from its other thread alone. */
START_TEST(without_the_loop)
{
    static const uint64_t sizes[] = {0, 8, 4096, 400, 0}; /* the connection takes them at once */

    begin_ringing(_i == 1);
    for (uint64_t superstep = 0; superstep < 50; superstep++) {
        uint64_t bytes = sizes[superstep % 5];

        arrive_alone(0, superstep, bytes);
        arrive_alone(1, superstep, bytes);
        wait_for(0, superstep);
        wait_for(1, superstep);
        check_data(0, superstep, bytes);
        check_data(1, superstep, bytes);
    }
    ck_assert_uint_eq(ends[0].lost + ends[1].lost, 0);
}
END_TEST

/* A third host was lost, and the others go on: whose processes these were, others have, too. */
START_TEST(after_a_loss)
{
    has_third = true;
    begin(false);
    for (int i = 0; i < 2; i++)
        links_break(ends[i].links, 2, "it is gone");
    while (ends[0].lost + ends[1].lost < 2)
        turn();
    start_ringer(0);
    start_ringer(1);
    for (uint64_t superstep = 0; superstep < 9; superstep++) {
        arrive_alone(0, superstep, 8);
        arrive_alone(1, superstep, 8);
        wait_for(0, superstep);
        wait_for(1, superstep);
    }
}
END_TEST

/* The same at the other stages of a barrier; the one end comes long before the other. */
START_TEST(stages_without_the_loop)
{
    static const enum bspz_stage stages[] = {BSPZ_STAGE_MATCHED, BSPZ_STAGE_REPLIED};
    const struct timespec moment = {0, 5000000};

    begin_ringing(false);
    for (uint64_t superstep = 0; superstep < 4; superstep++) {
        arrive_alone(0, superstep, 8);
        arrive_alone(1, superstep, 8);
        wait_for(0, superstep);
        wait_for(1, superstep);
        for (int i = 0; i < 2; i++) {
            go_on(0, superstep, stages[i]);
            nanosleep(&moment, NULL);
            go_on(1, superstep, stages[i]);
            wait_for_stage(0, superstep, stages[i]);
            wait_for_stage(1, superstep, stages[i]);
        }
    }
}
END_TEST

/* Both threads take turns where it is more than connections hold. */
START_TEST(with_the_loop)
{
    begin_ringing(_i == 1);
    for (uint64_t superstep = 0; superstep < 9; superstep++) {
        uint64_t bytes = superstep % 3 << 18;

        arrive(0, superstep, bytes);
        arrive(1, superstep, bytes);
        while (!complete(0, superstep, BSPZ_STAGE_ARRIVED) ||
               !complete(1, superstep, BSPZ_STAGE_ARRIVED))
            uv_run(&loop, UV_RUN_NOWAIT);
        check_data(0, superstep, bytes);
        check_data(1, superstep, bytes);
    }
}
END_TEST

/* A message among them is for the loop, in its order; what follows it goes on by either. */
START_TEST(messages_are_for_the_loop)
{
    begin_ringing(_i == 1);
    for (uint64_t superstep = 0; superstep < 40; superstep++) {
        arrive(0, superstep, 1000);
        post(1, superstep, 100);
        arrive(1, superstep, 1000);
        ck_assert_uint_le(ends[0].messages, superstep);
        while (ends[0].messages <= superstep)
            uv_run(&loop, UV_RUN_ONCE);
        while (!complete(0, superstep, BSPZ_STAGE_ARRIVED) ||
               !complete(1, superstep, BSPZ_STAGE_ARRIVED))
            uv_run(&loop, UV_RUN_NOWAIT);
        check_data(0, superstep, 1000);
    }
}
END_TEST

/* Of the end that receives express messages: those with even positions it takes. */
static _Atomic unsigned taken;
static _Atomic bool by_loop;

static bool express_rung(void *context)
{
    (void)context;
    return false;
}

static bool express_message(void *context, uint32_t host, const struct wire_message *message)
{
    (void)context, (void)host;
    if (!pthread_equal(pthread_self(), ringers[0].thread))
        atomic_store(&by_loop, true);
    if (message->input.position % 2 != 0)
        return false;
    ends[0].next = message->input.position + 1; /* which the loop does not touch meanwhile */
    atomic_fetch_add(&taken, 1);
    return true;
}

static enum links_wait express_waits(void *context)
{
    (void)context;
    return LINKS_WAIT_POLL;
}

static void drive_alone(int which)
{
    links_lock(ends[which].links);
    ends[which].links->spin.pause = 0;
    links_unlock(ends[which].links);
    bspz_board_ring(ends[which].at.board);
}

/* While ranks wait for them such messages need no turn of the loop, and the others stay in order
 * with them. */
START_TEST(express_messages)
{
    static const struct links_express express = {express_rung, express_message, express_waits};
    const struct timespec moment = {0, 100000};

    begin_ringing(_i == 1);
    atomic_store(&taken, 0);
    links_use_express(ends[0].links, &express);
    for (unsigned pair = 0; pair < 20; pair++) {
        drive_alone(0);
        post(1, 2 * pair, 100);
        while (atomic_load(&taken) == pair) {
            drive_alone(0);
            nanosleep(&moment, NULL);
        }
        ck_assert_uint_eq(ends[0].messages, pair);
        post(1, 2 * pair + 1, 100);
        while (ends[0].messages == pair)
            uv_run(&loop, UV_RUN_ONCE);
    }
    ck_assert(!atomic_load(&by_loop));
    ck_assert_uint_eq(ends[0].lost + ends[1].lost, 0);
}
END_TEST

/* What is put with the lock held goes out together. */
START_TEST(put_together)
{
    struct wire_message message = {.kind = WIRE_INPUT};
    unsigned char data[8] = {0};

    begin_ringing(false);
    message.input.data = (struct wire_bytes){data, sizeof data};
    link_bell_lock(&ends[1].bell);
    for (message.input.position = 0; message.input.position < 3; message.input.position++)
        links_put(ends[1].links, 0, &message);
    ck_assert_uint_gt(net_frames_out_waiting(&ends[1].links->all[0].out), 3 * sizeof data);
    links_put_done(ends[1].links);
    ck_assert_uint_eq(net_frames_out_waiting(&ends[1].links->all[0].out), 0);
    link_bell_unlock(&ends[1].bell);
    while (ends[0].messages < 3)
        uv_run(&loop, UV_RUN_ONCE);
}
END_TEST

/* What came before this host was ready is for the loop to go on with. */
START_TEST(waited_for_the_mirror)
{
    const struct timespec moment = {0, 5000000};

    open_end(0, false, false);
    open_end(1, false, false);
    take(0);
    take(1);
    mirror(0);
    start_ringer(0);
    start_ringer(1);
    arrive_alone(0, 0, 8);
    while (!ends[1].links->all[0].in.stalled)
        turn();
    mirror(1);
    arrive_alone(1, 0, 8);
    nanosleep(&moment, NULL); /* in which the other thread is first */
    while (!complete(0, 0, BSPZ_STAGE_ARRIVED) || !complete(1, 0, BSPZ_STAGE_ARRIVED))
        uv_run(&loop, UV_RUN_NOWAIT);
}
END_TEST

/* When no superstep follows soon, the loop has the connections again. */
START_TEST(hands_back)
{
    begin_ringing(false);
    for (uint64_t superstep = 0; superstep < 5; superstep++) {
        arrive_alone(0, superstep, 8);
        arrive_alone(1, superstep, 8);
        wait_for(0, superstep);
        wait_for(1, superstep);
        post(1, superstep, 100);
        while (ends[0].messages <= superstep)
            uv_run(&loop, UV_RUN_ONCE);
    }
}
END_TEST

static bool is_driven(int which)
{
    bool driven;

    links_lock(ends[which].links);
    driven = ends[which].links->driven;
    links_unlock(ends[which].links);
    return driven;
}

/* And at once when nothing comes for longer than was said. */
START_TEST(gives_up)
{
    const struct timespec moment = {0, 100000};

    spin_ns = 1000;
    begin_ringing(false);
    for (uint64_t superstep = 0; superstep < 5; superstep++) {
        arrive_alone(0, superstep, 8);
        while (passed(0) <= superstep || is_driven(0))
            nanosleep(&moment, NULL);
        post(1, superstep, 100);
        while (ends[0].messages <= superstep)
            uv_run(&loop, UV_RUN_ONCE);
        arrive(1, superstep, 8);
        while (!complete(0, superstep, BSPZ_STAGE_ARRIVED) ||
               !complete(1, superstep, BSPZ_STAGE_ARRIVED))
            uv_run(&loop, UV_RUN_NOWAIT);
    }
}
END_TEST

static unsigned looks_left(int which)
{
    unsigned looks;

    links_lock(ends[which].links);
    looks = ends[which].links->spin.looks;
    links_unlock(ends[which].links);
    return looks;
}

/* After a few times in vain it looks once whether the others are there, which they are at last. */
START_TEST(looks_once)
{
    const struct timespec moment = {0, 100000};
    uint64_t superstep = 0;

    spin_ns = 1000;
    begin_ringing(false);
    while (looks_left(0) < 3) {
        arrive_alone(0, superstep, 8);
        while (passed(0) <= superstep || is_driven(0))
            nanosleep(&moment, NULL);
        arrive(1, superstep, 8);
        while (!complete(0, superstep, BSPZ_STAGE_ARRIVED) ||
               !complete(1, superstep, BSPZ_STAGE_ARRIVED))
            uv_run(&loop, UV_RUN_NOWAIT);
        superstep++;
    }
    arrive_alone(1, superstep, 8);
    while (passed(1) <= superstep)
        nanosleep(&moment, NULL);
    arrive_alone(0, superstep, 8);
    wait_for(0, superstep);
    while (is_driven(0))
        nanosleep(&moment, NULL);
    ck_assert_uint_eq(looks_left(0), 0);
}
END_TEST

static void arrive_meanwhile(void)
{
    const struct timespec moment = {0, 5000000};

    arrive_alone(0, 0, 8);
    while (passed(0) == 0)
        nanosleep(&moment, NULL);
    nanosleep(&moment, NULL);
    arrive_alone(1, 0, 8);
    wait_for(1, 0);
    ck_assert(!complete(0, 0, BSPZ_STAGE_ARRIVED));
}

/* Ranks may arrive before the loop has come to the end of its reading: then it is the thread's turn
 * all the same. */
START_TEST(after_the_loop)
{
    begin_ringing(false);
    ends[0].at_message = arrive_meanwhile;
    post(1, 0, 100);
    while (ends[0].messages == 0)
        uv_run(&loop, UV_RUN_ONCE);
    wait_for(0, 0);
}
END_TEST

/* ---- Where the thread runs ---------------------------------------------------------------- */

static cpu_set_t only(int processor)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((unsigned)processor, &set);
    return set;
}

static cpu_set_t processors_of(pthread_t thread)
{
    cpu_set_t set;

    ck_assert_int_eq(pthread_getaffinity_np(thread, sizeof set, &set), 0);
    return set;
}

static void run_on(cpu_set_t set)
{
    ck_assert_int_eq(pthread_setaffinity_np(pthread_self(), sizeof set, &set), 0);
}

/* The highest processor of a set, other than `but` if it has another. */
static int one_of(const cpu_set_t *set, int but)
{
    for (int i = CPU_SETSIZE - 1; i >= 0; i--)
        if (i != but && CPU_ISSET((unsigned)i, set))
            return i;
    return but;
}

static uint64_t ring_once(uint64_t superstep)
{
    arrive_alone(0, superstep, 0);
    arrive_alone(1, superstep, 0);
    wait_for(0, superstep);
    wait_for(1, superstep);
    return superstep + 1;
}

/* On that of the ranks that ring, here of this test, as soon as nobody else needs it. */
static uint64_t ring_until_bound(uint64_t superstep, int processor)
{
    cpu_set_t wanted = only(processor), set;

    run_on(wanted);
    do {
        superstep = ring_once(superstep);
        set = processors_of(ringers[0].thread);
    } while (!CPU_EQUAL(&set, &wanted));
    return superstep;
}

START_TEST(follows_the_ranks)
{
    const struct timespec moment = {0, 3000000};
    cpu_set_t all = processors_of(pthread_self()), set;
    int first = one_of(&all, -1), second = one_of(&all, first);
    uint64_t superstep;

    begin_ringing(false);
    superstep = ring_until_bound(0, first);
    superstep = ring_until_bound(superstep, second);
    arrive_alone(0, superstep, 0);
    do { /* somebody keeps it from its turns */
        atomic_fetch_add(&ends[0].bell.asked, 1);
        nanosleep(&moment, NULL);
        atomic_fetch_sub(&ends[0].bell.asked, 1);
        nanosleep(&moment, NULL);
        set = processors_of(ringers[0].thread);
    } while (!CPU_EQUAL(&set, &all));
    run_on(all);
}
END_TEST

/* But nowhere where it must not. */
START_TEST(follows_where_it_may)
{
    cpu_set_t all = processors_of(pthread_self()), set, wanted;
    int first = one_of(&all, -1), second = one_of(&all, first);

    wanted = only(first);
    run_on(wanted);
    begin_ringing(false);
    run_on(only(second));
    for (uint64_t superstep = 0; superstep < 20;)
        superstep = ring_once(superstep);
    set = processors_of(ringers[0].thread);
    ck_assert(CPU_EQUAL(&set, &wanted));
    run_on(all);
}
END_TEST

/* ---- Ends ---------------------------------------------------------------------------------- */

/* The peer goes, or sends nonsense, while the thread of the bell receives: told by the loop, once.
 */
START_TEST(peer_goes)
{
    begin_ringing(false);
    arrive(0, 0, 100);
    if (_i == 0) {
        close_end(&ends[1]);
    } else {
        static const uint32_t nonsense = NET_FRAME_BLOCK | (NET_BLOCK_MAX + 1);

        ck_assert_int_eq(send(ends[1].links->all[0].fd, &nonsense, sizeof nonsense, 0),
                         (int)sizeof nonsense);
    }
    while (ends[0].lost == 0)
        uv_run(&loop, UV_RUN_ONCE);
    for (int i = 0; i < 10; i++)
        turn();
    ck_assert_uint_eq(ends[0].lost, 1);
    if (_i == 0)
        ck_assert(strstr(ends[0].why, "closed") || strstr(ends[0].why, "reset") ||
                  strstr(ends[0].why, "pipe"));
    else
        ck_assert_str_eq(ends[0].why, "it sent something that is not a message of this protocol");
}
END_TEST

/* Links end while that thread uses them, and the next term's are used by it. */
START_TEST(ends_meanwhile)
{
    const struct timespec moment = {0, 20000000};

    begin_ringing(false);
    arrive_alone(0, 0, 2 << 20);
    close_end(&ends[_i]);
    close_end(&ends[!_i]);
    nanosleep(&moment, NULL); /* in which the threads find nothing there */
    ck_assert_uint_eq(ends[0].lost + ends[1].lost, 0);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds), 0);
    begin(false);
    bspz_board_ring(ends[0].at.board);
    arrive_alone(1, 0, 8);
    while (!complete(1, 0, BSPZ_STAGE_ARRIVED))
        uv_run(&loop, UV_RUN_NOWAIT);
}
END_TEST

static void control_of(int fd, char name[16])
{
    socklen_t size = 15;

    memset(name, 0, 16);
    ck_assert_int_eq(getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, name, &size), 0);
}

/* A connection to a neighbour that would be paced is not; what others are is left as it is. */
START_TEST(neighbours_are_not_paced)
{
    struct sockaddr_in address = {.sin_family = AF_INET};
    socklen_t size = sizeof address;
    int listening = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    char before[16], after[16];

    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ck_assert_int_eq(bind(listening, (struct sockaddr *)&address, sizeof address), 0);
    ck_assert_int_eq(listen(listening, 1), 0);
    ck_assert_int_eq(getsockname(listening, (struct sockaddr *)&address, &size), 0);
    setsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, _i == 0 ? "bbr" : "cubic", _i == 0 ? 3 : 5);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&address, sizeof address), 0);
    control_of(fd, before);
    link_tune(fd);
    control_of(fd, after);
    ck_assert_str_eq(after, strcmp(before, "bbr") == 0 ? "reno" : before);
    link_tune(fds[0]); /* which is no connection of TCP: nothing happens */
    close(fd);
    close(listening);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("link_drive");
    TCase *cases = tcase_create("link_drive");

    tcase_add_checked_fixture(cases, set_up, tear_down);
    tcase_set_timeout(cases, 30);
    tcase_add_loop_test(cases, without_the_loop, 0, 2);
    tcase_add_test(cases, after_a_loss);
    tcase_add_test(cases, stages_without_the_loop);
    tcase_add_loop_test(cases, neighbours_are_not_paced, 0, 2);
    tcase_add_loop_test(cases, with_the_loop, 0, 2);
    tcase_add_loop_test(cases, messages_are_for_the_loop, 0, 2);
    tcase_add_loop_test(cases, express_messages, 0, 2);
    tcase_add_test(cases, put_together);
    tcase_add_test(cases, waited_for_the_mirror);
    tcase_add_test(cases, hands_back);
    tcase_add_test(cases, gives_up);
    tcase_add_test(cases, looks_once);
    tcase_add_test(cases, after_the_loop);
    tcase_add_test(cases, follows_the_ranks);
    tcase_add_test(cases, follows_where_it_may);
    tcase_add_loop_test(cases, peer_goes, 0, 2);
    tcase_add_loop_test(cases, ends_meanwhile, 0, 2);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
