/* test_evidence.c - what bsprun sees of failures, and that none is lost with Processor Zero. */
#include <check.h>
#include <math.h>
#include <stdlib.h>

#include "bsprun/launcher/evidence.h"
#include "tests/unit/suite.h"

#define BOUND 10000u

static struct evidence evidence;
static struct evidence_room room;

static struct evidence_time at(uint64_t ms)
{
    return (struct evidence_time){1000 + ms, 5000 + ms};
}

static void begin(void)
{
    struct estimate nothing = {0};

    evidence_begin(&evidence, &nothing, at(0));
}

/* What Processor Zero makes of an election. */
static struct estimate zero_of(const struct wire_elect *elect)
{
    double numbers[ESTIMATE_NUMBERS];
    struct estimate estimate;
    struct coord_seen seen = {.host_seconds = elect->watched_hosts,
                              .process_seconds = elect->watched_processes};

    for (uint32_t i = 0; i < elect->estimate.count; i++)
        numbers[i] = elect->estimate.items[i].value;
    ck_assert_int_eq(estimate_from_numbers(&estimate, numbers, elect->estimate.count), 0);
    for (uint32_t i = 0; i < elect->failures.count; i++)
        seen.failures[i] = (uint32_t)elect->failures.items[i];
    coord_add_seen(&estimate, &seen);
    return estimate;
}

static bool tell(uint32_t term, const struct estimate *estimate)
{
    static struct wire_real list[ESTIMATE_NUMBERS];
    double numbers[ESTIMATE_NUMBERS];

    estimate_to_numbers(estimate, numbers);
    for (uint32_t i = 0; i < ESTIMATE_NUMBERS; i++)
        list[i].value = numbers[i];
    const struct wire_learned learned = {{list, ESTIMATE_NUMBERS}, 5, WIRE_WHY_BEST};
    return evidence_take(&evidence, term, &learned);
}

START_TEST(kinds_are_told_apart)
{
    begin();
    ck_assert_int_eq(evidence_kind(&evidence, EVIDENCE_RANK_DIED, 0, BOUND, at(0)),
                     ESTIMATE_PROCESS);
    ck_assert_int_eq(evidence_kind(&evidence, EVIDENCE_LINK, 0, BOUND, at(0)), ESTIMATE_SPLIT);
    ck_assert_int_eq(evidence_kind(&evidence, EVIDENCE_SILENT, BOUND, BOUND, at(0)), ESTIMATE_HOST);
    ck_assert_int_eq(evidence_kind(&evidence, EVIDENCE_CUT, 0, BOUND, at(0)), ESTIMATE_HOST);
    /* The agent of this host was killed; that of another one, whose kernel says so at once; one
     * that is answered for by a kernel that has come back. */
    ck_assert_int_eq(evidence_kind(&evidence, EVIDENCE_AGENT_ENDED, 0, 0, at(0)), ESTIMATE_PROCESS);
    ck_assert_int_eq(evidence_kind(&evidence, EVIDENCE_AGENT_ENDED, 100, BOUND, at(0)),
                     ESTIMATE_PROCESS);
    ck_assert_int_eq(evidence_kind(&evidence, EVIDENCE_AGENT_ENDED, BOUND / 2, BOUND, at(0)),
                     ESTIMATE_HOST);
}
END_TEST

/* A lid is closed: this machine's clock of running time stands, the other one does not. */
START_TEST(a_sleep_of_this_machine_is_no_failure_of_others)
{
    begin();
    evidence_watch(&evidence, 4, 8, at(1000));
    struct evidence_time woken = {at(2000).monotonic_ms, at(2000).boot_ms + 3600000};
    evidence_watch(&evidence, 4, 8, woken);
    ck_assert(evidence.seen.host_seconds == 8);
    woken.monotonic_ms += BOUND;
    ck_assert_int_eq(evidence_kind(&evidence, EVIDENCE_SILENT, BOUND, BOUND, woken),
                     ESTIMATE_SPLIT);
    ck_assert_int_eq(evidence_kind(&evidence, EVIDENCE_AGENT_ENDED, 5, BOUND, woken),
                     ESTIMATE_SPLIT);
    ck_assert_int_eq(evidence_kind(&evidence, EVIDENCE_AGENT_ENDED, 5, 0, woken), ESTIMATE_PROCESS);
    ck_assert_int_eq(evidence_kind(&evidence, EVIDENCE_RANK_DIED, 5, BOUND, woken),
                     ESTIMATE_PROCESS);
    woken.monotonic_ms += 2 * BOUND;
    ck_assert_int_eq(evidence_kind(&evidence, EVIDENCE_SILENT, BOUND, BOUND, woken), ESTIMATE_HOST);
}
END_TEST

START_TEST(clocks_that_go_back_add_no_time)
{
    begin();
    evidence_watch(&evidence, 1, 1, at(5000));
    evidence_watch(&evidence, 1, 1, at(2000));
    evidence_watch(&evidence, 1, 1, at(5000));
    ck_assert(evidence.seen.host_seconds == 5);
    ck_assert_uint_eq(evidence.woke_ms, 0);
}
END_TEST

START_TEST(what_fails_together_is_one)
{
    begin();
    ck_assert(evidence_fault(&evidence, ESTIMATE_HOST, BOUND, BOUND, at(20000)));
    ck_assert(!evidence_fault(&evidence, ESTIMATE_HOST, BOUND, BOUND, at(20500)));
    ck_assert(evidence_fault(&evidence, ESTIMATE_HOST, BOUND, BOUND, at(31000)));
    ck_assert_uint_eq(evidence.seen.failures[ESTIMATE_HOST], 2);
    evidence_running(&evidence);
    ck_assert(evidence_fault(&evidence, ESTIMATE_HOST, 0, BOUND, at(31500)));
    ck_assert_uint_eq(evidence.seen.failures[ESTIMATE_HOST], 3);
}
END_TEST

START_TEST(down_time_begins_with_the_silence)
{
    struct wire_elect elect = {0};

    begin();
    evidence_elect(&evidence, 1, at(0), &room, &elect);
    ck_assert_uint_eq(elect.recovers, 0);
    ck_assert(elect.down == 0);
    evidence_running(&evidence);
    evidence_fault(&evidence, ESTIMATE_HOST, 8000, BOUND, at(20000));
    evidence_elect(&evidence, 2, at(23000), &room, &elect);
    ck_assert_uint_eq(elect.recovers, ESTIMATE_HOST + 1);
    ck_assert(elect.down == 11);
    /* Another one before it went on: the processes have not run since the first. */
    evidence_fault(&evidence, ESTIMATE_PROCESS, 0, BOUND, at(24000));
    evidence_elect(&evidence, 3, at(25000), &room, &elect);
    ck_assert_uint_eq(elect.recovers, ESTIMATE_PROCESS + 1);
    ck_assert(elect.down == 13);
}
END_TEST

/* Processor Zero is lost before it has said a word: the next one is told again. */
START_TEST(nothing_is_lost_with_processor_zero)
{
    struct wire_elect elect = {0};

    begin();
    evidence_elect(&evidence, 1, at(0), &room, &elect);
    evidence_watch(&evidence, 4, 8, at(10000));
    evidence_fault(&evidence, ESTIMATE_HOST, 0, BOUND, at(10000));
    evidence_elect(&evidence, 2, at(11000), &room, &elect);
    evidence_watch(&evidence, 3, 8, at(30000));
    evidence_fault(&evidence, ESTIMATE_HOST, 0, BOUND, at(30000));
    evidence_elect(&evidence, 3, at(31000), &room, &elect);
    struct estimate zero = zero_of(&elect);
    ck_assert(zero.rates[ESTIMATE_HOST].seen == 2);
    ck_assert(zero.rates[ESTIMATE_HOST].watched == 4 * 10 + 3 * 20);
    ck_assert(zero.rates[ESTIMATE_PROCESS].watched == 8 * 30);
    /* This one speaks, of what it knows by then. */
    estimate_watch(&zero, (struct estimate_units){3, 8}, 50);
    evidence_watch(&evidence, 3, 8, at(81000));
    ck_assert(tell(3, &zero));
    ck_assert(evidence_estimate(&evidence).rates[ESTIMATE_HOST].seen == 2);
    ck_assert(evidence_estimate(&evidence).rates[ESTIMATE_HOST].watched ==
              zero.rates[ESTIMATE_HOST].watched);
    evidence_elect(&evidence, 4, at(90000), &room, &elect);
    ck_assert_uint_eq(elect.failures.items[ESTIMATE_HOST], 0);
}
END_TEST

/* A failure is seen, and then the last word of the Processor Zero that did not know of it. */
START_TEST(a_late_word_takes_back_no_failure)
{
    struct wire_elect elect = {0};

    begin();
    evidence_elect(&evidence, 1, at(0), &room, &elect);
    struct estimate zero = zero_of(&elect);
    evidence_fault(&evidence, ESTIMATE_HOST, 0, BOUND, at(10000));
    ck_assert(tell(1, &zero));
    ck_assert(evidence_estimate(&evidence).rates[ESTIMATE_HOST].seen == 1);
    evidence_elect(&evidence, 2, at(11000), &room, &elect);
    ck_assert(!tell(1, &zero)); /* of a term that is over */
    ck_assert(evidence_estimate(&evidence).rates[ESTIMATE_HOST].seen == 1);
    zero = zero_of(&elect);
    ck_assert(tell(2, &zero));
    ck_assert(evidence_estimate(&evidence).rates[ESTIMATE_HOST].seen == 1);
    ck_assert(!evidence_take(&evidence, 2, &(struct wire_learned){0}));
}
END_TEST

START_TEST(a_host_without_an_agent_was_lost)
{
    struct wire_elect elect = {0};

    begin();
    ck_assert(!evidence_change(&evidence, ESTIMATE_PROCESS, ESTIMATE_HOST));
    evidence_fault(&evidence, ESTIMATE_PROCESS, 0, BOUND, at(1000));
    ck_assert(evidence_change(&evidence, ESTIMATE_PROCESS, ESTIMATE_HOST));
    evidence_elect(&evidence, 1, at(2000), &room, &elect);
    ck_assert_uint_eq(elect.recovers, ESTIMATE_HOST + 1);
    ck_assert_uint_eq(elect.failures.items[ESTIMATE_HOST], 1);
    ck_assert_uint_eq(elect.failures.items[ESTIMATE_PROCESS], 0);
    ck_assert(!evidence_change(&evidence, ESTIMATE_HOST, ESTIMATE_PROCESS)); /* it was told */
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("evidence");
    TCase *tests = tcase_create("evidence");

    tcase_add_test(tests, kinds_are_told_apart);
    tcase_add_test(tests, a_sleep_of_this_machine_is_no_failure_of_others);
    tcase_add_test(tests, clocks_that_go_back_add_no_time);
    tcase_add_test(tests, what_fails_together_is_one);
    tcase_add_test(tests, down_time_begins_with_the_silence);
    tcase_add_test(tests, nothing_is_lost_with_processor_zero);
    tcase_add_test(tests, a_late_word_takes_back_no_failure);
    tcase_add_test(tests, a_host_without_an_agent_was_lost);
    suite_add_tcase(suite, tests);
    return suite_run(suite);
}
