/* test_coord_rules.c - Processor Zero: the rules a peer may break, every message in every state,
 * the arithmetic of placing and consulting, and what is said of a snapshot that fails. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/coord_play.h"
#include "tests/unit/suite.h"

/* All that Processor Zero is told, and the timer. */
static const enum wire_kind kinds[] = {
    WIRE_HOST_READY,   WIRE_REGISTERED,    WIRE_RANKS_READY,   WIRE_ARRIVE,    WIRE_RANK_EXITED,
    WIRE_ABORT,        WIRE_STOP,          WIRE_RANKS_STOPPED, WIRE_LINK_LOST, WIRE_KIND_COUNT,
    WIRE_HELD,         WIRE_TERM_RECORDED, WIRE_STAGED,        WIRE_CAPTURED,  WIRE_IMAGE_DURABLE,
    WIRE_IMAGE_FAILED, WIRE_PERSISTED,     WIRE_KNOWN,         WIRE_SAVE,      WIRE_CLOSED,
    WIRE_AHEAD_READY,
};
#define KINDS (sizeof(kinds) / sizeof(*kinds))

static int take_kind(enum wire_kind kind, uint32_t term)
{
    if (kind != WIRE_KIND_COUNT)
        return take((struct wire_message){.kind = kind, .envelope.term = term});
    timer(COORD_TIMER_STOP);
    return 0;
}

/* ---- Rules that peers break --------------------------------------------------------------- */

START_TEST(broken_rules_change_nothing)
{
    start(2, CONFIG());
    expect_broken(SAY(REGISTERED, .registered.host = 0)); /* before it is ready */
    host_ready(0, 0);
    expect_broken(SAY(HOST_READY, .host_ready.host = 0));
    expect_broken(SAY(HOST_READY, .host_ready.host = 1)); /* not of this job */
    expect_broken(ranks_ready(0, 0));
    expect_broken(arrived(0, 0, WIRE_BARRIER_SYNC));
    expect_broken(stopped(0));
    expect_broken(exited(0, 0, 0)); /* nobody is registered */
    registered(0, 3);
    expect_broken(SAY(REGISTERED, .registered.host = 0));
    host_ready(7, 0);
    ck_assert_uint_eq(coord->processes, 3);

    expect_broken(ranks_ready(0, 3));
    ranks_ready(0, 2);
    expect_broken(ranks_ready(0, 2));
    expect_broken(exited(0, 2, 0)); /* lives on host 7 */
    ranks_ready(7, 1);

    expect_broken(arrived(0, 1, WIRE_BARRIER_SYNC));
    expect_broken(arrived(0, COORD_NEVER, WIRE_BARRIER_END));
    expect_broken(arrived(0, 0, (enum wire_barrier)9));
    arrived(0, 0, WIRE_BARRIER_SYNC);
    expect_broken(arrived(0, 0, WIRE_BARRIER_SYNC));
    arrived(7, 0, WIRE_BARRIER_SYNC);
    expect_broken(arrived(7, 0, WIRE_BARRIER_SYNC));
    expect_broken(abort_job(0, 3, WIRE_CAUSE_ABORT_CALLED, 1));
    expect_broken(abort_job(0, -2, WIRE_CAUSE_ABORT_CALLED, 1));
    expect_broken(abort_job(0, 0, WIRE_CAUSE_NONE, 1));
    expect_broken(abort_job(0, 0, WIRE_CAUSE_COUNT, 1));
    expect_broken(stop((enum wire_stop_how)9, 1));
    expect_broken(take((struct wire_message){.kind = WIRE_KIND_COUNT, .envelope.term = 3}));

    arrived(0, 1, WIRE_BARRIER_END);
    arrived(7, 1, WIRE_BARRIER_END);
    ck_assert_int_eq(coord_phase(coord), COORD_ENDING);
    expect_broken(arrived(0, 2, WIRE_BARRIER_SYNC));
    exited(0, 1, 0);
    expect_broken(exited(0, 1, 0));
    expect_broken(exited(7, 0, 0));
    expect_broken(exited(7, 70000, 0));
    exited(0, 0, 0);
    exited(7, 2, 0);
    expect_outcome(0, WIRE_CAUSE_NONE, COORD_NOBODY);
}
END_TEST

START_TEST(old_terms_are_dropped_newer_ones_refused)
{
    start_running(2, CONFIG());
    for (size_t i = 0; i < KINDS; i++) {
        if (kinds[i] == WIRE_KIND_COUNT)
            continue; /* timers have no term */
        for (uint32_t term = 0; term < 3; term++) {
            ck_assert_int_eq(take_kind(kinds[i], term), 0);
            ck_assert(effects.dropped);
            ck_assert_uint_eq(effects.count, 0);
        }
        expect_broken(take_kind(kinds[i], 4));
        ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    }
}
END_TEST

START_TEST(everything_is_dropped_after_the_end)
{
    start(1, CONFIG());
    host_ready(0, 2);
    stop(WIRE_STOP_SIGNAL, 2);
    stopped(0);
    ck_assert_int_eq(coord_phase(coord), COORD_ABORTED);
    for (size_t i = 0; i < KINDS; i++) {
        ck_assert_int_eq(take_kind(kinds[i], 3), 0);
        ck_assert(effects.dropped);
        ck_assert_uint_eq(effects.count, 0);
    }
}
END_TEST

/* Runs the job to one of its states. */
static void start_in(enum coord_phase phase)
{
    start(1, CONFIG());
    if (phase == COORD_WAITING)
        return;
    host_ready(0, 2);
    registered(0, 2);
    if (phase == COORD_PLACING)
        return;
    ranks_ready(0, 2);
    if (phase == COORD_RUNNING)
        return;
    if (phase == COORD_ABORTING || phase == COORD_ABORTED) {
        stop(WIRE_STOP_KILL, 9);
        if (phase == COORD_ABORTED)
            stopped(0);
        return;
    }
    arrived(0, 0, WIRE_BARRIER_END);
    if (phase == COORD_ENDING)
        return;
    exited(0, 0, 0);
    exited(0, 1, 0);
}

/* 'x' it is taken, '-' it comes too late and is dropped, '!' it is a broken rule. */
static const char *const table[COORD_PHASE_COUNT] = {
    /* In the order of `kinds`.  Without snapshots. */
    [COORD_WAITING] = "x!!!!xx!x-!!!!!!!!-!!", /* REGISTERED needs HOST_READY first */
    [COORD_PLACING] = "!!x!xxx!x-!!!!!!!!-!!",  [COORD_RUNNING] = "!!!xxxx!x-!!!!!!!!-!!",
    [COORD_ENDING] = "!!!!xxx!x-!!!!!!!!-!!",   [COORD_ENDED] = "---------------------",
    [COORD_ABORTING] = "-------xxx-----------", [COORD_ABORTED] = "---------------------",
};

START_TEST(every_message_in_every_state)
{
    for (size_t i = 0; i < KINDS; i++) {
        start_in((enum coord_phase)_i);
        ck_assert_int_eq(coord_phase(coord), _i);
        int result;
        switch (kinds[i]) {
        case WIRE_RANKS_READY:
            result = ranks_ready(0, 2);
            break;
        case WIRE_ARRIVE:
            result = arrived(0, 0, WIRE_BARRIER_END);
            break;
        case WIRE_ABORT:
            result = abort_job(0, COORD_NOBODY, WIRE_CAUSE_RANK_ERROR, 0);
            break;
        default:
            result = take_kind(kinds[i], 3);
            break;
        }
        char what = result < 0 ? '!' : effects.dropped ? '-' : 'x';
        ck_assert_msg(what == table[_i][i], "%s in state %s: %c", wire_kind_name(kinds[i]),
                      coord_phase_name((enum coord_phase)_i), what);
        tear_down();
    }
}
END_TEST

/* ---- Arithmetic --------------------------------------------------------------------------- */

START_TEST(number_of_processes)
{
    ck_assert_uint_eq(coord_decide_processes(0, 0, 6), 6);
    ck_assert_uint_eq(coord_decide_processes(0, 3, 6), 3);
    ck_assert_uint_eq(coord_decide_processes(0, 9, 6), 9);
    ck_assert_uint_eq(coord_decide_processes(4, 0, 2), 4);
    ck_assert_uint_eq(coord_decide_processes(100, 3, 2), 3);
    ck_assert_uint_eq(coord_decide_processes(2, 3, 8), 2);
    ck_assert_uint_eq(coord_decide_processes(UINT32_MAX, 0, 2), UINT32_MAX);
}
END_TEST

START_TEST(too_many_processes)
{
    start(1, CONFIG(.processes_max = 8));
    host_ready(0, 2);
    registered(0, 9);
    expect_outcome(1, WIRE_CAUSE_PLACEMENT, COORD_NOBODY);
    ck_assert_str_eq(coord_outcome(coord).text, "9 processes are wanted, at most 8 are possible");
    ck_assert(has_message(WIRE_STOP_RANKS));
    tear_down();
    start(1, CONFIG(.processes_max = 8));
    host_ready(0, 2);
    registered(0, 8);
    ck_assert(has_message(WIRE_PLACE));
}
END_TEST

/* p processes on slots 2, 2 and 4, process 0 on the middle host. */
static const struct {
    uint32_t processes;
    uint32_t counts[3]; /* of hosts 7, 0, 3: the order of placement */
} placements[] = {
    {1, {1, 0, 0}},  {2, {2, 0, 0}},  {3, {2, 1, 0}},  {4, {2, 2, 0}},
    {5, {2, 2, 1}},  {8, {2, 2, 4}},  {9, {3, 2, 4}},  {10, {3, 2, 5}},
    {11, {3, 3, 5}}, {12, {3, 3, 6}}, {16, {4, 4, 8}}, {24, {6, 6, 12}},
};

START_TEST(placement)
{
    static const uint32_t order[] = {7, 0, 3};
    start(3, CONFIG());
    host_ready(0, 0);
    host_ready(7, 0);
    host_ready(3, 0);
    registered(7, placements[_i].processes);
    uint32_t next = 0;
    for (unsigned k = 0; k < 3; k++) {
        for (uint32_t i = 0; i < placements[_i].counts[k]; i++)
            ck_assert_uint_eq(host_of(next + i), order[k]);
        next += placements[_i].counts[k];
    }
    ck_assert_uint_eq(next, placements[_i].processes);
    ck_assert_uint_eq(coord->processes, placements[_i].processes);
}
END_TEST

/* A host without a process takes no part, except in stopping. */
START_TEST(idle_hosts)
{
    start(3, CONFIG(.consult_every = 1));
    host_ready(0, 0);
    host_ready(7, 0);
    host_ready(3, 0);
    registered(0, 1);
    ranks_ready(0, 1);
    ranks_ready(7, 0);
    ck_assert_int_eq(coord_phase(coord), COORD_PLACING);
    ranks_ready(3, 0);
    ck_assert_int_eq(coord_phase(coord), COORD_RUNNING);
    expect_broken(arrived(7, 0, WIRE_BARRIER_SYNC));
    arrived(0, 0, WIRE_BARRIER_SYNC);
    ck_assert(has_message(WIRE_RELEASE));
    stop(WIRE_STOP_SIGNAL, 2);
    stopped(0);
    stopped(7);
    ck_assert_int_eq(coord_phase(coord), COORD_ABORTING);
    stopped(3);
    ck_assert_int_eq(coord_phase(coord), COORD_ABORTED);
}
END_TEST

START_TEST(next_consultation)
{
    const uint64_t never = COORD_NEVER;
    ck_assert_uint_eq(coord_next_consult(0, 0, never), never);
    ck_assert_uint_eq(coord_next_consult(0, 1, never), 0);
    ck_assert_uint_eq(coord_next_consult(5, 1, never), 5);
    ck_assert_uint_eq(coord_next_consult(0, 10, never), 9);
    ck_assert_uint_eq(coord_next_consult(9, 10, never), 9);
    ck_assert_uint_eq(coord_next_consult(10, 10, never), 19);
    ck_assert_uint_eq(coord_next_consult(0, 10, 3), 3);
    ck_assert_uint_eq(coord_next_consult(4, 10, 3), 9);
    ck_assert_uint_eq(coord_next_consult(3, 0, 3), 3);
    ck_assert_uint_eq(coord_next_consult(never - 1, 10, never), never);
    ck_assert_uint_eq(coord_next_consult(never, 1, never), never);
    ck_assert_uint_eq(coord_next_consult(1, never, never), never - 1);
}
END_TEST

START_TEST(consulted_every_third_barrier)
{
    start_running(2, CONFIG(.consult_every = 3));
    expect_broken(arrived(0, 1, WIRE_BARRIER_SYNC));
    arrived(0, 2, WIRE_BARRIER_SYNC);
    ck_assert_uint_eq(said()->release.consult, 5);
    ck_assert_int_eq(said()->release.decision, WIRE_DECISION_GO);
    expect_broken(arrived(0, 2, WIRE_BARRIER_END)); /* gone by */
    expect_broken(arrived(0, 6, WIRE_BARRIER_END)); /* 5 was to be asked first */
    arrived(0, 4, WIRE_BARRIER_END);
    ck_assert_int_eq(said()->release.decision, WIRE_DECISION_END);
}
END_TEST

START_TEST(senseless_configurations)
{
    static const struct wire_host one = {0, 2, "a"};
    struct coord_config config = CONFIG(.term = 1, .host_count = 1, .hosts = &one);
    struct coord *state = coord_new(&config);
    ck_assert_ptr_nonnull(state);
    ck_assert_uint_eq(coord_term(state), 1);
    coord_free(state);
    coord_free(NULL);
    config.term = 0;
    ck_assert_ptr_null(coord_new(&config));
    config.term = 1;
    config.host_count = 0;
    ck_assert_ptr_null(coord_new(&config));
    config.host_count = COORD_HOSTS_MAX + 1;
    ck_assert_ptr_null(coord_new(&config));
    config.host_count = 1;
    config.processes_max = WIRE_RANKS_MAX + 1;
    ck_assert_ptr_null(coord_new(&config));
    config.processes_max = 0;
    const struct wire_host twice[] = {{1, 1, "a"}, {1, 1, "b"}}, wide = {1, WIRE_SLOTS_MAX + 1, ""};
    config.hosts = twice;
    config.host_count = 2;
    ck_assert_ptr_null(coord_new(&config));
    config.hosts = &wide;
    config.host_count = 1;
    ck_assert_ptr_null(coord_new(&config));
}
END_TEST

START_TEST(texts_are_bounded)
{
    const struct wire_message message = {.kind = WIRE_KIND_COUNT};
    const struct coord_effect effect = {.kind = COORD_EFFECT_KIND_COUNT};
    for (size_t size = 0; size < 40; size++) {
        char text[40];
        memset(text, 'x', sizeof(text));
        coord_message_text(0, &message, text, size);
        ck_assert(size == 0 ? text[0] == 'x' : memchr(text, '\0', size) != NULL);
        memset(text, 'x', sizeof(text));
        coord_effect_text(&effect, text, size);
        ck_assert(size == 0 ? text[0] == 'x' : memchr(text, '\0', size) != NULL);
    }
    ck_assert_str_eq(coord_phase_name(COORD_PHASE_COUNT), "unknown");

    start_running(2, CONFIG());
    char *text = malloc(3 * COORD_TEXT_MAX);
    memset(text, 't', 3 * COORD_TEXT_MAX - 1);
    text[3 * COORD_TEXT_MAX - 1] = '\0';
    SAY(ABORT, .abort = {.pid = 0, .cause = WIRE_CAUSE_RANK_ERROR, .text = text});
    free(text);
    ck_assert_uint_eq(strlen(coord_outcome(coord).text), COORD_TEXT_MAX - 1);
}
END_TEST

/* Who has asked for it learns that; since when the processes go on tells whether it was that one.
 */
START_TEST(bsprun_is_told_of_a_failure)
{
    start_with_snapshot_0(SAVING(.rule = {POLICY_OFF, 0, 0}));
    save_now(false);
    play_now_ns += 1000;
    arrived(0, 0, WIRE_BARRIER_SYNC);
    play_now_ns += 200; /* the pause */
    image_failed(0, 1, 1, WIRE_CAUSE_NOT_WRITTEN);
    ck_assert_uint_eq(message_of(WIRE_UNSAVED)->envelope.superstep, 1);
    ck_assert_uint_eq(message_of(WIRE_UNSAVED)->unsaved.age_ns, 0);
    captured(0, 0);
    save_now(false);
    arrived(0, 1, WIRE_BARRIER_SYNC);
    play_now_ns += 300;
    captured(0, 1);
    play_now_ns += 50000;
    image_failed(0, 2, 0, WIRE_CAUSE_NOT_WRITTEN);
    ck_assert_uint_eq(message_of(WIRE_UNSAVED)->envelope.superstep, 2);
    ck_assert_uint_eq(message_of(WIRE_UNSAVED)->unsaved.age_ns, 50000);
    ck_assert_str_ne(message_of(WIRE_UNSAVED)->unsaved.text, "");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("coord rules");
    TCase *jobs = tcase_create("jobs");
    tcase_add_checked_fixture(jobs, NULL, tear_down);
    tcase_add_test(jobs, broken_rules_change_nothing);
    tcase_add_test(jobs, old_terms_are_dropped_newer_ones_refused);
    tcase_add_test(jobs, everything_is_dropped_after_the_end);
    tcase_add_loop_test(jobs, every_message_in_every_state, 0, COORD_CHOOSING);
    tcase_add_test(jobs, number_of_processes);
    tcase_add_test(jobs, too_many_processes);
    tcase_add_loop_test(jobs, placement, 0, sizeof(placements) / sizeof(placements[0]));
    tcase_add_test(jobs, idle_hosts);
    tcase_add_test(jobs, next_consultation);
    tcase_add_test(jobs, consulted_every_third_barrier);
    tcase_add_test(jobs, senseless_configurations);
    tcase_add_test(jobs, texts_are_bounded);
    tcase_add_test(jobs, bsprun_is_told_of_a_failure);
    suite_add_tcase(suite, jobs);
    return suite_run(suite);
}
