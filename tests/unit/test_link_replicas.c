/* test_link_replicas.c - links between hosts whose processes have replicas: hosts that are slow,
 * frozen, lost or too far behind, and replicas that disagree. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "bsprun/link/link_replicas_inside.h"
#include "tests/unit/replica_play.h"
#include "tests/unit/suite.h"

#define ALL 0x3fu

static unsigned present(void)
{
    return ALL & ((1u << play_hosts()) - 1);
}

static void turns(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        for (unsigned host = 0; host < play_hosts(); host++)
            play_turn(host);
}

static struct replica_held held(unsigned host)
{
    return replica_set_held(play[host].links->replicas->set);
}

static void check_quiet(void)
{
    for (unsigned host = 0; host < play_hosts(); host++) {
        ck_assert_uint_eq(play[host].mismatches, 0);
        ck_assert_uint_eq(play[host].behind, 0);
        ck_assert_uint_eq(play[host].lost, 0);
    }
}

START_TEST(same_pace)
{
    play_encrypts = _i >= PLAY_LAYOUTS;
    play_begin((unsigned)_i % PLAY_LAYOUTS);
    ck_assert(play_until(130, present()));
    turns(20);
    /* What would go with the next contents. */
    for (unsigned host = 0; host < play_hosts(); host++)
        links_push_all(play[host].links);
    turns(20);
    for (unsigned host = 0; host < play_hosts(); host++)
        links_push_all(play[host].links);
    check_quiet();
    /* Nothing is left behind. */
    for (unsigned host = 0; host < play_hosts(); host++) {
        ck_assert_uint_eq(held(host).copies, 0);
        ck_assert_uint_eq(held(host).logged, 0);
        ck_assert_uint_eq(held(host).told, 0);
    }
}
END_TEST

/* The others are not held up by the host that computes slowly, and it then reads what it has
 * logged. */
START_TEST(one_is_slow)
{
    unsigned slow = 1;

    play_begin((unsigned)_i == 0   ? PLAY_TWO_OF_EACH
               : (unsigned)_i == 1 ? PLAY_ALL_ON_EACH
                                   : PLAY_OVERLAP);
    ck_assert(play_until(10, present()));
    ck_assert(play_until(120, present() & ~(1u << slow)));
    ck_assert_uint_eq(play[slow].superstep, 10);
    turns(200);
    ck_assert(play_until(120, 1u << slow));
    ck_assert(play_until(140, present()));
    check_quiet();
}
END_TEST

/* Its links do nothing at all meanwhile. */
START_TEST(one_is_frozen)
{
    unsigned frozen = 2;

    play_begin(PLAY_TWO_OF_EACH);
    ck_assert(play_until(10, present()));
    play[frozen].frozen = true;
    ck_assert(play_until(400, present() & ~(1u << frozen)));
    ck_assert_uint_gt(held(1).copies + held(3).copies, 0);
    play[frozen].frozen = false;
    ck_assert(play_until(410, present()));
    turns(50);
    check_quiet();
    ck_assert_uint_eq(held(1).copies + held(3).copies, 0);
}
END_TEST

/* All that waits for it is written as it reads, though nothing else happens. */
START_TEST(one_reads_again)
{
    play_begin(PLAY_TWO_OF_EACH);
    ck_assert(play_until(10, present()));
    play[3].frozen = true;
    ck_assert(play_until(60, present() & ~(1u << 3)));
    turns(50);
    ck_assert_uint_gt(held(0).copies, 0);
    play[3].frozen = false;
    turns(400);
    for (unsigned host = 0; host < 3; host++)
        ck_assert_uint_eq(held(host).copies, 0);
}
END_TEST

/* Until a host knows of the stop it does not pass it. */
START_TEST(stop_is_not_known)
{
    play_stop = 9;
    play_begin(PLAY_TWO_OF_EACH);
    for (unsigned host = 0; host < 3; host++)
        links_know_stop(play[host].links, play_stop, 1);
    ck_assert(play_until(9, present()));
    ck_assert(play_until(60, present() & ~(1u << 3)));
    turns(50);
    ck_assert_uint_eq(play[3].superstep, 9);
    links_know_stop(play[3].links, play_stop, 1);
    ck_assert(play_until(60, present()));
}
END_TEST

START_TEST(one_is_lost)
{
    unsigned lost = (unsigned)_i % play_all[PLAY_TWO_OF_EACH].hosts;

    play_begin(PLAY_TWO_OF_EACH);
    ck_assert(play_until(9 + (unsigned)_i, present()));
    for (unsigned i = 0; i < (unsigned)_i; i++)
        play_step(lost), play_turn((lost + 1) % 4);
    play_kill(lost);
    ck_assert(play_until(80, present() & ~(1u << lost)));
    for (unsigned host = 0; host < play_hosts(); host++)
        ck_assert_uint_eq(play[host].lost, host != lost);
}
END_TEST

/* A leader that is lost while it alone had come so far: the other replica of its processes sends
 * again what was held back. */
START_TEST(leader_is_lost)
{
    play_begin(PLAY_TWO_OF_EACH);
    ck_assert(play_until(10, present()));
    play[3].frozen = true; /* gets nothing of what hosts 0 and 1 do */
    ck_assert(play_until(60, 1u << 0 | 1u << 1));
    play_kill(0);
    play[3].frozen = false;
    ck_assert(play_until(80, 1u << 1 | 1u << 2 | 1u << 3));
}
END_TEST

/* All hosts of a process are lost: what has come of it counts, what has not never will. */
START_TEST(waited_for_in_vain)
{
    uint32_t pid = PLAY_PROCS, rung;

    play_begin(PLAY_TWO_OF_EACH);
    play[2].frozen = true;
    ck_assert(play_until(10, present() & ~(1u << 2)));
    play_kill(3);
    turns(20);
    ck_assert(!links_in_vain(play[0].links, &pid));
    rung = atomic_load(&play[0].at.board->doorbell);
    play_kill(1);
    turns(20);
    ck_assert(!play_until(12, 1u << 0));
    ck_assert(links_in_vain(play[0].links, &pid));
    ck_assert(pid == play_all[PLAY_TWO_OF_EACH].pids[1][0]);
    ck_assert_uint_ne(atomic_load(&play[0].at.board->doorbell), rung);
    play[2].frozen = false;
    ck_assert(!play_until(12, 1u << 2));
    ck_assert(links_in_vain(play[2].links, &pid));
}
END_TEST

START_TEST(unique_is_waited_for)
{
    play_begin(PLAY_ONE_IS_UNIQUE);
    ck_assert(play_until(10, present()));
    play[0].frozen = true;
    ck_assert(!play_until(13, 1u << 1 | 1u << 2));
    play[0].frozen = false;
    ck_assert(play_until(20, present()));
    /* Hosts 1 and 2 have a replica of the other each. */
    play[2].frozen = true;
    ck_assert(play_until(60, 1u << 0 | 1u << 1));
}
END_TEST

/* Data is sent once, unless two send at the same time. */
START_TEST(held_back)
{
    uint64_t before, after;

    play_begin(PLAY_TWO_OF_EACH);
    ck_assert(play_until(10, present()));
    ck_assert(play_until(110, 1u << 0 | 1u << 1));
    turns(200);
    before = play[2].links->all[1].out.written;
    ck_assert_uint_eq(play[2].links->all[1].host, 1);
    ck_assert(play_until(110, present()));
    turns(50);
    after = play[2].links->all[1].out.written;
    /* Host 1 has got 100 supersteps from host 0, with about a megabyte to its processes. */
    ck_assert_uint_lt(after - before, 40000);
    ck_assert_uint_gt(play[0].links->all[0].out.written, 3000000);
    check_quiet();
}
END_TEST

static uint64_t written_by_all(void)
{
    uint64_t bytes = 0;

    for (unsigned host = 0; host < play_hosts(); host++)
        for (uint32_t i = 0; i < play[host].links->count; i++)
            bytes += play[host].links->all[i].out.written;
    return bytes;
}

/* What the processes of a host are sent of a superstep by those that live elsewhere. */
static uint64_t needed_by(unsigned host, uint64_t superstep)
{
    uint32_t here = 0;

    for (int pid = 0; pid < PLAY_PROCS; pid++)
        here += bspz_is_here(play[host].at.board, pid);
    return (uint64_t)here * (PLAY_PROCS - here) * 2 * play_bytes(superstep); /* two records each */
}

/* All homes make large contents at the same time, and each host gets them once. */
START_TEST(sent_once)
{
    uint64_t before, needed = 0, sent;

    play_setup.agree = (unsigned)_i + 1;
    play_setup.turn_ns = UINT64_C(60000000000);
    play_begin((unsigned)_i == 0 ? PLAY_TWO_OF_EACH : PLAY_THREE_OF_EACH);
    ck_assert(play_until(10, present()));
    turns(50);
    before = written_by_all();
    ck_assert(play_until(150, present()));
    turns(50);
    sent = written_by_all() - before;
    for (uint64_t superstep = 10; superstep < 150; superstep++)
        for (unsigned host = 0; host < play_hosts() && play_bytes(superstep) > 4096; host++)
            needed += needed_by(host, superstep);
    ck_assert_uint_gt(needed, 0);
    ck_assert_msg(sent >= needed && sent < needed + needed / 4,
                  "%lu bytes, of which %lu are needed", (unsigned long)sent, (unsigned long)needed);
    check_quiet();
}
END_TEST

/* The home whose turn it is stops after it has told the others that it has made its content. */
START_TEST(turn_is_given_up)
{
    play_begin(PLAY_TWO_OF_EACH);
    ck_assert(play_until(17, present())); /* superstep 17 has large contents */
    for (unsigned host = 0; host < play_hosts(); host++)
        ck_assert(play_step(host));
    play[_i].frozen = true;
    ck_assert(play_until(60, present() & ~(1u << _i)));
    play[_i].frozen = false;
    ck_assert(play_until(70, present()));
    check_quiet();
}
END_TEST

/* ---- Bounds -------------------------------------------------------------------------------- */

START_TEST(spilled)
{
    play_setup.log_bytes = 200000;
    play_begin(PLAY_TWO_OF_EACH);
    ck_assert(play_until(5, present()));
    play[2].frozen = _i == 1;
    ck_assert(play_until(150, present() & ~(1u << 2)));
    turns(100);
    play[2].frozen = false;
    ck_assert_uint_gt(_i == 1 ? held(1).copies + held(3).copies : held(2).logged, 1000000);
    ck_assert(play_until(160, present()));
    check_quiet();
}
END_TEST

START_TEST(behind)
{
    play_setup.log_bytes = 2000000;
    play_setup.spill_bytes = 2000000;
    play_begin(PLAY_TWO_OF_EACH);
    ck_assert(play_until(5, present()));
    play[2].frozen = _i == 1;
    ck_assert(play_until(300, present() & ~(1u << 2)));
    turns(200);
    if (_i == 0) {
        ck_assert_uint_eq(play[2].behind, 1);
        ck_assert_uint_eq(play[2].behind_host, 2);
        ck_assert_uint_le(held(2).logged, 2000000);
    } else {
        ck_assert_uint_gt(play[1].behind + play[3].behind, 0);
        ck_assert_uint_eq(play[1].behind_host + play[3].behind_host, 4);
        ck_assert_uint_eq(play[1].lost + play[3].lost, 2);
    }
    for (unsigned host = 0; host < 4; host++)
        if (host != 2)
            ck_assert_uint_le(held(host).copies + held(host).logged, 4000000);
}
END_TEST

/* Two hosts that need nothing of each other still remember digests for the other. */
START_TEST(behind_in_digests)
{
    play_setup.log_bytes = 4096;
    play_begin(PLAY_ALL_ON_EACH);
    ck_assert(play_until(5, present()));
    play[1].frozen = _i == 1;
    ck_assert(play_until(40000, 1));
    turns(200);
    /* Whichever finds it out first. */
    ck_assert_uint_eq(play[0].behind + play[1].behind, 1);
    ck_assert_uint_eq(play[play[0].behind ? 0 : 1].behind_host, 1);
}
END_TEST

/* ---- Replicas that disagree ----------------------------------------------------------------- */

static void flip_one(unsigned host, uint64_t superstep)
{
    uint32_t pid = play_all[PLAY_TWO_OF_EACH].pids[host][superstep / 7 % 2];

    play[host].flip_superstep = superstep;
    play[host].flip_pid = (int)pid;
    play[host].flip_to = (int)(superstep % 4);
    play[host].flip_at = superstep * 12345 % (8 * play_bytes(superstep));
}

static void check_place(const struct link_place *place, unsigned flipped)
{
    ck_assert_uint_eq(place->what, LINK_PLACE_CHAIN);
    ck_assert_uint_eq(place->kind, BSPZ_PUTS);
    ck_assert_uint_eq(place->to, (uint32_t)play[flipped].flip_to);
    ck_assert_uint_eq(place->at, play[flipped].flip_at / 8);
}

/* Both homes, which may be at different supersteps, have compared what they have made.  What is
 * more than 256 KiB is not kept for that. */
static void check_compared(unsigned flipped, unsigned twin, bool kept)
{
    const unsigned homes[] = {flipped, twin};

    for (unsigned i = 0; i < 2; i++) {
        ck_assert_uint_eq(play[homes[i]].seen, kept);
        if (!kept)
            continue;
        ck_assert_uint_eq(play[homes[i]].place.hosts[0], homes[i]);
        ck_assert_uint_eq(play[homes[i]].place.hosts[1], homes[1 - i]);
        check_place(&play[homes[i]].place.place, flipped);
    }
}

/* Any bit of what is sent, by whichever replica: each host hears of it, in the right place. */
START_TEST(flipped_bit)
{
    uint64_t superstep = 9 + (uint64_t)_i / 4;
    unsigned flipped = (unsigned)_i % 4, twin = (flipped + 2) % 4, located = 0;

    if (play_bytes(superstep) == 0)
        return;
    play_checks = false;
    play_begin(PLAY_TWO_OF_EACH);
    flip_one(flipped, superstep);
    ck_assert(play_until(superstep + 6, present()));
    turns(50);
    ck_assert_uint_eq(play[flipped].mismatches, 1);
    ck_assert_uint_eq(play[twin].mismatches, 1);
    check_compared(flipped, twin, play_bytes(superstep) < 60000);
    for (unsigned host = 0; host < 4; host++) {
        const struct links_mismatch *found = &play[host].mismatch;

        if (play[host].mismatches == 0)
            continue;
        ck_assert_uint_eq(found->pid, (uint32_t)play[flipped].flip_pid);
        ck_assert_uint_eq(found->superstep, superstep);
        ck_assert_uint_eq(found->stage, BSPZ_STAGE_ARRIVED);
        ck_assert_uint_eq(found->hosts[0] + found->hosts[1], flipped + twin);
        ck_assert_uint_eq(found->alike[0], 1);
        ck_assert_uint_eq(found->alike[1], 1);
        if (found->place.what == LINK_PLACE_NONE)
            continue;
        located++;
        check_place(&found->place, flipped);
    }
    /* By a host that lacks the process and was sent both; not by one that needs nothing of this. */
    ck_assert_uint_eq(located > 0, play[flipped].flip_to / 2 != play[flipped].flip_pid / 2);
}
END_TEST

/* With three, two of which must agree, nobody gets what the third has made. */
START_TEST(majority_counts)
{
    unsigned flipped = (unsigned)_i % 6;
    uint64_t superstep = 9 + (uint64_t)_i / 6;

    if (play_bytes(superstep) == 0)
        return;
    play_setup.agree = 2;
    play_checks = false;
    play_begin(PLAY_THREE_OF_EACH);
    ck_assert(play_until(superstep, present()));
    play[flipped].flip_superstep = superstep;
    play[flipped].flip_pid = flipped % 2 ? 2 : 0;
    play[flipped].flip_to = flipped % 2 ? 1 : 3;
    play[flipped].flip_at = 77 * superstep % (8 * play_bytes(superstep));
    /* The one that is wrong is first. */
    play_step(flipped);
    turns(3);
    play_checks = true;
    ck_assert(play_until(superstep + 5, present() & ~(1u << flipped)));
    turns(50);
    for (unsigned host = 0; host < 6; host++)
        if (host % 2 != flipped % 2)
            ck_assert_uint_ge(play[host].mismatches, 1);
}
END_TEST

/* A host that takes a snapshot goes ahead of the others to its end, and knows only when they have
 * come as far whether a reply in its images is right. */
START_TEST(sure_of_a_snapshot)
{
    struct bspz_board *board;

    play_setup.agree = 2;
    play_checks = false;
    play_begin(PLAY_THREE_OF_EACH);
    ck_assert(play_until(10, present()));
    board = play[0].at.board;
    atomic_store(&board->answer, BSPZ_DECIDE_SNAPSHOT);
    atomic_store(&board->answered, 11);
    play[0].flips_reply = true;
    play[0].flip_superstep = 10;
    play[0].flip_to = _i == 1 ? 3 : -1;
    for (unsigned host = 0; host < play_hosts(); host++)
        play_step(host);
    turns(20);
    ck_assert(links_sure(play[0].links, 10, false));
    for (unsigned host = 0; host < play_hosts(); host++)
        if (host != 2 && host != 4)
            ck_assert(play_step(host)); /* replies, but of the other replicas of its processes */
    turns(20);
    ck_assert(play_step(0));
    ck_assert_uint_eq(play[0].superstep, 11);
    ck_assert(!links_sure(play[0].links, 10, false));
    ck_assert(play_until(11, present() & ~1u));
    turns(20);
    ck_assert_int_eq(links_sure(play[0].links, 10, false), _i == 0);
    ck_assert_int_eq(play[0].mismatches > 0, _i == 1);
}
END_TEST

/* With two replicas, of which the first counts: a snapshot is not sure before the other one has
 * come as far, and told the same, or is lost. */
START_TEST(compared_before_a_snapshot)
{
    enum {
        AGREES,
        DIFFERS,
        IS_LOST
    } other = (_i % 3 == 0) ? AGREES
              : _i % 3 == 1 ? DIFFERS
                            : IS_LOST;
    bool early = _i >= 3; /* the flip is in a superstep before */
    uint64_t flipped = early ? 9 : 10;

    play_checks = false;
    play_begin(PLAY_TWO_OF_EACH);
    ck_assert(play_until(8, present()));
    play[2].flip_superstep = flipped;
    play[2].flip_pid = 0;
    play[2].flip_to = other == DIFFERS ? 3 : -1;
    play[2].flips_reply = !early;
    ck_assert(play_until(10, present() & ~(1u << 2)));
    atomic_store(&play[0].at.board->answer, BSPZ_DECIDE_SNAPSHOT);
    atomic_store(&play[0].at.board->answered, 11);
    ck_assert(play_until(12, present() & ~(1u << 2)));
    turns(20);
    ck_assert(!links_sure(play[0].links, 10, true));
    ck_assert(!links_sure(play[0].links, 10, false));
    uint32_t rung = atomic_load(&play[0].at.board->doorbell);
    if (other == IS_LOST)
        play_kill(2);
    else
        ck_assert(play_until(12, 1u << 2));
    turns(20);
    ck_assert_int_eq(links_sure(play[0].links, 10, false), other != DIFFERS);
    ck_assert_int_eq(play[0].mismatches > 0, other == DIFFERS);
    ck_assert_int_eq(atomic_load(&play[0].at.board->doorbell) != rung, other != DIFFERS);
}
END_TEST

/* Where both of two must have spoken, all take what the lower one has sent, whichever is first and
 * whichever is wrong. */
START_TEST(lowest_counts)
{
    unsigned flipped = (unsigned)_i % 4, twin = (flipped + 2) % 4, higher = 2 + flipped % 2;
    unsigned first = _i / 4 % 2 ? flipped : twin;
    uint64_t superstep = 9 + (uint64_t)_i / 8;

    if (play_bytes(superstep) == 0)
        return;
    play_setup.majority = true;
    play_checks = false;
    play_begin(PLAY_TWO_OF_EACH);
    ck_assert(play_until(superstep, present()));
    play[flipped].flip_superstep = superstep;
    play[flipped].flip_pid = flipped % 2 ? 2 : 0;
    play[flipped].flip_to = flipped % 2 ? 1 : 3;
    play[flipped].flip_at = 77 * superstep % (8 * play_bytes(superstep));
    play_step(first);
    turns(3);
    /* The bit is seen by both hosts that lack the process, or by neither. */
    ck_assert(play_until(superstep + 5, present()));
    ck_assert_uint_eq(play_wrong, flipped == higher ? 0 : 2);
    ck_assert_uint_eq(play[higher].mismatches, 1);
    ck_assert_uint_eq(play[higher].mismatch.hosts[1], higher);
    ck_assert(!play[higher].mismatch.open);
}
END_TEST

/* Until two agree the others wait, and when only one is left they do not. */
START_TEST(agreement_of_what_is_left)
{
    const unsigned both = 1u << 2 | 1u << 4;

    play_setup.agree = 2;
    play_begin(PLAY_THREE_OF_EACH);
    ck_assert(play_until(10, present()));
    play[2].frozen = play[4].frozen = true;
    ck_assert(!play_until(13, present() & ~both));
    play[2].frozen = play[4].frozen = false;
    play_kill(2);
    play_kill(4);
    ck_assert(play_until(40, present() & ~both));
}
END_TEST

/* Of processes with two replicas the first counts, whatever others with three need. */
START_TEST(two_need_not_agree)
{
    play_setup.agree = 2;
    play_begin(PLAY_TWO_OF_EACH);
    ck_assert(play_until(10, present()));
    play[2].frozen = true;
    ck_assert(play_until(13, present() & ~(1u << 2)));
    play[2].frozen = false;
    ck_assert(play_until(40, present()));
}
END_TEST

/* ---- Anything ------------------------------------------------------------------------------ */

static uint64_t state;

static unsigned draw(unsigned below)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)(state >> 33) % below;
}

/* All but one replica of each process may be lost. */
static bool may_lose(unsigned layout, unsigned lost, unsigned dead)
{
    const struct play_layout *all = &play_all[layout];
    unsigned left = 0;

    for (unsigned host = 0; host < all->hosts; host++)
        for (uint32_t i = 0; i < all->counts[host] && host != lost && !(dead & 1u << host); i++)
            left |= 1u << all->pids[host][i];
    return left == 15;
}

static void run_course(unsigned layout)
{
    unsigned weights[PLAY_HOSTS], dead = 0;
    unsigned steps = 0;

    for (unsigned host = 0; host < play_hosts(); host++)
        weights[host] = 1 + draw(20);
    for (steps = 0; steps < 6000; steps++) {
        unsigned host = draw(play_hosts());

        if (play[host].dead)
            continue;
        if (draw(400) == 0)
            play[host].frozen = !play[host].frozen;
        if (draw(1500) == 0 && may_lose(layout, host, dead)) {
            dead |= 1u << host;
            play_kill(host);
            continue;
        }
        if (play[host].frozen)
            continue;
        if (draw(20) < weights[host])
            play_step(host);
        if (draw(20) < weights[(host + 1) % play_hosts()])
            play_turn(host);
    }
    for (unsigned host = 0; host < play_hosts(); host++)
        play[host].frozen = false;
}

START_TEST(anything)
{
    struct timespec now;
    unsigned layout, mask = 0;
    uint64_t farthest = 0;

    clock_gettime(CLOCK_REALTIME, &now);
    state = getenv("SEED") ? strtoull(getenv("SEED"), NULL, 0)
                           : (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
    printf("anything: SEED=%lu\n", (unsigned long)state);
    fflush(stdout);
    layout = draw(PLAY_LAYOUTS);
    play_encrypts = draw(4) == 0;
    play_setup.log_bytes = draw(2) ? UINT64_C(64) << 20 : 300000;
    play_setup.agree = 1 + draw(2);
    play_begin(layout);
    run_course(layout);
    for (unsigned host = 0; host < play_hosts(); host++)
        if (play[host].superstep > farthest)
            farthest = play[host].superstep;
    for (unsigned host = 0; host < play_hosts(); host++)
        mask |= play[host].dead ? 0 : 1u << host;
    ck_assert(play_until(farthest + 3, mask));
    for (unsigned host = 0; host < play_hosts(); host++) {
        ck_assert_uint_eq(play[host].mismatches, 0);
        ck_assert_uint_eq(play[host].behind, 0);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("link replicas");
    TCase *cases = tcase_create("links");

    tcase_add_checked_fixture(cases, play_set_up, play_tear_down);
    tcase_set_timeout(cases, 120);
    tcase_add_loop_test(cases, same_pace, 0, 2 * PLAY_LAYOUTS);
    tcase_add_loop_test(cases, one_is_slow, 0, 3);
    tcase_add_test(cases, one_is_frozen);
    tcase_add_test(cases, one_reads_again);
    tcase_add_test(cases, stop_is_not_known);
    tcase_add_loop_test(cases, one_is_lost, 0, 12);
    tcase_add_test(cases, leader_is_lost);
    tcase_add_test(cases, waited_for_in_vain);
    tcase_add_test(cases, unique_is_waited_for);
    tcase_add_test(cases, held_back);
    tcase_add_loop_test(cases, sent_once, 0, 2);
    tcase_add_loop_test(cases, turn_is_given_up, 0, 4);
    tcase_add_loop_test(cases, spilled, 0, 2);
    tcase_add_loop_test(cases, behind, 0, 2);
    tcase_add_loop_test(cases, behind_in_digests, 0, 2);
    tcase_add_loop_test(cases, flipped_bit, 0, 60);
    tcase_add_loop_test(cases, majority_counts, 0, 30);
    tcase_add_loop_test(cases, sure_of_a_snapshot, 0, 2);
    tcase_add_loop_test(cases, compared_before_a_snapshot, 0, 6);
    tcase_add_loop_test(cases, lowest_counts, 0, 24);
    tcase_add_test(cases, agreement_of_what_is_left);
    tcase_add_test(cases, two_need_not_agree);
    tcase_add_loop_test(cases, anything, 0, 20);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
