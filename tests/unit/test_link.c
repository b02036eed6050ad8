/* test_link.c - links between two agents: supersteps between their boards, messages among them, and
 * every way to end. */
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/unit/link_play.h"
#include "tests/unit/suite.h"

START_TEST(supersteps)
{
    static const uint64_t sizes[] = {0, 8, 0, 4096, 1 << 20, 24, 10 << 20, 80000, 0};

    begin(_i == 1);
    for (uint64_t i = 0; i < 90; i++)
        run_superstep(i, i < 9 ? sizes[i] : sizes[i % 4]);
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
    ck_assert_str_eq(ends[0].why, "nothing was received for 0.04 s");
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

/* Numbers of frames. */
static const uint32_t garbage[] = {
    0,
    12,
    WIRE_FRAME_MAX + 1,
    NET_FRAME_BLOCK,
    NET_FRAME_BLOCK | 1000,
    NET_FRAME_BLOCK | NET_BLOCK_MAX,
    NET_FRAME_BLOCK | (NET_BLOCK_MAX + 1),
    UINT32_MAX,
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
    bytes[_i == 0 ? got - 30 : 27] ^= 4;
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

    tcase_add_checked_fixture(cases, link_set_up, link_tear_down);
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
